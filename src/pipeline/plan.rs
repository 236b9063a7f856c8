//! A pipeline with its choices made: protocol, parameters, the steps that run and their texts.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{
    FindingEntry, Output, Parameter, ParameterEntry, Pipeline, PlannedGate, PlannedIntervals, PlannedSample,
    SensitivityEntry, SqlFile,
};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSchema;
use crate::schema::dataset::Dataset;
use crate::source::hex;

/// What the command line chooses.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// The protocol; the pipeline's first one if `None`.
    pub protocol: Option<String>,
    /// Parameters by their flat name.
    pub parameters: BTreeMap<String, Parameter>,
    /// Which intervals: `none`, `all`, `default`, or names of samples.
    pub intervals: Option<String>,
    /// Bounds of gates by their names.
    pub gates: Vec<(String, String)>,
}

/// A step that will run.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// Name under which later steps see it.
    pub name: String,
    /// The query.
    pub sql: SqlFile,
    /// Columns and key, for a result table.
    pub schema: Option<TableSchema>,
}

/// A check that will run.
#[derive(Debug, Clone)]
pub struct PlannedCheck {
    /// The query.
    pub sql: SqlFile,
    /// What to do if it fails.
    pub hint: Option<String>,
}

/// A finding that will be asked for.
#[derive(Debug, Clone)]
pub struct PlannedFinding {
    /// The query.
    pub sql: SqlFile,
    /// Level and text.
    pub entry: FindingEntry,
}

/// What will be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name of the pipeline.
    pub name: String,
    /// The dataset.
    pub dataset: Dataset,
    /// The protocol.
    pub protocol: String,
    /// The dataset's default protocol.
    pub default_protocol: String,
    /// Result tables that a run shows: the first one that has rows.
    pub show: Vec<String>,
    /// Version of the metric.
    pub metric_version: u32,
    /// Values of parameters, by flat name.
    pub parameters: BTreeMap<String, Parameter>,
    /// Whether this is the dataset's built-in pipeline with its own parameters and queries: only that moves LATEST.
    pub is_default: bool,
    /// Steps in order.
    pub steps: Vec<PlannedStep>,
    /// Queries that must return no row.
    pub checks: Vec<PlannedCheck>,
    /// Questions whose answers are told.
    pub findings: Vec<PlannedFinding>,
    /// Samples that intervals and comparisons are drawn from.
    pub samples: Vec<PlannedSample>,
    /// Which intervals are made; what the snapshot says of itself, no part of whether the run is a default one.
    pub intervals: Option<PlannedIntervals>,
    /// What the table `sensitivity` is made of, where it is.
    pub sensitivity: Option<SensitivityEntry>,
    /// The same by other rules, by their names; for the sensitivity only.
    pub variants: Vec<(String, Plan)>,
    /// Gates, of which those with a bound hold the run to it.
    pub gates: Vec<PlannedGate>,
    /// SHA-256 of the pipeline's text.
    pub pipeline_sha256: String,
}

impl Plan {
    /// Makes the choices; a protocol, parameter or table that does not exist is an error.
    pub fn new(assets: &Assets, pipeline: &Pipeline, choices: &Choices) -> Result<Self> {
        Self::chosen(assets, pipeline, choices).map_err(|e| match e.context("pipeline") {
            Some(_) => e,
            None => e.with(
                "pipeline",
                pipeline.path.as_ref().map_or_else(|| pipeline.name.clone(), |path| path.display().to_string()),
            ),
        })
    }

