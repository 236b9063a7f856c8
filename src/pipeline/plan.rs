//! A pipeline with its choices made: protocol, parameters, the steps that run and their texts.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{Output, Parameter, ParameterEntry, Pipeline, SqlFile};
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
    /// Version of the metric.
    pub metric_version: u32,
    /// Values bound in SQL, by flat name.
    pub parameters: BTreeMap<String, Parameter>,
    /// Whether all parameters have the pipeline's values.
    pub is_default: bool,
    /// Steps in order.
    pub steps: Vec<PlannedStep>,
    /// Queries that must return no row.
    pub checks: Vec<SqlFile>,
    /// SHA-256 of the pipeline's text.
    pub pipeline_sha256: String,
}

impl Plan {
    /// Makes the choices; a protocol, parameter or table that does not exist is an error.
    pub fn new(assets: &Assets, pipeline: &Pipeline, choices: &Choices) -> Result<Self> {
        let dataset = Dataset::find(assets, &pipeline.dataset)?;
        let default_protocol = pipeline.protocols.first().cloned().unwrap_or_else(String::new);
        let protocol = choices.protocol.clone().unwrap_or_else(|| default_protocol.clone());
        if !pipeline.protocols.contains(&protocol) {
            return Err(Error::new(ErrorKind::Usage, format!("unknown protocol `{protocol}`"))
                .with("pipeline", &pipeline.name)
                .hint(format!("protocols: {}", pipeline.protocols.join(", "))));
        }
        let defaults = flatten(pipeline, &protocol)?;
        let mut parameters = defaults.clone();
        for (name, value) in &choices.parameters {
            if parameters.insert(name.clone(), value.clone()).is_none() {
                let known: Vec<_> = defaults.keys().cloned().collect();
                return Err(Error::new(ErrorKind::Usage, format!("the pipeline has no parameter `{name}`"))
                    .with("pipeline", &pipeline.name)
                    .hint(format!("parameters: {}", known.join(", "))));
            }
        }
        let steps = planned_steps(assets, pipeline, &protocol, &parameters)?;
        let mut checks = Vec::new();
        for check in &pipeline.checks {
            let sql = pipeline.sql(assets, &check.sql)?;
            require(sql.output == Output::Check, &sql, "a check needs `-- output: check`")?;
            checks.push(sql);
        }
        Ok(Self {
            name: pipeline.name.clone(),
            dataset,
            is_default: parameters == defaults,
            protocol,
            default_protocol,
            metric_version: pipeline.metric_version,
            parameters,
            steps,
            checks,
            pipeline_sha256: hex(&Sha256::digest(pipeline.text.as_bytes())),
        })
    }

    /// The steps that make result tables.
    pub fn outputs(&self) -> impl Iterator<Item = (&PlannedStep, &TableSchema)> {
        self.steps.iter().filter_map(|step| step.schema.as_ref().map(|schema| (step, schema)))
    }
}

fn planned_steps(
    assets: &Assets,
    pipeline: &Pipeline,
    protocol: &str,
    parameters: &BTreeMap<String, Parameter>,
) -> Result<Vec<PlannedStep>> {
    let mut steps: Vec<PlannedStep> = Vec::new();
    for step in &pipeline.steps {
        let holds = step.when.iter().all(|(key, wanted)| match key.as_str() {
            "protocol" => wanted == protocol,
            name => matches!(parameters.get(name), Some(Parameter::Text(value)) if value == wanted),
        });
        // Files of steps that do not run now must be right too.
        let sql = pipeline.sql(assets, &step.sql)?;
        require(sql.name == step.name, &sql, &format!("the header's name is not the step's name `{}`", step.name))?;
        require(
            !matches!(sql.output, Output::Check | Output::Explore),
            &sql,
            "a step needs output view, memory or table",
        )?;
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
        if !holds {
            continue;
        }
        if steps.iter().any(|earlier| earlier.name == step.name) {
            return Err(Error::new(ErrorKind::Config, format!("two steps `{}` run at once", step.name))
                .with("pipeline", &pipeline.name));
        }
        steps.push(PlannedStep { name: step.name.clone(), sql, schema });
    }
    for step in &pipeline.steps {
        if !steps.iter().any(|planned| planned.name == step.name) {
            let values: Vec<_> =
                pipeline.steps.iter().filter(|other| other.name == step.name).map(|other| &other.when).collect();
            return Err(Error::new(ErrorKind::Usage, format!("no step `{}` fits these parameters", step.name))
                .with("pipeline", &pipeline.name)
                .hint(format!("it runs when one of these holds: {values:?}")));
        }
    }
    Ok(steps)
}

fn require(holds: bool, sql: &SqlFile, message: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(ErrorKind::Config, message).with("file", &sql.path)) }
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
                        .with("pipeline", &pipeline.name)
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
