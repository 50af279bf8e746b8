//! What of a text is indexed.
//!
//! | Kind | What it is | Finds |
//! | --- | --- | --- |
//! | word | a word, or the first 64 letters of a longer one | the word, what begins with three letters or more, parts, typos |
//! | beginning | the first letter of a word, and its first two | one or two letters that were typed |
//! | count | how many words the text has, up to ten | values that are all of what was typed |
//! | piece | 64 letters from within a longer word, of which each shares 32 with the next | parts of long words, and of texts without spaces |

use std::collections::BTreeSet;

use crate::fold;

/// The letters of a word that are indexed as one.
pub(crate) const LONGEST: usize = 64;

/// A text with so many words may be all of what was typed.
const MOST_COUNTED: usize = 10;

/// What a term is, under the number that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TermKind {
    Word = 0,
    Beginning = 1,
    Count = 2,
    Piece = 3,
}

impl TermKind {
    pub(crate) const fn code(self) -> i16 {
        self as i16
    }
}

/// Something that a text is found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    pub(crate) text: String,
}

impl Term {
    fn new(kind: TermKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// The term that texts of so many words have.
pub(crate) fn count(words: usize) -> String {
    words.to_string()
}

/// What is compared of a word.
pub(crate) fn shortened(word: &str) -> &str {
    word.char_indices().nth(LONGEST).map_or(word, |(end, _)| &word[..end])
}

/// The terms of a text; none where it has no words.
pub(crate) fn terms(text: &str) -> BTreeSet<Term> {
    let words: BTreeSet<String> = fold::indexed_words(text).into_iter().collect();
    let mut terms = BTreeSet::new();
    for word in &words {
        terms.insert(Term::new(TermKind::Word, shortened(word)));
        for letters in [1, 2] {
            if let Some((end, _)) = word.char_indices().nth(letters) {
                terms.insert(Term::new(TermKind::Beginning, &word[..end]));
            }
        }
        let letters: Vec<char> = word.chars().collect();
        let starts = (LONGEST / 2..).step_by(LONGEST / 2);
        for start in starts.take_while(|start| start + LONGEST / 2 < letters.len()) {
            let end = letters.len().min(start + LONGEST);
            terms
                .insert(Term::new(TermKind::Piece, letters[start..end].iter().collect::<String>()));
        }
    }
    if (1..=MOST_COUNTED).contains(&words.len()) {
        terms.insert(Term::new(TermKind::Count, count(words.len())));
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(TermKind, String)> {
        terms(text).into_iter().map(|term| (term.kind, term.text)).collect()
    }

    #[test]
    fn a_text_has_its_words_their_beginnings_and_their_number() {
        let expected = [
            (TermKind::Word, "a"),
            (TermKind::Word, "bo"),
            (TermKind::Word, "bolt"),
            (TermKind::Beginning, "b"),
            (TermKind::Beginning, "bo"),
            (TermKind::Count, "3"),
        ];
        let expected = expected.map(|(kind, text)| (kind, text.to_owned()));
        assert_eq!(told("Bolt, a bo bolt"), expected);
        assert_eq!(told(" – "), []);
    }

    #[test]
    fn each_part_of_half_a_piece_of_a_long_word_is_in_one_of_its_terms() {
        for length in [64, 65, 96, 97, 200] {
            let letters: Vec<char> =
                (0..length).map(|n| char::from_u32(0x4E00 + n).unwrap()).collect();
            let terms = terms(&letters.iter().collect::<String>());
            for part in letters.windows(LONGEST / 2) {
                let part: String = part.iter().collect();
                assert!(terms.iter().any(|term| term.text.contains(&part)), "{length}: {part}");
            }
        }
    }

    #[test]
    fn texts_of_many_words_are_not_counted() {
        let text = (0..11).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert!(terms(&text).iter().all(|term| term.kind != TermKind::Count));
    }
}
