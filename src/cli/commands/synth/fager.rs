//! `scorelake synth fager`

use std::path::PathBuf;

use super::{make_folder, write_file};
use crate::cli::commands::parse_fraction;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::synth::fager::{Generator, Options};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prompts.
    #[arg(long, default_value_t = 50)]
    rows: u64,
    /// Runs of generated images.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Share of images with a trouble, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = parse_fraction)]
    noise: f64,
    /// The same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder of the collection, whose name it takes.
    #[arg(value_parser = crate::cli::commands::parse_local, short, long, value_name = "DIR")]
    output: PathBuf,
}

pub(super) fn execute(args: &Args) -> Result<Outcome> {
    let known = ["flux2", "sd3.5"].map(String::from).into_iter();
    let runs = known.chain((3..).map(|number| format!("run{number}"))).take(args.runs as usize).collect();
    let generator = Generator::new(Options { rows: args.rows, runs, noise: args.noise, seed: args.seed });
    let folder = &args.output;
    make_folder(folder)?;
    write_file(&folder.join("QA.csv"), |out| generator.write_questions(out))?;
    write_file(&folder.join("prompts.csv"), |out| generator.write_prompts(out))?;
    write_file(&folder.join("exclude_index.csv"), |out| generator.write_exclusions(out))?;
    let collection = folder.file_name().map_or_else(|| "Sample".into(), |name| name.to_string_lossy().into_owned());
    write_file(&folder.join("scores.csv"), |out| generator.write_scores(&collection, out))?;
    for (place, run) in (0..).zip(generator.runs()) {
        let folder = folder.join(run);
        make_folder(&folder)?;
        write_file(&folder.join("details.jsonl"), |out| generator.write_details(place, out))?;
        write_file(&folder.join("summary.csv"), |out| generator.write_summary(place, out))?;
    }
    Ok(Outcome::Complete)
}
