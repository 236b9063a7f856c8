//! Judged files of one's own model: CSV, JSON lines and JSON, with the quirks that pandas leaves, beside the public file.

use std::path::Path;

use scorelake::ingest::Provenance;
use serde_json::{Value, json};

use super::util::{Workdir, line, project};

const DIMS: &str = "Quality / Realism / Physical Logic";

fn verdict(score: &str) -> String {
    format!(r#"<think>hm</think>{{"Realism": {{"Physical Logic": {{"score": {score}}}}}}}"#)
}

fn parsed(score: &str) -> String {
    format!(r#"{{"Quality": {{"Realism": {{"Physical Logic": {{"score": {score}}}}}}}}}"#)
}

/// The public file: one model, two prompts, all cells at full points.
fn public(work: &Workdir) -> String {
    let lines: String = (1..=2).map(|id| line(id, DIMS, &[("quality_response_m", json!(verdict("2")))])).collect();
    work.write("public.jsonl", lines)
}

fn csv(rows: &[[&str; 5]]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["ID", "prompt", "image_path", "judge_model_output", "quality_judge_output"]).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn a_judged_table_stands_on_the_board_of_the_public_file() {
    let work = Workdir::new();
    public(&work);
    let (one, two) = (verdict("1"), verdict("0"));
    let (parsed_one, parsed_two) = (parsed("1"), parsed("0"));
    let rows = [["1.0", "a \"cat\",\nin rain", "i/1.png", &parsed_one, &one], ["2", "b", "", &parsed_two, &two]];
    work.write("mine_judged.csv", format!("\u{feff}{}", csv(&rows).replace('\n', "\r\n")));
    let ran = work.run(&["run", "qwen-image-bench", "public.jsonl", "mine_judged.csv", "--model", "Mine"]).expect(0);
    assert!(!ran.stderr.contains("differ, the text taken"), "{}", ran.stderr);
    let board = work.sql("SELECT model, lang, overall, n, coverage FROM qwen_image_bench.leaderboard ORDER BY model");
    let expected = json!([
        {"model": "Mine", "lang": "cn", "overall": 30.0, "n": 2, "coverage": 1.0},
        {"model": "m", "lang": "cn", "overall": 100.0, "n": 2, "coverage": 1.0},
    ]);
    assert_eq!(Value::from(board), expected);
    let prompt = work.row("SELECT prompt_cn, prompt_en FROM qwen_image_bench.prompts WHERE prompt_id = 1");
    assert_eq!(prompt, json!({"prompt_cn": "a \"cat\",\r\nin rain", "prompt_en": null}));
    let image = work.row("SELECT image, source_line FROM qwen_image_bench.responses WHERE model = 'Mine' AND prompt_id = 1 AND pillar = 'Quality'");
    assert_eq!(image, json!({"image": "i/1.png", "source_line": 2}));
    // The public file is the same source with and without --model beside it.
    let again = work.run(&["ingest", "qwen-image-bench", "public.jsonl"]).expect(0);
    assert!(again.stderr.contains("unchanged"), "{}", again.stderr);
}

#[test]
fn the_text_scores_and_the_parsed_output_only_where_there_is_none() {
    let work = Workdir::new();
    let record = |id: f64, text: Value, output: Value| {
        json!({"ID": id, "prompt": "p", "quality_judge_output": text, "judge_model_output": output}).to_string() + "\n"
    };
    let lines = [
        // The text counts, and the difference is told.
        record(1.0, json!(verdict("2")), json!(parsed("0"))),
        // No text: what the script parsed counts, as a string or as an object.
        record(2.0, json!("  "), json!(parsed("1"))),
        record(3.0, Value::Null, serde_json::from_str(&parsed("1")).unwrap()),
        // A text that cannot be read is not replaced.
        record(4.0, json!("sorry"), Value::Null),
        r#"{"ID": 5.0, "prompt": NaN, "quality_judge_output": NaN, "judge_model_output": NaN}"#.to_owned() + "\n",
        record(6.0, json!(verdict("2")), json!("no json")),
    ]
    .concat();
    work.write("mine_judged.json", lines);
    let ran = work.run(&["run", "qwen-image-bench", "mine_judged.json", "--model", "Mine", "--lang", "en"]).expect(0);
    for note in [
        "replies without text, taken from judge_model_output: 2",
        "replies whose text and judge_model_output differ, the text taken: 1",
        "judge_model_output is no JSON object: 1",
    ] {
        assert!(ran.stderr.contains(note), "`{note}` is not in:\n{}", ran.stderr);
    }
    let scores = work.sql("SELECT prompt_id, overall, lang FROM qwen_image_bench.prompt_scores ORDER BY prompt_id");
    let found: Vec<_> = scores.iter().map(|row| (row["prompt_id"].clone(), row["overall"].clone())).collect();
    let expected = [(1, 100.0), (2, 60.0), (3, 60.0), (6, 100.0)].map(|(id, score)| (json!(id), json!(score)));
    assert_eq!(found, expected);
    assert_eq!(scores[0]["lang"], "en");
    let outcomes = work.sql(
        "SELECT prompt_id, outcome FROM qwen_image_bench.responses WHERE pillar = 'Quality' AND outcome <> 'ok' ORDER BY prompt_id",
    );
    let expected = json!([{"prompt_id": 4, "outcome": "parse_failed"}, {"prompt_id": 5, "outcome": "missing"}]);
    assert_eq!(Value::from(outcomes), expected);
}

#[test]
fn the_forms_say_the_same() {
    let boards: Vec<Value> = ["csv", "jsonl", "json", "tsv"]
        .iter()
        .map(|form| {
            let work = Workdir::new();
            let file = format!("mine_judged.{form}");
            let made = if *form == "tsv" { "mine_judged.csv" } else { file.as_str() };
            let args =
                ["synth", "qwen-image-bench", "--rows", "12", "--models", "1", "--noise", "0.2", "--think-chars", "40"];
            work.run(&[&args[..], &["--judged-out", made, "-o", "public.jsonl"]].concat()).expect(0);
            if *form == "tsv" {
                let table = std::fs::read(work.path(made)).unwrap();
                let mut writer = csv::WriterBuilder::new().delimiter(b'\t').from_writer(Vec::new());
                for row in csv::ReaderBuilder::new().has_headers(false).from_reader(&table[..]).records() {
                    writer.write_record(&row.unwrap()).unwrap();
                }
                work.write(&file, writer.into_inner().unwrap());
            }
            work.run(&["run", "qwen-image-bench", &file, "--model", "Mine"]).expect(0);
            json!([work.sql("SELECT * FROM qwen_image_bench.by_facet"), work.latest("official")])
        })
        .collect();
    assert!(boards.iter().all(|board| *board == boards[0]), "{boards:#?}");
    assert!(boards[0][0].as_array().unwrap().len() > 20);
}

#[test]
fn two_judges_and_two_revisions_are_two_entries() {
    let work = Workdir::new();
    public(&work);
    work.write("a_judged.csv", csv(&[["1", "p", "", "", &verdict("2")]]));
    work.write("b_judged.csv", csv(&[["1", "p", "", "", &verdict("1")]]));
    work.run(&["ingest", "qwen-image-bench", "public.jsonl"]).expect(0);
    let ingest = |file: &str, more: &[&str]| {
        work.run(&[&["ingest", "qwen-image-bench", file, "--model", "Mine"], more].concat()).expect(0)
    };
    ingest("a_judged.csv", &[]);
    ingest("a_judged.csv", &["--lang", "en"]);
    ingest("b_judged.csv", &["--judge", "Other@7"]);
    ingest("b_judged.csv", &["--model-revision", "step-900"]);
    let ran = work.run(&["score", "qwen-image-bench"]).expect(0);
    assert!(ran.stderr.contains("2 judges stand in one table"), "{}", ran.stderr);
    let board = work.sql("SELECT model, lang, judge, model_revision, overall, rank FROM qwen_image_bench.leaderboard");
    let entry = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        let key = ["model", "lang", "judge", "model_revision"].map(text).join("|");
        format!("{key} {} {}", row["overall"], row["rank"])
    };
    let found: Vec<_> = board.iter().map(entry).collect();
    // m and the first Mine tie; ranks are apart for each language and judge.
    let expected = [
        "Mine|cn|| 100.0 1",
        "m|cn|| 100.0 1",
        "Mine|cn||step-900 60.0 3",
        "Mine|cn|Other@7| 60.0 1",
        "Mine|en|| 100.0 1",
    ];
    assert_eq!(found, expected);
    // Another judgement of the same image by the same judge contradicts the first.
    let ran = work.run(&["ingest", "qwen-image-bench", "b_judged.csv", "--model", "Mine"]).expect(1);
    assert!(ran.stderr.contains("a_judged.csv") && ran.stderr.contains("b_judged.csv"), "{}", ran.stderr);
}

#[test]
fn what_is_said_of_one_model_must_be_about_a_file() {
    let work = Workdir::new();
    public(&work);
    work.write("mine_judged.csv", csv(&[["1", "p", "", "", &verdict("2")]]));
    work.write("p.toml", "note = 'x'");
    let refused = |args: &[&str], words: &[&str]| {
        let ran = work.run(&[&["ingest", "qwen-image-bench"], args].concat()).expect(2);
        words.iter().for_each(|word| assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr));
    };
    refused(&["mine_judged.csv"], &["does not say which model", "--model NAME", "mine_judged.csv"]);
    refused(&["public.jsonl", "--model", "Mine"], &["--model is not used"]);
    refused(&["public.jsonl", "--lang", "en"], &["--model"]);
    work.write("meta.json", json!([{"ID": 1, "dims_en": DIMS}]).to_string());
    refused(&["meta.json", "--provenance", "p.toml"], &["--provenance is not used"]);
    refused(&["meta.json", "--judge", "J"], &["--judge is not used"]);
    refused(&["meta.json", "--no-raw"], &["--no-raw is not used"]);
    assert!(!work.path("lake/datasets/qwen-image-bench/manifest.json").exists());
}

