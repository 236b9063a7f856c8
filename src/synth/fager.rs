//! A collection like FAGER's: questions, answers about the images of several runs with what the checker stores of them, and scores
//! of another metric.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::prose::prose;
use crate::python::round2;
use crate::random::Random;

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// Prompts.
    pub rows: u64,
    /// Runs of generated images; that of real ones comes beside.
    pub runs: Vec<String>,
    /// Share of images with a trouble, 0 to 1.
    pub noise: f64,
    /// The same seed gives the same bytes.
    pub seed: u64,
}

/// Makes the files of a collection.
#[derive(Debug)]
pub struct Generator {
    options: Options,
}

/// One question.
#[derive(Debug, Clone)]
struct Question {
    level: usize,
    category: &'static str,
    text: String,
}

const CATEGORIES: [&str; 9] =
    ["existence", "color", "shape", "relation", "counting", "size", "posture", "scene", "others"];
const LEVELS: [&str; 3] = ["level_1", "level_2", "level_3"];

// Places in the counter space.
const PROMPT: u64 = 41;
const ANSWER: u64 = 42;
const METRIC: u64 = 43;

impl Generator {
    /// A generator.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Names of all runs, that of real images first.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        std::iter::once("real").chain(self.options.runs.iter().map(String::as_str))
    }

    /// Index of a row; some numbers are not used.
    fn index(row: u64) -> u64 {
        row * 2 + 1
    }

    fn prompt(&self, row: u64) -> String {
        let mut random = Random::at(self.options.seed, &[PROMPT, row]);
        format!("Product {row}, \"{}\"", prose(&mut random, 30).replace(['\n', '"'], " ").trim())
    }

    /// Up to 17 questions; some prompts have none of level 2 or 3.
    fn questions(&self, row: u64) -> Vec<Question> {
        let mut random = Random::at(self.options.seed, &[PROMPT, row, 1]);
        let counts = [
            2 + random.below(3),
            if row % 25 == 7 { 0 } else { 2 + random.below(6) },
            if row % 4 == 3 { 0 } else { 1 + random.below(3) },
        ];
        let mut questions = Vec::new();
        for (level, count) in counts.into_iter().enumerate() {
            for number in 0..count {
                let category = CATEGORIES[random.below(CATEGORIES.len())];
                let text = format!(
                    "Is the {category} of part {} as told, \"{}\"?",
                    number + 1,
                    prose(&mut random, 16).replace(['\n', '"'], " ").trim()
                );
                questions.push(Question { level, category, text });
            }
        }
        questions
    }

    /// Writes `QA.csv`.
    pub fn write_questions(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record([
            "index",
            "prompt",
            "level",
            "category",
            "importance",
            "question",
            "gold_answer",
            "answer_space",
            "source_fact",
        ])?;
        for row in 0..self.options.rows {
            let (index, prompt) = (Self::index(row).to_string(), self.prompt(row));
            for question in self.questions(row) {
                let level = LEVELS[question.level];
                table.write_record([
                    &index,
                    &prompt,
                    level,
                    question.category,
                    "high",
                    &question.text,
                    "yes",
                    "yes|no|unknown",
                    "A fact.",
                ])?;
            }
        }
        table.flush()
    }

    /// Writes `prompts.csv`.
    pub fn write_prompts(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["index", "prompt", "brand"])?;
        for row in 0..self.options.rows {
            table.write_record([&Self::index(row).to_string(), &self.prompt(row), "Brand"])?;
        }
        table.flush()
    }

    /// Writes `exclude_index.csv`, with the second, nameless column that the published one has.
    pub fn write_exclusions(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "index,")?;
        (0..self.options.rows).filter(|row| row % 10 == 2).try_for_each(|row| writeln!(out, "{},", Self::index(row)))
    }

    /// Answers about an image of the run at a place: texts and rationales.
    fn answers(&self, run: u64, row: u64) -> Vec<(Question, String, &'static str)> {
        let mut random = Random::at(self.options.seed, &[ANSWER, run, row]);
        let skill = if run == 0 { 0.92 } else { 0.85 - 0.12 * run as f64 };
        let trouble = if random.unit() < self.options.noise { random.below(3) } else { 3 };
        let mut answer = |question: Question| {
            let chance = random.unit() + 0.1 * question.level as f64;
            let text = if chance < skill {
                "yes"
            } else if chance < skill + 0.05 {
                "unknown"
            } else {
                "no"
            };
            match trouble {
                0 => (question, "unknown".to_owned(), "Error: the request timed out."),
                1 => (question, "no".to_owned(), "Not the object that was asked for."),
                2 if random.unit() < 0.3 => (question, "maybe".to_owned(), "Hard to say."),
                _ => (question, text.to_owned(), "As seen."),
            }
        };
        self.questions(row).into_iter().map(&mut answer).collect()
    }

    /// Writes `details.jsonl` of the run at a place, 0 for real images.
    pub fn write_details(&self, run: u64, out: &mut dyn Write) -> io::Result<()> {
        (0..self.options.rows)
            .try_for_each(|row| writeln!(out, "{}", self.checked(run, row).details(&self.prompt(row))))
    }

    /// Writes `summary.csv` of the run at a place.
    pub fn write_summary(&self, run: u64, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record([
            "image_file",
            "index",
            "decision",
            "level_1_score",
            "level_2_score",
            "level_3_score",
            "overall_score",
            "n_total",
            "n_yes",
            "n_no",
            "n_unknown",
            "regenerate_prompt",
            "edit_instruction",
        ])?;
        let cell = |score: Option<f64>| score.map_or_else(String::new, |score| format!("{score:?}"));
        for row in 0..self.options.rows {
            let checked = self.checked(run, row);
            let [yes, no, unknown] = checked.counts;
            table.write_record([
                checked.image(),
                checked.index.to_string(),
                checked.decision.into(),
                cell(checked.levels[0]),
                cell(checked.levels[1]),
                cell(checked.levels[2]),
                cell(Some(checked.overall)),
                (yes + no + unknown).to_string(),
                yes.to_string(),
                no.to_string(),
                unknown.to_string(),
                String::new(),
                String::new(),
            ])?;
        }
        table.flush()
    }

    /// Writes scores of two metrics, of one of which lower values are better.
    pub fn write_scores(&self, collection: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["collection", "run", "prompt_index", "metric", "score"])?;
        for (place, run) in self.runs().enumerate() {
            for row in 0..self.options.rows {
                let mut random = Random::at(self.options.seed, &[METRIC, place as u64, row]);
                let index = Self::index(row).to_string();
                let vqa = (100.0 * (0.7 - 0.1 * place as f64 + 0.2 * random.unit())).round() / 100.0;
                let grain = (10.0 * (1.0 + place as f64 + 3.0 * random.unit())).round() / 10.0;
                table.write_record([collection, run, &index, "VQAScore", &vqa.to_string()])?;
                table.write_record([collection, run, &index, "FineGRAIN", &grain.to_string()])?;
            }
        }
        table.flush()
    }

    /// What the checker does with the answers.
    fn checked(&self, run: u64, row: u64) -> Checked {
        let mut answers = self.answers(run, row);
        let half = |text: &str| match text {
            "yes" => 2_u64,
            "no" => 0,
            _ => 1,
        };
        let score = |chosen: &[(Question, String, &str)]| {
            let halves: u64 = chosen.iter().map(|(_, text, _)| half(text)).sum();
            halves as f64 / 2.0 / chosen.len() as f64 * 100.0
        };
        let of_level = |answers: &[(Question, String, &'static str)], level: usize| {
            answers.iter().filter(|(question, ..)| question.level == level).cloned().collect::<Vec<_>>()
        };
        let first = score(&of_level(&answers, 0));
        if first <= 20.0 {
            answers.retain(|(question, ..)| question.level == 0);
        }
        let levels = [0, 1, 2]
            .map(|level| of_level(&answers, level))
            .map(|chosen| (!chosen.is_empty()).then(|| round2(score(&chosen))));
        let overall = score(&answers);
        let decision = if first <= 20.0 {
            "regenerate"
        } else if overall >= 95.0 {
            "keep"
        } else {
            "edit"
        };
        let count = |halves: u64| answers.iter().filter(|(_, text, _)| half(text) == halves).count();
        let counts = [count(2), count(0), count(1)];
        Checked { index: Self::index(row), levels, overall: round2(overall), decision, counts, answers }
    }
}

