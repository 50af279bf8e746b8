//! How often somebody may be wrong.
//!
//! Each attempt is counted before it is judged, and taken back when it was right, so that a thousand
//! at once are counted as a thousand. What is counted is a level that leaks: it rises by one with
//! each attempt and falls steadily, and at its limit the next attempt has to wait.
//!
//! | Counted by | Limit | Falls by one each | Against |
//! | --- | --- | --- | --- |
//! | the account, from browsers that it isn't known in | 10 | 6 minutes | guessing one password |
//! | the account, from one browser that it is known in | 10 | 6 minutes | the same, by who has the machine |
//! | the address, from browsers that the account isn't known in | 60 | 15 seconds | one machine, many accounts |
//! | the domain of the mail address, likewise | 300 | 1 second | many machines, the accounts of one organisation |
//!
//! **Others don't lock out who is known.** Whoever has signed in with a browser before has a cookie in it
//! ([`device`](crate::device)) and is counted apart from all strangers. From another browser a passkey and an
//! account at another issuer remain, of which nothing is counted, and a link by mail, which is counted apart.
//! What that doesn't promise stands in the module's README.
//!
//! **Who isn't known is counted like who is**, by the address that was typed: the limits tell nobody
//! which accounts there are. So an organisation is told by the domain of the address, not by its id.
//!
//! **The memory is fixed.** Levels are kept in a sketch: four rows of cells, of which a key has one in
//! each, chosen by a hash that changes with each start; its level is the least of the four. Keys that
//! share all of their cells would be counted together, and nobody can choose such keys. A flood can push
//! nothing out. Each node counts for itself, and a restart forgets.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// Rows of a sketch.
const ROWS: usize = 4;

/// Cells of a row: eight bytes each, so a sketch has two mebibytes.
const CELLS: usize = 1 << 16;

/// What attempts are counted by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// An account as it was typed, from a browser that it isn't known in.
    Account(String),
    /// A browser that an account is known in.
    Device(String),
    /// Where requests come from.
    Address(IpAddr),
    /// What stands behind the `@`.
    Domain(String),
}

impl Key {
    fn limit(&self) -> Limit {
        match self {
            Self::Account(_) | Self::Device(_) => Limit { most: 10.0, seconds_each: 360.0 },
            Self::Address(_) => Limit { most: 60.0, seconds_each: 15.0 },
            Self::Domain(_) => Limit { most: 300.0, seconds_each: 1.0 },
        }
    }

    /// The key under which an address is counted: whoever has one of IPv6 has the whole network.
    pub(crate) fn address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(v6) => {
                let network = v6.to_bits() & !((1 << 64) - 1);
                Self::Address(IpAddr::V6(network.into()))
            }
            v4 @ IpAddr::V4(_) => Self::Address(v4),
        }
    }
}

#[derive(Clone, Copy)]
struct Limit {
    most: f64,
    seconds_each: f64,
}

/// Counts attempts.
pub(crate) struct Throttle {
    accounts: Sketch,
    addresses: Sketch,
    domains: Sketch,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { accounts: Sketch::new(), addresses: Sketch::new(), domains: Sketch::new() }
    }
}

impl Throttle {
    /// Counts an attempt, unless one of the limits is reached: then says how long to wait, and counts
    /// nothing.
    pub(crate) fn take(&self, keys: &[Key], now_us: i64) -> Result<(), Duration> {
        for (index, key) in keys.iter().enumerate() {
            if let Err(wait) = self.sketch(key).take(key, key.limit(), now_us) {
                self.give_back(&keys[..index], now_us);
                return Err(wait);
            }
        }
        Ok(())
    }

    /// Takes an attempt back that was right.
    pub(crate) fn give_back(&self, keys: &[Key], now_us: i64) {
        for key in keys {
            self.sketch(key).give_back(key, key.limit(), now_us);
        }
    }

    fn sketch(&self, key: &Key) -> &Sketch {
        match key {
            Key::Account(_) | Key::Device(_) => &self.accounts,
            Key::Address(_) => &self.addresses,
            Key::Domain(_) => &self.domains,
        }
    }
}

/// Levels by key, in a fixed room.
struct Sketch {
    hashers: [RandomState; ROWS],
    cells: Mutex<Vec<Cell>>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    level: f32,
    /// When it had this level, in tenths of a second since the first of 1970, cut to 32 bits.
    at: u32,
}

impl Sketch {
    fn new() -> Self {
        let hashers = std::array::from_fn(|_| RandomState::new());
        Self { hashers, cells: Mutex::new(vec![Cell::default(); ROWS * CELLS]) }
    }

