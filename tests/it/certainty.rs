//! Faults that were found once in intervals, comparisons, verification and gates, each with its kin.

use scorelake::stats::{Replicates, acceleration, paired};
use serde_json::{Value, json};

use super::util::{Workdir, project};

const QWEN: &str = "qwen-image-bench";

/// One line of a judged cell for each (model, score).
fn prompt(id: u32, scores: &[(&str, u32)]) -> String {
    let replies: Vec<(String, Value)> = scores
        .iter()
        .flat_map(|(model, score)| {
            let verdict = format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#);
            [((*model).to_owned(), json!("i.png")), (format!("quality_response_{model}"), json!(verdict))]
        })
        .collect();
    let replies: Vec<(&str, Value)> = replies.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    super::util::line(id, "Quality / Realism / Physical Logic", &replies)
}

fn samples(work: &Workdir, dataset: &str, options: &[&str]) {
    let input = project().join("data/samples").join(dataset);
    work.run(&[&["run", dataset, input.to_str().unwrap(), "-q"], options].concat()).expect(0);
}

/// Subtraction leaves noise behind; equal differences are tied, and no difference is none.
#[test]
fn noise_is_no_difference() {
    assert_eq!(paired::difference(0.1 + 0.2, 0.3), 0.0);
    let (a, b) = (paired::difference(57.222_222_222_222_22, 17.0), paired::difference(60.222_222_222_222_23, 20.0));
    assert_eq!(a, b);
    assert_eq!(paired::difference(1e9, 1.0), 1e9 - 1.0);
}

/// The same data on another scale has the same intervals on that scale: replicates that draw the sample again are the estimate.
#[test]
fn bca_does_not_hang_on_the_last_bit() {
    let bca = |yes: f64| {
        let sample: Vec<f64> = (0..12).map(|at| if at < 5 { yes } else { 0.0 }).collect();
        let resampling = scorelake::stats::Resampling { replicates: 2_000, seed: 20_250_918 };
        let means = resampling.means(12, &[&sample]).remove(0);
        let mean = scorelake::stats::exact_mean(sample.iter().copied()).unwrap();
        let bounds = Replicates::new(means).bca(mean, acceleration(sample.iter().copied()).unwrap(), 0.95).unwrap();
        [bounds.low / yes, bounds.high / yes]
    };
    let wanted = bca(1.0);
    for yes in [100.0 / 3.0, 60.0, 100.0, 0.1] {
        for (found, wanted) in bca(yes).into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{yes}: {found} instead of {wanted}");
        }
    }
}

