//! What a node remembers of what is stored.
//!
//! A cache hangs on a topic of the [`Wakes`](crate::Wakes): whoever changes what it was read from
//! calls the topic once that is committed, and the caches of all nodes forget.
//!
//! | What happens | What it means for a value that was changed |
//! | --- | --- |
//! | the change commits, the topic is called | gone on this node before the change is answered |
//! | other nodes hear of the call | gone there |
//! | a node doesn't hear of it | gone there after the lifetime of entries |
//! | a value was read before the change and is kept after it | not kept ([`Reading`]) |
//!
//! All is forgotten each time: changes are seldom beside reads, and nobody has to know which
//! entries a change concerns.

use crate::micros;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::{App, Clock, WakeCount};

/// Values that were read, at most so many, each for a limited time, until the topic is called.
/// The ones that were not used for longest make place for new ones.
///
/// Values are never read within a unit of work and kept: what it sees may not be committed.
pub struct Cache<K, V> {
    entries: Mutex<Entries<K, V>>,
    clock: Clock,
    calls: WakeCount,
}

/// The state of a cache before something was read for it. What was changed meanwhile is not kept.
#[derive(Clone, Copy, Debug)]
pub struct Reading(u64);

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache that forgets all when `topic` is called, on this node or another. A
    /// lifetime of zero keeps nothing.
    #[must_use]
    pub fn new(app: &App, topic: &'static str, capacity: usize, lifetime: Duration) -> Self {
        let calls = app.wakes().count(topic);
        let entries = Entries {
            known: HashMap::new(),
            by_use: BTreeMap::new(),
            turn: 0,
            capacity,
            lifetime,
            calls: calls.now(),
        };
        Self { entries: Mutex::new(entries), clock: app.clock().clone(), calls }
    }

    /// The value of a key, where it is known.
    pub fn get(&self, key: &K) -> Option<V> {
        let now_us = self.clock.now_us();
        self.current().get(key, now_us)
    }

    /// Begins to read a value that is not known; [`Cache::keep`] ends it.
    pub fn begin(&self) -> Reading {
        Reading(self.calls.now())
    }

    /// Keeps a value, unless the topic was called since the reading began.
    pub fn keep(&self, reading: Reading, key: K, value: V) {
        let now_us = self.clock.now_us();
        let mut entries = self.current();
        if entries.calls == reading.0 {
            entries.insert(key, value, now_us);
        }
    }

    /// The value of a key: the known one, or what `read` answers with, which is kept.
    ///
    /// # Errors
    ///
    /// Those of `read`; nothing is kept then.
    pub async fn get_or_read<E>(
        &self,
        key: K,
        read: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let reading = self.begin();
        let value = read.await?;
        self.keep(reading, key, value.clone());
        Ok(value)
    }

    /// The entries, without what calls of the topic have made old.
    fn current(&self) -> MutexGuard<'_, Entries<K, V>> {
        let mut entries = self.entries.lock();
        let calls = self.calls.now();
        if entries.calls != calls {
            entries.clear();
            entries.calls = calls;
        }
        entries
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

struct Entries<K, V> {
    known: HashMap<K, Entry<V>>,
    /// Keys by the turn of their last use; the first is the next to go.
    by_use: BTreeMap<u64, K>,
    turn: u64,
    capacity: usize,
    lifetime: Duration,
    /// The count of calls that the entries are younger than.
    calls: u64,
}

struct Entry<V> {
    value: V,
    until_us: i64,
    turn: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Entries<K, V> {
    fn get(&mut self, key: &K, now_us: i64) -> Option<V> {
        let entry = self.known.get_mut(key)?;
        self.by_use.remove(&entry.turn);
        if entry.until_us <= now_us {
            self.known.remove(key);
            return None;
        }
        self.turn += 1;
        entry.turn = self.turn;
        self.by_use.insert(self.turn, key.clone());
        Some(entry.value.clone())
    }

    fn insert(&mut self, key: K, value: V, now_us: i64) {
        if self.lifetime.is_zero() || self.capacity == 0 {
            return;
        }
        if let Some(old) = self.known.remove(&key) {
            self.by_use.remove(&old.turn);
        }
        while self.known.len() >= self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.known.remove(&oldest);
        }
        self.turn += 1;
        self.by_use.insert(self.turn, key.clone());
        let lifetime_us = micros::of_span(self.lifetime);
        let until_us = now_us.saturating_add(lifetime_us);
        self.known.insert(key, Entry { value, until_us, turn: self.turn });
    }

