//! What is wrong with a definition, as far as it tells by itself. Pure; names of properties and
//! conditions are looked at in `binding`, where the set is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::calendar::{MAX_DAYS, Term};
use crate::definition::{By, Definition, State, StateKind, Transition};

/// The most states of a workflow.
pub(crate) const MAX_STATES: usize = 100;

/// The most transitions of a workflow.
pub(crate) const MAX_TRANSITIONS: usize = 300;

/// The most transitions that lead away from one state: what each look at a record weighs.
pub(crate) const MAX_LEAVING: usize = 30;

/// The longest name of a state or transition.
pub(crate) const MAX_NAME: u32 = 40;

/// The most whom a transition names: a row each while a record waits for them.
pub(crate) const MAX_BY: usize = 10;

/// The longest name of a role, in characters.
pub(crate) const MAX_ROLE: usize = 200;

/// The most people that a transition takes.
pub(crate) const MAX_APPROVALS: u32 = 20;

/// The most groups of a transition: an approval is matched with them.
pub(crate) const MAX_GROUPS: usize = 5;

/// The most actions, events, or people told of a transition.
pub(crate) const MAX_EFFECTS: usize = 10;

/// Something that keeps a definition from being used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What kind of problem it is, for programs.
    pub(crate) code: &'static str,
    /// What is wrong, for people.
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (`{}`)", self.message, self.code)
    }
}

/// All that is wrong with a definition.
pub(crate) fn problems(definition: &Definition) -> Vec<Problem> {
    // What is too large isn't looked at any further.
    let (states, transitions) = (definition.states.len(), definition.transitions.len());
    if states > MAX_STATES || transitions > MAX_TRANSITIONS {
        let message = format!(
            "{states} states and {transitions} transitions are too many; have at most \
             {MAX_STATES} and {MAX_TRANSITIONS}"
        );
        return vec![Problem::new("too_large", message)];
    }
    let mut problems = names(definition);
    problems.extend(kinds(definition));
    problems.extend(ends(definition));
    problems.extend(people(definition));
    problems.extend(roles(definition));
    problems.extend(definition.states.iter().flat_map(|state| times(definition, state)));
    problems.extend(circle(definition));
    // Ways are followed where they lead somewhere.
    if problems.is_empty() {
        problems.extend(ways(definition));
    }
    problems
}

/// Names that aren't any, and those that stand twice.
fn names(definition: &Definition) -> Vec<Problem> {
    let states = definition.states.iter().map(|state| ("state", &state.name));
    let transitions = definition.transitions.iter().map(|it| ("transition", &it.name));
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for (what, name) in states.chain(transitions) {
        if !is_name(name) {
            let message = format!(
                "the {what} `{name}` isn't a name; write 1 to {MAX_NAME} letters and digits in camel \
                 case"
            );
            problems.push(Problem::new("bad_name", message));
        }
        if !seen.insert((what, name)) {
            problems.push(Problem::new("name_twice", format!("there are two {what}s `{name}`")));
        }
    }
    problems
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.len() <= MAX_NAME as usize
}

/// Anything but one state to begin in.
fn kinds(definition: &Definition) -> Option<Problem> {
    let initial = definition.states.iter().filter(|state| state.kind == StateKind::Initial);
    let names: Vec<&str> = initial.map(|state| state.name.as_str()).collect();
    match names[..] {
        [_] => None,
        [] => Some(Problem::new("no_initial_state", "no state is the one that records begin in")),
        _ => {
            let message = format!("records can't begin in all of `{}`", names.join("`, `"));
            Some(Problem::new("two_initial_states", message))
        }
    }
}

/// Transitions whose ends aren't there, or can't be theirs.
fn ends(definition: &Definition) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut leaving: BTreeMap<&str, usize> = BTreeMap::new();
    for transition in &definition.transitions {
        let name = &transition.name;
        if transition.from.is_empty() {
            let message = format!("the transition `{name}` leads away from no state");
            problems.push(Problem::new("no_from", message));
        }
        for end in transition.from.iter().chain([&transition.to]) {
            if definition.find_state(end).is_none() {
                let message = format!("the transition `{name}` names `{end}`, which isn't a state");
                problems.push(Problem::new("unknown_state", message));
            }
        }
        let from: BTreeSet<&str> = transition.from.iter().map(String::as_str).collect();
        for state in from {
            *leaving.entry(state).or_default() += 1;
            let found = definition.find_state(state);
            if found.is_some_and(|found| found.kind == StateKind::Final) {
                let message = format!(
                    "the transition `{name}` leads away from `{state}`, in which records end"
                );
                problems.push(Problem::new("leaves_final", message));
            }
        }
    }
    for (state, count) in leaving.into_iter().filter(|(_, count)| *count > MAX_LEAVING) {
        let message =
            format!("{count} transitions lead away from `{state}`; have at most {MAX_LEAVING}");
        problems.push(Problem::new("too_large", message));
    }
    problems
}

