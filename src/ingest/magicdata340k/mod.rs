//! MagicData340K: the labels that people gave images, predictions of assessors, and side tables of generators.

mod record;

use sha2::{Digest, Sha256};

use self::record::Record;
use super::artifacts::gold::Gold;
use super::artifacts::{Reading, Taxonomy};
use super::members::{self, Members, first_of, keys};
use super::walk::walk;
use super::{Classified, Form, Notes, Reader, SegmentTables, SourceOptions, TableBuilder};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSchema;
use crate::source::{Location, Segment, hex};

/// The dataset's id.
pub const DATASET: &str = "magicdata340k";

/// Keys under which a prompt stands.
const PROMPTS: [&str; 4] = ["prompt_ori", "query", "prompt_t2i", "prompt"];
/// Keys under which paths of images stand.
const IMAGES: [&str; 2] = ["images", "image"];
/// Keys under which the generator of an image stands.
const GENERATORS: [&str; 3] = ["generator", "model_name", "model"];
/// Keys of MagicBench's files, which are alike.
const FOREIGN: [&str; 4] = ["gen_images", "has_subject", "detail_class", "subject_detection_response"];

/// The reader.
pub struct MagicData340k {
    taxonomy: Taxonomy,
    images: TableSchema,
    labels: TableSchema,
    predictions: TableSchema,
    generators: TableSchema,
}

impl MagicData340k {
    /// A reader with the taxonomy and schemas of these assets.
    pub fn new(assets: &Assets) -> Result<Self> {
        let table = |name| TableSchema::load(assets, DATASET, name);
        Ok(Self {
            taxonomy: Taxonomy::load(assets)?,
            images: table("images")?,
            labels: table("labels")?,
            predictions: table("predictions")?,
            generators: table("generators")?,
        })
    }

    fn image_rows(&self, records: &[(u64, Record)], file: &Classified, source: &str) -> Result<SegmentTables> {
        let mut images = TableBuilder::new(&self.images);
        let mut labels = TableBuilder::new(&self.labels);
        let mut predictions = TableBuilder::new(&self.predictions);
        let mut generators = TableBuilder::new(&self.generators);
        let split = Some(file.options.split.as_str());
        for (line, record) in records {
            let place = (source, *line as i64);
            let image = Some(record.image.as_str());
            if let Some(Gold { reading, written }) = &record.gold {
                images
                    .text(split)?
                    .text(image)?
                    .int(Some(record.n_paths))?
                    .text(record.prompt.as_deref())?
                    .bool(record.prompt_is_cut)?
                    .text(record.generator.as_deref())?;
                outcome_cells(&mut images, reading)?
                    .text(record.gold_text.as_deref().map(sha256).as_deref())?
                    .text(Some(place.0))?
                    .int(Some(place.1))?;
                for label in written {
                    labels
                        .text(split)?
                        .text(image)?
                        .text(Some(label.level))?
                        .text(Some(&label.l2))?
                        .text(Some(&label.label))?
                        .text(Some(label.state))?
                        .text(Some(place.0))?
                        .int(Some(place.1))?;
                }
            }
            if let Some(prediction) = &record.prediction {
                let text = prediction.text.as_deref();
                predictions
                    .text(Some(&file.options.model))?
                    .text(Some(&file.options.model_revision))?
                    .text(split)?
                    .text(image)?
                    .text(text.filter(|_| file.options.keep_text))?
                    .text(text.map(sha256).as_deref())?;
                outcome_cells(&mut predictions, &prediction.exact)?;
                outcome_cells(&mut predictions, &prediction.keywords)?.text(Some(place.0))?.int(Some(place.1))?;
            }
            if file.form == Form::Metadata {
                generators.text(image)?.text(record.generator.as_deref())?.text(Some(place.0))?.int(Some(place.1))?;
            }
        }
        let tables = vec![
            ("images", images.finish()?),
            ("labels", labels.finish()?),
            ("predictions", predictions.finish()?),
            ("generators", generators.finish()?),
        ];
        Ok(SegmentTables { tables, ..SegmentTables::default() })
    }
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Outcome, reason and labels of a reading; the labels are null unless it is usable.
fn outcome_cells<'t, 's>(table: &'t mut TableBuilder<'s>, reading: &Reading) -> Result<&'t mut TableBuilder<'s>> {
    let is_ok = reading.outcome == super::artifacts::Outcome::Ok;
    table
        .text(Some(reading.outcome.name()))?
        .text(reading.reason.as_deref())?
        .int(is_ok.then_some(reading.labels.mask()))
}

/// The form of a record; `None` if it is none of this dataset's.
fn form_of(members: &Members<'_>) -> Option<Form> {
    if FOREIGN.iter().any(|key| members.contains_key(*key)) {
        return None;
    }
    first_of(members, &IMAGES)?;
    let has = |key: &str| members.contains_key(key);
    if has("output") || has("response") && first_of(members, &PROMPTS).is_none() {
        Some(Form::Judged)
    } else if has("response") {
        Some(Form::Human)
    } else if first_of(members, &GENERATORS).is_some() {
        Some(Form::Metadata)
    } else {
        None
    }
}

impl Reader for MagicData340k {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        format!("1 taxonomy {}", self.taxonomy.digest)
    }

