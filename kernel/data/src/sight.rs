//! What somebody sees of a set's records.
//!
//! A row filter says it: all of them, those that hold a condition, or none. Whoever sees all is said to
//! ([`Sight::All`]): a condition without parts, which is what is left when a claim is missing that it
//! would have been made of, shows nothing.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Condition, Expr};
use svc_core::{App, Principal};

/// Says what a viewer sees of a set.
pub(crate) type RowFilter = Arc<dyn Fn(&Viewer<'_>) -> Sight + Send + Sync>;

/// Who looks at a set, and in which application: its clock and settings tell what holds today. It is a
/// [`Principal`] to whoever asks for permissions and claims.
#[derive(Clone, Copy)]
pub struct Viewer<'a> {
    who: &'a Principal,
    app: &'a App,
}

impl<'a> Viewer<'a> {
    /// A principal in an application.
    #[must_use]
    pub fn new(who: &'a Principal, app: &'a App) -> Self {
        Self { who, app }
    }

    /// Who looks.
    #[must_use]
    pub fn principal(&self) -> &'a Principal {
        self.who
    }

    /// The application, with its clock, settings and services.
    #[must_use]
    pub fn app(&self) -> &'a App {
        self.app
    }

    /// The records whose text in a column is among the values of a claim: none for whoever has no such
    /// claim.
    pub fn sees_claimed(&self, claim: &str, column: impl ColumnTrait) -> Sight {
        match self.who.claims(claim) {
            [] => Sight::Nothing,
            values => Sight::Where(Condition::all().add(column.is_in(values))),
        }
    }
}

impl Deref for Viewer<'_> {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        self.who
    }
}

impl fmt::Debug for Viewer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Viewer").field(&self.who.display_name()).finish()
    }
}

/// What a viewer sees of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// All records.
    All,
    /// Those for which the condition holds. It names the set's columns with the set's table.
    Where(Condition),
    /// None.
    Nothing,
}

impl Sight {
    /// The condition that it means, for a query of the application's own; none where all is seen.
    #[must_use]
    pub fn into_condition(self) -> Option<Condition> {
        match self {
            Self::All => None,
            Self::Where(condition) if !condition.is_empty() => Some(condition),
            Self::Where(_) | Self::Nothing => Some(Condition::all().add(Expr::cust("1 = 0"))),
        }
    }
}

impl From<Condition> for Sight {
    fn from(condition: Condition) -> Self {
        Self::Where(condition)
    }
}

impl From<Expr> for Sight {
    fn from(expr: Expr) -> Self {
        Self::Where(Condition::all().add(expr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_without_parts_shows_nothing() {
        assert_eq!(Sight::All.into_condition(), None);
        let nothing = Sight::Nothing.into_condition();
        assert!(nothing.is_some());
        for empty in [Condition::all(), Condition::any()] {
            assert_eq!(Sight::from(empty).into_condition(), nothing);
        }
        let some = Condition::all().add(Expr::cust("a = b"));
        assert_eq!(Sight::from(some.clone()).into_condition(), Some(some));
    }
}
