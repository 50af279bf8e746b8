//! `Prefer` and `Preference-Applied` (RFC 7240; Protocol 4.01, 8.2.8).

use super::{split_unquoted, unquote};

/// What a caller would like, of what services of this crate honour. What is unknown, malformed or never
/// honoured (`omit-values`, `track-changes`, `respond-async`, …) is as if it were not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preferences {
    /// `return`.
    pub return_content: Option<ReturnPreference>,
    /// `odata.maxpagesize`, at least 1.
    pub max_page_size: Option<u32>,
    /// `odata.continue-on-error`, for batches.
    pub continue_on_error: Option<bool>,
}

/// What a change shall answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReturnPreference {
    /// Nothing but the headers.
    Minimal,
    /// The entity.
    Representation,
}

impl Preferences {
    /// Reads the text of the header; several headers are joined by commas before. The first of
    /// two that contradict each other counts.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut preferences = Self::default();
        for preference in split_unquoted(text, ',') {
            preferences.add(preference);
        }
        preferences
    }

    fn add(&mut self, preference: &str) {
        let Some(first) = split_unquoted(preference, ';').next() else { return };
        let (name, value) = match first.split_once('=') {
            Some((name, value)) => (name.trim(), Some(unquote(value.trim()))),
            None => (first, None),
        };
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("odata.").unwrap_or(&name);
        let value = value.as_deref();
        match name {
            "return" if self.return_content.is_none() => {
                self.return_content = match value {
                    Some("minimal") => Some(ReturnPreference::Minimal),
                    Some("representation") => Some(ReturnPreference::Representation),
                    _ => None,
                };
            }
            "maxpagesize" if self.max_page_size.is_none() => {
                let size = value.and_then(|value| value.parse().ok());
                self.max_page_size = size.filter(|&size| size > 0);
            }
            "continue-on-error" if self.continue_on_error.is_none() => {
                self.continue_on_error = match value.map(str::to_ascii_lowercase).as_deref() {
                    None | Some("true") => Some(true),
                    Some("false") => Some(false),
                    Some(_) => None,
                };
            }
            _ => {}
        }
    }
}
