//! `scorelake synth agiqa-3k`

use std::path::PathBuf;

use super::{write_file, write_to};
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::synth::agiqa_3k::{Generator, Options};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prompts; each has an image of ten generators and variants.
    #[arg(long, default_value_t = 300)]
    rows: u64,
    /// The same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Persons in the single ratings.
    #[arg(long, default_value_t = 21)]
    subjects: u64,
    /// Sessions in the single ratings.
    #[arg(long, default_value_t = 7)]
    sessions: u64,
    /// Also write three metrics of the images.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    predictions_out: Option<PathBuf>,
    /// Also write single ratings.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    ratings_out: Option<PathBuf>,
    /// Where the human scores go; standard output if absent.
    #[arg(value_parser = crate::cli::commands::parse_local, short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn execute(args: &Args) -> Result<Outcome> {
    let options = Options { rows: args.rows, seed: args.seed, subjects: args.subjects, sessions: args.sessions };
    let generator = Generator::new(options);
    if let Some(path) = &args.predictions_out {
        write_file(path, |out| generator.write_predictions(out))?;
    }
    if let Some(path) = &args.ratings_out {
        write_file(path, |out| generator.write_ratings(out))?;
    }
    write_to(args.output.as_deref(), |out| generator.write(out))?;
    Ok(Outcome::Complete)
}
