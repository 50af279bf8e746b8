//! What a workflow is: states, and transitions between them. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::calendar::Term;

mod by;

pub use by::By;

/// A workflow of an entity set, as an application declares it.
///
/// ```
/// use svc_workflows::{By, Colour, Definition, State, Transition};
///
/// let orders = Definition::new()
///     .state(State::initial("open").titled("Open"))
///     .state(State::new("submitted").titled("Waits for approval").locks(["reference"]))
///     .state(State::last("approved").titled("Approved").coloured(Colour::Green).locks_all())
///     .transition(Transition::new("submit").from(["open"]).to("submitted").by(By::Creator))
///     .transition(
///         Transition::new("approve")
///             .from(["submitted"])
///             .to("approved")
///             .by(By::permission("Orders.Approve"))
///             .not_by_creator()
///             .when("total le 10000"),
///     );
/// # drop(orders);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
}

/// A state that a record can be in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) kind: StateKind,
    #[serde(default)]
    pub(crate) colour: Colour,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lock: Option<Lock>,
    /// How long a record should stay in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) due_in: Option<Term>,
    /// After which time people are reminded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reminds_after: Option<Term>,
    /// Who may act too once it is overdue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) escalates_to: Vec<By>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) automatic: Option<Automatic>,
    /// Whether a design leaves it as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) kept: bool,
}

/// A transition that the application takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Automatic {
    /// After which time in the state.
    pub(crate) after: Term,
    pub(crate) transition: String,
}

/// Where in a workflow a state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StateKind {
    /// Records begin in it; a workflow has one such state.
    Initial,
    /// Records come into it and leave it.
    Intermediate,
    /// Records end in it: no transition leads away.
    Final,
}

/// The colour that a state is shown in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Colour {
    /// Nothing to notice.
    #[default]
    Grey,
    /// Something goes on.
    Blue,
    /// It is well.
    Green,
    /// Somebody waits.
    Yellow,
    /// Something is wrong.
    Red,
}

/// What of a record can't be changed while it is in a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lock {
    /// The properties; none for the whole record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<Vec<String>>,
    /// The permission of those who can change it all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unless: Option<String>,
}

/// A way from states to a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of a definition")]
pub struct Transition {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) from: Vec<String>,
    pub(crate) to: String,
    pub(crate) by: Vec<By>,
    /// How many people it takes.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) approvals: u32,
    /// Of whom it takes people; where there are some, they stand in the place of `by` and `approvals`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<Group>,
    /// Whether the groups come after each other.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) in_sequence: bool,
    #[serde(default)]
    pub(crate) not_by_creator: bool,
    #[serde(default)]
    pub(crate) not_by_last: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<String>,
    /// Whether nobody is waited for to take it.
    #[serde(default)]
    pub(crate) optional: bool,
    #[serde(default)]
    pub(crate) needs_comment: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sets: BTreeMap<String, Assigned>,
    /// The actions of the record that are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<String>,
    /// The application events that are published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) publishes: Vec<String>,
    /// Who is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notifies: Vec<By>,
    /// Whether a design leaves it as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) kept: bool,
}

/// People of whom a transition takes some, beside other such groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) by: Vec<By>,
    /// How many of them it takes.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) approvals: u32,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// The value that a transition gives a property of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Assigned {
    /// This value, as the record is stored: of an enumeration what the database holds.
    Value(Json),
    /// The time of the transition.
    Now,
    /// The person who takes it; null for the system.
    Me,
    /// The comment; null without one.
    Comment,
}

impl Definition {
    /// A workflow without states.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a state.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.states.push(state);
        self
    }

    /// Adds a transition.
    #[must_use]
    pub fn transition(mut self, transition: Transition) -> Self {
        self.transitions.push(transition);
        self
    }

    /// The state that records begin in; a definition without problems has one.
    pub(crate) fn begins_in(&self) -> &str {
        let initial = self.states.iter().find(|state| state.kind == StateKind::Initial);
        initial.map_or("", |state| &state.name)
    }

    pub(crate) fn find_state(&self, name: &str) -> Option<&State> {
        self.states.iter().find(|state| state.name == name)
    }

    pub(crate) fn find_transition(&self, name: &str) -> Option<&Transition> {
        self.transitions.iter().find(|transition| transition.name == name)
    }

    /// All whom it names, whatever for.
    pub(crate) fn named(&self) -> impl Iterator<Item = &By> {
        let of_ways = self.transitions.iter().flat_map(|way| way.everybody().chain(&way.notifies));
        of_ways.chain(self.states.iter().flat_map(|state| &state.escalates_to))
    }

    /// The transitions that lead away from a state.
    pub(crate) fn leaving<'a>(&'a self, state: &'a str) -> impl Iterator<Item = &'a Transition> {
        self.transitions.iter().filter(move |transition| transition.leaves(state))
    }
}

