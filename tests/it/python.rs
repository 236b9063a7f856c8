//! Expected values are what CPython 3.11 gives.

use proptest::prelude::*;
use scorelake::python::json::{self, Value};
use scorelake::python::{int, strip};

#[test]
fn int_of_text() {
    for (text, expected) in [
        ("7", Some(7)),
        (" +7\n", Some(7)),
        ("-07", Some(-7)),
        ("1_000", Some(1000)),
        ("1__0", None),
        ("1_", None),
        ("", None),
        ("- 7", None),
        ("0x1", None),
        ("1.0", None),
        ("٣", Some(3)),
        ("𝟐", Some(2)),
        ("½", None),
        ("\u{1c}1", None),
        ("\u{a0}\u{2003}1\u{85}", Some(1)),
        ("99999999999999999999999", Some(100_000_000_000_000_000)),
    ] {
        assert_eq!(int(text), expected, "{text:?}");
    }
    assert_eq!(strip("\u{1c}\u{85} a b \u{2003}"), "a b");
    assert_eq!(strip("\u{200b}a"), "\u{200b}a");
}

#[test]
fn what_parses_and_what_does_not() {
    for text in [
        "1",
        "-0",
        "1.5e-3",
        "[]",
        "[1, [2]]",
        "{\"a\": {\"b\": null}}",
        "\"\\ud83d\\ude00\"",
        " NaN ",
        "[-Infinity]",
        "1E5",
    ] {
        assert!(json::parse(text).is_ok(), "{text}");
    }
    for text in [
        "",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "nan",
        "-NaN",
        "[1,]",
        "{a: 1}",
        "{\"a\" 1}",
        "\"\n\"",
        "\"\\q\"",
        "\"a",
        "[1 2]",
        "1 2",
        "'a'",
        "\"\\u12g4\"",
    ] {
        assert!(json::parse(text).is_err(), "{text}");
    }
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(json::parse(&deep(900)).is_ok());
    assert!(json::parse(&deep(100_000)).is_err());
}

#[test]
fn strings_keep_what_can_be_kept() {
    let text = |json: &str| match json::parse(json).unwrap().value {
        Value::String(text) => text.into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(r#""\ud83d\ude00\n\/""#), "😀\n/");
    assert_eq!(text(r#""a\ud83db\ude00""#), "a\u{fffd}b\u{fffd}");
    assert_eq!(text(r#""\ud83d\ud83d\ude00""#), "\u{fffd}😀");
}

proptest! {
    #[test]
    fn parsing_never_panics(text in "[\\[\\]{}\",:0-9eE.+\\-\\\\untaf é\u{0}-\u{1f}]{0,60}") {
        let _any = json::parse(&text);
        let mut parser = json::Parser::lenient(&text, 0);
        let _any = parser.node();
    }

    #[test]
    fn what_serde_writes_is_read_back(text in any::<String>(), number in any::<i64>(), float in -1e300..1e300) {
        let written = serde_json::json!({ "t": text, "n": number, "f": float }).to_string();
        let Value::Object(members) = json::parse(&written).unwrap().value else { panic!("no object") };
        for (name, node) in members {
            match (name.as_ref(), node.value) {
                ("t", Value::String(found)) => prop_assert_eq!(found.as_ref(), text.as_str()),
                ("n", Value::Int(found)) => prop_assert_eq!(found, number.to_string()),
                ("f", Value::Float(found)) => prop_assert_eq!(found, float),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn int_is_what_it_should_be(number in -100_000_i64..100_000) {
        prop_assert_eq!(int(&format!(" {number} ")), Some(number));
    }
}
