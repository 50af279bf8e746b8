//! How the places of a node are shared among the origins that requests go to (scheme, host and
//! port), and among organisations.
//!
//! | Origin | Requests in flight to all its endpoints | Deliveries in memory |
//! | --- | --- | --- |
//! | answers | three quarters of all | three quarters of all |
//! | never answered, or answers nothing for longer than it used to | an eighth of all | eight times as many |
//! | its last request ran into the timeout | a sixty-fourth of all | eight times as many |
//!
//! All origins that don't answer have half of the places together, so that providers that go black one
//! after the other leave the rest to those that answer. An origin is told to be silent while its
//! requests are still in flight: nobody waits for the first timeout.
//!
//! An organisation has half of the requests in flight while another waits, and never more than three
//! quarters of what is in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::health::Health;

/// How many deliveries are in memory for each request that may be in flight, in all.
pub(super) const IN_ALL: usize = 8;

/// How long an origin may answer nothing at least until it counts as silent.
const SILENCE: Duration = Duration::from_millis(250);

/// How many times longer than its last answer took it may answer nothing.
const PATIENCE: u32 = 4;

/// How many origins are remembered that have nothing in flight.
const REMEMBERED: usize = 10_000;

/// Where an endpoint's requests go, and whose they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) origin: Arc<str>,
    pub(crate) organisation: Uuid,
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
}

/// What the node has taken on for an origin, and how it answers.
#[derive(Clone, Copy, Default)]
struct Origin {
    counts: Counts,
    /// How long its last answer took; none when there was none yet.
    usual: Option<Duration>,
    /// Since when nothing was answered: the last answer, or the first request after a pause.
    quiet_since: Option<Instant>,
    /// Whether the last request ran into the timeout.
    is_hanging: bool,
}

/// How an origin answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Answers,
    Silent,
    Hanging,
}

impl Origin {
    fn voice(&self, now: Instant) -> Voice {
        if self.is_hanging {
            return Voice::Hanging;
        }
        let Some(usual) = self.usual else { return Voice::Silent };
        let quiet = self.quiet_since.filter(|_| self.counts.sending > 0);
        let is_silent = quiet.is_some_and(|since| now - since > SILENCE.max(usual * PATIENCE));
        if is_silent { Voice::Silent } else { Voice::Answers }
    }
}

/// What is about to be taken on, by origin and by organisation.
#[derive(Default)]
pub(super) struct PlannedShares {
    origins: HashMap<Arc<str>, usize>,
    organisations: HashMap<Uuid, usize>,
}

impl PlannedShares {
    pub(super) fn add(&mut self, home: &Home, count: usize) {
        *self.origins.entry(Arc::clone(&home.origin)).or_default() += count;
        *self.organisations.entry(home.organisation).or_default() += count;
    }
}

/// What is taken on, by origin and by organisation.
pub(super) struct Shares {
    limit: usize,
    limit_per_endpoint: usize,
    origins: HashMap<Arc<str>, Origin>,
    organisations: HashMap<Uuid, Counts>,
    total: Counts,
}

impl Shares {
    pub(super) fn new(limit: usize, limit_per_endpoint: usize) -> Self {
        Self {
            limit,
            limit_per_endpoint,
            origins: HashMap::new(),
            organisations: HashMap::new(),
            total: Counts::default(),
        }
    }

    /// Requests that may be in flight to an origin.
    fn places(&self, voice: Voice) -> usize {
        match voice {
            Voice::Answers => (self.limit * 3 / 4).max(self.limit_per_endpoint),
            Voice::Silent => (self.limit / 8).max(self.limit_per_endpoint),
            Voice::Hanging => (self.limit / 64).max(1),
        }
    }

    /// How many more deliveries may be taken on for an endpoint, as far as others have to do with it,
    /// besides what is planned.
    pub(super) fn room(&self, home: &Home, now: Instant, planned: &PlannedShares) -> usize {
        let (of_origin, of_organisation) = self.parts(home, now);
        let origin = planned.origins.get(&home.origin).copied().unwrap_or_default();
        let organisation =
            planned.organisations.get(&home.organisation).copied().unwrap_or_default();
        let of_origin = of_origin.0.saturating_sub(origin);
        of_origin.min(of_organisation.0.saturating_sub(organisation))
    }

