//! `scorelake synth`: made data, one file a dataset.

mod magicdata340k;
mod qwen_image_bench;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::Subcommand;

use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, Result};

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
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    match &args.dataset {
        Synth::QwenImageBench(args) => qwen_image_bench::execute(session, args),
        Synth::MagicData340k(args) => magicdata340k::execute(session, args),
    }
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
