//! The rows of a sample's query: whose values, of what, on which unit.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, Float64Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Float64Type, Int64Type};

use crate::error::{Error, ErrorKind, Result};
use crate::lake::session::Engine;
use crate::pipeline::{Parameter, PlannedSample};

/// Who is scored: a model, an assessor, a metric or a run, within what may be set side by side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Language of the prompts, collection, split: what scores must share to be compared; empty where there is no such thing.
    pub scope: String,
    /// The model, assessor, metric or run.
    pub model: String,
    /// Its revision, empty by default.
    pub model_revision: String,
    /// The judge, empty by default.
    pub judge: String,
}

impl Entry {
    /// `model`, `model@revision`, `model#judge` or `model@revision#judge`.
    pub fn label(&self) -> String {
        let mut label = self.model.clone();
        for (mark, part) in [('@', &self.model_revision), ('#', &self.judge)] {
            if !part.is_empty() {
                label.push(mark);
                label.push_str(part);
            }
        }
        label
    }
}

/// Columns of samples that are texts.
const TEXTS: [&str; 8] = ["scope", "model", "model_revision", "judge", "item", "unit", "statistic", "pattern"];

/// The rows of a query, column by column, by place.
pub struct SampleRows {
    batch: RecordBatch,
    texts: BTreeMap<usize, StringArray>,
}

impl SampleRows {
    /// Runs a sample's query; its columns must be those of its kind.
    pub fn read(engine: &Engine, sample: &PlannedSample, parameters: &BTreeMap<String, Parameter>) -> Result<Self> {
        let frame = engine.plan_with(&sample.sql.text, parameters).map_err(|e| e.with("file", &sample.sql.path))?;
        sample
            .require_columns(&frame.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>())?;
        let schema = frame.schema().inner().clone();
        let batches = engine.collect(frame).map_err(|e| e.with("file", &sample.sql.path))?;
        let schema = batches.first().map_or(schema, RecordBatch::schema);
        let batch = concat_batches(&schema, &batches)?;
        for field in batch.schema().fields() {
            let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8);
            if is_text != TEXTS.contains(&field.name().as_str()) {
                let wanted = if is_text { "a number" } else { "a text" };
                return Err(Error::new(ErrorKind::Config, format!("the column `{}` must be {wanted}", field.name()))
                    .with("file", &sample.sql.path));
            }
        }
        let mut texts = BTreeMap::new();
        for (at, column) in batch.columns().iter().enumerate() {
            if matches!(column.data_type(), DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8) {
                texts.insert(at, cast(column, &DataType::Utf8)?.as_string::<i32>().clone());
            }
        }
        Ok(Self { batch, texts })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A text; null is empty.
    pub fn text(&self, row: usize, column: usize) -> &str {
        match self.texts.get(&column) {
            Some(texts) if texts.is_valid(row) => texts.value(row),
            _ => "",
        }
    }

    /// The entry, which the first four columns name.
    pub fn entry(&self, row: usize) -> Entry {
        let text = |column| self.text(row, column).to_owned();
        Entry { scope: text(0), model: text(1), model_revision: text(2), judge: text(3) }
    }

    /// A column of doubles; null is NaN.
    pub fn doubles(&self, column: usize) -> Result<Vec<f64>> {
        let values: Float64Array =
            cast(self.batch.column(column), &DataType::Float64)?.as_primitive::<Float64Type>().clone();
        Ok(values.iter().map(|value| value.unwrap_or(f64::NAN)).collect())
    }

    /// A column of counts; there is one in every row.
    pub fn counts(&self, column: usize) -> Result<Vec<u64>> {
        let values = cast(self.batch.column(column), &DataType::Int64)?;
        let name = self.batch.schema().field(column).name().clone();
        let counted = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let counts: Option<Vec<u64>> = values.as_primitive::<Int64Type>().iter().map(counted).collect();
        counts.ok_or_else(|| {
            Error::new(ErrorKind::Config, format!("a sample has no count, or one below zero, in `{name}`"))
        })
    }
}

/// One column of observations: the values of one entry and item, NaN where a unit has none.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Whose they are.
    pub entry: Entry,
    /// Of what: empty for the table's own score, else names joined by ` / `.
    pub item: String,
    /// Place of the sample among those that were given.
    pub sample: usize,
    /// A value a unit.
    pub values: Vec<f64>,
}

impl Observed {
    /// The values that are there.
    pub fn present(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().copied().filter(|value| !value.is_nan())
    }
}