    /// How many more may be taken on for all endpoints of an origin, and how many there may be: of the origin or of
    /// the organisation, whichever has less left.
    pub(super) fn part(&self, home: &Home, now: Instant) -> (usize, usize) {
        let (of_origin, of_organisation) = self.parts(home, now);
        of_origin.min(of_organisation)
    }

    /// What is left of the parts of an origin and of an organisation, with their sizes.
    fn parts(&self, home: &Home, now: Instant) -> ((usize, usize), (usize, usize)) {
        let origin = self.origins.get(&home.origin).copied().unwrap_or_default();
        let organisation = self.organisations.get(&home.organisation).copied().unwrap_or_default();
        let left = |most: usize, counts: Counts| (most.saturating_sub(counts.all()), most);
        let of_organisation = (self.limit * IN_ALL * 3 / 4).max(self.limit_per_endpoint);
        (
            left(self.places(origin.voice(now)) * IN_ALL, origin.counts),
            left(of_organisation, organisation),
        )
    }

    /// Whether an origin answers, as far as it was asked.
    pub(super) fn answers(&self, home: &Home, now: Instant) -> bool {
        self.origins.get(&home.origin).is_none_or(|origin| origin.voice(now) == Voice::Answers)
    }

    /// Whether a request may begin, as far as others have to do with it.
    pub(super) fn may_send(&self, home: &Home, now: Instant) -> bool {
        let origin = self.origins.get(&home.origin).copied().unwrap_or_default();
        let voice = origin.voice(now);
        if origin.counts.sending >= self.places(voice) {
            return false;
        }
        let half = (self.limit / 2).max(self.limit_per_endpoint);
        if voice != Voice::Answers && self.total.sending >= half {
            let silent = self.origins.values().filter(|one| one.voice(now) != Voice::Answers);
            if silent.map(|one| one.counts.sending).sum::<usize>() >= half {
                return false;
            }
        }
        let own = self.organisations.get(&home.organisation).copied().unwrap_or_default();
        own.sending < half || self.total.waiting <= own.waiting
    }

    /// Whether the last answer of an origin took no longer than this.
    pub(super) fn is_quick(&self, home: &Home, span: Duration) -> bool {
        let usual = self.origins.get(&home.origin).and_then(|origin| origin.usual);
        usual.is_some_and(|usual| usual <= span)
    }

    /// Whether an origin's last request ran into the timeout, or those in flight have had no answer for a time.
    pub(super) fn is_quiet(&self, home: &Home, span: Duration, now: Instant) -> bool {
        self.origins.get(&home.origin).is_some_and(|origin| {
            let quiet = origin.quiet_since.filter(|_| origin.counts.sending > 0);
            origin.is_hanging || quiet.is_some_and(|since| now - since >= span)
        })
    }

    pub(super) fn enter(&mut self, home: &Home) {
        self.total.waiting += 1;
        self.origin(home).counts.waiting += 1;
        self.organisations.entry(home.organisation).or_default().waiting += 1;
    }

    pub(super) fn send(&mut self, home: &Home, now: Instant) {
        self.total.begin();
        let origin = self.origin(home);
        if origin.counts.sending == 0 {
            origin.quiet_since = Some(now);
        }
        origin.counts.begin();
        self.organisations.entry(home.organisation).or_default().begin();
    }

    pub(super) fn leave(&mut self, home: &Home, is_sending: bool) {
        self.total.end(is_sending);
        self.origin(home).counts.end(is_sending);
        if let Some(counts) = self.organisations.get_mut(&home.organisation) {
            counts.end(is_sending);
            if counts.all() == 0 {
                self.organisations.remove(&home.organisation);
            }
        }
    }

    /// Notes how a request to an origin went.
    pub(super) fn note(&mut self, home: &Home, health: Health, took: Duration, now: Instant) {
        let origin = self.origin(home);
        origin.is_hanging = health == Health::Hanging;
        if !origin.is_hanging {
            origin.usual = Some(took);
            origin.quiet_since = Some(now);
        }
    }