#[test]
fn d16_d18_rows_that_do_not_fit_the_header() {
    let work = Workdir::new();
    let good = format!("1,\"{}\"\n", verdict("2").replace('"', "\"\""));
    let head = "ID,quality_judge_output\n";
    work.write("a_judged.csv", format!("{head}{good}\n2,x,y\n3,\"two\nlines\"\n"));
    let args = ["ingest", "qwen-image-bench", "a_judged.csv", "--model", "Mine"];
    let ran = work.run(&args).expect(1);
    for word in ["3 fields where the header has 2", "a_judged.csv", "line: 4"] {
        assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr);
    }
    work.run(&[&args[..], &["--on-error", "reject"]].concat()).expect(3);
    let rejects = work.sql("SELECT line, reason, text FROM qwen_image_bench.rejects");
    let expected = json!([{"line": 4, "reason": "3 fields where the header has 2", "text": "2,x,y"}]);
    assert_eq!(Value::from(rejects), expected);
    let lines = work.sql("SELECT DISTINCT source_line FROM qwen_image_bench.responses ORDER BY source_line");
    assert_eq!(Value::from(lines), json!([{"source_line": 2}, {"source_line": 5}]));

    let work = Workdir::new();
    work.write("b_judged.csv", format!("ID,,quality_judge_output\n{}", good.replacen(',', ",,", 1)));
    let ran = work.run(&["run", "qwen-image-bench", "b_judged.csv", "--model", "Mine"]).expect(0);
    assert!(ran.stderr.contains("keys ignored: (a column without name)"), "{}", ran.stderr);

    let work = Workdir::new();
    let fails = |content: &str, words: &[&str]| {
        work.write("c_judged.csv", content);
        let ran = work
            .run(&["ingest", "qwen-image-bench", "c_judged.csv", "--model", "Mine", "--max-line", "64KiB"])
            .expect(1);
        words.iter().for_each(|word| assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr));
    };
    fails("", &["no records"]);
    fails(head, &["no records"]);
    fails("ID,quality_judge_output,ID\n1,x,2\n", &["two columns are named `ID`", "line: 1"]);
    fails(
        &format!("{head}1,\"{}", "x".repeat(200_000)),
        &["a row longer than 65536 bytes", "is a quote not closed?", "line: 2"],
    );
    // A quote that swallows the rest of the file, also across blank lines and line ends of either kind.
    for end in ["\n", "\r\n"] {
        let rows = format!("{head}{good}\n\n2,\"open\n3,x\n4,y\n").replace('\n', end);
        fails(&rows, &["a quote that is opened in this row is not closed", "line: 5"]);
        fails(rows.trim_end(), &["a quote that is opened in this row is not closed", "line: 5"]);
        let long = format!("{head}{good}\n\n\n2,{}\n", "x".repeat(200_000)).replace('\n', end);
        fails(&long, &["a row longer than 65536 bytes", "line: 6"]);
    }
}

