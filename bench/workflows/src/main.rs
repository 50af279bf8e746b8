//! What workflows cost, beside the same without them; how to run it stands in the README.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod orders;
mod pages;
mod steps;
mod tasks;

use std::time::{Duration, Instant};

use svc_testing::{Backend, POSTGRES_VARIABLE};

const ROUNDS: usize = 7;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let says = |word: &str| words.iter().any(|it| it == word);
    let names = ["steps", "pages", "tasks"];
    let wanted = |name: &str| says(name) || !names.into_iter().any(says);
    let mut backends = Vec::new();
    if !says("--postgres") {
        backends.push(Backend::Sqlite);
    }
    if !says("--sqlite") && std::env::var(POSTGRES_VARIABLE).is_ok() {
        backends.push(Backend::Postgres);
    }
    for backend in backends {
        if wanted("steps") {
            steps::measure(backend).await;
        }
        if wanted("pages") {
            pages::measure(backend).await;
        }
        if wanted("tasks") {
            tasks::measure(backend).await;
        }
    }
}

/// How long something takes, as a rule: the median of what fits into a round, in milliseconds.
async fn millis(round: Duration, mut work: impl AsyncFnMut()) -> f64 {
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < round {
        let one = Instant::now();
        work().await;
        times.push(one.elapsed().as_secs_f64() * 1_000.0);
    }
    median(times)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The median of the ratios of two sides that took turns, with the lowest and the highest.
fn ratio(one: &[f64], other: &[f64]) -> String {
    let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    format!("ratio {:.2} ({low:.2} to {high:.2})", median(ratios))
}
