//! Segments of one dataset's files become typed Arrow batches and rejects.
//!
//! A reader is a pure function of a segment: it may run on any thread, and what it gives depends on the text alone.

pub mod agiqa_3k;
pub mod artifacts;
mod batch;
mod direction;
pub mod fager;
mod ids;
pub mod magicbench;
pub mod magicdata340k;
mod members;
mod names;
mod notes;
pub mod provenance;
pub mod qwen_image_bench;
mod walk;

use arrow::array::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::source::{Location, Segment};

pub(crate) use batch::TableBuilder;
pub use ids::Ids;
pub use notes::Notes;
pub use provenance::Provenance;

/// What the command line says about a source; part of its identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceOptions {
    /// Model that made the images, where the file does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Language of the prompts, where the file does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lang: String,
    /// Revision of the models.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model_revision: String,
    /// Judge that wrote the replies.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub judge: String,
    /// Collection that images or questions belong to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub collection: String,
    /// Split of the images: train or test.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub split: String,
    /// Regular expression that finds the generator in an image's path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub generator_from: String,
    /// Whether higher or lower values of a metric are better: `lower`, or `NAME=lower` separated by commas.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub direction: String,
    /// Whether the text of replies is kept.
    pub keep_text: bool,
}

impl SourceOptions {
    /// Whether both speak of the same entries of a board.
    pub fn is_same_entry(&self, other: &Self) -> bool {
        // How a file is read makes no other entry.
        let entry = |of: &Self| {
            let (direction, generator_from) = (String::new(), String::new());
            Self { keep_text: true, direction, generator_from, ..of.clone() }
        };
        entry(self) == entry(other)
    }
}

impl Default for SourceOptions {
    fn default() -> Self {
        let none = String::new;
        Self {
            model: none(),
            lang: none(),
            model_revision: none(),
            judge: none(),
            collection: none(),
            split: none(),
            generator_from: none(),
            direction: none(),
            keep_text: true,
        }
    }
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Line in the source, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
    /// The text, cut at 64 KiB; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// What a reader makes of a segment.
#[derive(Debug, Default)]
pub struct SegmentTables {
    /// Batches by table, each sorted by the table's order.
    pub tables: Vec<(&'static str, RecordBatch)>,
    /// Records that could not be read.
    pub rejects: Vec<Reject>,
    /// Records read, rejects too.
    pub records: u64,
    /// IDs of the prompts or questions it is about.
    pub ids: Ids,
    /// Notes.
    pub notes: Notes,
}

/// The form of a file: what its records are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Replies about many models, which it names.
    #[default]
    Wide,
    /// Replies about one model, which it does not name.
    Judged,
    /// Prompts, questions or other things that are given to models, without what became of them.
    Metadata,
    /// What people said of images: labels or mean opinion scores.
    Human,
    /// Single ratings of people.
    Ratings,
    /// What one run of a judge or checker answered.
    Answers,
    /// What another program computed: predictions of metrics, scores.
    Scores,
}

impl Form {
    pub(crate) fn is_wide(&self) -> bool {
        *self == Self::Wide
    }
}

/// A file's form, and what of the command line is about it.
#[derive(Debug, Clone)]
pub struct Classified {
    /// Its form.
    pub form: Form,
    /// The options, part of its identity: those that say nothing about it are empty.
    pub options: SourceOptions,
    /// Whether a `--provenance` describes it.
    pub takes_provenance: bool,
}

/// A dataset's reader.
pub trait Reader: Send + Sync {
    /// Dataset id.
    fn dataset(&self) -> &'static str;

    /// Changes whenever the reader would give other rows for the same text, also by another rubric: parts are then made
    /// again.
    fn identity(&self) -> String;

    /// The form of a file by one of its segments: of [`Form::Metadata`] further segments may still tell another; `None` if no
    /// record could be read.
    fn form(&self, segment: &Segment) -> Option<Form>;

    /// Which of the options, and which names in the path, are about a file of this form; an error if it needs one that is
    /// not given.
    fn classify(&self, form: Form, location: &Location, options: &SourceOptions) -> Result<Classified>;

    /// What kind of file a setting such as `--judge` is about; `None` if no file of this dataset has it.
    fn setting_is_about(&self, setting: &str) -> Option<&'static str>;

    /// After the last segment of a source: turns what segments could not judge alone into notes.
    fn conclude(&self, _notes: &mut Notes) {}

    /// Reads one segment of the source with this key; a record of another form than the file's is a reject.
    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables>;
}

/// The reader of a dataset.
pub fn reader(assets: &Assets, dataset: &str) -> Result<Box<dyn Reader>> {
    match dataset {
        qwen_image_bench::DATASET => Ok(Box::new(qwen_image_bench::QwenImageBench::new(assets)?)),
        agiqa_3k::DATASET => Ok(Box::new(agiqa_3k::Agiqa3k::new(assets)?)),
        fager::DATASET => Ok(Box::new(fager::Fager::new(assets)?)),
        magicbench::DATASET => Ok(Box::new(magicbench::MagicBench::new(assets)?)),
        magicdata340k::DATASET => Ok(Box::new(magicdata340k::MagicData340k::new(assets)?)),
        other => Err(Error::new(ErrorKind::Usage, format!("no reader for dataset `{other}`"))),
    }
}
