//! The files of the Qwen-Image-Bench scoring script, with its keys and values: `scores_detail.json` and `scores_result.xlsx`,
//! the same with `_en` for images from English prompts, and for each judged file its own pair of `_bench_scores` files.
//!
//! Models stand by total, pillars and capabilities in the order of the rubric, where the script has the order of first sight.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use serde_json::{Map, Value, json};

use super::xlsx::{Changes, Sheet, SheetNames, workbook};
use super::{Exported, Target, file_name};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::Form;
use crate::pipeline::{Parameter, Plan};
use crate::schema::taxonomy::Rubric;
use crate::snapshot::{self, Input, Snapshot};

/// The dataset whose script has files of its own.
pub const OFFICIAL_OF: &str = crate::ingest::qwen_image_bench::DATASET;

/// The sheet of pillars.
const SUMMARY: &str = "Level-1 Summary";

/// What makes an entry of the board: model, revision, judge, language.
type Entry = [String; 4];

/// Scores of one entry.
#[derive(Debug, Default)]
struct Scores {
    total: Option<f64>,
    /// Prompts with a total.
    n: u64,
    /// Pillar → score.
    pillars: HashMap<String, f64>,
    /// Pillar → capability → score.
    capabilities: HashMap<String, BTreeMap<String, f64>>,
}

/// Writes the script's files into a folder: all of them are made before the first is written. Only a snapshot of what the script
/// computes has such files; `plan` is what computes it.
pub fn official(snapshot: &Snapshot, plan: &Plan, rubric: &Rubric, target: Target<'_>) -> Result<Exported> {
    require_official(snapshot, plan)?;
    let entries = read(snapshot)?;
    let mut exported = Exported::default();
    let mut changes = Changes::default();
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for (lang, suffix) in [("cn", ""), ("en", "_en")] {
        let board = board(&entries, lang)?;
        if board.is_empty() {
            continue;
        }
        let all: Map<String, Value> =
            board.iter().map(|(name, scores)| (name.clone(), detail(scores, rubric).into())).collect();
        files.push((target.file(&format!("scores_detail{suffix}.json")), json_text(&Value::Object(all))?));
        let mut book = board_book(&board, rubric, &mut changes)?;
        files.push((target.file(&format!("scores_result{suffix}.xlsx")), book.save_to_buffer()?));
    }
    for JudgedFile { name, entry, ids } in judged_files(snapshot, &mut exported.notes) {
        let Some(scores) = entries.get(&entry) else {
            exported.notes.push(format!("{name}: no score of {}, no pair of files", entry[0]));
            continue;
        };
        if scores.n > ids {
            exported
                .notes
                .push(format!("{name}: {} also has scores from other files, they are in the pair too", entry[0]));
        }
        // The script writes the total last here.
        let mut all = detail(scores, rubric);
        all.shift_remove("total");
        all.insert("total".into(), json!(scores.total));
        files.push((target.file(&format!("{name}_bench_scores.json")), json_text(&Value::Object(all))?));
        let mut book = model_book(scores, rubric, &mut changes)?;
        files.push((target.file(&format!("{name}_bench_scores.xlsx")), book.save_to_buffer()?));
    }
    target.require_free(files.iter().map(|(path, _)| path))?;
    for (path, bytes) in files {
        target.write(&path, |out| out.write_all(&bytes).map_err(|e| Error::io(&path, "write", e)))?;
        exported.files.push(path);
    }
    exported.notes.extend(changes.notes());
    Ok(exported)
}

/// The protocol, the parameters and the queries must be those of the script's reading; a rank's coverage is not in its files.
fn require_official(snapshot: &Snapshot, plan: &Plan) -> Result<()> {
    let manifest = &snapshot.manifest;
    let scoring = |parameters: &BTreeMap<String, Parameter>| {
        let mut scoring = parameters.clone();
        scoring.remove("min_coverage");
        scoring
    };
    let what = if manifest.protocol != "official" || plan.protocol != "official" {
        format!("the protocol is `{}`", manifest.protocol)
    } else if scoring(&manifest.parameters) != scoring(&plan.parameters) {
        "a parameter is not the script's".to_owned()
    } else if manifest.sql_sha256 != snapshot::query_digests(plan) {
        "the queries are not the built-in ones of this version".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Usage, format!("the snapshot does not hold what the script computes: {what}"))
        .with("snapshot", &manifest.id)
        .hint("score with --protocol official and no other options, or export with --xlsx, --json or --csv"))
}

fn json_text(value: &Value) -> Result<Vec<u8>> {
    let text = serde_json::to_vec_pretty(value).map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e));
    text.map(|mut text| {
        text.push(b'\n');
        text
    })
}

/// Puts a row's score, and how many prompts it is of, in its place.
type Take<'t> = &'t dyn Fn(&mut Scores, &[String], Option<f64>, i64);