impl State {
    /// A state between the first and the last.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            kind: StateKind::Intermediate,
            colour: Colour::default(),
            lock: None,
            due_in: None,
            reminds_after: None,
            escalates_to: Vec::new(),
            automatic: None,
            kept: false,
        }
    }

    /// The state that records begin in.
    #[must_use]
    pub fn initial(name: &str) -> Self {
        Self { kind: StateKind::Initial, ..Self::new(name) }
    }

    /// A state that no transition leads away from.
    #[must_use]
    pub fn last(name: &str) -> Self {
        Self { kind: StateKind::Final, ..Self::new(name) }
    }

    /// Says what people call it, where no text `<set>-workflowState-<name>` does.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Says the colour that it is shown in.
    #[must_use]
    pub fn coloured(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Lets nobody change these properties, or delete the record, while it is in this state.
    #[must_use]
    pub fn locks<'p>(mut self, properties: impl IntoIterator<Item = &'p str>) -> Self {
        let properties = Some(properties.into_iter().map(str::to_owned).collect());
        self.lock = Some(Lock { properties, unless: None });
        self
    }

    /// Lets nobody change or delete the record while it is in this state.
    #[must_use]
    pub fn locks_all(mut self) -> Self {
        self.lock = Some(Lock { properties: None, unless: None });
        self
    }

    /// Lets those with a permission change what is locked all the same.
    #[must_use]
    pub fn unless(mut self, permission: &str) -> Self {
        let properties = self.lock.map_or(Some(Vec::new()), |lock| lock.properties);
        self.lock = Some(Lock { properties, unless: Some(permission.to_owned()) });
        self
    }

    /// Says how long a record should stay in it: when it is due, as tasks and the record tell. Once it is overdue,
    /// `WorkflowOverdue` is raised.
    #[must_use]
    pub fn due_in(mut self, term: Term) -> Self {
        self.due_in = Some(term);
        self
    }

    /// Raises `WorkflowReminded` when a record has been in it for so long.
    #[must_use]
    pub fn reminds_after(mut self, term: Term) -> Self {
        self.reminds_after = Some(term);
        self
    }

    /// Lets somebody else take the transitions out of it too, once a record is overdue; but for optional
    /// ones.
    #[must_use]
    pub fn escalates_to(mut self, who: By) -> Self {
        self.escalates_to.push(who);
        self
    }

    /// Has the application take a transition when a record has been in it for so long. Its condition must
    /// hold; it needs no permission, and nobody else.
    #[must_use]
    pub fn automatically(mut self, after: Term, transition: &str) -> Self {
        self.automatic = Some(Automatic { after, transition: transition.to_owned() });
        self
    }

    /// Says that who draws the workflow leaves it as it is, but for its title and colour: the application relies on it.
    #[must_use]
    pub fn kept(mut self) -> Self {
        self.kept = true;
        self
    }

    /// Whether it is the same, but for what people see of it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let plain =
            |it: &Self| Self { title: None, colour: Colour::default(), kept: true, ..it.clone() };
        plain(self) == plain(other)
    }

    pub(crate) fn automatic_term(&self) -> Option<Term> {
        self.automatic.as_ref().map(|automatic| automatic.after)
    }

    /// Whether something happens by itself in it.
    pub(crate) fn is_timed(&self) -> bool {
        self.due_in.or(self.reminds_after).or(self.automatic_term()).is_some()
    }
}

