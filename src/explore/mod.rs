//! Questions in SQL over the lake and its latest snapshots.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::Lake;
use crate::lake::manifest::Manifest;
use crate::lake::session::{Engine, EngineOptions};
use crate::pipeline::{Output, Parameter, Pipeline, SqlFile};
use crate::schema::dataset::Dataset;
use crate::schema::{TableKind, TableSchema};
use crate::score::{PUBLISHED, register_published, register_small_tables};
use crate::snapshot::{self, Snapshot};

/// A session over everything in a lake and the published figures: lake tables, rejects, the taxonomy and the latest snapshot of
/// the default protocol under the dataset's schema, snapshots of other protocols under `<schema>_<protocol>`, stored parts under `<schema>_parts`.
pub struct Explorer {
    engine: Engine,
    /// Parts must not go while they are read.
    _reading: Vec<std::fs::File>,
    tables: Vec<String>,
    datasets: Vec<Dataset>,
}

impl Explorer {
    /// Opens the session; without a lake it can still compute.
    pub fn open(assets: &Assets, lake: Option<&Lake>, options: EngineOptions) -> Result<Self> {
        let engine = Engine::new(assets, options, "public")?;
        register_published(assets, &engine)?;
        let published = engine.table_names(PUBLISHED).into_iter().map(|table| format!("{PUBLISHED}.{table}"));
        let mut tables: Vec<String> = published.collect();
        let mut reading = Vec::new();
        if let Some(lake) = lake {
            for dataset in Dataset::all(assets)? {
                reading.extend(lake.reading(&dataset.id)?);
                register(assets, &engine, lake, &dataset, &mut tables)?;
            }
        }
        Ok(Self { engine, tables, datasets: Dataset::all(assets)?, _reading: reading })
    }

    /// Runs a query.
    pub fn query(&self, sql: &str, parameters: &BTreeMap<String, Parameter>) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        if let Some(unused) = parameters.keys().find(|name| !sql.contains(&format!("${name}"))) {
            return Err(Error::new(ErrorKind::Usage, format!("the query has no `${unused}`"))
                .hint("take the --set away, or write the name in the query"));
        }
        let frame = self.engine.plan_with(sql, parameters).map_err(|e| self.explain(e))?;
        let schema = frame.schema().inner().clone();
        Ok((schema, self.engine.collect(frame)?))
    }

    /// Adds what a misspelt or unqualified table name most likely means.
    fn explain(&self, error: Error) -> Error {
        let message = error.message().to_owned();
        let Some(name) =
            message.strip_prefix("Error during planning: table '").and_then(|rest| rest.split('\'').next())
        else {
            return error;
        };
        let name = name.trim_start_matches("scorelake.").trim_start_matches("public.");
        let wanted = name.rsplit('.').next().unwrap_or(name);
        let has = |schema: &str| self.tables.iter().any(|table| table.split('.').next() == Some(schema));
        let absent = self.datasets.iter().find(|dataset| name.starts_with(&format!("{}.", dataset.sql_schema)));
        if let Some(dataset) = absent.filter(|dataset| !has(&dataset.sql_schema)) {
            return Error::new(ErrorKind::Sql, format!("no table `{name}`: the lake has nothing of {}", dataset.id))
                .hint(format!("scorelake run {} FILE", dataset.id))
                .caused_by(error);
        }
        let likeness = |table: &String| strsim::jaro_winkler(table.rsplit('.').next().unwrap_or(table), wanted);
        let like: Vec<_> = self.tables.iter().filter(|table| likeness(table) > 0.9).cloned().collect();
        let hint = match (like.is_empty(), self.tables.is_empty()) {
            (false, _) => format!("did you mean {}?", like.join(" or ")),
            (true, false) if self.tables.len() <= MOST_TABLES => format!("tables: {}", self.tables.join(", ")),
            (true, false) => "`scorelake schema` lists the tables; only datasets that the lake has are there".into(),
            (true, true) => "the lake is empty: `scorelake run` fills it".into(),
        };
        Error::new(ErrorKind::Sql, format!("no table `{name}`")).hint(hint).caused_by(error)
    }
}

fn register(assets: &Assets, engine: &Engine, lake: &Lake, dataset: &Dataset, tables: &mut Vec<String>) -> Result<()> {
    let manifest = Manifest::load(lake, &dataset.id)?;
    if manifest.sources.is_empty() {
        return Ok(());
    }
    engine.register_dataset(dataset, lake, &manifest)?;
    register_small_tables(assets, engine, dataset)?;
    let rejects = TableSchema::load(assets, "lake", "rejects")?;
    engine.register_files(&dataset.sql_schema, &rejects, &manifest.reject_files(lake)?)?;
    let pipelines = Pipeline::of_dataset(assets, &dataset.id)?;
    let mut schemas = vec![dataset.sql_schema.clone()];
    for (place, protocol) in pipelines.iter().flat_map(|pipeline| &pipeline.protocols).enumerate() {
        let Some(id) = snapshot::latest(lake, &dataset.id, protocol)? else { continue };
        let schema_name =
            if place == 0 { dataset.sql_schema.clone() } else { format!("{}_{protocol}", dataset.sql_schema) };
        if place > 0 {
            engine.create_schema(&schema_name)?;
            schemas.push(schema_name.clone());
        }
        let snapshot = Snapshot::open(lake.snapshots_dir(&dataset.id).join(&id))?;
        for table in &snapshot.manifest.tables {
            let file = snapshot.dir.file(&table.file);
            engine.register_files(&schema_name, &table.schema(&dataset.id), &[file])?;
        }
    }
    for schema in schemas {
        tables.extend(engine.table_names(&schema).into_iter().map(|table| format!("{schema}.{table}")));
    }
    Ok(())
}

/// Plans a question against empty tables.
pub fn dry_run(assets: &Assets, question: &SqlFile, options: EngineOptions) -> Result<()> {
    let engine = Engine::new(assets, options, "public")?;
    register_published(assets, &engine)?;
    for dataset in Dataset::all(assets)? {
        let nowhere = Lake::nowhere();
        engine.register_dataset(&dataset, &nowhere, &Manifest::empty(&dataset.id))?;
        register_small_tables(assets, &engine, &dataset)?;
        for schema in TableSchema::load_all(assets, &dataset.id)? {
            if schema.kind == TableKind::Result {
                engine.register_files(&dataset.sql_schema, &schema, &[])?;
            }
        }
    }
    engine.plan(&question.text).map_err(|e| e.with("file", &question.path))?;
    Ok(())
}

/// Tables that a message lists.
const MOST_TABLES: usize = 40;

/// Questions to start from: `sql/explore/*.sql`.
pub fn questions(assets: &Assets) -> Result<Vec<SqlFile>> {
    let mut files = Vec::new();
    for path in assets.list("sql/explore", "sql")? {
        let file = SqlFile::parse(&path, assets.text(&path)?)?;
        if file.output != Output::Explore {
            return Err(Error::new(ErrorKind::Config, "a question needs `-- output: explore`").with("file", &path));
        }
        files.push(file);
    }
    Ok(files)
}
