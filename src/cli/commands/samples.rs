//! The samples of a snapshot: what comparisons are drawn from, read with nothing but the snapshot's own tables.

use std::collections::BTreeMap;

use super::target;
use crate::cli::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::grid::{Datum, Grid};
use crate::lake::session::Engine;
use crate::pipeline::{Parameter, Pipeline, PlannedIntervals, PlannedSample};
use crate::schema::dataset::Dataset;
use crate::score::{display_names, register_small_tables};
use crate::snapshot::Snapshot;
use crate::stats::{Entry, Observations, SampleRows};

/// A snapshot with its samples that have units.
pub(super) struct SnapshotSamples {
    pub(super) samples: Vec<PlannedSample>,
    pub(super) observations: Vec<Observations>,
    pub(super) intervals: PlannedIntervals,
    names: BTreeMap<String, String>,
    unranked: Vec<String>,
}

/// The pipeline that a snapshot is of: the built-in one of its name, else the dataset's own.
pub(super) fn pipeline_of(session: &Session, snapshot: &Snapshot) -> Result<Pipeline> {
    let pipelines = Pipeline::of_dataset(&session.assets, &snapshot.manifest.dataset)?;
    let own = pipelines.iter().position(|pipeline| pipeline.name == snapshot.manifest.pipeline);
    if own.is_none() {
        session.printer.note(&format!(
            "the snapshot is of the pipeline {}, which is not built in: samples, variants and published tables are those of {}",
            snapshot.manifest.pipeline, snapshot.manifest.dataset
        ));
    }
    let own = own.unwrap_or(0);
    let none =
        || Error::new(ErrorKind::Config, "the dataset has no pipeline").with("dataset", &snapshot.manifest.dataset);
    pipelines.into_iter().nth(own).ok_or_else(none)
}

/// A session over the tables of a snapshot alone, and what `$name`s stand for.
pub(super) fn session_over(
    session: &Session,
    dataset: &Dataset,
    snapshot: &Snapshot,
) -> Result<(Engine, BTreeMap<String, Parameter>)> {
    let engine = Engine::new(&session.assets, session.engine(), &dataset.sql_schema)?;
    register_small_tables(&session.assets, &engine, dataset)?;
    for table in &snapshot.manifest.tables {
        engine.register_files(&dataset.sql_schema, &table.schema(&dataset.id), &[snapshot.dir.file(&table.file)])?;
    }
    let mut bound = snapshot.manifest.parameters.clone();
    bound.insert("protocol".into(), Parameter::Text(snapshot.manifest.protocol.clone()));
    Ok((engine, bound))
}

impl SnapshotSamples {
    /// Reads the samples of the snapshot that a target names.
    pub(super) fn open(session: &Session, target: &str) -> Result<Self> {
        let (dataset, snapshot) = target::find(session, target)?;
        Self::of(session, dataset, snapshot)
    }

    /// Reads the samples of a snapshot.
    pub(super) fn of(session: &Session, dataset: Dataset, snapshot: Snapshot) -> Result<Self> {
        let pipeline = pipeline_of(session, &snapshot)?;
        let (engine, bound) = session_over(session, &dataset, &snapshot)?;
        let mut samples = pipeline.planned_samples(&session.assets)?;
        samples.retain(|sample| sample.entry.kind.has_units() && !sample.entry.while_scoring);
        let none = || {
            Error::new(ErrorKind::Usage, format!("{} has nothing to compare prompt by prompt", dataset.id))
                .hint("a pipeline needs samples with units, and [intervals]")
        };
        let entry = pipeline.intervals.as_ref().filter(|_| !samples.is_empty()).ok_or_else(none)?;
        let intervals = PlannedIntervals {
            samples: Vec::new(),
            confidence: entry.confidence,
            replicates: entry.replicates,
            seed: entry.seed,
        };
        let mut rows = Vec::new();
        for sample in &samples {
            let read = SampleRows::read(&engine, sample, &bound).map_err(|e| {
                let message = format!("the snapshot lacks what its comparisons need: {}", e.message());
                Error::new(ErrorKind::Lacking, message)
                    .with("snapshot", &snapshot.manifest.id)
                    .hint(format!("score again: scorelake score {}", dataset.id))
                    .caused_by(e)
            });
            rows.push((sample, read?));
        }
        let observations = Observations::gather(&rows)?;
        drop(rows);
        let names = display_names(&session.assets, &dataset.id)?.into_iter().collect();
        let unranked = unranked(&samples, &snapshot)?;
        Ok(Self { unranked, observations, intervals: snapshot.manifest.intervals.unwrap_or(intervals), samples, names })
    }

