//! A small cache: entries live for a limited time, and the ones that were not used for longest make
//! place for new ones.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

use time::OffsetDateTime;

/// Entries by key, at most `capacity` of them, each for `lifetime`.
pub(crate) struct Cache<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Keys by the turn of their last use; the first is the next to go.
    by_use: BTreeMap<u64, K>,
    turn: u64,
    capacity: usize,
    lifetime: Duration,
}

struct Entry<V> {
    value: V,
    until: OffsetDateTime,
    turn: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new(capacity: usize, lifetime: Duration) -> Self {
        Self { entries: HashMap::new(), by_use: BTreeMap::new(), turn: 0, capacity, lifetime }
    }

    pub(crate) fn get(&mut self, key: &K, now: OffsetDateTime) -> Option<V> {
        let entry = self.entries.get_mut(key)?;
        self.by_use.remove(&entry.turn);
        if entry.until <= now {
            self.entries.remove(key);
            return None;
        }
        self.turn += 1;
        entry.turn = self.turn;
        self.by_use.insert(self.turn, key.clone());
        Some(entry.value.clone())
    }

    pub(crate) fn insert(&mut self, key: K, value: V, now: OffsetDateTime) {
        if self.lifetime.is_zero() {
            return;
        }
        if let Some(old) = self.entries.remove(&key) {
            self.by_use.remove(&old.turn);
        }
        while self.entries.len() >= self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.entries.remove(&oldest);
        }
        self.turn += 1;
        self.by_use.insert(self.turn, key.clone());
        self.entries.insert(key, Entry { value, until: now + self.lifetime, turn: self.turn });
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.by_use.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_entry_ends_with_its_lifetime() {
        let mut cache = Cache::new(10, 5 * SECOND);
        cache.insert("a", 1, START);
        assert_eq!(cache.get(&"a", START + 4 * SECOND), Some(1));
        // Being used doesn't make it live longer.
        assert_eq!(cache.get(&"a", START + 5 * SECOND), None);
        assert!(cache.entries.is_empty() && cache.by_use.is_empty());
    }

    #[test]
    fn who_was_not_used_for_longest_makes_place() {
        let mut cache = Cache::new(2, 5 * SECOND);
        cache.insert("a", 1, START);
        cache.insert("b", 2, START);
        assert_eq!(cache.get(&"a", START), Some(1));
        cache.insert("c", 3, START);
        assert_eq!(cache.get(&"b", START), None);
        assert_eq!((cache.get(&"a", START), cache.get(&"c", START)), (Some(1), Some(3)));
        assert_eq!((cache.entries.len(), cache.by_use.len()), (2, 2));
    }

    #[test]
    fn a_new_value_replaces_the_old_one() {
        let mut cache = Cache::new(2, 5 * SECOND);
        cache.insert("a", 1, START);
        cache.insert("a", 2, START + SECOND);
        assert_eq!(cache.get(&"a", START + 5 * SECOND), Some(2));
        assert_eq!((cache.entries.len(), cache.by_use.len()), (1, 1));
    }

    #[test]
    fn without_a_lifetime_nothing_is_kept() {
        let mut cache = Cache::new(2, Duration::ZERO);
        cache.insert("a", 1, START);
        assert_eq!(cache.get(&"a", START), None);
        cache = Cache::new(2, SECOND);
        cache.insert("a", 1, START);
        cache.clear();
        assert_eq!(cache.get(&"a", START), None);
    }
}
