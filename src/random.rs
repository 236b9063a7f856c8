//! Counter-based random numbers: a value depends on its seed and place alone, so that any part can be made by itself.

/// A stream of numbers for one place.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a place such as (row, model, pillar).
    pub fn at(seed: u64, place: &[u64]) -> Self {
        let mut state = mix(seed ^ 0x6a09_e667_f3bc_c908);
        for part in place {
            state = mix(state.wrapping_add(*part).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        Self { state }
    }

    /// The next 64 bits (SplitMix64, Steele, Lea and Flood 2014).
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number in 0 .. 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in 0 .. n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// A number in 0 .. n, by the high half of a product (Lemire 2019); for n below 2^32 no number is favoured by more than 2^-32.
    pub fn index(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
