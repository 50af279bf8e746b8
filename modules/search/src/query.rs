//! What was typed, as words.

use svc_core::Result;
use svc_sets::search::SearchQuery;

use crate::errors::{NOTHING_TO_LOOK_FOR, TOO_LONG};
use crate::fold;

/// The most characters of a query.
const MOST_CHARACTERS: usize = 200;

/// The most words of a query.
const MOST_WORDS: usize = 10;

/// Reads what was typed. A word that comes twice counts once.
///
/// # Errors
///
/// [`TOO_LONG`], [`NOTHING_TO_LOOK_FOR`].
pub(crate) fn read(text: &str) -> Result<SearchQuery> {
    let text = text.trim();
    let too_long = || {
        let message = format!(
            "what is looked for has at most {MOST_CHARACTERS} characters and {MOST_WORDS} words; leave some out"
        );
        let error = TOO_LONG.error(message).target("q");
        error.with("characters", MOST_CHARACTERS).with("words", MOST_WORDS)
    };
    if text.chars().nth(MOST_CHARACTERS).is_some() {
        return Err(too_long());
    }
    let mut words: Vec<String> = Vec::new();
    for word in fold::words(text) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.len() {
        0 => {
            let message = "there is no letter and no digit to look for";
            Err(NOTHING_TO_LOOK_FOR.error(message).target("q"))
        }
        1..=MOST_WORDS => Ok(SearchQuery { text: text.to_owned(), words }),
        _ => Err(too_long()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_bounded() {
        let query = read("  Hex-Bolt  hex ").unwrap();
        assert_eq!(query.text, "Hex-Bolt  hex");
        assert_eq!(query.words, ["hex", "bolt"]);
        let code = |text: &str| read(text).unwrap_err().code();
        assert_eq!(code(" *\"() | & - "), NOTHING_TO_LOOK_FOR.name());
        assert_eq!(code(&"x".repeat(201)), TOO_LONG.name());
        assert_eq!(code("a b c d e f g h i j k"), TOO_LONG.name());
        assert!(read("NOT").is_ok(), "what are operators elsewhere are words here");
    }
}