#[test]
fn provenance_is_kept_and_shown() {
    let work = Workdir::new();
    let (digest, other) = ("ab".repeat(32), "cd".repeat(32));
    public(&work);
    work.write("mine_judged.csv", csv(&[["1", "p", "i/1.png", "", &verdict("2")], ["2", "p", "i/2.png", "", "sorry"]]));
    work.write("images.sha256", format!("{digest}  i/1.png\n{other} *i/2.png\n"));
    let told = r#"
        [judge]
        weights = "org/judge-32b"
        revision = "d2493deb"
        settings = { seed = 42, temperature = 0.0, thinking = true }
        [generation]
        weights = "org/mine"
        prompt_language = "cn"
        settings = { steps = 28, size = [1024, 1024] }
        [images]
        listing = "images.sha256"
    "#;
    work.write("made.toml", told);
    let args = ["run", "qwen-image-bench", "public.jsonl", "mine_judged.csv", "--model", "Mine"];
    work.run(&args).expect(0);
    let before = work.latest("official");
    // Told later, of sources that are there: the same numbers, and the snapshot tells it.
    let ran = work.run(&[&args[..], &["--provenance", "made.toml"]].concat()).expect(0);
    assert!(ran.stderr.contains("the same as one that was there"), "{}", ran.stderr);
    assert_eq!(work.latest("official"), before);
    work.run(&["snapshot", "verify"]).expect(0);
    let manifest = work.json(&["snapshot", "show", "qwen-image-bench"]);
    let inputs = manifest["inputs"].as_array().unwrap();
    let mine = inputs.iter().find(|input| input["options"]["model"] == "Mine").unwrap();
    assert_eq!(mine["provenance"]["judge"]["settings"], json!({"seed": 42, "temperature": 0.0, "thinking": true}));
    assert_eq!(mine["provenance"]["images"]["sha256"], json!({"i/1.png": digest, "i/2.png": other}));
    assert_eq!(mine["ids"]["count"], 2);
    let public = inputs.iter().find(|input| input["options"]["model"].is_null()).unwrap();
    assert!(public["provenance"].is_null(), "--model says whose provenance it is");
    let shown = work.run(&["snapshot", "show", "qwen-image-bench"]).expect(0).stdout;
    for word in ["org/judge-32b", "seed 42", "temperature 0.0", "steps 28", "size [1024,1024]", "2 images", "1 to 2"] {
        assert!(shown.contains(word), "`{word}` is not in:\n{shown}");
    }

    for (file, text, words) in [
        ("bad.toml", "[judge]\nweigths = 'x'\n", &["unknown field `weigths`", "bad.toml", "[generation]"][..]),
        ("empty.toml", "", &["tells nothing"]),
        ("short.toml", "[images.sha256]\n'a.png' = 'abc'\n", &["no SHA-256", "a.png"]),
        ("gone.toml", "[images]\nlisting = 'gone.sha256'\n", &["gone.sha256"]),
    ] {
        work.write(file, text);
        let ran = work.run(&[&args[..], &["--provenance", file]].concat()).expect(1);
        words.iter().for_each(|word| assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr));
    }
}

