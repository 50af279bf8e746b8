use std::time::Duration;

/// Random numbers from a seed that can be given again (`SVC_E2E_KILL_SEED`): the moments of a run
/// are the same then, what the machine does meanwhile is not. (`SplitMix64`.)
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    seed: u64,
    state: u64,
}

impl Chance {
    pub(crate) fn new() -> Self {
        let given = std::env::var("SVC_E2E_KILL_SEED").ok();
        let seed = given.map_or_else(
            || u64::from_le_bytes(svc::core::random_array()),
            |text| text.parse().expect("a seed is a number"),
        );
        Self { seed, state: seed }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Chances of its own for another thread.
    pub(crate) fn branch(&mut self) -> Self {
        let seed = self.next();
        Self { seed, state: seed }
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub(crate) fn duration_below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.below(limit))
    }
}
