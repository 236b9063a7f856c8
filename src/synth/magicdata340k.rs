//! Labels of generated images in the published shares, and predictions of an assessor about them.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::prose::prose;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::random::Random;
use crate::schema::dataset::read_csv;

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// Images.
    pub rows: u64,
    /// Whether the lines are those of the test split, which differ in form.
    pub is_test: bool,
    /// Share of labels and predictions with a trouble, 0 to 1.
    pub noise: f64,
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Characters of reasoning a prediction.
    pub think_chars: usize,
}

/// Makes lines.
#[derive(Debug)]
pub struct Generator {
    options: Options,
    artifact_rate: f64,
    types: Choice,
}

/// A level-2 label with its level-3 labels, none if it has none.
#[derive(Debug, Clone)]
struct Kind {
    name: String,
    parts: Option<Choice3>,
}

/// Kinds with the shares at which to draw each, so that those with at least one have the published shares.
#[derive(Debug)]
struct Choice {
    kinds: Vec<Kind>,
    draws: Draws,
}

#[derive(Debug, Clone)]
struct Choice3 {
    names: Vec<String>,
    draws: Draws,
}

/// How some of several things are drawn, at least one.
#[derive(Debug, Clone)]
enum Draws {
    /// Each by itself, again until there is one.
    Each(Vec<f64>),
    /// Just one, by weight.
    One(Vec<f64>),
}

impl Draws {
    /// Drawn until one is there, each thing has the share `wanted`: its own probability is `wanted` times that of a draw being
    /// kept, which is found by iteration. Shares that add up to one or less leave room for one thing at a time only.
    fn new(wanted: &[f64]) -> Self {
        if wanted.iter().sum::<f64>() < 1.02 {
            return Self::One(wanted.to_vec());
        }
        let mut kept = 1.0;
        for _ in 0..2000 {
            kept = 1.0 - wanted.iter().map(|share| 1.0 - share * kept).product::<f64>();
        }
        Self::Each(wanted.iter().map(|share| share * kept).collect())
    }

    fn draw(&self, random: &mut Random) -> Vec<usize> {
        match self {
            Self::Each(shares) => loop {
                let drawn: Vec<usize> = (0..shares.len()).filter(|at| random.unit() < shares[*at]).collect();
                if !drawn.is_empty() {
                    return drawn;
                }
            },
            Self::One(weights) => {
                let mut left = random.unit() * weights.iter().sum::<f64>();
                let last = weights.len() - 1;
                let one = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                vec![one.unwrap_or(last)]
            }
        }
    }
}

#[derive(serde::Deserialize)]
struct Published {
    label: String,
    total: f64,
    #[serde(rename = "train")]
    _train: u64,
    #[serde(rename = "test")]
    _test: u64,
    #[serde(rename = "cot")]
    _cot: u64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(serde::Deserialize)]
struct Row {
    level: String,
    label: String,
    l2: String,
}

// Places in the counter space.
const LABELS: u64 = 11;
const PROMPT: u64 = 12;
const PREDICTION: u64 = 13;

const GENERATORS: [&str; 6] = ["FLUX.1-dev", "Midjourney-v6", "FLUX.1-schnell", "Kolors1.0", "SD3.5", "SD3"];

impl Generator {
    /// A generator of the published shares.
    pub fn new(assets: &Assets, options: Options) -> Result<Self> {
        const COUNTS: &str = "data/published/magicdata340k_label_counts.csv";
        let published: Vec<Published> = read_csv(assets, COUNTS)?;
        let taxonomy: Vec<Row> = read_csv(assets, "data/taxonomy/magicdata340k.csv")?;
        let count = |name: &str| {
            let found = published.iter().find(|row| row.label == name).map(|row| row.total);
            found.ok_or_else(|| Error::new(ErrorKind::Config, format!("no count of `{name}`")).with("file", COUNTS))
        };
        let (normal, artifacts) = (count("Normal")?, count("Artifacts")?);
        let mut kinds = Vec::new();
        let mut shares = Vec::new();
        for row in taxonomy.iter().filter(|row| row.level == "l2") {
            let own = count(&row.label)?;
            let parts: Vec<&Row> = taxonomy.iter().filter(|part| part.level == "l3" && part.l2 == row.label).collect();
            let wanted = parts.iter().map(|part| Ok(count(&part.label)? / own)).collect::<Result<Vec<f64>>>()?;
            let names = parts.iter().map(|part| part.label.clone()).collect();
            let parts = (!parts.is_empty()).then(|| Choice3 { names, draws: Draws::new(&wanted) });
            kinds.push(Kind { name: row.label.clone(), parts });
            shares.push(own / artifacts);
        }
        let types = Choice { kinds, draws: Draws::new(&shares) };
        Ok(Self { options, artifact_rate: artifacts / (normal + artifacts), types })
    }

