//! `Prefer` and `Preference-Applied` (RFC 7240; Protocol 4.01, 8.2.8).

use super::{split_unquoted, unquote};

/// What a caller would like. What is unknown or malformed is as if it were not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preferences {
    /// `return`.
    pub return_content: Option<ReturnPreference>,
    /// `odata.maxpagesize`, at least 1.
    pub max_page_size: Option<u32>,
    /// `odata.continue-on-error`, for batches.
    pub continue_on_error: Option<bool>,
    /// `odata.include-annotations`, the pattern as written.
    pub include_annotations: Option<String>,
    /// `omit-values`.
    pub omit_values: Option<OmitValues>,
    /// `respond-async`.
    pub respond_async: bool,
    /// `wait`, in seconds.
    pub wait_seconds: Option<u32>,
    /// `odata.track-changes`.
    pub track_changes: bool,
    /// `odata.allow-entityreferences`.
    pub allow_entity_references: bool,
    /// `odata.callback; url="…"`.
    pub callback_url: Option<String>,
}

/// What a change shall answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReturnPreference {
    /// Nothing but the headers.
    Minimal,
    /// The entity.
    Representation,
}

/// Which values may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OmitValues {
    /// Those that are null.
    Nulls,
    /// Those that are their property's default.
    Defaults,
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
        let mut parts = split_unquoted(preference, ';');
        let Some(first) = parts.next() else { return };
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
            "include-annotations" if self.include_annotations.is_none() => {
                self.include_annotations = value.map(str::to_owned);
            }
            "omit-values" if self.omit_values.is_none() => {
                self.omit_values = match value {
                    Some("nulls") => Some(OmitValues::Nulls),
                    Some("defaults") => Some(OmitValues::Defaults),
                    _ => None,
                };
            }
            "respond-async" => self.respond_async = true,
            "wait" if self.wait_seconds.is_none() => {
                self.wait_seconds = value.and_then(|value| value.parse().ok());
            }
            "track-changes" => self.track_changes = true,
            "allow-entityreferences" => self.allow_entity_references = true,
            "callback" if self.callback_url.is_none() => {
                let url =
                    parts.find_map(|part| part.strip_prefix("url=").map(|url| unquote(url.trim())));
                self.callback_url = url;
            }
            _ => {}
        }
    }
}
