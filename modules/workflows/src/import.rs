//! Reads a definition that somebody has written: what it doesn't know is refused, so that nothing of it is lost without a
//! word. Pure.

use serde_json::{Map, Value as Json};
use svc_core::{Error, Result};

use crate::definition::Definition;

const STATE: [&str; 10] = [
    "name",
    "title",
    "kind",
    "colour",
    "lock",
    "dueIn",
    "remindsAfter",
    "escalatesTo",
    "automatic",
    "kept",
];

const TRANSITION: [&str; 18] = [
    "name",
    "title",
    "from",
    "to",
    "by",
    "approvals",
    "groups",
    "inSequence",
    "notByCreator",
    "notByLast",
    "condition",
    "optional",
    "needsComment",
    "sets",
    "calls",
    "publishes",
    "notifies",
    "kept",
];

const GROUP: [&str; 4] = ["name", "title", "by", "approvals"];

/// A definition as JSON.
///
/// # Errors
///
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid), by the field `definition`.
pub(crate) fn definition(json: &Json) -> Result<Definition> {
    let refused = |problem: String| {
        Error::invalid("the definition can't be read").field("definition", problem)
    };
    unknown(json).map_or(Ok(()), |problem| Err(refused(problem)))?;
    serde_json::from_value(json.clone()).map_err(|error| refused(error.to_string()))
}

/// The first thing that a definition doesn't have.
fn unknown(json: &Json) -> Option<String> {
    let whole = json.as_object()?;
    let of_states = || objects(whole, "states").find_map(|it| unknown_in(it, "a state", &STATE));
    let of_locks = || {
        let locks = objects(whole, "states").filter_map(|it| it.get("lock")?.as_object());
        locks.into_iter().find_map(|it| unknown_in(it, "a lock", &["properties", "unless"]))
    };
    let of_ways =
        || objects(whole, "transitions").find_map(|it| unknown_in(it, "a transition", &TRANSITION));
    let of_groups = || {
        let groups = objects(whole, "transitions").flat_map(|it| objects(it, "groups"));
        groups.into_iter().find_map(|it| unknown_in(it, "a group", &GROUP))
    };
    unknown_in(whole, "a definition", &["states", "transitions"])
        .or_else(of_states)
        .or_else(of_locks)
        .or_else(of_ways)
        .or_else(of_groups)
}

fn unknown_in(object: &Map<String, Json>, what: &str, known: &[&str]) -> Option<String> {
    let key = object.keys().find(|key| !known.contains(&key.as_str()))?;
    Some(format!("{what} has no `{key}`"))
}

fn objects<'a>(
    of: &'a Map<String, Json>,
    name: &str,
) -> impl Iterator<Item = &'a Map<String, Json>> {
    of.get(name).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::definition::{By, Group, State, Transition};

    #[test]
    fn what_is_written_is_read() {
        let way = Transition::new("finish").from(["open"]).to("done").needs_comment().calls("Ship");
        let written = Definition::new()
            .state(State::initial("open").locks(["total"]).unless("P").kept())
            .state(State::last("done"))
            .transition(way.group(Group::new("a").by(By::Creator).by(By::role("Buyers"))).kept());
        let json = serde_json::to_value(&written).unwrap();
        assert_eq!(definition(&json).unwrap(), written);
        assert_eq!(
            definition(&json!({"states": [], "transitions": []})).unwrap(),
            Definition::new()
        );
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for json in [
            json!({"states": [], "transitions": [], "colour": 1}),
            json!({"states": [{"name": "a", "kind": "final", "lok": {}}], "transitions": []}),
            json!({"states": [{"name": "a", "kind": "final", "lock": {"unles": "P"}}], "transitions": []}),
            json!({"states": [], "transitions": [{"name": "a", "from": [], "to": "b", "by": [], "wen": "x"}]}),
            json!({"states": [], "transitions": [{"name": "a", "from": [], "to": "b", "by": [], "groups": [{"nam": "x"}]}]}),
            json!({"states": [], "transitions": [{"name": "a", "from": [], "to": "b", "by": [{"rolle": "x"}]}]}),
            json!({"states": [{"name": "a", "kind": "last"}], "transitions": []}),
            json!([]),
            json!({"states": 1}),
        ] {
            assert!(definition(&json).is_err(), "{json}");
        }
    }
}
