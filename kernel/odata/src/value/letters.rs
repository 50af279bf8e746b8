use std::ops::RangeInclusive;

/// Where the upper ones are of the letters that change their case: ASCII, Latin-1 and Latin Extended-A, Greek up to `Ϋ`, Cyrillic from `Ѐ` to
/// `Я`. Databases are told each of them, so there are few.
const BLOCKS: [RangeInclusive<char>; 5] = [
    'A'..='Z',
    '\u{c0}'..='\u{de}',
    '\u{100}'..='\u{17f}',
    '\u{386}'..='\u{3ab}',
    '\u{400}'..='\u{42f}',
];

/// A letter in lower case, as `tolower` has it everywhere: of the blocks that change theirs, where that is one letter, and leads back. All
/// others stay as they are.
#[must_use]
pub fn in_lower_case(letter: char) -> char {
    let lower = only(letter.to_lowercase()).filter(|_| is_upper(letter));
    lower.filter(|lower| only(lower.to_uppercase()) == Some(letter)).unwrap_or(letter)
}

/// The same in upper case, as `toupper` has it.
#[must_use]
pub fn in_upper_case(letter: char) -> char {
    let upper = only(letter.to_uppercase()).filter(|upper| is_upper(*upper));
    upper.filter(|upper| only(upper.to_lowercase()) == Some(letter)).unwrap_or(letter)
}

/// The letters beyond ASCII that change their case: the upper one, and the lower one.
pub fn cased_letters() -> impl Iterator<Item = (char, char)> {
    let upper = BLOCKS.into_iter().flatten().filter(|letter| !letter.is_ascii());
    upper.map(|upper| (upper, in_lower_case(upper))).filter(|(upper, lower)| lower != upper)
}

fn is_upper(letter: char) -> bool {
    BLOCKS.iter().any(|block| block.contains(&letter))
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_letters_of_some_blocks_change_their_case() {
        for (upper, lower) in
            [('A', 'a'), ('Ä', 'ä'), ('Ÿ', 'ÿ'), ('Ź', 'ź'), ('Ω', 'ω'), ('Ж', 'ж')]
        {
            assert_eq!((in_lower_case(upper), in_upper_case(lower)), (lower, upper));
        }
        // The Cyrillic ones behind those of Russian, Armenian, Georgian and Latin ones, and such as would be two letters, or lead nowhere back.
        for letter in "ҐґӘәԱաႠḀḁßİıſﬁµς\u{212a}".chars() {
            assert_eq!((in_lower_case(letter), in_upper_case(letter)), (letter, letter));
        }
        let back = |(upper, lower)| in_upper_case(lower) == upper && in_lower_case(lower) == lower;
        assert!(cased_letters().all(back));
    }
}