/// Differences that are all the same say nothing of how they vary; a model's name is no mark of the past.
#[test]
fn verdicts_need_something_to_go_by() {
    let work = Workdir::new();
    // Two prompts that differ by the same say nothing of a margin.
    work.write("few.jsonl", prompt(1, &[("x", 1), ("y", 2)]) + &prompt(2, &[("x", 1), ("y", 2)]));
    work.run(&["run", QWEN, "few.jsonl", "-q", "--intervals", "default"]).expect(0);
    let rows = work.json(&["compare", QWEN, "x", "y", "--margin", "100"]);
    assert_eq!((&rows[0]["verdict"], &rows[0]["tost_low"]), (&json!("not separated"), &Value::Null));

    let work = Workdir::new();
    let text = |a: u32| (1..=20).map(|id| prompt(id, &[("sdxl", a), ("sdxl before", 1)])).collect::<String>();
    work.write("r.jsonl", text(2));
    work.run(&["run", QWEN, "r.jsonl", "-q"]).expect(0);
    let before = work.latest("official");
    work.write("r.jsonl", text(0));
    let ran =
        work.run(&["run", QWEN, "r.jsonl", "--supersede", "--gate", &format!("no_regression={before}")]).expect(3);
    assert!(ran.stderr.contains("sdxl cn overall: -100.00 on 20 prompts"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("sdxl before cn overall"), "{}", ran.stderr);
}

/// The scores that intervals are of are the board's, or there are none: macro accuracy, nominal denominators, constants.
#[test]
fn intervals_are_of_what_the_board_shows() {
    let work = Workdir::new();
    samples(&work, "magicbench", &["--intervals", "default"]);
    work.run(&["score", "magicbench", "--protocol", "nominal", "--intervals", "all", "-q"]).expect(0);
    assert_eq!(work.row("SELECT count(*) AS n FROM magicbench_nominal.intervals")["n"], 0);
    let standing = work.row("SELECT score, low, rank_low FROM magicbench_nominal.standings LIMIT 1");
    assert_eq!(standing, json!({ "score": null, "low": null, "rank_low": null }));
    let differing = work.row(
        "SELECT count(*) AS n FROM magicbench.intervals AS i JOIN magicbench.leaderboard AS b ON i.model = b.model
         WHERE i.result_table = 'leaderboard' AND i.item = '' AND abs(i.estimate - CASE i.statistic WHEN 'mean' THEN b.overall
         WHEN 'human' THEN b.human WHEN 'animal' THEN b.animal WHEN 'object' THEN b.object ELSE b.interaction END) > 1e-9",
    );
    assert_eq!(differing["n"], 0);
    assert_eq!(work.row("SELECT count(*) AS n FROM magicbench.intervals WHERE result_table = 'leaderboard'")["n"], 15);
    // Another protocol's board has its own ranks, also those that it does not give.
    work.run(&["score", "magicbench", "--protocol", "strict", "-q"]).expect(0);
    let differing = work.row(
        "SELECT count(*) AS n FROM magicbench.sensitivity AS s JOIN magicbench_strict.leaderboard AS b
         ON s.model = b.model AND s.rule = 'protocol strict' WHERE coalesce(s.rank, 0) <> coalesce(b.rank, 0)",
    );
    assert_eq!(differing["n"], 0);
    let unranked =
        work.row("SELECT count(*) AS n FROM magicbench.sensitivity WHERE rule = 'protocol strict' AND rank IS NULL");
    assert_eq!(unranked["n"], 1);

    samples(&work, "magicdata340k", &["--model", "A", "--intervals", "all"]);
    let rows = work
        .sql("SELECT item, estimate, low, high, reason FROM magicdata340k.intervals WHERE result_table = 'detection'");
    let odd = |row: &&Value| row["reason"].is_null() && (row["estimate"].is_null() || row["low"] == row["high"]);
    assert!(rows.len() > 100 && rows.iter().find(odd).is_none(), "{:?}", rows.iter().find(odd));
    assert!(rows.iter().any(|row| row["reason"] == "all values are equal"));
    let names: std::collections::BTreeSet<&str> = rows.iter().filter_map(|row| row["item"].as_str()).collect();
    assert!(names.contains("micro") && names.contains("artifact") && !names.contains("micro / micro"), "{names:?}");
    // Estimates are the board's measures, for labels, macro and micro.
    let differing = work.row(
        "SELECT count(*) AS n, count(CASE WHEN abs(i.estimate - CASE i.statistic WHEN 'precision' THEN d.precision
         WHEN 'recall' THEN d.recall ELSE d.f1 END) > 1e-12 THEN 1 END) AS differing
         FROM magicdata340k.intervals AS i JOIN magicdata340k.detection AS d
         ON i.model = d.assessor AND i.item = CASE WHEN d.level = d.label THEN d.label ELSE concat(d.level, ' / ', d.label) END
         WHERE i.method = 'bca' AND i.statistic IN ('precision', 'recall', 'f1')",
    );
    assert!(differing["n"].as_i64().unwrap() > 60, "{differing}");
    assert_eq!(differing["differing"], 0);
    // Yes is worth one: bounds of shares lie between 0 and 1, also where there is no yes.
    let most = work.row("SELECT max(high) AS most FROM magicdata340k.intervals WHERE item = 'binary_reward'");
    assert!(most["most"].as_f64().unwrap() <= 1.0, "{most}");
}

/// Coefficients in intervals are those of the agreement, and many pairs have the methods that say so.
#[test]
fn intervals_of_coefficients() {
    let work = Workdir::new();
    let inputs = ["data.csv", "metrics.csv"].map(|name| project().join("data/samples/agiqa-3k").join(name));
    let inputs = inputs.each_ref().map(|path| path.to_str().unwrap());
    work.run(&["run", "agiqa-3k", inputs[0], inputs[1], "--intervals", "agreement", "-q"]).expect(0);
    let compared = work.row(
        "SELECT count(*) AS n, count(CASE WHEN abs(i.estimate - CASE i.statistic WHEN 'srcc' THEN a.srcc
         WHEN 'krcc' THEN a.krcc ELSE a.plcc END) > 1e-12 THEN 1 END) AS differing,
         count(CASE WHEN i.low > i.estimate OR i.high < i.estimate THEN 1 END) AS outside
         FROM agiqa_3k.intervals AS i JOIN agiqa_3k.agreement AS a
         ON i.model = a.metric AND i.item = concat(a.target, ' / ', a.group_kind, ' / ', a.group_name)
         WHERE i.method = 'bca' AND i.low IS NOT NULL",
    );
    assert!(compared["n"].as_i64().unwrap() > 50, "{compared}");
    assert_eq!((&compared["differing"], &compared["outside"]), (&json!(0), &json!(0)));
}