/// Transitions that nobody may take, or not enough people.
fn people(definition: &Definition) -> Vec<Problem> {
    let mut problems = nobody(definition);
    for transition in &definition.transitions {
        let (name, count) = (&transition.name, transition.approvals);
        if transition.everybody().count() > MAX_BY {
            let message =
                format!("the transition `{name}` names more than {MAX_BY} who may take it");
            problems.push(Problem::new("too_large", message));
        }
        let effects =
            [transition.calls.len(), transition.publishes.len(), transition.notifies.len()];
        if effects.into_iter().any(|count| count > MAX_EFFECTS) {
            let message = format!(
                "the transition `{name}` calls, publishes or notifies more than {MAX_EFFECTS}"
            );
            problems.push(Problem::new("too_large", message));
        }
        if !transition.groups.is_empty() || transition.in_sequence {
            problems.extend(unsound_groups(transition));
        } else if !(1..=MAX_APPROVALS).contains(&count) {
            let message = format!(
                "the transition `{name}` can't take {count} people; say 1 to {MAX_APPROVALS}"
            );
            problems.push(Problem::new("bad_approvals", message));
        } else if count > 1 && !transition.by.iter().any(By::is_right) {
            let message = format!(
                "the transition `{name}` takes {count} people, but only single persons may take it; \
                 name a permission or a role"
            );
            problems.push(Problem::new("bad_approvals", message));
        }
    }
    problems
}

/// What is wrong with the groups of a transition.
fn unsound_groups(transition: &Transition) -> Vec<Problem> {
    let Transition { name, groups, .. } = transition;
    let mut problems = Vec::new();
    let mut group = |message: String| problems.push(Problem::new("bad_groups", message));
    if !transition.by.is_empty() || transition.approvals != 1 {
        group(format!("the transition `{name}` has groups, and says beside them who may take it"));
    }
    if groups.len() > MAX_GROUPS || (transition.in_sequence && groups.len() < 2) {
        group(format!("the transition `{name}` can't have {} groups", groups.len()));
    }
    for one in groups {
        let is_twice = groups.iter().filter(|other| other.name == one.name).count() > 1;
        if is_twice || !is_name(&one.name) {
            group(format!("the group `{}` of `{name}` is there twice, or no name", one.name));
        }
        let only_persons = !one.by.iter().any(By::is_right);
        if one.by.is_empty() || one.approvals == 0 || (one.approvals > 1 && only_persons) {
            group(format!(
                "the group `{}` of `{name}` can't give {} people; name a permission or a role",
                one.name, one.approvals
            ));
        }
    }
    if transition.people() > MAX_APPROVALS {
        group(format!("the groups of `{name}` take more than {MAX_APPROVALS} people"));
    }
    problems
}

/// Names that no role could have. Whether there is one tells the organisation, and no definition.
fn roles(definition: &Definition) -> Vec<Problem> {
    let named = definition.named().filter_map(|by| match by {
        By::Role(name) => Some(name),
        By::Permission(_) | By::Creator | By::Person(_) => None,
    });
    let is_role = |name: &str| {
        let is_short = (1..=MAX_ROLE).contains(&name.chars().count());
        is_short && name.trim() == name && !name.chars().any(char::is_control)
    };
    let wrong: BTreeSet<&String> = named.filter(|name| !is_role(name)).collect();
    let problem = |name: &String| {
        let message = format!(
            "`{name}` isn't a name of a role; write 1 to {MAX_ROLE} characters on one line, without spaces around them"
        );
        Problem::new("bad_role", message)
    };
    wrong.into_iter().map(problem).collect()
}

