//! One line: a prompt, a question, an index to leave out, the answers about an image, a summary of them, or a score.

use sha2::{Digest, Sha256};

use super::{ErrorText, form_of};
use crate::ingest::members::{
    Members, Raw, first_of, integer_member, json_text, keys, note_ignored, number_member, shown, text_member,
};
use crate::ingest::{Form, Notes, SourceOptions};
use crate::python::json::{self, Node, Value};
use crate::python::strip;
use crate::source::hex;

/// Levels of questions.
const LEVELS: [&str; 3] = ["level_1", "level_2", "level_3"];
/// Names of scores that no other metric may have.
const OWN_SCORES: [&str; 4] = ["overall", "level_1", "level_2", "level_3"];

/// What a line says.
#[derive(Debug)]
pub(super) enum Record {
    Prompt { index: i64, prompt: String },
    Question(Question),
    Exclusion { index: i64 },
    Image(Image),
    Summary(Summary),
    Score { collection: String, run: String, index: i64, metric: String, score: Option<f64>, state: &'static str },
}

#[derive(Debug)]
pub(super) struct Question {
    pub index: i64,
    pub prompt: Option<String>,
    pub level: String,
    pub category: Option<String>,
    pub importance: Option<String>,
    pub question: String,
    pub gold_answer: Option<String>,
}

/// One image as checked.
#[derive(Debug)]
pub(super) struct Image {
    pub summary: Summary,
    pub prompt: Option<String>,
    pub is_error: bool,
    pub sha256: String,
    pub answers: Vec<Answer>,
}

/// Scores as the checker stored them.
#[derive(Debug)]
pub(super) struct Summary {
    pub index: i64,
    pub image: Option<String>,
    pub decision: Option<String>,
    pub levels: [Option<f64>; 3],
    pub overall: Option<f64>,
    /// Questions, yes, no, unknown.
    pub counts: [Option<i64>; 4],
}

#[derive(Debug)]
pub(super) struct Answer {
    pub level: String,
    pub category: Option<String>,
    pub importance: Option<String>,
    pub question: String,
    pub answer_read: Option<String>,
    pub rationale: Option<String>,
    /// Strict: ok, missing, invalid or parse_failed.
    pub state: &'static str,
    /// yes, no or unknown; what else there is counts as unknown.
    pub answer: &'static str,
}

impl Record {
    /// Index of the prompt it is about.
    pub(super) fn prompt_index(&self) -> i64 {
        match self {
            Self::Prompt { index, .. } | Self::Exclusion { index } | Self::Score { index, .. } => *index,
            Self::Question(question) => question.index,
            Self::Image(image) => image.summary.index,
            Self::Summary(summary) => summary.index,
        }
    }