/// A board agrees with itself whatever its names look like; ranks are ranks by their name, and judges have boards of their own.
#[test]
fn rankings_match_names_one_to_one() {
    let work = Workdir::new();
    let models = ["flux1", "zzz", "flux.1", "!!!", "???"];
    let text: String = (1..=12)
        .map(|id| {
            let scores: Vec<(&str, u32)> = models.iter().zip(0..).map(|(model, at)| (*model, (id + at) % 3)).collect();
            prompt(id, &scores[..3])
                + &prompt(100 + id, &[("flux1", 2), ("zzz", 1), ("flux.1", 0), ("!!!", 1), ("???", id % 2)])
        })
        .collect();
    work.write("r.jsonl", text);
    work.run(&["run", QWEN, "r.jsonl", "--judge", "J1", "-q"]).expect(0);
    let rows = work.json(&["agree", QWEN, QWEN]);
    assert_eq!((&rows[0]["estimate"], &rows[0]["n"]), (&json!(1.0), &json!(5)), "{rows}");
    work.write("ranks.csv", "Model;Human Rank\nflux1;1\nzzz;2\nflux.1;3\n");
    let ran = work.run(&["agree", QWEN, "ranks.csv", "--format", "json"]).expect(0);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&rows[0]["estimate"], &rows[0]["left"]), (&json!(1.0), &json!("cn #J1")), "{rows}");
    assert!(ran.stderr.contains("human_rank is taken as ranks, 1 the best"), "{}", ran.stderr);
    let reversed = work.run(&["agree", QWEN, "ranks.csv", "--column", "Human rank", "--format", "json"]).expect(0);
    assert_eq!(reversed.stdout, ran.stdout);
    work.run(&["agree", QWEN, QWEN, "--column", "overall"]).expect(2);
    work.run(&["agree", "ranks.csv", "ranks.csv", "--item", "Quality"]).expect(2);
    // A board's own export is what the board is.
    let export = work.run(&["show", QWEN, "--format", "csv"]).expect(0).stdout;
    work.write("own.csv", export);
    let ran = work.run(&["verify", QWEN, "--published", "own.csv"]).expect(0);
    assert!(ran.stderr.contains("0 differ"), "{}", ran.stderr);
}

