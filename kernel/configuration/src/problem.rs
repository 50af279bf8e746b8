//! What can be wrong with settings, and how it is said.

use crate::nearest::nearest;
use std::fmt;

use crate::source::Source;

/// Longest part of a value that a message shows, in characters.
const SHOWN_VALUE_LENGTH: usize = 80;

/// What stands for the value of a secret.
pub(crate) const MASK: &str = "***";

/// One problem with the settings; its display is one line that reads alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingProblem {
    /// The full key in its canonical spelling; none when a source as a whole is the problem.
    pub key: Option<String>,
    /// The value as it was written, masked for secrets; none when it must not or cannot be shown.
    pub value: Option<String>,
    /// Where the value was written.
    pub source: Option<String>,
    /// What is wrong, or what is expected instead.
    pub message: String,
}

impl SettingProblem {
    /// A problem with a source as a whole.
    pub(crate) fn of_source(source: impl fmt::Display, message: String) -> Self {
        Self { key: None, value: None, source: Some(source.to_string()), message }
    }

    /// A problem with a key whose value is not to be shown.
    pub(crate) fn of_key(key: String, source: &Source, message: String) -> Self {
        Self { key: Some(key), value: None, source: Some(source.to_string()), message }
    }

    pub(crate) fn with_value(mut self, value: &str) -> Self {
        self.value = Some(one_line(value));
        self
    }
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.key, &self.source) {
            (None, None) => {}
            (None, Some(source)) => write!(formatter, "{source}: ")?,
            (Some(key), source) => {
                write!(formatter, "`{key}`")?;
                if let Some(value) = &self.value {
                    write!(formatter, " = `{value}`")?;
                }
                if let Some(source) = source {
                    write!(formatter, " ({source})")?;
                }
                formatter.write_str(": ")?;
            }
        }
        formatter.write_str(&self.message)
    }
}

/// The settings cannot be used; the display has one line per problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<SettingProblem>,
}

impl SettingsError {
    pub(crate) fn new(problems: Vec<SettingProblem>) -> Self {
        Self { problems }
    }

    /// All problems that were found, at least one.
    #[must_use]
    pub fn problems(&self) -> &[SettingProblem] {
        &self.problems
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}

/// A value for a message: on one line, without control characters, and not too long.
pub(crate) fn one_line(value: &str) -> String {
    let mut shown = String::new();
    for (index, character) in value.chars().enumerate() {
        if index == SHOWN_VALUE_LENGTH {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Says which of `candidates` may have been meant, or lists them when none is near.
pub(crate) fn suggestion(written: &str, candidates: &[String], owner: &str) -> String {
    if let Some(near) = nearest(written, candidates.iter().map(String::as_str)) {
        return format!("did you mean `{near}`?");
    }
    if candidates.is_empty() {
        return format!("{owner} has none");
    }
    let names: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
    format!("{owner} has {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn shown_values_are_one_short_line() {
        assert_eq!(one_line("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        let shown = one_line(&"x".repeat(200));
        assert_eq!(shown.chars().count(), 81);
        assert!(shown.ends_with('…'));
    }
}
