//! Functions of texts, with the same answers on both databases.
//!
//! SQLite changes the case of ASCII letters only, and PostgreSQL does what the database's locale
//! says. So both are told letter by letter, by blocks of Unicode ([`cased_letters`]): Latin letters of
//! ASCII, Latin-1 and Latin Extended-A, Greek ones up to `Ϋ` and Cyrillic ones from `Ѐ` to `Я` change
//! their case, all others stay as they are: the Cyrillic letters behind those (`Ґ`, `Ә`), Armenian and others.
//!
//! No function of ours can be registered with SQLite without unsafe code, so there a changed text is
//! a large expression: some hundred calls in each other. A search does without: it looks for a
//! pattern in the text as it is, which is one short expression for each word. What remains are
//! `tolower` and `toupper`, of which a request has few (`BindLimits::case_changes`), and whose
//! statements are too long to be kept prepared.

use std::fmt::Write as _;
use std::sync::LazyLock;

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query};
use svc_core::{Error, Result};
use svc_data::value::ValueKind;
use svc_database::Backend;
use svc_odata::bind::{BoundExpr, BoundKind};
use svc_odata::model::TypeIndex;
use svc_odata::syntax::{Function, Search, SearchKind};
use svc_odata::value::{Value as Literal, cased_letters, in_lower_case, in_upper_case};

use super::{Place, Translator, not_served};

/// How many changes of case may stand in each other: each is a deep expression on SQLite.
const MOST_FOLDS: usize = 3;

/// What Unicode calls white space.
const WHITE_SPACE: &str = "\t\n\u{b}\u{c}\r \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\
                           \u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\
                           \u{205f}\u{3000}";

/// The letters beyond ASCII with two cases: the upper ones, and the lower one of each.
static LETTERS: LazyLock<(String, String)> = LazyLock::new(|| cased_letters().unzip());

/// SQLite's expressions for lower and upper case, with `?` for the text.
static SQLITE_CASES: LazyLock<(String, String)> = LazyLock::new(|| {
    let (upper, lower) = &*LETTERS;
    let nested = |function: &str, from: &str, to: &str| {
        let calls = "replace(".repeat(from.chars().count());
        let pairs = from.chars().zip(to.chars()).fold(String::new(), |mut pairs, (from, to)| {
            let _ = write!(pairs, ", '{from}', '{to}')");
            pairs
        });
        // Only a text with a letter beyond ASCII takes the long way.
        format!(
            "(SELECT CASE WHEN t GLOB '*[^ -~]*' THEN {calls}{function}(t){pairs} \
             ELSE {function}(t) END FROM (SELECT ? AS t))"
        )
    };
    (nested("lower", upper, lower), nested("upper", lower, upper))
});

/// A text in lower case, by the same letters as the databases.
fn lower(text: &str) -> String {
    text.chars().map(in_lower_case).collect()
}

/// A pattern of SQLite for texts that have a word somewhere, in whatever case: each letter with two
/// cases is a choice of both, so the text needs no change.
fn glob(word: &str) -> String {
    let other_case = |letter: char| {
        let cases = [in_lower_case(letter), in_upper_case(letter)];
        cases.into_iter().find(|other| *other != letter)
    };
    let mut pattern = "*".to_owned();
    for letter in word.chars() {
        match other_case(letter) {
            Some(other) => pattern.extend(['[', letter, other, ']']),
            None if matches!(letter, '*' | '?' | '[') => pattern.extend(['[', letter, ']']),
            None => pattern.push(letter),
        }
    }
    pattern.push('*');
    pattern
}

