//! JSON as Python's `json` module reads it: NaN and infinities are numbers, lone surrogates are characters, duplicate keys
//! are legal.
//!
//! Judges' replies and the files that hold them were written and are officially read by Python, so this dialect decides
//! which replies count; a parser for the standard would disagree in just the cases that matter. Values keep the text they
//! were read from, and objects keep every member in order: which duplicate wins is the reading's business.

use std::borrow::Cow;

pub use super::escape::{decode, decode_into};

/// Nesting beyond this fails, as Python's default recursion limit does.
const MAX_DEPTH: u32 = 990;

/// A value and the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// The value.
    pub value: Value<'a>,
    /// Its JSON text.
    pub text: &'a str,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number without fraction or exponent, as written (of any length).
    Int(&'a str),
    /// Any other number; also NaN, Infinity, -Infinity.
    Float(f64),
    /// A string; a lone surrogate is U+FFFD.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object with all its members, duplicates too.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Value<'_> {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset.
    pub at: usize,
    /// What was found.
    pub what: &'static str,
}

/// A string between its quotes, escapes not yet resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawString<'a> {
    /// The text between the quotes.
    pub text: &'a str,
    /// Whether it holds escapes.
    pub escaped: bool,
}

type Parsed<T> = Result<T, JsonError>;

/// A parser over one text.
#[derive(Debug)]
pub struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    trailing_commas: bool,
    /// Trailing commas passed over.
    pub commas_dropped: u32,
}

/// Parses a whole text as one value, blanks around it allowed.
pub fn parse(text: &str) -> Parsed<Node<'_>> {
    let mut parser = Parser::new(text, 0);
    let node = parser.node()?;
    parser.end()?;
    Ok(node)
}

