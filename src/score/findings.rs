//! What a reader of the numbers should know before believing them.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use serde::Serialize;

use crate::error::Result;
use crate::lake::session::Engine;

/// Facts about the input that change how the result may be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Prompts with metadata in the lake.
    pub prompts_with_metadata: i64,
    /// Prompts that have replies but no metadata.
    pub unmatched: i64,
    /// The first of them.
    pub unmatched_examples: Vec<i64>,
    /// Judgments that count differently under the two readings.
    pub readings_differ: i64,
    /// Judgments.
    pub judgments: i64,
    /// Replies set aside as duplicates.
    pub set_aside: i64,
    /// Judges on the board.
    pub judges: i64,
}

/// Asks the lake, in the session that scored it.
pub fn findings(engine: &Engine) -> Result<Findings> {
    let one = |sql: &str| -> Result<Vec<i64>> {
        let batches = engine.query(sql)?;
        let columns = batches.iter().flat_map(|batch| batch.columns());
        Ok(columns.flat_map(|column| column.as_primitive::<Int64Type>().values().to_vec()).collect())
    };
    let count = |sql: &str| -> Result<i64> { Ok(one(sql)?.iter().sum()) };
    let known = count("SELECT count(*) FROM prompts WHERE has_metadata")?;
    let unmatched = "FROM (SELECT DISTINCT prompt_id FROM replies) AS r
         LEFT ANTI JOIN (SELECT prompt_id FROM prompts WHERE has_metadata) AS p ON r.prompt_id = p.prompt_id";
    let differ = one(
        "SELECT count(*) AS n,
                count(CASE WHEN coalesce(CASE WHEN in_rubric THEN value END, -1) <> coalesce(value_official, -1) THEN 1 END) AS differ
         FROM judgments",
    )?;
    Ok(Findings {
        prompts_with_metadata: known,
        unmatched: if known == 0 { 0 } else { count(&format!("SELECT count(*) {unmatched}"))? },
        unmatched_examples: if known == 0 {
            Vec::new()
        } else {
            one(&format!("SELECT r.prompt_id {unmatched} ORDER BY r.prompt_id LIMIT 5"))?
        },
        judgments: differ.first().copied().unwrap_or(0),
        readings_differ: differ.get(1).copied().unwrap_or(0),
        set_aside: count("SELECT count(*) FROM set_aside")?,
        judges: count("SELECT count(DISTINCT judge) FROM replies")?,
    })
}
