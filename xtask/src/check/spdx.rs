//! Licence expressions as SPDX writes them: ids with `WITH`, `AND`, `OR` and parentheses.
//!
//! `WITH` binds closest, then `AND`, then `OR`. A `/` between two ids is how older manifests of Rust
//! crates write `OR`. See annex D of the SPDX specification, version 2.3.

/// Whether one of the choices that the expression leaves is allowed as a whole.
///
/// `allowed` is asked for each id, together with its exception where there is one, as in
/// `Apache-2.0 WITH LLVM-exception`.
///
/// # Errors
/// Says what is wrong with an expression that can't be read.
pub(super) fn is_allowed(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let words = words(expression);
    let mut parser = Parser { words: &words, allowed };
    let result = parser.either()?;
    match parser.words.first() {
        None => Ok(result),
        Some(word) => Err(format!("`{word}` is not expected in `{expression}`")),
    }
}

fn words(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    words: &'a [String],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn either(&mut self) -> Result<bool, String> {
        let mut result = self.both()?;
        while self.takes("OR") {
            // Both sides are read, also when the first one decides.
            let other = self.both()?;
            result = result || other;
        }
        Ok(result)
    }

    fn both(&mut self) -> Result<bool, String> {
        let mut result = self.single()?;
        while self.takes("AND") {
            let other = self.single()?;
            result = result && other;
        }
        Ok(result)
    }

    fn single(&mut self) -> Result<bool, String> {
        if self.takes("(") {
            let result = self.either()?;
            return if self.takes(")") { Ok(result) } else { Err("a `)` is missing".to_owned()) };
        }
        let id = self.id()?;
        if self.takes("WITH") {
            let exception = self.id()?;
            return Ok((self.allowed)(&format!("{id} WITH {exception}")));
        }
        Ok((self.allowed)(&id))
    }

    fn id(&mut self) -> Result<String, String> {
        match self.words.split_first() {
            Some((word, rest)) if !matches!(word.as_str(), "OR" | "AND" | "WITH" | "(" | ")") => {
                self.words = rest;
                Ok(word.clone())
            }
            Some((word, _)) => Err(format!("`{word}` stands where a licence is expected")),
            None => Err("it ends where a licence is expected".to_owned()),
        }
    }

    fn takes(&mut self, expected: &str) -> bool {
        match self.words.split_first() {
            Some((word, rest)) if word == expected => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(expression: &str) -> Result<bool, String> {
        is_allowed(expression, &|id| ["MIT", "BSD", "Apache-2.0 WITH LLVM-exception"].contains(&id))
    }

    #[test]
    fn one_allowed_choice_is_enough() {
        assert_eq!(allowed("MIT"), Ok(true));
        assert_eq!(allowed("GPL-3.0"), Ok(false));
        assert_eq!(allowed("GPL-3.0 OR MIT"), Ok(true));
        assert_eq!(allowed("GPL-3.0/MIT"), Ok(true));
        assert_eq!(allowed("GPL-3.0 / MPL-2.0"), Ok(false));
    }

    #[test]
    fn all_of_a_conjunction_must_be_allowed() {
        assert_eq!(allowed("MIT AND BSD"), Ok(true));
        assert_eq!(allowed("MIT AND GPL-3.0"), Ok(false));
        // AND binds closer than OR, on both sides.
        assert_eq!(allowed("MIT OR BSD AND GPL-3.0"), Ok(true));
        assert_eq!(allowed("GPL-3.0 AND BSD OR MIT"), Ok(true));
        assert_eq!(allowed("(MIT OR BSD) AND GPL-3.0"), Ok(false));
        assert_eq!(allowed("(MIT OR GPL-3.0) AND (GPL-3.0 OR BSD)"), Ok(true));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert_eq!(allowed("Apache-2.0 WITH LLVM-exception"), Ok(true));
        assert_eq!(allowed("Apache-2.0"), Ok(false));
        assert_eq!(allowed("MIT WITH LLVM-exception"), Ok(false));
        assert_eq!(allowed("Apache-2.0 WITH LLVM-exception OR GPL-3.0"), Ok(true));
    }

    #[test]
    fn nonsense_is_an_error_and_never_allowed() {
        for expression in ["", "OR", "MIT OR", "MIT BSD", "(MIT", "MIT)", "MIT WITH", "AND MIT"] {
            assert!(allowed(expression).is_err(), "{expression}");
        }
    }
}
