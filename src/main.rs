//! The binary: parses, runs, and maps the outcome to an exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Ingest and the engine hand large buffers between threads; the system's allocator gives each back to the kernel.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Long expressions in SQL are planned by recursion; memory is taken only as far as it is used.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let work = std::thread::Builder::new().stack_size(STACK).spawn(|| scorelake::cli::run(std::env::args_os()));
    // A panic has been told by its thread.
    ExitCode::from(work.map_or(1, |work| work.join().unwrap_or(101)))
}
