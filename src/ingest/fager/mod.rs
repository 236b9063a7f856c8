//! FAGER: questions about prompts, what a checker answered about each image of a run, summaries, and scores of other metrics.

mod record;
mod rows;

use serde::Deserialize;

use self::record::Record;
use self::rows::Tables;
use super::direction::Directions;
use super::members::{self, Members};
use super::walk::{form_by, walk};
use super::{Classified, Form, Reader, SegmentTables, SourceOptions, names};
use crate::assets::Assets;
use crate::error::Result;
use crate::schema::TableSchema;
use crate::schema::dataset::read_csv;
use crate::source::{Location, Segment};

/// The dataset's id.
pub const DATASET: &str = "fager";

/// The reader.
pub struct Fager {
    directions: Directions,
    errors: Vec<ErrorText>,
    schemas: Vec<TableSchema>,
    identity: String,
}

/// How a rationale begins, or what it says, when the checker failed: a row of `data/fager_errors.csv`.
#[derive(Debug, Clone, Deserialize)]
struct ErrorText {
    #[serde(rename = "where")]
    place: String,
    text: String,
}

impl ErrorText {
    fn is_in(&self, rationale: &str) -> bool {
        let rationale = rationale.trim().to_lowercase();
        if self.place == "start" { rationale.starts_with(&self.text) } else { rationale.contains(&self.text) }
    }
}

impl Fager {
    /// A reader with the schemas, error texts and known metrics of these assets.
    pub fn new(assets: &Assets) -> Result<Self> {
        let directions = Directions::load(assets)?;
        let errors: Vec<ErrorText> = read_csv(assets, "data/fager_errors.csv")?;
        let texts: Vec<_> = errors.iter().map(|error| format!("{} {}", error.place, error.text)).collect();
        let identity = format!("1 lower: {}; errors: {}", directions.identity(), texts.join("; "));
        let names = ["prompts", "questions", "exclusions", "images", "answers", "summaries", "scores"];
        let schemas = names.map(|name| TableSchema::load(assets, DATASET, name)).into_iter().collect::<Result<_>>()?;
        Ok(Self { directions, errors, schemas, identity })
    }
}

/// The form of a record; `None` if it is none of this dataset's.
fn form_of(members: &Members<'_>) -> Option<Form> {
    let has = |key: &str| members.contains_key(key);
    if has("per_question") || has("overall_score") && has("decision") {
        Some(Form::Answers)
    } else if has("metric") && has("score") && (has("prompt_index") || has("index")) {
        Some(Form::Scores)
    } else if has("index") && (has("question") && has("level") || has("prompt") || members.len() == 1) {
        Some(Form::Metadata)
    } else {
        None
    }
}

impl Reader for Fager {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn form(&self, segment: &Segment) -> Option<Form> {
        form_by(segment, form_of)
    }

    fn setting_is_about(&self, setting: &str) -> Option<&'static str> {
        match setting {
            "--model" | "--model-revision" | "--judge" | "--provenance" => {
                Some("a file of a run (details.jsonl or summary.csv) or of scores")
            }
            "--no-raw" => Some("a details.jsonl"),
            "--collection" => Some("a file of questions, of a run or of scores"),
            "--direction" => Some("a file of scores"),
            _ => None,
        }
    }

    fn classify(&self, form: Form, location: &Location, options: &SourceOptions) -> Result<Classified> {
        let mut own = SourceOptions::default();
        match form {
            Form::Answers => {
                own.collection = names::given_or_folder(&options.collection, location, 2, "--collection")?;
                own.model = names::given_or_folder(&options.model, location, 1, "--model")?;
                own.model_revision = options.model_revision.clone();
                own.judge = options.judge.clone();
                own.keep_text = options.keep_text;
            }
            Form::Scores => {
                own.direction = options.direction.clone();
                // Where the file has no such column.
                own.collection = options.collection.clone();
                own.model = options.model.clone();
            }
            _ => own.collection = names::given_or_folder(&options.collection, location, 1, "--collection")?,
        }
        Ok(Classified { form, options: own, takes_provenance: form == Form::Answers })
    }

    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables> {
        let walked = walk(segment, |found, notes| {
            let members = members::members(found.content, notes)?;
            Record::read(&members, file.form, &self.errors, &file.options, notes)
        });
        let is_lower = |metric: &str| self.directions.is_lower_better(&file.options, metric);
        let tables = Tables { schemas: &self.schemas, source, options: &file.options, is_lower: &is_lower };
        walked.finish(|records| {
            let ids = records.iter().map(|(_, record)| record.prompt_index()).collect();
            Ok(SegmentTables { tables: tables.fill(records)?, ids, ..SegmentTables::default() })
        })
    }
}
