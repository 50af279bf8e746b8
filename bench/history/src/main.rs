//! What keeping the history costs, beside the same set without it, in the same run.
//!
//! `cargo run --release -p bench-history -- [writes|reads] [seconds of a round]`; without a name, both.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod items;
mod reads;
mod writes;

use std::time::{Duration, Instant};

use svc_testing::{Backend, POSTGRES_VARIABLE};

const ROUNDS: usize = 7;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1.5);
    let round = Duration::from_secs_f64(seconds);
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<f64>().is_err()).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| *word == name);
    let mut backends = vec![Backend::Sqlite];
    if std::env::var(POSTGRES_VARIABLE).is_ok() {
        backends.push(Backend::Postgres);
    } else {
        println!("({POSTGRES_VARIABLE} is not set: PostgreSQL is left out)");
    }
    for backend in backends {
        if wanted("writes") {
            writes::measure(backend, round).await;
        }
        if wanted("reads") {
            reads::measure(backend, round).await;
        }
    }
}

/// How often something is done in a second.
async fn per_second(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
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
fn report(what: &str, one: &[f64], other: &[f64], goal: f64) {
    let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    println!(
        "  {what:<34} {:>8.0}/s beside {:>8.0}/s  ratio {:.2} ({low:.2} to {high:.2}), goal {goal}",
        median(one.to_vec()),
        median(other.to_vec()),
        median(ratios),
    );
}
