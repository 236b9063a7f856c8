//! The files of the Qwen-Image-Bench scoring script, with its keys and values: `scores_detail.json` and `scores_result.xlsx`,
//! the same with `_en` for images from English prompts, and for each judged file its own pair of `_bench_scores` files.
//!
//! Models stand by total, pillars and capabilities in the order of the rubric, where the script has the order of first sight.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Float64Type;
use serde_json::{Map, Value, json};

use super::xlsx::{Changes, Sheet, SheetNames, save, workbook};
use super::{Exported, Target, file_name};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Parameter;
use crate::schema::taxonomy::Rubric;
use crate::snapshot::{Input, Snapshot};

/// The sheet of pillars.
const SUMMARY: &str = "Level-1 Summary";

/// What makes an entry of the board: model, revision, judge, language.
type Entry = [String; 4];

/// Scores of one entry.
#[derive(Debug, Default)]
struct Scores {
    total: Option<f64>,
    /// Pillar → score.
    pillars: HashMap<String, f64>,
    /// Pillar → capability → score.
    capabilities: HashMap<String, BTreeMap<String, f64>>,
}

/// Writes the script's files into a folder. Only a snapshot of what the script computes has such files.
pub fn official(snapshot: &Snapshot, rubric: &Rubric, target: Target<'_>) -> Result<Exported> {
    require_official(snapshot)?;
    let entries = read(snapshot)?;
    let mut exported = Exported::default();
    let mut changes = Changes::default();
    for (lang, suffix) in [("cn", ""), ("en", "_en")] {
        let board = board(&entries, lang);
        if board.is_empty() {
            continue;
        }
        let detail: Map<String, Value> =
            board.iter().map(|(name, scores)| (name.clone(), detail(scores, rubric))).collect();
        write_json(
            target,
            &target.file(&format!("scores_detail{suffix}.json")),
            &Value::Object(detail),
            &mut exported,
        )?;
        let path = target.file(&format!("scores_result{suffix}.xlsx"));
        save(board_book(&board, rubric, &mut changes)?, target, &path)?;
        exported.files.push(path);
    }
    for (stem, entry) in judged_files(snapshot) {
        let Some(scores) = entries.get(&entry) else { continue };
        let Value::Object(mut all) = detail(scores, rubric) else { continue };
        // The script writes the total last here.
        let total = all.shift_remove("total").unwrap_or(Value::Null);
        all.insert("total".into(), total);
        write_json(target, &target.file(&format!("{stem}_bench_scores.json")), &Value::Object(all), &mut exported)?;
        let path = target.file(&format!("{stem}_bench_scores.xlsx"));
        save(model_book(scores, rubric, &mut changes)?, target, &path)?;
        exported.files.push(path);
    }
    exported.notes.extend(changes.notes());
    Ok(exported)
}

fn require_official(snapshot: &Snapshot) -> Result<()> {
    let manifest = &snapshot.manifest;
    let judged = Parameter::Text("judged".into());
    if manifest.protocol == "official" && manifest.parameters.get("facets") == Some(&judged) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Usage,
        "only snapshots of protocol official with --facets judged hold what the script computes",
    )
    .with("snapshot", &manifest.id)
    .with("protocol", &manifest.protocol)
    .hint("score with --protocol official, or export with --xlsx, --json or --csv"))
}

fn write_json(target: Target<'_>, path: &Path, value: &Value, exported: &mut Exported) -> Result<()> {
    target.write(path, |out| {
        let written = serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from);
        written.and_then(|()| std::io::Write::write_all(out, b"\n")).map_err(|e| Error::io(path, "write", e))
    })?;
    exported.files.push(path.to_path_buf());
    Ok(())
}