    /// The samples, in the order that columns name them.
    pub(super) fn planned(&self) -> Vec<&PlannedSample> {
        self.samples.iter().collect()
    }

    /// Place of the sample that orders the leaderboard, else of the first one.
    pub(super) fn ranking(&self) -> usize {
        self.samples.iter().position(|sample| sample.entry.ranks).unwrap_or(0)
    }

    /// Every entry, by scope.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> =
            self.observations.iter().flat_map(|set| set.columns.iter().map(|column| column.entry.clone())).collect();
        entries.sort();
        entries.dedup();
        entries
    }

    /// The entry of a name in every scope that has it: a label (model@revision#judge), a model that has one entry, or a name on boards.
    pub(super) fn find(&self, name: &str) -> Result<Vec<Entry>> {
        let entries = self.entries();
        let named = |is: &dyn Fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).cloned().collect::<Vec<_>>();
        let shown = |entry: &Entry| self.names.get(&entry.model).is_some_and(|shown| shown == name);
        let found = [
            named(&|entry| entry.label() == name),
            named(&|entry| entry.model == name),
            named(&|entry| shown(entry)),
            named(&|entry| entry.label().eq_ignore_ascii_case(name)),
        ]
        .into_iter()
        .find(|found| !found.is_empty());
        let Some(found) = found else {
            let near_to = |label: &str| strsim::jaro_winkler(&label.to_lowercase(), &name.to_lowercase());
            let labels: std::collections::BTreeSet<String> = entries.iter().map(Entry::label).collect();
            let near = labels.iter().max_by(|a, b| near_to(a).total_cmp(&near_to(b)));
            let hint = match near {
                Some(near) if near_to(near) > 0.8 => format!("did you mean {near}?"),
                _ => format!("there are {}", labels.into_iter().collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::new(ErrorKind::Usage, format!("no `{name}` in the snapshot")).hint(hint));
        };
        for pair in found.windows(2) {
            if pair[0].scope == pair[1].scope {
                let labels: Vec<String> = found.iter().map(Entry::label).collect();
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is more than one entry"))
                    .hint(format!("one of {}", labels.join(", "))));
            }
        }
        Ok(found)
    }

    /// The sample and item of a name; without a name what orders the board, or the first item where nothing does.
    pub(super) fn item(&self, name: Option<&str>) -> Result<(usize, String)> {
        let columns = || self.observations.iter().flat_map(|set| &set.columns);
        let Some(name) = name else {
            let place = self.ranking();
            let first = columns().filter(|column| column.sample == place).map(|column| column.item.clone()).min();
            return Ok((place, first.unwrap_or_default()));
        };
        if let Some(column) = columns().find(|column| column.item == name) {
            return Ok((column.sample, name.to_owned()));
        }
        let mut items: Vec<&str> =
            columns().map(|column| column.item.as_str()).filter(|item| !item.is_empty()).collect();
        items.sort_unstable();
        items.dedup();
        Err(Error::new(ErrorKind::Usage, format!("no item `{name}`")).hint(format!("there are {}", items.join(", "))))
    }

    /// Says which models have no rank on the snapshot's own board, since comparisons and further boards have them.
    pub(super) fn tell_unranked(&self, session: &Session) {
        if !self.unranked.is_empty() {
            session
                .printer
                .note(&format!("without a rank on the board, for want of coverage: {}", self.unranked.join(", ")));
        }
    }
}

/// Models without a rank in the table of the sample that ranks.
fn unranked(samples: &[PlannedSample], snapshot: &Snapshot) -> Result<Vec<String>> {
    let Some(ranking) = samples.iter().find(|sample| sample.entry.ranks) else { return Ok(Vec::new()) };
    let board = Grid::of(snapshot.rows(&ranking.entry.table, usize::MAX)?)?;
    let has_none = |row: &&BTreeMap<String, Datum>| row.get("rank") == Some(&Datum::Null);
    let mut models: Vec<String> =
        board.rows.iter().filter(has_none).filter_map(|row| row.get("model")).map(Datum::text).collect();
    models.dedup();
    Ok(models)
}
