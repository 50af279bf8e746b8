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
    /// How much processor time it took.
    pub(crate) processor: Duration,
    /// How many tests passed, where the step counts them.
    pub(crate) tests: usize,
    /// The tests that failed, where the step knows their names.
    pub(crate) failed_tests: Vec<String>,
    /// Why it failed, where its tests don't say so.
    pub(crate) reason: Option<String>,
}

impl Outcome {
    /// A step that counts no tests.
    pub(crate) fn new(step: &str, passed: bool, duration: Duration) -> Self {
        Self {
            step: step.to_owned(),
            passed,
            duration,
            processor: Duration::ZERO,
            tests: 0,
            failed_tests: Vec::new(),
            reason: None,
        }
    }

    /// `passed` or `failed`.
    pub(crate) fn result(&self) -> &'static str {
        if self.passed { "passed" } else { "FAILED" }
    }

    /// The command that repeats what failed.
    fn repeat(&self) -> String {
        match self.failed_tests.as_slice() {
            [] => format!("cargo xtask test --only {}", self.step),
            [test] => format!("cargo xtask test --only {}::{test}", self.step),
            tests => {
                let only = tests.iter().map(|test| format!(" --only {}::{test}", self.step));
                format!("cargo xtask test{}", only.collect::<String>())
            }
        }
    }
}

/// How many of the steps failed.
pub(crate) fn failed(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| !outcome.passed).count()
}

/// The table of all steps, with seconds by the clock and of the processor, what to do about those that failed, and the line with the count that ends it.
pub(crate) fn render(outcomes: &[Outcome]) -> String {
    let names = outcomes.iter().map(|outcome| outcome.step.len());
    let width = names.chain(["step".len()]).max().unwrap_or_default();
    let mut text = format!("{:width$}  result  seconds  processor  tests\n", "step");
    for outcome in outcomes {
        let seconds = outcome.duration.as_secs_f64();
        let processor = outcome.processor.as_secs_f64();
        let tests = if outcome.tests == 0 { String::new() } else { outcome.tests.to_string() };
        let line = format!(
            "{:width$}  {:6}  {seconds:7.1}  {processor:9.1}  {tests:>5}",
            outcome.step,
            outcome.result()
        );
        // Writing to a `String` never fails.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let all: Duration = outcomes.iter().map(|outcome| outcome.processor).sum();
    let _ = writeln!(text, "{:width$}  {:15}  {:9.1}", "all", "", all.as_secs_f64());
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
        let _ = writeln!(text);
        for line in outcome.reason.iter().flat_map(|reason| reason.lines()) {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "{} failed; repeat it with", outcome.step);
        let _ = writeln!(text, "  {}", outcome.repeat());
    }
    let failed = failed(outcomes);
    let _ = writeln!(text, "\n{} passed, {failed} failed", outcomes.len() - failed);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(step: &str, passed: bool, ms: u64) -> Outcome {
        Outcome::new(step, passed, Duration::from_millis(ms))
    }

    #[test]
    fn shows_every_step_and_ends_with_the_count_alone_on_its_line() {
        let mut outcomes = [
            outcome("prerequisites", true, 40),
            outcome("build", false, 61_250),
            outcome("shop", false, 1_000),
        ];
        outcomes[1].reason = Some("`cargo test --no-run` ended with exit code 1".to_owned());
        outcomes[1].processor = Duration::from_millis(110_500);
        outcomes[2].processor = Duration::from_secs(2);
        outcomes[2].tests = 12;
        outcomes[2].failed_tests = vec!["orders::shipped::sqlite".to_owned()];
        let expected = "\
step           result  seconds  processor  tests
prerequisites  passed      0.0        0.0
build          FAILED     61.2      110.5
shop           FAILED      1.0        2.0     12
all                                 112.5

`cargo test --no-run` ended with exit code 1
build failed; repeat it with
  cargo xtask test --only build

shop failed; repeat it with
  cargo xtask test --only shop::orders::shipped::sqlite

1 passed, 2 failed
";
        assert_eq!(render(&outcomes), expected);
        assert_eq!(failed(&outcomes), 2);
    }

    #[test]
    fn an_empty_run_counts_nothing() {
        assert!(render(&[]).ends_with("\n0 passed, 0 failed\n"));
    }
}
