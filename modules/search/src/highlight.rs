//! Where words match in a text, and the piece of it that shows the first of them.

use svc_sets::search::{Excerpt, TextMatch};

use crate::fold::{Letter, letters_of_words};
use crate::trigrams::{FORGIVEN, begins_nearly};

/// The most characters of an excerpt.
const EXCERPT: usize = 120;

/// How many of them stand before the first match.
const BEFORE: usize = 40;

/// Where words match in a text; sorted, and none touches another.
pub(crate) fn matches(text: &str, words: &[String]) -> Vec<TextMatch> {
    let words: Vec<Vec<char>> = words.iter().map(|word| word.chars().collect()).collect();
    let mut found: Vec<(u32, u32)> = Vec::new();
    for there in letters_of_words(text) {
        let folded: Vec<char> = there.iter().map(|letter| letter.folded).collect();
        let within = |(start, length): (usize, usize)| place(&there[start..start + length]);
        found.extend(words.iter().filter_map(|word| find(word, &folded)).map(within));
    }
    found.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::with_capacity(found.len());
    for (start, end) in found {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined.into_iter().map(|(start, end)| TextMatch(start, end - start)).collect()
}

fn place(letters: &[Letter]) -> (u32, u32) {
    let start = letters.first().map_or(0, |letter| letter.start);
    (start, letters.last().map_or(start, |letter| letter.end))
}

/// The letters of a word that another matches: its beginning, a part of it, or, after a typo, all of it.
fn find(word: &[char], there: &[char]) -> Option<(usize, usize)> {
    if there.starts_with(word) {
        return Some((0, word.len()));
    }
    let part = || there.windows(word.len()).position(|part| part == word);
    if let Some(start) = part().filter(|_| word.len() >= 3) {
        return Some((start, word.len()));
    }
    let near = FORGIVEN.contains(&word.len()) && begins_nearly(word, there);
    near.then(|| (0, there.len().min(word.len() + 1)))
}

/// The piece of a property's text around the first match; none where nothing matches.
pub(crate) fn excerpt(property: &str, text: &str, words: &[String]) -> Option<Excerpt> {
    let first = matches(text, words).first()?.0;
    let letters: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut units = 0;
    let at = letters.iter().position(|letter| {
        let here = units;
        units += u32::from(letter.len_utf16() == 2) + 1;
        here >= first
    })?;
    let from = if letters.len() <= EXCERPT { 0 } else { at.saturating_sub(BEFORE) };
    // Not in the middle of a word.
    let from = match letters[from..at].iter().position(|letter| *letter == ' ') {
        Some(space) if from > 0 => from + space + 1,
        _ => from,
    };
    let until = letters.len().min(from + EXCERPT);
    let mut piece = String::with_capacity(EXCERPT + 8);
    piece.push_str(if from > 0 { "… " } else { "" });
    piece.extend(&letters[from..until]);
    piece.push_str(if until < letters.len() { " …" } else { "" });
    let matches = matches(&piece, words);
    Some(Excerpt { property: property.to_owned(), text: piece, matches })
}

#[cfg(test)]
mod tests {
    use svc_testing::Dice;

    use super::*;

    fn found(text: &str, words: &[&str]) -> Vec<(u32, u32)> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        matches(text, &words).into_iter().map(|m| (m.0, m.1)).collect()
    }

    #[test]
    fn matches_are_told_as_javascript_counts() {
        assert_eq!(found("😀 Größe", &["gross"]), [(3, 4)]);
        assert_eq!(found("Holzschraube", &["schraube"]), [(4, 8)]);
        assert_eq!(found("Holzschraube", &["ra"]), []);
        assert_eq!(found("Schraube M8", &["schruabe", "m8"]), [(0, 8), (9, 2)]);
        assert_eq!(found("abcdef", &["abcd", "cdef"]), [(0, 6)]);
    }

    #[test]
    fn an_excerpt_is_the_piece_around_the_first_match() {
        let text = format!("{} bolt {}", "lorem ".repeat(40), "ipsum ".repeat(40));
        let piece = excerpt("description", &text, &["bolt".to_owned()]).unwrap();
        assert!(piece.text.starts_with("… lorem") && piece.text.ends_with(" …"), "{}", piece.text);
        let TextMatch(start, length) = piece.matches[0];
        let part = piece.text.chars().skip(start as usize).take(length as usize);
        assert_eq!(part.collect::<String>(), "bolt");
        assert!(piece.text.chars().count() <= EXCERPT + 4);
        assert_eq!(excerpt("description", &text, &["nut".to_owned()]), None);
    }

    /// A piece of a text by the places that JavaScript counts.
    fn piece_of(text: &str, (start, length): (u32, u32)) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        let (start, length) = (usize::try_from(start).unwrap(), usize::try_from(length).unwrap());
        String::from_utf16(&units[start..start + length]).expect("no letter is cut in two")
    }

    #[test]
    fn whatever_the_text_places_are_sorted_apart_and_of_whole_letters() {
        const PARTS: [&str; 18] = [
            "bolt",
            "Bolt",
            "b\u{f6}lt",
            "b\u{f6}\u{301}lt",
            "\u{1f529}",
            "\u{1d401}olt",
            " ",
            " ",
            "-",
            "\u{df}",
            "SS",
            "x",
            "\u{130}",
            "\u{fb01}",
            "\u{200d}",
            "\n",
            "holzschraube",
            "bot",
        ];
        let mut dice = Dice::new(11);
        let words: Vec<String> = ["bolt", "ss", "schraube", "fi", "i"].map(str::to_owned).into();
        let mut found_any = 0;
        for _ in 0..3_000 {
            let parts = dice.below(60);
            let text: String = (0..parts).map(|_| PARTS[dice.below(PARTS.len())]).collect();
            let found: Vec<(u32, u32)> =
                matches(&text, &words).into_iter().map(|m| (m.0, m.1)).collect();
            for two in found.windows(2) {
                assert!(two[0].0 + two[0].1 < two[1].0, "{text:?}: {found:?}");
            }
            for place in &found {
                let piece = piece_of(&text, *place);
                assert!(
                    !piece.is_empty() && !crate::fold::words(&piece).is_empty(),
                    "{text:?}: {piece:?}"
                );
            }
            let shown = excerpt("description", &text, &words);
            assert_eq!(shown.is_some(), !found.is_empty(), "{text:?}");
            let Some(shown) = shown else { continue };
            found_any += 1;
            assert!(shown.text.chars().count() <= EXCERPT + 4, "{}", shown.text);
            assert!(!shown.text.contains(char::is_control), "{:?}", shown.text);
            assert!(!shown.matches.is_empty(), "{text:?}: {}", shown.text);
            let first = piece_of(&shown.text, (shown.matches[0].0, shown.matches[0].1));
            assert!(!crate::fold::words(&first).is_empty(), "{:?}", shown.text);
        }
        assert!(found_any > 1_000, "the texts are worth nothing: {found_any}");
    }
}
