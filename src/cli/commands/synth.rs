//! `scorelake synth`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Deserialize;

use super::parse_fraction;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, Result};
use crate::schema::dataset::read_csv;
use crate::synth::qwen_image_bench::{Generator, JudgedForm, Options};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    dataset: Synth,
}

#[derive(Debug, Subcommand)]
enum Synth {
    /// Wide lines of judge responses.
    QwenImageBench(QwenImageBench),
}

#[derive(Debug, clap::Args)]
struct QwenImageBench {
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
    /// A bench_metadata.json to take IDs and facets from.
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Also write the prompts' metadata.
    #[arg(long, value_name = "FILE")]
    metadata_out: Option<PathBuf>,
    /// Also write a judged file of one further model, a .csv or JSON lines.
    #[arg(long, value_name = "FILE")]
    judged_out: Option<PathBuf>,
    /// Where the lines go; standard output if absent.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Model {
    dataset: String,
    model: String,
    display_name: String,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let Synth::QwenImageBench(args) = &args.dataset;
    let options = Options {
        rows: args.rows,
        models: names(session, args.models as usize)?,
        english: args.en,
        noise: args.noise,
        seed: args.seed,
        think_chars: args.think_chars,
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
    match &args.output {
        Some(path) => write_file(path, |out| generator.write(out))?,
        None => {
            let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
            match generator.write(&mut out).and_then(|()| out.flush()) {
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {}
                other => other.map_err(|e| Error::io("stdout", "write", e))?,
            }
        }
    }
    Ok(Outcome::Complete)
}

/// Keys of the published file, one a board name, then invented ones.
fn names(session: &Session, count: usize) -> Result<Vec<String>> {
    let mut models: Vec<Model> = read_csv(&session.assets, "data/models.csv")?;
    models.retain(|model| model.dataset == "qwen-image-bench");
    models.dedup_by(|later, first| later.display_name == first.display_name);
    let known = models.into_iter().map(|model| model.model);
    Ok(known.chain((1..).map(|number| format!("Model-{number}"))).take(count).collect())
}

fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let file = File::create(path).map_err(|e| Error::io(path, "write", e))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out).and_then(|()| out.flush()).map_err(|e| Error::io(path, "write", e))
}