    fn chosen(assets: &Assets, pipeline: &Pipeline, choices: &Choices) -> Result<Self> {
        let dataset = Dataset::find(assets, &pipeline.dataset)?;
        let default_protocol = pipeline.protocols.first().cloned().unwrap_or_else(String::new);
        let protocol = choices.protocol.clone().unwrap_or_else(|| default_protocol.clone());
        if !pipeline.protocols.contains(&protocol) {
            return Err(Error::new(ErrorKind::Usage, format!("unknown protocol `{protocol}`"))
                .hint(format!("protocols: {}", pipeline.protocols.join(", "))));
        }
        let defaults = flatten(pipeline, &protocol)?;
        let mut parameters = defaults.clone();
        for (name, value) in &choices.parameters {
            let Some(default) = defaults.get(name) else {
                let known: Vec<_> = defaults.keys().cloned().collect();
                return Err(Error::new(ErrorKind::Usage, format!("the pipeline has no parameter `{name}`"))
                    .hint(format!("parameters: {}", known.join(", "))));
            };
            parameters.insert(name.clone(), coerced(name, value, default)?);
        }
        let intervals = pipeline.planned_intervals(choices.intervals.as_deref())?;
        let mut steps = planned_steps(assets, pipeline, &protocol, &parameters)?;
        let is_beside = |name: &str| pipeline.steps.iter().any(|step| step.name == name && step.with_intervals);
        steps.retain(|step| intervals.is_some() || !is_beside(&step.name));
        // A variant is planned without intervals, and so without variants of its own.
        let sensitivity = pipeline.sensitivity.clone().filter(|_| intervals.is_some());
        if let Some(entry) = &sensitivity {
            require_sensitivity(entry, &steps)?;
        }
        let variants = match &sensitivity {
            Some(_) => pipeline.variants(assets, (&protocol, &parameters))?,
            None => Vec::new(),
        };
        let mut checks = Vec::new();
        for check in &pipeline.checks {
            let sql = pipeline.sql(assets, &check.sql)?;
            require(sql.output == Output::Check, &sql, "a check needs `-- output: check`")?;
            if holds(&check.when, &protocol, &parameters) {
                checks.push(PlannedCheck { sql, hint: check.hint.clone() });
            }
        }
        let mut findings = Vec::new();
        for entry in &pipeline.findings {
            let sql = pipeline.sql(assets, &entry.sql)?;
            require(sql.output == Output::Finding, &sql, "a finding needs `-- output: finding`")?;
            findings.push(PlannedFinding { sql, entry: entry.clone() });
        }
        let is_result = |name: &String| steps.iter().any(|step| step.name == *name && step.schema.is_some());
        if let Some(name) = pipeline.show.iter().find(|name| !is_result(name)) {
            return Err(Error::new(ErrorKind::Config, format!("`show` names `{name}`, which is no result table")));
        }
        let mut plan = Self {
            name: pipeline.name.clone(),
            is_default: parameters == defaults,
            dataset,
            protocol,
            default_protocol,
            show: pipeline.show.clone(),
            metric_version: pipeline.metric_version,
            parameters,
            steps,
            checks,
            findings,
            samples: pipeline.planned_samples(assets)?,
            intervals,
            sensitivity,
            variants,
            gates: pipeline.planned_gates(assets, &choices.gates)?,
            pipeline_sha256: hex(&Sha256::digest(pipeline.text.as_bytes())),
        };
        plan.is_default &= plan.is_built_in(pipeline);
        Ok(plan)
    }

    /// Whether the pipeline and every query are the compiled-in ones, by content.
    fn is_built_in(&self, pipeline: &Pipeline) -> bool {
        let path = format!("pipelines/{}.toml", pipeline.name);
        is_embedded(&path, &pipeline.text) && self.own_queries().next().is_none()
    }

    /// The queries that are not compiled-in ones.
    pub fn own_queries(&self) -> impl Iterator<Item = &SqlFile> {
        self.queries().filter(|sql| !is_embedded(&sql.path, &sql.text))
    }

    /// Every query that numbers come from; gates only look at them.
    pub fn queries(&self) -> impl Iterator<Item = &SqlFile> {
        let steps = self.steps.iter().map(|step| &step.sql);
        let checks = self.checks.iter().map(|check| &check.sql);
        let findings = self.findings.iter().map(|finding| &finding.sql);
        let variants = self.variants.iter().flat_map(|(_, plan)| plan.steps.iter().map(|step| &step.sql));
        let samples = self.samples.iter().map(|sample| &sample.sql);
        steps.chain(checks).chain(findings).chain(samples).chain(variants)
    }

    /// What `$name` stands for in SQL: the parameters and the protocol.
    pub fn bound(&self) -> BTreeMap<String, Parameter> {
        let mut bound = self.parameters.clone();
        bound.insert("protocol".into(), Parameter::Text(self.protocol.clone()));
        bound
    }
}

fn is_embedded(path: &str, text: &str) -> bool {
    Assets::embedded().text(path).is_ok_and(|embedded| embedded == text)
}

fn holds(when: &BTreeMap<String, String>, protocol: &str, parameters: &BTreeMap<String, Parameter>) -> bool {
    when.iter().all(|(key, wanted)| match key.as_str() {
        "protocol" => wanted == protocol,
        name => matches!(parameters.get(name), Some(Parameter::Text(value)) if value == wanted),
    })
}

