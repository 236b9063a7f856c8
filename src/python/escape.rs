//! The escapes of JSON strings, as Python resolves them.

use std::borrow::Cow;

use super::json::RawString;

/// Resolves the escapes of a string; with `strict`, a raw control character fails (as in Python's strict mode).
pub fn decode(raw: RawString<'_>, strict: bool) -> Result<Cow<'_, str>, &'static str> {
    if strict && raw.text.bytes().any(|byte| byte < 0x20) {
        return Err("a control character inside a string");
    }
    if !raw.escaped {
        return Ok(Cow::Borrowed(raw.text));
    }
    let mut out = String::with_capacity(raw.text.len());
    decode_into(raw.text, &mut out)?;
    Ok(Cow::Owned(out))
}

/// Resolves escapes onto the end of `out`; gives the number of lone surrogates that became U+FFFD.
pub fn decode_into(text: &str, out: &mut String) -> Result<u32, &'static str> {
    let mut replaced = 0;
    let mut rest = text;
    while let Some(offset) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..offset]);
        let escape = rest[offset + 1..].chars().next().ok_or("a backslash at the end of a string")?;
        rest = &rest[offset + 1 + escape.len_utf8()..];
        out.push(match escape {
            '"' | '\\' | '/' => escape,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let first = hex4(rest).ok_or("\\u without four hexadecimal digits")?;
                rest = &rest[4..];
                let second = rest.strip_prefix("\\u").and_then(hex4);
                match (first, second) {
                    (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                        rest = &rest[6..];
                        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)).unwrap_or('\u{fffd}')
                    }
                    _ => char::from_u32(first).unwrap_or_else(|| {
                        replaced += 1;
                        '\u{fffd}'
                    }),
                }
            }
            _ => return Err("an unknown escape in a string"),
        });
    }
    out.push_str(rest);
    Ok(replaced)
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.as_bytes().get(..4)?;
    digits.iter().try_fold(0, |value, byte| Some(value << 4 | char::from(*byte).to_digit(16)?))
}
