//! Wide judge lines like those of Qwen-Image-Bench.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json as json_value};

use super::noise::{self, Draft, LONE_SURROGATE};
use super::prose::prose;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::Notes;
use crate::ingest::qwen_image_bench::{DATASET, metadata, reply};
use crate::python::json::{self, Value as JsonValue};
use crate::random::Random;
use crate::schema::taxonomy::{Pillar, Rubric};

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// Prompts.
    pub rows: u64,
    /// Names of the models.
    pub models: Vec<String>,
    /// Also images from the English prompt.
    pub english: bool,
    /// Share of replies with a trouble, 0 to 1.
    pub noise: f64,
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Characters of reasoning a reply.
    pub think_chars: usize,
    /// How far each model's skill is below that of the one before it, the first one's being 0.7; drawn by the seed if `None`.
    pub gap: Option<f64>,
}

/// A prompt's metadata.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// ID.
    pub id: i64,
    /// `dims_en`.
    pub dims_en: String,
}

/// Makes lines.
#[derive(Debug)]
pub struct Generator {
    options: Options,
    rubric: Rubric,
    given: Vec<Prompt>,
}

/// Pillar, capability and facet that a prompt asks for.
type Facets = BTreeMap<metadata::Path, metadata::PromptFacet>;

/// The form of a judged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedForm {
    /// Comma-separated values.
    Csv,
    /// JSON lines.
    Lines,
}

// Places in the counter space.
const PROMPT: u64 = 1;
const DIMS: u64 = 2;
const REPLY: u64 = 3;
const SKILL: u64 = 4;

impl Generator {
    /// A generator; prompts take their IDs and facets from `metadata` (a bench_metadata.json) as far as it goes.
    pub fn new(assets: &Assets, options: Options, metadata: Option<&Path>) -> Result<Self> {
        let given = metadata.map_or(Ok(Vec::new()), read_metadata)?;
        Ok(Self { options, rubric: Rubric::load(assets, DATASET)?, given })
    }

    /// The prompt of a row, from 0.
    pub fn prompt(&self, row: u64) -> Prompt {
        let id = row as i64 + 1;
        let given = usize::try_from(row).ok().and_then(|row| self.given.get(row));
        given.cloned().unwrap_or_else(|| Prompt { id, dims_en: self.dims(row) })
    }

