//! AGIQA-3K: human scores of images, predictions of metrics, and single ratings.

mod record;

use std::collections::BTreeSet;

use self::record::{Image, Prediction, Rating, Record};
use super::direction::Directions;
use super::members::{self, Members, first_of, shown};
use super::walk::{form_by, walk};
use super::{Classified, Form, Reader, SegmentTables, SourceOptions, TableBuilder};
use crate::assets::Assets;
use crate::error::Result;
use crate::schema::TableSchema;
use crate::source::{Location, Segment};

/// The dataset's id.
pub const DATASET: &str = "agiqa-3k";

/// The reader.
pub struct Agiqa3k {
    directions: Directions,
    images: TableSchema,
    predictions: TableSchema,
    ratings: TableSchema,
}

impl Agiqa3k {
    /// A reader with the schemas and known metrics of these assets.
    pub fn new(assets: &Assets) -> Result<Self> {
        let table = |name| TableSchema::load(assets, DATASET, name);
        Ok(Self {
            directions: Directions::load(assets)?,
            images: table("images")?,
            predictions: table("predictions")?,
            ratings: table("ratings")?,
        })
    }

    fn tables(&self, mut records: Vec<(u64, Record)>, source: &str) -> Result<SegmentTables> {
        let (mut images, mut predictions, mut ratings) = (Vec::new(), Vec::new(), Vec::new());
        for (line, record) in records.drain(..) {
            match record {
                Record::Image(image, found) => {
                    images.push((line, image));
                    predictions.extend(found.into_iter().map(|found| (line, found)));
                }
                Record::Predictions(found) => predictions.extend(found.into_iter().map(|found| (line, found))),
                Record::Rating(rating) => ratings.push((line, rating)),
            }
        }
        images.sort_by(|a, b| (&a.1.name, a.0).cmp(&(&b.1.name, b.0)));
        predictions.sort_by(|a, b| (&a.1.metric, &a.1.name, a.0).cmp(&(&b.1.metric, &b.1.name, b.0)));
        ratings.sort_by(|a, b| (a.1.key(), a.0).cmp(&(b.1.key(), b.0)));
        let tables = vec![
            ("images", self.image_rows(&images, source)?),
            ("predictions", self.prediction_rows(&predictions, source)?),
            ("ratings", self.rating_rows(&ratings, source)?),
        ];
        Ok(SegmentTables { tables, ..SegmentTables::default() })
    }

    fn image_rows(&self, rows: &[(u64, Image)], source: &str) -> Result<arrow::array::RecordBatch> {
        let mut table = TableBuilder::new(&self.images);
        for (line, image) in rows {
            table
                .text(Some(&image.name))?
                .text(image.generator.as_deref())?
                .text(image.variant.as_deref())?
                .int(image.prompt_number)?
                .text(image.prompt.as_deref())?
                .text(image.subject.as_deref())?
                .text(image.adj1.as_deref())?
                .text(image.adj2.as_deref())?
                .text(image.style.as_deref())?
                .int(Some(image.length()))?
                .float(image.mos_quality)?
                .float(image.std_quality)?
                .float(image.mos_align)?
                .float(image.std_align)?
                .text(Some(source))?
                .int(Some(*line as i64))?;
        }
        table.finish()
    }

    fn prediction_rows(&self, rows: &[(u64, Prediction)], source: &str) -> Result<arrow::array::RecordBatch> {
        let mut table = TableBuilder::new(&self.predictions);
        for (line, prediction) in rows {
            table
                .text(Some(&prediction.metric))?
                .text(Some(&prediction.name))?
                .float(prediction.value)?
                .text(Some(prediction.state))?
                .bool(prediction.lower_is_better)?
                .text(Some(source))?
                .int(Some(*line as i64))?;
        }
        table.finish()
    }

    fn rating_rows(&self, rows: &[(u64, Rating)], source: &str) -> Result<arrow::array::RecordBatch> {
        let mut table = TableBuilder::new(&self.ratings);
        for (line, rating) in rows {
            table
                .text(Some(&rating.target))?
                .text(Some(&rating.session))?
                .text(Some(&rating.subject))?
                .text(Some(&rating.item))?
                .float(rating.score)?
                .text(Some(rating.state))?
                .text(Some(source))?
                .int(Some(*line as i64))?;
        }
        table.finish()
    }
}

/// The form of a record; `None` if it is none of this dataset's.
fn form_of(members: &Members<'_>) -> Option<Form> {
    let has = |key: &str| members.contains_key(key);
    if has("subject") && has("score") && first_of(members, &record::ITEMS).is_some() {
        Some(Form::Ratings)
    } else if has("name") && (has("mos_quality") || has("mos_align")) {
        Some(Form::Human)
    } else if has("name") && record::metrics(members).next().is_some() {
        Some(Form::Scores)
    } else {
        None
    }
}

impl Reader for Agiqa3k {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        format!("1 lower: {}", self.directions.identity())
    }

    fn form(&self, segment: &Segment) -> Option<Form> {
        form_by(segment, form_of)
    }

    fn setting_is_about(&self, setting: &str) -> Option<&'static str> {
        (setting == "--direction").then_some("a file of predictions")
    }

    fn classify(&self, form: Form, _location: &Location, options: &SourceOptions) -> Result<Classified> {
        let direction = if form != Form::Ratings { options.direction.clone() } else { String::new() };
        Ok(Classified {
            form,
            options: SourceOptions { direction, ..SourceOptions::default() },
            takes_provenance: false,
        })
    }

    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables> {
        let is_lower = |metric: &str| self.directions.is_lower_better(&file.options, metric);
        let mut seen = BTreeSet::new();
        let mut walked = walk(segment, |found, notes| {
            let members = members::members(found.content, notes)?;
            seen.extend(record::metrics(&members).map(str::to_owned));
            Record::read(&members, file.form, &is_lower, notes)
        });
        for name in Directions::named(&file.options)
            .filter(|name| !seen.iter().any(|seen: &String| seen.eq_ignore_ascii_case(name)))
        {
            walked.notes.add_listed("--direction names no metric of the file: ", &shown(name), 1);
        }
        walked.finish(|records| self.tables(records, source))
    }
}
