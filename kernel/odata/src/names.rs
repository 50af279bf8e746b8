//! What a misspelt name may have meant.

use strsim::osa_distance;

/// The longest name that is looked at; none of ours is longer, and distance costs its square.
const LONGEST: usize = 128;

/// The name among those that are known that a misspelt one is closest to; none where none is
/// close: a letter more, less, other or swapped for every three.
pub(crate) fn closest<'n>(
    misspelt: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    if misspelt.len() > LONGEST {
        return None;
    }
    let folded = misspelt.to_lowercase();
    let letters = folded.chars().count();
    let most = (letters / 3).max(1);
    let near = known.into_iter().filter_map(|name| {
        let is_far = name.chars().count().abs_diff(letters) > most;
        let distance =
            if is_far { usize::MAX } else { osa_distance(&folded, &name.to_lowercase()) };
        (distance <= most).then_some((distance, name))
    });
    // Of those that are equally close the first by name, so that the answer is always the same.
    near.min().map(|(_, name)| name.to_owned())
}

/// What follows the refusal of a misspelt name.
pub(crate) fn suggestion(closest: Option<&str>) -> String {
    closest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_close_name_is_suggested_and_no_other() {
        let known = ["price", "costPrice", "sku", "orders", "order"];
        let cases = [
            ("prise", Some("price")),
            ("Price", Some("price")),
            ("rpice", Some("price")),
            ("costprice", Some("costPrice")),
            ("sk", Some("sku")),
            ("orderss", Some("orders")),
            ("ordersx", Some("orders")),
            ("x", None),
            ("weight", None),
            ("", None),
        ];
        for (misspelt, expected) in cases {
            assert_eq!(closest(misspelt, known).as_deref(), expected, "{misspelt}");
        }
        assert_eq!(closest(&"p".repeat(100_000), known), None);
    }
}
