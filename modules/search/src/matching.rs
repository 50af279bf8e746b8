//! Which records match a query: words of the index by how well they fit, and the records of these joined.
//!
//! A query is a choice between lists of conditions that must all hold, each of which is a choice of words
//! ([`Plan`]). It is worked off a block of records at a time, the most recent first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use svc_core::Result;
use svc_sets::search::MatchClass;

use crate::blocks::Block;
use crate::terms::{TermKind, shortened};
use crate::trigrams::is_near;

/// A word of the index that fits a word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fitting {
    pub(crate) id: i64,
    pub(crate) scope: i64,
    pub(crate) class: MatchClass,
}

/// How well a word that was typed fits one that is there: `Words`, `Beginnings`, `Parts` or `Similar`; none where it doesn't.
pub(crate) fn fit(typed: &str, kind: i16, there: &str) -> Option<MatchClass> {
    let typed = shortened(typed);
    let is_whole = kind == TermKind::Word.code();
    if kind == TermKind::Beginning.code() || is_whole && there.starts_with(typed) {
        let is_same = is_whole && there.len() == typed.len();
        Some(if is_same { MatchClass::Words } else { MatchClass::Beginnings })
    } else if there.contains(typed) && typed.chars().nth(2).is_some() {
        Some(MatchClass::Parts)
    } else {
        (is_whole && is_near(typed, there)).then_some(MatchClass::Similar)
    }
}

/// What of the index a query may go by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fittings {
    /// For each word of the query what fits it.
    pub(crate) words: Vec<Vec<Fitting>>,
    /// By scope the term that texts with as many words as the query have.
    pub(crate) counts: HashMap<i64, i64>,
}

impl Fittings {
    /// What a record of a class has; none where there can be no record.
    pub(crate) fn plan(&self, class: MatchClass) -> Option<Plan> {
        if class == MatchClass::Equal {
            let equal = self.counts.iter().filter_map(|(scope, count)| {
                let exact = |word: &Vec<Fitting>| {
                    let exact = word
                        .iter()
                        .find(|one| one.scope == *scope && one.class == MatchClass::Words)?;
                    Some(vec![exact.id])
                };
                let words: Option<Vec<Vec<i64>>> = self.words.iter().map(exact).collect();
                Some(words?.into_iter().chain([vec![*count]]).collect())
            });
            let mut choices: Vec<Vec<Vec<i64>>> = equal.collect();
            choices.sort_unstable();
            return (!choices.is_empty()).then_some(Plan { choices });
        }
        let fits = |word: &Vec<Fitting>| -> Vec<i64> {
            let ids: BTreeSet<i64> =
                word.iter().filter(|one| one.class <= class).map(|one| one.id).collect();
            ids.into_iter().collect()
        };
        let words: Vec<Vec<i64>> = self.words.iter().map(fits).collect();
        let is_possible = words.iter().all(|word| !word.is_empty());
        is_possible.then(|| Plan { choices: vec![words] })
    }
}

/// A choice between lists of conditions that must all hold, each a choice of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    choices: Vec<Vec<Vec<i64>>>,
}

/// The records of a word in a block, as they are stored.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) word: i64,
    pub(crate) block: i64,
    pub(crate) records: Vec<u8>,
}

impl Plan {
    /// All words that it is about.
    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<i64> = self.choices.iter().flatten().flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The numbers of the records that match, the greatest first.
    pub(crate) fn numbers(&self, postings: &[Posting]) -> Result<Vec<i64>> {
        let conditions = self.choices.iter().flatten();
        let mut places: HashMap<i64, Vec<usize>> = HashMap::new();
        for (place, ids) in conditions.enumerate() {
            for id in ids {
                places.entry(*id).or_default().push(place);
            }
        }
        let count = self.choices.iter().map(Vec::len).sum();
        let mut blocks: BTreeMap<i64, Vec<Option<Block>>> = BTreeMap::new();
        for Posting { word, block, records } in postings {
            let found = blocks.entry(*block).or_insert_with(|| vec![None; count]);
            for place in places.get(word).into_iter().flatten() {
                found[*place].get_or_insert_with(Block::none).add_bytes(records)?;
            }
        }
        let matching =
            blocks.into_iter().rev().map(|(block, found)| (block, self.matching(&found)));
        Ok(matching.flat_map(|(block, found)| found.numbers(block).collect::<Vec<_>>()).collect())
    }

    /// What of a block matches, where its records of each condition are these.
    fn matching(&self, found: &[Option<Block>]) -> Block {
        let mut all = Block::none();
        let mut rest = found;
        for conditions in &self.choices {
            let (these, behind) = rest.split_at(conditions.len());
            rest = behind;
            let these: Option<Vec<&Block>> = these.iter().map(Option::as_ref).collect();
            if let Some((first, others)) = these.as_deref().and_then(<[_]>::split_first) {
                let mut one = (*first).clone();
                for other in others {
                    one.and(other);
                }
                all.or(&one);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_as_well_as_they_do() {
        let word = |typed: &str, there: &str| fit(typed, TermKind::Word.code(), there);
        assert_eq!(word("holz", "holz"), Some(MatchClass::Words));
        assert_eq!(word("holz", "holzleim"), Some(MatchClass::Beginnings));
        assert_eq!(word("leim", "holzleim"), Some(MatchClass::Parts));
        assert_eq!(word("hlozleim", "holzleim"), Some(MatchClass::Similar));
        assert_eq!(word("ei", "holzleim"), None);
        assert_eq!(word("leim", "holz"), None);
        assert_eq!(fit("h", TermKind::Beginning.code(), "h"), Some(MatchClass::Beginnings));
        assert_eq!(fit("leim", TermKind::Piece.code(), "leimholz"), Some(MatchClass::Parts));
        assert_eq!(word(&"x".repeat(80), &"x".repeat(64)), Some(MatchClass::Words));
    }

    fn posting(word: i64, numbers: &[i64]) -> Posting {
        let mut block = Block::none();
        for number in numbers {
            block.insert(*number);
        }
        let block_of = crate::blocks::block_of(numbers[0]);
        Posting { word, block: block_of, records: block.to_bytes() }
    }

    #[test]
    fn records_have_a_word_of_each_and_the_most_recent_comes_first() {
        let fitting = |id, scope, class| Fitting { id, scope, class };
        let fittings = Fittings {
            words: vec![
                vec![fitting(1, 10, MatchClass::Words), fitting(2, 20, MatchClass::Beginnings)],
                vec![fitting(3, 10, MatchClass::Words)],
            ],
            counts: [(10, 9), (20, 8)].into(),
        };
        let postings = [
            posting(1, &[4, 5, 6]),
            posting(2, &[7, 8]),
            posting(2, &[5_000]),
            posting(3, &[5, 6, 8]),
            posting(3, &[5_000, 5_001]),
            posting(9, &[6, 7]),
        ];
        let found = |class| fittings.plan(class).map(|plan| plan.numbers(&postings).unwrap());
        assert_eq!(found(MatchClass::Equal), Some(vec![6]));
        assert_eq!(found(MatchClass::Words), Some(vec![6, 5]));
        assert_eq!(found(MatchClass::Beginnings), Some(vec![5_000, 8, 6, 5]));
        let none = Fittings {
            words: vec![vec![], vec![fitting(3, 10, MatchClass::Words)]],
            counts: HashMap::new(),
        };
        assert_eq!(none.plan(MatchClass::Similar), None);
        assert_eq!(none.plan(MatchClass::Equal), None);
    }
}
