//! How the places of a node are shared among the origins that requests go to (scheme, host and
//! port), and among organisations.
//!
//! | Origin | Requests in flight to all its endpoints | Deliveries in memory |
//! | --- | --- | --- |
//! | answers | three quarters of all | three quarters of all |
//! | never answered, takes long, or answers nothing for longer than it used to | an eighth of all | twice as many |
//! | its last request ran into the timeout, and no other was answered meanwhile | a sixty-fourth of all | twice as many |
//!
//! Besides, those that don't answer have a part together, however many they are: providers that go black one
//! after the other, or a thousand addresses of which nothing is known, leave the rest to those that
//! answer. What may not be in flight belongs in the database, but for as much again as may be: that is there
//! when a place is free.
//!
//! | Origins together | Requests in flight | Deliveries in memory | Of each organisation |
//! | --- | --- | --- | --- |
//! | all that don't answer | half of all | twice as many: an eighth of all | half of both |
//! | of these, whose last request ran into the timeout | a quarter of all | as many | half of both |
//!
//! The second line keeps room for those of which nothing is known yet: they may well answer. An endpoint of
//! which it isn't known where it is may be at an origin like that, and counts among them.
//!
//! An origin is told to be silent while its requests are still in flight: nobody waits for the first
//! timeout. What waited in memory for it goes back into the database a moment later, as far as it is more than its
//! part ([`Shares::is_too_much`]).
//!
//! An organisation has half of the requests in flight while another waits, and never more than three
//! quarters of what is in memory; those of its origins that don't answer have half of its half.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::health::Health;

/// How many deliveries are in memory for each request that may be in flight, in all.
pub(super) const IN_ALL: usize = 8;

/// The same for origins that don't answer.
const IN_ALL_OF_SILENT: usize = 2;

/// How long an origin may answer nothing at least until it counts as silent.
const SILENCE: Duration = Duration::from_millis(250);

/// How many times longer than its last answer took it may answer nothing.
const PATIENCE: u32 = 4;

/// An origin that takes longer for an answer counts as silent: it holds its places as long.
const LONG: Duration = Duration::from_secs(2);

/// How long an origin is silent until what waits in memory for it is too much.
const GIVEN_UP: Duration = Duration::from_secs(1);

/// How often it is heard which origins have fallen silent.
const EARSHOT: Duration = Duration::from_millis(10);

/// How many origins are remembered that have nothing in flight.
const REMEMBERED: usize = 10_000;

/// Where an endpoint's requests go, and whose they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) origin: Arc<str>,
    pub(crate) organisation: Uuid,
}

/// The origin that all endpoints share of which it isn't known where they are.
const UNKNOWN: &str = "?";

impl Home {
    /// That of an organisation's endpoint of which it isn't known where it is.
    pub(crate) fn unknown(organisation: Uuid) -> Self {
        Self { origin: UNKNOWN.into(), organisation }
    }

    pub(crate) fn is_known(&self) -> bool {
        &*self.origin != UNKNOWN
    }
}

/// Deliveries that were taken on.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) sending: usize,
    pub(super) waiting: usize,
}

impl Counts {
    pub(super) fn all(self) -> usize {
        self.sending + self.waiting
    }

    /// One that waited is sent.
    pub(super) fn begin(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
        self.sending += 1;
    }

    /// One is through, or given back.
    pub(super) fn end(&mut self, is_sending: bool) {
        let count = if is_sending { &mut self.sending } else { &mut self.waiting };
        *count = count.saturating_sub(1);
    }

    fn add(&mut self, others: Self) {
        self.sending += others.sending;
        self.waiting += others.waiting;
    }

    fn remove(&mut self, others: Self) {
        self.sending = self.sending.saturating_sub(others.sending);
        self.waiting = self.waiting.saturating_sub(others.waiting);
    }
}

/// What was taken on, in all and by organisation.
#[derive(Default)]
struct Taken {
    all: Counts,
    organisations: HashMap<Uuid, Counts>,
}

impl Taken {
    fn of(&self, organisation: Uuid) -> Counts {
        self.organisations.get(&organisation).copied().unwrap_or_default()
    }

    fn change(&mut self, organisation: Uuid, change: impl Fn(&mut Counts)) {
        change(&mut self.all);
        let counts = self.organisations.entry(organisation).or_default();
        change(counts);
        if counts.all() == 0 {
            self.organisations.remove(&organisation);
        }
    }
}