/// Published tables as people write them: headings, separators, commas, empty cells, cells that are no numbers, counts of cells.
#[test]
fn published_tables_as_people_write_them() {
    let work = Workdir::new();
    samples(&work, QWEN, &["--intervals", "default"]);
    let row =
        work.row("SELECT overall, real_world_fidelity, coverage FROM qwen_image_bench.leaderboard WHERE rank = 1");
    let number = |name: &str| row[name].as_f64().unwrap();
    let text = format!(
        "Model;Overall ↑;Real-world Fidelity;Coverage;Remark\nGPT-Image-1.5;**{:.2}**;{:.1};0.50;fine\nGpt-Image-2;73,44;N/A;;\nNano-Banana-Pro;1 ± 2;1e400;;\n",
        number("overall"),
        number("real_world_fidelity")
    );
    work.write("t.csv", text);
    let ran = work.run(&["verify", QWEN, "--published", "t.csv", "--format", "json"]).expect(3);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let of = |state: &str| -> Vec<(&str, &str)> {
        let own = cells.iter().filter(|cell| cell["state"] == state);
        own.map(|cell| (cell["row"].as_str().unwrap(), cell["column"].as_str().unwrap())).collect()
    };
    assert_eq!(of("match"), [("GPT-Image-1.5", "overall"), ("GPT-Image-1.5", "real_world_fidelity")]);
    assert_eq!(of("differs"), [("GPT-Image-1.5", "coverage")]);
    assert_eq!(of("not readable").len(), 4);
    assert!(
        ran.stderr.contains("columns that were not compared: remark") && ran.stderr.contains("4 not readable"),
        "{}",
        ran.stderr
    );
    // What a figure is of is its own count.
    let n = |column: &str| {
        cells.iter().find(|cell| cell["row"] == "GPT-Image-1.5" && cell["column"] == column).unwrap()["n"].clone()
    };
    let judged = work.row(
        "SELECT n FROM qwen_image_bench.by_pillar WHERE model = 'GPT-Image-1.5' AND pillar = 'Real-world Fidelity'",
    );
    assert_eq!((n("overall"), n("real_world_fidelity")), (json!(30), judged["n"].clone()));
    assert_ne!(judged["n"], json!(30));
    work.write("twice.csv", "model,overall\nGPT-Image-1.5,1\nGPT-Image-1.5,2\n");
    let ran = work.run(&["verify", QWEN, "--published", "twice.csv"]).expect(3);
    assert!(ran.stderr.contains("several rows are called GPT-Image-1.5"), "{}", ran.stderr);
    // A column of which a check of the table alone cannot make numbers takes away neither the others nor the comparison.
    let board = "model,quality,aesthetics,alignment,real_world_fidelity,creative_generation,overall,rank\n";
    work.write("empty.csv", board.to_owned() + "a,1,1,1,1,1,1,1\nb,1,1,,1,1,9,2\n");
    let ran = work.run(&["verify", "--published", "empty.csv", "--format", "json"]).expect(3);
    let faults: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let checks: Vec<_> = faults.iter().map(|fault| fault["check"].as_str().unwrap()).collect();
    assert_eq!(checks.iter().filter(|check| **check == "ranks_follow_scores").count(), 2, "{faults:?}");
    work.write("words.csv", board.to_owned() + "a,1,high,1,1,1,1,1\nb,1,low,1,1,1,1,2\n");
    let ran = work.run(&["verify", "--published", "words.csv"]).expect(0);
    assert!(
        ran.stderr.contains("not checked: overall_between_pillars: the column aesthetics holds no numbers"),
        "{}",
        ran.stderr
    );
    // A table that no check knows was not checked.
    work.write("unknown.csv", "a,b\n1,2\n");
    work.run(&["verify", "--published", "unknown.csv"]).expect(3);
    work.write("above.csv", "metric,dataset,pairs,accuracy\nm,d,30,1.50\n");
    work.run(&["verify", "--published", "above.csv"]).expect(3);
    // Boards of every dataset can be set beside, by what they call a model.
    samples(&work, "fager", &["--intervals", "default"]);
    let overall = work.row("SELECT overall FROM fager.leaderboard WHERE run = 'flux2'")["overall"].as_f64().unwrap();
    work.write("runs.csv", format!("model,overall\nflux2,{overall:.2}\n"));
    let ran = work.run(&["verify", "fager", "--published", "runs.csv"]).expect(0);
    assert!(ran.stderr.contains("1 of 1 figures match"), "{}", ran.stderr);
    // A rule explains the score that it is of, and no other one.
    let rule = "margins up to 5 % of the range are correct";
    let scores = work.json(&["show", "fager", "sensitivity"]);
    let by_rule = |metric: &str| {
        let is_it = |row: &&Value| row["rule"] == rule && row["model"] == metric && row["scope"] == "Sample / flux2";
        scores.as_array().unwrap().iter().find(is_it).unwrap()["score"].as_f64().unwrap()
    };
    let (one, other) = (by_rule("FineGRAIN"), by_rule("VQAScore"));
    assert_ne!(one, other);
    work.write("ab.csv", format!("metric,dataset,accuracy\nFineGRAIN,Sample,{one:.6}\nVQAScore,Sample,{one:.6}\n"));
    let ran = work.run(&["verify", "fager", "--published", "ab.csv", "--format", "json"]).expect(3);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let reason = |row: &str| {
        cells.iter().find(|cell| cell["row"].as_str().unwrap().contains(row)).unwrap()["reason"].to_string()
    };
    assert!(reason("FineGRAIN").contains(rule), "{}", reason("FineGRAIN"));
    assert!(!reason("VQAScore").contains(rule), "{}", reason("VQAScore"));
}

