use std::fmt;
use std::sync::Arc;

use svc_core::{Error, Result};
use unic_langid::LanguageIdentifier;

/// The most ranges of an `Accept-Language` that are looked at.
const MOST_RANGES: usize = 32;

/// A language, by its tag (BCP 47) in the usual case: `en`, `de-AT`, `zh-Hant`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(Arc<str>);

impl Language {
    /// What other languages are translated from.
    #[must_use]
    pub fn english() -> Self {
        Self("en".into())
    }

    /// A language by its tag.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for what is no tag of a language.
    pub fn new(tag: &str) -> Result<Self> {
        let identifier: LanguageIdentifier = tag.parse().map_err(|_| {
            Error::invalid(format!("`{tag}` isn't the tag of a language, such as `en` or `de-AT`"))
        })?;
        Ok(Self(identifier.to_string().into()))
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn identifier(&self) -> LanguageIdentifier {
        self.0.parse().expect("a language is made from a tag that was read")
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The language among `available` that serves a wish best (RFC 4647, section 3.4): the tag itself, or else what is
/// left of it when parts are taken from its end.
pub(crate) fn look_up<'a>(wish: &str, available: &'a [Language]) -> Option<&'a Language> {
    let mut wish = wish.trim();
    loop {
        let found = available.iter().find(|each| each.0.eq_ignore_ascii_case(wish));
        if found.is_some() {
            return found;
        }
        wish = &wish[..wish.rfind('-')?];
        // A single letter begins an extension, which means nothing without what follows it.
        if wish.len() > 2 && wish.as_bytes()[wish.len() - 2] == b'-' {
            wish = &wish[..wish.len() - 2];
        }
    }
}

/// The ranges of an `Accept-Language` (RFC 9110, section 12.5.4), the most wanted first. What is not wanted at all and
/// what can't be read is left out.
pub(crate) fn ranges(accept_language: &str) -> Vec<&str> {
    let parts = accept_language.split(',').take(MOST_RANGES);
    let mut ranges: Vec<(f32, &str)> = parts
        .filter_map(|part| {
            let (range, weight) = part.split_once(';').unwrap_or((part, "q=1"));
            let weight = weight.trim().strip_prefix("q=")?.trim().parse::<f32>().ok()?;
            let range = range.trim();
            (weight > 0.0 && weight <= 1.0 && !range.is_empty()).then_some((weight, range))
        })
        .collect();
    ranges.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranges.into_iter().map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages(tags: &[&str]) -> Vec<Language> {
        tags.iter().map(|tag| Language::new(tag).unwrap()).collect()
    }

    #[test]
    fn a_tag_is_written_as_usual_or_refused() {
        assert_eq!(Language::new("DE-at").unwrap().as_str(), "de-AT");
        assert!(Language::new("").is_err());
        assert!(Language::new("german language").is_err());
    }

    #[test]
    fn a_wish_is_served_by_the_nearest_language() {
        let available = languages(&["en", "de", "de-AT", "zh-Hant"]);
        let found = |wish| look_up(wish, &available).map(Language::as_str);
        assert_eq!(found("de-at"), Some("de-AT"));
        assert_eq!(found("de-CH-1901"), Some("de"));
        assert_eq!(found("zh-Hant-TW"), Some("zh-Hant"));
        assert_eq!(found("en-x-pirate"), Some("en"));
        for unknown in ["fr", "zh", "*", "", "-", "--", "é-"] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn wishes_come_by_their_weight_and_then_in_their_order() {
        assert_eq!(ranges("de-AT, de;q=0.9,en;q=0.8"), ["de-AT", "de", "en"]);
        assert_eq!(ranges("fr;q=0.2, en ; q=0.7, de"), ["de", "en", "fr"]);
        assert_eq!(ranges("fr;q=0, *;q=0.5, en;q=nan, de;x, ;q=1,"), ["*"]);
        assert_eq!(ranges(&"de,".repeat(10_000)).len(), MOST_RANGES);
    }
}