    /// Writes the labels, one image a line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in 0..self.options.rows {
            let mut random = Random::at(self.options.seed, &[PROMPT, row]);
            let prompt = prose(&mut random, 60).replace('\n', " ");
            let mut labels = self.labels(row);
            if random.unit() < self.options.noise {
                labels = odd_labels(&labels, &mut random);
            }
            let response = labels.to_string();
            let line = if self.options.is_test {
                let query = format!("Judge the image made from the text prompt as {{{prompt}}}. Answer in a box.");
                json!({ "query": query, "response": response, "images": [self.path(row)], "model": self.made_by(row) })
            } else {
                json!({ "prompt_ori": prompt, "response": response, "images": self.path(row), "model": self.made_by(row) })
            };
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes an assessor's predictions about the same images.
    pub fn write_predictions(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in 0..self.options.rows {
            let mut random = Random::at(self.options.seed, &[PREDICTION, row]);
            // Now and then it sees what is in another image.
            let seen = if random.unit() < 0.3 { row.wrapping_mul(7919) % self.options.rows.max(1) } else { row };
            let answer = self.labels(seen).to_string();
            let think = prose(&mut random, self.options.think_chars);
            let output = if random.unit() < self.options.noise {
                odd_output(&think, &answer, &mut random)
            } else {
                Value::from(format!("<think>\n{think}\n</think>\n\\boxed{{{answer}}}"))
            };
            writeln!(out, "{}", json!({ "images": [self.path(row)], "output": output }))?;
        }
        Ok(())
    }

    fn path(&self, row: u64) -> String {
        let split = if self.options.is_test { "test" } else { "part" };
        format!("images_{split}{}/{:07}.jpg", 1 + row / 50_000, row)
    }

    fn made_by(&self, row: u64) -> &'static str {
        GENERATORS[(row % GENERATORS.len() as u64) as usize]
    }

    fn labels(&self, row: u64) -> Value {
        let mut random = Random::at(self.options.seed, &[LABELS, u64::from(self.options.is_test), row]);
        if random.unit() >= self.artifact_rate {
            return json!({ "Whether Normal": true });
        }
        let mut types = Map::new();
        for at in self.types.draws.draw(&mut random) {
            let kind = &self.types.kinds[at];
            let value = kind.parts.as_ref().map_or(Value::Bool(true), |parts| {
                parts.draws.draw(&mut random).into_iter().map(|part| Value::from(parts.names[part].as_str())).collect()
            });
            types.insert(kind.name.clone(), value);
        }
        json!({ "Whether Normal": false, "Type of Deformity": types })
    }
}

/// Labels with an oddity that real ones have.
fn odd_labels(labels: &Value, random: &mut Random) -> Value {
    match random.below(6) {
        0 => json!({ "Whether Normal": false, "Type of Abnormality": { "L2: Abnormal Object Morphology": true } }),
        1 => json!({ "Whether Normal": false, "Type of Deformity": {} }),
        2 => json!({ "Whether Normal": false, "Type of Deformity": { "L2: Abnormal Human Anatomy": true } }),
        3 => {
            json!({ "Whether Normal": false, "Type of Deformity": { "L2: Abnormal Animal Anatomy": ["L3: Hand Structure Deformity"] } })
        }
        4 => {
            json!({ "Whether Normal": false, "Type of Deformity": { "L2: Abnormal Plant Anatomy": ["L3: Abnormal Leaf"] } })
        }
        _ => json!({ "Whether Normal": true, "Type of Deformity": labels["Type of Deformity"] }),
    }
}

/// A prediction that one reading or both cannot use.
fn odd_output(think: &str, answer: &str, random: &mut Random) -> Value {
    Value::from(match random.below(6) {
        0 => format!("<think>\n{think}"),
        1 => format!("<think>\n{think}\n</think>\n{answer}"),
        2 => format!("{think}\n\\boxed{{{}}}", answer.replace("Type of Deformity", "Type of Abnormality")),
        3 => format!("{think}\n\\boxed{{{}}}", answer.replace("L3: ", "L3:")),
        4 => format!("{think}\n\\boxed{{\"Whether Normal\": true}}"),
        _ => return Value::Null,
    })
}
