//! The one place that builds a DataFusion session and registers tables in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::MemorySchemaProvider;
use datafusion::common::TableReference;
use datafusion::config::Dialect;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext, col};
use tokio::runtime::Runtime;

use super::manifest::Manifest;
use super::text_hash::text_hash;
use super::{Lake, bind, parquet};
use crate::assets::Assets;
use crate::correlation::{agreement, krcc, plcc, srcc};
use crate::error::{Error, ErrorKind, Result};
use crate::exact::{exact_avg, exact_sum};
use crate::pipeline::{Output, Parameter, SqlFile};
use crate::python::python_round2;
use crate::schema::dataset::Dataset;
use crate::schema::{TableKind, TableSchema};
use crate::store::{File, Object};

/// How much of the machine is used; never shows in a result.
#[derive(Debug, Clone, Copy)]
pub struct EngineOptions {
    /// Worker threads, and partitions.
    pub threads: usize,
    /// Partitions a thread: of a lake in a bucket some wait for the network while others compute.
    pub overlap: usize,
    /// Bytes before sorts and aggregates spill to disk; ingest takes at most 768 MiB of it.
    pub memory: usize,
    /// Rows a batch.
    pub batch_size: usize,
    /// Joins sort, and so spill to disk, instead of holding one side in memory.
    pub merge_joins: bool,
}

/// Bytes at the end of a Parquet file that are read to find what is in it; a longer footer takes a second reading.
const FOOTER: usize = 64 << 10;
/// What a row takes in memory on one side of a join: a key of texts, a hash and a place.
const JOINED_ROW: u64 = 256;
/// Batches that a partition is worth: every one of each operator has memory of its own.
const BATCHES_A_PARTITION: u64 = 8;

impl EngineOptions {
    /// The options for a dataset of this size: joins of tables that may not fit the memory sort, and no more partitions than there is work
    /// for.
    #[must_use]
    pub fn for_manifest(self, manifest: &Manifest) -> Self {
        let tables: BTreeSet<&String> = manifest.sources.iter().flat_map(|source| source.parts.keys()).collect();
        let rows = |table: &&String| {
            let parts = manifest.sources.iter().filter_map(|source| source.parts.get(*table)).flatten();
            parts.map(|part| part.rows).sum::<u64>()
        };
        // Of the largest table every row may be joined, of the smaller ones the other side.
        let mut sizes: Vec<u64> = tables.iter().map(rows).collect();
        sizes.sort_unstable();
        let smaller = sizes.iter().rev().nth(1).copied().unwrap_or(0);
        let batches = sizes.iter().sum::<u64>() / self.batch_size.max(1) as u64;
        let worth = usize::try_from(batches / BATCHES_A_PARTITION).unwrap_or(usize::MAX);
        Self {
            threads: self.threads.min(worth.max(1)),
            merge_joins: smaller.saturating_mul(JOINED_ROW) > self.memory as u64,
            ..self
        }
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, overlap: 1, memory: 2 << 30, batch_size: 8192, merge_joins: false }
    }
}

/// A DataFusion session and the runtime it works on.
pub struct Engine {
    context: SessionContext,
    runtime: Runtime,
    assets: Assets,
    files: RefCell<Vec<File>>,
}

const CATALOG: &str = "scorelake";

