//! Names of permissions, checked against what the application's modules declare.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use strsim::levenshtein;
use svc_core::{Error, Permission, PermissionCatalogue, PermissionSet, Principal, Result};

/// To see and change who may do what in an organisation.
pub const MANAGE: &str = "Identity.Manage";

/// [`MANAGE`] as a type, for routes.
pub(crate) struct Manage;

impl Permission for Manage {
    const NAME: &'static str = MANAGE;
}

/// To change the claims of people, which row filters trust.
pub const MANAGE_CLAIMS: &str = "Identity.ManageClaims";

/// To make API keys for other people and for machine users.
pub const MANAGE_KEYS: &str = "Identity.ManageKeys";

/// The longest name that is looked at, in bytes: longer than any that is declared.
const LONGEST: usize = 100;

/// The most names that are looked at.
const MOST: usize = 500;

/// How many unknown names get a suggestion, which takes a look at all that are declared.
const SUGGESTED: usize = 10;

/// Refuses names that no module declares, the first ones with the nearest that is. Nothing is
/// computed of what is too long or too much.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for the field `permissions`.
pub(crate) fn check_known(names: &BTreeSet<String>, catalogue: &PermissionCatalogue) -> Result<()> {
    let mut problems = Error::invalid("a permission is not known");
    if names.len() > MOST {
        return Err(problems.field("permissions", format!("must be at most {MOST} names")));
    }
    if names.iter().any(|name| name.len() > LONGEST) {
        let problem = format!("must be names of at most {LONGEST} characters");
        return Err(problems.field("permissions", problem));
    }
    let unknown = names.iter().filter(|name| !catalogue.contains(name));
    for (place, name) in unknown.enumerate() {
        let mut message = format!("`{name}` is not a permission of this application");
        if place < SUGGESTED
            && let Some(nearest) = nearest(name, catalogue)
        {
            let _ = write!(message, "; did you mean `{nearest}`?");
        }
        problems = problems.field("permissions", message);
    }
    if problems.fields().is_empty() { Ok(()) } else { Err(problems) }
}

/// Insists that `who` holds all of `names`: nobody gives to others, or takes over from others, what
/// they may not do themselves.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the first that is missing.
pub(crate) fn require_all<'a>(
    who: &Principal,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    names.into_iter().try_for_each(|name| who.require(name))
}

/// All that the application's modules declare: what an administrator holds.
pub(crate) fn everything(catalogue: &PermissionCatalogue) -> PermissionSet {
    catalogue.all().iter().map(|(name, _)| name.as_str()).collect()
}

/// The declared name that differs in the fewest letters, where that is a plausible mistake.
fn nearest<'a>(name: &str, catalogue: &'a PermissionCatalogue) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let distances = catalogue
        .all()
        .iter()
        .map(|(known, _)| (levenshtein(&wanted, &known.to_lowercase()), known.as_str()));
    let (distance, known) = distances.min()?;
    (distance <= 1 + known.len() / 4).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_single_letters() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("veiw", "view", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(levenshtein(one, other), expected, "{one} {other}");
        }
    }
}
