//! Expected values follow from the rules of the strict reading (Q5), not from running this code.

use super::official::read;

/// Outcome with its reason or repairs, and the cells as `capability / facet = state value`, sorted; `?` marks unknown ones.
fn strict(pillar: &str, text: &str) -> (String, Vec<String>) {
    read(pillar, Some(text), |reply| {
        let mut cells: Vec<_> = reply
            .entries
            .iter()
            .filter_map(|entry| entry.strict.as_ref().map(|side| (entry.in_rubric, side)))
            .filter_map(|(known, side)| side.judged.map(|judged| (known, side, judged)))
            .map(|(known, side, (state, value))| {
                let value = value.map_or(String::new(), |value| format!(" {value}"));
                let unknown = if known { "" } else { "?" };
                format!("{} / {}{unknown} = {}{value}", side.capability, side.facet, state.name())
            })
            .collect();
        cells.sort();
        let more = reply
            .strict
            .repairs
            .iter()
            .copied()
            .chain(reply.strict.reason)
            .map(|text| format!(" {text}"))
            .collect::<String>();
        (format!("{}{more}", reply.strict.outcome.name()), cells)
    })
}

#[track_caller]
fn assert_cells(text: &str, outcome: &str, cells: &[&str]) {
    assert_eq!(
        strict("Quality", text),
        (outcome.to_owned(), cells.iter().map(|cell| (*cell).to_owned()).collect()),
        "{text}"
    );
}

const JSON: &str = r#"{"Realism": {"Physical Logic": {"score": 2}}}"#;
const LOGIC_2: &[&str] = &["Realism / Physical Logic = ok 2"];

#[test]
fn text_that_parses_is_never_touched() {
    assert_cells(JSON, "ok", LOGIC_2);
    assert_cells(&format!("<think>x</think>\n{JSON}"), "ok", LOGIC_2);
    assert_cells(&format!("x</think>{JSON}"), "ok", LOGIC_2);
    let quoting = r#"{"Realism": {"Physical Logic": {"why": "a <think> tag, ```", "score": 2}}}"#;
    assert_cells(quoting, "ok", LOGIC_2);
    assert_cells("{}", "ok", &[]);
    assert_cells("[1]", "parse_failed the JSON is no object", &[]);
}

#[test]
fn repairs() {
    assert_cells(&format!("```json\n{JSON}\n```"), "ok fence", LOGIC_2);
    assert_cells(&format!("```\n{JSON}"), "ok fence", LOGIC_2);
    assert_cells(&format!("Verdict: {JSON}"), "ok prose", LOGIC_2);
    assert_cells(&format!("Here:\n```json\n{JSON}\n```\nDone."), "ok fence prose", LOGIC_2);
    assert_cells(&format!("Notes {{see below}} then {JSON}"), "ok prose", LOGIC_2);
    assert_cells(&format!("{{\"thoughts\": 1}} then {JSON}"), "ok prose", LOGIC_2);
    assert_cells(&format!("an open {{ brace, then {JSON} and }}"), "ok prose", LOGIC_2);
    // The first object that holds a known name, not the last.
    assert_cells(&format!("{JSON} or {{\"Realism\": {{\"Physical Logic\": {{\"score\": 0}}}}}}"), "ok prose", LOGIC_2);
    assert_cells(&format!("{JSON}</think>"), "ok closing_tag", LOGIC_2);
    assert_cells(&format!("<think>x</think>{JSON}\n</think> "), "ok closing_tag", LOGIC_2);
}

#[test]
fn trailing_commas_go_and_strings_keep_theirs() {
    let text = r#"{"Realism": {"Physical Logic": {"why": "a,} b,]", "score": 2,},},}"#;
    assert_cells(text, "ok trailing_comma", LOGIC_2);
    let raw = read("Quality", Some(text), |reply| reply.entries[0].raw.to_owned());
    assert!(raw.contains("a,} b,]"), "{raw}");
}

#[test]
fn reasoning_is_no_verdict() {
    assert_cells(&format!("<think>maybe {JSON}"), "parse_failed reasoning not closed", &[]);
    assert_cells(&format!("<think>maybe {JSON}</think>"), "parse_failed nothing after the reasoning", &[]);
    assert_cells(&format!("maybe {JSON}</think>"), "parse_failed nothing after the reasoning", &[]);
    assert_cells("<think>", "parse_failed reasoning not closed", &[]);
    assert_cells("I cannot help with that.", "parse_failed no usable JSON object", &[]);
}

/// What stands inside an object that never closes is a part of the verdict that the length limit chose.
#[test]
fn a_verdict_cut_short_is_none() {
    let whole = r#"{"Realism": {"Physical Logic": {"score": 2}}, "Detail": {"Noise": {"score": 0}}}"#;
    assert_cells(whole, "ok", &["Detail / Noise = ok 0", "Realism / Physical Logic = ok 2"]);
    for end in [whole.len() - 1, whole.len() - 2, whole.len() - 12, 46, 30] {
        assert_cells(&whole[..end], "parse_failed the object is cut short", &[]);
        assert_cells(
            &format!("<think>x</think>Verdict: {}", &whole[..end]),
            "parse_failed the object is cut short",
            &[],
        );
    }
    // A brace of prose that opens nothing is no cut verdict.
    assert_cells(&format!("an open {{ brace, then {JSON}"), "ok prose", LOGIC_2);
}

