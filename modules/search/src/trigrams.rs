//! What the index of trigrams of words is asked for.
//!
//! It names words that have all trigrams of a piece of text; whether they have the piece itself is compared then.
//!
//! A typo is in one half of a word, so the other half is as it was typed: what is near begins with the first half, or has the
//! second one, or two letters are swapped where the halves meet ([`Halves`]). All three are looked up in a small part of
//! the dictionary, however long the word is.

use std::collections::BTreeSet;

use svc_database::Backend;

use crate::terms::LONGEST;

/// Words of so many letters may have a typo: all that are long enough, since no more of a word is compared.
pub(crate) const FORGIVEN: std::ops::RangeInclusive<usize> = 5..=LONGEST;

/// A condition on the trigrams of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All trigrams of these texts.
    All(BTreeSet<String>),
    /// One of these.
    Any(Vec<Wanted>),
    /// All of these.
    Each(Vec<Wanted>),
}

/// Three private characters that stand for a scope: one trigram, which no word has. Two scopes may have one, as seldom as
/// by chance; so the index finds by it, and words are compared with the scope that they say.
pub(crate) fn mark(scope: i64) -> String {
    let private = |pair: &[u8]| {
        let number = u32::from(u16::from_be_bytes([pair[0], pair[1]])) % 0xFFFE;
        char::from_u32(0xF_0000 + number).unwrap_or('\u{F0000}')
    };
    scope.to_be_bytes()[..6].chunks(2).map(private).collect()
}

/// All trigrams of a text, each once.
pub(crate) fn trigrams(text: &str) -> BTreeSet<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.windows(3).map(|three| three.iter().collect()).collect()
}

impl Wanted {
    /// The words that may have a piece of text, of three characters at least.
    pub(crate) fn piece(text: &str) -> Self {
        Self::All(trigrams(text))
    }

    /// In the language of the database's index.
    pub(crate) fn expression(&self, backend: Backend) -> String {
        let mut text = String::new();
        self.write(backend, &mut text);
        text
    }

    fn write(&self, backend: Backend, out: &mut String) {
        let (and, or) = match backend {
            Backend::Sqlite => (" AND ", " OR "),
            Backend::Postgres => (" & ", " | "),
        };
        out.push('(');
        match self {
            Self::All(trigrams) => {
                let quote = if backend == Backend::Sqlite { '"' } else { '\'' };
                for (number, trigram) in trigrams.iter().enumerate() {
                    out.push_str(if number == 0 { "" } else { and });
                    out.push(quote);
                    out.push_str(trigram);
                    out.push(quote);
                }
            }
            Self::Any(parts) | Self::Each(parts) => {
                let between = if matches!(self, Self::Any(_)) { or } else { and };
                for (number, part) in parts.iter().enumerate() {
                    out.push_str(if number == 0 { "" } else { between });
                    part.write(backend, out);
                }
            }
        }
        out.push(')');
    }
}

/// What a word has that is a typo away from what was typed: it begins in one of two ways, or has the second half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halves {
    /// The first half, and the whole with two letters swapped where the halves meet.
    pub(crate) beginnings: [String; 2],
    /// The second half: three letters at least.
    pub(crate) second: String,
}

impl Halves {
    /// None of a word that is taken as it is.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let mut letters: Vec<char> = word.chars().collect();
        if !FORGIVEN.contains(&letters.len()) {
            return None;
        }
        let middle = letters.len() / 2;
        let first: String = letters[..middle].iter().collect();
        let second = letters[middle..].iter().collect();
        letters.swap(middle - 1, middle);
        Some(Self { beginnings: [first, letters.into_iter().collect()], second })
    }
}

/// Whether a word begins like what was typed but for one typo.
pub(crate) fn is_near(typed: &str, there: &str) -> bool {
    let typed: Vec<char> = typed.chars().collect();
    FORGIVEN.contains(&typed.len()) && {
        let there: Vec<char> = there.chars().take(typed.len() + 1).collect();
        begins_nearly(&typed, &there)
    }
}

/// Whether `there` begins with what was typed, but for one letter that is too much, missing, wrong, or swapped with
/// the next.
pub(crate) fn begins_nearly(typed: &[char], there: &[char]) -> bool {
    let same = typed.iter().zip(there).take_while(|(a, b)| a == b).count();
    let (typed, there) = (&typed[same..], &there[same..]);
    match (typed, there) {
        ([], _) => true,
        ([_, rest @ ..], []) => rest.is_empty(),
        ([wrong, rest @ ..], [_, behind @ ..]) => {
            let swapped = match (rest, behind) {
                ([second, rest @ ..], [other, behind @ ..]) => {
                    wrong == other && *second == there[0] && behind.starts_with(rest)
                }
                _ => false,
            };
            behind.starts_with(rest)
                || behind.starts_with(typed)
                || there.starts_with(rest)
                || swapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_typo_is_forgiven_and_two_are_not() {
        for typed in
            ["schraub", "scraube", "schrraube", "xchraube", "schruabe", "schraubee", "schrabue"]
        {
            assert!(is_near(typed, "schraube"), "{typed}");
            assert!(is_near(typed, "schraubenzieher") || typed == "schraubee", "{typed}");
        }
        for typed in ["xchraubx", "shcrabue", "bolzen", "schr"] {
            assert!(!is_near(typed, "schaube"), "{typed}");
        }
        assert!(!is_near("haus", "hauz"), "words of four letters are taken as they are");
        let long = "Donaudampfschifffahrtsgesellschaftskapitaensmuetze".to_lowercase();
        for typed in
            [&long[1..], &long[..30], &long.replace("fff", "ff"), &long.replace("mu", "um")]
        {
            assert!(is_near(typed, &long), "{typed}");
        }
        assert!(!is_near(&long.replace("fff", "f"), &long), "two letters are missing");
    }

    #[test]
    fn whatever_is_near_is_among_what_the_index_is_asked_for() {
        let letters = ['a', 'b'];
        // Every word of five and of six letters out of two, and everything that is one typo away from it.
        for (number, length) in (0..32_u32).map(|n| (n, 5)).chain((0..64).map(|n| (n, 6))) {
            let word: String =
                (0..length).map(|bit| letters[(number >> bit & 1) as usize]).collect();
            let halves = Halves::of(&word).unwrap();
            for other in 0..256_u32 {
                for length in 4..=8 {
                    let there: String =
                        (0..length).map(|bit| letters[(other >> bit & 1) as usize]).collect();
                    if is_near(&word, &there) {
                        let begins =
                            halves.beginnings.iter().any(|one| there.starts_with(one.as_str()));
                        assert!(begins || there.contains(&halves.second), "{word} in {there}");
                    }
                }
            }
        }
        assert_eq!(Halves::of("haus"), None);
        assert_eq!(Halves::of("größe").unwrap().second, "öße");
    }

    #[test]
    fn each_database_is_asked_in_its_language() {
        let wanted = Wanted::Each(vec![Wanted::piece("  ab"), Wanted::piece("xyz")]);
        assert_eq!(wanted.expression(Backend::Sqlite), r#"(("  a" AND " ab") AND ("xyz"))"#);
        assert_eq!(wanted.expression(Backend::Postgres), "(('  a' & ' ab') & ('xyz'))");
    }
}
