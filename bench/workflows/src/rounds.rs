//! What several rounds measured.

use std::time::{Duration, Instant};

/// How many times both sides of a ratio take turns.
pub(crate) const ROUNDS: usize = 7;

/// How long something takes, as a rule: the median of what fits into a round, in milliseconds.
pub(crate) async fn millis(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < round {
        let one = Instant::now();
        work().await;
        times.push(one.elapsed().as_secs_f64() * 1_000.0);
    }
    median(times)
}

/// The median of a few figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The median of the ratios of two sides that took turns, with the lowest and the highest.
pub(crate) fn ratio(one: &[f64], other: &[f64]) -> String {
    let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    format!("ratio {:.2} ({low:.2} to {high:.2})", median(ratios))
}