/// The form of a file is told by its first record that has one, and every record must be of it.
#[test]
fn a_blank_or_bad_beginning_does_not_change_what_options_are_about() {
    let board = |work: &Workdir| {
        let rows = work.sql("SELECT model, model_revision, judge FROM qwen_image_bench.leaderboard ORDER BY model");
        rows.iter()
            .map(|row| {
                ["model", "model_revision", "judge"].map(|name| row[name].as_str().unwrap().to_owned()).join("|")
            })
            .collect::<Vec<_>>()
    };
    let metadata = json!({"ID": 3, "dims_en": DIMS}).to_string() + "\n";
    for beginning in ["", "\n  \n", "{broken\n", "[]\n", &metadata] {
        let work = Workdir::new();
        let public = std::fs::read_to_string(public(&work)).unwrap();
        work.write("public.jsonl", format!("{beginning}{public}"));
        work.write(
            "mine_judged.csv",
            format!("ID,prompt,quality_judge_output\n,,\n\n1,p,\"{}\"\n", verdict("2").replace('"', "\"\"")),
        );
        work.write("p.toml", "note = 'x'");
        let args =
            ["run", "qwen-image-bench", "public.jsonl", "mine_judged.csv", "--model", "Mine", "--on-error", "reject"];
        let ran = work.run(&[&args[..], &["--model-revision", "R", "--judge", "J", "--provenance", "p.toml"]].concat());
        assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
        assert_eq!(board(&work), ["Mine|R|J", "m||"], "{beginning:?}");
        let inputs = work.json(&["snapshot", "show", "qwen-image-bench"])["inputs"].clone();
        let told = |at: usize| (inputs[at]["form"] == "judged", !inputs[at]["provenance"].is_null());
        assert!(
            inputs.as_array().unwrap().len() == 2
                && [told(0), told(1)].contains(&(true, true))
                && [told(0), told(1)].contains(&(false, false)),
            "{inputs:#}"
        );
    }
    // A record of the other form is a reject, not a row under the wrong options.
    let work = Workdir::new();
    let wide = line(1, DIMS, &[("quality_response_m", json!(verdict("2")))]);
    let own = |id: u32| json!({"ID": id, "quality_judge_output": verdict("1"), "image_path": "i"}).to_string() + "\n";
    let bare = json!({"ID": 9, "image_path": "i/9.png"}).to_string() + "\n";
    work.write("a.jsonl", format!("{bare}{}{wide}{}", own(1), own(2)));
    work.write("b.jsonl", format!("{}{}", wide.replace("\"ID\":1", "\"ID\":5"), own(6)));
    work.run(&["ingest", "qwen-image-bench", "a.jsonl", "b.jsonl", "--model", "Mine", "--on-error", "reject"])
        .expect(3);
    let rejects = work.sql("SELECT line, reason FROM qwen_image_bench.rejects ORDER BY reason");
    let expected = json!([
        {"line": 2, "reason": "a record of a judged file, in a file that began with replies about models it names"},
        {"line": 3, "reason": "replies about models it names, in a file that began as a judged file"},
    ]);
    assert_eq!(Value::from(rejects), expected);
    // A row of which the judge said nothing is an image without replies.
    let silent = work.sql("SELECT DISTINCT outcome, image FROM qwen_image_bench.responses WHERE prompt_id = 9");
    assert_eq!(Value::from(silent), json!([{"outcome": "missing", "image": "i/9.png"}]));
}

