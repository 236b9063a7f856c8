//! `scorelake synth magicbench`

use std::path::PathBuf;

use super::{make_folder, model_names, write_file};
use crate::cli::Session;
use crate::cli::commands::parse_fraction;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::synth::magicbench::{Generator, Options};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prompts.
    #[arg(long, default_value_t = 800)]
    rows: u64,
    /// Models.
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    models: u32,
    /// Share of records with a trouble, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = parse_fraction)]
    noise: f64,
    /// The same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Characters of reasoning in a response.
    #[arg(long, default_value_t = 400)]
    think_chars: usize,
    /// Folder for the prompts and a folder a model.
    #[arg(value_parser = crate::cli::commands::parse_local, short, long, value_name = "DIR")]
    output: PathBuf,
}

pub(super) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let models = model_names(session, "magicbench", args.models as usize)?;
    let options = Options {
        rows: args.rows,
        models: models.clone(),
        noise: args.noise,
        seed: args.seed,
        think_chars: args.think_chars,
    };
    let generator = Generator::new(options);
    make_folder(&args.output)?;
    write_file(&args.output.join("subject_prompt.jsonl"), |out| generator.write_prompts(out))?;
    for (place, model) in models.iter().enumerate() {
        let folder = args.output.join(model);
        make_folder(&folder)?;
        let file = folder.join(format!("merged_result_{model}_vllm.jsonl"));
        write_file(&file, |out| generator.write_results(place, out))?;
    }
    Ok(Outcome::Complete)
}