impl Engine {
    /// A session with our aggregates and no tables; unqualified names are looked up in `default_schema`.
    pub fn new(assets: &Assets, options: EngineOptions, default_schema: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(options.threads)
            // A store's client pauses between attempts.
            .enable_time()
            .build()
            .map_err(|e| Error::new(ErrorKind::Io, format!("cannot start threads: {e}")).caused_by(e))?;
        let mut config = SessionConfig::new()
            .with_target_partitions(options.threads.saturating_mul(options.overlap))
            .with_batch_size(options.batch_size)
            .with_information_schema(true)
            .with_default_catalog_and_schema(CATALOG, default_schema)
            .with_create_default_catalog_and_schema(true);
        config.options_mut().optimizer.prefer_hash_join = !options.merge_joins;
        let environment =
            RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(options.memory))).build_arc()?;
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(environment)
            .with_default_features()
            .build();
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        let context = SessionContext::new_with_state(state);
        context.register_udaf(exact_sum());
        for aggregate in [exact_avg(), srcc(), krcc(), plcc(), agreement()] {
            context.register_udaf(aggregate);
        }
        context.register_udf(python_round2());
        context.register_udf(text_hash());
        Ok(Self { context, runtime, assets: assets.clone(), files: RefCell::new(Vec::new()) })
    }

    /// Plans a query without running it; statements that change anything are refused.
    pub fn plan(&self, sql: &str) -> Result<DataFrame> {
        self.plan_with(sql, &BTreeMap::new())
    }

    /// Plans a query whose `$name`s have these values.
    pub fn plan_with(&self, sql: &str, parameters: &BTreeMap<String, Parameter>) -> Result<DataFrame> {
        let options = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let state = self.context.state();
        let mut statement = state.sql_to_statement(sql, &Dialect::Generic)?;
        bind::bind(&mut statement, parameters)?;
        let plan =
            self.runtime.block_on(state.statement_to_plan(statement)).map_err(|e| self.name_broken_file(e.into()))?;
        options.verify_plan(&plan)?;
        Ok(DataFrame::new(state, plan))
    }

    /// All rows of a table of the default schema.
    pub fn table(&self, name: &str) -> Result<Vec<RecordBatch>> {
        let frame = self.runtime.block_on(self.context.table(TableReference::bare(name)))?;
        self.collect(frame)
    }

    /// The columns of a table of the default schema.
    pub fn columns(&self, name: &str) -> Result<Vec<String>> {
        let frame = self.runtime.block_on(self.context.table(TableReference::bare(name)))?;
        Ok(frame.schema().fields().iter().map(|field| field.name().clone()).collect())
    }

    /// Runs a query.
    pub fn query(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        self.collect(self.plan(sql)?)
    }

    /// Runs a planned query.
    pub fn collect(&self, frame: DataFrame) -> Result<Vec<RecordBatch>> {
        self.runtime.block_on(frame.collect()).map_err(|e| self.name_broken_file(e.into()))
    }

    /// Runs a planned query and hands over its batches one by one, in order.
    pub fn stream(&self, frame: DataFrame, mut each: impl FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        use futures::StreamExt;
        let walked = self.runtime.block_on(async {
            let mut stream = frame.execute_stream().await?;
            while let Some(batch) = stream.next().await {
                each(batch?)?;
            }
            Ok(())
        });
        walked.map_err(|e| self.name_broken_file(e))
    }

    /// The engine does not say which file is corrupt; the first registered one that cannot be read is.
    fn name_broken_file(&self, error: Error) -> Error {
        let objects = || {
            self.files
                .borrow()
                .iter()
                .filter_map(|file| match file {
                    File::Object(object) => Some(object.clone()),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        // What the store said says more than what the engine made of it.
        if let Some(failure) = objects().iter().find_map(Object::failure) {
            return failure;
        }
        if error.kind() != ErrorKind::Corrupt {
            return error;
        }
        match self.files.borrow().iter().find(|file| !parquet::is_readable(file)) {
            Some(file) => error.with("file", file).hint("`scorelake snapshot verify` checks snapshots; parts of the lake are made again by ingesting their source into a new lake"),
            None => error,
        }
    }

    /// Makes an empty schema.
    pub fn create_schema(&self, name: &str) -> Result<()> {
        let catalog =
            self.context.catalog(CATALOG).ok_or_else(|| Error::new(ErrorKind::Check, "the session has no catalog"))?;
        catalog.register_schema(name, Arc::new(MemorySchemaProvider::new()))?;
        Ok(())
    }

    /// Registers Parquet files as one table; without files the table is empty.
    pub fn register_files(&self, schema_name: &str, schema: &TableSchema, files: &[File]) -> Result<()> {
        if files.is_empty() {
            return self.register_batches(schema_name, &schema.table, view_types(&schema.arrow()), Vec::new());
        }
        self.files.borrow_mut().extend_from_slice(files);
        let urls = files.iter().map(|file| Ok(ListingTableUrl::try_new(self.url(file)?, None)?));
        let urls = urls.collect::<Result<Vec<_>>>()?;
        let order = schema.sort_columns().iter().map(|name| col(name).sort(true, false)).collect();
        let format = ParquetFormat::default().with_metadata_size_hint(Some(FOOTER));
        let options = ListingOptions::new(Arc::new(format)).with_file_sort_order(vec![order]);
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(view_types(&schema.arrow()));
        self.register(schema_name, &schema.table, Arc::new(ListingTable::try_new(config)?))
    }

    /// The URL by which the session reads a file; of an object also the way to its store.
    fn url(&self, file: &File) -> Result<url::Url> {
        match file {
            File::Disk(path) => {
                let absolute = std::path::absolute(path).map_err(|e| Error::io(path, "open", e))?;
                url::Url::from_file_path(&absolute).map_err(|()| {
                    Error::new(ErrorKind::Io, "the path cannot be written as a URL").with("file", absolute.display())
                })
            }
            File::Object(object) => {
                let (url, store) = object.bucket().registered();
                self.context.register_object_store(url, store);
                Ok(object.url())
            }
            File::Web(web) => Err(Error::new(ErrorKind::Usage, "Parquet is not read from the web").with("file", web)),
        }
    }

    /// Registers rows in memory as a table.
    pub fn register_batches(
        &self,
        schema_name: &str,
        table: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<()> {
        // What was computed may be stricter about nulls than what was planned.
        let schema = batches.first().map_or(schema, RecordBatch::schema);
        self.register(schema_name, table, Arc::new(MemTable::try_new(schema, vec![batches])?))
    }

    /// Registers a planned query as a view.
    pub fn register_view(&self, schema_name: &str, table: &str, frame: DataFrame) -> Result<()> {
        self.register(schema_name, table, frame.into_view())
    }

    fn register(
        &self,
        schema_name: &str,
        table: &str,
        provider: Arc<dyn datafusion::catalog::TableProvider>,
    ) -> Result<()> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        self.context.register_table(TableReference::full(CATALOG, schema_name, table), provider)?;
        Ok(())
    }

    /// Registers the parts of every lake table as they are stored, one schema for all.
    pub fn register_parts(
        &self,
        lake: &Lake,
        manifest: &Manifest,
        schemas: &[TableSchema],
        schema_name: &str,
    ) -> Result<()> {
        self.create_schema(schema_name)?;
        for schema in schemas.iter().filter(|schema| schema.kind == TableKind::Lake) {
            self.register_files(schema_name, schema, &manifest.files(lake, &schema.table)?)?;
        }
        Ok(())
    }

    /// Registers a dataset's lake tables as users see them: one row a prompt, and only the judgments that count. The stored
    /// parts stand beside in `<schema>_parts`.
    pub fn register_dataset(&self, dataset: &Dataset, lake: &Lake, manifest: &Manifest) -> Result<()> {
        let schemas = TableSchema::load_all(&self.assets, &dataset.id)?;
        let parts = format!("{}_parts", dataset.sql_schema);
        self.register_parts(lake, manifest, &schemas, &parts)?;
        self.register_views(dataset, manifest, &schemas, lake)
    }

    fn register_views(
        &self,
        dataset: &Dataset,
        manifest: &Manifest,
        schemas: &[TableSchema],
        lake: &Lake,
    ) -> Result<()> {
        self.create_schema(&dataset.sql_schema)?;
        let views = self.assets.list(&format!("sql/{}/lake", dataset.sql_schema), "sql")?;
        for schema in schemas.iter().filter(|schema| schema.kind == TableKind::Lake) {
            let path = format!("sql/{}/lake/{}.sql", dataset.sql_schema, schema.table);
            let view = views.contains(&path).then(|| SqlFile::parse(&path, self.assets.text(&path)?)).transpose()?;
            match view {
                // While nothing is set aside the stored table needs no filter, and keeps its declared order.
                Some(view) if view.output != Output::Filter || manifest.set_aside_part.is_some() => {
                    let frame = self.plan(&view.text).map_err(|e| e.with("file", &path))?;
                    self.register_view(&dataset.sql_schema, &schema.table, frame)?;
                }
                _ => self.register_files(&dataset.sql_schema, schema, &manifest.files(lake, &schema.table)?)?,
            }
        }
        Ok(())
    }

    /// The names of the tables of a schema.
    pub fn table_names(&self, schema_name: &str) -> Vec<String> {
        let schema = self.context.catalog(CATALOG).and_then(|catalog| catalog.schema(schema_name));
        let mut names = schema.map_or_else(Vec::new, |schema| schema.table_names());
        names.sort();
        names
    }
}

/// Texts as views: short names compare and group without following a pointer.
fn view_types(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(Field::new(field.name(), DataType::Utf8View, field.is_nullable())),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
