//! One runtime for the network. Engines come and go with runtimes of their own; a connection lives in the one that opened it.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, ErrorKind, Result};

static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();

/// Threads that wait for the network.
const THREADS: usize = 2;

fn runtime() -> Result<&'static Runtime> {
    let built = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("network").enable_all().build()
    });
    built.as_ref().map_err(|e| Error::new(ErrorKind::Io, format!("cannot start threads: {e}")))
}

/// What connections are opened on.
#[cfg(feature = "cloud")]
pub(super) fn handle() -> Result<tokio::runtime::Handle> {
    runtime().map(|runtime| runtime.handle().clone())
}

/// Starts work that nobody waits for here.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    runtime()?.spawn(work);
    Ok(())
}

/// Waits for the network on the calling thread, whatever that thread is.
pub(crate) fn wait<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let (sender, receiver) = sync_channel(1);
    spawn(async move {
        // Nobody is left to hear of it if the caller is gone.
        let _heard = sender.send(work.await);
    })?;
    receiver
        .recv()
        .map_err(|e| Error::new(ErrorKind::Check, "work on the network ended without a result").caused_by(e))?
}
