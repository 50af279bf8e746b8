//! What two versions of a workflow differ in. Pure.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::definition::Definition;

/// What became of a state or transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whether it is a state; a transition else.
    pub(crate) is_state: bool,
    pub(crate) name: String,
    pub(crate) kind: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Removed,
    /// The words of it that changed, as the definition's JSON has them.
    Changed(Vec<String>),
}

/// All that changes from one to the other: states first, each in the order of their names.
pub(crate) fn between(before: &Definition, after: &Definition) -> Vec<Change> {
    let states = |it: &Definition| -> Vec<(String, Json)> {
        it.states.iter().map(|one| (one.name.clone(), json(one))).collect()
    };
    let ways = |it: &Definition| -> Vec<(String, Json)> {
        it.transitions.iter().map(|one| (one.name.clone(), json(one))).collect()
    };
    let mut all = changes(true, states(before), states(after));
    all.extend(changes(false, ways(before), ways(after)));
    all
}

fn json(one: &impl serde::Serialize) -> Json {
    serde_json::to_value(one).unwrap_or(Json::Null)
}

fn changes(is_state: bool, before: Vec<(String, Json)>, after: Vec<(String, Json)>) -> Vec<Change> {
    let before: BTreeMap<String, Json> = before.into_iter().collect();
    let after: BTreeMap<String, Json> = after.into_iter().collect();
    let mut all = Vec::new();
    for (name, was) in &before {
        let kind = match after.get(name) {
            None => ChangeKind::Removed,
            Some(is) if is == was => continue,
            Some(is) => ChangeKind::Changed(words(was, is)),
        };
        all.push(Change { is_state, name: name.clone(), kind });
    }
    let added = after.keys().filter(|name| !before.contains_key(*name));
    all.extend(added.map(|name| Change { is_state, name: name.clone(), kind: ChangeKind::Added }));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn words(was: &Json, is: &Json) -> Vec<String> {
    let (Some(was), Some(is)) = (was.as_object(), is.as_object()) else { return Vec::new() };
    let mut words: Vec<String> = was.keys().chain(is.keys()).cloned().collect();
    words.sort_unstable();
    words.dedup();
    words.retain(|word| was.get(word) != is.get(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{By, State, Transition};

    #[test]
    fn each_difference_is_told() {
        let way = || Transition::new("finish").from(["open"]).to("done").by(By::Creator);
        let before = Definition::new()
            .state(State::initial("open"))
            .state(State::last("done"))
            .state(State::last("lost"))
            .transition(way());
        let after = Definition::new()
            .state(State::initial("open").titled("Begun").locks_all())
            .state(State::last("done"))
            .transition(way())
            .transition(Transition::new("again").from(["open"]).to("open").by(By::Creator));
        let change = |is_state, name: &str, kind| Change { is_state, name: name.to_owned(), kind };
        let words = vec!["lock".to_owned(), "title".to_owned()];
        assert_eq!(
            between(&before, &after),
            [
                change(true, "lost", ChangeKind::Removed),
                change(true, "open", ChangeKind::Changed(words)),
                change(false, "again", ChangeKind::Added),
            ]
        );
        assert_eq!(between(&after, &after), []);
    }
}
