//! Human scores like AGIQA-3K's, metrics that agree with them more or less, and single ratings.

use std::io::{self, Write};

use super::prose::prose;
use crate::random::Random;

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// Prompts; each has an image of ten generators and variants.
    pub rows: u64,
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Persons who rate.
    pub subjects: u64,
    /// Sessions that the images are dealt out to.
    pub sessions: u64,
}

/// Makes tables.
#[derive(Debug)]
pub struct Generator {
    options: Options,
}

/// File-name prefix, mean quality, mean alignment.
const VARIANTS: [(&str, f64, f64); 10] = [
    ("AttnGAN_normal", 1.0, 0.7),
    ("DALLE2_normal", 2.6, 2.9),
    ("glide_normal", 1.1, 1.2),
    ("midjourney_lowstep", 2.4, 3.0),
    ("midjourney_normal", 3.6, 3.1),
    ("sd1.5_highcorr", 2.9, 3.0),
    ("sd1.5_lowcorr", 2.4, 2.1),
    ("sd1.5_lowstep", 2.7, 2.8),
    ("sd1.5_normal", 3.0, 3.0),
    ("xl2.2_normal", 3.3, 3.1),
];

const ADJECTIVES: [&str; 4] = ["cold color", "warm color", "top view", "close-up"];
const LIGHTS: [&str; 3] = ["soft lighting", "HDR lighting", "blurred detail"];
const STYLES: [&str; 5] = ["anime style", "sci-fi style", "baroque style", "abstract style", "realistic style"];

// Places in the counter space.
const PROMPT: u64 = 31;
const SCORE: u64 = 32;
const METRIC: u64 = 33;
const RATING: u64 = 34;
const SUBJECT: u64 = 35;

/// A number around 0 with deviation 1, near enough to normal: the sum of twelve.
fn spread(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

impl Generator {
    /// A generator.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Names with quality and alignment, in order of the names.
    fn images(&self) -> impl Iterator<Item = (String, u64, f64, f64)> {
        VARIANTS.iter().zip(0..).flat_map(move |((prefix, quality, align), variant)| {
            (0..self.options.rows).map(move |row| {
                let mut random = Random::at(self.options.seed, &[SCORE, variant, row]);
                let common = spread(&mut random) * 0.4;
                let score = |mean: f64, own: f64| ((mean + common + own * 0.4).clamp(0.0, 4.5) * 1e9).round() / 1e9;
                let (own_quality, own_align) = (spread(&mut random), spread(&mut random));
                (format!("{prefix}_{row:03}.jpg"), row, score(*quality, own_quality), score(*align, own_align))
            })
        })
    }

    /// Prompt, adjectives and style of a row: a fifth has no modifier, a tenth all three.
    fn prompt(&self, row: u64) -> (String, [&'static str; 3]) {
        let mut random = Random::at(self.options.seed, &[PROMPT, row]);
        let subject = prose(&mut random, 24).replace(['\n', ',', '"', '.'], " ").trim().to_owned();
        let length = [0, 1, 1, 1, 1, 2, 2, 2, 3, 0][(row % 10) as usize];
        let adj1 = if length >= 2 || length == 1 && row.is_multiple_of(2) { ADJECTIVES[random.below(4)] } else { "" };
        let adj2 = if length == 3 || length == 2 && row.is_multiple_of(2) { LIGHTS[random.below(3)] } else { "" };
        let style = if [adj1, adj2].iter().filter(|part| !part.is_empty()).count() < length {
            STYLES[random.below(5)]
        } else {
            ""
        };
        let text = [subject.as_str(), adj1, adj2, style]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        (text, [adj1, adj2, style])
    }

    /// Writes `data.csv`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        table.write_record([
            "name",
            "prompt",
            "adj1",
            "adj2",
            "style",
            "mos_quality",
            "std_quality",
            "mos_align",
            "std_align",
        ])?;
        for (name, row, quality, align) in self.images() {
            let (prompt, [adj1, adj2, style]) = self.prompt(row);
            let number = |value: f64| value.to_string();
            table.write_record([&name, &prompt, adj1, adj2, style, &number(quality), "0.6", &number(align), "0.75"])?;
        }
        table.flush()
    }

    /// Writes three metrics: one that follows quality along a curve, one that follows alignment with ties, and one of which lower
    /// values are better.
    pub fn write_predictions(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["name", "CurveScore", "StepScore", "NIQE"])?;
        for (place, (name, _, quality, align)) in (0..).zip(self.images()) {
            let mut random = Random::at(self.options.seed, &[METRIC, place]);
            let curve = 100.0 / (1.0 + libm::exp(-1.5 * (quality - 2.2))) + 8.0 * spread(&mut random);
            let step = (4.0 * align + 2.0 * random.unit()).floor();
            let niqe = 12.0 - 2.0 * quality + spread(&mut random);
            table.write_record([name, curve.to_string(), step.to_string(), niqe.to_string()])?;
        }
        table.flush()
    }

    /// Writes single ratings on a scale of 0 to 5 in tenths: images are dealt out to sessions, and every subject rates all images
    /// of a session on a scale that is somewhat his own.
    pub fn write_ratings(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["subject", "session", "item", "target", "score"])?;
        for (place, (name, _, quality, align)) in (0..).zip(self.images()) {
            let session =
                Random::at(self.options.seed, &[RATING, place]).below(self.options.sessions.max(1) as usize) + 1;
            for subject in 0..self.options.subjects {
                let mut habit = Random::at(self.options.seed, &[SUBJECT, subject]);
                let (lift, stretch) = (spread(&mut habit) * 0.3, 0.7 + 0.6 * habit.unit());
                for (which, target, truth) in [(0, "quality", quality), (1, "align", align)] {
                    let mut random = Random::at(self.options.seed, &[RATING, place, subject, which]);
                    let seen = 2.5 + lift + stretch * (truth - 2.5) + 0.4 * spread(&mut random);
                    let score = (seen.clamp(0.0, 5.0) * 10.0).round() / 10.0;
                    table.write_record([
                        &format!("s{:02}", subject + 1),
                        &session.to_string(),
                        &name,
                        target,
                        &score.to_string(),
                    ])?;
                }
            }
        }
        table.flush()
    }
}
