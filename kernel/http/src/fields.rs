//! How a change's fields are read: what is left out stays as it is, which isn't the same as null.
//!
//! Each is named by `#[serde(default, deserialize_with = "…")]`.

use serde::{Deserialize, Deserializer};

/// Reads a field that may be left out, but not be null.
///
/// # Errors
///
/// What is there, null too, is no `T`.
pub fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads a field that may be null, and tells that from one that is left out.
///
/// # Errors
///
/// What is there is neither null nor a `T`.
pub fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Change {
        #[serde(default, deserialize_with = "present")]
        name: Option<String>,
        #[serde(default, deserialize_with = "given")]
        #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
        note: Option<Option<String>>,
    }

    fn read(json: &str) -> Result<Change, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_is_told_from_null() {
        assert_eq!(read("{}"), Ok(Change { name: None, note: None }));
        assert_eq!(read(r#"{"note": null}"#), Ok(Change { name: None, note: Some(None) }));
        let both = read(r#"{"name": "a", "note": "b"}"#);
        assert_eq!(both, Ok(Change { name: Some("a".into()), note: Some(Some("b".into())) }));
    }

    #[test]
    fn what_may_only_be_left_out_is_refused_as_null() {
        let refusal = read(r#"{"name": null}"#).unwrap_err();
        assert!(refusal.contains("expected a string"), "{refusal}");
    }
}
