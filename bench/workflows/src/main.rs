//! What workflows cost, beside the same without them; how to run it stands in the README.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on should say where")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below what a double keeps")]

mod orders;
mod pages;
mod steps;
mod tasks;

use svc_testing::{Backend, POSTGRES_VARIABLE};

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