    /// Takes a line apart; the error is the reason of a reject.
    pub(super) fn read(
        members: &Members<'_>,
        form: Form,
        errors: &[ErrorText],
        options: &SourceOptions,
        notes: &mut Notes,
    ) -> Result<Self, String> {
        let found = form_of(members).ok_or_else(|| {
            format!(
                "no per_question, question, prompt, overall_score or metric with an index: the record has the keys {}",
                keys(members)
            )
        })?;
        if found != form {
            return Err(format!(
                "another kind of record than those the file began with; its keys are {}",
                keys(members)
            ));
        }
        match form {
            Form::Answers if members.contains_key("per_question") => image(members, errors, notes).map(Self::Image),
            Form::Answers => summary_row(members, notes).map(Self::Summary),
            Form::Scores => score(members, options, notes),
            _ => metadata(members, notes),
        }
    }
}

fn metadata(members: &Members<'_>, notes: &mut Notes) -> Result<Record, String> {
    let index = integer_member(members, "index")?.ok_or("`index` is empty")?;
    if members.contains_key("question") {
        const READ: [&str; 9] = [
            "index",
            "prompt",
            "level",
            "category",
            "importance",
            "question",
            "gold_answer",
            "answer_space",
            "source_fact",
        ];
        note_ignored(members, |key| READ.contains(&key), notes);
        return Ok(Record::Question(Question {
            index,
            prompt: text_member(members, "prompt", notes)?,
            level: known_level(required(members, "level", notes)?)?,
            category: text_member(members, "category", notes)?,
            importance: text_member(members, "importance", notes)?,
            question: required(members, "question", notes)?,
            gold_answer: text_member(members, "gold_answer", notes)?,
        }));
    }
    if members.contains_key("prompt") {
        note_ignored(members, |key| ["index", "prompt"].contains(&key), notes);
        return Ok(Record::Prompt { index, prompt: required(members, "prompt", notes)? });
    }
    Ok(Record::Exclusion { index })
}

fn required(members: &Members<'_>, key: &str, notes: &mut Notes) -> Result<String, String> {
    match text_member(members, key, notes)? {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(format!("`{key}` is empty")),
    }
}

fn known_level(level: String) -> Result<String, String> {
    match LEVELS.contains(&level.as_str()) {
        true => Ok(level),
        false => Err(format!("`level` is {} where one of {} is due", shown(&level), LEVELS.join(", "))),
    }
}

/// A name that stands in a column, or on the command line for the whole file.
fn named(members: &Members<'_>, key: &str, setting: &str, given: &str, notes: &mut Notes) -> Result<String, String> {
    match text_member(members, key, notes)?.filter(|text| !text.is_empty()) {
        Some(name) => Ok(name),
        None if given.is_empty() => Err(format!("no `{key}`: give the column, or {setting} for the whole file")),
        None => Ok(given.to_owned()),
    }
}

fn score(members: &Members<'_>, options: &SourceOptions, notes: &mut Notes) -> Result<Record, String> {
    const READ: [&str; 6] = ["collection", "run", "prompt_index", "index", "metric", "score"];
    note_ignored(members, |key| READ.contains(&key), notes);
    let (score, state) = match number_member(members, "score") {
        Ok(Some(value)) if value.is_finite() => (Some(value), "ok"),
        Ok(Some(value)) if value.is_nan() => (None, "missing"),
        Ok(None) => (None, "missing"),
        _ => (None, "invalid"),
    };
    let metric = required(members, "metric", notes)?;
    if OWN_SCORES.contains(&metric.as_str()) {
        return Err(format!("a metric named `{metric}`, as FAGER's own score: give it another name"));
    }
    Ok(Record::Score {
        collection: named(members, "collection", "--collection", &options.collection, notes)?,
        run: named(members, "run", "--model", &options.model, notes)?,
        index: match integer_member(members, "prompt_index")? {
            Some(index) => index,
            None => integer_member(members, "index")?.ok_or("`prompt_index` is empty")?,
        },
        metric,
        score,
        state,
    })
}

/// The index, or else the number of the image: the first run of digits in its file's name.
fn index_of(members: &Members<'_>, image: Option<&str>) -> Result<i64, String> {
    if let Some(index) = integer_member(members, "index")? {
        return Ok(index);
    }
    let name = image.and_then(|image| image.rsplit(['/', '\\']).next()).unwrap_or("");
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(|_e| "no index, and no number in the image's name".to_owned())
}

fn summary_row(members: &Members<'_>, notes: &mut Notes) -> Result<Summary, String> {
    const READ: [&str; 15] = [
        "image_file",
        "image_id",
        "index",
        "decision",
        "level_1_score",
        "level_2_score",
        "level_3_score",
        "overall_score",
        "n_total",
        "n_yes",
        "n_no",
        "n_unknown",
        "regenerate_prompt",
        "edit_instruction",
        "image_path",
    ];
    note_ignored(members, |key| READ.contains(&key), notes);
    let image = first_of(members, &["image_file", "image_id"])
        .map(|key| text_member(members, key, notes))
        .transpose()?
        .flatten();
    let number = |key| number_member(members, key);
    let count = |key| integer_member(members, key);
    Ok(Summary {
        index: index_of(members, image.as_deref())?,
        image,
        decision: text_member(members, "decision", notes)?,
        levels: [number("level_1_score")?, number("level_2_score")?, number("level_3_score")?],
        overall: number("overall_score")?,
        counts: [count("n_total")?, count("n_yes")?, count("n_no")?, count("n_unknown")?],
    })
}

fn image(members: &Members<'_>, errors: &[ErrorText], notes: &mut Notes) -> Result<Image, String> {
    const READ: [&str; 10] = [
        "index",
        "image_id",
        "image_file",
        "image_path",
        "original_prompt",
        "gating",
        "scores",
        "answer_counts",
        "per_question",
        "next_step",
    ];
    note_ignored(members, |key| READ.contains(&key) || key == "improvement_suggestions", notes);
    let image = first_of(members, &["image_id", "image_file"])
        .map(|key| text_member(members, key, notes))
        .transpose()?
        .flatten();
    let mut part = |key: &str| -> Result<String, String> {
        let text = members.get(key).map_or(Ok(None), |raw: &Raw<'_>| json_text(*raw, notes))?;
        Ok(text.map_or_else(|| "{}".to_owned(), std::borrow::Cow::into_owned))
    };
    let (questions, gating, scores, counts) =
        (part("per_question")?, part("gating")?, part("scores")?, part("answer_counts")?);
    let mut answers = answers(&questions)?;
    let failed = |answer: &Answer| {
        answer.answer == "unknown"
            && answer.rationale.as_deref().is_some_and(|rationale| errors.iter().any(|error| error.is_in(rationale)))
    };
    // The checker asks level by level: it failed where every answer of a level is unknown with an error text.
    let has_failed = |level: &str| {
        let mut of_level = answers.iter().filter(|answer| answer.level == level).peekable();
        of_level.peek().is_some() && of_level.all(failed)
    };
    let failed_levels: Vec<&str> = LEVELS.into_iter().filter(|level| has_failed(level)).collect();
    let is_error = !failed_levels.is_empty();
    notes.add(
        "images on which the checker failed at a level: all answers unknown, with an error text",
        u64::from(is_error),
    );
    for answer in answers.iter_mut().filter(|answer| failed_levels.contains(&answer.level.as_str())) {
        answer.state = "parse_failed";
    }
    let level = |name: &str| number_at(&scores, "scores", &["level_scores", name]);
    let count = |name: &str| match number_at(&counts, "answer_counts", &[name])? {
        Some(count) if count.fract() != 0.0 => {
            Err(format!("`answer_counts.{name}` is {count} where an integer is due"))
        }
        count => Ok(count.map(|count| count as i64)),
    };
    Ok(Image {
        sha256: hex(&Sha256::digest(questions.as_bytes())),
        prompt: text_member(members, "original_prompt", notes)?,
        is_error,
        summary: Summary {
            index: index_of(members, image.as_deref())?,
            image,
            decision: text_at(&gating, "gating", "decision")?,
            levels: [level("level_1")?, level("level_2")?, level("level_3")?],
            overall: number_at(&scores, "scores", &["overall_score"])?,
            counts: [count("total")?, count("yes")?, count("no")?, count("unknown")?],
        },
        answers,
    })
}

fn answers(json: &str) -> Result<Vec<Answer>, String> {
    let items = match json::parse(json).map(|node| node.value) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Object(members)) if members.is_empty() => Vec::new(),
        Ok(other) => return Err(format!("`per_question` is {} where a list is due", other.kind())),
        Err(error) => return Err(format!("`per_question` is not JSON: {} at byte {}", error.what, error.at + 1)),
    };
    items
        .iter()
        .enumerate()
        .map(|(at, item)| answer(item).map_err(|reason| format!("question {}: {reason}", at + 1)))
        .collect()
}

