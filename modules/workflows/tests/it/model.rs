//! What a workflow does, once more and as simply as possible: what the property test compares with.

use svc_workflows::{Assigned, By, Definition, Group, State, Term, Transition};

/// A transition from a state to a state, by their numbers.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of a definition")]
pub(crate) struct Way {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The permission of this number; none for whoever made the record.
    pub(crate) permission: Option<usize>,
    pub(crate) approvals: u32,
    /// It takes one with each of the permissions, in the place of the above: in sequence, or side by side.
    pub(crate) groups: Option<bool>,
    pub(crate) not_by_creator: bool,
    pub(crate) not_by_last: bool,
    pub(crate) needs_comment: bool,
    /// Only where the total is greater.
    pub(crate) above: Option<i64>,
    pub(crate) keeps_comment: bool,
}

/// What a state locks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Locks {
    Nothing,
    Reference,
    Everything,
}

/// What happens by itself in a state, after so many hours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) due: Option<u32>,
    /// The permission of those who may act once it is overdue.
    pub(crate) later: Option<usize>,
    /// The way of the ring out of the state.
    pub(crate) automatic: Option<u32>,
}

/// A workflow.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) states: Vec<Locks>,
    /// Those of each state.
    pub(crate) times: Vec<Times>,
    pub(crate) ways: Vec<Way>,
}

pub(crate) const PERMISSIONS: [&str; 2] = ["Orders.Approve", "Orders.Close"];

/// Which of the permissions each person holds.
pub(crate) const PEOPLE: [&[usize]; 4] = [&[0], &[0, 1], &[1], &[]];

impl Plan {
    pub(crate) fn definition(&self) -> Definition {
        let mut definition = Definition::new();
        for (number, locks) in self.states.iter().enumerate() {
            let name = format!("s{number}");
            let state = if number == 0 { State::initial(&name) } else { State::new(&name) };
            let mut state = match locks {
                Locks::Nothing => state,
                Locks::Reference => state.locks(["reference"]),
                Locks::Everything => state.locks_all(),
            };
            let times = &self.times[number];
            if let Some(due) = times.due {
                state = state.due_in(Term::Hours(due));
            }
            if let Some(later) = times.later {
                state = state.escalates_to(By::permission(PERMISSIONS[later]));
            }
            if let Some(after) = times.automatic {
                state = state.automatically(Term::Hours(after), &format!("t{number}"));
            }
            definition = definition.state(state);
        }
        for (number, way) in self.ways.iter().enumerate() {
            let who = way.permission.map_or(By::Creator, |it| By::permission(PERMISSIONS[it]));
            let mut transition = Transition::new(&format!("t{number}"))
                .from([format!("s{}", way.from).as_str()])
                .to(&format!("s{}", way.to));
            transition = match way.groups {
                None => {
                    let several = way.permission.is_some();
                    transition.by(who).approvals(if several { way.approvals } else { 1 })
                }
                Some(in_sequence) => {
                    let group = |name: &str, place: usize| {
                        Group::new(name).by(By::permission(PERMISSIONS[place]))
                    };
                    let both = transition.group(group("a", 0)).group(group("b", 1));
                    if in_sequence { both.in_sequence() } else { both }
                }
            };
            if way.not_by_creator {
                transition = transition.not_by_creator();
            }
            if way.not_by_last {
                transition = transition.not_by_last();
            }
            if way.needs_comment {
                transition = transition.needs_comment();
            }
            if let Some(above) = way.above {
                transition = transition.when(&format!("total gt {above}"));
            }
            if way.keeps_comment {
                transition = transition.sets("verdict", Assigned::Comment);
            }
            definition = definition.transition(transition);
        }
        definition
    }
}

/// A record as it should be.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) plan: Plan,
    pub(crate) state: usize,
    pub(crate) steps: i64,
    pub(crate) version: i64,
    pub(crate) total: i64,
    pub(crate) verdict: Option<String>,
    creator: usize,
    last: Option<usize>,
    /// How many hours have passed.
    hour: u32,
    pub(crate) is_escalated: bool,
    overdue_at: Option<u32>,
    automatic_at: Option<u32>,
    approvals: Vec<Approval>,
    /// Who stands in for whom, until which hour.
    stand_ins: Vec<(usize, usize, u32)>,
}

