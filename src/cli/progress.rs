//! Progress on stderr, where a person watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Session, Switch};
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::Environment;
use crate::lake::Progress;

/// A bar over the bytes of an ingest; hidden where stderr is no terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn bytes(session: &Session) -> Result<Self> {
        let style = ProgressStyle::with_template(
            "{msg:10} [{bar:32}] {bytes}/{total_bytes} {bytes_per_sec} {prefix} ETA {eta}",
        )
        .map_err(template_error)?;
        Ok(Self(bar(session).with_style(style).with_message("ingest")))
    }

    pub(super) fn steps(session: &Session, count: usize) -> Result<Self> {
        let style =
            ProgressStyle::with_template("{msg:10} [{bar:32}] {pos}/{len} steps: {prefix}").map_err(template_error)?;
        let bar = bar(session).with_style(style).with_message("score");
        bar.set_length(count as u64);
        Ok(Self(bar))
    }

    pub(super) fn download(session: &Session, name: &str) -> Result<Self> {
        let style = ProgressStyle::with_template("{msg} [{bar:32}] {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}")
            .map_err(template_error)?;
        let bar = if Environment::of_process().shows_progress { bar(session) } else { ProgressBar::hidden() };
        Ok(Self(bar.with_style(style).with_message(name.to_owned())))
    }

    pub(super) fn bytes_done(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done.min(total));
    }

    pub(super) fn update(&self, progress: Progress) {
        self.0.set_length(progress.total);
        self.0.set_position(progress.read.min(progress.total));
        let seconds = self.0.elapsed().as_secs_f64();
        if seconds > 0.0 {
            self.0.set_prefix(format!("{:.0} rows/s", progress.records as f64 / seconds));
        }
    }

    pub(super) fn step(&self, name: &str) {
        self.0.set_prefix(name.to_owned());
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn template_error(e: indicatif::style::TemplateError) -> Error {
    Error::new(ErrorKind::Check, e.to_string()).caused_by(e)
}

fn bar(session: &Session) -> ProgressBar {
    let shown = match session.globals.progress {
        Switch::On => true,
        Switch::Off => false,
        Switch::Auto => session.printer.stderr_is_terminal() && !session.printer.is_quiet(),
    };
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if shown {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}