/// Scores of every entry, from three tables of the snapshot.
fn read(snapshot: &Snapshot) -> Result<BTreeMap<Entry, Scores>> {
    let mut entries: BTreeMap<Entry, Scores> = BTreeMap::new();
    let mut each = |table: &str, item: &[&str], score: &str, take: &dyn Fn(&mut Scores, &[String], Option<f64>)| {
        for batch in snapshot.rows(table, usize::MAX)? {
            let batch = batch?;
            let values = column(&batch, score)?.as_primitive::<Float64Type>().clone();
            for row in 0..batch.num_rows() {
                let texts = |names: &[&str]| {
                    let text = |name: &&str| Ok(column(&batch, name)?.as_string::<i32>().value(row).to_owned());
                    names.iter().map(text).collect::<Result<Vec<String>>>()
                };
                let entry: Entry = texts(&["model", "model_revision", "judge", "lang"])?
                    .try_into()
                    .unwrap_or_else(|_: Vec<String>| Entry::default());
                let value = (!values.is_null(row)).then(|| values.value(row));
                take(entries.entry(entry).or_default(), &texts(item)?, value);
            }
        }
        Ok::<_, Error>(())
    };
    each("leaderboard", &[], "overall", &|scores, _, value| scores.total = value)?;
    each("by_pillar", &["pillar"], "score", &|scores, item, value| {
        if let ([pillar], Some(value)) = (item, value) {
            scores.pillars.insert(pillar.clone(), value);
        }
    })?;
    each("by_capability", &["pillar", "capability"], "score", &|scores, item, value| {
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
fn board<'e>(entries: &'e BTreeMap<Entry, Scores>, lang: &str) -> Vec<(String, &'e Scores)> {
    let own: Vec<_> = entries.iter().filter(|([.., of], _)| of == lang).collect();
    let mut board: Vec<(String, &Scores)> = own
        .iter()
        .map(|([model, revision, judge, _], scores)| {
            let is_alone = own.iter().filter(|([other, ..], _)| other == model).count() == 1;
            let told: Vec<_> = [("revision", revision), ("judge", judge)]
                .iter()
                .filter(|(_, value)| !is_alone && !value.is_empty())
                .map(|(what, value)| format!("{what} {value}"))
                .collect();
            let name = if told.is_empty() { model.clone() } else { format!("{model} ({})", told.join(", ")) };
            (name, *scores)
        })
        .collect();
    let total = |scores: &Scores| scores.total.unwrap_or(f64::NEG_INFINITY);
    board.sort_by(|(a, x), (b, y)| total(y).total_cmp(&total(x)).then_with(|| a.cmp(b)));
    board
}

/// The pillars that have a score, in the order of the rubric.
fn pillars<'r>(rubric: &'r Rubric, has: impl Fn(&str) -> bool) -> Vec<&'r str> {
    rubric.pillars.iter().map(|pillar| pillar.name.as_str()).filter(|pillar| has(pillar)).collect()
}

/// `{"total": x, "level1": {pillar: x}, "level2": {pillar: {capability: x}}}`
fn detail(scores: &Scores, rubric: &Rubric) -> Value {
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
    json!({ "total": scores.total, "level1": level1, "level2": level2 })
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
    book.push_worksheet(sheet.finish());
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
        book.push_worksheet(sheet.finish());
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
    book.push_worksheet(sheet.finish());
    for pillar in pillars(rubric, |pillar| scores.capabilities.contains_key(pillar)) {
        let mut sheet = Sheet::new(&names.take(pillar), &["Sub-dimension", "Score"])?;
        for (capability, score) in scores.capabilities.get(pillar).into_iter().flatten() {
            sheet.scores(capability, &[Some(*score)], changes)?;
        }
        book.push_worksheet(sheet.finish());
    }
    Ok(book)
}

/// The judged files among the inputs: what their pair is called, and the entry they speak of. Two files of one name are told by
/// model and language.
fn judged_files(snapshot: &Snapshot) -> Vec<(String, Entry)> {
    let judged: Vec<(&str, &Input)> = snapshot
        .manifest
        .inputs
        .iter()
        .filter(|input| !input.options.model.is_empty())
        .flat_map(|input| input.uris.iter().map(move |uri| (stem(uri), input)))
        .collect();
    let mut files = BTreeMap::new();
    for (stem, input) in &judged {
        let options = &input.options;
        let entry: Entry = [&options.model, &options.model_revision, &options.judge, &options.lang].map(String::clone);
        let is_alone = judged.iter().filter(|(other, _)| other == stem).count() == 1;
        let told = entry.iter().filter(|part| !is_alone && !part.is_empty()).map(|part| file_name(part));
        let name: Vec<String> = [file_name(stem)].into_iter().chain(told).collect();
        files.insert(name.join("_"), entry);
    }
    files.into_iter().collect()
}

/// `<input>` of `…/<input>_judged.csv.gz`.
fn stem(uri: &str) -> &str {
    let name = uri.rsplit(['/', '\\']).next().unwrap_or(uri);
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name.strip_suffix("_judged").filter(|stem| !stem.is_empty()).unwrap_or(name)
}
