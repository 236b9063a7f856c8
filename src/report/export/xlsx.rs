//! A workbook with a sheet for every table, and one in front that says what they are.

use std::collections::HashSet;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet};

use super::{Exported, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::Snapshot;

/// Rows that a sheet can hold, its header too.
const MOST_ROWS: usize = 1 << 20;
/// Columns that a sheet can hold.
const MOST_COLUMNS: usize = 16_384;
/// Integers above are not all doubles, which is what a sheet's numbers are.
const MOST_EXACT: u64 = 1 << 53;
/// Characters that a cell can hold.
const MOST_CHARS: usize = 32_767;
/// Characters of a sheet's name.
const NAME_CHARS: usize = 31;

/// A sheet for every table; a table longer than a sheet goes on in further ones.
pub fn xlsx(snapshot: &Snapshot, target: Target<'_>) -> Result<Exported> {
    let manifest = &snapshot.manifest;
    let mut names = SheetNames::default();
    let mut changes = Changes::default();
    let mut book = workbook()?;
    let mut about = Sheet::new(&names.take("about"), &["what", "name", "rows"])?;
    let parameters: Vec<_> = manifest.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    for (what, name) in [
        ("snapshot", &manifest.id),
        ("dataset", &manifest.dataset),
        ("protocol", &manifest.protocol),
        ("status", &manifest.status),
        ("parameters", &parameters.join(" ")),
        ("made by", &manifest.tool),
    ] {
        about.named(what, name, None, &mut changes)?;
    }
    let mut sheets = Vec::new();
    // The board in front, then from the coarse to the fine.
    let mut tables: Vec<_> = manifest.tables.iter().collect();
    tables.sort_by_key(|table| (table.name != "leaderboard", table.rows));
    for finding in manifest.findings.iter().filter(|finding| finding.is_told) {
        about.named("finding", &finding.text, None, &mut changes)?;
    }
    for table in tables {
        let columns: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut sheet = Sheet::new(&names.take(&table.name), &columns)?;
        about.named(&format!("sheet {}", sheet.name()), &table.name, Some(table.rows), &mut changes)?;
        for batch in snapshot.rows(&table.name, usize::MAX)? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if sheet.next as usize == MOST_ROWS {
                    let further = Sheet::new(&names.take(&table.name), &columns)?;
                    about.named(&format!("sheet {}", further.name()), &table.name, None, &mut changes)?;
                    sheets.push(std::mem::replace(&mut sheet, further));
                }
                sheet.row(&batch, row, &mut changes)?;
            }
        }
        sheets.push(sheet);
    }
    book.push_worksheet(about.finish()?);
    for sheet in sheets {
        book.push_worksheet(sheet.finish()?);
    }
    save(book, target, target.path)?;
    Ok(Exported { files: vec![target.path.to_path_buf()], notes: changes.notes() })
}

/// An empty workbook; nothing of the clock is in it, so that the same rows give the same bytes.
pub(super) fn workbook() -> Result<Workbook> {
    let mut book = Workbook::new();
    let start = ExcelDateTime::from_ymd(2000, 1, 1)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&start));
    Ok(book)
}

pub(super) fn save(mut book: Workbook, target: Target<'_>, path: &std::path::Path) -> Result<()> {
    let bytes = book.save_to_buffer()?;
    target.write(path, |out| std::io::Write::write_all(out, &bytes).map_err(|e| Error::io(path, "write", e)))
}

/// What had to be changed so that cells can hold it.
#[derive(Debug, Default)]
pub(super) struct Changes {
    cut: u64,
    escaped: u64,
    not_finite: u64,
}

impl Changes {
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cut > 0 {
            notes.push(format!("{} texts cut at {MOST_CHARS} characters", self.cut));
        }
        if self.escaped > 0 {
            notes.push(format!("{} texts hold control characters, written as _xHHHH_", self.escaped));
        }
        if self.not_finite > 0 {
            notes.push(format!("{} numbers that are not finite left empty", self.not_finite));
        }
        notes
    }
}

/// Names of sheets: 31 characters without `[ ] : * ? / \`, each once whatever its letters' case.
#[derive(Debug, Default)]
pub(super) struct SheetNames(HashSet<String>);

impl SheetNames {
    /// The name for a sheet about something of this name.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let clean =
            |c: char| if matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\') || c.is_control() { '-' } else { c };
        let clean: String = wanted.chars().map(clean).collect();
        // An apostrophe may not stand at an end, and `History` is Excel's own.
        let clean = match clean.trim_matches('\'') {
            "" => "sheet".to_owned(),
            name if name.eq_ignore_ascii_case("history") => format!("{name}_"),
            name => name.to_owned(),
        };
        for number in 1.. {
            let tail = if number == 1 { String::new() } else { format!(" ({number})") };
            let kept: String = cut(&clean, NAME_CHARS - tail.len());
            let name = kept + &tail;
            if self.0.insert(name.to_lowercase()) {
                return name;
            }
        }
        clean
    }
}

