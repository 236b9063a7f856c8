//! One line: an image with its mean opinion scores, predictions about an image, or one rating of one person.

use super::form_of;
use crate::ingest::members::{Members, Raw, first_of, keys, note_ignored, number_member, shown, text_member};
use crate::ingest::{Form, Notes};

/// Keys under which the rated item stands.
pub(super) const ITEMS: [&str; 2] = ["item", "name"];
/// Columns beside `name` that are no metric.
const NO_METRICS: [&str; 17] = [
    "name",
    "prompt",
    "adj1",
    "adj2",
    "style",
    "generator",
    "variant",
    "model",
    "path",
    "image",
    "caption",
    "text",
    "id",
    "index",
    "split",
    "subject",
    "category",
];

/// What a line says.
#[derive(Debug)]
pub(super) enum Record {
    /// An image, and what else the line has of numbers about it.
    Image(Image, Vec<Prediction>),
    Predictions(Vec<Prediction>),
    Rating(Rating),
}

#[derive(Debug)]
pub(super) struct Image {
    pub name: String,
    pub generator: Option<String>,
    pub variant: Option<String>,
    pub prompt_number: Option<i64>,
    pub prompt: Option<String>,
    pub subject: Option<String>,
    pub adj1: Option<String>,
    pub adj2: Option<String>,
    pub style: Option<String>,
    pub mos_quality: Option<f64>,
    pub std_quality: Option<f64>,
    pub mos_align: Option<f64>,
    pub std_align: Option<f64>,
}

#[derive(Debug)]
pub(super) struct Prediction {
    pub metric: String,
    pub name: String,
    pub value: Option<f64>,
    pub state: &'static str,
    pub lower_is_better: bool,
}

#[derive(Debug)]
pub(super) struct Rating {
    pub target: String,
    pub session: String,
    pub subject: String,
    pub item: String,
    pub score: Option<f64>,
    pub state: &'static str,
}

impl Rating {
    pub(super) fn key(&self) -> (&str, &str, &str, &str) {
        (&self.target, &self.session, &self.subject, &self.item)
    }
}

impl Image {
    /// The length class: how many modifiers the prompt has, 0 to 3.
    pub(super) fn length(&self) -> i64 {
        [&self.adj1, &self.adj2, &self.style].iter().filter(|modifier| modifier.is_some()).count() as i64
    }
}

/// The columns that are metrics.
pub(super) fn metrics<'m>(members: &'m Members<'_>) -> impl Iterator<Item = &'m str> {
    members.keys().map(AsRef::as_ref).filter(|key| !NO_METRICS.contains(key))
}

impl Record {
    /// Takes a line apart; the error is the reason of a reject.
    pub(super) fn read(
        members: &Members<'_>,
        form: Form,
        is_lower: &dyn Fn(&str) -> bool,
        notes: &mut Notes,
    ) -> Result<Self, String> {
        match (form, form_of(members)) {
            (Form::Human, Some(Form::Human)) => image(members, is_lower, notes),
            (Form::Scores, Some(Form::Scores)) => predictions(members, is_lower, notes).map(Self::Predictions),
            (Form::Ratings, Some(Form::Ratings)) => rating(members, notes).map(Self::Rating),
            (_, None) => Err(format!(
                "no column `name` with human scores (mos_quality, mos_align) or metrics, and no rating (subject, item, score): the record has the keys {}",
                keys(members)
            )),
            _ => Err(format!("another kind of record than those the file began with; its keys are {}", keys(members))),
        }
    }
}

fn required(members: &Members<'_>, key: &str, notes: &mut Notes) -> Result<String, String> {
    match text_or_number(members, key, notes)? {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(format!("`{key}` is empty")),
    }
}

/// A text; numbers, such as of sessions, are texts here.
fn text_or_number(members: &Members<'_>, key: &str, notes: &mut Notes) -> Result<Option<String>, String> {
    match members.get(key) {
        Some(Raw::Other(number)) if number.parse::<f64>().is_ok() => Ok(Some((*number).to_owned())),
        _ => text_member(members, key, notes),
    }
}