/// Scores of every entry, from three tables of the snapshot.
fn read(snapshot: &Snapshot) -> Result<BTreeMap<Entry, Scores>> {
    let mut entries: BTreeMap<Entry, Scores> = BTreeMap::new();
    let mut each = |table: &str, item: &[&str], score: &str, take: Take<'_>| {
        for batch in snapshot.rows(table, usize::MAX)? {
            let batch = batch?;
            let text = |name: &str, row: usize| Ok(column(&batch, name)?.as_string::<i32>().value(row).to_owned());
            let scores = column(&batch, score)?.as_primitive::<Float64Type>().clone();
            let counts = column(&batch, "n")?.as_primitive::<Int64Type>().clone();
            for row in 0..batch.num_rows() {
                let of = |name: &str| text(name, row);
                let entry: Entry = [of("model")?, of("model_revision")?, of("judge")?, of("lang")?];
                let item = item.iter().map(|name| of(name)).collect::<Result<Vec<_>>>()?;
                let score = scores.is_valid(row).then(|| scores.value(row));
                take(entries.entry(entry).or_default(), &item, score, counts.value(row));
            }
        }
        Ok::<_, Error>(())
    };
    each("leaderboard", &[], "overall", &|scores, _, value, n| {
        (scores.total, scores.n) = (value, n.unsigned_abs());
    })?;
    each("by_pillar", &["pillar"], "score", &|scores, item, value, _| {
        if let ([pillar], Some(value)) = (item, value) {
            scores.pillars.insert(pillar.clone(), value);
        }
    })?;
    each("by_capability", &["pillar", "capability"], "score", &|scores, item, value, _| {
        if let ([pillar, capability], Some(value)) = (item, value) {
            scores.capabilities.entry(pillar.clone()).or_default().insert(capability.clone(), value);
        }
    })?;
    Ok(entries)
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b dyn Array> {
    let column = batch.column_by_name(name);
    column
        .map(AsRef::as_ref)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("the snapshot lacks the column `{name}`")))
}

/// The entries of a language by total, the best first. A model that stands there twice is told by revision and judge.
fn board<'e>(entries: &'e BTreeMap<Entry, Scores>, lang: &str) -> Result<Vec<(String, &'e Scores)>> {
    let own: Vec<_> = entries.iter().filter(|([.., of], _)| of == lang).collect();
    let mut board: BTreeMap<String, &Scores> = BTreeMap::new();
    for ([model, revision, judge, _], scores) in &own {
        let is_alone = own.iter().filter(|([other, ..], _)| other == model).count() == 1;
        let told: Vec<_> = [("revision", revision), ("judge", judge)]
            .iter()
            .filter(|(_, value)| !is_alone && !value.is_empty())
            .map(|(what, value)| format!("{what} {value}"))
            .collect();
        let name = if told.is_empty() { model.clone() } else { format!("{model} ({})", told.join(", ")) };
        if board.insert(name.clone(), scores).is_some() {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("two entries of the board would both be `{name}` in the script's files"),
            )
            .hint("export --xlsx, --json or --csv, which have a column each for model, revision and judge"));
        }
    }
    let mut board: Vec<_> = board.into_iter().collect();
    let total = |scores: &Scores| scores.total.unwrap_or(f64::NEG_INFINITY);
    // Names are in order: of equal totals the first name stands first.
    board.sort_by(|(_, x), (_, y)| total(y).total_cmp(&total(x)));
    Ok(board)
}

/// The pillars that have a score, in the order of the rubric.
fn pillars(rubric: &Rubric, has: impl Fn(&str) -> bool) -> Vec<&str> {
    rubric.pillars.iter().map(|pillar| pillar.name.as_str()).filter(|pillar| has(pillar)).collect()
}

