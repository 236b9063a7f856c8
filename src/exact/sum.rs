//! The state of one group: a small exact integer, and the wide accumulator once that does not hold.

use super::round::quotient_to_f64;
use super::superaccumulator::SuperAccumulator;

/// Flag: a NaN was added.
const NAN: u8 = 1;
/// Flag: +∞ was added.
const POSITIVE: u8 = 2;
/// Flag: −∞ was added.
const NEGATIVE: u8 = 4;

/// `value` in steps of 2^-64, if it is a multiple of that step and below 2^61.
#[inline]
pub(super) fn to_fixed(value: f64) -> Option<i128> {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    if field == 0 {
        // Zero of either sign; a subnormal is no multiple of 2^-64.
        return (bits << 1 == 0).then_some(0);
    }
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let shift = field - 1075 + 64;
    let magnitude = if (0..=72).contains(&shift) {
        i128::from(mantissa) << shift
    } else if (-52..0).contains(&shift) && mantissa.trailing_zeros() as i32 >= -shift {
        i128::from(mantissa >> -shift)
    } else {
        return None;
    };
    Some(if bits >> 63 == 1 { -magnitude } else { magnitude })
}

/// The exact sum and count of doubles, mergeable in any order.
///
/// NaN in gives NaN out; +∞ and −∞ together give NaN; one of them alone gives itself. The sum of zeros of either sign is
/// +0. A finite sum beyond the largest double rounds to infinity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactSum {
    pub(super) fixed: i128,
    pub(super) count: u64,
    pub(super) special: u8,
    pub(super) wide: Option<SuperAccumulator>,
}

impl ExactSum {
    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        match to_fixed(value).and_then(|step| self.fixed.checked_add(step)) {
            Some(sum) => self.fixed = sum,
            None => self.add_wide(value),
        }
    }

    #[cold]
    fn add_wide(&mut self, value: f64) {
        if value.is_finite() {
            self.wide.get_or_insert_default().add(value);
        } else if value.is_nan() {
            self.special |= NAN;
        } else {
            self.special |= if value > 0.0 { POSITIVE } else { NEGATIVE };
        }
    }

    /// Adds the values of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.special |= other.special;
        match self.fixed.checked_add(other.fixed) {
            Some(sum) => self.fixed = sum,
            None => self.wide.get_or_insert_default().add_fixed(other.fixed),
        }
        if let Some(wide) = &other.wide {
            self.wide.get_or_insert_default().merge(wide);
        }
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum, rounded once; `None` without values.
    pub fn sum(&self) -> Option<f64> {
        (self.count > 0).then(|| self.divided_by(1))
    }

    /// The mean, rounded once; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.divided_by(self.count))
    }

    fn divided_by(&self, count: u64) -> f64 {
        match self.special {
            0 => {}
            POSITIVE => return f64::INFINITY,
            NEGATIVE => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        match &self.wide {
            None => {
                let magnitude = self.fixed.unsigned_abs();
                let mut limbs = [0, 0, magnitude as u64, (magnitude >> 64) as u64];
                quotient_to_f64(&mut limbs, -64 - 128, count, self.fixed < 0)
            }
            Some(wide) => {
                let mut wide = wide.clone();
                wide.add_fixed(self.fixed);
                wide.divided_by(count)
            }
        }
    }

    /// Appends the state in a form that [`ExactSum::from_bytes`] reads: 25 bytes, more with a wide accumulator.
    pub fn write_bytes(&self, out: &mut Vec<u8>) {
        out.push(self.special);
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.fixed.to_le_bytes());
        if let Some(wide) = &self.wide {
            out.extend_from_slice(&wide.to_bytes());
        }
    }

    /// Reads a state; `None` if the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (special, rest) = bytes.split_first()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let (fixed, rest) = rest.split_first_chunk::<16>()?;
        let wide = if rest.is_empty() { None } else { Some(SuperAccumulator::from_bytes(rest)?) };
        Some(Self { fixed: i128::from_le_bytes(*fixed), count: u64::from_le_bytes(*count), special: *special, wide })
    }
}
