//! Commands, formats, exit codes, and the texts of the mistakes people make.

use std::process::Stdio;

use serde_json::{Value, json};

use super::util::{Workdir, project};

/// A lake of the samples, scored.
fn demo() -> Workdir {
    let work = Workdir::new();
    let samples = project().join("data/samples/qwen-image-bench");
    work.run(&["run", "qwen-image-bench", samples.to_str().unwrap(), "-q"]).expect(0);
    work
}

/// An error's text with the test's folder taken out.
fn error(work: &Workdir, args: &[&str], code: i32) -> String {
    let ran = work.run(args).expect(code);
    assert_eq!(ran.stdout, "", "an error leaves stdout alone");
    ran.stderr.replace(work.path("").to_string_lossy().as_ref(), "DIR/")
}

#[test]
fn run_prints_the_board_on_stdout_and_the_rest_on_stderr() {
    let work = Workdir::new();
    let samples = project().join("data/samples/qwen-image-bench");
    let line = ["run", "qwen-image-bench", samples.to_str().unwrap(), "--intervals", "default"];
    let ran = work.run(&line).expect(0);
    insta::assert_snapshot!("run_board", ran.stdout);
    let told = ran.stderr.replace(project().to_string_lossy().as_ref(), "PROJECT");
    insta::assert_snapshot!("run_notes", told);
    // F01: no terminal, no escape codes, no carriage returns.
    assert!(!told.contains(['\r', '\u{1b}']));
    let compared = work.run(&["compare", "qwen-image-bench", "--all"]).expect(0);
    insta::assert_snapshot!("compare_all", compared.stdout + "\n" + &compared.stderr);
    let quiet = work.run(&[&line[..], &["-q"]].concat()).expect(0);
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (ran.stdout, ""));
}

#[test]
fn every_format_of_a_table() {
    let work = demo();
    let of = |format: &str| work.run(&["show", "qwen-image-bench", "--format", format]).expect(0).stdout;
    let rows: Vec<Value> = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(rows.len(), 4);
    let lines: Vec<Value> = of("ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, rows);
    for (format, delimiter) in [("csv", b','), ("tsv", b'\t')] {
        let text = of(format);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let found: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(found.len(), rows.len());
        for (record, row) in found.iter().zip(&rows) {
            for (name, cell) in headers.iter().zip(record) {
                match &row[name] {
                    Value::Null => assert_eq!(cell, ""),
                    Value::Number(number) => {
                        assert_eq!(cell.parse::<f64>().unwrap(), number.as_f64().unwrap(), "full precision")
                    }
                    other => assert_eq!(cell, other.as_str().unwrap()),
                }
            }
        }
    }
    assert!(of("markdown").starts_with("| rank | model "));
    let parquet = work.command(&["show", "qwen-image-bench", "--format", "parquet"]).output().unwrap().stdout;
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn nothing_is_a_table_too() {
    let work = demo();
    let none = "SELECT model, overall FROM qwen_image_bench.leaderboard WHERE rank = 99";
    for (format, expected) in [("json", "[]\n"), ("csv", "model,overall\n"), ("ndjson", "")] {
        assert_eq!(work.run(&["sql", none, "--format", format]).expect(0).stdout, expected);
    }
    // D23
    assert_eq!(work.json(&["show", "qwen-image-bench", "--limit", "0"]), json!([]));
    assert_eq!(work.json(&["show", "qwen-image-bench", "ledger", "--limit", "3"]).as_array().unwrap().len(), 3);
}

#[test]
fn numbers_that_are_none_are_null_in_json() {
    // D19
    let work = Workdir::new();
    let rows = work
        .sql("SELECT 0.0 / 0.0 AS nan, 1.0 / 0.0 AS inf, exact_avg(x) AS none FROM (SELECT CAST(NULL AS DOUBLE) AS x)");
    assert_eq!(rows, [json!({ "nan": null, "inf": null, "none": null })]);
}

#[test]
fn sql_from_a_file_from_stdin_and_by_name() {
    let work = demo();
    let query = "-- a comment; with a semicolon\nSELECT ';' AS x, count(*) AS n FROM qwen_image_bench.by_facet";
    work.write("q.sql", query);
    assert_eq!(work.json(&["sql", "-f", "q.sql"]), json!([{ "x": ";", "n": 224 }]));
    let mut command = work.command(&["sql", "-f", "-", "--format", "csv"]);
    command.stdin(std::fs::File::open(work.path("q.sql")).unwrap());
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), "x,n\n;,224\n");
    let ran = work.run(&["sql", "--query", "metrics_that_agree"]).expect(1);
    assert!(ran.stderr.contains("the lake has nothing of agiqa-3k"), "{}", ran.stderr);
    super::datasets::run_all(&work);
    let names = work.json(&["sql", "--list"]);
    for name in names.as_array().unwrap() {
        let ran = work.run(&["sql", "--query", name["query"].as_str().unwrap(), "--format", "csv"]).expect(0);
        assert!(ran.stdout.lines().count() > 1, "{name}: a question with an answer");
    }
    let ran = work
        .run(&["sql", "SELECT $n + 1 AS n, $t AS t", "--set", "n=41", "--set", "t=o'hara", "--format", "csv"])
        .expect(0);
    assert_eq!(ran.stdout, "n,t\n42,o'hara\n");
}

