//! What a run of the steps came to.

use std::fmt::Write;
use std::time::Duration;

/// One step that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The step's name.
    pub(crate) step: String,
    /// Whether it held.
    pub(crate) passed: bool,
    /// How long it took.
    pub(crate) duration: Duration,
}

impl Outcome {
    /// `passed` or `failed`.
    pub(crate) fn result(&self) -> &'static str {
        if self.passed { "passed" } else { "FAILED" }
    }
}

/// How many of the steps failed.
pub(crate) fn failed(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| !outcome.passed).count()
}

/// The table of all steps, and the line with the count that ends it.
pub(crate) fn render(outcomes: &[Outcome]) -> String {
    let names = outcomes.iter().map(|outcome| outcome.step.len());
    let width = names.chain(["step".len()]).max().unwrap_or_default();
    let mut text = format!("{:width$}  result  seconds\n", "step");
    let mut row = |step: &str, result: &str, duration: Duration| {
        // Writing to a `String` never fails.
        let _ = writeln!(text, "{step:width$}  {result:6}  {:7.1}", duration.as_secs_f64());
    };
    for outcome in outcomes {
        row(&outcome.step, outcome.result(), outcome.duration);
    }
    row("total", "", outcomes.iter().map(|outcome| outcome.duration).sum());
    let failed = failed(outcomes);
    let _ = writeln!(text, "\n{} passed, {failed} failed", outcomes.len() - failed);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(step: &str, passed: bool, ms: u64) -> Outcome {
        Outcome { step: step.to_owned(), passed, duration: Duration::from_millis(ms) }
    }

    #[test]
    fn shows_every_step_and_ends_with_the_count_alone_on_its_line() {
        let outcomes = [outcome("prerequisites", true, 40), outcome("clippy", false, 61_250)];
        let expected = "\
step           result  seconds
prerequisites  passed      0.0
clippy         FAILED     61.2
total                     61.3

1 passed, 1 failed
";
        assert_eq!(render(&outcomes), expected);
        assert_eq!(failed(&outcomes), 1);
    }

    #[test]
    fn an_empty_run_counts_nothing() {
        assert!(render(&[]).ends_with("\n0 passed, 0 failed\n"));
    }
}
