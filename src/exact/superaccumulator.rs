//! An accumulator wide enough for the exact sum of any finite doubles (Kulisch 2013, "Computer Arithmetic and Validity").

use super::round::quotient_to_f64;

/// Weight of the lowest bit: 2^-1088, the first multiple of 32 below the smallest double 2^-1074.
const LOWEST: i32 = 1088;
/// 2^-1088 … 2^1088: the range of doubles and 2^63 additions of the largest.
const LIMBS: usize = 68;
/// A limb holds 32 bits in 64; after this many additions the carries are moved up.
const ADDITIONS_BEFORE_CARRY: u32 = 1 << 30;

/// The exact sum of finite doubles as signed 32-bit digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperAccumulator {
    digits: Box<[i64; LIMBS]>,
    additions: u32,
}

impl Default for SuperAccumulator {
    fn default() -> Self {
        Self { digits: Box::new([0; LIMBS]), additions: 0 }
    }
}

impl SuperAccumulator {
    /// Bytes of the serialized form.
    pub const BYTES: usize = LIMBS * 8;

    /// Adds a finite double exactly.
    pub fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite(), "the caller keeps non-finite values apart");
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        self.add_shifted(u128::from(mantissa), (exponent + LOWEST) as usize, value.is_sign_negative());
    }

    /// Adds `value` · 2^-64 exactly.
    pub fn add_fixed(&mut self, value: i128) {
        let magnitude = value.unsigned_abs();
        let position = (LOWEST - 64) as usize;
        self.add_shifted(magnitude & ((1 << 64) - 1), position, value < 0);
        self.add_shifted(magnitude >> 64, position + 64, value < 0);
    }

    /// Adds magnitude · 2^(position - 1088); the magnitude is below 2^64.
    fn add_shifted(&mut self, magnitude: u128, position: usize, negative: bool) {
        let mut rest = magnitude << (position % 32);
        let mut limb = position / 32;
        while rest != 0 {
            let digit = (rest & 0xffff_ffff) as i64;
            self.digits[limb] += if negative { -digit } else { digit };
            rest >>= 32;
            limb += 1;
        }
        self.additions += 1;
        if self.additions >= ADDITIONS_BEFORE_CARRY {
            self.carry();
        }
    }

    /// Adds another accumulator exactly.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (digit, more) in self.digits.iter_mut().zip(other.digits.iter()) {
            *digit += more;
        }
        self.additions = 2;
    }

    /// Moves carries up, so that every digit but the top one is in 0 .. 2^32.
    fn carry(&mut self) {
        let mut carry = 0_i64;
        for digit in &mut self.digits[..LIMBS - 1] {
            let sum = *digit + carry;
            *digit = sum & 0xffff_ffff;
            carry = sum >> 32;
        }
        self.digits[LIMBS - 1] += carry;
        self.additions = 1;
    }

    /// The sum divided by `count`, rounded once.
    pub fn divided_by(&self, count: u64) -> f64 {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.digits[LIMBS - 1] < 0;
        if negative {
            for digit in sum.digits.iter_mut() {
                *digit = -*digit;
            }
            sum.carry();
        }
        let mut magnitude = [0_u64; LIMBS / 2 + 2];
        for (limb, pair) in magnitude[2..].iter_mut().zip(sum.digits.chunks_exact(2)) {
            *limb = pair[0] as u64 | (pair[1] as u64) << 32;
        }
        quotient_to_f64(&mut magnitude, -LOWEST - 128, count, negative)
    }

    /// The digits in a form that [`SuperAccumulator::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sum = self.clone();
        sum.carry();
        sum.digits.iter().flat_map(|digit| digit.to_le_bytes()).collect()
    }

    /// Reads what [`SuperAccumulator::to_bytes`] wrote; `None` for another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut sum = Self { additions: 1, ..Self::default() };
        for (digit, chunk) in sum.digits.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *digit = i64::from_le_bytes(*chunk);
        }
        Some(sum)
    }
}
