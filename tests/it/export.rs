//! Exports: what other programs read is what the snapshot holds.

use calamine::{Data, Reader, Xlsx, open_workbook};
use serde_json::{Value, json};

use super::util::{Workdir, line};

fn scored() -> Workdir {
    let work = Workdir::new();
    let args =
        ["synth", "qwen-image-bench", "--rows", "10", "--models", "3", "--en", "--noise", "0.2", "--think-chars", "20"];
    work.run(&[&args[..], &["--judged-out", "mine_judged.csv", "-o", "r.jsonl"]].concat()).expect(0);
    work.run(&["run", "qwen-image-bench", "r.jsonl", "mine_judged.csv", "--model", "Mine"]).expect(0);
    work
}

fn book(work: &Workdir, name: &str) -> Vec<(String, Vec<Vec<Data>>)> {
    let mut book: Xlsx<_> = open_workbook(work.path(name)).unwrap();
    let names = book.sheet_names();
    names
        .into_iter()
        .map(|name| {
            let range = book.worksheet_range(&name).unwrap();
            (name, range.rows().map(<[Data]>::to_vec).collect())
        })
        .collect()
}

fn text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        other => other.to_string(),
    }
}

#[test]
fn every_table_in_every_form() {
    let work = scored();
    work.run(&["export", "qwen-image-bench", "--xlsx", "o/all.xlsx", "--json", "o/all.json", "--csv", "o/csv"])
        .expect(0);
    let manifest = work.json(&["snapshot", "show", "qwen-image-bench"]);
    let all: Value = serde_json::from_slice(&std::fs::read(work.path("o/all.json")).unwrap()).unwrap();
    assert_eq!(all["snapshot"]["id"], manifest["id"]);
    let sheets = book(&work, "o/all.xlsx");
    assert_eq!(
        sheets[0].1[1].iter().map(text).collect::<Vec<_>>()[..2],
        ["snapshot", manifest["id"].as_str().unwrap()]
    );
    assert_eq!(sheets[1].0, "leaderboard");
    let tables = manifest["tables"].as_array().unwrap();
    assert_eq!(sheets.len(), tables.len() + 1);
    for table in tables {
        let name = table["name"].as_str().unwrap();
        let shown = work.json(&["show", "qwen-image-bench", name]);
        assert_eq!(all["tables"][name], shown, "{name}");
        let csv = std::fs::read_to_string(work.path(&format!("o/csv/{name}.csv"))).unwrap();
        assert_eq!(csv, work.run(&["show", "qwen-image-bench", name, "--format", "csv"]).expect(0).stdout, "{name}");
        let (_, rows) = sheets.iter().find(|(sheet, _)| sheet == name).unwrap();
        let columns: Vec<String> = rows[0].iter().map(text).collect();
        assert_eq!(rows.len() - 1, shown.as_array().unwrap().len(), "{name}");
        for (cells, row) in rows[1..].iter().zip(shown.as_array().unwrap()) {
            for (column, cell) in columns.iter().zip(cells) {
                let same = match (cell, &row[column]) {
                    (Data::Empty, Value::Null) => true,
                    (Data::Empty, Value::String(text)) => text.is_empty(),
                    (Data::String(cell), Value::String(text)) => cell == text,
                    (Data::Bool(cell), Value::Bool(value)) => cell == value,
                    (Data::Float(cell), Value::Number(value)) => Some(*cell) == value.as_f64(),
                    _ => false,
                };
                assert!(same, "{name}.{column}: {cell:?} {}", row[column]);
            }
        }
    }
    // The same bytes again, and nothing is overwritten unasked.
    let first = std::fs::read(work.path("o/all.xlsx")).unwrap();
    let ran = work.run(&["export", "qwen-image-bench", "--xlsx", "o/all.xlsx"]).expect(2);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    work.run(&["export", "qwen-image-bench", "--xlsx", "o/all.xlsx", "--force"]).expect(0);
    assert_eq!(std::fs::read(work.path("o/all.xlsx")).unwrap(), first);
    work.run(&["export", "qwen-image-bench"]).expect(2);
}

