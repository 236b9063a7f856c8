//! `scorelake synth`: made data, one file a dataset.

mod agiqa_3k;
mod fager;
mod magicbench;
mod magicdata340k;
mod qwen_image_bench;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::Subcommand;
use serde::Deserialize;

use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, Result};
use crate::schema::dataset::read_csv;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    dataset: Synth,
}

#[derive(Debug, Subcommand)]
enum Synth {
    /// Wide lines of judge responses.
    QwenImageBench(qwen_image_bench::Args),
    /// Labels of generated images in the published shares, and predictions about them.
    #[command(name = "magicdata340k")]
    MagicData340k(magicdata340k::Args),
    /// Prompts and results of any number of models.
    #[command(name = "magicbench")]
    MagicBench(magicbench::Args),
    /// Human scores of images, metrics of them, and single ratings.
    #[command(name = "agiqa-3k")]
    Agiqa3k(agiqa_3k::Args),
    /// Questions, answers about the images of several runs, and scores of other metrics.
    Fager(fager::Args),
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    match &args.dataset {
        Synth::QwenImageBench(args) => qwen_image_bench::execute(session, args),
        Synth::MagicData340k(args) => magicdata340k::execute(session, args),
        Synth::MagicBench(args) => magicbench::execute(session, args),
        Synth::Agiqa3k(args) => agiqa_3k::execute(args),
        Synth::Fager(args) => fager::execute(args),
    }
}

#[derive(Deserialize)]
struct Model {
    dataset: String,
    model: String,
    display_name: String,
}

/// Models that a dataset knows, one a board name, then invented ones.
fn model_names(session: &Session, dataset: &str, count: usize) -> Result<Vec<String>> {
    let mut models: Vec<Model> = read_csv(&session.assets, "data/models.csv")?;
    models.retain(|model| model.dataset == dataset);
    models.dedup_by(|later, first| later.display_name == first.display_name);
    let known = models.into_iter().map(|model| model.model);
    Ok(known.chain((1..).map(|number| format!("Model-{number}"))).take(count).collect())
}

fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| Error::io(path, "make the folder", e))
}

/// Writes to a file, or to standard output, whose reader may leave early.
fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
        return match write(&mut out).and_then(|()| out.flush()) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|e| Error::io("stdout", "write", e)),
        };
    };
    write_file(path, write)
}

fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let file = File::create(path).map_err(|e| Error::io(path, "write", e))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out).and_then(|()| out.flush()).map_err(|e| Error::io(path, "write", e))
}