/// `{"total": x, "level1": {pillar: x}, "level2": {pillar: {capability: x}}}`
fn detail(scores: &Scores, rubric: &Rubric) -> Map<String, Value> {
    let level1: Map<String, Value> = pillars(rubric, |pillar| scores.pillars.contains_key(pillar))
        .into_iter()
        .map(|pillar| (pillar.to_owned(), json!(scores.pillars.get(pillar))))
        .collect();
    let mut level2 = Map::new();
    for pillar in pillars(rubric, |pillar| scores.capabilities.contains_key(pillar)) {
        let Some(found) = scores.capabilities.get(pillar) else { continue };
        let mut order: Vec<&str> = Vec::new();
        for facet in rubric.facets.iter().filter(|facet| facet.pillar == pillar) {
            if found.contains_key(&facet.capability) && !order.contains(&facet.capability.as_str()) {
                order.push(&facet.capability);
            }
        }
        // Those outside the rubric follow, in alphabetical order.
        let unknown: Vec<&str> = found.keys().map(String::as_str).filter(|name| !order.contains(name)).collect();
        let capabilities: Map<String, Value> =
            order.into_iter().chain(unknown).map(|name| (name.to_owned(), json!(found.get(name)))).collect();
        level2.insert(pillar.to_owned(), Value::Object(capabilities));
    }
    let levels = [("total", json!(scores.total)), ("level1", level1.into()), ("level2", level2.into())];
    levels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// All models: a sheet of pillars, and one of capabilities for each pillar that has any.
fn board_book(
    board: &[(String, &Scores)],
    rubric: &Rubric,
    changes: &mut Changes,
) -> Result<rust_xlsxwriter::Workbook> {
    let mut book = workbook()?;
    let mut names = SheetNames::default();
    let all = pillars(rubric, |_| true);
    let columns: Vec<&str> = ["Model"].into_iter().chain(all.iter().copied()).chain(["Total"]).collect();
    let mut sheet = Sheet::new(&names.take(SUMMARY), &columns)?;
    for (name, scores) in board {
        let values: Vec<_> =
            all.iter().map(|pillar| scores.pillars.get(*pillar).copied()).chain([scores.total]).collect();
        sheet.scores(name, &values, changes)?;
    }
    book.push_worksheet(sheet.finish()?);
    for pillar in all {
        let found: BTreeSet<&str> = board
            .iter()
            .filter_map(|(_, scores)| scores.capabilities.get(pillar))
            .flat_map(BTreeMap::keys)
            .map(String::as_str)
            .collect();
        if found.is_empty() {
            continue;
        }
        let columns: Vec<&str> = ["Model"].into_iter().chain(found.iter().copied()).collect();
        let mut sheet = Sheet::new(&names.take(pillar), &columns)?;
        for (name, scores) in board {
            let of =
                |capability: &&str| scores.capabilities.get(pillar).and_then(|found| found.get(*capability)).copied();
            sheet.scores(name, &found.iter().map(of).collect::<Vec<_>>(), changes)?;
        }
        book.push_worksheet(sheet.finish()?);
    }
    Ok(book)
}

/// One model: dimensions and total, and a sheet of capabilities for each pillar that has any.
fn model_book(scores: &Scores, rubric: &Rubric, changes: &mut Changes) -> Result<rust_xlsxwriter::Workbook> {
    let mut book = workbook()?;
    let mut names = SheetNames::default();
    let mut sheet = Sheet::new(&names.take(SUMMARY), &["Dimension", "Score"])?;
    for pillar in pillars(rubric, |pillar| scores.pillars.contains_key(pillar)) {
        sheet.scores(pillar, &[scores.pillars.get(pillar).copied()], changes)?;
    }
    sheet.scores("Total", &[scores.total], changes)?;
    book.push_worksheet(sheet.finish()?);
    for pillar in pillars(rubric, |pillar| scores.capabilities.contains_key(pillar)) {
        let mut sheet = Sheet::new(&names.take(pillar), &["Sub-dimension", "Score"])?;
        for (capability, score) in scores.capabilities.get(pillar).into_iter().flatten() {
            sheet.scores(capability, &[Some(*score)], changes)?;
        }
        book.push_worksheet(sheet.finish()?);
    }
    Ok(book)
}

/// A judged file among the inputs, and the entry it speaks of.
struct JudgedFile {
    /// What its pair of files is called.
    name: String,
    entry: Entry,
    /// Prompts it is about.
    ids: u64,
}

/// The judged files among the inputs. The pair is about an entry of the board: several files of one entry have one pair, named by
/// the entry; two files of one name are told apart by their entries.
fn judged_files(snapshot: &Snapshot, notes: &mut Vec<String>) -> Vec<JudgedFile> {
    let mut by_entry: BTreeMap<Entry, Vec<(&str, &Input)>> = BTreeMap::new();
    for input in snapshot.manifest.inputs.iter().filter(|input| input.form == Form::Judged) {
        let options = &input.options;
        let entry = [&options.model, &options.model_revision, &options.judge, &options.lang].map(String::clone);
        let stem = input.uris.first().map_or("", |uri| stem(uri));
        by_entry.entry(entry).or_default().push((stem, input));
    }
    let stems: Vec<&str> = by_entry.values().flatten().map(|(stem, _)| *stem).collect();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut files = Vec::new();
    for (entry, inputs) in &by_entry {
        let told = || {
            let parts = ["", "rev-", "judge-", ""].iter().zip(entry).filter(|(_, part)| !part.is_empty());
            parts.map(|(what, part)| what.to_string() + &file_name(part)).collect::<Vec<_>>().join("_")
        };
        let wanted = match inputs[..] {
            [(stem, _)] if stems.iter().filter(|other| **other == stem).count() == 1 => file_name(stem),
            [(stem, _)] => format!("{}_{}", file_name(stem), told()),
            _ => {
                notes.push(format!("{} judged files of {} have one pair of files", inputs.len(), entry[0]));
                told()
            }
        };
        // Some systems take names for one that differ in the case of letters.
        let mut name = wanted.clone();
        let mut number = 1;
        while !taken.insert(name.to_lowercase()) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        let ids = inputs.iter().map(|(_, input)| input.ids.count).sum();
        files.push(JudgedFile { name, entry: entry.clone(), ids });
    }
    files
}

/// `<input>` of `…/<input>_judged.csv.gz`.
fn stem(uri: &str) -> &str {
    let name = uri.rsplit(['/', '\\']).next().unwrap_or(uri);
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name.strip_suffix("_judged").filter(|stem| !stem.is_empty()).unwrap_or(name)
}