/// What the node has taken on for an origin, and how it answers.
#[derive(Default)]
struct Origin {
    taken: Taken,
    /// How long its last answer took; none when there was none yet.
    usual: Option<Duration>,
    /// Since when nothing was answered: the last answer, or the first request after a pause.
    quiet_since: Option<Instant>,
    /// When it answered last.
    answered: Option<Instant>,
    /// Whether the last request ran into the timeout, and nothing was answered while it waited.
    is_hanging: bool,
    /// How it answers, as it was heard last: what it has taken is counted so.
    voice: Voice,
}

/// How an origin answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Voice {
    Answers,
    #[default]
    Silent,
    Hanging,
}

impl Origin {
    fn voice(&self, now: Instant) -> Voice {
        if self.is_hanging {
            return Voice::Hanging;
        }
        let Some(usual) = self.usual.filter(|usual| *usual <= LONG) else { return Voice::Silent };
        let most = SILENCE.max(usual * PATIENCE);
        let is_silent = self.quiet_for(now).is_some_and(|quiet| quiet > most);
        if is_silent { Voice::Silent } else { Voice::Answers }
    }

    /// How long what is in flight has had no answer.
    fn quiet_for(&self, now: Instant) -> Option<Duration> {
        self.quiet_since.filter(|_| self.taken.all.sending > 0).map(|since| now - since)
    }
}

/// What is about to be taken on.
#[derive(Default)]
pub(super) struct PlannedShares {
    origins: HashMap<Arc<str>, usize>,
    all: Taken,
    silent: Taken,
    hanging: Taken,
}

/// What is taken on, by origin and by organisation.
pub(super) struct Shares {
    limit: usize,
    limit_per_endpoint: usize,
    origins: HashMap<Arc<str>, Origin>,
    /// Those with something in flight: nothing else falls silent.
    asked: HashSet<Arc<str>>,
    /// When it was heard last which of these have.
    heard: Option<Instant>,
    taken: Taken,
    /// Of origins that don't answer.
    silent: Taken,
    /// Of those whose last request ran into the timeout.
    hanging: Taken,
}

impl Shares {
    pub(super) fn new(limit: usize, limit_per_endpoint: usize) -> Self {
        Self {
            limit,
            limit_per_endpoint,
            origins: HashMap::new(),
            asked: HashSet::new(),
            heard: None,
            taken: Taken::default(),
            silent: Taken::default(),
            hanging: Taken::default(),
        }
    }

    /// A part of all requests that may be in flight, which lets an endpoint have its own.
    fn one_in(&self, parts: usize) -> usize {
        (self.limit / parts).max(self.limit_per_endpoint)
    }

    /// Requests that may be in flight to an origin.
    fn places(&self, voice: Voice) -> usize {
        match voice {
            Voice::Answers => (self.limit * 3 / 4).max(self.limit_per_endpoint),
            Voice::Silent => self.one_in(8),
            Voice::Hanging => (self.limit / 64).max(1),
        }
    }

    /// Deliveries of an origin that may be in memory.
    fn memory(&self, voice: Voice) -> usize {
        let ahead = if voice == Voice::Answers { IN_ALL } else { IN_ALL_OF_SILENT };
        self.places(voice) * ahead
    }

    /// Requests that may be in flight to all origins that don't answer, and to those of one organisation:
    /// twice what one origin may have, so that it never keeps the others from theirs.
    fn places_of_silent(&self) -> (usize, usize) {
        let all = self.one_in(2);
        (all, (self.places(Voice::Silent) * 2).min(all))
    }

    /// The same of deliveries in memory.
    fn memory_of_silent(&self) -> (usize, usize) {
        let (all, each) = self.places_of_silent();
        (all * IN_ALL_OF_SILENT, each * IN_ALL_OF_SILENT)
    }

    /// Requests that may be in flight to all origins whose last ran into the timeout, and to those of one
    /// organisation.
    fn places_to_hang(&self) -> (usize, usize) {
        ((self.limit / 4).max(1), (self.limit / 8).max(1))
    }

    fn voice_of(&self, home: &Home) -> Voice {
        self.origins.get(&home.origin).map_or(Voice::Silent, |origin| origin.voice)
    }

