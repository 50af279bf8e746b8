/// A letter in lower case where that is one letter, and leads back: what databases make of it, whatever their language.
#[must_use]
pub fn in_lower_case(letter: char) -> char {
    let lower = only(letter.to_lowercase());
    lower.filter(|lower| only(lower.to_uppercase()) == Some(letter)).unwrap_or(letter)
}

/// The same in upper case.
#[must_use]
pub fn in_upper_case(letter: char) -> char {
    let upper = only(letter.to_uppercase());
    upper.filter(|upper| only(upper.to_lowercase()) == Some(letter)).unwrap_or(letter)
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}
