//! Made data: the same bytes for the same seed, and the samples.

use super::util::{Workdir, project, shared, tree};

#[test]
fn the_samples_are_what_synth_makes() {
    let work = Workdir::new();
    // The commands in the Makefile's `samples` target.
    let makefile = std::fs::read_to_string(project().join("Makefile")).unwrap();
    let commands = makefile.lines().filter_map(|line| line.trim().strip_prefix("$(SCORELAKE) synth "));
    for folder in ["qwen-image-bench", "own-model", "magicdata340k", "agiqa-3k"] {
        std::fs::create_dir_all(work.path("data/samples").join(folder)).unwrap();
    }
    for command in commands {
        let args: Vec<&str> = ["synth"].into_iter().chain(command.split_whitespace()).collect();
        work.run(&args).expect(0);
    }
    let (made, kept) = (tree(&work.path("data/samples")), tree(&project().join("data/samples")));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&made), names(&kept));
    for ((name, made), (_, kept)) in made.iter().zip(&kept) {
        assert!(made == kept, "make samples refreshes {name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let work = Workdir::new();
    let made = |args: &[&str]| {
        let mut all = vec!["synth", "qwen-image-bench", "--models", "3", "--noise", "0.2", "--think-chars", "50"];
        all.extend(args);
        work.run(&all).expect(0).stdout
    };
    let ten = made(&["--rows", "10", "--seed", "5"]);
    assert_eq!(ten, made(&["--rows", "10", "--seed", "5"]));
    assert_ne!(ten, made(&["--rows", "10", "--seed", "6"]));
    // More rows go on where fewer ended.
    assert!(made(&["--rows", "12", "--seed", "5"]).starts_with(&ten));
    assert_eq!(ten.lines().count(), 10);
    assert!(!ten.contains("Gpt-Image-2_en\":"), "English only on request");
    assert_eq!(made(&["--rows", "10", "--seed", "5", "--en"]).matches("_response_").count(), 10 * 3 * 5 * 2);
}

#[test]
fn noise_is_of_every_kind() {
    let work = Workdir::new();
    work.run(&[
        "synth",
        "qwen-image-bench",
        "--rows",
        "200",
        "--models",
        "5",
        "--noise",
        "0.5",
        "--think-chars",
        "40",
        "-o",
        "r.jsonl",
    ])
    .expect(0);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let kinds = work.sql("SELECT DISTINCT kind, protocol FROM qwen_image_bench.repairs ORDER BY protocol, kind");
    let kinds: Vec<_> = kinds
        .iter()
        .map(|row| format!("{} {}", row["protocol"].as_str().unwrap(), row["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            "official alias",
            "official braces",
            "strict alias",
            "strict closing_tag",
            "strict fence",
            "strict prose",
            "strict trailing_comma"
        ]
    );
    let row = work.row(
        "SELECT min(na) > 0 AND min(missing) > 0 AND min(invalid) > 0 AND min(parse_failed) > 0 AND min(unknown) > 0 AS all_states
         FROM qwen_image_bench.ledger WHERE level = 'all'",
    );
    assert_eq!(row["all_states"], true);
}

#[test]
fn given_metadata_is_used() {
    let Some(file) = shared("datasets/qwen-image-bench/bench_metadata.json") else { return };
    let work = Workdir::new();
    let file = file.to_str().unwrap();
    let ran = work
        .run(&["synth", "qwen-image-bench", "--rows", "2", "--models", "1", "--think-chars", "5", "--metadata", file])
        .expect(0);
    assert!(ran.stdout.contains(
        "Quality / Realism / Physical Logic; Quality / Detail / Edge Clarity; Quality / Detail / Naturalness"
    ));
    work.write("bad.json", "[{\"ID\": 1}]");
    let ran = work.run(&["synth", "qwen-image-bench", "--metadata", "bad.json"]).expect(1);
    assert!(ran.stderr.contains("element 1 has no integer ID or no text dims_en"), "{}", ran.stderr);
}