/// Gates take their bounds as written and refuse what they cannot ask.
#[test]
fn gates_are_taken_as_written() {
    let work = Workdir::new();
    work.write("r.jsonl", (1..=5).map(|id| prompt(id, &[("one", 1), ("two", 2)])).collect::<String>());
    work.run(&["run", QWEN, "r.jsonl", "-q"]).expect(0);
    for id in ["0012", "37e7"] {
        let ran = work.run(&["score", QWEN, "--gate", &format!("no_regression={id}")]).expect(1);
        assert!(ran.stderr.contains(&format!("no snapshot `{id}`")), "{}", ran.stderr);
    }
    let pipeline = std::fs::read_to_string(project().join("pipelines/qwen-image-bench.toml")).unwrap();
    let header = "-- name: min_coverage\n-- question: How much?\n-- grain: a model\n-- key: what\n-- output: gate\n";
    work.write(
        "own/qwen_image_bench_min_coverage.sql",
        format!("{header}SELECT model AS what, model AS value FROM leaderboard ORDER BY what\n"),
    );
    work.write("own/own.toml", &pipeline);
    let ran = work.run(&["check", "own/own.toml", "--without-data"]).expect(1);
    assert!(ran.stderr.contains("a gate's query gives a text `what` and a number `value`"), "{}", ran.stderr);
    for (right, wrong, told) in [
        ("replicates = 10000", "replicates = 1000000000", "1 to 1000000 replicates"),
        ("confidence = 0.95", "confidence = 1.5", "confidence between 0 and 1"),
        ("name = \"pillars\"", "name = \"overall\"", "two entries [[sample]] are called `overall`"),
        ("name = \"protocol strict\"", "name = \"as scored\"", "a variant may not be called `as scored`"),
        (
            "table = \"leaderboard\"\ncolumn = \"overall\"\nscope",
            "table = \"leaderboard\"\ncolumn = \"nosuch\"\nscope",
            "has no column `nosuch`",
        ),
        ("scores = \"sensitivity_scores\"", "scores = \"nosuch\"", "`nosuch` is no step"),
        ("overall = \"overall\"\n", "overall = \"nosuch\"\n", "`leaderboard` has no column `nosuch`"),
    ] {
        assert!(pipeline.contains(right), "{right}");
        work.write("wrong/wrong.toml", pipeline.replacen(right, wrong, 1));
        let ran = work.run(&["check", "wrong/wrong.toml", "--without-data"]);
        assert!(ran.code != 0 && ran.stderr.contains(told), "{wrong}: {}", ran.stderr);
    }
    // Another query of a variant makes other numbers of the sensitivity, and so no run of the pipeline's own.
    let strict = std::fs::read_to_string(project().join("sql/qwen_image_bench/cells_strict.sql")).unwrap();
    work.write("assets/sql/qwen_image_bench/cells_strict.sql", strict + "-- another\n");
    let ran = work.run(&["score", QWEN, "--intervals", "default", "--assets", "assets"]).expect(0);
    assert!(ran.stderr.contains("not the latest of its protocol"), "{}", ran.stderr);
}

/// The same bytes under another name are no difference of inputs; a table alone is that table alone; and a tolerance is a number.
#[test]
fn differences_are_of_content() {
    let work = Workdir::new();
    let text = (1..=5).map(|id| prompt(id, &[("one", 1), ("two", 2)])).collect::<String>();
    work.write("a/r.jsonl", &text);
    work.write("b/r.jsonl", &text);
    work.run(&["run", QWEN, "a/r.jsonl", "-q"]).expect(0);
    let first = work.latest("official");
    let (one, other) =
        (work.path("one").to_string_lossy().into_owned(), work.path("lake").to_string_lossy().into_owned());
    work.run(&["run", QWEN, "b/r.jsonl", "-q", "--lake", &one, "--intervals", "default"]).expect(0);
    let second = std::fs::read_to_string(work.path("one/snapshots/qwen-image-bench/LATEST-official")).unwrap();
    let folder = format!("snapshots/qwen-image-bench/{}", second.trim());
    let copy = std::path::Path::new(&other).join(&folder);
    std::fs::create_dir_all(&copy).unwrap();
    for file in std::fs::read_dir(work.path("one").join(&folder)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let target = format!("{QWEN}@{first}");
    let diff = work.json(&["snapshot", "diff", &target, second.trim()]);
    assert_eq!((&diff["inputs"], &diff["rows"]), (&json!([]), &json!([])));
    assert_eq!(diff["tables"].as_array().unwrap().len(), 4);
    let alone = work.json(&["snapshot", "diff", &target, second.trim(), "--table", "leaderboard"]);
    assert!(alone.as_object().unwrap().values().all(|rows| rows == &json!([])), "{alone}");
    for tolerance in ["nan", "-5"] {
        work.run(&["snapshot", "diff", &target, second.trim(), &format!("--tolerance={tolerance}")]).expect(2);
    }
}
