//! What several rounds measured of two sides that take turns.
//!
//! A figure of one side says as much of the machine as of the program. So both sides take turns, round after
//! round, and what counts is the median of the ratios of the rounds: what disturbs the machine for a while
//! disturbs both. The lowest and the highest ratio stand beside it, and say how far it is to be trusted.

use std::time::{Duration, Instant};

// Programs that measure have the allocator that applications have.
use svc as _;

/// How many times both sides of a ratio take turns.
pub const ROUNDS: usize = 7;

/// How often something is done in a second.
pub async fn per_second(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
    let (began, mut count) = (Instant::now(), 0_u32);
    while began.elapsed() < round {
        work().await;
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

/// How long something takes, as a rule: the median of what fits into a round, in milliseconds.
pub async fn millis(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < round {
        let one = Instant::now();
        work().await;
        times.push(one.elapsed().as_secs_f64() * 1_000.0);
    }
    median(times)
}

/// The median of a few figures.
///
/// # Panics
///
/// Of none there is no median.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The median of the ratios of two sides that took turns, with the lowest and the highest.
#[must_use]
pub fn ratio(one: &[f64], other: &[f64]) -> String {
    let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    format!("ratio {:.2} ({low:.2} to {high:.2})", median(ratios))
}

/// A line of both sides, each so often in a second, and their ratio.
#[must_use]
pub fn line(what: &str, one: &[f64], other: &[f64], goal: f64) -> String {
    format!(
        "  {what:<34} {:>8.0}/s beside {:>8.0}/s  {}, goal {goal}",
        median(one.to_vec()),
        median(other.to_vec()),
        ratio(one, other),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_the_rounds() {
        // The medians of the sides have another one.
        let (ours, bare) = ([10.0, 20.0, 90.0], [100.0, 20.0, 30.0]);
        assert_eq!(ratio(&ours, &bare), "ratio 1.00 (0.10 to 3.00)");
        assert_eq!(
            line("reads", &ours, &bare, 0.8),
            "  reads                                    20/s beside       30/s  ratio 1.00 (0.10 to 3.00), goal 0.8"
        );
    }
}
