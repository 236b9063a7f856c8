//! Comparing, verifying, differences and gates through the whole tool.

use serde_json::{Value, json};

use super::util::{Workdir, line, project, shared};

const QWEN: &str = "qwen-image-bench";

/// A lake of the samples, scored with everything that says how sure the numbers are.
fn demo() -> Workdir {
    let work = Workdir::new();
    let samples = project().join("data/samples/qwen-image-bench");
    work.run(&["run", QWEN, samples.to_str().unwrap(), "--intervals", "default", "-q"]).expect(0);
    work
}

/// Wide lines of two models: the first answers `a`, the second `b` on the first `covered` prompts.
fn two_models(prompts: u32, a: impl Fn(u32) -> u32, b: impl Fn(u32) -> u32, covered: u32) -> String {
    let reply = |score: u32| json!(format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#));
    let one = |id: u32| {
        let mut replies = vec![("one", json!("one/1.png")), ("quality_response_one", reply(a(id)))];
        if id <= covered {
            replies.extend([("two", json!("two/1.png")), ("quality_response_two", reply(b(id)))]);
        }
        line(id, "Quality / Realism / Physical Logic", &replies)
    };
    (1..=prompts).map(one).collect()
}

/// A pair, all pairs, an equivalence margin, the largest changes, and names that are none or several.
#[test]
fn compare_on_common_prompts() {
    let work = Workdir::new();
    // 24 prompts; two is judged on 20 of them and better on 14, worse on 1.
    work.write("r.jsonl", two_models(24, |_| 1, |id| if id <= 14 { 2 } else { u32::from(id != 15) }, 20));
    work.run(&["run", QWEN, "r.jsonl", "-q", "--intervals", "default"]).expect(0);
    let rows = work.json(&["compare", QWEN, "two", "one"]);
    let overall = rows.as_array().unwrap().iter().find(|row| row["item"] == "overall").unwrap();
    let wanted =
        json!({ "n": 20, "better": 14, "same": 5, "worse": 1, "mean_a": 85.0, "mean_b": 60.0, "difference": 25.0 });
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&overall[name], value, "{name}");
    }
    // 2 (1 + 15) / 2^15
    assert!((overall["p_sign"].as_f64().unwrap() - 32.0 / 32768.0).abs() < 1e-15);
    let (low, high) = (overall["low"].as_f64().unwrap(), overall["high"].as_f64().unwrap());
    assert!(low > 0.0 && low < 25.0 && high > 25.0 && high < 40.0, "{low} {high}");
    assert_eq!(overall["verdict"], "two better");
    // The same the other way round, with the other sign.
    let turned = work.json(&["compare", QWEN, "one", "two"]);
    assert_eq!(turned[0]["difference"], json!(-25.0));
    assert_eq!((turned[0]["low"].as_f64().unwrap(), turned[0]["p_holm"].clone()), (-high, overall["p_holm"].clone()));
    let all = work.json(&["compare", QWEN, "--all"]);
    assert_eq!(all.as_array().unwrap().len(), 1);
    let within = work.json(&["compare", QWEN, "one", "two", "--margin", "50"]);
    assert_eq!(within[0]["verdict"], "different, but equivalent within 50");
    let changes = work.json(&["compare", QWEN, "two", "one", "--changes", "3"]);
    assert_eq!(changes[0], json!({ "scope": "cn", "prompt": "15", "a": 0.0, "b": 60.0, "difference": -60.0 }));
    let pillar = work.json(&["compare", QWEN, "--all", "--item", "Quality"]);
    assert_eq!(pillar[0]["item"], "Quality");
    for (args, told) in [
        (&["compare", QWEN, "one", "twoo"][..], "did you mean two?"),
        (&["compare", QWEN, "one", "one"], "are one entry"),
        (&["compare", QWEN, "one"], "two models to compare, or --all"),
        (&["compare", QWEN, "--all", "--item", "Beauty"], "no item `Beauty`"),
        (&["compare", QWEN, "one", "two", "--scope", "en"], "no scope `en`"),
        (&["compare", QWEN, "one", "two", "--item", "Quality"], "--item goes with"),
    ] {
        let ran = work.run(args).expect(2);
        assert!(ran.stderr.contains(told), "{args:?}: {}", ran.stderr);
    }
    // C22: a model on 20 of 24 prompts is shown with its coverage, unranked where that is asked, and compared on common prompts.
    let meta: String = (1..=24)
        .map(|id| format!("{},", json!({ "ID": id, "dims_en": "Quality / Realism / Physical Logic" })))
        .collect();
    work.write("bench_metadata.json", format!("[{}]", meta.trim_end_matches(',')));
    work.run(&["ingest", QWEN, "bench_metadata.json", "-q"]).expect(0);
    work.run(&["score", QWEN, "--protocol", "strict", "--intervals", "default", "-q"]).expect(0);
    let row = work.row("SELECT rank, coverage FROM qwen_image_bench_strict.leaderboard WHERE model = 'two'");
    assert_eq!(row, json!({ "rank": null, "coverage": 20.0 / 24.0 }));
    let standing =
        work.row("SELECT rank, rank_group, rank_low FROM qwen_image_bench_strict.standings WHERE model = 'two'");
    assert_eq!(standing, json!({ "rank": null, "rank_group": null, "rank_low": null }));
    let common = work.json(&["show", "qwen-image-bench@strict", "--common"]);
    let found: Vec<_> = common
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["model"].clone(), row["n"].clone(), row["n_own"].clone()))
        .collect();
    assert_eq!(found, [(json!("two"), json!(20), json!(20)), (json!("one"), json!(20), json!(24))]);
    let ranked =
        work.run(&["score", QWEN, "--protocol", "strict", "--min-coverage", "0.5", "--intervals", "default"]).expect(0);
    let id = ranked.stderr.split("snapshot ").nth(1).unwrap()[..32].to_owned();
    let board = work.json(&["show", &format!("{QWEN}@{id}"), "standings"]);
    assert!(board.as_array().unwrap().iter().all(|row| row["rank"].is_i64()), "{board}");
}