/// An image as the checker stores it.
struct Checked {
    index: u64,
    levels: [Option<f64>; 3],
    overall: f64,
    decision: &'static str,
    /// yes, no, unknown.
    counts: [usize; 3],
    answers: Vec<(Question, String, &'static str)>,
}

impl Checked {
    fn image(&self) -> String {
        format!("{}.jpg", self.index)
    }

    fn details(&self, prompt: &str) -> Value {
        let present = || (0..3).filter(|level| self.levels[*level].is_some());
        let skipped: Vec<&str> = if self.decision == "regenerate" { LEVELS[1..].to_vec() } else { Vec::new() };
        let level_scores: serde_json::Map<String, Value> =
            present().map(|level| (LEVELS[level].to_owned(), json!(self.levels[level]))).collect();
        let [yes, no, unknown] = self.counts;
        let questions: Vec<Value> = self
            .answers
            .iter()
            .map(|(question, answer, rationale)| {
                json!({
                    "level": LEVELS[question.level], "category": question.category, "importance": "high", "question": question.text,
                    "answer": answer, "rationale": rationale,
                })
            })
            .collect();
        json!({
            "index": self.index,
            "image_id": self.image(),
            "original_prompt": prompt,
            "gating": {
                "evaluated_levels": present().map(|level| LEVELS[level]).collect::<Vec<_>>(), "skipped_levels": skipped,
                "level_1_score": self.levels[0], "decision": self.decision, "regenerate_threshold": 20.0, "keep_threshold": 95.0,
            },
            "scores": { "overall_score": self.overall, "level_scores": level_scores },
            "answer_counts": { "yes": yes, "no": no, "unknown": unknown, "total": yes + no + unknown },
            "per_question": questions,
        })
    }
}
