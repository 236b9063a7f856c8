//! Python's own rules where they decide what the official scripts count: `str.strip()`, `int()`, and its JSON.

mod escape;
pub mod json;
mod round;

pub use round::{python_round2, round2};

/// Code points of the decimal zeros of Unicode 14.0 (CPython 3.11); each is followed by its nine other digits.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Whether Python's `str.isspace()` holds: the Unicode white space and the four ASCII separators.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn digit(c: char) -> Option<i64> {
    let code = c as u32;
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    (code - zero < 10).then(|| i64::from(code - zero))
}

/// `int(text)` for a string; `None` where Python raises. Values beyond ±10^17 come back as ±10^17: no scale reaches them.
pub fn int(text: &str) -> Option<i64> {
    const LARGE: i64 = 100_000_000_000_000_000;
    // Not `strip`: here the four ASCII separators are no space.
    let text = text.trim_matches(char::is_whitespace);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value = 0_i64;
    let mut after_digit = false;
    for c in digits.chars() {
        if c == '_' && after_digit {
            after_digit = false;
            continue;
        }
        value = (value * 10 + digit(c)?).min(LARGE);
        after_digit = true;
    }
    after_digit.then_some(if negative { -value } else { value })
}