    fn take(&self, key: &Key, limit: Limit, now_us: i64) -> Result<(), Duration> {
        let (places, now) = (self.places(key), tenths(now_us));
        let mut cells = self.cells();
        let levels = places.map(|place| level_of(cells[place], limit, now));
        let level = levels.iter().copied().fold(f64::INFINITY, f64::min);
        if level + 1.0 > limit.most {
            let seconds = (level + 1.0 - limit.most) * limit.seconds_each;
            return Err(Duration::from_secs_f64(seconds.max(1.0)));
        }
        for (place, known) in places.into_iter().zip(levels) {
            // Cells that others have filled further already are left as they are.
            cells[place] = cell(known.max(level + 1.0), now);
        }
        Ok(())
    }

    fn give_back(&self, key: &Key, limit: Limit, now_us: i64) {
        let (places, now) = (self.places(key), tenths(now_us));
        let mut cells = self.cells();
        let levels = places.map(|place| level_of(cells[place], limit, now));
        let level = levels.iter().copied().fold(f64::INFINITY, f64::min);
        for (place, known) in places.into_iter().zip(levels) {
            // What stands higher was filled by others, whose count this is not.
            if known < level + 0.5 {
                cells[place] = cell((known - 1.0).max(0.0), now);
            }
        }
    }

    fn places(&self, key: &Key) -> [usize; ROWS] {
        std::array::from_fn(|row| {
            let hash = self.hashers[row].hash_one(key);
            row * CELLS + usize::try_from(hash % CELLS as u64).unwrap_or(0)
        })
    }

    fn cells(&self) -> MutexGuard<'_, Vec<Cell>> {
        self.cells.lock()
    }
}

fn level_of(cell: Cell, limit: Limit, now: u32) -> f64 {
    let passed = now.wrapping_sub(cell.at);
    // Of two at once, who looked at the clock first may be counted last; a clock may be put back, too.
    let passed = if passed > u32::MAX / 2 { 0 } else { passed };
    let seconds = f64::from(passed) / 10.0;
    (f64::from(cell.level) - seconds / limit.seconds_each).max(0.0)
}

#[expect(clippy::cast_possible_truncation, reason = "a level is a few hundred at most")]
fn cell(level: f64, at: u32) -> Cell {
    Cell { level: level as f32, at }
}

/// A span of more than six years would be taken for none; levels have leaked away long before.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it wraps on purpose")]
fn tenths(now_us: i64) -> u32 {
    (now_us / 100_000) as u32
}

#[cfg(test)]
mod tests {
    use svc_testing::Dice;

    use super::*;

    const MINUTE: i64 = 60_000_000;

    fn account(name: &str) -> Key {
        Key::Account(name.to_owned())
    }

    #[test]
    fn at_the_limit_the_next_attempt_waits_until_the_level_has_fallen() {
        let throttle = Throttle::default();
        let keys = [account("ada@example.com")];
        let now = 1_000 * MINUTE;
        for _ in 0..10 {
            assert_eq!(throttle.take(&keys, now), Ok(()));
        }
        let wait = throttle.take(&keys, now).unwrap_err();
        assert!(wait > Duration::from_secs(350) && wait <= Duration::from_secs(361), "{wait:?}");
        // A refused attempt doesn't make it longer.
        assert!(throttle.take(&keys, now).unwrap_err() <= wait);
        assert!(throttle.take(&keys, now + 5 * MINUTE).is_err());
        assert!(throttle.take(&keys, now + 7 * MINUTE).is_ok());
        assert!(throttle.take(&keys, now + 7 * MINUTE).is_err());
        assert!(throttle.take(&[account("grace@example.com")], now).is_ok());
    }

    #[test]
    fn who_was_right_is_not_counted() {
        let throttle = Throttle::default();
        let keys = [account("ada@example.com"), Key::Domain("example.com".to_owned())];
        for _ in 0..1_000 {
            throttle.take(&keys, MINUTE).unwrap();
            throttle.give_back(&keys, MINUTE);
        }
    }

    #[test]
    fn what_one_limit_refuses_the_others_don_t_count() {
        let throttle = Throttle::default();
        let address = Key::address("192.0.2.1".parse().unwrap());
        for _ in 0..10 {
            throttle.take(&[address.clone(), account("ada")], MINUTE).unwrap();
        }
        for _ in 0..1_000 {
            throttle.take(&[address.clone(), account("ada")], MINUTE).unwrap_err();
        }
        throttle.take(&[address, account("grace")], MINUTE).unwrap();
    }

    #[test]
    fn a_swarm_at_one_domain_waits_and_a_known_browser_does_not() {
        let throttle = Throttle::default();
        let strange = |number: u32| {
            let (name, address) =
                (format!("{number}@example.com"), IpAddr::from(number.to_be_bytes()));
            [account(&name), Key::Domain("example.com".to_owned()), Key::address(address)]
        };
        for number in 0..300 {
            assert_eq!(throttle.take(&strange(number), MINUTE), Ok(()), "{number}");
        }
        assert!(throttle.take(&strange(300), MINUTE).is_err());
        let known = [Key::Device("a browser of ada".to_owned())];
        assert_eq!(throttle.take(&known, MINUTE), Ok(()));
        assert!(throttle.take(&strange(301), MINUTE + 1_500_000).is_ok());
        assert!(throttle.take(&strange(302), MINUTE + 1_500_000).is_err());
    }