#[test]
fn the_script_s_own_files() {
    let work = scored();
    work.run(&["export", "qwen-image-bench", "--official", "out"]).expect(0);
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(work.path(name)).unwrap()).unwrap() };
    for (lang, suffix, models) in [("cn", "", 4), ("en", "_en", 3)] {
        let detail = read(&format!("out/scores_detail{suffix}.json"));
        let detail = detail.as_object().unwrap();
        let board = work
            .sql(&format!("SELECT * FROM qwen_image_bench.leaderboard WHERE lang = '{lang}' ORDER BY overall DESC"));
        assert_eq!(board.len(), models);
        // Models by total, pillars and capabilities in the rubric's order, full precision.
        let names: Vec<_> = board.iter().map(|row| row["model"].as_str().unwrap()).collect();
        assert_eq!(detail.keys().collect::<Vec<_>>(), names);
        for row in &board {
            let model = &detail[row["model"].as_str().unwrap()];
            assert_eq!(model.as_object().unwrap().keys().collect::<Vec<_>>(), ["total", "level1", "level2"]);
            assert_eq!(model["total"], row["overall"]);
            let level1 = model["level1"].as_object().unwrap();
            let all = ["Quality", "Aesthetics", "Alignment", "Creative Generation", "Real-world Fidelity"];
            assert_eq!(
                level1.keys().collect::<Vec<_>>(),
                all.iter().filter(|name| level1.contains_key(**name)).collect::<Vec<_>>()
            );
            for (pillar, column) in
                all.iter().zip(["quality", "aesthetics", "alignment", "creative_generation", "real_world_fidelity"])
            {
                assert_eq!(level1.get(*pillar).unwrap_or(&Value::Null), &row[column]);
            }
            let capabilities = model["level2"]["Quality"].as_object().unwrap();
            assert_eq!(capabilities.keys().take(3).collect::<Vec<_>>(), ["Realism", "Detail", "Resolution"]);
        }
        let sheets = book(&work, &format!("out/scores_result{suffix}.xlsx"));
        let titles: Vec<_> = sheets.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            titles,
            ["Level-1 Summary", "Quality", "Aesthetics", "Alignment", "Creative Generation", "Real-world Fidelity"]
        );
        let head: Vec<_> = sheets[0].1[0].iter().map(text).collect();
        assert_eq!(
            head,
            ["Model", "Quality", "Aesthetics", "Alignment", "Creative Generation", "Real-world Fidelity", "Total"]
        );
        let first: Vec<_> = sheets[0].1[1].iter().collect();
        assert_eq!(text(first[0]), names[0]);
        assert_eq!(*first[6], Data::Float(board[0]["overall"].as_f64().unwrap()));
        let capabilities: Vec<_> = sheets[1].1[0].iter().map(text).collect();
        assert_eq!(capabilities[..4], ["Model", "Detail", "Realism", "Resolution"], "alphabetical here");
    }
    // The pair of a judged file.
    let own = read("out/mine_bench_scores.json");
    assert_eq!(own.as_object().unwrap().keys().collect::<Vec<_>>(), ["level1", "level2", "total"]);
    assert_eq!(own["total"], read("out/scores_detail.json")["Mine"]["total"]);
    let sheets = book(&work, "out/mine_bench_scores.xlsx");
    let column = |at: usize| sheets[0].1.iter().map(|row| text(&row[at])).collect::<Vec<_>>();
    assert_eq!(
        column(0),
        ["Dimension", "Quality", "Aesthetics", "Alignment", "Creative Generation", "Real-world Fidelity", "Total"]
    );
    assert_eq!(sheets[1].1[0].iter().map(text).collect::<Vec<_>>(), ["Sub-dimension", "Score"]);
    // Only what the script computes has the script's files.
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    let ran = work.run(&["export", "qwen-image-bench@strict", "--official", "strict"]).expect(2);
    assert!(ran.stderr.contains("the protocol is `strict`"), "{}", ran.stderr);
    let other = work.run(&["score", "qwen-image-bench", "--set", "score_map_1=50"]).expect(0);
    let id = other.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ran = work.run(&["export", &format!("qwen-image-bench@{id}"), "--official", "other"]).expect(2);
    assert!(ran.stderr.contains("a parameter is not the script's"), "{}", ran.stderr);
}