    fn clear(&mut self) {
        self.known.clear();
        self.by_use.clear();
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::settings::{LoadOptions, SettingsBuilder};

    const SECOND: Duration = Duration::from_secs(1);
    const TOPIC: &str = "tests";

    fn app() -> App {
        let settings = SettingsBuilder::load(&LoadOptions::default()).finish().unwrap();
        App::new("tests", Clock::manual(OffsetDateTime::UNIX_EPOCH), settings)
    }

    fn cache(app: &App, capacity: usize, lifetime: Duration) -> Cache<&'static str, u32> {
        Cache::new(app, TOPIC, capacity, lifetime)
    }

    fn keep(cache: &Cache<&'static str, u32>, key: &'static str, value: u32) {
        cache.keep(cache.begin(), key, value);
    }

    /// The entries, and the keys in the order of their use.
    fn sizes(cache: &Cache<&'static str, u32>) -> (usize, usize) {
        let entries = cache.current();
        (entries.known.len(), entries.by_use.len())
    }

    #[test]
    fn an_entry_ends_with_its_lifetime() {
        let app = app();
        let cache = cache(&app, 10, 5 * SECOND);
        keep(&cache, "a", 1);
        app.clock().advance(4 * SECOND);
        assert_eq!(cache.get(&"a"), Some(1));
        // Being used doesn't make it live longer.
        app.clock().advance(SECOND);
        assert_eq!(cache.get(&"a"), None);
        assert_eq!(sizes(&cache), (0, 0));
    }

    #[test]
    fn who_was_not_used_for_longest_makes_place() {
        let app = app();
        let cache = cache(&app, 2, 5 * SECOND);
        keep(&cache, "a", 1);
        keep(&cache, "b", 2);
        assert_eq!(cache.get(&"a"), Some(1));
        keep(&cache, "c", 3);
        assert_eq!(cache.get(&"b"), None);
        assert_eq!((cache.get(&"a"), cache.get(&"c")), (Some(1), Some(3)));
        assert_eq!(sizes(&cache), (2, 2));
    }

    #[test]
    fn a_new_value_replaces_the_old_one() {
        let app = app();
        let cache = cache(&app, 2, 5 * SECOND);
        keep(&cache, "a", 1);
        app.clock().advance(SECOND);
        keep(&cache, "a", 2);
        app.clock().advance(4 * SECOND);
        assert_eq!(cache.get(&"a"), Some(2));
        assert_eq!(sizes(&cache), (1, 1));
    }

    #[test]
    fn without_a_lifetime_nothing_is_kept() {
        let app = app();
        let cache = cache(&app, 2, Duration::ZERO);
        keep(&cache, "a", 1);
        assert_eq!(cache.get(&"a"), None);
    }

    #[test]
    fn a_call_from_any_node_makes_every_cache_of_the_topic_forget() {
        let app = app();
        let (one, other) = (cache(&app, 2, SECOND), cache(&app, 2, SECOND));
        for call in [|app: &App| app.wakes().call(TOPIC), |app: &App| app.wakes().call_local(TOPIC)]
        {
            keep(&one, "a", 1);
            keep(&other, "a", 2);
            app.wakes().call("another topic");
            assert_eq!((one.get(&"a"), other.get(&"a")), (Some(1), Some(2)));
            call(&app);
            assert_eq!((one.get(&"a"), other.get(&"a")), (None, None));
        }
    }

    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_kept_after_it() {
        let app = app();
        let cache = cache(&app, 2, SECOND);
        let read = async {
            app.wakes().call(TOPIC);
            Ok::<_, crate::Error>(1)
        };
        assert_eq!(cache.get_or_read("a", read).await.unwrap(), 1);
        assert_eq!(cache.get(&"a"), None);
        let again = cache.get_or_read("a", async { Ok::<_, crate::Error>(2) }).await.unwrap();
        assert_eq!((again, cache.get(&"a")), (2, Some(2)));
    }
}
