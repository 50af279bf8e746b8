//! What an issuer's claims mean here.
//!
//! A path such as `realm_access.roles` leads through the claims. A name may have dots in it
//! (`https://example.com/roles`), so at each step the whole rest is looked for first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::settings::IssuerSettings;
use crate::text::is_storable;

/// The most values that are taken from the paths of one kind, and the longest of them.
const MOST: usize = 200;
const LONGEST: usize = 200;

/// Somebody, as an issuer describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Described {
    /// The issuer's name for the account.
    pub(super) subject: String,
    pub(super) email: Option<String>,
    /// Whether the issuer has seen that the address is theirs.
    pub(super) is_verified: bool,
    pub(super) name: Option<String>,
    /// The names of roles here; none where the issuer doesn't say.
    pub(super) roles: Option<BTreeSet<String>>,
    /// Names or ids of organisations here; none where the issuer doesn't say.
    pub(super) organisations: Option<Vec<String>>,
}

impl Described {
    /// Reads claims of a checked token.
    pub(super) fn of(
        settings: &IssuerSettings,
        subject: &str,
        claims: &Map<String, Value>,
    ) -> Self {
        let text = |name: &str| {
            let text = claims.get(name).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let email = text("email");
        let name = ["name", "preferred_username", "nickname"].into_iter().find_map(text);
        Self {
            subject: subject.to_owned(),
            is_verified: claims.get("email_verified") == Some(&Value::Bool(true)),
            name: name
                .or_else(|| email.clone())
                .map(|name| shown(&name))
                .filter(|it| !it.is_empty()),
            email,
            roles: values(claims, &settings.role_claims)
                .map(|said| mapped(&settings.roles, said).into_iter().collect()),
            organisations: values(claims, settings.organisation_claim.as_slice())
                .map(|said| mapped(&settings.organisations, said)),
        }
    }
}

/// A name as it may stand here.
fn shown(name: &str) -> String {
    let plain: String = name.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    plain.trim().to_owned()
}

/// The values at these paths; none where none of the paths leads anywhere.
fn values(claims: &Map<String, Value>, paths: &[String]) -> Option<Vec<String>> {
    let found: Vec<&Value> = paths.iter().filter_map(|path| at(claims, path)).collect();
    if found.is_empty() {
        return None;
    }
    let texts = found.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect::<Vec<_>>(),
        one => vec![one],
    });
    let texts = texts.filter_map(Value::as_str);
    let texts = texts.filter(|text| text.len() <= LONGEST && is_storable(text));
    Some(texts.take(MOST).map(str::to_owned).collect())
}

fn at<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    path.match_indices('.')
        .find_map(|(place, _)| at(claims.get(&path[..place])?.as_object()?, &path[place + 1..]))
}

/// What each value is called here; one that the settings don't name is called as it is.
fn mapped(names: &BTreeMap<String, String>, said: Vec<String>) -> Vec<String> {
    let own = |value: &String| {
        names.iter().find(|(known, _)| known.eq_ignore_ascii_case(value)).map(|(_, own)| own)
    };
    said.into_iter().map(|value| own(&value).cloned().unwrap_or(value)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings() -> IssuerSettings {
        let mut settings =
            IssuerSettings::of("https://login.example".parse().unwrap(), "svc".to_owned());
        settings.role_claims =
            vec!["realm_access.roles".to_owned(), "https://shop.example/roles".to_owned()];
        settings.roles = [("admins".to_owned(), "Administrator".to_owned())].into();
        settings.organisation_claim = Some("tenant".to_owned());
        settings
    }

    fn described(claims: &Value) -> Described {
        Described::of(&settings(), "7", claims.as_object().unwrap())
    }

    #[test]
    fn paths_lead_to_roles_and_organisations() {
        let ada = described(&json!({
            "email": "ada@example.com", "email_verified": true, "name": "Ada",
            "realm_access": { "roles": ["Admins", "sales", 7, "x".repeat(300)] },
            "https://shop.example/roles": "buyer",
            "tenant": "lamps",
        }));
        let roles = ["Administrator", "sales", "buyer"].map(str::to_owned);
        assert_eq!(ada.roles, Some(roles.into()));
        assert_eq!(ada.organisations, Some(vec!["lamps".to_owned()]));
        assert!(ada.is_verified);
        assert_eq!(ada.name.as_deref(), Some("Ada"));
    }

    #[test]
    fn what_isnt_said_is_told_from_nothing() {
        assert_eq!(described(&json!({})).roles, None);
        let nothing = described(&json!({ "realm_access": { "roles": [] } }));
        assert_eq!(nothing.roles, Some(BTreeSet::new()));
        assert_eq!(described(&json!({ "realm_access": "roles" })).roles, None);
    }

    #[test]
    fn only_the_word_true_makes_an_address_verified() {
        for other in [json!("true"), json!(1), json!(false), Value::Null] {
            let ada = described(&json!({ "email": "ada@example.com", "email_verified": other }));
            assert!(!ada.is_verified);
            assert_eq!(ada.name.as_deref(), Some("ada@example.com"));
        }
    }

    #[test]
    fn a_flood_of_roles_has_a_bound() {
        let many: Vec<String> = (0..10_000).map(|number| format!("role{number}")).collect();
        let flooded = described(&json!({ "realm_access": { "roles": many } }));
        assert_eq!(flooded.roles.map(|roles| roles.len()), Some(MOST));
    }
}