    fn form(&self, segment: &Segment) -> Option<Form> {
        let mut notes = Notes::default();
        let records = segment.records();
        let members = records.iter().filter_map(|record| members::members(record.content, &mut notes).ok());
        let mut forms = members.filter_map(|members| form_of(&members));
        let first = forms.next()?;
        // A record of labels alone does not tell that none of the others has a prediction.
        let is_judged = first == Form::Judged || first == Form::Human && forms.any(|form| form == Form::Judged);
        Some(if is_judged { Form::Judged } else { first })
    }

    fn setting_is_about(&self, setting: &str) -> Option<&'static str> {
        match setting {
            "--model" | "--model-revision" | "--no-raw" | "--provenance" => Some("a file of predictions"),
            "--split" => Some("a file of labels or predictions"),
            "--generator-from" => Some("a file of labels"),
            _ => None,
        }
    }

    fn classify(&self, form: Form, location: &Location, options: &SourceOptions) -> Result<Classified> {
        let mut own = SourceOptions { generator_from: options.generator_from.clone(), ..SourceOptions::default() };
        record::generator_pattern(&own)?;
        match form {
            Form::Judged => {
                if options.model.is_empty() {
                    return Err(Error::new(ErrorKind::Usage, "a file of predictions does not say which assessor made them")
                        .hint("name the assessor: --model NAME; a file of labels has `response` and a prompt, and no `output`"));
                }
                own.model = options.model.clone();
                own.model_revision = options.model_revision.clone();
                own.keep_text = options.keep_text;
            }
            Form::Human => {}
            _ => return Ok(Classified { form, options: SourceOptions::default(), takes_provenance: false }),
        }
        let told = split_of(location.path());
        if !options.split.is_empty() && !told.is_empty() && told != options.split {
            return Err(Error::new(ErrorKind::Usage, format!("--split {} for a file that is called {told}", options.split))
                .hint("leave --split out: the names of the files tell it; to score one split, `scorelake score magicdata340k --split`"));
        }
        own.split = if options.split.is_empty() { told.to_owned() } else { options.split.clone() };
        Ok(Classified { form, options: own, takes_provenance: form == Form::Judged })
    }

    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables> {
        let generator = record::generator_pattern(&file.options)?;
        let walked = walk(segment, |found, notes| {
            let members = members::members(found.content, notes)?;
            Record::read(&members, file.form, &self.taxonomy, generator.as_ref(), notes)
        });
        walked.finish(|mut records| {
            records.sort_by(|a, b| (&a.1.image, a.0).cmp(&(&b.1.image, b.0)));
            self.image_rows(&records, file, source)
        })
    }
}

/// The split that a file's name tells: `train` or `test` as a word of it.
fn split_of(uri: &str) -> &'static str {
    let name = uri.rsplit(['/', '\\']).next().unwrap_or(uri).to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| ["train", "test"].into_iter().find(|split| *split == word)).unwrap_or("")
}

/// Why a record is none of this dataset's.
fn no_record(members: &Members<'_>) -> String {
    format!(
        "no labels (`response`), prediction (`output`) or `generator` of an image: the record has the keys {}",
        keys(members)
    )
}
