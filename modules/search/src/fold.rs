//! Texts as they are compared: words without accents, case and punctuation.
//!
//! Each letter is folded by itself, so that a place in the folded text is a place in the text.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// What stands before and behind a word where it becomes trigrams: so its beginning is one.
pub(crate) const GAP: &str = "  ";

/// The way in which texts become terms: another number has every index built anew.
pub(crate) const FOLDING: u32 = 1;

/// The most letters of a value that are indexed.
const MOST_LETTERS: usize = 4_000;

/// A folded letter, and where in the text it is from, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) folded: char,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The words of a text, as the folded letters of each.
pub(crate) fn letters_of_words(text: &str) -> Vec<Vec<Letter>> {
    let mut words = Vec::new();
    let mut word = Vec::new();
    let mut place = 0;
    for letter in text.chars() {
        let (start, end) = (place, place + u32::from(letter.len_utf16() == 2) + 1);
        place = end;
        let before = word.len();
        fold_letter(letter, |folded| word.push(Letter { folded, start, end }));
        // A mark by itself belongs to the letter before it.
        if word.len() == before && !is_combining_mark(letter) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The folded words of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    let words = letters_of_words(text).into_iter();
    words.map(|word| word.iter().map(|letter| letter.folded).collect()).collect()
}

/// The words of a value that are indexed: those of its first 4,000 letters.
pub(crate) fn indexed_words(text: &str) -> Vec<String> {
    let end = text.char_indices().nth(MOST_LETTERS).map_or(text.len(), |(end, _)| end);
    words(&text[..end])
}

fn fold_letter(letter: char, mut push: impl FnMut(char)) {
    if letter.is_ascii() {
        if letter.is_ascii_alphanumeric() {
            push(letter.to_ascii_lowercase());
        }
        return;
    }
    for part in std::iter::once(letter).nfkd().filter(|part| !is_combining_mark(*part)) {
        for lower in part.to_lowercase().filter(|lower| lower.is_alphanumeric()) {
            match lower {
                'ß' => ['s', 's'].into_iter().for_each(&mut push),
                'æ' => ['a', 'e'].into_iter().for_each(&mut push),
                'œ' => ['o', 'e'].into_iter().for_each(&mut push),
                'þ' => ['t', 'h'].into_iter().for_each(&mut push),
                'ø' => push('o'),
                'đ' | 'ð' => push('d'),
                'ł' => push('l'),
                'ı' => push('i'),
                'ς' => push('σ'),
                other => push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_is_left_without_case_accents_and_punctuation() {
        assert_eq!(words("Größe, ÆRØ-Łódź №5"), ["grosse", "aero", "lodz", "no5"]);
        assert_eq!(words("e\u{301}te\u{301} ﬁn"), ["ete", "fin"]);
        assert_eq!(words("*()\"& – !"), Vec::<String>::new());
    }

    #[test]
    fn letters_know_where_they_are_from() {
        let word = &letters_of_words("😀 ßa")[0];
        let places: Vec<_> = word.iter().map(|l| (l.folded, l.start, l.end)).collect();
        assert_eq!(places, [('s', 3, 4), ('s', 3, 4), ('a', 4, 5)]);
    }

    #[test]
    fn a_long_value_is_indexed_as_far_as_its_limit() {
        let text = "é".repeat(MOST_LETTERS + 1);
        assert_eq!(indexed_words(&text)[0].len(), MOST_LETTERS);
    }
}