/// G07: two judges of one model are two entries, and a name that means both is refused.
#[test]
fn g07_judges_are_entries() {
    let work = Workdir::new();
    work.write("r.jsonl", two_models(12, |_| 1, |_| 2, 12));
    work.write("s.jsonl", two_models(12, |_| 2, |_| 2, 12));
    work.run(&["ingest", QWEN, "r.jsonl", "--judge", "j1", "-q"]).expect(0);
    work.run(&["ingest", QWEN, "s.jsonl", "--judge", "j2", "-q"]).expect(0);
    work.run(&["score", QWEN, "--intervals", "default", "-q"]).expect(0);
    let rows = work.sql("SELECT model, judge, score FROM qwen_image_bench.standings ORDER BY model, judge");
    assert_eq!(rows.len(), 4);
    let ran = work.run(&["compare", QWEN, "one", "two"]).expect(2);
    assert!(
        ran.stderr.contains("`one` is more than one entry") && ran.stderr.contains("one#j1, one#j2"),
        "{}",
        ran.stderr
    );
    let judges = work.json(&["compare", QWEN, "one#j1", "one#j2"]);
    assert_eq!((&judges[0]["difference"], &judges[0]["worse"]), (&json!(-40.0), &json!(12)));
    // Pairs are of one judge.
    assert_eq!(work.json(&["compare", QWEN, "--all"]).as_array().unwrap().len(), 2);
}

