//! Text as both databases store it.

/// The most characters that are kept of a message.
const LONGEST: usize = 2_000;

/// The text without what PostgreSQL refuses, cut where it is too long.
pub(crate) fn storable(text: &str) -> String {
    let mut letters = text.chars().filter(|letter| *letter != '\0');
    let mut kept: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_holds_no_nul() {
        assert_eq!(storable("a\0b"), "ab");
        assert_eq!(storable(&"ä".repeat(LONGEST)), "ä".repeat(LONGEST));
        assert_eq!(storable(&"ä".repeat(LONGEST + 1)), "ä".repeat(LONGEST) + "…");
    }
}
