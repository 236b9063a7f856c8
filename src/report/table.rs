//! Tables for people.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, Width, presets};

use crate::error::Result;

/// Characters below which a column of texts is not squeezed.
const NARROWEST: u16 = 14;

/// How a table is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableOptions {
    /// As Markdown.
    pub markdown: bool,
    /// Leave out key columns that are empty in every row.
    pub hide_empty: bool,
    /// Columns of the terminal; `None` for as wide as needed.
    pub width: Option<u16>,
}

/// Draws the rows: doubles with two decimals, null as a dash.
pub fn render(schema: &SchemaRef, batches: &[RecordBatch], options: TableOptions) -> Result<String> {
    let mut shown: Vec<usize> = (0..schema.fields().len())
        .filter(|column| !(options.hide_empty && is_empty_key(schema.field(*column).name(), batches, *column)))
        .collect();
    if options.hide_empty {
        // What tells two entries of one model apart stands beside it, not past the edge of the window.
        let place = |name: &str| match name {
            "rank" | "ranks" | "group" => 0,
            "model" => 1,
            "model_revision" | "judge" => 2,
            _ => 3,
        };
        let has_model = shown.iter().any(|column| schema.field(*column).name() == "model");
        shown.sort_by_key(|column| if has_model { place(schema.field(*column).name()) } else { 0 });
    }
    let mut table = Table::new();
    if options.markdown {
        table.load_preset(presets::ASCII_MARKDOWN);
    } else {
        table.load_preset(presets::NOTHING);
        for part in [TableComponent::HeaderLines, TableComponent::MiddleHeaderIntersections] {
            table.set_style(part, '─');
        }
    }
    if let Some(width) = options.width {
        table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
    }
    let heading = |column: &usize| {
        let name = schema.field(*column).name();
        if options.width.is_some() { broken_at_underscores(name) } else { name.clone() }
    };
    table.set_header(shown.iter().map(heading));
    let mut rows = 0;
    let mut widest: Vec<usize> =
        shown.iter().map(|column| heading(column).lines().map(str::len).max().unwrap_or(0)).collect();
    for batch in batches {
        let cells =
            shown.iter().map(|column| texts(schema.field(*column).name(), batch.column(*column), options.markdown));
        let cells = cells.collect::<Result<Vec<_>>>()?;
        for (widest, column) in widest.iter_mut().zip(&cells) {
            *widest = column.iter().map(|text| text.chars().count()).chain([*widest]).max().unwrap_or(*widest);
        }
        for row in 0..batch.num_rows() {
            table.add_row(cells.iter().map(|column| column[row].clone()));
        }
        rows += batch.num_rows();
    }
    for (place, column) in shown.iter().enumerate() {
        let is_number = schema.field(*column).data_type().is_numeric();
        let Some(column) = table.column_mut(place) else { continue };
        if !options.markdown {
            column.set_padding((0, 1));
        }
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if options.width.is_some() {
            // A number or its name broken over two lines would be read as another one.
            let is_short = is_number || widest[place] <= usize::from(NARROWEST);
            let narrowest = ColumnConstraint::LowerBoundary(Width::Fixed(NARROWEST));
            column.set_constraint(if is_short { ColumnConstraint::ContentWidth } else { narrowest });
        }
    }
    let drawn: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    Ok(if rows == 0 && !options.markdown { drawn + "(no rows)\n" } else { drawn })
}

/// A long name over several lines, so that a column of short numbers stays narrow.
fn broken_at_underscores(name: &str) -> String {
    const LINE: usize = 9;
    let mut lines: Vec<String> = Vec::new();
    for piece in name.split_inclusive('_') {
        match lines.last_mut() {
            Some(line) if line.len() + piece.len() <= LINE => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.join("\n")
}

fn is_empty_key(name: &str, batches: &[RecordBatch], column: usize) -> bool {
    matches!(name, "model_revision" | "judge")
        && batches.iter().all(|batch| {
            let column = batch.column(column);
            match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().iter().all(|value| value == Some("")),
                DataType::Utf8View => column.as_string_view().iter().all(|value| value == Some("")),
                _ => false,
            }
        })
}

/// Whether a column holds p-values, of which the small ones matter.
fn is_chance(name: &str) -> bool {
    name == "p" || name.starts_with("p_")
}

/// A p-value: four decimals, none of them for what is smaller.
pub(crate) fn chance(value: f64) -> String {
    if value < 0.0001 { "<0.0001".into() } else { format!("{value:.4}") }
}

fn texts(name: &str, column: &dyn Array, markdown: bool) -> Result<Vec<String>> {
    const NULL: &str = "—";
    if *column.data_type() == DataType::Float64 {
        let values = column.as_primitive::<Float64Type>();
        let text = |value: f64| if is_chance(name) { chance(value) } else { format!("{value:.2}") };
        return Ok(values.iter().map(|value| value.map_or(NULL.into(), text)).collect());
    }
    let format = FormatOptions::default().with_null(NULL);
    let formatter = ArrayFormatter::try_new(column, &format)?;
    let clean = |row| {
        let text = printable(&formatter.value(row).to_string()).replace('\n', "\\n");
        if markdown { text.replace('|', "\\|") } else { text }
    };
    Ok((0..column.len()).map(clean).collect())
}

/// Control characters shown, not obeyed: data must not move the cursor or colour the terminal. Line ends stay.
pub(crate) fn printable(text: &str) -> String {
    let is_obeyed = |c: char| c.is_control() && c != '\n';
    if !text.contains(is_obeyed) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if is_obeyed(c) { c.escape_default().collect() } else { vec![c] }).collect()
}
