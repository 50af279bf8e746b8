//! How much one request may cost.
//!
//! The length of a request doesn't tell what it costs: an `$expand` that leads there and back writes
//! the same entities again at every level, and a batch adds up what its parts ask for. So one
//! [`Budget`] goes along with the [`Context`](crate::Context) of a request, the parts of a batch
//! share it, and whoever is about to spend asks it first:
//!
//! | What | is charged | and shows up |
//! | --- | --- | --- |
//! | statements | where one is run | before the first byte, or within the answer |
//! | related entities | as they are read, and at every further level that one is written at, and for each further copy | before the first byte, or within the answer |
//! | their bytes | as they are written, at every level, and for each further copy | before the first byte, as a rule |
//! | steps of navigation, words of searches | where conditions are bound | before the first byte |
//! | what bodies hold | where it is read, before anything is written | before the first byte |
//!
//! The bytes are those that are *held*: a page that is sent while it is read gives them back with
//! each batch of its rows, so a long page takes no more memory than a short one. A batch keeps them,
//! since its parts stand together. What is beyond a limit is refused with 400 and the name of the
//! setting; where part of the answer has gone out, the body ends in the middle, as for every other
//! failure there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use svc_core::{Error, Result};

/// What a request spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expense {
    /// Statements that are run.
    Statements,
    /// Related entities that are read and written, at every level of nesting.
    RelatedEntities,
    /// Bytes of related entities, and of parts of a batch, that are held before they are sent.
    HeldBytes,
    /// Steps along navigation properties in conditions.
    NavigationSteps,
    /// Words that are searched for.
    SearchWords,
    /// Related entities, references and items of lists in bodies.
    BodyItems,
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    /// [`Expense::Statements`].
    pub statements: u64,
    /// [`Expense::RelatedEntities`].
    pub related_entities: u64,
    /// [`Expense::HeldBytes`].
    pub held_bytes: u64,
    /// [`Expense::NavigationSteps`].
    pub navigation_steps: u64,
    /// [`Expense::SearchWords`].
    pub search_words: u64,
    /// [`Expense::BodyItems`].
    pub body_items: u64,
}

/// What a request has spent, and how much it may. Cheap to clone: all clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: BudgetLimits,
    spent: [AtomicU64; 6],
    /// Whether what is held goes on being held until the request ends.
    keeps: bool,
}

impl Budget {
    /// The budget of one request.
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self::with(limits, false)
    }

    /// The budget that the parts of a batch share.
    #[must_use]
    pub fn shared(limits: BudgetLimits) -> Self {
        Self::with(limits, true)
    }

    fn with(limits: BudgetLimits, keeps: bool) -> Self {
        Self(Arc::new(Inner { limits, spent: Default::default(), keeps }))
    }

    /// Spends some, before it is done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](svc_core::ErrorKind::Malformed) beyond the limit, naming it and its
    /// setting.
    pub fn spend(&self, what: Expense, amount: u64) -> Result<()> {
        let before = self.counter(what).fetch_add(amount, Ordering::Relaxed);
        if before.saturating_add(amount) <= self.limit(what) {
            return Ok(());
        }
        let (words, setting) = match what {
            Expense::Statements => ("statements", "MaxStatements"),
            Expense::RelatedEntities => ("related entities", "MaxRelatedEntities"),
            Expense::HeldBytes => ("bytes of related entities or of parts", "MaxHeldBytes"),
            Expense::NavigationSteps => {
                ("steps along navigation properties in conditions", "MaxNavigationSteps")
            }
            Expense::SearchWords => ("words to search for", "MaxSearchWords"),
            Expense::BodyItems => {
                ("related entities, references and items of lists in its body", "MaxBodyItems")
            }
        };
        Err(Error::malformed(format!(
            "the request takes more than {} {words} (`Svc:OData:{setting}`); ask for less at once",
            self.limit(what)
        )))
    }

    /// How much is left.
    #[must_use]
    pub fn left(&self, what: Expense) -> u64 {
        self.limit(what).saturating_sub(self.counter(what).load(Ordering::Relaxed))
    }

    /// Whether the parts of a batch share it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.keeps
    }

    /// What was held is sent, or gone.
    pub fn let_go(&self) {
        if !self.0.keeps {
            self.counter(Expense::HeldBytes).store(0, Ordering::Relaxed);
        }
    }

    fn counter(&self, what: Expense) -> &AtomicU64 {
        &self.0.spent[what as usize]
    }

    fn limit(&self, what: Expense) -> u64 {
        let limits = &self.0.limits;
        match what {
            Expense::Statements => limits.statements,
            Expense::RelatedEntities => limits.related_entities,
            Expense::HeldBytes => limits.held_bytes,
            Expense::NavigationSteps => limits.navigation_steps,
            Expense::SearchWords => limits.search_words,
            Expense::BodyItems => limits.body_items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BudgetLimits = BudgetLimits {
        statements: 1,
        related_entities: 2,
        held_bytes: 10,
        navigation_steps: 4,
        search_words: 5,
        body_items: 6,
    };

    #[test]
    fn what_is_spent_is_gone_for_all_who_share_it() {
        let budget = Budget::new(LIMITS);
        let other = budget.clone();
        assert!(budget.spend(Expense::RelatedEntities, 1).is_ok());
        assert_eq!(other.left(Expense::RelatedEntities), 1);
        assert!(other.spend(Expense::RelatedEntities, 1).is_ok());
        let refused = budget.spend(Expense::RelatedEntities, 1).unwrap_err().to_string();
        assert!(refused.contains("more than 2 related entities"), "{refused}");
        assert!(refused.contains("`Svc:OData:MaxRelatedEntities`"), "{refused}");
        assert_eq!(budget.left(Expense::SearchWords), 5);
    }

    #[test]
    fn what_is_held_is_let_go_but_in_a_batch() {
        for (budget, left) in [(Budget::new(LIMITS), 10), (Budget::shared(LIMITS), 3)] {
            assert!(budget.spend(Expense::HeldBytes, 7).is_ok());
            budget.let_go();
            assert_eq!(budget.left(Expense::HeldBytes), left);
        }
    }
}