    /// Hears which origins have fallen silent, unless it was heard just now.
    pub(super) fn listen(&mut self, now: Instant) {
        if self.heard.is_some_and(|heard| now - heard < EARSHOT) {
            return;
        }
        self.heard = Some(now);
        let has_changed = |name: &&Arc<str>| {
            self.origins.get(*name).is_some_and(|origin| origin.voice(now) != origin.voice)
        };
        let changed: Vec<Arc<str>> = self.asked.iter().filter(has_changed).cloned().collect();
        for name in &changed {
            self.hear(name, now);
        }
    }

    /// Counts what an origin has taken by how it answers now.
    fn hear(&mut self, name: &Arc<str>, now: Instant) {
        let Some(origin) = self.origins.get_mut(name) else { return };
        let after = origin.voice(now);
        let before = std::mem::replace(&mut origin.voice, after);
        if before == after {
            return;
        }
        for (organisation, counts) in &origin.taken.organisations {
            for part in parts(before, &mut self.silent, &mut self.hanging) {
                part.change(*organisation, |part| part.remove(*counts));
            }
            for part in parts(after, &mut self.silent, &mut self.hanging) {
                part.change(*organisation, |part| part.add(*counts));
            }
        }
    }

    fn change(&mut self, home: &Home, now: Instant, change: impl Fn(&mut Counts)) {
        self.taken.change(home.organisation, &change);
        let origin = self.origin(home);
        let was_asked = origin.taken.all.sending > 0;
        origin.taken.change(home.organisation, &change);
        let (voice, is_asked) = (origin.voice, origin.taken.all.sending > 0);
        let has_changed = origin.voice(now) != voice;
        for part in parts(voice, &mut self.silent, &mut self.hanging) {
            part.change(home.organisation, &change);
        }
        if is_asked && !was_asked {
            self.asked.insert(Arc::clone(&home.origin));
        } else if was_asked && !is_asked {
            self.asked.remove(&home.origin);
        }
        if has_changed {
            self.hear(&home.origin, now);
        }
    }

    /// Plans to take so many on.
    pub(super) fn plan(&self, home: &Home, count: usize, planned: &mut PlannedShares) {
        *planned.origins.entry(Arc::clone(&home.origin)).or_default() += count;
        let PlannedShares { all, silent, hanging, .. } = planned;
        let voice = self.voice_of(home);
        for part in std::iter::once(all).chain(parts(voice, silent, hanging)) {
            part.change(home.organisation, |counts| counts.waiting += count);
        }
    }

    /// How many more deliveries may be taken on for an endpoint, as far as others have to do with it,
    /// besides what is planned.
    pub(super) fn room(&self, home: &Home, planned: &PlannedShares) -> usize {
        self.left(home, planned).0
    }

    /// How many more may be taken on at an origin for an organisation, and how many there may be: of the part that has
    /// least left.
    pub(super) fn part(&self, home: &Home) -> (usize, usize) {
        self.left(home, &PlannedShares::default())
    }

    /// How many more deliveries of an organisation may be in memory.
    pub(super) fn left_of(&self, organisation: Uuid) -> usize {
        self.memory_of_one().saturating_sub(self.taken.of(organisation).all())
    }

    /// Deliveries of an organisation that may be in memory.
    fn memory_of_one(&self) -> usize {
        (self.limit * IN_ALL * 3 / 4).max(self.limit_per_endpoint)
    }

    fn left(&self, home: &Home, planned: &PlannedShares) -> (usize, usize) {
        let left = |most: usize, taken: usize| (most.saturating_sub(taken), most);
        let (voice, own) = (self.voice_of(home), home.organisation);
        let of_origin = self.origins.get(&home.origin).map_or(0, |origin| origin.taken.all.all())
            + planned.origins.get(&home.origin).copied().unwrap_or_default();
        let of_organisation = self.taken.of(own).all() + planned.all.of(own).all();
        let mut least = left(self.memory_of_one(), of_organisation);
        // Those of which it isn't known where they are may all be elsewhere.
        if home.is_known() {
            least = least.min(left(self.memory(voice), of_origin));
        }
        let mut bound = |(all, each): (usize, usize), taken: &Taken, planned: &Taken| {
            least = least.min(left(all, taken.all.all() + planned.all.all()));
            least = least.min(left(each, taken.of(own).all() + planned.of(own).all()));
        };
        if voice != Voice::Answers {
            bound(self.memory_of_silent(), &self.silent, &planned.silent);
        }
        if voice == Voice::Hanging {
            bound(self.places_to_hang(), &self.hanging, &planned.hanging);
        }
        least
    }

