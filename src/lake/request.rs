//! What an ingest is asked to do, and what it did.

use std::collections::BTreeMap;

use serde::Serialize;

use super::session::EngineOptions;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Classified, Form, Notes, Provenance, Reader, SourceOptions, reader};
use crate::schema::dataset::Dataset;
use crate::source::{self, Expanded, Location, Segments};
use crate::store::Stamp;

/// What a bad record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The first one ends the ingest; nothing is published.
    Fail,
    /// It is kept with its reason and counted.
    Reject,
}

/// What to ingest.
pub struct IngestRequest<'a> {
    /// Files the schemas and rubrics come from.
    pub assets: &'a Assets,
    /// The dataset's reader.
    pub reader: &'a dyn Reader,
    /// The inputs.
    pub inputs: Expanded,
    /// What is said about them.
    pub options: SourceOptions,
    /// How their images and replies were made.
    pub provenance: Option<Provenance>,
    /// What a bad record does.
    pub on_error: OnError,
    /// Whether these replies replace older ones about the same image.
    pub supersede: bool,
    /// Bytes of the longest line or row.
    pub max_line: usize,
}

/// How the work is done, which never shows in what is published.
pub struct Control<'a> {
    /// Threads, memory.
    pub engine: EngineOptions,
    /// Told of bytes read of all bytes, and of records.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far an ingest is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Bytes of all files.
    pub total: u64,
    /// Bytes read.
    pub read: u64,
    /// Records read.
    pub records: u64,
}

/// What an ingest did.
#[derive(Debug, Default, Serialize)]
pub struct IngestSummary {
    /// URIs of sources that are new in the lake.
    pub added: Vec<String>,
    /// URIs whose content had changed.
    pub replaced: Vec<String>,
    /// URIs whose content was there already.
    pub unchanged: Vec<String>,
    /// New sources whose content is there under other options, each with one of those.
    pub also_there: Vec<(String, String)>,
    /// URIs whose provenance was told anew.
    pub described: Vec<String>,
    /// Keys of all sources given, new or not.
    pub keys: Vec<String>,
    /// Inputs that could not be read, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// Records read from new sources.
    pub records: u64,
    /// Of those, rejected.
    pub rejected: u64,
    /// The first rejects.
    pub first_rejects: Vec<String>,
    /// Rows written by table.
    pub rows: BTreeMap<String, u64>,
    /// What the reader met.
    pub notes: Notes,
    /// Replies set aside in the whole dataset, by reason.
    pub set_aside: Notes,
}

/// A file that was given, with what of the request is about it.
#[derive(Debug, Clone)]
pub(super) struct ClassifiedFile {
    pub(super) location: Location,
    /// What told its content when it was looked at.
    pub(super) stamp: Stamp,
    pub(super) class: Classified,
    /// Whether any record told it.
    pub(super) is_told: bool,
}

/// A file that was given, and the key of its content.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) uri: String,
    pub(super) key: String,
    pub(super) class: Classified,
}

impl IngestRequest<'_> {
    /// Looks at each file far enough to tell its form. A setting that is then about none of them is a mistake, told before
    /// anything is read.
    pub(super) fn classify(&self, unreadable: &mut Vec<(String, Error)>) -> Result<Vec<ClassifiedFile>> {
        let mut files = Vec::new();
        for location in &self.inputs.locations {
            match self.classify_one(location) {
                Ok(file) => files.push(file),
                Err(error) if self.on_error == OnError::Reject && error.kind() == ErrorKind::Input => {
                    unreadable.push((location.uri.clone(), error));
                }
                Err(error) => return Err(error),
            }
        }
        // What cannot be read might have been what the setting is about.
        if unreadable.is_empty() && files.iter().all(|file| file.is_told) {
            self.refuse_unused(&files)?;
        }
        Ok(files)
    }

    fn classify_one(&self, location: &Location) -> Result<ClassifiedFile> {
        let stamp = location.file.stamp().map_err(Error::of_input)?;
        let mut segments = Segments::new(source::open(location)?.reader, location, LOOK, self.max_line);
        let mut form = None;
        while form.is_none_or(|form| form == Form::Metadata)
            && let Some(segment) = segments.next()?
        {
            form = self.reader.form(&segment).or(form);
        }
        if form.is_none() {
            self.suggest(location)?;
        }
        let class = self.reader.classify(form.unwrap_or(Form::Metadata), location, &self.options);
        let class = class.map_err(|e| e.with("file", &location.uri))?;
        Ok(ClassifiedFile { location: location.clone(), stamp, class, is_told: form.is_some() })
    }

    /// A file that nothing of this dataset is in may be one of another.
    fn suggest(&self, location: &Location) -> Result<()> {
        let mut segments = Segments::new(source::open(location)?.reader, location, LOOK, self.max_line);
        let Some(segment) = segments.next()? else { return Ok(()) };
        let own = self.reader.dataset();
        for dataset in Dataset::all(self.assets)?.into_iter().filter(|dataset| dataset.id != own) {
            // A dataset of one's own may have a reader that only its program knows.
            if reader(self.assets, &dataset.id).is_ok_and(|reader| reader.form(&segment).is_some()) {
                return Err(Error::new(
                    ErrorKind::Input,
                    format!("this is no file of {own}, but one of {}", dataset.id),
                )
                .with("file", &location.uri)
                .hint(format!("scorelake ingest {} {}", dataset.id, location.uri)));
            }
        }
        Ok(())
    }

    fn refuse_unused(&self, files: &[ClassifiedFile]) -> Result<()> {
        let options = &self.options;
        let mut settings: Vec<(&str, bool, bool)> = SETTINGS
            .iter()
            .map(|(setting, value)| {
                let is_used = files.iter().any(|file| !value(&file.class.options).is_empty());
                (*setting, !value(options).is_empty(), is_used)
            })
            .collect();
        let any = |is_about: fn(&Classified) -> bool| files.iter().any(|file| is_about(&file.class));
        settings.push(("--no-raw", !options.keep_text, any(|class| !class.options.keep_text)));
        settings.push(("--provenance", self.provenance.is_some(), any(|class| class.takes_provenance)));
        for (setting, is_given, is_used) in settings {
            if is_given && !is_used {
                let message = match self.reader.setting_is_about(setting) {
                    Some(about) => format!("{setting} is not used: none of the inputs is {about}"),
                    None => format!("{setting} is not used: no file of {} has it", self.reader.dataset()),
                };
                return Err(Error::new(ErrorKind::Usage, message));
            }
        }
        Ok(())
    }
}

/// A setting, and where it stands among the options.
type Setting = (&'static str, fn(&SourceOptions) -> &str);

/// The settings that are texts.
const SETTINGS: [Setting; 7] = [
    ("--model", |options| &options.model),
    ("--judge", |options| &options.judge),
    ("--model-revision", |options| &options.model_revision),
    ("--collection", |options| &options.collection),
    ("--split", |options| &options.split),
    ("--generator-from", |options| &options.generator_from),
    ("--direction", |options| &options.direction),
];

/// Bytes that are looked at a time to tell a file's form.
const LOOK: usize = 1 << 20;
