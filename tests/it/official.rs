//! Expected values follow from the rules of the official protocol (Q4), not from running this code.

use scorelake::assets::Assets;
use scorelake::ingest::qwen_image_bench::reply::{self, Reply};
use scorelake::schema::taxonomy::Rubric;

/// Reads a reply on a pillar and hands it over.
pub(crate) fn read<T>(pillar: &str, text: Option<&str>, look: impl FnOnce(&Reply<'_>) -> T) -> T {
    let rubric = Rubric::load(&Assets::embedded(), "qwen-image-bench").unwrap();
    let pillar = rubric.pillars.iter().find(|known| known.name == pillar).unwrap();
    look(&reply::read(text, pillar))
}

/// Outcome, repairs, and the cells as `capability / facet = state value`, sorted.
fn official(pillar: &str, text: &str) -> (String, Vec<String>) {
    read(pillar, Some(text), |reply| {
        let mut cells: Vec<_> = reply
            .entries
            .iter()
            .filter_map(|entry| entry.official.as_ref())
            .filter_map(|side| side.judged.map(|judged| (side, judged)))
            .map(|(side, (state, value))| {
                let value = value.map_or(String::new(), |value| format!(" {value}"));
                format!("{} / {} = {}{value}", side.capability, side.facet, state.name())
            })
            .collect();
        cells.sort();
        let repairs = reply.official.repairs.iter().map(|kind| format!(" {kind}")).collect::<String>();
        (format!("{}{repairs}", reply.official.outcome.name()), cells)
    })
}

#[track_caller]
fn assert_cells(text: &str, outcome: &str, cells: &[&str]) {
    assert_eq!(
        official("Quality", text),
        (outcome.to_owned(), cells.iter().map(|cell| (*cell).to_owned()).collect()),
        "{text}"
    );
}

const LOGIC_2: &[&str] = &["Realism / Physical Logic = ok 2"];

#[test]
fn rule_1_the_text_after_the_last_closing_tag() {
    let json = r#"{"Realism": {"Physical Logic": {"score": 2}}}"#;
    assert_cells(json, "ok", LOGIC_2);
    assert_cells(&format!("<think>a {{\"x\": 1}}</think>{json}"), "ok", LOGIC_2);
    assert_cells(&format!("a</think>b</think>\n\u{1f}\u{3000}{json}\u{1c}"), "ok", LOGIC_2);
    // From the first brace to the last.
    assert_cells(&format!("Verdict: {json} as said"), "ok braces", LOGIC_2);
    assert_cells(&format!("```json\n{json}\n```"), "ok braces", LOGIC_2);
    assert_cells(&format!("\u{feff}{json}"), "ok braces", LOGIC_2);
    assert_cells(&format!("Notes {{see below}} then {json}"), "parse_failed", &[]);
    assert_cells("I cannot help with that.", "parse_failed", &[]);
    assert_cells("} {", "parse_failed", &[]);
    assert_cells(&format!("{json}</think>"), "parse_failed", &[]);
    // No closing tag: the whole text is searched, reasoning too.
    assert_cells(&format!("<think>maybe {json}"), "ok braces", LOGIC_2);
}

#[test]
fn rule_1_an_absent_null_or_blank_reply_is_missing() {
    for text in [None, Some(""), Some(" \n\t\u{a0}\u{1d}")] {
        assert_eq!(read("Quality", text, |reply| reply.official.outcome.name()), "missing");
    }
    assert_cells("<think>long</think>  ", "parse_failed", &[]);
}

#[test]
fn rule_2_json_is_pythons_dialect() {
    assert_cells(r#"{"Realism": {"Physical Logic": {"score": NaN}}}"#, "ok", &["Realism / Physical Logic = invalid"]);
    assert_cells(r#"{"Realism": {"Physical Logic": {"score": 0}, "Physical Logic": {"score": 2}}}"#, "ok", LOGIC_2);
    assert_cells("{\"Realism\": {\"Physical Logic\": {\"why\": \"a\tb\", \"score\": 2}}}", "parse_failed", &[]);
    assert_cells(r#"{"Realism": {"Physical Logic": {"score": 2},}}"#, "parse_failed", &[]);
    assert_cells(r#"{"Realism": {"Physical Logic": {"score": 02}}}"#, "parse_failed", &[]);
    assert_cells(r#"{"Realism": {"Physical Logic": {"why": "\ud83d", "score": 2}}}"#, "ok", LOGIC_2);
    assert_cells(r#"{"Realism": {"Physical Logic": {"why": "\x", "score": 2}}}"#, "parse_failed", &[]);
}

#[test]
fn rule_2_a_duplicate_key_keeps_its_first_place() {
    // The first member's last value is no object with a score, so the reply is nested, though it begins flat.
    let text = r#"{"Noise": {"score": 1}, "Detail": {"Edge Clarity": {"score": 2}}, "Noise": {"Noise": {"score": 0}}}"#;
    assert_cells(text, "ok", &["Detail / Edge Clarity = ok 2", "Detail / Noise = ok 0"]);
}

#[test]
fn rule_3_flat_replies() {
    assert_cells(
        r#"{"Noise": {"score": 1}, "Physical Logic": 2, "Mood": {"score": 0}, "note": "fine"}"#,
        "ok",
        &["Detail / Noise = ok 1", "Mood / Mood = ok 0", "Realism / Physical Logic = ok 2", "note / note = invalid"],
    );
    // A first value without a score key makes the reply nested.
    assert_cells(r#"{"Noise": {"points": 1}}"#, "ok", &["Noise / points = ok 1"]);
}

#[test]
fn rule_3_nested_replies() {
    // Members of a capability are facets whatever they are; known ones go where the rubric has them.
    assert_cells(
        r#"{"Realism": {"Physical Logic": {"score": 2}, "confidence": 1, "Noise": {"score": 0}}, "summary": "good", "n": 2}"#,
        "ok",
        &["Detail / Noise = ok 0", "Realism / Physical Logic = ok 2", "Realism / confidence = ok 1"],
    );
    assert_cells(r#"{"Vibes": {"Cool": {"score": 2}}}"#, "ok", &["Vibes / Cool = ok 2"]);
    // A flat entry inside a nested reply makes a capability of that name.
    assert_cells(
        r#"{"Realism": {"Physical Logic": {"score": 2}}, "Noise": {"score": 1}}"#,
        "ok",
        &["Noise / score = ok 1", "Realism / Physical Logic = ok 2"],
    );
}

#[test]
fn rule_3_feature_mapping_means_feature_matching_in_creative_generation_only() {
    let text = r#"{"Feature Mapping": {"Feature Mapping": {"score": 1}, "Other": {"score": 2}}}"#;
    let (outcome, cells) = official("Creative Generation", text);
    assert_eq!(outcome, "ok alias");
    assert_eq!(cells, ["Feature Matching / Feature Matching = ok 1", "Feature Matching / Other = ok 2"]);
    assert_cells(text, "ok", &["Feature Mapping / Feature Mapping = ok 1", "Feature Mapping / Other = ok 2"]);
}

#[test]
fn rule_3_of_two_entries_on_one_cell_the_later_wins() {
    assert_cells(
        r#"{"Detail": {"Physical Logic": {"score": 0}}, "Realism": {"Physical Logic": {"score": 2}}}"#,
        "ok",
        LOGIC_2,
    );
    assert_cells(
        r#"{"Realism": {"Physical Logic": {"score": 2}}, "Detail": {"Physical Logic": {"score": "N/A"}}}"#,
        "ok",
        &["Realism / Physical Logic = na"],
    );
}

#[test]
fn rule_4_values() {
    for (score, expected) in [
        ("0", "ok 0"),
        ("1", "ok 1"),
        ("2", "ok 2"),
        ("3", "invalid"),
        ("-1", "invalid"),
        ("1.0", "ok 1"),
        ("1.7", "ok 1"),
        ("-0.9", "ok 0"),
        ("2.99", "ok 2"),
        ("1e0", "ok 1"),
        ("1e400", "invalid"),
        ("NaN", "invalid"),
        ("Infinity", "invalid"),
        ("-Infinity", "invalid"),
        ("true", "ok 1"),
        ("false", "ok 0"),
        ("null", "missing"),
        ("[]", "invalid"),
        ("{}", "invalid"),
        ("18446744073709551616", "invalid"),
        (r#""N/A""#, "na"),
        (r#""n/a""#, "na"),
        (r#"" N/A ""#, "invalid"),
        (r#""""#, "missing"),
        (r#""2""#, "ok 2"),
        (r#"" 1\n""#, "ok 1"),
        (r#""+2""#, "ok 2"),
        (r#""-0""#, "ok 0"),
        (r#""0_1""#, "ok 1"),
        (r#""_1""#, "invalid"),
        (r#""1__0""#, "invalid"),
        (r#""1.0""#, "invalid"),
        (r#""2 (Excel)""#, "invalid"),
        (r#""２""#, "ok 2"),
        (r#""\u0661""#, "ok 1"),
        (r#""²""#, "invalid"),
        (r#""good""#, "invalid"),
    ] {
        assert_cells(
            &format!(r#"{{"Realism": {{"Physical Logic": {{"score": {score}}}}}}}"#),
            "ok",
            &[&format!("Realism / Physical Logic = {expected}")],
        );
    }
    assert_cells(r#"{"Realism": {"Physical Logic": {"why": "x"}}}"#, "ok", &["Realism / Physical Logic = missing"]);
}

#[test]
fn rule_5_replies_on_which_the_script_would_abort_are_left_out() {
    for text in ["[1]", "3", "\"text\"", "null", "NaN"] {
        assert_cells(text, "parse_failed", &[]);
    }
    assert_cells("{}", "ok", &[]);
}