fn planned_steps(
    assets: &Assets,
    pipeline: &Pipeline,
    protocol: &str,
    parameters: &BTreeMap<String, Parameter>,
) -> Result<Vec<PlannedStep>> {
    let mut steps: Vec<PlannedStep> = Vec::new();
    for step in &pipeline.steps {
        // Files of steps that do not run now must be right too.
        let sql = pipeline.sql(assets, &step.sql)?;
        require(sql.name == step.name, &sql, &format!("the header's name is not the step's name `{}`", step.name))?;
        let keeps = matches!(sql.output, Output::View | Output::Memory | Output::Table);
        require(keeps, &sql, "a step needs output view, memory or table")?;
        let schema = match sql.output {
            Output::Table => {
                let schema = TableSchema::load(assets, &pipeline.dataset, &step.name)?;
                require(
                    schema.key == sql.key,
                    &sql,
                    &format!("the header's key is not the schema's key {:?}", schema.key),
                )?;
                Some(schema)
            }
            _ => None,
        };
        if !holds(&step.when, protocol, parameters) {
            continue;
        }
        if steps.iter().any(|earlier| earlier.name == step.name) {
            return Err(Error::new(ErrorKind::Config, format!("two steps `{}` run at once", step.name)));
        }
        steps.push(PlannedStep { name: step.name.clone(), sql, schema });
    }
    for step in &pipeline.steps {
        // A step may belong to some protocols only, but a value of a parameter that fits no variant is a mistake.
        let variants: Vec<_> =
            pipeline.steps.iter().filter(|other| other.name == step.name).map(|other| &other.when).collect();
        let by_parameter = variants.iter().all(|when| when.keys().any(|key| key != "protocol"));
        if by_parameter && !steps.iter().any(|planned| planned.name == step.name) {
            return Err(Error::new(ErrorKind::Usage, format!("no step `{}` fits these parameters", step.name))
                .hint(format!("it runs when one of these holds: {variants:?}")));
        }
    }
    Ok(steps)
}

/// What `[sensitivity]` names must be there.
fn require_sensitivity(entry: &SensitivityEntry, steps: &[PlannedStep]) -> Result<()> {
    let invalid = |message: String| Error::new(ErrorKind::Config, format!("[sensitivity]: {message}"));
    let step = |name: &str| {
        let found = steps.iter().find(|step| step.name == name);
        found.ok_or_else(|| invalid(format!("`{name}` is no step")))
    };
    step(&entry.scores)?;
    let schema = step(&entry.table)?.schema.as_ref();
    let schema = schema.ok_or_else(|| invalid(format!("`{}` is no result table", entry.table)))?;
    let names = [&entry.column, &entry.model, &entry.n].into_iter().chain(&entry.scope);
    for name in names {
        if !schema.columns.iter().any(|column| column.name == *name) {
            return Err(invalid(format!("`{}` has no column `{name}`", entry.table)));
        }
    }
    Ok(())
}

fn require(holds: bool, sql: &SqlFile, message: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(ErrorKind::Config, message).with("file", &sql.path)) }
}

/// A value as the type of the parameter's default, so that 50 and 50.0 are one.
fn coerced(name: &str, value: &Parameter, default: &Parameter) -> Result<Parameter> {
    match (value, default) {
        (Parameter::Int(value), Parameter::Float(_)) => Ok(Parameter::Float(*value as f64)),
        (Parameter::Int(value), Parameter::Text(_)) => Ok(Parameter::Text(value.to_string())),
        (Parameter::Float(value), Parameter::Text(_)) => Ok(Parameter::Text(value.to_string())),
        // -0.0 is 0.0 in every comparison, so it is in the snapshot's id too.
        (Parameter::Float(value), Parameter::Float(_)) => Ok(Parameter::Float(*value + 0.0)),
        (value, default) if std::mem::discriminant(value) == std::mem::discriminant(default) => Ok(value.clone()),
        (_, default) => {
            let wanted = if matches!(default, Parameter::Int(_)) { "an integer" } else { "a number" };
            Err(Error::new(ErrorKind::Usage, format!("the parameter `{name}` is {wanted}")))
        }
    }
}

fn flatten(pipeline: &Pipeline, protocol: &str) -> Result<BTreeMap<String, Parameter>> {
    let mut flat = BTreeMap::new();
    for (name, entry) in &pipeline.parameters {
        match entry {
            ParameterEntry::One(value) => {
                flat.insert(name.clone(), value.clone());
            }
            ParameterEntry::Many(values) if values.keys().any(|key| pipeline.protocols.contains(key)) => {
                let value = values.get(protocol).ok_or_else(|| {
                    Error::new(ErrorKind::Config, format!("parameter `{name}` has no value for protocol `{protocol}`"))
                })?;
                flat.insert(name.clone(), value.clone());
            }
            ParameterEntry::Many(values) => {
                flat.extend(values.iter().map(|(key, value)| (format!("{name}_{key}"), value.clone())));
            }
        }
    }
    Ok(flat)
}
