//! What a workflow does, once more and as simply as possible: what the property test compares with.

use std::collections::BTreeSet;

use svc_workflows::{Assigned, By, Definition, State, Term, Transition};

/// A transition from a state to a state, by their numbers.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of a definition")]
pub(crate) struct Way {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The permission of this number; none for whoever made the record.
    pub(crate) permission: Option<usize>,
    pub(crate) approvals: u32,
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
                .to(&format!("s{}", way.to))
                .by(who)
                .approvals(if way.permission.is_some() { way.approvals } else { 1 });
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
    /// Who approves which way, of which version.
    approvals: BTreeSet<(usize, usize, i64)>,
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
            approvals: BTreeSet::new(),
        }
    }

    /// The code with which somebody is refused.
    pub(crate) fn refusal(&self, person: usize, number: usize) -> Option<&'static str> {
        let way = &self.plan.ways[number];
        let is_among = match way.permission {
            Some(permission) => PEOPLE[person].contains(&permission),
            None => person == self.creator,
        };
        let later = self.plan.times[self.state].later.filter(|_| self.is_escalated);
        let is_among = is_among || later.is_some_and(|later| PEOPLE[person].contains(&later));
        let fits = way.above.is_none_or(|above| self.total > above);
        match () {
            () if way.from != self.state => Some("workflows.other_state"),
            () if !is_among => Some("workflows.not_allowed"),
            () if way.not_by_creator && person == self.creator => Some("workflows.four_eyes"),
            () if way.not_by_last && Some(person) == self.last => Some("workflows.four_eyes"),
            () if self.approvals.contains(&(number, person, self.version)) => {
                Some("workflows.approved_already")
            }
            () if !fits => Some("workflows.condition"),
            () => None,
        }
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
        if let Some(refusal) = self.refusal(person, number) {
            return Err(refusal);
        }
        if way.needs_comment && comment.is_none() {
            return Err("workflows.comment_missing");
        }
        if way.permission.is_some() && way.approvals > 1 {
            self.approvals.insert((number, person, self.version));
            let valid = |it: &&(usize, usize, i64)| it.0 == number && it.2 == self.version;
            let given = u32::try_from(self.approvals.iter().filter(valid).count()).unwrap();
            if given < way.approvals {
                return Ok(way.approvals - given);
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
