//! A number as printed: its value and the unit of its last digit.

/// A printed number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// Its value.
    pub value: f64,
    /// Half a unit of its last printed digit.
    pub half: f64,
    /// Digits behind the point.
    pub decimals: usize,
}

/// What doubles cannot say exactly: 64.695 may be a little less.
const NOISE: f64 = 1e-9;

impl Printed {
    /// Reads `64.69`, `1,193`, `37.0%` or `**64.69**`; `None` for anything else, also where a comma parts no thousands.
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.trim().trim_matches('*').trim_end_matches('%').trim();
        let mut groups = bare.split('.').next().unwrap_or("").split(',').skip(1);
        if groups.any(|group| group.len() != 3) || bare.split_once('.').is_some_and(|(_, behind)| behind.contains(','))
        {
            return None;
        }
        let bare = bare.replace(',', "");
        let digits = bare.strip_prefix(['-', '+']).unwrap_or(&bare);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = bare.parse().ok().filter(|_| is_number)?;
        let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
        let half = 0.5 * libm::pow(10.0, -(decimals as f64));
        Some(Self { value, half, decimals })
    }

    /// Whether a number is this one, printed to its digits: as far away as half a unit at most, or the given tolerance.
    pub fn is(&self, number: f64, tolerance: Option<f64>) -> bool {
        (number - self.value).abs() <= tolerance.unwrap_or(self.half) + NOISE
    }

    /// Whether it is the number with the digits behind the last one cut off.
    pub fn is_cut_from(&self, number: f64) -> bool {
        let unit = 2.0 * self.half;
        let above = number.abs() - self.value.abs();
        (number.signum() == self.value.signum() || self.value == 0.0) && (-NOISE..unit - NOISE).contains(&above)
    }
}
