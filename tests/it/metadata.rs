//! The real `bench_metadata.json`, counted in the lake.

use super::util::{Workdir, shared};

#[test]
fn real_metadata_counts() {
    let Some(file) = shared("datasets/qwen-image-bench/bench_metadata.json") else { return };
    let work = Workdir::new();
    work.run(&["ingest", "qwen-image-bench", file.to_str().unwrap()]).expect(0);
    let counts = work.row(
        "SELECT (SELECT count(*) FROM qwen_image_bench.prompts WHERE has_metadata) AS prompts, count(*) AS facet_rows,
                count(DISTINCT pillar || '/' || facet) AS facets, count(DISTINCT pillar || '/' || capability) AS capabilities,
                count(CASE WHEN NOT in_rubric THEN 1 END) AS unknown
         FROM qwen_image_bench.prompt_facets",
    );
    let expected =
        serde_json::json!({ "prompts": 1000, "facet_rows": 5169, "facets": 56, "capabilities": 23, "unknown": 0 });
    assert_eq!(counts, expected);

    let pillars = work.sql("SELECT pillar, count(DISTINCT prompt_id) AS n FROM qwen_image_bench.prompt_facets GROUP BY pillar ORDER BY pillar");
    let pillars: Vec<_> =
        pillars.iter().map(|row| (row["pillar"].as_str().unwrap(), row["n"].as_i64().unwrap())).collect();
    let expected = [
        ("Aesthetics", 1000),
        ("Alignment", 1000),
        ("Creative Generation", 630),
        ("Quality", 1000),
        ("Real-world Fidelity", 475),
    ];
    assert_eq!(pillars, expected);

    // The two names with slashes are whole.
    let slashes = work.sql(
        "SELECT DISTINCT capability, facet FROM qwen_image_bench.prompt_facets WHERE facet LIKE '%/%' ORDER BY facet",
    );
    let slashes: Vec<_> =
        slashes.iter().map(|row| (row["capability"].as_str().unwrap(), row["facet"].as_str().unwrap())).collect();
    assert_eq!(slashes, [("Visual Storytelling", "Camera / Lens Style"), ("Relations", "Difference/Similarity")]);

    let active = work.sql(
        "SELECT n, count(*) AS prompts FROM
           (SELECT prompt_id, count(DISTINCT pillar) AS n FROM qwen_image_bench.prompt_facets GROUP BY prompt_id)
         GROUP BY n ORDER BY n",
    );
    let active: Vec<_> =
        active.iter().map(|row| (row["n"].as_i64().unwrap(), row["prompts"].as_i64().unwrap())).collect();
    assert_eq!(active, [(3, 146), (4, 603), (5, 251)]);
    let facets = work.row(
        "SELECT min(n) AS least, max(n) AS most FROM
           (SELECT prompt_id, count(*) AS n FROM qwen_image_bench.prompt_facets GROUP BY prompt_id)",
    );
    assert_eq!(facets, serde_json::json!({ "least": 3, "most": 10 }));
}

#[test]
fn metadata_alone_has_nothing_to_score() {
    let work = Workdir::new();
    work.write("meta.json", r#"[{"ID": 1, "dims_en": "Quality / Realism / Physical Logic"}]"#);
    let ran = work.run(&["run", "qwen-image-bench", "meta.json"]).expect(1);
    assert!(ran.stderr.contains("nothing of qwen-image-bench to score"), "{}", ran.stderr);
}

#[test]
fn real_metadata_drives_made_replies() {
    let Some(file) = shared("datasets/qwen-image-bench/bench_metadata.json") else { return };
    let work = Workdir::new();
    let file = file.to_str().unwrap();
    work.run(&[
        "synth",
        "qwen-image-bench",
        "--rows",
        "40",
        "--models",
        "2",
        "--think-chars",
        "20",
        "--metadata",
        file,
        "-o",
        "r.jsonl",
    ])
    .expect(0);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", file]).expect(0);
    assert!(
        ran.stderr
            .contains("entries of the board that cover less than 95 % of the prompts with metadata: 2, the least "),
        "{}",
        ran.stderr
    );
    let board = work.sql("SELECT n, n_expected, coverage FROM qwen_image_bench.leaderboard");
    assert_eq!(board.len(), 2);
    for row in board {
        assert_eq!(row, serde_json::json!({ "n": 40, "n_expected": 1000, "coverage": 0.04 }));
    }
}
