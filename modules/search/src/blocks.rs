//! The records of a word, packed: 4,096 numbers to a block, of which a row of the index holds one.
//!
//! Few numbers are stored as a list of their places in the block, two bytes each; many as a bit for each place.

use svc_core::{Error, Result};

/// The numbers of a block.
pub(crate) const NUMBERS: i64 = 4_096;

/// The words of 64 bits that have a bit for each number.
const WORDS: usize = 64;

/// The bytes of a block of which each place has its bit.
const BITS: usize = WORDS * 8;

/// Some of the numbers of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block(Box<[u64; WORDS]>);

/// The block of a number.
pub(crate) fn block_of(number: i64) -> i64 {
    number.div_euclid(NUMBERS)
}

impl Block {
    pub(crate) fn none() -> Self {
        Self(Box::new([0; WORDS]))
    }

    /// Reads what [`Block::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut block = Self::none();
        block.add_bytes(bytes)?;
        Ok(block)
    }

    /// Adds the numbers that [`Block::to_bytes`] wrote.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() == BITS {
            for (word, bits) in self.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *word |= u64::from_le_bytes(*bits);
            }
            return Ok(());
        }
        let (places, rest) = bytes.as_chunks::<2>();
        let broken =
            || Error::internal("a block of the search index is broken; build the index anew");
        if !rest.is_empty() || bytes.len() > BITS {
            return Err(broken());
        }
        for place in places {
            let place = u16::from_le_bytes(*place);
            *self.0.get_mut(usize::from(place / 64)).ok_or_else(broken)? |= 1 << (place % 64);
        }
        Ok(())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if 2 * self.len() < BITS {
            return self.places().rev().flat_map(u16::to_le_bytes).collect();
        }
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn insert(&mut self, number: i64) {
        let (word, bit) = place(number);
        self.0[word] |= bit;
    }

    pub(crate) fn remove(&mut self, number: i64) {
        let (word, bit) = place(number);
        self.0[word] &= !bit;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn and(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0.iter()) {
            *word &= other;
        }
    }

    pub(crate) fn or(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0.iter()) {
            *word |= other;
        }
    }

    /// The numbers of this as the given block, the greatest first.
    pub(crate) fn numbers(&self, block: i64) -> impl Iterator<Item = i64> {
        self.places().map(move |place| block * NUMBERS + i64::from(place))
    }

    /// The places, the greatest first.
    fn places(&self) -> impl DoubleEndedIterator<Item = u16> {
        (0..WORDS * 64)
            .rev()
            .filter(|place| self.0[place / 64] >> (place % 64) & 1 == 1)
            .map(|place| u16::try_from(place).expect("a block has 4,096 places"))
    }
}

/// The word of a number's place, and its bit there.
fn place(number: i64) -> (usize, u64) {
    let place = usize::try_from(number.rem_euclid(NUMBERS)).expect("a remainder is not negative");
    (place / 64, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = i64>) -> Block {
        let mut block = Block::none();
        for number in numbers {
            block.insert(number);
        }
        block
    }

    #[test]
    fn few_are_a_list_and_many_are_bits() {
        for (count, length) in [(0, 0), (1, 2), (255, 510), (256, 512), (4_096, 512)] {
            let block =
                of((0..count).map(|number| NUMBERS * 3 + number * (NUMBERS / count.max(1))));
            let bytes = block.to_bytes();
            assert_eq!(bytes.len(), length, "{count}");
            assert_eq!(Block::from_bytes(&bytes).unwrap(), block, "{count}");
        }
    }

    #[test]
    fn numbers_come_back_the_greatest_first() {
        let mut block = of([8_192, 8_193, 12_287]);
        assert_eq!(block.numbers(2).collect::<Vec<_>>(), [12_287, 8_193, 8_192]);
        block.remove(8_193);
        block.and(&of([8_192, 8_193]));
        assert_eq!(block.numbers(block_of(8_192)).collect::<Vec<_>>(), [8_192]);
        block.remove(8_192);
        assert!(block.is_empty());
    }

    #[test]
    fn what_is_no_block_is_refused() {
        assert!(Block::from_bytes(&[1]).is_err());
        assert!(Block::from_bytes(&[0xFF, 0xFF]).is_err());
        assert!(Block::from_bytes(&[0; BITS + 2]).is_err());
    }
}
