//! Records become rows of the dataset's tables.

use arrow::array::RecordBatch;

use super::record::{Image, Question, Record, Summary};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{SourceOptions, TableBuilder};
use crate::schema::TableSchema;

/// The tables of a segment.
pub(super) struct Tables<'a> {
    pub schemas: &'a [TableSchema],
    pub source: &'a str,
    pub options: &'a SourceOptions,
    pub is_lower: &'a dyn Fn(&str) -> bool,
}

type Sorted<'r, T> = Vec<(i64, &'r T)>;

impl<'a> Tables<'a> {
    fn table(&self, name: &str) -> Result<TableBuilder<'a>> {
        let schema = self.schemas.iter().find(|schema| schema.table == name);
        schema.map(TableBuilder::new).ok_or_else(|| Error::new(ErrorKind::Check, "no such table").with("table", name))
    }

    /// All rows, each table in its order.
    pub(super) fn fill(&self, mut records: Vec<(u64, Record)>) -> Result<Vec<(&'static str, RecordBatch)>> {
        records.sort_by_key(|(line, record)| (record.prompt_index(), *line));
        let (mut questions, mut images, mut summaries): (Sorted<Question>, Sorted<Image>, Sorted<Summary>) =
            (Vec::new(), Vec::new(), Vec::new());
        let mut prompts = self.table("prompts")?;
        let mut exclusions = self.table("exclusions")?;
        let collection = Some(self.options.collection.as_str());
        let mut scores = Vec::new();
        for (line, record) in &records {
            let line = *line as i64;
            match record {
                Record::Prompt { index, prompt } => {
                    prompts
                        .text(collection)?
                        .int(Some(*index))?
                        .text(Some(prompt))?
                        .text(Some(self.source))?
                        .int(Some(line))?;
                }
                Record::Exclusion { index } => {
                    exclusions.text(collection)?.int(Some(*index))?.text(Some(self.source))?.int(Some(line))?;
                }
                Record::Question(question) => questions.push((line, question)),
                Record::Image(image) => images.push((line, image)),
                Record::Summary(summary) => summaries.push((line, summary)),
                Record::Score { .. } => scores.push((line, record)),
            }
        }
        Ok(vec![
            ("prompts", prompts.finish()?),
            ("exclusions", exclusions.finish()?),
            ("questions", self.questions(questions)?),
            ("images", self.images(&images)?),
            ("answers", self.answers(&images)?),
            ("summaries", self.summaries(&summaries)?),
            ("scores", self.scores(scores)?),
        ])
    }

    fn questions(&self, mut rows: Sorted<'_, Question>) -> Result<RecordBatch> {
        rows.sort_by(|(a_line, a), (b_line, b)| {
            (a.index, &a.level, &a.question, a_line).cmp(&(b.index, &b.level, &b.question, b_line))
        });
        let mut table = self.table("questions")?;
        for (line, row) in rows {
            table
                .text(Some(&self.options.collection))?
                .int(Some(row.index))?
                .text(Some(&row.level))?
                .text(Some(&row.question))?
                .text(row.category.as_deref())?
                .text(row.importance.as_deref())?
                .text(row.gold_answer.as_deref())?
                .text(row.prompt.as_deref())?
                .text(Some(self.source))?
                .int(Some(line))?;
        }
        table.finish()
    }

    /// The columns that tell a run's image.
    fn key<'t>(&self, table: &'t mut TableBuilder<'a>, index: i64) -> Result<&'t mut TableBuilder<'a>> {
        let SourceOptions { collection, model, model_revision, judge, .. } = self.options;
        table.text(Some(collection))?.text(Some(model))?.text(Some(model_revision))?.text(Some(judge))?.int(Some(index))
    }

    fn stored<'t>(&self, table: &'t mut TableBuilder<'a>, row: &Summary) -> Result<&'t mut TableBuilder<'a>> {
        table.text(row.image.as_deref())?.text(row.decision.as_deref())?;
        for level in row.levels {
            table.float(level)?;
        }
        table.float(row.overall)?;
        for count in row.counts {
            table.int(count)?;
        }
        Ok(table)
    }

    fn images(&self, rows: &Sorted<'_, Image>) -> Result<RecordBatch> {
        let mut table = self.table("images")?;
        for (line, row) in rows {
            self.key(&mut table, row.summary.index)?;
            self.stored(&mut table, &row.summary)?
                .text(row.prompt.as_deref())?
                .int(Some(row.answers.len() as i64))?
                .bool(row.is_error)?
                .text(Some(&row.sha256))?
                .text(Some(self.source))?
                .int(Some(*line))?;
        }
        table.finish()
    }

    fn summaries(&self, rows: &Sorted<'_, Summary>) -> Result<RecordBatch> {
        let mut table = self.table("summaries")?;
        for (line, row) in rows {
            self.key(&mut table, row.index)?;
            self.stored(&mut table, row)?.text(Some(self.source))?.int(Some(*line))?;
        }
        table.finish()
    }

    fn answers(&self, rows: &Sorted<'_, Image>) -> Result<RecordBatch> {
        let mut table = self.table("answers")?;
        for (line, row) in rows {
            for (position, answer) in (1..).zip(&row.answers) {
                let rationale = answer.rationale.as_deref().filter(|_| self.options.keep_text);
                self.key(&mut table, row.summary.index)?
                    .int(Some(position))?
                    .text(Some(&answer.level))?
                    .text(answer.category.as_deref())?
                    .text(answer.importance.as_deref())?
                    .text(Some(&answer.question))?
                    .text(answer.answer_read.as_deref())?
                    .text(Some(answer.answer))?
                    .text(Some(answer.state))?
                    .text(rationale)?
                    .text(Some(self.source))?
                    .int(Some(*line))?;
            }
        }
        table.finish()
    }

    fn scores(&self, mut rows: Vec<(i64, &Record)>) -> Result<RecordBatch> {
        let key = |record: &Record| match record {
            Record::Score { collection, run, index, metric, .. } => {
                (collection.clone(), run.clone(), metric.clone(), *index)
            }
            _ => (String::new(), String::new(), String::new(), 0),
        };
        rows.sort_by_cached_key(|(line, record)| (key(record), *line));
        let mut table = self.table("scores")?;
        for (line, record) in rows {
            let Record::Score { collection, run, index, metric, score, state } = record else { continue };
            table
                .text(Some(collection))?
                .text(Some(run))?
                .text(Some(metric))?
                .int(Some(*index))?
                .float(*score)?
                .text(Some(state))?
                .bool((self.is_lower)(metric))?
                .text(Some(self.source))?
                .int(Some(line))?;
        }
        table.finish()
    }
}