/// The tables that say how sure numbers are: their methods, reasons and kinds, and none of them with `none`.
#[test]
fn intervals_are_asked_for() {
    let work = Workdir::new();
    // One prompt alone says nothing of others.
    work.write("r.jsonl", two_models(1, |_| 1, |_| 2, 1));
    work.run(&["run", QWEN, "r.jsonl", "--intervals", "default", "-q"]).expect(0);
    let rows =
        work.sql("SELECT low, reason, n, seed FROM qwen_image_bench.intervals WHERE result_table = 'leaderboard'");
    assert_eq!(rows[0], json!({ "low": null, "reason": "one observation", "n": 1, "seed": 20_250_918 }));
    work.write("s.jsonl", two_models(5, |_| 1, |_| 2, 5));
    work.run(&["run", QWEN, "s.jsonl", "--intervals", "facets", "--supersede", "-q"]).expect(0);
    let tables =
        work.sql("SELECT DISTINCT result_table, method, reason FROM qwen_image_bench.intervals ORDER BY 1, 2, 3");
    assert!(!tables.is_empty());
    assert!(
        tables.iter().all(|row| row["result_table"] == "by_facet" && row["reason"] == "all values are equal"),
        "{tables:?}"
    );
    let ran = work.run(&["score", QWEN, "--intervals", "none"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap()[..32].to_owned();
    let ran = work.run(&["show", &format!("{QWEN}@{id}"), "intervals"]).expect(2);
    assert!(ran.stderr.contains("no table `intervals`") && !ran.stderr.contains("sensitivity"), "{}", ran.stderr);
    let ran = work.run(&["score", QWEN, "--intervals", "moods"]).expect(2);
    assert!(ran.stderr.contains("no sample `moods`") && ran.stderr.contains("overall"), "{}", ran.stderr);
}

/// The board of people has intervals beside its scores; machines find them in `standings`.
#[test]
fn boards_show_how_sure_they_are() {
    let work = demo();
    let board = work.run(&["show", QWEN]).expect(0).stdout;
    assert!(board.starts_with("rank  ranks  group  model"), "{board}");
    let csv = work.run(&["show", QWEN, "--format", "csv"]).expect(0).stdout;
    assert!(csv.starts_with("rank,model,display_name"), "{csv}");
    let row = work.row("SELECT * FROM qwen_image_bench.standings WHERE rank = 4");
    assert_eq!((&row["rank_low"], &row["rank_high"], &row["rank_group"]), (&json!(4), &json!(4), &json!("2")));
    let rules = work.sql(
        "SELECT rule, bool_or(order_changed) AS changed FROM qwen_image_bench.sensitivity GROUP BY rule ORDER BY rule",
    );
    assert_eq!(rules.len(), 8);
    assert_eq!(rules[0], json!({ "rule": "as scored", "changed": false }));
    // As scored it is the board; by the strict reading what scoring strictly gives.
    work.run(&["score", QWEN, "--protocol", "strict", "-q"]).expect(0);
    let differing = work.row(
        "SELECT count(*) AS n FROM qwen_image_bench.sensitivity AS s JOIN qwen_image_bench_strict.leaderboard AS b
         ON s.model = b.model AND s.rule = 'protocol strict' WHERE s.score <> b.overall OR s.n <> b.n",
    );
    assert_eq!(differing["n"], 0);
    // The judge's cells are those of the ledger, and every facet of the rubric has a row.
    let health = work.row(
        "SELECT count(*) AS facets, sum(cells) AS cells, sum(na) AS na FROM qwen_image_bench.judge_health
         WHERE level = 'facet' AND model = 'GPT-Image-1.5'",
    );
    let judged = work.row("SELECT count(*) AS n FROM qwen_image_bench.judgments WHERE model = 'GPT-Image-1.5' AND state_official IS NOT NULL");
    assert_eq!((&health["facets"], &health["cells"]), (&json!(56), &judged["n"]));
    let spread = work
        .row("SELECT count(*) AS n FROM qwen_image_bench.judge_health WHERE na + n_0 + n_1 + n_2 + unusable <> cells");
    assert_eq!(spread["n"], 0);
}

/// G12: one cell that differs is named with both values and n; the others match, to half a unit of their last digit.
#[test]
fn g12_verify_names_the_cell() {
    let work = demo();
    let board = work.sql("SELECT model, overall, quality, n FROM qwen_image_bench.leaderboard ORDER BY rank");
    let printed = |off: f64| {
        let row = |(at, row): (usize, &Value)| {
            let overall = row["overall"].as_f64().unwrap() + if at == 1 { off } else { 0.0 };
            format!("{},{overall:.2},{:.1}\n", row["model"].as_str().unwrap(), row["quality"].as_f64().unwrap())
        };
        "model,overall,quality\n".to_owned()
            + &board.iter().enumerate().map(row).collect::<String>()
            + "Other Model,50.00,\n"
    };
    let same = work.write("same.csv", printed(0.0));
    let ran = work.run(&["verify", QWEN, "--published", &same]).expect(0);
    assert!(ran.stderr.contains("8 of 8 figures match, 0 differ; 1 not computable"), "{}", ran.stderr);
    assert!(ran.stderr.contains("published, not in the snapshot: Other Model"), "{}", ran.stderr);
    let other = work.write("other.csv", printed(0.3));
    let ran = work.run(&["verify", QWEN, "--published", &other, "--format", "json"]).expect(3);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let differing: Vec<&Value> = cells.iter().filter(|cell| cell["state"] == "differs").collect();
    let [cell] = differing[..] else { panic!("{differing:?}") };
    assert_eq!((&cell["column"], &cell["row"], &cell["n"]), (&json!("overall"), &board[1]["model"], &json!(30)));
    assert!((cell["difference"].as_f64().unwrap() + 0.3).abs() < 0.005 + 1e-9, "{cell}");
    work.run(&["verify", QWEN, "--published", &other, "--tolerance", "0.31"]).expect(0);
    // A figure by another rule is told by its rule, and one that is cut off too.
    let strict = work.json(&["show", QWEN, "sensitivity"]);
    let strict = strict
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["rule"] == "protocol strict" && row["model"] == "Nano-Banana-Pro");
    let strict = strict.unwrap()["score"].as_f64().unwrap();
    let own = board[0]["overall"].as_f64().unwrap();
    let cut = (own * 1e6).floor() / 1e6;
    assert!(own - cut > 5.1e-7, "{own}: a number of which cutting off is not rounding");
    let text =
        format!("model,overall\nNano-Banana-Pro,{strict:.3}\n{},{cut:.6}\n", board[0]["model"].as_str().unwrap());
    let rules = work.write("rules.csv", text);
    let ran = work.run(&["verify", QWEN, "--published", &rules]).expect(3);
    assert!(ran.stdout.contains("may be: protocol strict"), "{}", ran.stdout);
    assert!(ran.stdout.contains("may be: cut off instead of rounded"), "{}", ran.stdout);
    // Names that differ are mapped by a file; without it nothing can be compared, and that is no success.
    let named = work.write("named.csv", format!("model,overall\nThe Best,{own:.2}\n"));
    let ran = work.run(&["verify", QWEN, "--published", &named]).expect(3);
    assert!(ran.stderr.contains("no figure could be compared"), "{}", ran.stderr);
    let names = work.write("names.csv", format!("published,ours\nThe Best,{}\n", board[0]["model"].as_str().unwrap()));
    work.run(&["verify", QWEN, "--published", &named, "--names", &names]).expect(0);
    for (text, told) in [
        ("a,b\n1,2\n", "none that can be set beside"),
        ("model,overall\n", "has no rows"),
        ("model,overall,overall\nx,1,1\n", "stands twice"),
        ("model,overall\nx\n", "not a CSV table"),
    ] {
        let wrong = work.write("wrong.csv", text);
        let ran = work.run(&["verify", QWEN, "--published", &wrong]).expect(1);
        assert!(ran.stderr.contains(told), "{text}: {}", ran.stderr);
    }
    let ran = work.run(&["verify", "--published", "no_such"]).expect(2);
    assert!(ran.stderr.contains("magicbench_scores"), "{}", ran.stderr);
    // G10: reported rows are labelled, and have no part in recomputed ones.
    let rows = work.json(&["sql", "--query", "reported_beside_recomputed"]);
    let of = |origin: &str| rows.as_array().unwrap().iter().filter(|row| row["origin"] == origin).count();
    assert_eq!((of("recomputed"), of("reported")), (4, 18));
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.leaderboard")["n"], 4);
}

/// The published tables that are known to be inconsistent are found to be, and no others.
#[test]
fn published_tables_by_themselves() {
    let work = Workdir::new();
    let ran = work.run(&["verify", "--format", "json"]).expect(3);
    let faults: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let of = |check: &str| faults.iter().filter(|fault| fault["check"] == check).collect::<Vec<_>>();
    assert_eq!(faults.len(), of("totals_close").len() + of("shares_of_counts").len(), "{faults:?}");
    // Train and test of Artifacts are 665 short of the total; for four labels they are above it.
    let totals = of("totals_close");
    assert_eq!(totals.len(), 22, "as the README says");
    let gap = |fault: &Value| fault["printed"].as_f64().unwrap() - fault["at_most"].as_f64().unwrap();
    assert_eq!(totals.iter().find(|fault| fault["row"] == "Artifacts").map(|fault| gap(fault)), Some(665.0));
    assert_eq!(totals.iter().filter(|fault| gap(fault) < 0.0).count(), 4);
    // 37,085 of 169,501 are 21.88 %, not the 13.84 % of the figure.
    let share = of("shares_of_counts");
    assert_eq!(share[0]["printed"], 13.84);
    assert!((share[0]["at_most"].as_f64().unwrap() - 21.884).abs() < 0.005, "{}", share[0]);
    // A table with a fault of each kind.
    let published = |name: &str| std::fs::read_to_string(project().join(format!("data/published/{name}.csv"))).unwrap();
    for (name, right, wrong, check) in [
        ("magicdata340k_assessors", "macro,0.3395", "macro,0.3455", "macro_is_mean"),
        ("magicdata340k_assessors", "0.5674,0.3597,0.4403", "0.5674,0.3597,0.4433", "f1_of_precision_and_recall"),
        ("magicbench_detail_classes", "FLUX.1-dev,80.00", "FLUX.1-dev,80.04", "detail_scores_reachable"),
        ("fager_ab_accuracy", "FAGER,Culture,30,0.97", "FAGER,Culture,30,0.98", "accuracy_reachable"),
        ("qwen_image_bench_leaderboard", "75.23,64.69", "75.23,76.69", "overall_between_pillars"),
        ("qwen_image_bench_leaderboard", "\n5,Qwen Image 2.0 Pro", "\n7,Qwen Image 2.0 Pro", "ranks_follow_scores"),
    ] {
        let text = published(name);
        assert!(text.contains(right), "{name}: {right}");
        let path = work.write("t.csv", text.replacen(right, wrong, 1));
        let ran = work.run(&["verify", "--published", &path, "--format", "json"]).expect(3);
        let faults: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
        assert!(faults.iter().all(|fault| fault["check"] == check) && faults.len() == 1, "{check}: {faults:?}");
        let whole = work.write("t.csv", text);
        work.run(&["verify", "--published", &whole]).expect(0);
    }
}

/// The real collection gives the paper's figures for it, and the released benchmark of one model says by how much it differs.
#[test]
fn real_files_against_published_figures() {
    let Some(collection) = shared("datasets/fager/ABO") else { return };
    let work = Workdir::new();
    work.run(&["run", "fager", collection.to_str().unwrap(), "-q"]).expect(0);
    let ran = work.run(&["verify", "fager", "--format", "json"]).expect(0);
    let cells: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let compared: Vec<_> =
        cells.iter().filter(|cell| cell["state"] == "match").map(|cell| cell["printed"].as_str().unwrap()).collect();
    assert_eq!(compared, ["85.17", "0.82", "50"]);
    assert!(cells.iter().all(|cell| cell["state"] != "differs"));
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    for line in work.run(&["verify", "fager"]).expect(0).stderr.lines().filter(|line| line.contains("figures match")) {
        assert!(readme.contains(line), "README's example lacks: {line}");
    }
}

/// F07, F08, F09: a snapshot with itself, a table that only one has, and changes without the noise of subtraction.
#[test]
fn differences_of_snapshots() {
    let work = Workdir::new();
    let text = two_models(30, |id| u32::from(id % 3 != 0), |id| id % 3, 30);
    work.write("r.jsonl", &text);
    work.run(&["run", QWEN, "r.jsonl", "-q"]).expect(0);
    let first = work.latest("official");
    let target = format!("{QWEN}@{first}");
    for format in ["table", "csv", "tsv", "json", "ndjson", "markdown"] {
        let ran = work.run(&["snapshot", "diff", &target, &first, "--format", format]).expect(0);
        match format {
            "json" => {
                let object: Value = serde_json::from_str(&ran.stdout).unwrap();
                let object = object.as_object().unwrap();
                assert_eq!(object.len(), 9);
                assert!(object.values().all(|rows| rows == &json!([])), "{object:?}");
            }
            "table" | "markdown" => assert_eq!(ran.stdout, "no changes\n"),
            _ => assert!(ran.stdout.lines().count() <= 1, "{}", ran.stdout),
        }
        assert!(format == "json" || ran.stderr.contains("no changes"), "{format}: {}", ran.stderr);
    }
    // One model becomes better, and intervals are new.
    let better = text.replace(
        "quality_response_two\":\"{\\\"Realism\\\":{\\\"Physical Logic\\\":{\\\"score\\\":0",
        "quality_response_two\":\"{\\\"Realism\\\":{\\\"Physical Logic\\\":{\\\"score\\\":2",
    );
    assert_ne!(better, text);
    work.write("r.jsonl", better);
    work.run(&["run", QWEN, "r.jsonl", "--supersede", "--intervals", "default", "-q"]).expect(0);
    let second = work.latest("official");
    let diff = work.json(&["snapshot", "diff", &target, &second]);
    let tables: Vec<_> =
        diff["tables"].as_array().unwrap().iter().map(|row| (row["kind"].clone(), row["what"].clone())).collect();
    assert_eq!(
        tables,
        ["intervals", "judge_health", "sensitivity", "standings"].map(|name| (json!("added"), json!(name)))
    );
    assert_eq!(diff["inputs"][0]["kind"], "changed");
    let rows = diff["rows"].as_array().unwrap();
    let overall = rows.iter().find(|row| row["what"] == "leaderboard" && row["column"] == "overall").unwrap();
    // Ten of thirty prompts go from 0 to 100.
    assert_eq!((&overall["row"], &overall["change"]), (&json!("two / cn"), &json!(33.333333)));
    let one = &diff["significance"][0];
    assert_eq!((&one["model"], &one["verdict"], &one["n"]), (&json!("two"), &json!("better"), &json!(30)));
    assert_eq!(diff["drift"], json!([]), "only one of both has the judge's health");
    let coarse = work.json(&[
        "snapshot",
        "diff",
        &target,
        &second,
        "--digits",
        "1",
        "--table",
        "leaderboard",
        "--tolerance",
        "50",
    ]);
    assert!(coarse["rows"].as_array().unwrap().iter().all(|row| row["column"] != "overall"), "{coarse}");
    let ran = work.run(&["snapshot", "diff", &target, &second]).expect(0);
    let significant = ran.stdout.lines().find(|line| line.starts_with("significance")).unwrap();
    assert!(significant.contains("better") && significant.contains("two cn"), "{significant}");
    work.run(&["snapshot", "diff", &target, &second, "--table", "nothing"]).expect(2);
    let ran = work.run(&["snapshot", "diff", &target, "fager"]).expect(2);
    assert!(ran.stderr.contains("a snapshot of qwen-image-bench and one of fager"), "{}", ran.stderr);
    // The judge's scores moved: back to the first replies, with its health told in both.
    work.write("r.jsonl", text);
    work.run(&["run", QWEN, "r.jsonl", "--supersede", "--intervals", "default", "-q"]).expect(0);
    let third = work.latest("official");
    let diff = work.json(&["snapshot", "diff", &format!("{QWEN}@{second}"), &third]);
    let drift = diff["drift"].as_array().unwrap();
    let moved = drift.iter().find(|row| row["row"] == "two / cn / facet / Quality / Realism / Physical Logic").unwrap();
    // 10, 10, 10 of 0, 1, 2 where there were 0, 10, 20: 10 + 10/3.
    assert!((moved["chi2"].as_f64().unwrap() - (10.0 + 10.0 / 3.0)).abs() < 1e-9, "{moved}");
    assert_eq!((&moved["df"], &moved["before"]), (&json!(2), &json!("1: 10, 2: 20")));
}

/// Gates hold a run to bounds, and a broken one is told and makes the exit code 3.
#[test]
fn gates_hold_or_break() {
    let work = Workdir::new();
    work.write("r.jsonl", two_models(20, |_| 2, |_| 1, 15));
    work.run(&["run", QWEN, "r.jsonl", "-q"]).expect(0);
    let before = work.latest("official");
    let ran =
        work.run(&["score", QWEN, "--gate", "max_parse_failed=0.01", "--gate", "no_regression=official"]).expect(0);
    assert!(ran.stderr.contains("gate max_parse_failed at most 0.01: holds (2 looked at)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("gate no_regression against"), "{}", ran.stderr);
    let ran = work.run(&["score", QWEN, "--gate", "min_coverage=0.9"]).expect(3);
    assert!(ran.stderr.contains("gate min_coverage at least 0.9: broken by 1 of 2"), "{}", ran.stderr);
    assert!(ran.stderr.contains("two cn: 0.7500"), "{}", ran.stderr);
    // The first model becomes worse: against the snapshot before, that is a regression.
    work.write(
        "r.jsonl",
        two_models(20, |_| 1, |_| 1, 20) + "{\"ID\": 21, \"dims_en\": \"Quality / Realism / Physical Logic\", \"quality_response_one\": \"no judgment\"}\n",
    );
    let ran = work
        .run(&[
            "run",
            QWEN,
            "r.jsonl",
            "--supersede",
            "--gate",
            "no_regression=official",
            "--gate",
            "max_parse_failed=0.01",
        ])
        .expect(3);
    assert!(ran.stderr.contains(&format!("gate no_regression against {}: broken", &before[..8])), "{}", ran.stderr);
    assert!(ran.stderr.contains("one cn overall: -40.00 on 20 prompts"), "{}", ran.stderr);
    assert!(ran.stderr.contains("gate max_parse_failed at most 0.01: broken by 1 of 2"), "{}", ran.stderr);
    // The numbers are published all the same, but not as the latest: the same run breaks the same gate again.
    assert_eq!(work.latest("official"), before);
    let again = work.run(&["score", QWEN, "--gate", "no_regression=official"]).expect(3);
    assert!(again.stderr.contains("the snapshot does not become the latest"), "{}", again.stderr);
    assert_eq!(work.json(&["snapshot", "ls", QWEN]).as_array().unwrap().len(), 2);
    // Nothing to compare with yet is no regression, and nothing to look at is no gate that holds.
    work.run(&["score", QWEN, "--protocol", "strict", "--gate", "no_regression=strict"]).expect(0);
    let others = two_models(3, |_| 1, |_| 1, 3).replace("_one", "_uno").replace("\"one\"", "\"uno\"");
    work.write("x.jsonl", others.replace("_two", "_due").replace("\"two\"", "\"due\""));
    let gate = format!("no_regression={before}");
    let ran = work.run(&["run", QWEN, "x.jsonl", "--only-inputs", "--gate", &gate]).expect(3);
    assert!(ran.stderr.contains("broken, there is nothing to look at"), "{}", ran.stderr);
    for (gate, told) in [
        ("min_beauty=1", "no gate `min_beauty`"),
        ("min_coverage=much", "not a number"),
        ("no_regression=abc", "no snapshot `abc`"),
    ] {
        let ran = work.run(&["score", QWEN, "--gate", gate]);
        assert!(ran.code != 0 && ran.stderr.contains(told), "{gate}: {}", ran.stderr);
    }
}

/// G05: a snapshot that an older version of the metric made is stale, and the metric is named.
#[test]
fn g05_older_metrics_are_stale() {
    let work = Workdir::new();
    work.write("r.jsonl", two_models(3, |_| 2, |_| 1, 3));
    work.run(&["run", QWEN, "r.jsonl", "-q"]).expect(0);
    assert_eq!(work.json(&["snapshot", "ls"])[0]["stale"], "");
    let pipeline = std::fs::read_to_string(project().join("pipelines/qwen-image-bench.toml")).unwrap();
    work.write("assets/pipelines/qwen-image-bench.toml", pipeline.replace("metric_version = 1", "metric_version = 2"));
    let ran = work.run(&["snapshot", "ls", "--assets", "assets", "--format", "json"]).expect(0);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(rows[0]["stale"], "stale");
    assert!(
        ran.stderr.contains("made by version 1 of the metric qwen-image-bench, which is at version 2"),
        "{}",
        ran.stderr
    );
}

/// Two boards: the same one agrees with itself, and with ranks that people gave as far as they do.
#[test]
fn agreement_of_boards() {
    let work = demo();
    let same = work.json(&["agree", QWEN, QWEN]);
    assert_eq!(
        (&same[0]["estimate"], &same[0]["low"], &same[0]["drawn"]),
        (&json!(1.0), &json!(1.0), &json!("prompts"))
    );
    let people = work.write(
        "people.csv",
        "model,rank\nGPT Image 2,1\nNano Banana Pro,2\nGPT Image 1.5,3\nNano-Banana-2.0,4\nUnknown,5\n",
    );
    let ran = work.run(&["agree", QWEN, &people, "--format", "json"]).expect(0);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    // Ranks 1, 2, 3, 4 against 3, 2, 1, 4.
    assert!((rows[0]["estimate"].as_f64().unwrap() - 0.2).abs() < 1e-12, "{rows}");
    assert!(rows[1]["estimate"].as_f64().unwrap().abs() < 1e-12, "{rows}");
    assert!(ran.stderr.contains("only in") && ran.stderr.contains("Unknown"), "{}", ran.stderr);
    let models = work.json(&["agree", "magicbench_scores", "magicbench_scores"]);
    assert_eq!(
        (&models[0]["estimate"], &models[0]["drawn"], &models[0]["n"]),
        (&json!(1.0), &json!("models"), &json!(14))
    );
    let ran = work.run(&["agree", QWEN, "magicdata340k_assessors"]).expect(1);
    assert!(ran.stderr.contains("no column of scores"), "{}", ran.stderr);
    let strangers = work.write("strangers.csv", "model,score\nx,1\ny,2\n");
    let ran = work.run(&["agree", QWEN, &strangers]).expect(2);
    assert!(ran.stderr.contains("share no model"), "{}", ran.stderr);
}
