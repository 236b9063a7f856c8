//! `scorelake stair`: the parts of StairReward that need no model.

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use clap::{Subcommand, ValueEnum};

use super::parse_fraction;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::explore::Explorer;
use crate::stair::{Crops, Mix, Prompts, Scores, Splitter, combine};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: Stair,
}

#[derive(Debug, Subcommand)]
enum Stair {
    /// For each prompt, the pieces to score and the centred crop of each.
    Plan(PlanArgs),
    /// Combine returned scores: the columns name (of the image), k (0 for the whole image), score, and n of the plan.
    Score(ScoreArgs),
}

#[derive(Debug, clap::Args)]
struct PlanArgs {
    /// A table or JSON lines with a column `prompt`; the prompts of agiqa-3k in the lake if absent.
    input: Option<String>,
    /// Side of the crop of piece k of n: even is 0.5 + 0.5 (k - 1) / (n - 1), ratio is (k + 1) / (n + 1).
    #[arg(long, value_enum, default_value_t = CropsArg::Even)]
    crops: CropsArg,
    /// Leave out the preposition that begins a piece.
    #[arg(long)]
    drop_prepositions: bool,
    /// Also the crop in pixels of images of this size.
    #[arg(long, value_name = "WxH", value_parser = parse_pixels)]
    size: Option<(u32, u32)>,
}

#[derive(Debug, clap::Args)]
struct ScoreArgs {
    /// A table or JSON lines with the columns name, k and score.
    input: String,
    /// Divide by the sum of the weights 1, 1/2, 1/4, …
    #[arg(long, value_enum, default_value_t = Answer::Yes)]
    normalise: Answer,
    /// How the pieces and the whole image are mixed.
    #[arg(long, value_enum, default_value_t = MixArg::Mean)]
    mix: MixArg,
    /// With --mix mean: the weight of the whole image, 0 to 1.
    #[arg(long, value_name = "W", default_value_t = 0.5, value_parser = parse_fraction)]
    whole_weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CropsArg {
    Even,
    Ratio,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MixArg {
    Mean,
    Sum,
    Pieces,
}

/// `1024x768`
fn parse_pixels(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    sides.filter(|(width, height)| *width > 0 && *height > 0).ok_or_else(|| "a size such as 1024x768".into())
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    match &args.what {
        Stair::Plan(args) => plan(session, args),
        Stair::Score(args) => score(session, args),
    }
}

/// Columns of a plan; those of the crop in pixels last.
const NAMES: [&str; 14] =
    ["prompt", "k", "n", "morpheme", "fraction", "left", "top", "right", "bottom", "weight", "x0", "y0", "x1", "y1"];

fn plan(session: &Session, args: &PlanArgs) -> Result<Outcome> {
    let crops = match args.crops {
        CropsArg::Even => Crops::Even,
        CropsArg::Ratio => Crops::Ratio,
    };
    let splitter = Splitter::new(&session.assets, crops, !args.drop_prepositions)?;
    let prompts = match &args.input {
        Some(input) => Prompts::read(input)?,
        None => lake_prompts(session)?,
    };
    let mut rows: Vec<[Cell; 14]> = Vec::new();
    let mut empty = 0;
    for prompt in &prompts.0 {
        let pieces = splitter.pieces(prompt);
        empty += usize::from(pieces.is_empty());
        for piece in pieces {
            let [left, top, right, bottom] = piece.crop().map(Cell::from);
            let pixels = args.size.map(|(width, height)| piece.pixels(width, height));
            let [x0, y0, x1, y1] = [0, 1, 2, 3].map(|edge| Cell::from(pixels.map(|pixels: [u64; 4]| pixels[edge])));
            rows.push([
                prompt.as_str().into(),
                (piece.k as u64).into(),
                (piece.n as u64).into(),
                piece.text.as_str().into(),
                piece.fraction.into(),
                left,
                top,
                right,
                bottom,
                piece.weight.into(),
                x0,
                y0,
                x1,
                y1,
            ]);
        }
    }
    if args.size.is_some() {
        text_rows::print(session, NAMES, &rows)?;
    } else {
        let rows: Vec<[Cell; 10]> = rows.iter().map(|row| std::array::from_fn(|at| row[at].clone())).collect();
        text_rows::print(session, std::array::from_fn(|at| NAMES[at]), &rows)?;
    }
    if empty > 0 {
        session.printer.warn(&format!("prompts without a letter or digit, and so without a piece: {empty}"));
    }
    session.printer.note(
        "score each morpheme on its crop of every image of the prompt, and the whole prompt on the whole image as k = 0; then `scorelake stair score` takes name, k, n, score",
    );
    Ok(Outcome::Complete)
}

fn lake_prompts(session: &Session) -> Result<Prompts> {
    let lake = session.lake()?;
    let explorer = Explorer::open(&session.assets, Some(&lake), session.engine())?;
    let (_, batches) = explorer
        .query("SELECT DISTINCT prompt FROM agiqa_3k.images WHERE prompt IS NOT NULL", &Default::default())
        .map_err(|e| e.hint("ingest agiqa-3k, or name a file with a column `prompt`"))?;
    let mut prompts = Prompts::default();
    for batch in &batches {
        let column = cast(batch.column(0), &DataType::Utf8)?;
        prompts.0.extend(column.as_string::<i32>().iter().flatten().map(str::to_owned));
    }
    Ok(prompts)
}

fn score(session: &Session, args: &ScoreArgs) -> Result<Outcome> {
    let mix = match args.mix {
        MixArg::Mean => Mix::Mean(args.whole_weight),
        MixArg::Sum => Mix::Sum,
        MixArg::Pieces => Mix::Pieces,
    };
    let scores = Scores::read(&args.input)?;
    let combined = combine(&scores, args.normalise == Answer::Yes, mix);
    if combined.iter().all(|image| image.score.is_none()) {
        let reason = combined.iter().find_map(|image| image.reason).unwrap_or("no record");
        return Err(Error::new(ErrorKind::Input, format!("no image has a score: {reason}"))
            .with("file", &args.input)
            .hint("--mix pieces needs no score of the whole image"));
    }
    let rows: Vec<[Cell; 4]> = combined
        .iter()
        .map(|image| [image.name.as_str().into(), image.score.into(), image.pieces.into(), image.whole.into()])
        .collect();
    text_rows::print(session, ["name", "stair", "pieces", "whole"], &rows)?;
    let mut outcome = Outcome::Complete;
    for image in combined.iter().filter(|image| image.score.is_none()).take(5) {
        session.printer.warn(&format!("{}: no score: {}", image.name, image.reason.unwrap_or("none was given")));
    }
    let without = combined.iter().filter(|image| image.score.is_none()).count();
    if without > 0 {
        session.printer.warn(&format!("{without} of {} images have no score", combined.len()));
        outcome = Outcome::Partial;
    }
    Ok(outcome)
}
