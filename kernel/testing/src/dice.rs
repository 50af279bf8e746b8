/// Numbers that look like chance and are the same in each run: the generator of Knuth's MMIX.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// A stream of its own for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, below a bound.
    ///
    /// # Panics
    ///
    /// Nothing is below zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}
