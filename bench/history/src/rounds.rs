//! What several rounds measured.

use std::time::{Duration, Instant};

/// How many times both sides of a ratio take turns.
pub(crate) const ROUNDS: usize = 7;

/// How often something is done in a second.
pub(crate) async fn per_second(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
    let began = Instant::now();
    let mut count = 0_u64;
    while began.elapsed() < round {
        work().await;
        count += 1;
    }
    count as f64 / began.elapsed().as_secs_f64()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Prints both sides of a comparison and their ratio.
pub(crate) fn report(what: &str, one: &[f64], other: &[f64], goal: f64) {
    let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    println!(
        "  {what:<34} {:>8.0}/s beside {:>8.0}/s  ratio {:.2} ({low:.2} to {high:.2}), goal {goal}",
        median(one.to_vec()),
        median(other.to_vec()),
        median(ratios),
    );
}
