//! Prompts and results like MagicBench's, of any number of models.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::prose::prose;
use crate::random::Random;

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// Prompts, spread over the eight detail classes.
    pub rows: u64,
    /// Names of the models.
    pub models: Vec<String>,
    /// Share of records with a trouble, 0 to 1.
    pub noise: f64,
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Characters of reasoning a response.
    pub think_chars: usize,
}

/// Makes lines.
#[derive(Debug)]
pub struct Generator {
    options: Options,
}

/// Detail class, class, subjects, and how often an able model deforms them.
const CLASSES: [(&str, &str, [&str; 3], f64); 8] = [
    ("human_single", "human", ["astronaut", "watchmaker", "gardener"], 0.15),
    ("human_double", "human", ["two dancers", "two fencers", "a couple"], 0.5),
    ("human_multi", "human", ["a choir", "a rowing crew", "three painters"], 0.7),
    ("animal_single", "animal", ["horse", "octopus", "heron"], 0.15),
    ("animal_multi", "animal", ["a herd of zebras", "five cats", "two foxes"], 0.6),
    ("object_single", "object", ["bicycle", "violin", "kettle"], 0.03),
    ("object_multi", "object", ["three clocks", "two chairs", "five cups"], 0.1),
    ("object_compo", "object", ["a lamp on a desk", "a key in a lock", "a ladder on a wall"], 0.12),
];

// Places in the counter space.
const PROMPT: u64 = 21;
const RESULT: u64 = 22;

impl Generator {
    /// A generator.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    fn prompt(&self, row: u64) -> Map<String, Value> {
        let (detail_class, class, subjects, _) = class(row);
        let mut random = Random::at(self.options.seed, &[PROMPT, row]);
        let subject = subjects[random.below(3)];
        let scene = prose(&mut random, 60).replace('\n', " ");
        let text = format!("{subject}, scene {row}: {scene}. The image must include the complete '{subject}'.");
        let members = json!({ "prompt_t2i": text, "subject": subject, "class": class, "detail_class": detail_class });
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    /// Writes the prompts.
    pub fn write_prompts(&self, out: &mut dyn Write) -> io::Result<()> {
        (0..self.options.rows).try_for_each(|row| writeln!(out, "{}", Value::Object(self.prompt(row))))
    }

    /// Writes the results of the model at a place.
    pub fn write_results(&self, model: usize, out: &mut dyn Write) -> io::Result<()> {
        let name = &self.options.models[model];
        for row in 0..self.options.rows {
            let mut random = Random::at(self.options.seed, &[RESULT, model as u64, row]);
            let mut record = self.prompt(row);
            let has_subject = random.unit() > 0.03;
            let image = format!("./output/{name}/imgs/{row}-{name}.jpg");
            record.insert("gen_images".into(), json!([image]));
            record.insert("has_subject".into(), has_subject.into());
            record.insert(
                "subject_detection_response".into(),
                if has_subject { "Yes" } else { "Final answer: No" }.into(),
            );
            let think = prose(&mut random, self.options.think_chars);
            let answer = self.answer(model, row, &mut random);
            record.insert("response".into(), format!("<think>\n{think}\n</think>\n\\boxed{{{answer}}}").into());
            if random.unit() < self.options.noise {
                match spoilt(record, &answer, &mut random) {
                    Ok(odd) => writeln!(out, "{}", Value::Object(odd))?,
                    Err(line) => writeln!(out, "{line}")?,
                }
            } else {
                writeln!(out, "{}", Value::Object(record))?;
            }
        }
        Ok(())
    }

    /// What the judge says of an image: the worse the model, the more.
    fn answer(&self, model: usize, row: u64, random: &mut Random) -> Value {
        let (_, class, _, share) = class(row);
        let weakness = 0.6 + 0.8 * (model as f64 + 1.0) / (self.options.models.len() as f64 + 1.0);
        let mut types = Map::new();
        let mut add = |name: &str, value: Value| types.insert(name.into(), value);
        if random.unit() < 0.15 * weakness {
            add("L2: Irrational Element Interaction", json!(["L3: Abnormal Element Overlap"]));
        }
        if random.unit() < share * weakness {
            match class {
                "human" => add("L2: Abnormal Human Anatomy", json!(["L3: Hand Structure Deformity"])),
                "animal" => add("L2: Abnormal Animal Anatomy", json!(["L3: Abnormal Limb Structure"])),
                _ => add("L2: Abnormal Object Morphology", json!(true)),
            };
        }
        if types.is_empty() {
            json!({ "Whether Normal": true })
        } else {
            json!({ "Whether Normal": false, "Type of Deformity": types })
        }
    }
}

fn class(row: u64) -> (&'static str, &'static str, [&'static str; 3], f64) {
    CLASSES[(row % CLASSES.len() as u64) as usize]
}

/// A record with a trouble that real ones have, or a line that is none.
fn spoilt(mut record: Map<String, Value>, answer: &Value, random: &mut Random) -> Result<Map<String, Value>, String> {
    match random.below(8) {
        0 => record.insert("response".into(), Value::Null),
        1 => record.insert("prompt_t2i".into(), "".into()),
        2 => record.insert("class".into(), "plant".into()),
        3 => record.insert(
            "response".into(),
            format!("\\boxed{{{}}}", answer.to_string().replace("Deformity\"", "Abnormality\"")).into(),
        ),
        4 => record.insert("response".into(), "I cannot judge this image.".into()),
        5 => record.insert("has_subject".into(), "false".into()),
        6 if record["class"] == "human" => record.insert("class".into(), "person".into()),
        _ => return Err(Value::Object(record).to_string().chars().take(90).collect()),
    };
    Ok(record)
}
