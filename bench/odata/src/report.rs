//! Ratios of both sides, round by round.

use bench_rounds::{median, ratio};

/// What both sides did in each round: answers per second, and processor seconds per answer.
#[derive(Default)]
pub(crate) struct Rounds {
    ours: Vec<(f64, f64)>,
    bare: Vec<(f64, f64)>,
}

impl Rounds {
    pub(crate) fn add_ours(&mut self, per_second: f64, cpu_seconds: f64) {
        self.ours.push((per_second, cpu_seconds));
    }

    pub(crate) fn add_bare(&mut self, per_second: f64, cpu_seconds: f64) {
        self.bare.push((per_second, cpu_seconds));
    }

    /// Prints the medians, and the ratio with its range. The second ratio is the bare side's
    /// processor time per answer over ours: it says the same, undisturbed by other programs.
    pub(crate) fn print(&self, what: &str, goal: &str) {
        let pairs = || self.ours.iter().zip(&self.bare);
        let work = median(pairs().map(|(ours, bare)| bare.1 / ours.1).collect());
        let speed =
            |side: &[(f64, f64)]| -> Vec<f64> { side.iter().map(|round| round.0).collect() };
        println!(
            "  {what:<38} ours {:>7.0}/s  bare {:>7.0}/s  {}, of \
             processor time {work:.2}{goal}",
            median(speed(&self.ours)),
            median(speed(&self.bare)),
            ratio(&speed(&self.ours), &speed(&self.bare)),
        );
    }
}
