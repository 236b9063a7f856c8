//! The binary: parses, runs, and maps the outcome to an exit code.

use std::process::ExitCode;

/// Long expressions in SQL are planned by recursion; memory is taken only as far as it is used.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let work = std::thread::Builder::new().stack_size(STACK).spawn(|| scorelake::cli::run(std::env::args_os()));
    // A panic has been told by its thread.
    ExitCode::from(work.map_or(1, |work| work.join().unwrap_or(101)))
}
