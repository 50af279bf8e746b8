//! Figures, the table of them, and the file that the next run compares itself with.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use svc_testing::Backend;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Goal {
    AtLeast(f64),
    Below(f64),
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(goal) => value >= goal,
            Self::Below(goal) => value < goal,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(goal) => format!("at least {goal}"),
            Self::Below(goal) => format!("below {goal}"),
        }
    }
}

/// One measured number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) database: String,
    pub(crate) part: String,
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<Goal>,
}

impl Figure {
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a figure is small")]
    pub(crate) fn new(
        backend: Backend,
        part: &str,
        name: &str,
        value: f64,
        unit: &str,
        goal: Option<Goal>,
    ) -> Self {
        // More digits would only pretend.
        let digits = 10_f64.powi(3 - value.abs().max(1e-9).log10().floor() as i32);
        Self {
            database: format!("{backend:?}"),
            part: part.to_owned(),
            name: name.to_owned(),
            value: (value * digits).round() / digits,
            unit: unit.to_owned(),
            goal,
        }
    }

    fn is(&self, other: &Self) -> bool {
        (&self.database, &self.part, &self.name) == (&other.database, &other.part, &other.name)
    }
}

/// A run, as it is recorded.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) commit: String,
    pub(crate) machine: String,
    pub(crate) rows: Vec<Figure>,
    #[serde(skip)]
    previous: Option<Box<Figures>>,
}

impl Figures {
    /// Begins a run, beside the recorded one where there is any.
    pub(crate) fn new(recorded: &Path) -> Self {
        let previous = std::fs::read_to_string(recorded).ok();
        let previous = previous.map(|text| serde_json::from_str(&text).expect("a recorded run"));
        Self { commit: commit(), machine: machine(), rows: Vec::new(), previous }
    }

    pub(crate) fn add(&mut self, figure: Figure) {
        println!("{}", self.line(&figure));
        self.rows.push(figure);
    }

    /// The value of a figure of this run.
    pub(crate) fn value(&self, database: &str, part: &str, name: &str) -> Option<f64> {
        let is = |f: &&Figure| f.database == database && f.part == part && f.name == name;
        self.rows.iter().find(is).map(|figure| figure.value)
    }

    fn line(&self, figure: &Figure) -> String {
        let Figure { database, part, name, value, unit, goal } = figure;
        let mut line =
            format!("  {database:<9}{part:<11}{name:<52}{:>10} {unit:<13}", number(*value));
        if let Some(goal) = goal {
            let met = if goal.is_met(*value) { "met" } else { "MISSED" };
            let _ = write!(line, "{:<14}{met:<7}", goal.text());
        } else {
            line.push_str("                     ");
        }
        let before = self.previous.iter().flat_map(|run| &run.rows).find(|old| old.is(figure));
        if let Some(before) = before.filter(|before| before.value != 0.0) {
            let change = (value / before.value - 1.0) * 100.0;
            let _ = write!(line, "was {} ({change:+.0} %)", number(before.value));
        }
        line.trim_end().to_owned()
    }

    /// Keeps the run for the next one: figures that it didn't measure stay as they were.
    pub(crate) fn record(mut self, file: &Path) {
        if let Some(previous) = self.previous.take() {
            let kept = previous.rows.into_iter();
            let kept: Vec<Figure> =
                kept.filter(|old| !self.rows.iter().any(|new| new.is(old))).collect();
            self.rows.extend(kept);
        }
        let text = serde_json::to_string_pretty(&self).unwrap();
        std::fs::write(file, text + "\n").unwrap();
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.3}"),
        middle if middle < 1_000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn commit() -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default()
}

fn machine() -> String {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cpu = value(&read("/proc/cpuinfo"), "model name").unwrap_or_default();
    let memory = value(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let memory = memory.trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1_048_576;
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{cores} cores ({cpu}), {memory} GiB")
}