impl Translator<'_> {
    pub(super) fn text_function(
        &self,
        function: Function,
        arguments: &[BoundExpr],
    ) -> Result<Expr> {
        if let Function::ToLower | Function::ToUpper = function {
            return self.change_case(function, arguments);
        }
        let values = arguments.iter().map(|argument| self.value(argument));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        if function == Function::Trim {
            values.push(self.parameter(WHITE_SPACE.into()));
        }
        if let (Function::Substring, [_, _, length]) = (function, arguments) {
            refuse_negative(length)?;
        }
        let (sqlite, postgres) = match (function, values.len()) {
            (Function::Contains, _) => ("(instr(?, ?) > 0)", "(strpos($1, $2) > 0)"),
            (Function::StartsWith, _) => ("(instr(?, ?) = 1)", "starts_with($1, $2)"),
            (Function::EndsWith, _) => (
                // Of no text nothing is the end, not even an empty one.
                "(SELECT CASE WHEN t IS NOT NULL THEN length(e) = 0 OR substr(t, -length(e)) = e END \
                 FROM (SELECT ? AS t, ? AS e))",
                "starts_with(reverse($1), reverse($2))",
            ),
            (Function::Length, _) => ("length(?)", "length($1)"),
            (Function::Trim, _) => ("trim(?, ?)", "btrim($1, $2)"),
            (Function::IndexOf, _) => ("(instr(?, ?) - 1)", "(strpos($1, $2) - 1)"),
            (Function::Concat, _) => ("(? || ?)", "($1 || $2)"),
            // What begins before the first character begins with it.
            (Function::Substring, 2) => (
                "(SELECT substr(t, CASE WHEN n < 0 THEN max(length(t) + n, 0) ELSE n END + 1) \
                 FROM (SELECT ? AS t, ? AS n))",
                "(SELECT substr(t, CAST(CASE WHEN n < 0 THEN GREATEST(length(t) + n, 0) \
                 WHEN n > 1000000000 THEN 1000000000 ELSE n END AS INTEGER) + 1) \
                 FROM (SELECT $1 AS t, CAST($2 AS NUMERIC) AS n) AS s)",
            ),
            (Function::Substring, 3) => (
                "(SELECT substr(t, CASE WHEN n < 0 THEN max(length(t) + n, 0) ELSE n END + 1, \
                 max(m, 0)) FROM (SELECT ? AS t, ? AS n, ? AS m))",
                "(SELECT substr(t, CAST(CASE WHEN n < 0 THEN GREATEST(length(t) + n, 0) \
                 WHEN n > 1000000000 THEN 1000000000 ELSE n END AS INTEGER) + 1, \
                 CAST(CASE WHEN m < 0 THEN 0 WHEN m > 1000000000 THEN 1000000000 ELSE m END \
                 AS INTEGER)) \
                 FROM (SELECT $1 AS t, CAST($2 AS NUMERIC) AS n, CAST($3 AS NUMERIC) AS m) AS s)",
            ),
            _ => {
                let name = function.name();
                let message = format!("the function `{name}` is not served");
                return Err(Error::not_implemented(message));
            }
        };
        Ok(self.sql(sqlite, postgres, values))
    }

    fn change_case(&self, function: Function, arguments: &[BoundExpr]) -> Result<Expr> {
        let [argument] = arguments else { return Err(not_served(&function)) };
        if self.folds.get() == MOST_FOLDS {
            let message = format!("`tolower` and `toupper` nest at most {MOST_FOLDS} times");
            return Err(Error::malformed(message));
        }
        self.folds.set(self.folds.get() + 1);
        let value = self.value(argument);
        self.folds.set(self.folds.get() - 1);
        Ok(self.in_case(value?, function == Function::ToLower))
    }

    fn in_case(&self, text: Expr, lower: bool) -> Expr {
        match self.backend {
            Backend::Sqlite => {
                let (to_lower, to_upper) = &*SQLITE_CASES;
                let sql: &'static str = if lower { to_lower } else { to_upper };
                Expr::cust_with_exprs(sql, [text])
            }
            Backend::Postgres => {
                let (upper_letters, lower_letters) = &*LETTERS;
                let (sql, from, to) = if lower {
                    ("lower(translate($1, $2, $3) COLLATE \"C\")", upper_letters, lower_letters)
                } else {
                    ("upper(translate($1, $2, $3) COLLATE \"C\")", lower_letters, upper_letters)
                };
                Expr::cust_with_exprs(sql, [text, Expr::val(from), Expr::val(to)])
            }
        }
    }

    /// Whether an entity matches `$search`: each word stands somewhere in what its set searches,
    /// in whatever case.
    pub(crate) fn search(
        &self,
        place: &Place<'_>,
        entity_type: TypeIndex,
        search: &Search,
    ) -> Result<Expr> {
        let entity = &self.sets.served_type(entity_type).entity;
        let all = entity.set.as_ref().map(|set| &set.search[..]).unwrap_or_default();
        // What a person doesn't see, or not as it is, is not searched for them either.
        let who = self.ctx.principal();
        let columns: Vec<usize> =
            all.iter().copied().filter(|index| entity.is_usable(*index, who)).collect();
        if columns.is_empty() {
            let message = format!("`$search` of `{}` is not served", entity.name());
            return Err(Error::not_implemented(message).target("$search"));
        }
        let texts: Vec<Expr> =
            columns.iter().map(|index| self.searched_text(place, *index)).collect();
        if self.backend == Backend::Sqlite {
            return Ok(self.search_texts(&texts, search));
        }
        // Each text changes its case once for all words; without the offset it would do so for each.
        let mut folded = Query::select();
        let mut names = Vec::with_capacity(texts.len());
        for (number, text) in texts.into_iter().enumerate() {
            let name = Alias::new(format!("~text{number}"));
            folded.expr_as(self.in_case(text, true), name.clone());
            names.push(Expr::col(name));
        }
        folded.offset(0);
        let mut found = Query::select();
        found.expr(self.search_texts(&names, search)).from_subquery(folded, self.new_name());
        Ok(Expr::SubQuery(None, Box::new(found.into())))
    }

    /// Whether texts match a search. On PostgreSQL they are in lower case already.
    fn search_texts(&self, texts: &[Expr], search: &Search) -> Expr {
        match &search.kind {
            SearchKind::Word(word) | SearchKind::Phrase(word) | SearchKind::Incomplete(word) => {
                let found = texts.iter().map(|text| match self.backend {
                    Backend::Sqlite => {
                        Expr::cust_with_exprs("(? GLOB ?)", [text.clone(), Expr::val(glob(word))])
                    }
                    Backend::Postgres => {
                        let values = [text.clone(), Expr::val(lower(word))];
                        Expr::cust_with_exprs("(strpos($1, $2) > 0)", values)
                    }
                });
                found.reduce(Expr::or).unwrap_or_else(|| Expr::val(false).eq(true))
            }
            SearchKind::Not(inner) => self.search_texts(texts, inner).not(),
            SearchKind::And(parts) => self.search_parts(texts, parts, Expr::and),
            SearchKind::Or(parts) => self.search_parts(texts, parts, Expr::or),
        }
    }

    /// Halves of halves, as for conditions.
    fn search_parts(&self, texts: &[Expr], parts: &[Search], join: fn(Expr, Expr) -> Expr) -> Expr {
        match parts {
            [] => Expr::val(true).eq(true),
            [part] => self.search_texts(texts, part),
            parts => {
                let (first, second) = parts.split_at(parts.len() / 2);
                let first = self.search_parts(texts, first, join);
                join(first, self.search_parts(texts, second, join))
            }
        }
    }

    /// A column as text that is never null, so that `NOT` finds what has no value.
    fn searched_text(&self, place: &Place<'_>, index: usize) -> Expr {
        let column = place.column(index);
        let sql = match place.served.entity.columns[index].kind.stored() {
            ValueKind::Text { .. } => ("coalesce(?, '')", "coalesce($1, '')"),
            _ => ("coalesce(CAST(? AS TEXT), '')", "coalesce(CAST($1 AS TEXT), '')"),
        };
        self.sql(sql.0, sql.1, vec![column])
    }
}

/// A length below zero is a mistake where it is written down; where it is computed, a row that
/// comes below has none.
fn refuse_negative(length: &BoundExpr) -> Result<()> {
    match &length.kind {
        BoundKind::Value(Literal::Integer(length)) if *length < 0 => {
            Err(Error::malformed("the length of `substring` must not be negative"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_ascii_change_their_case_one_by_one() {
        assert_eq!(lower("ÄÖÜß Ÿ ŁÓDŹ ΑΩ ЖЁ"), "äöüß ÿ łódź αω жё");
        assert_eq!(glob("Aä*1?[]"), "*[Aa][äÄ][*]1[?][[]]*");
        let (upper, lower) = &*LETTERS;
        assert_eq!(upper.chars().count(), lower.chars().count());
        assert!(upper.chars().count() < 200, "SQLite nests at most 1000 expressions");
    }
}