    /// Facets in the published shares: three pillars always, the others on 63 % and 47.5 % of prompts; 3 to 10 of them.
    fn dims(&self, row: u64) -> String {
        let mut random = Random::at(self.options.seed, &[DIMS, row]);
        let mut paths: Vec<String> = Vec::new();
        for pillar in &self.rubric.pillars {
            let is_active = match pillar.name.as_str() {
                "Creative Generation" => random.unit() < 0.63,
                "Real-world Fidelity" => random.unit() < 0.475,
                _ => true,
            };
            if !is_active {
                continue;
            }
            let facets: Vec<_> = self.rubric.facets.iter().filter(|facet| facet.pillar == pillar.name).collect();
            for _ in 0..1 + random.below(2) {
                let path = facets[random.below(facets.len())].path();
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths.join("; ")
    }

    /// Writes `bench_metadata.json`.
    pub fn write_metadata(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "[")?;
        for row in 0..self.options.rows {
            let prompt = self.prompt(row);
            let comma = if row + 1 < self.options.rows { "," } else { "" };
            writeln!(out, "  {}{comma}", json_value!({ "ID": prompt.id, "dims_en": prompt.dims_en }))?;
        }
        writeln!(out, "]")
    }

    /// Writes the lines.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        for row in 0..self.options.rows {
            out.write_all(self.line(row).as_bytes())?;
        }
        Ok(())
    }

    fn line(&self, row: u64) -> String {
        let prompt = self.prompt(row);
        let mut random = Random::at(self.options.seed, &[PROMPT, row]);
        let (prompt_cn, prompt_en) = self.texts(row, &mut random);
        let mut line = format!("{{\"ID\": {}", prompt.id);
        let mut member = |key: &str, value: &Value| {
            line += &format!(", {}: {}", Value::from(key), escaped(value));
        };
        member("prompt_cn", &prompt_cn.into());
        member("prompt_en", &prompt_en.into());
        member("dims_en", &prompt.dims_en.clone().into());
        let facets = metadata::facets(&prompt.dims_en, &self.rubric, &mut Notes::default());
        for (place, model) in (0..).zip(&self.options.models) {
            member(model, &format!("images/{model}/{:04}.png", prompt.id).into());
            for (language, suffix) in [(0, ""), (1, "_en")] {
                if language == 1 && !self.options.english {
                    continue;
                }
                for (pillar, reply) in self.rubric.pillars.iter().zip(self.replies(row, place, language, &facets)) {
                    member(&format!("{}_response_{model}{suffix}", pillar.prefix), &reply.into());
                }
            }
        }
        if random.unit() < self.options.noise {
            line += ", \"seed\": 18446744073709551616";
        }
        line += "}\n";
        line
    }

    /// The prompt of a row in Chinese and English.
    fn texts(&self, row: u64, random: &mut Random) -> (String, String) {
        // Half of the prompts are long.
        let words = if row.is_multiple_of(2) { 8 } else { 60 };
        let mut prompt_en = prose(random, words * 6);
        let prompt_cn = (0..words * 2).map(|_| CHARACTERS[random.below(CHARACTERS.len())]).collect();
        if random.unit() < self.options.noise {
            prompt_en.push(LONE_SURROGATE);
        }
        (prompt_cn, prompt_en)
    }

    /// The replies about the image of the model at a place, pillar by pillar.
    fn replies(&self, row: u64, place: u64, language: u64, facets: &Facets) -> Vec<noise::Reply> {
        let reply = |(number, pillar): (u64, &Pillar)| {
            let listed: Vec<&str> =
                facets.keys().filter(|(name, _, _)| *name == pillar.name).map(|(_, _, facet)| facet.as_str()).collect();
            let random = Random::at(self.options.seed, &[REPLY, row, place, language, number]);
            if listed.is_empty() { None } else { self.reply(&pillar.name, &listed, place, random) }
        };
        (0..).zip(&self.rubric.pillars).map(reply).collect()
    }

    /// Writes a judged file of one further model, as the benchmark's judging script leaves it by pandas: a table with IDs that
    /// became floats and empty fields where something is missing, or lines with a bare NaN there.
    pub fn write_judged(&self, out: &mut dyn Write, form: JudgedForm) -> std::io::Result<()> {
        let own = self.options.models.len() as u64;
        let outputs = self.rubric.pillars.iter().map(|pillar| format!("{}_judge_output", pillar.prefix));
        let names: Vec<String> =
            ["ID", "prompt", "image_path", "judge_model_output"].map(String::from).into_iter().chain(outputs).collect();
        let mut table = csv::Writer::from_writer(Vec::new());
        if form == JudgedForm::Csv {
            table.write_record(&names)?;
        }
        for row in 0..self.options.rows {
            let prompt = self.prompt(row);
            let facets = metadata::facets(&prompt.dims_en, &self.rubric, &mut Notes::default());
            let (prompt_cn, _) = self.texts(row, &mut Random::at(self.options.seed, &[PROMPT, row]));
            let replies = self.replies(row, own, 0, &facets);
            let parsed = parsed(&self.rubric, &replies);
            let image = format!("outputs/{:04}.png", prompt.id);
            let cells = [Some(prompt_cn), Some(image), Some(parsed)].into_iter().chain(replies);
            match form {
                JudgedForm::Csv => {
                    let cells = cells.map(|cell| cell.unwrap_or_else(String::new));
                    table.write_record([format!("{}.0", prompt.id)].into_iter().chain(cells))?;
                }
                JudgedForm::Lines => {
                    write!(out, "{{\"ID\": {}.0", prompt.id)?;
                    for (name, cell) in names[1..].iter().zip(cells) {
                        let value = cell.map_or("NaN".to_owned(), |cell| Value::from(cell).to_string());
                        write!(out, ", \"{name}\": {value}")?;
                    }
                    writeln!(out, "}}")?;
                }
            }
        }
        out.write_all(&table.into_inner().map_err(csv::IntoInnerError::into_error)?)
    }

    /// The judge answers on every facet of the pillar: N/A for most that the prompt does not ask for.
    fn reply(&self, pillar: &str, listed: &[&str], model: u64, mut random: Random) -> noise::Reply {
        let skill = match self.options.gap {
            Some(gap) => (0.7 - gap * model as f64).clamp(0.0, 1.0),
            None => 0.35 + 0.5 * Random::at(self.options.seed, &[SKILL, model]).unit(),
        };
        let mut cells = Vec::new();
        for facet in self.rubric.facets.iter().filter(|facet| facet.pillar == pillar) {
            let is_judged = listed.contains(&facet.facet.as_str()) || random.unit() < 0.15;
            let entry = match (is_judged, random.unit()) {
                (false, _) => r#"{"score": "N/A"}"#.to_owned(),
                (true, chance) => {
                    format!(r#"{{"score": {}}}"#, if chance < skill * skill { 2 } else { i32::from(chance < skill) })
                }
            };
            cells.push((facet.capability.clone(), facet.facet.clone(), entry));
        }
        let draft = Draft { think: prose(&mut random, self.options.think_chars), cells };
        if random.unit() < self.options.noise {
            return noise::noisy(draft, &mut random);
        }
        Some(noise::clean(&draft))
    }
}

/// `judge_model_output`: the replies that parse as they stand, by pillar.
fn parsed(rubric: &Rubric, replies: &[noise::Reply]) -> String {
    let found = rubric.pillars.iter().zip(replies).filter_map(|(pillar, reply)| {
        let tail = reply::tail(reply.as_deref()?);
        let is_object = matches!(json::parse(tail).ok()?.value, JsonValue::Object(_));
        is_object.then(|| format!("{}: {tail}", Value::from(pillar.name.as_str())))
    });
    format!("{{{}}}", found.collect::<Vec<_>>().join(", "))
}

const CHARACTERS: [char; 24] = [
    '一', '只', '猫', '在', '窗', '边', '看', '雪', '山', '水', '光', '影', '红', '色', '灯', '笼', '城', '市', '夜',
    '人', '物', '手', '花', '树',
];

fn escaped(value: &Value) -> String {
    let text = value.to_string();
    if text.contains(LONE_SURROGATE) { text.replace(LONE_SURROGATE, "\\ud83d") } else { text }
}

fn read_metadata(path: &Path) -> Result<Vec<Prompt>> {
    let invalid = |message: String| Error::new(ErrorKind::Input, message).with("file", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))?;
    let rows: Vec<Value> =
        serde_json::from_str(&text).map_err(|e| invalid(format!("no JSON array: {e}")).caused_by(e))?;
    rows.iter()
        .enumerate()
        .map(|(at, row)| match (row["ID"].as_i64(), row["dims_en"].as_str()) {
            (Some(id), Some(dims_en)) => Ok(Prompt { id, dims_en: dims_en.to_owned() }),
            _ => Err(invalid(format!("element {} has no integer ID or no text dims_en", at + 1))),
        })
        .collect()
}