    fn origin(&mut self, home: &Home) -> &mut Origin {
        if self.origins.len() >= REMEMBERED && !self.origins.contains_key(&home.origin) {
            self.origins.retain(|_, origin| origin.counts.all() > 0);
        }
        self.origins.entry(Arc::clone(&home.origin)).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(origin: &str, organisation: u128) -> Home {
        Home { origin: origin.into(), organisation: Uuid::from_u128(organisation) }
    }

    /// Takes on and begins as many requests as may be.
    fn fill(shares: &mut Shares, home: &Home, now: Instant) -> usize {
        let mut begun = 0;
        while shares.may_send(home, now) && shares.total.sending < shares.limit {
            shares.enter(home);
            shares.send(home, now);
            begun += 1;
        }
        begun
    }

    #[test]
    fn an_origin_that_doesn_t_answer_leaves_the_others_their_places() {
        let mut shares = Shares::new(256, 16);
        let now = Instant::now();
        let black = home("https://black", 1);
        assert_eq!(fill(&mut shares, &black, now), 32, "nothing is known of it");
        shares.note(&black, Health::Hanging, Duration::from_secs(10), now);
        for _ in 0..32 {
            shares.leave(&black, true);
        }
        assert_eq!(fill(&mut shares, &black, now), 4, "it ran into the timeout");
        assert_eq!(shares.room(&black, now, &PlannedShares::default()), 28);
        shares.note(&black, Health::Troubled, Duration::from_millis(20), now);
        assert_eq!(fill(&mut shares, &black, now), 188, "it answers again, with whatever");
        let now = now + Duration::from_millis(251);
        let well = home("https://well", 1);
        shares.note(&well, Health::Well(Duration::from_millis(5)), Duration::from_millis(5), now);
        assert!(!shares.may_send(&black, now), "and is silent again");
        assert_eq!(fill(&mut shares, &well, now), 64, "what is left");
    }

    #[test]
    fn origins_that_go_black_in_turn_have_half_together() {
        let mut shares = Shares::new(256, 16);
        let now = Instant::now();
        let begun: usize =
            (0..20).map(|n| fill(&mut shares, &home(&format!("https://{n}"), 1), now)).sum();
        assert_eq!(begun, 128);
        let well = home("https://well", 1);
        shares.note(&well, Health::Well(Duration::from_millis(5)), Duration::from_millis(5), now);
        assert_eq!(fill(&mut shares, &well, now), 128);
    }

    #[test]
    fn an_organisation_has_half_while_another_waits() {
        let mut shares = Shares::new(64, 4);
        let now = Instant::now();
        let answer = Duration::from_millis(5);
        let (big, small) = (home("https://big", 1), home("https://small", 2));
        for home in [&big, &small] {
            shares.note(home, Health::Well(answer), answer, now);
        }
        assert_eq!(fill(&mut shares, &big, now), 48, "three quarters, and nobody else waits");
        for _ in 0..48 {
            shares.leave(&big, true);
        }
        shares.enter(&small);
        assert_eq!(fill(&mut shares, &big, now), 32);
        assert!(shares.may_send(&small, now));
    }

    #[test]
    fn an_origin_is_quiet_while_what_is_in_flight_has_had_no_answer() {
        let (mut shares, span) = (Shares::new(8, 4), Duration::from_millis(25));
        let (one, began) = (home("https://one", 1), Instant::now());
        assert!(!shares.is_quiet(&one, span, began), "nothing was sent there yet");
        shares.enter(&one);
        shares.send(&one, began);
        assert!(!shares.is_quiet(&one, span, began + span - Duration::from_millis(1)));
        assert!(shares.is_quiet(&one, span, began + span));
        let answer = Duration::from_millis(40);
        shares.note(&one, Health::Well(answer), answer, began + answer);
        assert!(!shares.is_quiet(&one, span, began + span * 2), "it has answered since");
        assert!(shares.is_quiet(&one, span, began + answer + span));
        shares.leave(&one, true);
        assert!(!shares.is_quiet(&one, span, began + span * 9), "it was asked nothing");
        shares.note(&one, Health::Hanging, span, began + span * 9);
        assert!(shares.is_quiet(&one, span, began + span * 9), "the last request had no answer");
    }

    #[test]
    fn origins_are_forgotten_when_there_are_too_many() {
        let mut shares = Shares::new(8, 2);
        let busy = home("https://busy", 1);
        shares.enter(&busy);
        for number in 0..REMEMBERED * 2 {
            let home = home(&number.to_string(), 1);
            shares.enter(&home);
            shares.leave(&home, false);
        }
        assert!(shares.origins.len() <= REMEMBERED && shares.origins.contains_key(&busy.origin));
    }
}
