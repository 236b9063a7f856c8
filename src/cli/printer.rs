//! The only place that writes to stdout and stderr: data to the one, everything else to the other.

use std::io::{self, IsTerminal, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::error::{Error, Result};
use crate::report::{Format, TableOptions, printable, write_batches};

/// Writes in the chosen format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printer {
    format: Format,
    quiet: bool,
    verbose: bool,
}

impl Printer {
    pub(super) fn new(format: Format, quiet: bool, verbose: bool) -> Self {
        Self { format, quiet, verbose }
    }

    /// For what is said before the options are known.
    pub(super) fn plain() -> Self {
        Self::new(Format::Table, false, false)
    }

    pub(super) fn format(self) -> Format {
        self.format
    }

    pub(super) fn is_quiet(self) -> bool {
        self.quiet
    }

    pub(super) fn is_verbose(self) -> bool {
        self.verbose
    }

    pub(super) fn stdout_is_terminal(self) -> bool {
        io::stdout().is_terminal()
    }

    pub(super) fn stderr_is_terminal(self) -> bool {
        io::stderr().is_terminal()
    }

    /// Rows to stdout; a reader that went away is no error.
    pub(super) fn rows(self, schema: &SchemaRef, batches: &[RecordBatch], hide_empty: bool) -> Result<()> {
        let width = self.stdout_is_terminal().then(terminal_width).flatten();
        let mut bytes = Vec::new();
        write_batches(&mut bytes, self.format, schema, batches, TableOptions { hide_empty, width, markdown: false })?;
        self.bytes(&bytes)
    }

    /// Bytes to stdout; a reader that went away is no error.
    pub(super) fn bytes(self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|e| Error::io("stdout", "write", e)),
        }
    }

    /// A line to stderr, unless quiet. If stderr is closed there is no one to tell.
    pub(super) fn note(self, text: &str) {
        if !self.quiet {
            let _closed = writeln!(io::stderr().lock(), "{}", printable(text));
        }
    }

    /// A line to stderr if verbose.
    pub(super) fn detail(self, text: &str) {
        if self.verbose {
            self.note(text);
        }
    }

    /// A warning to stderr, unless quiet.
    pub(super) fn warn(self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    /// An error to stderr: text, or one JSON object under `--format json`. Gives the exit code.
    pub(super) fn error(self, error: &Error) -> u8 {
        let text = match self.format {
            Format::Json | Format::Ndjson => error.to_json().to_string(),
            _ => format!("error: {error}"),
        };
        let _closed = writeln!(io::stderr().lock(), "{}", printable(&text));
        error.exit_code()
    }

    /// Help, version and usage errors as clap words them.
    pub(super) fn clap(self, error: &clap::Error) -> io::Result<()> {
        match error.print() {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size().map(|(width, _)| width.0)
}
