//! Gates: bounds that a run is held to, and the report of what broke them.

use super::samples::SnapshotSamples;
use super::text_rows::chance;
use crate::cli::Session;
use crate::error::Result;
use crate::lake::Lake;
use crate::pipeline::{Bound, Pipeline, Plan, PlannedGate};
use crate::schema::dataset::Dataset;
use crate::score::{GateValue, Scored};
use crate::snapshot::{self, Snapshot};
use crate::stats::{self, Comparing, Comparison, Verdict};

/// What a gate said.
pub(super) struct Held {
    /// The gate with its bound.
    gate: String,
    /// How many values it looked at.
    looked_at: usize,
    /// What broke it.
    broken: Vec<String>,
}

/// Values that are told of one gate.
const TOLD: usize = 10;

/// Asks the gates of a plan that need no other snapshot.
pub(super) fn values(plan: &Plan, scored: &Scored) -> Result<Vec<Held>> {
    let mut all = Vec::new();
    for gate in &plan.gates {
        let PlannedGate::Values { name, sql, bound, value: Some(value) } = gate else { continue };
        let values = scored.gate_values(plan, sql, *bound, *value)?;
        let shown = |one: &GateValue| {
            let value = one.value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.4}"));
            format!("{}: {value}", one.what)
        };
        all.push(Held {
            gate: format!("{name} {} {value}", if *bound == Bound::AtLeast { "at least" } else { "at most" }),
            looked_at: values.len(),
            broken: values.iter().filter(|one| !one.holds).map(shown).collect(),
        });
    }
    Ok(all)
}

/// The snapshots that the plan's gates compare with, found before the new one takes the place of the latest. A protocol that was never
/// scored has nothing to compare with yet, which is told.
pub(super) fn references(session: &Session, plan: &Plan, lake: &Lake) -> Result<Vec<Snapshot>> {
    let mut found = Vec::new();
    for gate in &plan.gates {
        let PlannedGate::NoRegression { against } = gate else { continue };
        let protocols: Vec<String> = Pipeline::of_dataset(&session.assets, &plan.dataset.id)?
            .into_iter()
            .flat_map(|pipeline| pipeline.protocols)
            .collect();
        if protocols.contains(against) && snapshot::latest(lake, &plan.dataset.id, against)?.is_none() {
            session.printer.note(&format!("gate no_regression: no snapshot of protocol {against} to compare with yet"));
            continue;
        }
        found.push(snapshot::find(lake, &plan.dataset.id, &protocols, Some(against))?);
    }
    Ok(found)
}

/// Whether no model of both snapshots is significantly below what it was, in any score that the samples have.
pub(super) fn no_regression(session: &Session, dataset: &Dataset, before: &Snapshot, now: &Snapshot) -> Result<Held> {
    if before.manifest.id == now.manifest.id {
        session.printer.note("gate no_regression: the snapshot is the one that it is compared with");
    }
    let changes = changes(session, dataset, before, now)?;
    let is_worse = |one: &&Comparison| one.verdict == Verdict::SecondBetter;
    let shown = |one: &Comparison| {
        let item = if one.item.is_empty() { one.sample.clone() } else { one.item.clone() };
        let difference = one.difference.unwrap_or(f64::NAN);
        format!(
            "{} {} {item}: {difference:+.2} on {} prompts (p {})",
            one.a.label(),
            one.scope,
            one.n,
            chance(one.p_holm)
        )
    };
    Ok(Held {
        gate: format!("no_regression against {}", &before.manifest.id[..8.min(before.manifest.id.len())]),
        looked_at: changes.iter().filter(|one| one.n > 0).count(),
        broken: changes.iter().filter(is_worse).map(shown).collect(),
    })
}

/// What became of every model that two snapshots have: the later one less the earlier one on the prompts of both, Holm-corrected over the
/// models and items of each sample and scope.
pub(super) fn changes(
    session: &Session,
    dataset: &Dataset,
    before: &Snapshot,
    now: &Snapshot,
) -> Result<Vec<Comparison>> {
    let open = |snapshot: &Snapshot| SnapshotSamples::of(session, dataset.clone(), snapshot.clone());
    let (earlier, later) = (open(before)?, open(now)?);
    let is_same = |now: usize, then: usize| later.samples[now].entry.name == earlier.samples[then].entry.name;
    let (joined, pairs) = stats::side_by_side(&later.observations, &earlier.observations, is_same);
    let comparing = Comparing::new(&later.intervals, None);
    Ok(stats::compare(&later.planned(), &joined, &pairs, comparing))
}

/// Whether every gate holds; one that had nothing to look at does not.
pub(super) fn all_hold(held: &[Held]) -> bool {
    held.iter().all(|one| one.broken.is_empty() && one.looked_at > 0)
}

/// Tells what each gate said.
pub(super) fn tell(session: &Session, held: &[Held]) {
    for one in held {
        if one.looked_at == 0 {
            session.printer.warn(&format!("gate {}: broken, there is nothing to look at", one.gate));
            continue;
        }
        if one.broken.is_empty() {
            session.printer.note(&format!("gate {}: holds ({} looked at)", one.gate, one.looked_at));
            continue;
        }
        let more = one.broken.len().saturating_sub(TOLD);
        session.printer.warn(&format!("gate {}: broken by {} of {}", one.gate, one.broken.len(), one.looked_at));
        one.broken.iter().take(TOLD).for_each(|what| session.printer.warn(&format!("  {what}")));
        if more > 0 {
            session.printer.warn(&format!("  and {more} more"));
        }
    }
}
