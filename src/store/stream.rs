//! The bytes of a remote file as a reader: fetched ahead on the network's own threads, and gone on with where a connection was cut.

use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::{GetOptions, GetRange, ObjectStore};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Object, explain, runtime};
use crate::error::{Error, ErrorKind, Result};
use crate::source::hex;

/// Pieces that wait to be read.
const AHEAD: usize = 16;
/// How often a file is opened without a byte of progress.
const ATTEMPTS: u32 = 5;
/// The first pause; each is twice the one before.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest that a server may make us wait.
const PATIENCE: Duration = Duration::from_secs(300);
/// A connection on which nothing comes for so long is taken for cut.
const SILENCE: Duration = Duration::from_secs(60);

/// Why nothing comes.
pub(super) enum Failed {
    /// Another attempt would end the same way.
    Finally(Error),
    /// Another attempt may fare better, after the pause that the server asks for.
    ForNow { error: Error, pause: Option<Duration> },
}

/// What a remote file gives from an offset on.
pub(super) struct Begun {
    /// Size of the whole file, if the server tells.
    pub(super) size: Option<u64>,
    /// The server's name of this content.
    pub(super) tag: Option<String>,
    /// Its bytes from the offset on.
    pub(super) bytes: BoxStream<'static, Result<Bytes, Failed>>,
}

pub(super) type Beginning = Pin<Box<dyn Future<Output = Result<Begun, Failed>> + Send>>;

/// A remote file.
pub(super) trait Remote: Send + 'static {
    /// Its name in messages.
    fn place(&self) -> String;

    /// Opens it at an offset; with a tag only if it still has that content.
    fn begin(&self, offset: u64, tag: Option<String>) -> Beginning;
}

impl Remote for Object {
    fn place(&self) -> String {
        self.to_string()
    }

    fn begin(&self, offset: u64, tag: Option<String>) -> Beginning {
        let (store, key, place) = (self.bucket.store(), self.key.clone(), self.to_string());
        Box::pin(async move {
            let range = (offset > 0).then_some(GetRange::Offset(offset));
            let options = GetOptions::new().with_range(range).with_if_match(tag);
            // The store's client waits and tries again by itself.
            let failed = |e: object_store::Error| match e {
                object_store::Error::Precondition { .. } => Failed::Finally(changed(&place)),
                e => Failed::Finally(explain(&place, "read", e)),
            };
            let got = store.get_opts(&key, options).await.map_err(failed)?;
            let (size, tag) = (Some(got.meta.size), got.meta.e_tag.clone());
            let cut = move |e| Failed::ForNow { error: explain(&place, "read", e), pause: None };
            Ok(Begun { size, tag, bytes: got.into_stream().map_err(cut).boxed() })
        })
    }
}

pub(super) fn changed(place: &str) -> Error {
    Error::new(ErrorKind::Input, "the file changed while it was read")
        .with("file", place)
        .hint("wait until it is complete and run again")
}

/// A reader of a remote file.
pub(super) struct Stream {
    pieces: Receiver<Result<Piece>>,
    ready: Bytes,
    is_ended: bool,
}

/// What comes of a file: some bytes, or its end, which is told so that work that breaks off is not taken for it.
enum Piece {
    Bytes(Bytes),
    End,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !self.is_ended {
            match self.pieces.blocking_recv().transpose().map_err(io::Error::other)? {
                Some(Piece::Bytes(bytes)) => self.ready = bytes,
                Some(Piece::End) => self.is_ended = true,
                None => return Err(io::Error::other("the reading broke off")),
            }
        }
        let count = buffer.len().min(self.ready.len());
        buffer[..count].copy_from_slice(&self.ready.split_to(count));
        Ok(count)
    }
}

/// Opens a remote file for reading from its beginning to its end.
pub(super) fn open(remote: impl Remote + Sync) -> Result<Stream> {
    let (sender, pieces) = channel(AHEAD);
    runtime::spawn(async move {
        let ended = follow(&remote, &sender).await.map(|()| Piece::End);
        // A reader that went away does not ask any more.
        let _heard = sender.send(ended).await;
    })?;
    Ok(Stream { pieces, ready: Bytes::new(), is_ended: false })
}

/// Sends all bytes in order, opening the file again where it was cut.
async fn follow(remote: &(impl Remote + Sync), sender: &Sender<Result<Piece>>) -> Result<()> {
    let mut at = Position::default();
    let mut pauses = Pauses::default();
    loop {
        let before = at.offset;
        let Err(failed) = run(remote, sender, &mut at).await else { return Ok(()) };
        if at.offset > before {
            pauses = Pauses::default();
        }
        pauses.after(failed).await.map_err(|e| e.with("read", format!("{} bytes", at.offset)))?;
    }
}

/// The pauses between attempts, as long as the server asks, or each twice the one before.
#[derive(Default)]
pub(super) struct Pauses {
    failed: u32,
}

impl Pauses {
    /// Waits before the next attempt, if there may be one.
    pub(super) async fn after(&mut self, failed: Failed) -> Result<()> {
        let (error, asked) = match failed {
            Failed::Finally(error) => return Err(error),
            Failed::ForNow { error, pause } => (error, pause),
        };
        let pause = asked.unwrap_or(PAUSE * 2_u32.pow(self.failed));
        self.failed += 1;
        if self.failed >= ATTEMPTS {
            return Err(error.with("attempts", self.failed));
        }
        if pause > PATIENCE {
            return Err(error.hint(format!("the server asks for {} s: run again later", pause.as_secs())));
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// How far the reading is, and of what content.
#[derive(Default)]
struct Position {
    offset: u64,
    tag: Option<String>,
    size: Option<u64>,
}

async fn run(remote: &(impl Remote + Sync), sender: &Sender<Result<Piece>>, at: &mut Position) -> Result<(), Failed> {
    let mut begun = remote.begin(at.offset, at.tag.clone()).await?;
    if at.offset > 0 && (begun.tag != at.tag || begun.size != at.size) {
        return Err(Failed::Finally(changed(&remote.place())));
    }
    (at.tag, at.size) = (begun.tag, begun.size);
    let cut = |what: String| Failed::ForNow {
        error: Error::new(ErrorKind::Network, what).with("file", remote.place()),
        pause: None,
    };
    loop {
        let piece = tokio::time::timeout(SILENCE, begun.bytes.next()).await;
        let Ok(piece) = piece else { return Err(cut(format!("nothing came for {} s", SILENCE.as_secs()))) };
        let Some(piece) = piece else { break };
        let piece = piece?;
        at.offset += piece.len() as u64;
        if sender.send(Ok(Piece::Bytes(piece))).await.is_err() {
            return Ok(());
        }
    }
    match at.size {
        Some(size) if size != at.offset => {
            Err(cut(format!("the connection ended after {} of {size} bytes", at.offset)))
        }
        _ => Ok(()),
    }
}

/// SHA-256 of all that a reader gives, in hexadecimal.
pub(super) fn digest_of(reader: &mut dyn Read) -> io::Result<String> {
    const BUFFER: usize = 1 << 20;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hex(&sha256.finalize())),
            Ok(count) => sha256.update(&buffer[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
