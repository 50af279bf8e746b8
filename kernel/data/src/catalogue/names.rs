//! Names in the ways that databases, metadata and events write them.

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
pub(crate) fn pascal_case(name: &str) -> String {
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
pub(crate) fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// `PriceLists` becomes `price_lists`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, letter) in name.char_indices() {
        if letter.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
