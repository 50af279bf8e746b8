//! JSON that means one thing only: well-formed to the end, and no object names a key twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use svc_core::Error;

/// Checks a text before it is read as a type.
///
/// Readers disagree on which of two equal keys counts, and that disagreement is how checks are
/// passed by; so such a text is malformed at any depth, also where the type would ignore it.
pub(super) fn check(text: &[u8]) -> Result<(), Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let outcome = Strict.deserialize(&mut reader).and_then(|()| reader.end());
    outcome.map_err(|error| Error::malformed(format!("the body is not valid JSON: {error}")))
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Strict)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` comes twice")));
            }
            entries.next_value_seed(Strict)?;
            keys.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn one_meaning_passes() {
        for text in [r#"{"a":1,"b":{"a":[1.5,-2,true,null,"x"]}}"#, "[]", "3", "\"\\u00e4\""] {
            check(text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_malformed() {
        for (text, reason) in [
            (r#"{"a":1,"a":1}"#, "the key `a` comes twice"),
            (r#"{"x":[{"k":{"a":1,"a":2}}]}"#, "the key `a` comes twice"),
            // An escaped key is the same key.
            ("{\"a\":1,\"\\u0061\":2}", "the key `a` comes twice"),
            (r#"{"a":1} {"b":2}"#, "trailing characters"),
            (r#"{"a":1"#, "EOF"),
            (r#"{"a":1,}"#, "trailing comma"),
            ("{'a':1}", "key must be a string"),
            ("{\"a\":1e999}", "number out of range"),
            ("", "EOF"),
        ] {
            let error = check(text.as_bytes()).unwrap_err();
            assert!(error.message().contains(reason), "{text}: {}", error.message());
        }
        assert!(check(b"\"\xff\"").is_err());
        assert!(check("[".repeat(100_000).as_bytes()).is_err());
    }
}
