//! `scorelake synth magicdata340k`

use std::path::PathBuf;

use super::{write_file, write_to};
use crate::cli::Session;
use crate::cli::commands::{Split, parse_fraction};
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::synth::magicdata340k::{Generator, Options};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Images.
    #[arg(long, default_value_t = 343_269)]
    rows: u64,
    /// The split whose form the lines have.
    #[arg(long, value_enum, default_value_t = Split::Train)]
    split: Split,
    /// Share of labels and predictions with a trouble, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = parse_fraction)]
    noise: f64,
    /// The same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Characters of reasoning in a prediction.
    #[arg(long, default_value_t = 400)]
    think_chars: usize,
    /// Also write an assessor's predictions about the images.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    predictions_out: Option<PathBuf>,
    /// Where the labels go; standard output if absent.
    #[arg(value_parser = crate::cli::commands::parse_local, short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let options = Options {
        rows: args.rows,
        is_test: args.split == Split::Test,
        noise: args.noise,
        seed: args.seed,
        think_chars: args.think_chars,
    };
    let generator = Generator::new(&session.assets, options)?;
    if let Some(path) = &args.predictions_out {
        write_file(path, |out| generator.write_predictions(out))?;
    }
    write_to(args.output.as_deref(), |out| generator.write(out))?;
    Ok(Outcome::Complete)
}