impl Transition {
    /// A transition that leads nowhere yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            from: Vec::new(),
            to: String::new(),
            by: Vec::new(),
            approvals: 1,
            groups: Vec::new(),
            in_sequence: false,
            not_by_creator: false,
            not_by_last: false,
            condition: None,
            optional: false,
            needs_comment: false,
            sets: BTreeMap::new(),
            calls: Vec::new(),
            publishes: Vec::new(),
            notifies: Vec::new(),
            kept: false,
        }
    }

    /// Says what people call it, where no text `<set>-transition-<name>` does.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Says which states it leads away from.
    #[must_use]
    pub fn from<'s>(mut self, states: impl IntoIterator<Item = &'s str>) -> Self {
        self.from.extend(states.into_iter().map(str::to_owned));
        self
    }

    /// Says which state it leads to.
    #[must_use]
    pub fn to(mut self, state: &str) -> Self {
        state.clone_into(&mut self.to);
        self
    }

    /// Lets somebody take it; of several any will do.
    #[must_use]
    pub fn by(mut self, who: By) -> Self {
        self.by.push(who);
        self
    }

    /// Says that it takes so many people, each once, who have seen the record as it is; the last of
    /// them moves it.
    #[must_use]
    pub fn approvals(mut self, count: u32) -> Self {
        self.approvals = count;
        self
    }

    /// Says that it takes people of a group, beside those of other groups: all of them approve, side by side. It
    /// stands in the place of [`by`](Self::by) and [`approvals`](Self::approvals). Somebody of several groups counts for one,
    /// whichever helps.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.groups.push(group);
        self
    }

    /// Says that its groups come after each other, in their order.
    #[must_use]
    pub fn in_sequence(mut self) -> Self {
        self.in_sequence = true;
        self
    }

    /// Calls an action of the record, which takes no parameters, in the same unit of work and behind the step: as the
    /// person who takes it, whatever that person may do. What the action changes of the record no state locks.
    #[must_use]
    pub fn calls(mut self, action: &str) -> Self {
        self.calls.push(action.to_owned());
        self
    }

    /// Publishes an application event, which a module has registered by its name (`registry.named_event`). It
    /// tells `entityType`, `entityId`, `from`, `to` and `transition`.
    #[must_use]
    pub fn publishes(mut self, event: &str) -> Self {
        self.publishes.push(event.to_owned());
        self
    }

    /// Raises `WorkflowNotice` for somebody, which whoever notifies people listens to.
    #[must_use]
    pub fn notifies(mut self, who: By) -> Self {
        self.notifies.push(who);
        self
    }

    /// Keeps whoever made the record from taking it.
    #[must_use]
    pub fn not_by_creator(mut self) -> Self {
        self.not_by_creator = true;
        self
    }

    /// Keeps whoever took the transition before from taking this one.
    #[must_use]
    pub fn not_by_last(mut self) -> Self {
        self.not_by_last = true;
        self
    }

    /// Says when it is possible: a `$filter` over the record, in which `@me` is the person who takes
    /// it and `@comment` the comment. It names no property that is hidden from somebody.
    #[must_use]
    pub fn when(mut self, condition: &str) -> Self {
        self.condition = Some(condition.to_owned());
        self
    }

    /// Says that nobody is waited for to take it, such as to cancel: a record awaits nobody because of
    /// it.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Says that it takes a comment.
    #[must_use]
    pub fn needs_comment(mut self) -> Self {
        self.needs_comment = true;
        self
    }

    /// Gives a property of the record a value, whoever takes the transition.
    #[must_use]
    pub fn sets(mut self, property: &str, value: Assigned) -> Self {
        self.sets.insert(property.to_owned(), value);
        self
    }

    /// Says that who draws the workflow leaves it as it is, but for its title: the application relies on it.
    #[must_use]
    pub fn kept(mut self) -> Self {
        self.kept = true;
        self
    }

    /// Whether it is the same, but for what people see of it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let plain = |it: &Self| Self { title: None, kept: true, ..it.clone() };
        plain(self) == plain(other)
    }

    pub(crate) fn leaves(&self, state: &str) -> bool {
        self.from.iter().any(|from| from == state)
    }

    /// All who may take it, or a part in it.
    pub(crate) fn everybody(&self) -> impl Iterator<Item = &By> {
        self.by.iter().chain(self.groups.iter().flat_map(|group| &group.by))
    }

    /// How many people it takes.
    pub(crate) fn people(&self) -> u32 {
        let of_groups = self.groups.iter().map(|group| group.approvals);
        if self.groups.is_empty() { self.approvals } else { of_groups.fold(0, u32::saturating_add) }
    }

    /// Whether those who take part in it are kept until all have.
    pub(crate) fn takes_several(&self) -> bool {
        self.people() > 1
    }
}

impl Group {
    /// A group of nobody yet, of whom it takes one.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), title: None, by: Vec::new(), approvals: 1 }
    }

    /// Says what people call it, where no text `<set>-group-<name>` does.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Adds somebody to it.
    #[must_use]
    pub fn by(mut self, who: By) -> Self {
        self.by.push(who);
        self
    }

    /// Says how many of them it takes.
    #[must_use]
    pub fn approvals(mut self, count: u32) -> Self {
        self.approvals = count;
        self
    }
}