/// Somebody approves a way, maybe for another, as one of these groups, of a version.
#[derive(Clone, Debug)]
struct Approval {
    way: usize,
    people: Vec<usize>,
    groups: Vec<usize>,
    version: i64,
}

impl Model {
    pub(crate) fn new(plan: Plan, creator: usize, total: i64) -> Self {
        Self {
            plan,
            state: 0,
            steps: 0,
            version: 1,
            total,
            verdict: None,
            creator,
            last: None,
            hour: 0,
            is_escalated: false,
            overdue_at: None,
            automatic_at: None,
            approvals: Vec::new(),
            stand_ins: Vec::new(),
        }
    }

    /// The code with which somebody is refused.
    pub(crate) fn refusal(&self, person: usize, number: usize) -> Option<&'static str> {
        self.part(person, number).err()
    }

    /// For whom somebody takes a way, or the code with which that is refused.
    fn part(&self, person: usize, number: usize) -> Result<Option<usize>, &'static str> {
        let mut part = self.part_as(person, None, number).map(|()| None);
        if part.is_err() {
            let other = self.stand_ins.iter().find(|it| it.1 == person && self.hour < it.2);
            if let Some((other, ..)) = other
                && self.part_as(person, Some(*other), number).is_ok()
            {
                part = Ok(Some(*other));
            }
        }
        let fits = self.plan.ways[number].above.is_none_or(|above| self.total > above);
        if fits { part } else { part.and(Err("workflows.condition")) }
    }

    fn part_as(
        &self,
        person: usize,
        other: Option<usize>,
        number: usize,
    ) -> Result<(), &'static str> {
        let way = &self.plan.ways[number];
        let speaker = other.unwrap_or(person);
        let is_one = |who: usize| who == person || Some(who) == other;
        let is_among = match (way.groups, way.permission) {
            (Some(_), _) => !PEOPLE[speaker].is_empty(),
            (None, Some(permission)) => PEOPLE[speaker].contains(&permission),
            (None, None) => speaker == self.creator,
        };
        let given = self.given(number);
        match () {
            () if way.from != self.state => Err("workflows.other_state"),
            () if !is_among && !self.is_later(speaker) => Err("workflows.not_allowed"),
            () if way.not_by_creator && is_one(self.creator) => Err("workflows.four_eyes"),
            () if way.not_by_last && self.last.is_some_and(is_one) => Err("workflows.four_eyes"),
            () if given.iter().any(|it| it.people.iter().any(|who| is_one(*who))) => {
                Err("workflows.approved_already")
            }
            () if way.groups.is_some() && self.groups_of(speaker, number).is_empty() => {
                Err("workflows.other_group")
            }
            () => Ok(()),
        }
    }

    /// Whether somebody may act too, since the record is overdue.
    fn is_later(&self, person: usize) -> bool {
        let later = self.plan.times[self.state].later.filter(|_| self.is_escalated);
        later.is_some_and(|later| PEOPLE[person].contains(&later))
    }

    fn given(&self, way: usize) -> Vec<&Approval> {
        let all = self.approvals.iter();
        all.filter(|it| it.way == way && it.version == self.version).collect()
    }

    /// The groups of which people are missing.
    fn open(&self, number: usize) -> Vec<usize> {
        let given: Vec<&[usize]> = self.given(number).iter().map(|it| &*it.groups).collect();
        let is_open = |group: &usize| {
            let one = [*group];
            let mut more = given.clone();
            more.push(&one);
            filled(&more) > filled(&given)
        };
        let open = (0..2).filter(is_open);
        let is_sequence = self.plan.ways[number].groups == Some(true);
        open.take(if is_sequence { 1 } else { 2 }).collect()
    }

    /// The groups that somebody counts for.
    fn groups_of(&self, person: usize, number: usize) -> Vec<usize> {
        let open = self.open(number);
        let is_of = |group: &usize| PEOPLE[person].contains(group);
        match () {
            () if self.is_later(person) => open,
            () if !open.iter().any(is_of) => Vec::new(),
            () if self.plan.ways[number].groups == Some(true) => open,
            () => (0..2).filter(is_of).collect(),
        }
    }

    /// Has somebody stand in for another; nobody does for two at a time here.
    pub(crate) fn delegate(&mut self, from: usize, to: usize, hours: u32) -> bool {
        let is_free = !self.stand_ins.iter().any(|it| it.1 == to && self.hour < it.2);
        if is_free && from != to {
            self.stand_ins.push((from, to, self.hour + hours));
        }
        is_free && from != to
    }

    /// What somebody can do now, where the record awaits the person.
    pub(crate) fn task(&self, person: usize) -> Option<Vec<usize>> {
        let refusals = (0..self.plan.ways.len()).map(|way| (way, self.refusal(person, way)));
        let refusals: Vec<_> = refusals.collect();
        let awaits = refusals.iter().any(|it| matches!(it.1, None | Some("workflows.condition")));
        let possible = refusals.iter().filter(|it| it.1.is_none()).map(|it| it.0);
        (awaits && self.state != 0).then(|| possible.collect())
    }

    /// Takes a transition; answers with how many people are missing, or with the refusal.
    pub(crate) fn take(
        &mut self,
        person: usize,
        number: usize,
        comment: Option<&str>,
    ) -> Result<u32, &'static str> {
        let way = self.plan.ways[number].clone();
        let other = self.part(person, number)?;
        if way.needs_comment && comment.is_none() {
            return Err("workflows.comment_missing");
        }
        let is_several = way.groups.is_some() || (way.permission.is_some() && way.approvals > 1);
        if is_several {
            let groups = match way.groups {
                Some(_) => self.groups_of(other.unwrap_or(person), number),
                None => Vec::new(),
            };
            let people = [Some(person), other].into_iter().flatten().collect();
            self.approvals.push(Approval { way: number, people, groups, version: self.version });
            let given = self.given(number);
            let missing = match way.groups {
                Some(_) => 2 - filled(&given.iter().map(|it| &*it.groups).collect::<Vec<_>>()),
                None => way.approvals.saturating_sub(u32::try_from(given.len()).unwrap()),
            };
            if missing > 0 {
                return Ok(missing);
            }
        }
        self.step(&way, Some(person), comment);
        Ok(0)
    }

    fn step(&mut self, way: &Way, person: Option<usize>, comment: Option<&str>) {
        let comment = comment.map(str::to_owned);
        if way.keeps_comment && self.verdict != comment {
            self.verdict = comment;
            self.version += 1;
        }
        self.state = way.to;
        self.steps += 1;
        self.last = person;
        self.approvals.clear();
        let times = &self.plan.times[self.state];
        self.is_escalated = false;
        self.overdue_at = times.due.map(|due| self.hour + due);
        self.automatic_at = times.automatic.map(|after| self.hour + after);
    }

    /// Lets time pass, at whose end what is due is done.
    pub(crate) fn wait(&mut self, hours: u32) {
        self.hour += hours;
        let overdue_at = self.overdue_at.take_if(|at| *at <= self.hour);
        let automatic_at = self.automatic_at.take_if(|at| *at <= self.hour);
        // What is due first comes first; a step makes the deadline void.
        self.is_escalated |= overdue_at.is_some();
        if automatic_at.is_some() {
            let way = self.plan.ways[self.state].clone();
            if way.above.is_none_or(|above| self.total > above) {
                self.step(&way, None, None);
            } else {
                self.automatic_at = Some(self.hour + 1);
            }
        }
    }

    /// Changes the total; answers with whether that is possible.
    pub(crate) fn change(&mut self, total: i64) -> bool {
        if total == self.total {
            return true;
        }
        if self.plan.states[self.state] == Locks::Everything {
            return false;
        }
        self.total = total;
        self.version += 1;
        true
    }
}

/// How many of the two groups have somebody of their own.
fn filled(given: &[&[usize]]) -> u32 {
    let pairs = given.iter().enumerate().flat_map(|(at, one)| {
        given.iter().enumerate().filter(move |(other, _)| *other != at).map(move |it| (one, it.1))
    });
    let has_both = pairs.into_iter().any(|(one, other)| one.contains(&0) && other.contains(&1));
    if has_both { 2 } else { u32::from(given.iter().any(|one| !one.is_empty())) }
}
