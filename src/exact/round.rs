//! The one rounding: a big integer divided by a count becomes the nearest double, ties to even.

/// `negative ? -x : x` where x = (magnitude / divisor) · 2^exponent, rounded once to the nearest double, ties to even;
/// beyond the largest double it is infinite, as IEEE 754 rounds.
///
/// `magnitude` is little-endian and is overwritten. Its two lowest limbs must be zero: they make room for at least 64
/// bits of quotient whatever the divisor.
pub(super) fn quotient_to_f64(magnitude: &mut [u64], exponent: i32, divisor: u64, negative: bool) -> f64 {
    let mut remainder: u128 = 0;
    if divisor > 1 {
        for limb in magnitude.iter_mut().rev() {
            let part = (remainder << 64) | u128::from(*limb);
            // The quotient of a part whose upper half is below the divisor fits 64 bits.
            *limb = (part / u128::from(divisor)) as u64;
            remainder = part % u128::from(divisor);
        }
    }
    let Some(top_limb) = magnitude.iter().rposition(|limb| *limb != 0) else {
        return 0.0;
    };
    let top_bit = top_limb as i32 * 64 + 63 - magnitude[top_limb].leading_zeros() as i32;
    let binary_exponent = top_bit + exponent;
    if binary_exponent > 1023 {
        return if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Bits that the result keeps: 53, fewer where it is subnormal, none below half of the smallest double.
    let keep = if binary_exponent >= -1022 { 53 } else { 53 - (-1022 - binary_exponent) };
    if keep < 0 {
        return if negative { -0.0 } else { 0.0 };
    }
    let low = top_bit + 1 - keep;
    let mantissa = bits_from(magnitude, low, keep);
    let half = low > 0 && bit(magnitude, low - 1);
    let below = remainder != 0 || (low > 1 && any_below(magnitude, low - 1));
    let rounded = mantissa + u64::from(half && (below || mantissa & 1 == 1));
    // Adding the mantissa to the exponent field carries into the exponent where rounding overflowed it.
    let bits = if binary_exponent >= -1022 {
        (((binary_exponent + 1023) as u64) << 52) + (rounded - (1 << 52))
    } else {
        rounded
    };
    let value = f64::from_bits(bits);
    if negative { -value } else { value }
}

fn bit(magnitude: &[u64], position: i32) -> bool {
    let position = position as usize;
    magnitude[position / 64] >> (position % 64) & 1 == 1
}

fn bits_from(magnitude: &[u64], low: i32, count: i32) -> u64 {
    if count == 0 {
        return 0;
    }
    if low < 0 {
        // Fewer bits than asked for: the value is exact, its low bits are zero.
        return bits_from(magnitude, 0, count + low) << -low;
    }
    let (limb, shift) = (low as usize / 64, low as usize % 64);
    let mut value = magnitude[limb] >> shift;
    if shift > 0 && limb + 1 < magnitude.len() {
        value |= magnitude[limb + 1] << (64 - shift);
    }
    if count < 64 { value & ((1 << count) - 1) } else { value }
}

fn any_below(magnitude: &[u64], position: i32) -> bool {
    let (limb, shift) = (position as usize / 64, position as usize % 64);
    magnitude[..limb].iter().any(|limb| *limb != 0) || (shift > 0 && magnitude[limb] << (64 - shift) != 0)
}