/// Observations over one set of units, in the order of their keys.
#[derive(Debug, Clone, Default)]
pub struct Observations {
    /// Keys of the units, ascending.
    pub units: Vec<String>,
    /// Columns, by sample, entry and item.
    pub columns: Vec<Observed>,
}

impl Observations {
    /// Gathers samples that have units; those whose units are their scope's own give a set a scope.
    pub fn gather(samples: &[(&PlannedSample, SampleRows)]) -> Result<Vec<Self>> {
        let mut families: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, (sample, rows)) in samples.iter().enumerate() {
            for row in 0..rows.len() {
                let family = if sample.entry.units_by_scope { rows.text(row, 0) } else { "" };
                match families.get_mut(family) {
                    Some(members) => members.push((place, row)),
                    None => {
                        families.insert(family.to_owned(), vec![(place, row)]);
                    }
                }
            }
        }
        let values: Vec<Vec<f64>> = samples.iter().map(|(_, rows)| rows.doubles(6)).collect::<Result<_>>()?;
        families.into_values().map(|members| Self::align(samples, &values, &members)).collect()
    }

    fn align(
        samples: &[(&PlannedSample, SampleRows)],
        values: &[Vec<f64>],
        members: &[(usize, usize)],
    ) -> Result<Self> {
        let unit_of = |(place, row): (usize, usize)| samples[place].1.text(row, 5);
        let mut units: Vec<&str> = members.iter().map(|member| unit_of(*member)).collect();
        units.sort_unstable();
        units.dedup();
        let mut columns: BTreeMap<(usize, Entry, &str), Vec<f64>> = BTreeMap::new();
        for (place, row) in members.iter().copied() {
            let (sample, rows) = &samples[place];
            let (Ok(unit), value) = (units.binary_search(&unit_of((place, row))), values[place][row]) else { continue };
            let key = (place, rows.entry(row), rows.text(row, 4));
            let column = columns.entry(key).or_insert_with(|| vec![f64::NAN; units.len()]);
            if !column[unit].is_nan() {
                return Err(Error::new(ErrorKind::Check, "two values of one unit in a sample")
                    .with("file", &sample.sql.path)
                    .with("model", rows.entry(row).label())
                    .with("item", rows.text(row, 4))
                    .with("unit", units[unit]));
            }
            column[unit] = value;
        }
        let column = |((sample, entry, item), values): ((usize, Entry, &str), Vec<f64>)| Observed {
            entry,
            item: item.to_owned(),
            sample,
            values,
        };
        // A column without any value says nothing.
        let columns = columns.into_iter().map(column).filter(|column| column.present().next().is_some()).collect();
        Ok(Self { units: units.into_iter().map(str::to_owned).collect(), columns })
    }
}

/// Marks the scope of an earlier snapshot's entries beside those of a later one: no language or collection begins so.
const BEFORE: &str = "\0before\0";

/// Sets the columns of an earlier snapshot beside those of a later one, on the later one's units; gives the pairs of entries, the later one
/// first. `is_same` says whether two places name one sample.
pub fn side_by_side(
    later: &[Observations],
    earlier: &[Observations],
    is_same: impl Fn(usize, usize) -> bool,
) -> (Vec<Observations>, Vec<(Entry, Entry)>) {
    let mut known: BTreeMap<(&Entry, &str), Vec<(&Observations, &Observed)>> = BTreeMap::new();
    for set in earlier {
        for column in &set.columns {
            known.entry((&column.entry, &column.item)).or_default().push((set, column));
        }
    }
    let mut pairs = std::collections::BTreeSet::new();
    let mut joined = later.to_vec();
    for set in &mut joined {
        let mut added = Vec::new();
        for column in &set.columns {
            let candidates = known.get(&(&column.entry, column.item.as_str())).into_iter().flatten();
            let Some((other_set, other)) =
                candidates.into_iter().find(|(_, other)| is_same(column.sample, other.sample))
            else {
                continue;
            };
            let mut values = vec![f64::NAN; set.units.len()];
            for (unit, value) in other_set.units.iter().zip(&other.values) {
                if let Ok(place) = set.units.binary_search(unit) {
                    values[place] = *value;
                }
            }
            let entry = Entry { scope: format!("{BEFORE}{}", column.entry.scope), ..column.entry.clone() };
            pairs.insert((column.entry.clone(), entry.clone()));
            added.push(Observed { entry, item: column.item.clone(), sample: column.sample, values });
        }
        set.columns.extend(added);
    }
    (joined, pairs.into_iter().collect())
}