#[test]
fn other_protocols_have_a_schema_of_their_own() {
    let work = demo();
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    let row = work.row(
        "SELECT count(*) AS n FROM qwen_image_bench.leaderboard AS o
         JOIN qwen_image_bench_strict.leaderboard AS s ON o.model = s.model AND o.overall <> s.overall",
    );
    assert!(row["n"].as_i64().unwrap() > 0, "the samples have replies that the readings take differently");
}

#[test]
fn a_query_cannot_change_anything() {
    let work = demo();
    for query in [
        "DROP TABLE qwen_image_bench.leaderboard",
        "CREATE TABLE x AS SELECT 1",
        "COPY (SELECT 1) TO 'x.csv'",
        "INSERT INTO qwen_image_bench.prompts VALUES (1)",
        "SELECT 1; SELECT 2",
        "SET datafusion.execution.batch_size = 1",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
    ] {
        let ran = work.run(&["sql", query]).expect(1);
        assert!(!ran.stderr.contains("panicked"), "{query}: {}", ran.stderr);
    }
    assert!(!work.path("x.csv").exists());
}

#[test]
fn f04_errors_as_json() {
    let work = demo();
    let ran = work.run(&["sql", "SELEC 1", "--format", "json"]).expect(1);
    assert_eq!(ran.stdout, "");
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["kind"], "sql");
    work.write("bad.jsonl", "\nnope\n");
    let ran = work.run(&["ingest", "qwen-image-bench", "bad.jsonl", "--format", "json"]).expect(1);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&error["kind"], &error["line"]), (&json!("input"), &json!("2")));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let work = demo();
    let mut child = work
        .command(&["show", "qwen-image-bench", "capability_scores", "--format", "csv"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut child =
        work.command(&["synth", "qwen-image-bench", "--rows", "200"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn messages_of_common_mistakes() {
    let work = demo();
    let mut all = String::new();
    for (args, code) in [
        (&["run", "qwen-image", "x.jsonl"][..], 2),
        (&["run", "qwen-image-bench", "x.jsonl"], 1),
        (&["run", "qwen-image-bench", "nothing*.jsonl"], 1),
        (&["run", "qwen-image-bench", "ftp://example.org/x.jsonl"], 2),
        (&["score", "qwen-image-bench", "--protocol", "lenient"], 2),
        (&["score", "qwen-image-bench", "--set", "score_map_3=7"], 2),
        (&["score", "qwen-image-bench", "--set", "facets=all"], 2),
        (&["score", "qwen-image-bench", "--set", "score_map_1=much"], 2),
        (&["score", "qwen-bench"], 2),
        (&["synth", "qwen-image-bench", "--noise", "2"], 2),
        (&["show", "qwen-image-bench", "prompts"], 2),
        (&["score", "missing.toml"], 1),
        (&["sql", "SELECT * FROM leaderboard"], 1),
        (&["sql", "SELECT * FROM qwen_image_bench.leaderbord"], 1),
        (&["sql", "SELECT $model"], 1),
        (&["sql"], 2),
        (&["sql", "--query", "best"], 2),
        (&["show", "qwen-image-bench", "by_pilar"], 2),
        (&["schema", "judgements"], 2),
        (&["show", "qwen-image-bench", "--format", "xml"], 2),
        (&["run", "qwen-image-bench", "x", "--memory", "2 apples"], 2),
        (&["run", "qwen-image-bench", "x", "--threads", "0"], 2),
    ] {
        all += &format!("$ scorelake {}\n{}\n", args.join(" "), error(&work, args, code));
    }
    insta::assert_snapshot!("mistakes", all);
}

#[test]
fn pipelines_of_ones_own() {
    let work = demo();
    let own = std::fs::read_to_string(project().join("pipelines/qwen-image-bench.toml")).unwrap();
    work.write(
        "mine/strictest.toml",
        own.replace("\"1\" = 60.0", "\"1\" = 0.0")
            .replace("name = \"qwen-image-bench\"\nd", "name = \"all-or-nothing\"\nd"),
    );
    work.run(&["check", "mine/strictest.toml"]).expect(0);
    let latest = work.latest("official");
    let ran = work.run(&["score", "mine/strictest.toml"]).expect(0);
    assert!(ran.stderr.contains("not the latest"), "{}", ran.stderr);
    assert_eq!(work.latest("official"), latest, "another score map is not the benchmark's board");
    let id = ran.stderr.lines().find_map(|line| line.strip_prefix("snapshot ")).unwrap()[..32].to_owned();
    let scores = work.json(&["show", &format!("qwen-image-bench@{id}"), "prompt_scores"]);
    assert!(scores.as_array().unwrap().len() > 100);
    assert_eq!(work.json(&["snapshot", "show", &format!("qwen-image-bench@{id}")])["pipeline"], "all-or-nothing");
    // One SQL file of one's own beside the pipeline takes the place of the built-in one.
    let flat = std::fs::read_to_string(project().join("sql/qwen_image_bench/by_facet.sql")).unwrap();
    work.write("mine/qwen_image_bench/by_facet.sql", flat.replace("exact_avg(score)", "avg(score)"));
    let told = error(&work, &["check", "mine/strictest.toml"], 1);
    assert!(told.contains("avg over doubles depends on the order of rows") && told.contains("exact_avg"), "{told}");
}

#[test]
fn wrong_pipelines_are_told_where() {
    let work = demo();
    let own = std::fs::read_to_string(project().join("pipelines/qwen-image-bench.toml")).unwrap();
    let mut all = String::new();
    for (what, from, to) in [
        ("unknown key", "dataset = ", "colour = \"red\"\ndataset = "),
        ("unknown key in a step", "name = \"entries\"", "name = \"entries\"\noutput = true"),
        ("missing SQL file", "by_facet.sql", "by_facets.sql"),
        ("unknown dataset", "dataset = \"qwen-image-bench\"", "dataset = \"qwen\""),
        ("a `when` on nothing", "when = { facets = \"judged\" }", "when = { facet = \"judged\" }"),
        ("a step under another name", "name = \"repairs\"", "name = \"repair\""),
        ("a parameter that SQL needs", "[parameters.min_coverage]", "[parameters.least_coverage]"),
        ("a protocol that is a path", "\"strict\"]", "\"../../strict\"]"),
        ("no TOML", "[parameters]", "[parameters"),
    ] {
        assert!(own.contains(from), "{what}");
        work.write("p.toml", own.replacen(from, to, 1));
        all += &format!(
            "# {what}\n{}\n",
            error(&work, &["check", "p.toml"], if what == "unknown dataset" { 2 } else { 1 })
        );
    }
    insta::assert_snapshot!("wrong_pipelines", all);
}

#[test]
fn wrong_sql_files_are_told_where() {
    let work = demo();
    let read = |name: &str| std::fs::read_to_string(project().join("sql/qwen_image_bench").join(name)).unwrap();
    let own = std::fs::read_to_string(project().join("pipelines/qwen-image-bench.toml")).unwrap();
    work.write("p.toml", own);
    let by_facet = read("by_facet.sql");
    let mut all = String::new();
    for (what, text) in [
        ("misspelt column", by_facet.replace("count(score)", "count(scor)")),
        ("unknown header key", by_facet.replace("-- grain:", "-- grane:")),
        ("header cut off", by_facet.lines().skip(2).collect::<Vec<_>>().join("\n")),
        ("a column too few", by_facet.replace("    model_revision,\n    judge\nFROM", "    judge\nFROM")),
        ("another type", by_facet.replace("count(score) AS n", "'many' AS n")),
        ("another key", by_facet.replace("-- key: model,", "-- key:")),
        ("a mean over a window", by_facet.replace("exact_avg(score)", "avg(exact_avg(score)) OVER ()")),
        ("chance", by_facet.replace("exact_avg(score)", "random()")),
        ("two statements", by_facet + ";\nSELECT 1"),
    ] {
        work.write("qwen_image_bench/by_facet.sql", text);
        all += &format!("# {what}\n{}\n", error(&work, &["check", "p.toml"], 1));
    }
    insta::assert_snapshot!("wrong_sql", all);
}

#[test]
fn dry_runs_and_lists_say_what_there_is() {
    let work = Workdir::new();
    let steps = work.json(&["score", "qwen-image-bench", "--dry-run", "--protocol", "strict"]);
    assert_eq!(steps[0]["sql"], "sql/qwen_image_bench/cells_strict.sql");
    assert!(!work.path("lake").exists());
    assert_eq!(work.json(&["datasets"])[0]["dataset"], "qwen-image-bench");
    let columns = work.json(&["schema", "by_facet"]);
    assert_eq!(columns.as_array().unwrap().iter().filter(|row| row["key"] == "key").count(), 7);
    assert!(work.json(&["schema"]).as_array().unwrap().len() >= 14);
    assert_eq!(work.run(&["--version"]).expect(0).stdout, format!("scorelake {}\n", env!("CARGO_PKG_VERSION")));
}