fn answer(item: &Node<'_>) -> Result<Answer, String> {
    let Value::Object(members) = &item.value else {
        return Err(format!("{} where an object is due", item.value.kind()));
    };
    let text = |name: &str| match members
        .iter()
        .rev()
        .find(|(key, _)| key == name)
        .map(|(_, node)| (&node.value, node.text))
    {
        None | Some((Value::Null, _)) => None,
        Some((Value::String(text), _)) => Some(text.to_string()),
        Some((_, json)) => Some(json.to_owned()),
    };
    let answer_read = text("answer");
    let (state, answer) = match answer_read.as_deref().map(|text| strip(text).to_lowercase()).as_deref() {
        None | Some("") => ("missing", "unknown"),
        Some("yes") => ("ok", "yes"),
        Some("no") => ("ok", "no"),
        Some("unknown") => ("ok", "unknown"),
        Some(_) => ("invalid", "unknown"),
    };
    Ok(Answer {
        level: known_level(text("level").ok_or("no level")?)?,
        category: text("category"),
        importance: text("importance"),
        question: text("question").ok_or("no question")?,
        answer_read,
        rationale: text("rationale"),
        state,
        answer,
    })
}

/// The value at a path in JSON that stands under `key`; absent and null are none.
fn value_at<'j>(json: &'j str, key: &str, path: &[&str]) -> Result<Option<Value<'j>>, String> {
    let mut value = json::parse(json).map_err(|error| format!("`{key}` is not JSON: {}", error.what))?.value;
    for name in path {
        value = match value {
            Value::Object(members) => match members.into_iter().rev().find(|(found, _)| found == name) {
                Some((_, node)) => node.value,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return Err(format!("`{key}` has {} where an object is due", other.kind())),
        };
    }
    Ok(if value == Value::Null { None } else { Some(value) })
}

fn number_at(json: &str, key: &str, path: &[&str]) -> Result<Option<f64>, String> {
    let number = match value_at(json, key, path)? {
        None => return Ok(None),
        Some(Value::Int(digits)) => digits.parse().ok(),
        Some(Value::Float(value)) if value.is_finite() => Some(value),
        Some(_) => None,
    };
    number.map(Some).ok_or_else(|| format!("`{key}.{}` is no finite number", path.join(".")))
}

fn text_at(json: &str, key: &str, name: &str) -> Result<Option<String>, String> {
    match value_at(json, key, &[name])? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.into_owned())),
        Some(other) => Err(format!("`{key}.{name}` is {} where a text is due", other.kind())),
    }
}