    /// Whether more waits in memory for an origin that has answered nothing for a while than it would be given now.
    pub(super) fn is_too_much(&self, home: &Home, now: Instant) -> bool {
        let Some(origin) = self.origins.get(&home.origin) else { return false };
        let is_quiet = origin.quiet_since.is_some_and(|since| now - since > GIVEN_UP);
        let (all, each) = self.memory_of_silent();
        is_quiet
            && origin.voice != Voice::Answers
            && (origin.taken.all.all() > self.memory(origin.voice)
                || self.silent.all.all() > all
                || self.silent.of(home.organisation).all() > each)
    }

    /// Whether an origin answers, as far as it was asked.
    pub(super) fn answers(&self, home: &Home) -> bool {
        self.origins.get(&home.origin).is_none_or(|origin| origin.voice == Voice::Answers)
    }

    /// Whether a request may begin, as far as others have to do with it.
    pub(super) fn may_send(&self, home: &Home) -> bool {
        let (voice, own) = (self.voice_of(home), home.organisation);
        let is_within = |taken: &Taken, (all, each): (usize, usize)| {
            taken.all.sending < all && taken.of(own).sending < each
        };
        let half = self.one_in(2);
        let sending = self.origins.get(&home.origin).map_or(0, |one| one.taken.all.sending);
        let taken = self.taken.of(own);
        sending < self.places(voice)
            && (voice == Voice::Answers || is_within(&self.silent, self.places_of_silent()))
            && (voice != Voice::Hanging || is_within(&self.hanging, self.places_to_hang()))
            && (taken.sending < half || self.taken.all.waiting <= taken.waiting)
    }

    /// Whether the last answer of an origin took no longer than this.
    pub(super) fn is_quick(&self, home: &Home, span: Duration) -> bool {
        let usual = self.origins.get(&home.origin).and_then(|origin| origin.usual);
        usual.is_some_and(|usual| usual <= span)
    }

    /// Whether an origin's last request ran into the timeout, or those in flight have had no answer for a time.
    pub(super) fn is_quiet(&self, home: &Home, span: Duration, now: Instant) -> bool {
        self.origins.get(&home.origin).is_some_and(|origin| {
            origin.is_hanging || origin.quiet_for(now).is_some_and(|quiet| quiet >= span)
        })
    }

    pub(super) fn enter(&mut self, home: &Home, now: Instant) {
        self.change(home, now, |counts| counts.waiting += 1);
    }

    pub(super) fn send(&mut self, home: &Home, now: Instant) {
        let origin = self.origin(home);
        if origin.taken.all.sending == 0 {
            origin.quiet_since = Some(now);
        }
        self.change(home, now, Counts::begin);
    }

    pub(super) fn leave(&mut self, home: &Home, is_sending: bool, now: Instant) {
        self.change(home, now, |counts| counts.end(is_sending));
    }

    /// Notes how a request to an origin went.
    pub(super) fn note(&mut self, home: &Home, health: Health, took: Duration, now: Instant) {
        let origin = self.origin(home);
        if health == Health::Hanging {
            // One path may hang where others are answered.
            origin.is_hanging = origin.answered.is_none_or(|answered| now - answered >= took);
        } else {
            origin.is_hanging = false;
            origin.usual = Some(took);
            origin.quiet_since = Some(now);
            origin.answered = Some(now);
        }
        self.hear(&home.origin, now);
    }

    fn origin(&mut self, home: &Home) -> &mut Origin {
        if self.origins.len() >= REMEMBERED && !self.origins.contains_key(&home.origin) {
            self.origins.retain(|_, origin| origin.taken.all.all() > 0);
        }
        self.origins.entry(Arc::clone(&home.origin)).or_default()
    }
}

/// The parts among which what an origin has taken is counted.
fn parts<'a>(
    voice: Voice,
    silent: &'a mut Taken,
    hanging: &'a mut Taken,
) -> impl Iterator<Item = &'a mut Taken> {
    let silent = (voice != Voice::Answers).then_some(silent);
    let hanging = (voice == Voice::Hanging).then_some(hanging);
    silent.into_iter().chain(hanging)
}

#[cfg(test)]
mod tests;
