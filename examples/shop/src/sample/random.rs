//! Chance that is the same every time: splitmix64, a generator of eight lines.
//!
//! Sample data must look the same on every machine, so it doesn't take the system's randomness.

/// A source of numbers that depend on nothing but its seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i32, high: i32) -> i32 {
        let span = u64::from(high.abs_diff(low)) + 1;
        let offset = i32::try_from(self.next() % span).unwrap_or(0);
        low + offset
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub(super) fn chance(&mut self, percent: i32) -> bool {
        self.between(1, 100) <= percent
    }

    /// An index below `weights.len()`, the likelier the larger its weight.
    pub(super) fn weighted(&mut self, weights: &[i32]) -> usize {
        let sum: i32 = weights.iter().sum();
        let mut left = self.between(1, sum.max(1));
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left <= 0 {
                return index;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn weights_decide_how_often_an_index_comes() {
        let mut random = Random::new(1);
        let mut counts = [0; 3];
        for _ in 0..1_000 {
            counts[random.weighted(&[1, 0, 9])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((50..150).contains(&counts[0]), "{counts:?}");
    }
}