fn nobody(definition: &Definition) -> Vec<Problem> {
    let nobody = definition
        .transitions
        .iter()
        .filter(|transition| transition.by.is_empty() && transition.groups.is_empty());
    nobody
        .map(|transition| {
            let message = format!(
                "nobody may take the transition `{}`; say who, with `.by(…)`",
                transition.name
            );
            Problem::new("nobody_may", message)
        })
        .collect()
}

/// What can't happen by itself in a state.
fn times(definition: &Definition, state: &State) -> Vec<Problem> {
    let name = &state.name;
    let mut problems = Vec::new();
    let mut deadline = |message: String| problems.push(Problem::new("bad_deadline", message));
    if state.kind != StateKind::Intermediate && state.is_timed() {
        deadline(format!(
            "nobody is waited for in the state `{name}`, in which records begin or end; say times of \
             others"
        ));
    }
    let terms: [Option<Term>; 3] = [state.due_in, state.reminds_after, state.automatic_term()];
    if terms.into_iter().flatten().any(|term| !term.is_sound()) {
        deadline(format!("a time of the state `{name}` is nothing, or more than {MAX_DAYS} days"));
    }
    if !state.escalates_to.is_empty() && state.due_in.is_none() {
        deadline(format!("the state `{name}` never is overdue; say `.due_in(…)`"));
    }
    if state.escalates_to.len() > MAX_BY {
        let message = format!("the state `{name}` names more than {MAX_BY} who may act later");
        problems.push(Problem::new("too_large", message));
    }
    if let Some(automatic) = &state.automatic {
        let transition = definition.find_transition(&automatic.transition);
        if !transition.is_some_and(|it| it.leaves(name) && !it.needs_comment) {
            let message = format!(
                "`{}` can't be taken by itself: it doesn't lead away from the state `{name}`, or takes \
                 a comment",
                automatic.transition
            );
            problems.push(Problem::new("bad_automatic", message));
        }
    }
    problems
}

/// States that lead to each other by themselves, for ever.
fn circle(definition: &Definition) -> Option<Problem> {
    let next = |state: &State| {
        let automatic = state.automatic.as_ref()?;
        let transition = definition.find_transition(&automatic.transition)?;
        definition.find_state(&transition.to)
    };
    definition.states.iter().find_map(|first| {
        let mut place = first;
        for _ in &definition.states {
            place = next(place)?;
            if place.name == first.name {
                let message =
                    format!("what happens by itself leads from `{}` to it again", first.name);
                return Some(Problem::new("automatic_circle", message));
            }
        }
        None
    })
}