#[test]
fn braces_without_end_take_no_quadratic_time() {
    let text = "{\"a\":[".repeat(300_000);
    assert_cells(&text, "parse_failed no usable object within the search limit", &[]);
}

#[test]
fn values() {
    for (score, expected) in [
        ("0", "ok 0"),
        ("1.0", "ok 1"),
        ("2", "ok 2"),
        (r#""2""#, "ok 2"),
        (r#"" 1 ""#, "ok 1"),
        (r#""+2""#, "invalid"),
        (r#""02""#, "invalid"),
        (r#""1.0""#, "invalid"),
        (r#""２""#, "invalid"),
        ("3", "invalid"),
        ("-1", "invalid"),
        ("1.7", "invalid"),
        ("true", "invalid"),
        ("NaN", "invalid"),
        ("Infinity", "invalid"),
        ("[2]", "invalid"),
        (r#"{"score": 2}"#, "invalid"),
        (r#""2 (Excel)""#, "invalid"),
        (r#""n/a""#, "na"),
        (r#""N/A""#, "na"),
        ("null", "missing"),
        (r#""""#, "missing"),
        (r#""  ""#, "missing"),
    ] {
        assert_cells(
            &format!(r#"{{"Realism": {{"Physical Logic": {{"score": {score}}}}}}}"#),
            "ok",
            &[&format!("Realism / Physical Logic = {expected}")],
        );
    }
    assert_cells(r#"{"Realism": {"Physical Logic": {"why": "x"}}}"#, "ok", &["Realism / Physical Logic = missing"]);
    assert_cells(r#"{"Realism": {"Physical Logic": 2}}"#, "ok", LOGIC_2);
}

#[test]
fn duplicate_keys_with_different_values_are_invalid() {
    let scores = |a: &str, b: &str| format!(r#"{{"Realism": {{"Physical Logic": {{"score": {a}, "score": {b}}}}}}}"#);
    assert_cells(&scores("1", "2"), "ok", &["Realism / Physical Logic = invalid"]);
    assert_cells(&scores("2", "2.0"), "ok", LOGIC_2);
    let facets = |a: u8, b: u8| {
        format!(r#"{{"Realism": {{"Physical Logic": {{"score": {a}}}, "Physical Logic": {{"score": {b}}}}}}}"#)
    };
    assert_cells(&facets(0, 2), "ok", &["Realism / Physical Logic = invalid"]);
    assert_cells(&facets(2, 2), "ok", LOGIC_2);
}

#[test]
fn entries_that_land_on_one_facet_make_one_cell() {
    let landing = |a: &str, b: &str| {
        format!(
            r#"{{"Detail": {{"Physical Logic": {{"score": {a}}}}}, "Realism": {{"Physical Logic": {{"score": {b}}}}}}}"#
        )
    };
    assert_cells(&landing("2", "2"), "ok", LOGIC_2);
    assert_cells(&landing("1", "2"), "ok", &["Realism / Physical Logic = invalid"]);
    assert_cells(&landing("\"N/A\"", "2"), "ok", &["Realism / Physical Logic = invalid"]);
}

#[test]
fn flat_entries_go_where_the_rubric_says() {
    assert_cells(
        r#"{"Realism": {"Physical Logic": {"score": 2}}, "Noise": {"score": 1}, "Edge Clarity": 0, "summary": "x"}"#,
        "ok",
        &["Detail / Edge Clarity = ok 0", "Detail / Noise = ok 1", "Realism / Physical Logic = ok 2"],
    );
}

#[test]
fn facets_outside_the_rubric_are_listed() {
    assert_cells(
        r#"{"Vibes": {"Cool": {"score": 2}}, "Realism": {"Physical Logic": {"score": 2}, "confidence": 1}}"#,
        "ok",
        &["Realism / Physical Logic = ok 2", "Realism / confidence? = ok 1", "Vibes / Cool? = ok 2"],
    );
}

#[test]
fn the_documented_alias_is_noted_and_other_misspellings_are_unknown() {
    let (outcome, cells) = strict("Creative Generation", r#"{"Feature Mapping": {"Feature Mapping": {"score": 1}}}"#);
    assert_eq!(
        (outcome.as_str(), cells.as_slice()),
        ("ok alias", &["Feature Matching / Feature Matching = ok 1".to_owned()][..])
    );
    let (outcome, cells) = strict("Creative Generation", r#"{"Feature Matching": {"Feature Maching": {"score": 1}}}"#);
    assert_eq!(
        (outcome.as_str(), cells.as_slice()),
        ("ok", &["Feature Matching / Feature Maching? = ok 1".to_owned()][..])
    );
}
