//! Which name may have been meant by one that nobody knows.

/// The candidate that differs least from `written`, when it differs little enough to be a slip.
#[must_use]
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (written.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other
/// (optimal string alignment), without regard to case.
fn distance(left: &str, right: &str) -> usize {
    strsim::osa_distance(&left.to_lowercase(), &right.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_edits() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("Timeout", "timeout", 0),
            ("Timout", "Timeout", 1),
            ("Tiemout", "Timeout", 1),
            ("MaxAtempts", "MaxAttempts", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn only_a_near_candidate_is_suggested() {
        let candidates = ["Timeout", "MaxAttempts"];
        assert_eq!(nearest("TimeOutt", candidates), Some("Timeout"));
        assert_eq!(nearest("Retries", candidates), None);
    }
}
