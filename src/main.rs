//! The binary: parses, runs, and maps the outcome to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(scorelake::cli::run(std::env::args_os()))
}