impl<'a> Parser<'a> {
    /// A parser that starts at a byte offset.
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, depth: 0, trailing_commas: false, commas_dropped: 0 }
    }

    /// The same, letting a comma stand before a closing bracket.
    pub fn lenient(text: &'a str, at: usize) -> Self {
        Self { trailing_commas: true, ..Self::new(text, at) }
    }

    /// The offset reached.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Requires that only blanks are left.
    pub fn end(&mut self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("text after the value"),
        }
    }

    fn fail<T>(&self, what: &'static str) -> Parsed<T> {
        Err(JsonError { at: self.at, what })
    }

    /// The next byte that is no blank.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                other => return Some(*other),
            }
        }
        None
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Parsed<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.fail(what)
    }

    /// The next value.
    pub fn node(&mut self) -> Parsed<Node<'a>> {
        self.on_enough_stack(Self::node_here)
    }

    /// Deep nesting is read by recursion, on a stack that grows.
    fn on_enough_stack<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth % 32 == 31 { stacker::maybe_grow(256 << 10, 1 << 20, || read(self)) } else { read(self) }
    }

    fn node_here(&mut self) -> Parsed<Node<'a>> {
        let Some(first) = self.peek() else { return self.fail("end of text where a value is due") };
        let start = self.at;
        let value = match first {
            b'{' => {
                let mut members = Vec::new();
                self.members(|parser, name| {
                    let name = decode(name, true).map_err(|what| JsonError { at: parser.at, what })?;
                    members.push((name, parser.node()?));
                    Ok(())
                })?;
                Value::Object(members)
            }
            b'[' => {
                let mut items = Vec::new();
                self.items(|parser| {
                    items.push(parser.node()?);
                    Ok(())
                })?;
                Value::Array(items)
            }
            b'"' => {
                let raw = self.string()?;
                Value::String(decode(raw, true).map_err(|what| JsonError { at: start, what })?)
            }
            _ => self.scalar(first)?,
        };
        Ok(Node { value, text: &self.text[start..self.at] })
    }

    /// Passes over the next value without keeping it.
    pub fn skip(&mut self) -> Parsed<()> {
        self.on_enough_stack(Self::skip_here)
    }

    fn skip_here(&mut self) -> Parsed<()> {
        match self.peek() {
            None => self.fail("end of text where a value is due"),
            Some(b'{') => self.members(|parser, _| parser.skip()),
            Some(b'[') => self.items(Self::skip),
            Some(b'"') => self.string().map(|_| ()),
            Some(first) => self.scalar(first).map(|_| ()),
        }
    }

    /// Walks an object: `each` is called at each value with the member's name and must consume the value.
    pub fn members(&mut self, mut each: impl FnMut(&mut Self, RawString<'a>) -> Parsed<()>) -> Parsed<()> {
        self.expect(b'{', "no object")?;
        self.enter()?;
        if self.peek() == Some(b'}') {
            return self.leave();
        }
        loop {
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return self.fail("no quoted name in an object"),
                None => return self.fail("end of text inside an object"),
            }
            let name = self.string()?;
            self.expect(b':', "no colon after a name")?;
            each(self, name)?;
            if self.next_or_close(b'}')? {
                return self.leave();
            }
        }
    }

    /// Walks an array: `each` is called at each value and must consume it.
    pub fn items(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect(b'[', "no array")?;
        self.enter()?;
        if self.peek() == Some(b']') {
            return self.leave();
        }
        loop {
            each(self)?;
            if self.next_or_close(b']')? {
                return self.leave();
            }
        }
    }

    /// After a value: a comma leads to the next one (false), the bracket closes (true).
    fn next_or_close(&mut self, close: u8) -> Parsed<bool> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                if self.trailing_commas && self.peek() == Some(close) {
                    self.commas_dropped += 1;
                    return Ok(true);
                }
                Ok(false)
            }
            Some(byte) if byte == close => Ok(true),
            Some(_) => self.fail("neither comma nor closing bracket after a value"),
            None => self.fail("end of text inside an object or array"),
        }
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deeply") } else { Ok(()) }
    }

    fn leave(&mut self) -> Parsed<()> {
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// The string that starts here, its escapes sound and unresolved.
    pub fn string(&mut self) -> Parsed<RawString<'a>> {
        self.expect(b'"', "no string")?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            match memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
                None => {
                    self.at = bytes.len();
                    return self.fail("a string without end");
                }
                Some(offset) => {
                    self.at += offset;
                    if bytes[self.at] == b'"' {
                        let text = &self.text[start..self.at];
                        self.at += 1;
                        return Ok(RawString { text, escaped });
                    }
                    escaped = true;
                    self.at += match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if bytes.get(self.at + 2..self.at + 6).is_some_and(is_hex) => 6,
                        Some(b'u') => return self.fail("\\u without four hexadecimal digits"),
                        Some(_) => return self.fail("an unknown escape in a string"),
                        None => return self.fail("a string without end"),
                    };
                }
            }
        }
    }

    fn scalar(&mut self, first: u8) -> Parsed<Value<'a>> {
        let rest = &self.text[self.at..];
        for (word, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        if first != b'-' && !first.is_ascii_digit() {
            return self.fail("no JSON value");
        }
        self.number(rest)
    }

    fn number(&mut self, rest: &'a str) -> Parsed<Value<'a>> {
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = usize::from(bytes[0] == b'-');
        let whole = digits(end);
        if whole == 0 {
            return self.fail("a minus sign without digits");
        }
        // A leading zero stands alone: what follows it is for the caller to refuse.
        end += if bytes[end] == b'0' { 1 } else { whole };
        let mut float = false;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            float = true;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
            if exponent > 0 {
                end += 1 + sign + exponent;
                float = true;
            }
        }
        self.at += end;
        let text = &rest[..end];
        if !float {
            return Ok(Value::Int(text));
        }
        text.parse()
            .map(Value::Float)
            .map_err(|_: std::num::ParseFloatError| JsonError { at: self.at, what: "no number" })
    }
}

fn is_hex(digits: &[u8]) -> bool {
    digits.iter().all(u8::is_ascii_hexdigit)
}
