//! A board over fewer prompts: those that every model has, or those whose every part was judged.

use std::collections::BTreeMap;

use super::samples::SnapshotSamples;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{PlannedIntervals, SampleEntry, SampleKind};
use crate::stats::{self, Entry, Observations, Observed, Replicates, Resampling, acceleration, proportion};

/// The sample of prompts whose every part was judged.
const COMPLETE: &str = "complete";

/// Prints the board of a snapshot over fewer prompts.
pub(super) fn print(session: &Session, target: &str, is_common: bool, is_complete: bool) -> Result<Outcome> {
    let samples = SnapshotSamples::open(session, target)?;
    let place = if is_complete {
        samples.samples.iter().position(|sample| sample.entry.name == COMPLETE).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "--complete-only: the dataset does not say which prompts are complete")
        })?
    } else {
        samples.ranking()
    };
    let item = samples.observations.iter().flat_map(|set| &set.columns).filter(|column| column.sample == place);
    let item = item.map(|column| column.item.clone()).min().unwrap_or_default();
    let mut rows = Vec::new();
    for set in &samples.observations {
        let is_own = |column: &&Observed| column.sample == place && column.item == item;
        let columns: Vec<&Observed> = set.columns.iter().filter(is_own).collect();
        let mut boards: BTreeMap<(&str, &str), Vec<&Observed>> = BTreeMap::new();
        for column in columns {
            boards.entry((&column.entry.scope, &column.entry.judge)).or_default().push(column);
        }
        for members in boards.into_values() {
            let kept = |unit: usize| !is_common || members.iter().all(|column| !column.values[unit].is_nan());
            let kept: Vec<bool> = (0..set.units.len()).map(kept).collect();
            rows.extend(board(set, &members, &kept, &samples.intervals, &samples.samples[place].entry));
        }
    }
    if rows.iter().all(|row| row.n == 0) {
        session.printer.warn(if is_complete {
            "no prompt is complete; without metadata none is known to be"
        } else {
            "no prompt is left: the models have none in common"
        });
    }
    let cells: Vec<[Cell; 10]> = rows.into_iter().map(cells).collect();
    let names = ["rank", "model", "scope", "score", "low", "high", "n", "n_own", "model_revision", "judge"];
    text_rows::print_hiding(session, &names, &cells)?;
    let of = if item.is_empty() || is_complete { String::new() } else { format!("{item} ") };
    let over = match (is_common, is_complete) {
        (true, true) => "over what is complete for every model",
        (true, false) => "over what every model of a board has; n_own counts a model's own",
        _ => "over what is complete for each model",
    };
    session.printer.note(&format!("{of}{over}"));
    samples.tell_unranked(session);
    Ok(Outcome::Complete)
}

struct Row {
    rank: Option<u64>,
    entry: Entry,
    score: Option<f64>,
    bounds: Option<(f64, f64)>,
    n: u64,
    n_own: u64,
}

fn board(
    set: &Observations,
    members: &[&Observed],
    kept: &[bool],
    plan: &PlannedIntervals,
    sample: &SampleEntry,
) -> Vec<Row> {
    let restricted: Vec<Vec<f64>> = members
        .iter()
        .map(|column| {
            column.values.iter().zip(kept).map(|(value, kept)| if *kept { *value } else { f64::NAN }).collect()
        })
        .collect();
    let columns: Vec<&[f64]> = restricted.iter().map(Vec::as_slice).collect();
    let means = Resampling { replicates: plan.replicates, seed: plan.seed }.means(set.units.len(), &columns);
    let mut rows: Vec<Row> = members
        .iter()
        .zip(&restricted)
        .zip(means)
        .map(|((column, values), means)| {
            let present = values.iter().copied().filter(|value| !value.is_nan());
            let n = present.clone().count() as u64;
            let score = stats::exact_mean(present.clone());
            let bounds = if sample.kind == SampleKind::YesNo {
                let successes = present.filter(|value| *value != 0.0).count() as u64;
                let wilson = proportion::wilson(successes, n, plan.confidence);
                wilson.map(|bounds| (bounds.low * sample.yes, bounds.high * sample.yes))
            } else {
                let best = acceleration(present).zip(score).and_then(|(acceleration, score)| {
                    Replicates::new(means).best(score, acceleration, plan.confidence)
                });
                best.map(|(bounds, _)| (bounds.low, bounds.high))
            };
            Row { rank: None, entry: column.entry.clone(), score, bounds, n, n_own: column.present().count() as u64 }
        })
        .collect();
    let scores: Vec<f64> = rows.iter().map(|row| row.score.unwrap_or(f64::NAN)).collect();
    rows.iter_mut().zip(stats::ranks::places(&scores)).for_each(|(row, place)| row.rank = place);
    rows.sort_by(|a, b| (a.rank.is_none(), a.rank, &a.entry).cmp(&(b.rank.is_none(), b.rank, &b.entry)));
    rows
}

fn cells(row: Row) -> [Cell; 10] {
    [
        row.rank.into(),
        row.entry.model.into(),
        row.entry.scope.into(),
        row.score.into(),
        row.bounds.map(|(low, _)| low).into(),
        row.bounds.map(|(_, high)| high).into(),
        row.n.into(),
        row.n_own.into(),
        row.entry.model_revision.into(),
        row.entry.judge.into(),
    ]
}
