use std::collections::HashMap;
use std::fmt::Write as _;

/// Numbers the identifiers in a text, UUIDs and the traces of requests, by when they first appear: answers of
/// two worlds that are alike but for these are the same then.
#[must_use]
pub fn numbered(text: &str) -> String {
    let is_of_one = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let mut known = HashMap::new();
    let mut all = String::new();
    for piece in text.split_inclusive(|letter| !is_of_one(letter)) {
        let word = piece.trim_end_matches(|letter| !is_of_one(letter));
        if (word.len() == 36 && word.matches('-').count() == 4) || word.len() == 32 {
            let next = known.len();
            let number = *known.entry(word).or_insert(next);
            let _ = write!(all, "<{number}>");
        } else {
            all += word;
        }
        all += &piece[word.len()..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_numbered_and_nothing_else() {
        let (one, two) =
            ("0198f3a2-7c11-7e40-8a52-0d1f6f3a9b10", "4bf92f3577b34da6a3ce929d0e0e4736");
        let text = format!("{two} (\"{one}\", 2026-11-28, face): {two}/{one}");
        assert_eq!(numbered(&text), "<0> (\"<1>\", 2026-11-28, face): <0>/<1>");
    }
}