/// At most so many UTF-16 units, which is how Excel counts.
fn cut(text: &str, most: usize) -> String {
    let mut units = 0;
    text.chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= most
        })
        .collect()
}

/// A sheet that is filled row by row.
pub(super) struct Sheet {
    sheet: Worksheet,
    next: u32,
    number: Format,
    /// Characters of the widest text of each column.
    widths: Vec<usize>,
}

impl Sheet {
    pub(super) fn new(name: &str, columns: &[&str]) -> Result<Self> {
        let mut sheet = Worksheet::new();
        sheet.set_name(name)?;
        let bold = Format::new().set_bold();
        if columns.len() > MOST_COLUMNS {
            return Err(Error::new(
                ErrorKind::Input,
                format!("a sheet of {} columns; it can have {MOST_COLUMNS}", columns.len()),
            )
            .hint("export --json or --csv"));
        }
        for (at, column) in (0..).zip(columns) {
            sheet.write_string_with_format(0, at, cut(column, MOST_CHARS), &bold)?;
        }
        sheet.set_freeze_panes(1, 0)?;
        // Full precision is stored; two decimals are shown.
        let widths = columns.iter().map(|column| column.chars().count()).collect();
        Ok(Self { sheet, next: 1, number: Format::new().set_num_format("0.00"), widths })
    }

    pub(super) fn name(&self) -> String {
        self.sheet.name()
    }

    pub(super) fn finish(mut self) -> Result<Worksheet> {
        for (at, width) in (0..).zip(&self.widths) {
            self.sheet.set_column_width(at, (*width).clamp(8, 60) as f64 + 2.0)?;
        }
        Ok(self.sheet)
    }

    fn named(&mut self, what: &str, name: &str, rows: Option<u64>, changes: &mut Changes) -> Result<()> {
        self.text(0, what, changes)?;
        self.text(1, name, changes)?;
        if let Some(rows) = rows {
            self.sheet.write_number(self.next, 2, rows as f64)?;
        }
        self.next += 1;
        Ok(())
    }

    /// A name and scores behind it; an absent one leaves its cell empty.
    pub(super) fn scores(&mut self, name: &str, scores: &[Option<f64>], changes: &mut Changes) -> Result<()> {
        self.text(0, name, changes)?;
        for (at, score) in (1..).zip(scores) {
            self.double(at, *score)?;
        }
        self.next += 1;
        Ok(())
    }

    fn double(&mut self, at: u16, value: Option<f64>) -> Result<()> {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.sheet.write_number_with_format(self.next, at, value, &self.number)?;
        }
        Ok(())
    }

    /// A text as it is: never a formula or a link, whatever it begins with.
    fn text(&mut self, at: u16, text: &str, changes: &mut Changes) -> Result<()> {
        let kept = cut(text, MOST_CHARS);
        if let Some(width) = self.widths.get_mut(usize::from(at)) {
            *width = (*width).max(kept.chars().count());
        }
        changes.cut += u64::from(kept.len() < text.len());
        changes.escaped += u64::from(kept.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
        self.sheet.write_string(self.next, at, kept)?;
        Ok(())
    }

    fn row(&mut self, batch: &RecordBatch, row: usize, changes: &mut Changes) -> Result<()> {
        for (at, column) in (0..).zip(batch.columns()) {
            if column.is_null(row) {
                continue;
            }
            match column.data_type() {
                DataType::Utf8 => self.text(at, column.as_string::<i32>().value(row), changes)?,
                DataType::Boolean => {
                    self.sheet.write_boolean(self.next, at, column.as_boolean().value(row))?;
                }
                DataType::Int32 => {
                    self.sheet.write_number(self.next, at, column.as_primitive::<Int32Type>().value(row))?;
                }
                DataType::Int64 => {
                    let value = column.as_primitive::<Int64Type>().value(row);
                    match value.unsigned_abs() <= MOST_EXACT {
                        true => self.sheet.write_number(self.next, at, value as f64)?,
                        false => self.sheet.write_string(self.next, at, value.to_string())?,
                    };
                }
                DataType::Float64 => {
                    let value = column.as_primitive::<Float64Type>().value(row);
                    changes.not_finite += u64::from(!value.is_finite());
                    self.double(at, Some(value))?;
                }
                other => {
                    return Err(Error::new(ErrorKind::Check, format!("a result table has a column of {other}")));
                }
            }
        }
        self.next += 1;
        Ok(())
    }
}
