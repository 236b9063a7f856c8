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
    assert!(ran.stderr.contains("only snapshots of protocol official"), "{}", ran.stderr);
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