/// States that nobody reaches, or that nobody leaves.
fn ways(definition: &Definition) -> Vec<Problem> {
    let mut reached = BTreeSet::from([definition.begins_in()]);
    let mut open = vec![definition.begins_in()];
    while let Some(state) = open.pop() {
        for transition in definition.leaving(state) {
            if reached.insert(&transition.to) {
                open.push(&transition.to);
            }
        }
    }
    let mut problems = Vec::new();
    for state in &definition.states {
        let name = state.name.as_str();
        if !reached.contains(name) {
            let message = format!("no way leads to the state `{name}`");
            problems.push(Problem::new("unreachable", message));
        }
        if state.kind != StateKind::Final && definition.leaving(name).next().is_none() {
            let message =
                format!("no transition leads away from `{name}`; make it one in which records end");
            problems.push(Problem::new("dead_end", message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Group;

    fn way(name: &str, from: &str, to: &str) -> Transition {
        Transition::new(name).from([from]).to(to).by(By::Creator)
    }

    fn grouped() -> Transition {
        Transition::new("x").from(["open"]).to("done").group(Group::new("a").by(By::Creator))
    }

    fn sound() -> Definition {
        Definition::new()
            .state(State::initial("open"))
            .state(State::last("done"))
            .transition(way("finish", "open", "done"))
    }

    fn codes(definition: &Definition) -> Vec<&'static str> {
        problems(definition).into_iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn a_sound_one_has_no_problem() {
        assert_eq!(problems(&sound()), []);
        assert_eq!(codes(&Definition::new()), ["no_initial_state"]);
    }

    #[test]
    fn each_mistake_has_its_code() {
        let cases = [
            (sound().state(State::initial("begun")), vec!["two_initial_states"]),
            (sound().state(State::new("two words")), vec!["bad_name"]),
            (sound().state(State::new("open")), vec!["name_twice"]),
            (sound().transition(way("finish", "open", "done")), vec!["name_twice"]),
            (sound().transition(way("lose", "open", "lost")), vec!["unknown_state"]),
            (sound().transition(way("again", "done", "open")), vec!["leaves_final"]),
            (sound().transition(Transition::new("x").to("done").by(By::Creator)), vec!["no_from"]),
            (
                sound().transition(Transition::new("x").from(["open"]).to("done")),
                vec!["nobody_may"],
            ),
            (sound().transition(way("x", "open", "done").approvals(2)), vec!["bad_approvals"]),
            (sound().transition(way("x", "open", "done").approvals(0)), vec!["bad_approvals"]),
            (
                sound().transition(way("x", "open", "done").by(By::permission("P")).approvals(21)),
                vec!["bad_approvals"],
            ),
            (
                sound().transition(grouped().group(Group::new("a").by(By::Creator))),
                vec!["bad_groups"; 2],
            ),
            (sound().transition(grouped().by(By::Creator)), vec!["bad_groups"]),
            (sound().transition(grouped().group(Group::new("b"))), vec!["bad_groups"]),
            (
                sound().transition(grouped().group(Group::new("b").by(By::Creator).approvals(2))),
                vec!["bad_groups"],
            ),
            (sound().transition(way("x", "open", "done").in_sequence()), vec!["bad_groups"; 2]),
            (
                sound().transition((0..11).fold(way("x", "open", "done"), |it, _| it.calls("Act"))),
                vec!["too_large"],
            ),
            (sound().state(State::last("lost")), vec!["unreachable"]),
            (
                sound().state(State::new("stuck")).transition(way("x", "open", "stuck")),
                vec!["dead_end"],
            ),
        ];
        for (definition, expected) in cases {
            assert_eq!(codes(&definition), expected, "{definition:?}");
        }
    }

    #[test]
    fn what_happens_by_itself_can_happen() {
        let with = |change: fn(State) -> State| {
            sound()
                .state(change(State::new("waiting")))
                .transition(way("wait", "open", "waiting"))
                .transition(way("end", "waiting", "done"))
                .transition(way("back", "waiting", "open").needs_comment())
                .transition(way("stay", "waiting", "waiting"))
        };
        let day = Term::Days(1);
        let fits = with(|state| {
            let state = state.due_in(Term::WorkingDays(1)).escalates_to(By::Creator);
            state.reminds_after(Term::Hours(1)).automatically(Term::Days(MAX_DAYS), "end")
        });
        assert_eq!(codes(&fits), [""; 0]);
        let cases: [(Definition, &str); 7] = [
            (with(|state| state.due_in(Term::Days(0))), "bad_deadline"),
            (with(|state| state.reminds_after(Term::WorkingDays(MAX_DAYS + 1))), "bad_deadline"),
            (with(|state| state.escalates_to(By::Creator)), "bad_deadline"),
            (with(|state| state.automatically(Term::Days(1), "back")), "bad_automatic"),
            (with(|state| state.automatically(Term::Days(1), "finish")), "bad_automatic"),
            (with(|state| state.automatically(Term::Days(1), "stay")), "automatic_circle"),
            (
                sound().state(State::last("late").due_in(day)).transition(way("x", "open", "late")),
                "bad_deadline",
            ),
        ];
        for (definition, code) in cases {
            assert_eq!(codes(&definition), [code], "{definition:?}");
        }
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_looked_at() {
        let many = |count: usize| (0..count).map(|number| format!("s{number}"));
        let states = many(1_000).fold(sound(), |all, name| all.state(State::new(&name)));
        assert_eq!(codes(&states), ["too_large"]);
        let transitions =
            many(MAX_LEAVING).fold(sound(), |all, name| all.transition(way(&name, "open", "done")));
        assert_eq!(codes(&transitions), ["too_large"]);
        let by = |count: usize| {
            many(count).fold(way("x", "open", "done"), |way, name| way.by(By::permission(&name)))
        };
        assert_eq!(codes(&sound().transition(by(MAX_BY - 1))), [""; 0]);
        assert_eq!(codes(&sound().transition(by(MAX_BY))), ["too_large"]);
    }
}
