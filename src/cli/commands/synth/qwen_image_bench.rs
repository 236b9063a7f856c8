//! `scorelake synth qwen-image-bench`

use std::path::PathBuf;

use super::{model_names, write_file, write_to};
use crate::cli::Session;
use crate::cli::commands::parse_fraction;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::synth::qwen_image_bench::{Generator, JudgedForm, Options};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prompts.
    #[arg(long, default_value_t = 1000)]
    rows: u64,
    /// Models.
    #[arg(long, default_value_t = 18, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    models: u32,
    /// Also images from the English prompt.
    #[arg(long)]
    en: bool,
    /// Share of replies with a trouble, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = parse_fraction)]
    noise: f64,
    /// The same seed gives the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Characters of reasoning in a reply.
    #[arg(long, default_value_t = 1800)]
    think_chars: usize,
    /// How far each model's skill is below that of the one before it, 0 to 1; 0 makes all equal. Drawn by the seed if absent.
    #[arg(long, value_name = "X", value_parser = parse_fraction)]
    gap: Option<f64>,
    /// A bench_metadata.json to take IDs and facets from.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Also write the prompts' metadata.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    metadata_out: Option<PathBuf>,
    /// Also write a judged file of one further model, a .csv or JSON lines.
    #[arg(value_parser = crate::cli::commands::parse_local, long, value_name = "FILE")]
    judged_out: Option<PathBuf>,
    /// Where the lines go; standard output if absent.
    #[arg(value_parser = crate::cli::commands::parse_local, short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let options = Options {
        rows: args.rows,
        models: model_names(session, "qwen-image-bench", args.models as usize)?,
        english: args.en,
        noise: args.noise,
        seed: args.seed,
        think_chars: args.think_chars,
        gap: args.gap,
    };
    let generator = Generator::new(&session.assets, options, args.metadata.as_deref())?;
    if let Some(path) = &args.metadata_out {
        write_file(path, |out| generator.write_metadata(out))?;
    }
    if let Some(path) = &args.judged_out {
        let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let form = if is_csv { JudgedForm::Csv } else { JudgedForm::Lines };
        write_file(path, |out| generator.write_judged(out, form))?;
    }
    write_to(args.output.as_deref(), |out| generator.write(out))?;
    Ok(Outcome::Complete)
}
