//! Names in the ways that databases, metadata and events write them.
//!
//! They are part of every address, and each letter follows from the name in the source alone: `line_2` is
//! `line2` and `SKU` stays `SKU`. A library that looks for words, as `heck` does, decides such things by rules of its
//! own, which a newer release may change.

/// `cost_price` becomes `costPrice`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            letter if upper => {
                camel.extend(letter.to_uppercase());
                upper = false;
            }
            letter => camel.push(letter),
        }
    }
    camel
}

/// `order-desk` becomes `OrderDesk`.
#[must_use]
pub fn pascal_case(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

/// `OrderLines` becomes `orderLines`.
#[must_use]
pub fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// The type of a set's entities: `Categories` holds `Category`, `Products` holds `Product`.
#[must_use]
pub fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if name.ends_with(ending) {
            return name[..name.len() - 2].to_owned();
        }
    }
    match name.strip_suffix('s') {
        Some(stem) if !name.ends_with("ss") => stem.to_owned(),
        _ => format!("{name}Item"),
    }
}

/// The name of the set of what was deleted from a set.
pub(crate) fn deleted_set(set: &str) -> String {
    format!("Deleted{set}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_s_type_has_the_singular_of_its_name() {
        let cases = [
            ("Products", "Product"),
            ("Categories", "Category"),
            ("Boxes", "Box"),
            ("Addresses", "Address"),
            ("Stock", "StockItem"),
        ];
        for (set, expected) in cases {
            assert_eq!(singular(set), expected);
        }
    }
}
