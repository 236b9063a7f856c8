//! The parts of a run, each alone: reading a reply, ingesting, exact means, scoring by each engine.
//!
//! `cargo bench` runs them; `make bench` measures whole commands against plain Python.
#![expect(clippy::unwrap_used, reason = "a bench stops at the first error")]

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use scorelake::assets::Assets;
use scorelake::exact::{ExactSum, SuperAccumulator};
use scorelake::ingest::qwen_image_bench::reply;
use scorelake::ingest::{SourceOptions, reader};
use scorelake::lake::manifest::Manifest;
use scorelake::lake::session::EngineOptions;
use scorelake::lake::{self, Control, IngestRequest, Lake, OnError};
use scorelake::pipeline::{Choices, Pipeline, Plan};
use scorelake::schema::taxonomy::Rubric;
use scorelake::synth::qwen_image_bench::{Generator, Options};
use scorelake::{score, source};

fn main() {
    divan::main();
}

const DATASET: &str = "qwen-image-bench";

fn generator(rows: u64, noise: f64) -> Generator {
    let models = (0..18).map(|number| format!("Model-{number}")).collect();
    let options = Options { rows, models, english: false, noise, seed: 1, think_chars: 1800, gap: None };
    Generator::new(&Assets::embedded(), options, None).unwrap()
}

/// A folder with a file of so many prompts × 18 models.
fn file(rows: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut out = std::fs::File::create(dir.path().join("judged.jsonl")).unwrap();
    generator(rows, 0.0).write(&mut out).unwrap();
    dir
}

fn ingest(dir: &tempfile::TempDir, lake: &str, keep_text: bool) -> Lake {
    let assets = Assets::embedded();
    let reader = reader(&assets, DATASET).unwrap();
    let lake = Lake::create(dir.path().join(lake)).unwrap();
    let request = IngestRequest {
        assets: &assets,
        reader: reader.as_ref(),
        inputs: source::expand(&[dir.path().join("judged.jsonl").to_string_lossy().into_owned()]),
        options: SourceOptions { keep_text, ..SourceOptions::default() },
        provenance: None,
        on_error: OnError::Fail,
        supersede: false,
        max_line: 64 << 20,
    };
    let control = Control { engine: EngineOptions::default(), progress: &|_| {} };
    lake::ingest(&lake, request, &control).unwrap();
    lake
}

/// The replies of 20 prompts, each with its pillar's place.
fn replies(noise: f64) -> Vec<(String, usize)> {
    let rubric = Rubric::load(&Assets::embedded(), DATASET).unwrap();
    let mut text = Vec::new();
    generator(20, noise).write(&mut text).unwrap();
    let mut replies = Vec::new();
    for line in String::from_utf8(text).unwrap().lines() {
        // A noisy line may hold an escape that only Python reads.
        let Ok(serde_json::Value::Object(members)) = serde_json::from_str(&line.replace("\\ud83d", "")) else {
            continue;
        };
        for (key, value) in members {
            let Some((prefix, _)) = key.split_once("_response_") else { continue };
            let pillar = rubric.pillars.iter().position(|pillar| pillar.prefix == prefix);
            if let (Some(pillar), Some(text)) = (pillar, value.as_str()) {
                replies.push((text.to_owned(), pillar));
            }
        }
    }
    replies
}

#[divan::bench(args = [0.0, 0.3])]
fn read_replies(bencher: Bencher<'_, '_>, noise: f64) {
    let rubric = Rubric::load(&Assets::embedded(), DATASET).unwrap();
    let replies = replies(noise);
    let bytes: usize = replies.iter().map(|(text, _)| text.len()).sum();
    bencher.counter(BytesCount::new(bytes)).counter(ItemsCount::new(replies.len())).bench(|| {
        replies
            .iter()
            .map(|(text, pillar)| reply::read(Some(text), &rubric.pillars[*pillar]).entries.len())
            .sum::<usize>()
    });
}

#[divan::bench(args = [true, false], sample_count = 10)]
fn ingest_100_prompts(bencher: Bencher<'_, '_>, keep_text: bool) {
    let dir = file(100);
    let bytes = std::fs::metadata(dir.path().join("judged.jsonl")).unwrap().len();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        let lake = ingest(&dir, "lake", keep_text);
        std::fs::remove_dir_all(lake.root().path().unwrap()).unwrap();
    });
}

fn values() -> Vec<f64> {
    (0..100_000).map(|number| f64::from(number % 101) * 100.0 / 3.0).collect()
}

#[divan::bench]
fn plain_mean(bencher: Bencher<'_, '_>) {
    let values = values();
    bencher
        .counter(ItemsCount::new(values.len()))
        .bench(|| black_box(&values).iter().sum::<f64>() / values.len() as f64);
}

#[divan::bench]
fn exact_mean(bencher: Bencher<'_, '_>) {
    let values = values();
    bencher.counter(ItemsCount::new(values.len())).bench(|| {
        let mut sum = ExactSum::default();
        black_box(&values).iter().for_each(|value| sum.add(*value));
        sum.mean()
    });
}

#[divan::bench]
fn superaccumulator(bencher: Bencher<'_, '_>) {
    let values = values();
    bencher.counter(ItemsCount::new(values.len())).bench(|| {
        let mut sum = SuperAccumulator::default();
        black_box(&values).iter().for_each(|value| sum.add(*value));
        sum.divided_by(values.len() as u64)
    });
}

/// A lake of 200 prompts × 18 models and the default plan.
fn scored() -> (tempfile::TempDir, Lake, Manifest, Plan) {
    let dir = file(200);
    let lake = ingest(&dir, "lake", false);
    let manifest = Manifest::load(&lake, DATASET).unwrap();
    let assets = Assets::embedded();
    let pipeline = Pipeline::load(&assets, DATASET).unwrap();
    let plan =
        Plan::new(&assets, &pipeline, &Choices { intervals: Some("none".into()), ..Choices::default() }).unwrap();
    (dir, lake, manifest, plan)
}

#[divan::bench(sample_count = 10)]
fn score_200_prompts_by_datafusion(bencher: Bencher<'_, '_>) {
    let (dir, lake, manifest, plan) = scored();
    let out = dir.path().join("out");
    bencher.bench(|| {
        std::fs::create_dir_all(&out).unwrap();
        score::score(&Assets::embedded(), &lake, &manifest, &plan, EngineOptions::default(), &out, &|_| {}).unwrap();
        std::fs::remove_dir_all(&out).unwrap();
    });
}

#[divan::bench(sample_count = 10)]
fn score_200_prompts_by_polars(bencher: Bencher<'_, '_>) {
    let (_dir, lake, manifest, plan) = scored();
    bencher.bench(|| score::second_opinion(&Assets::embedded(), &lake, &manifest, &plan).unwrap());
}