#[test]
fn missing_cells_as_pandas_writes_them() {
    let boards: Vec<_> = ["", "NaN", "nan"]
        .iter()
        .map(|missing| {
            let work = Workdir::new();
            work.write("a_judged.csv", csv(&[["1", missing, missing, &parsed("1"), missing], ["2", "p", "", missing, &verdict("2")]]));
            work.run(&["run", "qwen-image-bench", "a_judged.csv", "--model", "Mine"]).expect(0);
            work.sql("SELECT r.prompt_id, r.outcome, s.overall, p.prompt_cn FROM qwen_image_bench.responses AS r JOIN qwen_image_bench.prompt_scores AS s ON r.prompt_id = s.prompt_id JOIN qwen_image_bench.prompts AS p ON p.prompt_id = r.prompt_id WHERE pillar = 'Quality' ORDER BY 1")
        })
        .collect();
    let expected = json!([
        {"prompt_id": 1, "outcome": "ok", "overall": 60.0, "prompt_cn": null},
        {"prompt_id": 2, "outcome": "ok", "overall": 100.0, "prompt_cn": "p"},
    ]);
    assert!(boards.iter().all(|board| Value::from(board.clone()) == expected), "{boards:#?}");
}

/// The mistakes of a hurried person: each message names the file, what was found, and what to do.
#[test]
fn hurried_mistakes_are_told() {
    let work = Workdir::new();
    let good = csv(&[["1", "p", "", "", &verdict("2")]]);
    let told = |content: &str, words: &[&str]| {
        work.write("a_judged.csv", content);
        let ran = work.run(&["ingest", "qwen-image-bench", "a_judged.csv", "--model", "Mine"]).expect(1);
        words
            .iter()
            .chain(&["a_judged.csv"])
            .for_each(|word| assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr));
    };
    told(
        &good.replace("quality_judge_output", "q").replace("judge_model_output", "m"),
        &["no judge's reply (quality_judge_output", "the keys ID, image_path, m, prompt, q"],
    );
    told("ID;prompt;quality_judge_output\n1;p;x\n", &["one column whose name holds `;`", "separate values by commas"]);
    told(&good.replacen("ID", "id", 1), &["no ID: the record has the keys", "id"]);
    work.write("a_judged.csv", &good);
    work.run(&["ingest", "qwen-image-bench", "a_judged.csv", "--model", "Mine"]).expect(0);
    let ran = work.run(&["ingest", "qwen-image-bench", "a_judged.csv", "--model", "Mine", "--judge", "J"]).expect(0);
    assert!(ran.stderr.contains("given under other options: both stand on the board"), "{}", ran.stderr);
    work.write("b_judged.csv", csv(&[["1", "p", "", "", &verdict("0")]]));
    let ran = work.run(&["ingest", "qwen-image-bench", "b_judged.csv", "--model", "Mine"]).expect(1);
    assert!(
        ran.stderr.contains("--judge NAME, --model-revision R; another model, assessor or run needs another name"),
        "{}",
        ran.stderr
    );
}