fn image(members: &Members<'_>, is_lower: &dyn Fn(&str) -> bool, notes: &mut Notes) -> Result<Record, String> {
    const READ: [&str; 9] =
        ["name", "prompt", "adj1", "adj2", "style", "mos_quality", "std_quality", "mos_align", "std_align"];
    let name = required(members, "name", notes)?;
    // A column beside those of the dataset is a metric if it holds a number; a text is passed over.
    let further = metrics(members).filter(|key| !READ.contains(key));
    let further: Vec<&str> = further.filter(|key| matches!(number_member(members, key), Ok(Some(_)))).collect();
    note_ignored(members, |key| READ.contains(&key) || further.contains(&key), notes);
    let predictions = further.iter().map(|metric| prediction(members, &name, metric, is_lower)).collect();
    let mut text = |key| Ok::<_, String>(text_member(members, key, notes)?.filter(|text| !text.is_empty()));
    let (prompt, adj1, adj2, style) = (text("prompt")?, text("adj1")?, text("adj2")?, text("style")?);
    let finite = |key| match number_member(members, key)? {
        Some(value) if !value.is_finite() => Err(format!("`{key}` is {value}")),
        value => Ok(value),
    };
    let parts = parts(&name);
    notes.add("names that are not generator_variant_number", u64::from(parts.is_none()));
    let (generator, variant, prompt_number) = match parts {
        Some((generator, variant, number)) => (Some(generator.to_owned()), Some(variant.to_owned()), Some(number)),
        None => (None, None, None),
    };
    let subject = prompt.as_deref().map(|prompt| {
        let modifiers = [&style, &adj2, &adj1].into_iter().flatten();
        let cut = modifiers
            .into_iter()
            .try_fold(prompt, |rest, modifier| rest.strip_suffix(modifier.as_str())?.strip_suffix(", "));
        notes.add("prompts that do not end in their modifiers, cut at the first comma", u64::from(cut.is_none()));
        cut.unwrap_or_else(|| prompt.split(',').next().unwrap_or(prompt)).to_owned()
    });
    let (mos_quality, std_quality) = (finite("mos_quality")?, finite("std_quality")?);
    let (mos_align, std_align) = (finite("mos_align")?, finite("std_align")?);
    let image = Image {
        name,
        generator,
        variant,
        prompt_number,
        prompt,
        subject,
        adj1,
        adj2,
        style,
        mos_quality,
        std_quality,
        mos_align,
        std_align,
    };
    Ok(Record::Image(image, predictions))
}

/// `<generator>_<variant>_<NNN>.jpg`, from the right: names of generators hold dots and may hold underscores.
fn parts(name: &str) -> Option<(&str, &str, i64)> {
    let (rest, number) = name.rsplit_once('_')?;
    let (generator, variant) = rest.rsplit_once('_')?;
    let digits = number.split('.').next()?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !generator.is_empty() && !variant.is_empty()).then_some(())?;
    Some((generator, variant, digits.parse().ok()?))
}

fn predictions(
    members: &Members<'_>,
    is_lower: &dyn Fn(&str) -> bool,
    notes: &mut Notes,
) -> Result<Vec<Prediction>, String> {
    let name = required(members, "name", notes)?;
    note_ignored(members, |key| key == "name" || !NO_METRICS.contains(&key), notes);
    let found: Vec<Prediction> = metrics(members).map(|metric| prediction(members, &name, metric, is_lower)).collect();
    for odd in found.iter().filter(|prediction| prediction.state == "invalid") {
        notes.add_listed("values that are no finite number in ", &shown(&odd.metric), 1);
    }
    Ok(found)
}

fn prediction(members: &Members<'_>, name: &str, metric: &str, is_lower: &dyn Fn(&str) -> bool) -> Prediction {
    let (value, state) = value(members, metric);
    Prediction { metric: metric.to_owned(), name: name.to_owned(), value, state, lower_is_better: is_lower(metric) }
}

/// A number and its state: what is empty, null or NaN is missing.
fn value(members: &Members<'_>, key: &str) -> (Option<f64>, &'static str) {
    match number_member(members, key) {
        Ok(Some(value)) if value.is_finite() => (Some(value), "ok"),
        Ok(Some(value)) if value.is_nan() => (None, "missing"),
        Ok(None) => (None, "missing"),
        _ => (None, "invalid"),
    }
}

fn rating(members: &Members<'_>, notes: &mut Notes) -> Result<Rating, String> {
    const READ: [&str; 6] = ["subject", "session", "item", "name", "target", "score"];
    note_ignored(members, |key| READ.contains(&key), notes);
    let item = first_of(members, &ITEMS).ok_or("no item")?;
    let (score, state) = value(members, "score");
    let optional =
        |key, notes: &mut Notes| Ok::<_, String>(text_or_number(members, key, notes)?.unwrap_or_else(String::new));
    Ok(Rating {
        target: optional("target", notes)?,
        session: optional("session", notes)?,
        subject: required(members, "subject", notes)?,
        item: required(members, item, notes)?,
        score,
        state,
    })
}
