//! Ratios of both sides, round by round.

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
        let ratios: Vec<f64> = pairs().map(|(ours, bare)| ours.0 / bare.0).collect();
        let (low, high) =
            ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let work = median(pairs().map(|(ours, bare)| bare.1 / ours.1).collect());
        let of = |side: &[(f64, f64)]| median(side.iter().map(|round| round.0).collect());
        println!(
            "  {what:<38} ours {:>7.0}/s  bare {:>7.0}/s  ratio {:.2} ({low:.2} to {high:.2}), of \
             processor time {work:.2}{goal}",
            of(&self.ours),
            of(&self.bare),
            median(ratios),
        );
    }
}

/// The median of a few figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