#[test]
fn shifted_ids_are_told() {
    let work = Workdir::new();
    let prompts: String = (1..=3)
        .map(|id| {
            json!({"ID": id, "prompt_cn": format!("p{id}"), "quality_response_m": verdict("2")}).to_string() + "\n"
        })
        .collect();
    work.write("public.jsonl", prompts);
    let (one, two) = (verdict("1"), verdict("2"));
    work.write("a_judged.csv", csv(&[["1", "p2", "", "", &one], ["2", "p3", "", "", &two], ["3", "p3", "", "", &two]]));
    let ran = work.run(&["run", "qwen-image-bench", "public.jsonl", "a_judged.csv", "--model", "Mine"]).expect(0);
    assert!(
        ran.stderr.contains("2 prompts have different texts in different files, the first of them: 1"),
        "{}",
        ran.stderr
    );
}

/// The provenance that README shows is one that is read.
#[test]
fn the_readme_s_provenance_is_read() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let shown = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let work = Workdir::new();
    let path = work.write("made.toml", shown);
    work.write("images.sha256", format!("{}  images/1.png\n", "ab".repeat(32)));
    let provenance = Provenance::load(Path::new(&path)).unwrap();
    assert_eq!(provenance.judge.unwrap().settings["max_new_tokens"], 4096);
    assert_eq!(provenance.generation.unwrap().weights.unwrap(), "org/mine");
    assert_eq!(provenance.images.unwrap().sha256.len(), 1);
}