    #[test]
    fn who_looked_at_the_clock_before_another_is_counted_with_it() {
        let now = 1_000 * MINUTE;
        // By the smallest span that the sketch tells apart, a second, an hour, a day.
        for earlier_us in [1, 1_000_000, 60 * MINUTE, 24 * 60 * MINUTE] {
            let throttle = Throttle::default();
            let keys = [account("ada@example.com")];
            for _ in 0..10 {
                throttle.take(&keys, now).unwrap();
            }
            for _ in 0..3 {
                assert!(throttle.take(&keys, now - earlier_us).is_err(), "{earlier_us}");
            }
            assert!(throttle.take(&keys, now).is_err(), "{earlier_us}: nothing was forgotten");
            // What is taken back is one attempt, and not all of them.
            throttle.give_back(&keys, now - earlier_us);
            assert_eq!(throttle.take(&keys, now - earlier_us), Ok(()), "{earlier_us}");
            assert!(throttle.take(&keys, now - earlier_us).is_err(), "{earlier_us}");
        }
    }

    #[test]
    fn where_the_count_of_tenths_begins_anew_nothing_is_forgotten() {
        let throttle = Throttle::default();
        let keys = [account("ada@example.com")];
        let turn_us = 100_000 << 32;
        for _ in 0..10 {
            throttle.take(&keys, turn_us - 1).unwrap();
        }
        assert!(throttle.take(&keys, turn_us).is_err());
        assert!(throttle.take(&keys, turn_us + 5 * MINUTE).is_err());
        assert_eq!(throttle.take(&keys, turn_us + 7 * MINUTE), Ok(()));
    }

    #[test]
    fn levels_are_those_of_a_model_that_keeps_all_keys() {
        let throttle = Throttle::default();
        let keys = [
            account("ada@example.com"),
            Key::Domain("example.com".to_owned()),
            Key::address("192.0.2.1".parse().unwrap()),
        ];
        let mut levels = [0.0_f64; 3];
        let mut now_us = 1_000 * MINUTE;
        let mut dice = Dice::new(42);
        let mut refused = [0; 3];
        for step in 0..30_000 {
            // Mostly some tenths of a second, and now and then some hours.
            let tenths = if dice.below(500) == 0 { dice.below(100_000) } else { dice.below(6) };
            let tenths = u32::try_from(tenths).unwrap();
            now_us += i64::from(tenths) * 100_000;
            for (level, key) in levels.iter_mut().zip(&keys) {
                *level = (*level - f64::from(tenths) / 10.0 / key.limit().seconds_each).max(0.0);
            }
            let place = dice.below(3);
            let key = std::slice::from_ref(&keys[place]);
            if dice.below(20) == 0 {
                throttle.give_back(key, now_us);
                levels[place] = (levels[place] - 1.0).max(0.0);
                continue;
            }
            let over = levels[place] + 1.0 - keys[place].limit().most;
            match throttle.take(key, now_us) {
                // Cells have 24 bits; what is that close may be either.
                Ok(()) => {
                    assert!(over < 0.01, "{step}: {key:?} over by {over}");
                    levels[place] += 1.0;
                }
                Err(wait) => {
                    assert!(over > -0.01, "{step}: {key:?} under by {over}");
                    let expected = (over * keys[place].limit().seconds_each).max(1.0);
                    assert!(
                        (wait.as_secs_f64() - expected).abs() < 4.0,
                        "{step}: {wait:?} {expected}"
                    );
                    refused[place] += 1;
                }
            }
        }
        assert!(refused[0] > 1_000 && refused[2] > 1_000, "the walk is worth nothing: {refused:?}");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let key = |text: &str| Key::address(text.parse().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
    }

    #[test]
    fn a_flood_of_names_frees_nobody_and_locks_nobody_else() {
        let throttle = Throttle::default();
        let ada = [account("ada@example.com")];
        for _ in 0..10 {
            throttle.take(&ada, MINUTE).unwrap();
        }
        for number in 0..100_000 {
            throttle.take(&[account(&format!("{number}@example.com"))], MINUTE).unwrap();
        }
        assert!(throttle.take(&ada, MINUTE).is_err());
        assert!(throttle.take(&[account("grace@example.com")], MINUTE).is_ok());
        let cells = throttle.accounts.cells().capacity();
        assert_eq!(cells, ROWS * CELLS);
    }
}
