//! The command line: one file a command, one place that prints.

mod commands;
mod interrupt;
mod output;
mod printer;
mod progress;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use self::commands::{
    agree, check, compare, datasets, export, fetch, ingest, lake as lake_command, publish, run as run_command, schema,
    score, show, snapshot, sql, stair, synth, verify,
};
use self::output::Outcome;
use self::printer::Printer;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::Lake;
use crate::lake::session::EngineOptions;
use crate::report::Format;
use crate::store;

/// Turns raw text-to-image evaluation data into Parquet, scores it with SQL, and publishes snapshots that anyone can recompute
/// to the same bytes.
#[derive(Debug, Parser)]
#[command(name = "scorelake", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
struct Globals {
    /// Folder of the lake, or its place in a bucket: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX
    /// or abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX.
    #[arg(long, global = true, env = "SCORELAKE_LAKE", default_value = "lake", value_name = "DIR|URL")]
    lake: PathBuf,
    /// How tables are written.
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
    /// Say nothing but errors.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Progress bars on stderr.
    #[arg(long, global = true, value_enum, default_value_t = Switch::Auto)]
    progress: Switch,
    /// Threads; all cores if absent. Never changes a result.
    #[arg(long, global = true, env = "SCORELAKE_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory before sorts and aggregates spill to disk, such as 2GiB or 500MB.
    #[arg(long, global = true, value_name = "SIZE", default_value = "2GiB", value_parser = commands::parse_size)]
    memory: u64,
    /// Rows a batch inside the engine. Never changes a result.
    #[arg(long, global = true, value_name = "ROWS", hide = true, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    batch_size: u32,
    /// Folder with pipelines, sql, schemas and data that take the place of the built-in ones.
    #[arg(long, global = true, env = "SCORELAKE_ASSETS", value_name = "DIR")]
    assets: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    Auto,
    On,
    Off,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the built-in datasets.
    Datasets(datasets::Args),
    /// Fetch a dataset's files from the Hugging Face hub or GitHub, at the pinned commit.
    Fetch(fetch::Args),
    /// Read files into the lake.
    Ingest(ingest::Args),
    /// Score the lake and publish a snapshot.
    Score(score::Args),
    /// Ingest, score, publish a snapshot and show the leaderboard.
    Run(run_command::Args),
    /// Show a table of a snapshot.
    Show(show::Args),
    /// Compare two models, or all, on the prompts that both have.
    Compare(compare::Args),
    /// How far two boards agree on the order of models: Spearman and Kendall with intervals.
    Agree(agree::Args),
    /// Set a snapshot beside published tables, cell by cell; or check a published table for being consistent in itself.
    Verify(verify::Args),
    /// Ask a question in SQL.
    Sql(sql::Args),
    /// Write the tables of a snapshot to files: a workbook, JSON, CSV, or the benchmark script's own files.
    Export(export::Args),
    /// Publish a snapshot to a dataset of the Hugging Face hub, a bucket or a folder, with a card.
    Publish(publish::Args),
    /// List, show and verify snapshots.
    Snapshot(snapshot::Args),
    /// What the lake holds, and its upkeep: sources dropped, leftovers removed, a verified copy.
    Lake(lake_command::Args),
    /// Check pipelines, SQL and schemas; and, with a lake, that DataFusion and Polars agree on it.
    Check(check::Args),
    /// Show what tables hold.
    Schema(schema::Args),
    /// The parts of StairReward that need no model: pieces of prompts with their crops, and combining returned scores.
    Stair(stair::Args),
    /// Make shape-true data of any size.
    Synth(synth::Args),
}

/// What a command works with.
struct Session {
    globals: Globals,
    assets: Assets,
    printer: Printer,
    /// The command line, for run records.
    command: Vec<String>,
}

/// Partitions a thread where the lake is in a bucket; measured, benches/stores.sh.
const OVERLAP: usize = 3;

impl Session {
    fn engine(&self) -> EngineOptions {
        let defaults = EngineOptions::default();
        let is_remote = store::is_remote(&self.globals.lake);
        EngineOptions {
            overlap: if is_remote { OVERLAP } else { defaults.overlap },
            threads: self.globals.threads.map_or(defaults.threads, usize::from),
            memory: usize::try_from(self.globals.memory).unwrap_or(usize::MAX),
            batch_size: self.globals.batch_size as usize,
            ..defaults
        }
    }

    /// What a command line to copy needs so that it finds the same lake.
    fn lake_option(&self) -> String {
        let lake = self.globals.lake.display().to_string();
        let is_found = lake == "lake" || std::env::var("SCORELAKE_LAKE").is_ok_and(|known| known == lake);
        if is_found { String::new() } else { format!(" --lake {lake}") }
    }

    fn lake(&self) -> Result<Lake> {
        Lake::open(&self.globals.lake)
    }

    /// The lake, if its folder or bucket has one.
    fn lake_if_there(&self) -> Result<Option<Lake>> {
        // A folder that is there and is no lake is a mistake.
        if self.globals.lake.exists() { self.lake().map(Some) } else { Lake::if_there(&self.globals.lake) }
    }
}

/// Runs a command line; gives the exit code: 0 done, 1 failed, 2 bad usage, 3 finished but partial.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            return if Printer::plain().clap(&error).is_ok() { code } else { 1 };
        }
    };
    let printer = Printer::new(cli.globals.format, cli.globals.quiet, cli.globals.verbose);
    let outcome = execute(cli, args, printer);
    match outcome {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => printer.error(&error),
    }
}

fn execute(cli: Cli, args: Vec<OsString>, printer: Printer) -> Result<Outcome> {
    let assets = match &cli.globals.assets {
        Some(root) => Assets::with_root(root)?,
        None => Assets::embedded(),
    };
    if cli.globals.format == Format::Parquet && printer.stdout_is_terminal() {
        return Err(
            Error::new(ErrorKind::Usage, "--format parquet on a terminal").hint("redirect it: … > table.parquet")
        );
    }
    let command = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let session = Session { globals: cli.globals, assets, printer, command };
    // The second command line of one process, as in a test, keeps the pool of the first.
    let _kept = rayon::ThreadPoolBuilder::new().num_threads(session.engine().threads).build_global();
    match cli.command {
        Command::Datasets(args) => datasets::execute(&session, &args),
        Command::Fetch(args) => fetch::execute(&session, &args),
        Command::Ingest(args) => ingest::execute(&session, &args),
        Command::Score(args) => score::execute(&session, &args),
        Command::Run(args) => run_command::execute(&session, &args),
        Command::Show(args) => show::execute(&session, &args),
        Command::Compare(args) => compare::execute(&session, &args),
        Command::Agree(args) => agree::execute(&session, &args),
        Command::Verify(args) => verify::execute(&session, &args),
        Command::Sql(args) => sql::execute(&session, &args),
        Command::Export(args) => export::execute(&session, &args),
        Command::Publish(args) => publish::execute(&session, &args),
        Command::Snapshot(args) => snapshot::execute(&session, &args),
        Command::Lake(args) => lake_command::execute(&session, &args),
        Command::Check(args) => check::execute(&session, &args),
        Command::Schema(args) => schema::execute(&session, &args),
        Command::Stair(args) => stair::execute(&session, &args),
        Command::Synth(args) => synth::execute(&session, &args),
    }
}
