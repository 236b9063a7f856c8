//! The one error type: what went wrong, where, and what to do next.
//!
//! Foreign errors become ours here and nowhere else, and keep their cause, so that a message printed to a person and the
//! JSON printed to a program say the same.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

/// Result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong; decides the exit code and the `kind` of the JSON error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line asks for something that does not exist or cannot be combined.
    Usage,
    /// An input file cannot be read as what it should be.
    Input,
    /// Two records contradict each other.
    Conflict,
    /// A pipeline, schema or SQL header is wrong.
    Config,
    /// A query does not parse, plan or run.
    Sql,
    /// The lake or a snapshot is not there, or not of a form this version reads.
    Lake,
    /// Bytes differ from what was recorded.
    Corrupt,
    /// The operating system refused.
    Io,
    /// The hub or another server did not give what was asked for.
    Network,
    /// The lake lacks what was asked for, such as metadata.
    Lacking,
    /// A result broke one of its own rules; a fault of scorelake or of a pipeline.
    Check,
}

impl ErrorKind {
    /// The name used in JSON errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Input => "input",
            Self::Conflict => "conflict",
            Self::Config => "config",
            Self::Sql => "sql",
            Self::Lake => "lake",
            Self::Corrupt => "corrupt",
            Self::Io => "io",
            Self::Network => "network",
            Self::Lacking => "lacking",
            Self::Check => "check",
        }
    }
}

/// An error with its place (`file`, `line`, `column`, `pipeline`, `table`, …), a hint and its cause.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind that says what was found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), context: Vec::new(), hint: None, source: None }))
    }

    /// Adds where: `error.with("file", path)`.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// An operating system error at a path.
    pub fn io(path: impl AsRef<Path>, action: &str, source: std::io::Error) -> Self {
        let hint = match source.kind() {
            std::io::ErrorKind::StorageFull => {
                Some("free some space and run again; what was published before is intact")
            }
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Some("check the permissions, or choose another place with --lake")
            }
            std::io::ErrorKind::NotFound => Some("check the path"),
            _ => None,
        };
        let error = Self::new(ErrorKind::Io, format!("cannot {action}: {source}"))
            .with("file", path.as_ref().display())
            .caused_by(source);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// An error that stopped the reading of a file somewhere; one of our own may have travelled in it.
    pub fn reading(file: impl fmt::Display, source: std::io::Error) -> Self {
        match source.downcast::<Self>() {
            Ok(ours) => ours,
            Err(source) => Self::io(file.to_string(), "read", source),
        }
    }

    /// An input that the operating system does not let us read: an error of that input alone.
    pub fn unreadable(path: impl AsRef<Path>, action: &str, source: std::io::Error) -> Self {
        let mut error = Self::io(path, action, source);
        error.0.kind = ErrorKind::Input;
        error
    }

    /// The same, as an error of that input alone, if the operating system refused it.
    #[must_use]
    pub fn of_input(mut self) -> Self {
        if self.0.kind == ErrorKind::Io {
            self.0.kind = ErrorKind::Input;
        }
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without its context.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The value of one context key.
    pub fn context(&self, key: &str) -> Option<&str> {
        self.0.context.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    /// The process exit code: 2 for bad usage, else 1.
    pub fn exit_code(&self) -> u8 {
        if self.0.kind == ErrorKind::Usage { 2 } else { 1 }
    }

    /// The error as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        object.insert("error".into(), self.0.message.clone().into());
        object.insert("kind".into(), self.0.kind.name().into());
        for (key, value) in &self.0.context {
            object.insert((*key).into(), value.clone().into());
        }
        if let Some(hint) = &self.0.hint {
            object.insert("hint".into(), hint.clone().into());
        }
        serde_json::Value::Object(object)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        for (key, value) in &self.0.context {
            write!(f, "\n  {key}: {value}")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<datafusion::error::DataFusionError> for Error {
    fn from(source: datafusion::error::DataFusionError) -> Self {
        // One of our own errors may have travelled through the engine.
        let source = match source {
            datafusion::error::DataFusionError::External(inner) => match inner.downcast::<Error>() {
                Ok(ours) => return *ours,
                Err(inner) => datafusion::error::DataFusionError::External(inner),
            },
            other => other,
        };
        let text = source.strip_backtrace();
        let kind = match source.find_root() {
            datafusion::error::DataFusionError::ParquetError(_) => ErrorKind::Corrupt,
            datafusion::error::DataFusionError::ArrowError(inner, _) if is_parquet(inner) => ErrorKind::Corrupt,
            datafusion::error::DataFusionError::IoError(_) => ErrorKind::Io,
            _ => ErrorKind::Sql,
        };
        let message = match kind {
            ErrorKind::Corrupt => format!("corrupt Parquet file: {text}"),
            _ => text,
        };
        let is_memory = matches!(source.find_root(), datafusion::error::DataFusionError::ResourcesExhausted(_));
        let error = Self::new(kind, message).caused_by(source);
        if is_memory { error.hint("give it more with --memory, or fewer --threads") } else { error }
    }
}

fn is_parquet(error: &arrow::error::ArrowError) -> bool {
    match error {
        arrow::error::ArrowError::ParquetError(_) => true,
        arrow::error::ArrowError::ExternalError(inner) => inner.is::<parquet::errors::ParquetError>(),
        _ => false,
    }
}

impl From<arrow::error::ArrowError> for Error {
    fn from(source: arrow::error::ArrowError) -> Self {
        Self::new(ErrorKind::Check, source.to_string()).caused_by(source)
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(source: parquet::errors::ParquetError) -> Self {
        // The writer wraps the operating system's error; a full disk must be called one.
        let mut cause: Option<&(dyn StdError + 'static)> = source.source();
        while let Some(inner) = cause {
            if let Some(io) = inner.downcast_ref::<std::io::Error>() {
                return Self::new(ErrorKind::Io, format!("cannot write or read Parquet: {io}")).caused_by(source);
            }
            cause = inner.source();
        }
        Self::new(ErrorKind::Corrupt, format!("corrupt Parquet file: {source}")).caused_by(source)
    }
}

impl From<polars::error::PolarsError> for Error {
    fn from(source: polars::error::PolarsError) -> Self {
        Self::new(ErrorKind::Check, format!("Polars: {source}")).caused_by(source)
    }
}

impl From<rust_xlsxwriter::XlsxError> for Error {
    fn from(source: rust_xlsxwriter::XlsxError) -> Self {
        Self::new(ErrorKind::Check, format!("the workbook cannot hold this: {source}")).caused_by(source)
    }
}
