//! Many files of this disk into a bucket: several at a time, large ones in pieces, each held whole by the store or not at all.

use std::path::PathBuf;

use futures::stream::FuturesUnordered;
use futures::{StreamExt, TryStreamExt};
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::io::AsyncReadExt;

use super::{Object, explain, wait};
use crate::error::{Error, Result};

/// Files on their way at a time.
const AT_ONCE: usize = 4;
/// Above this a file goes in pieces.
const IN_PIECES: u64 = 16 << 20;
/// Bytes a piece: at most 10,000 of them make 80 GB.
const PIECE: usize = 8 << 20;
/// Pieces of one file on their way at a time.
const PIECES_AT_ONCE: usize = 4;

/// Uploads each file to its object, over whatever is there.
pub(crate) fn upload_all(files: Vec<(PathBuf, Object)>) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    wait(async move {
        let uploads = futures::stream::iter(files.into_iter().map(|(path, object)| upload(path, object)));
        uploads.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.map(|_| ())
    })
}

async fn upload(path: PathBuf, object: Object) -> Result<()> {
    let store = object.bucket.store();
    let local = |e: std::io::Error| Error::io(&path, "read", e);
    let remote = |e: object_store::Error| explain(&object, "write", e);
    let mut file = tokio::fs::File::open(&path).await.map_err(local)?;
    let size = file.metadata().await.map_err(local)?.len();
    if size <= IN_PIECES {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.read_to_end(&mut bytes).await.map_err(local)?;
        store.put(&object.key, PutPayload::from(bytes)).await.map_err(remote)?;
        return Ok(());
    }
    let mut upload = store.put_multipart(&object.key).await.map_err(remote)?;
    let sent = match pieces(&mut file, upload.as_mut()).await {
        Ok(()) => upload.complete().await.map(|_| ()).map_err(remote),
        Err(Failed::Local(e)) => Err(local(e)),
        Err(Failed::Remote(e)) => Err(remote(e)),
    };
    if sent.is_err() {
        // Pieces of an upload that is not ended cost their owner: they are taken back if the store still answers.
        let _best_effort = upload.abort().await;
    }
    sent
}

enum Failed {
    Local(std::io::Error),
    Remote(object_store::Error),
}

/// Sends a file piece by piece, several at a time.
async fn pieces(file: &mut tokio::fs::File, upload: &mut dyn MultipartUpload) -> Result<(), Failed> {
    let mut under_way = FuturesUnordered::new();
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        let read = file.take(PIECE as u64).read_to_end(&mut piece).await.map_err(Failed::Local)?;
        if read == 0 {
            return under_way.try_collect::<()>().await.map_err(Failed::Remote);
        }
        if under_way.len() >= PIECES_AT_ONCE {
            under_way.try_next().await.map_err(Failed::Remote)?;
        }
        under_way.push(upload.put_part(piece.into()));
    }
}
