//! What a search reads of the index. Nothing here looks at a property whose scope it isn't given.

use std::collections::HashMap;

use sea_orm::Value;
use svc_core::Result;
use svc_data::Context;
use svc_database::{Backend, column};
use svc_sets::search::MatchClass;

use super::any_of;
use crate::fold::GAP;
use crate::matching::{Fitting, Fittings, Posting, fit};
use crate::terms::{TermKind, count, shortened};
use crate::trigrams::{Halves, Wanted, mark};

/// Where a search looks.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) space: i64,
    /// The scopes of the properties whose texts may be used.
    pub(crate) scopes: &'a [i64],
}

/// What a statement on words selects; the first says which word of the query it fits.
const SELECTED: &str = "w.id, w.scope, CAST(w.kind AS BIGINT), w.word FROM";

/// A part of a statement, with its values.
type Part = (String, Vec<Value>);

impl Place<'_> {
    /// The words that are as they were typed or begin so, and the number of the most recent record.
    pub(crate) async fn beginnings(&self, words: &[String]) -> Result<(Fittings, i64)> {
        let mut parts: Vec<Part> = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let word = shortened(word);
            parts.push(if is_short(word) {
                self.of_kinds(number, "w.kind IN (0, 1) AND w.word = ?", [word.into()])
            } else {
                self.beginning(number, word)
            });
        }
        let count = count(words.len());
        parts.push(self.of_kinds(words.len(), "w.kind = 2 AND w.word = ?", [count.into()]));
        let last = "SELECT CAST(-1 AS BIGINT), last_number, CAST(0 AS BIGINT), CAST(0 AS BIGINT), '' \
                    FROM search_spaces WHERE space = ?";
        parts.push((last.to_owned(), vec![self.space.into()]));
        let mut fittings =
            Fittings { words: vec![Vec::new(); words.len()], counts: HashMap::new() };
        let mut last = 0;
        for found in self.find(parts).await? {
            match usize::try_from(found.number) {
                Err(_) => last = found.id,
                Ok(number) if found.kind == TermKind::Count.code() => {
                    debug_assert_eq!(number, words.len());
                    fittings.counts.insert(found.scope, found.id);
                }
                Ok(number) => fittings.words[number].extend(found.fitting(&words[number])),
            }
        }
        Ok((fittings, last))
    }

    /// Adds the words that have what was typed within, and then those that are a typo away.
    pub(crate) async fn widen(
        &self,
        words: &[String],
        class: MatchClass,
        fittings: &mut Fittings,
    ) -> Result<()> {
        let mut parts: Vec<Part> = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let word = shortened(word);
            if class == MatchClass::Similar {
                let Some(Halves { beginnings, second }) = Halves::of(word) else { continue };
                parts.push(self.piece(number, &second));
                parts.extend(beginnings.iter().map(|one| self.beginning(number, one)));
            } else if is_short(word) {
                continue;
            } else {
                parts.push(self.piece(number, word));
            }
            // What was found before is found again.
            fittings.words[number].clear();
        }
        for found in self.find(parts).await? {
            let Ok(number) = usize::try_from(found.number) else { continue };
            fittings.words[number].extend(found.fitting(&words[number]));
        }
        Ok(())
    }

    /// The words of some kinds.
    fn of_kinds<const N: usize>(&self, number: usize, condition: &str, values: [Value; N]) -> Part {
        let (is_ours, scopes) = any_of(self.ctx.database().backend(), self.scopes);
        let sql = format!(
            "SELECT CAST({number} AS BIGINT), {SELECTED} search_words w WHERE w.scope {is_ours} AND {condition}"
        );
        (sql, std::iter::once(scopes).chain(values).collect())
    }

    /// The words that begin so.
    fn beginning(&self, number: usize, beginning: &str) -> Part {
        let end = format!("{beginning}{}", char::MAX);
        let condition = "w.kind = 0 AND w.word >= ? AND w.word < ?";
        self.of_kinds(number, condition, [beginning.into(), end.into()])
    }

    /// The words that may have a piece of text, of three letters at least.
    fn piece(&self, number: usize, piece: &str) -> Part {
        let backend = self.ctx.database().backend();
        let (is_ours, scopes) = any_of(backend, self.scopes);
        let from = match backend {
            Backend::Sqlite => {
                "search_trigrams i CROSS JOIN search_words w ON w.id = i.rowid WHERE i.search_trigrams MATCH ?"
            }
            Backend::Postgres => "search_words w WHERE w.trigrams @@ CAST(? AS tsquery)",
        };
        let mark = |scope: &i64| Wanted::All([mark(*scope)].into());
        let marks = Wanted::Any(self.scopes.iter().map(mark).collect());
        let wanted = Wanted::Each(vec![marks, Wanted::piece(piece)]);
        let sql =
            format!("SELECT CAST({number} AS BIGINT), {SELECTED} {from} AND w.scope {is_ours}");
        (sql, vec![wanted.expression(backend).into(), scopes])
    }

    async fn find(&self, parts: Vec<Part>) -> Result<Vec<Found>> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let (texts, values): (Vec<String>, Vec<Vec<Value>>) = parts.into_iter().unzip();
        let sql = texts.join(" UNION ALL ");
        let statement = self.ctx.database().statement(&sql, values.into_iter().flatten());
        let rows = self.ctx.run(statement).await?;
        let read = |row| {
            let kind: i64 = column(row, 3)?;
            Ok(Found {
                number: column(row, 0)?,
                id: column(row, 1)?,
                scope: column(row, 2)?,
                kind: i16::try_from(kind).unwrap_or(i16::MAX),
                word: column(row, 4)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The records of words in the blocks from `first` to `last`.
    pub(crate) async fn postings(
        &self,
        words: &[i64],
        first: i64,
        last: i64,
    ) -> Result<Vec<Posting>> {
        let database = self.ctx.database();
        let (is_one, words) = any_of(database.backend(), words);
        let sql = format!(
            "SELECT word_id, block, records FROM search_postings WHERE word_id {is_one} AND block BETWEEN ? AND ?"
        );
        let rows =
            self.ctx.run(database.statement(&sql, [words, first.into(), last.into()])).await?;
        let read = |row| {
            Ok(Posting { word: column(row, 0)?, block: column(row, 1)?, records: column(row, 2)? })
        };
        rows.iter().map(read).collect()
    }

    /// The keys of records by their numbers.
    pub(crate) async fn keys(&self, numbers: &[i64]) -> Result<HashMap<i64, String>> {
        let database = self.ctx.database();
        let (is_one, numbers) = any_of(database.backend(), numbers);
        let sql = format!(
            "SELECT number, record_key FROM search_records WHERE space = ? AND number {is_one}"
        );
        let rows = self.ctx.run(database.statement(&sql, [self.space.into(), numbers])).await?;
        rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
    }
}

/// A word of the index that a statement found.
struct Found {
    number: i64,
    id: i64,
    scope: i64,
    kind: i16,
    word: String,
}

impl Found {
    /// How well it fits what was typed; none where it doesn't.
    fn fitting(&self, typed: &str) -> Option<Fitting> {
        let class = fit(typed, self.kind, &self.word)?;
        Some(Fitting { id: self.id, scope: self.scope, class })
    }
}

/// Whether a word is too short to have a trigram.
fn is_short(word: &str) -> bool {
    word.chars().nth(GAP.len()).is_none()
}