#[test]
fn s01_s05_s06_s16_names_are_data() {
    let work = Workdir::new();
    let long = "A capability whose name is much longer than a sheet's";
    let reply = |score: u32| {
        json!(format!(
            r#"{{"Difference/Similarity": {{"[x]": {{"score": {score}}}}}, "{long}": {{"=1+1": {{"score": 1}}}}}}"#
        ))
    };
    let evil = [r#"=HYPERLINK("http://x","y")"#, "@sum", "-x", "\u{16}ctl", "../../tmp/x", "ok"];
    let replies: Vec<_> = evil.iter().map(|model| (format!("alignment_response_{model}"), reply(2))).collect();
    let replies: Vec<_> = replies.iter().map(|(key, reply)| (key.as_str(), reply.clone())).collect();
    work.write("r.jsonl", line(1, "Alignment / Attributes / Color", &replies));
    work.write(
        "..x_judged.csv",
        "ID,alignment_judge_output\n1,\"{\"\"Attributes\"\": {\"\"Color\"\": {\"\"score\"\": 2}}}\"\n",
    );
    work.run(&["run", "qwen-image-bench", "r.jsonl", "..x_judged.csv", "--model", "../up"]).expect(0);
    let ran = work
        .run(&["export", "qwen-image-bench", "--xlsx", "all.xlsx", "--csv", "plain", "--official", "out"])
        .expect(0);
    assert!(ran.stderr.contains("texts hold control characters"), "{}", ran.stderr);
    let sheets = book(&work, "all.xlsx");
    let models: Vec<_> = sheets[1].1[1..].iter().map(|row| row[1].clone()).collect();
    for model in evil.iter().filter(|model| !model.contains('\u{16}')) {
        assert!(models.contains(&Data::String((*model).to_owned())), "{model}: a text, no formula: {models:?}");
    }
    let board = std::fs::read_to_string(work.path("plain/leaderboard.csv")).unwrap();
    assert!(board.contains(r#","=HYPERLINK(""http://x"",""y"")","#), "raw CSV is lossless: {board}");
    let ran = work.run(&["export", "qwen-image-bench", "--csv", "guarded", "--for-spreadsheets"]).expect(0);
    assert!(ran.stderr.contains("got an apostrophe in front"), "{}", ran.stderr);
    let board = std::fs::read_to_string(work.path("guarded/leaderboard.csv")).unwrap();
    for model in [r#""'=HYPERLINK("#, ",'@sum,", ",'-x,"] {
        assert!(board.contains(model), "{model}: {board}");
    }
    let names: Vec<_> = std::fs::read_dir(work.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&"%2e.x_bench_scores.json".to_owned()), "{names:?}");
    let (_, alignment) =
        book(&work, "out/scores_result.xlsx").into_iter().find(|(name, _)| name == "Alignment").unwrap();
    let head: Vec<_> = alignment[0].iter().map(text).collect();
    assert_eq!(head, ["Model", long, "Attributes", "Difference/Similarity"], "full names inside the sheet");
}

/// Entries, files and their names: nothing takes another one's place.
#[test]
fn pairs_of_judged_files_are_of_entries() {
    let work = Workdir::new();
    let row = |id: u32, score: u32| {
        format!("{id},\"{{\"\"Realism\"\": {{\"\"Physical Logic\"\": {{\"\"score\"\": {score}}}}}}}\"\n")
    };
    let ingest = |file: &str, content: String, args: &[&str]| {
        work.write(file, format!("ID,quality_judge_output\n{content}"));
        work.run(&[&["ingest", "qwen-image-bench", file], args].concat()).expect(0);
    };
    ingest("x/a_judged.csv", row(1, 2), &["--model", "X"]);
    ingest("y/a_judged.csv", row(1, 1), &["--model", "Y"]);
    ingest("z/a_X_cn_judged.csv", row(1, 0), &["--model", "Z"]);
    ingest("one_judged.csv", row(1, 2), &["--model", "Both", "--judge", "J"]);
    ingest("two_judged.csv", row(2, 0), &["--model", "Both", "--judge", "J"]);
    ingest(&format!("{}_judged.csv", "模型".repeat(20)), row(1, 2), &["--model", &"长".repeat(2000)]);
    work.run(&["score", "qwen-image-bench"]).expect(0);
    let ran = work.run(&["export", "qwen-image-bench", "--official", "out"]).expect(0);
    assert!(ran.stderr.contains("2 judged files of Both have one pair of files"), "{}", ran.stderr);
    let total = |name: &str| {
        let text = std::fs::read(work.path(&format!("out/{name}_bench_scores.json"))).unwrap();
        serde_json::from_slice::<Value>(&text).unwrap()["total"].as_f64().unwrap()
    };
    assert_eq!(total("a_X_cn"), 100.0);
    assert_eq!(total("a_Y_cn"), 60.0);
    assert_eq!(total("a_X_cn-2"), 0.0);
    assert_eq!(total("Both_judge-J_cn"), 50.0);
    assert_eq!(total(&"模型".repeat(20)), 100.0);
    // Two entries that the script's files could not tell apart are refused, not merged.
    ingest("p_judged.csv", row(1, 2), &["--model", "M", "--model-revision", "R", "--judge", "K"]);
    ingest("q_judged.csv", row(1, 1), &["--model", "M", "--model-revision", "R, judge K"]);
    work.run(&["score", "qwen-image-bench"]).expect(0);
    let ran = work.run(&["export", "qwen-image-bench", "--official", "clash"]).expect(1);
    assert!(ran.stderr.contains("would both be `M (revision R, judge K)`"), "{}", ran.stderr);
    assert!(!work.path("clash").exists());
}

#[cfg(unix)]
#[test]
fn an_export_replaces_files_and_nothing_else() {
    let work = scored();
    std::os::unix::fs::symlink(work.path("mine_judged.csv"), work.path("link.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", work.path("dangling.json")).unwrap();
    std::fs::create_dir(work.path("folder.json")).unwrap();
    let before = std::fs::read(work.path("mine_judged.csv")).unwrap();
    for target in ["link.json", "dangling.json", "folder.json"] {
        let ran = work.run(&["export", "qwen-image-bench", "--json", target, "--force"]).expect(2);
        assert!(ran.stderr.contains("no regular file"), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read(work.path("mine_judged.csv")).unwrap(), before);
    work.run(&["export", "qwen-image-bench", "--json", "same", "--xlsx", "same"]).expect(2);
    // One taken name: none of the folder's files is written.
    work.write("csv/ledger.csv", "mine");
    work.run(&["export", "qwen-image-bench", "--csv", "csv"]).expect(2);
    assert_eq!(std::fs::read_dir(work.path("csv")).unwrap().count(), 1);
    work.run(&["export", "qwen-image-bench", "--csv", "csv", "--force"]).expect(0);
    assert!(std::fs::read_dir(work.path("csv")).unwrap().count() > 5);
}

#[test]
fn integers_beyond_doubles_stay_themselves() {
    let work = Workdir::new();
    let ids = ["9007199254740993", "9007199254740992", "-7"];
    let lines: String = ids
        .iter()
        .map(|id| {
            format!(
                "{{\"ID\": {id}, \"quality_response_m\": \"{{\\\"Realism\\\": {{\\\"Physical Logic\\\": 2}}}}\"}}\n"
            )
        })
        .collect();
    work.write("r.jsonl", lines);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.run(&["export", "qwen-image-bench", "--xlsx", "all.xlsx"]).expect(0);
    let sheets = book(&work, "all.xlsx");
    let (_, rows) = sheets.iter().find(|(name, _)| name == "prompt_scores").unwrap();
    let mut found: Vec<_> = rows[1..].iter().map(|row| text(&row[2])).collect();
    found.sort();
    assert_eq!(found, ["-7", "9007199254740992", "9007199254740993"]);
}
