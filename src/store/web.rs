//! A file of the web, by GET: `https://…`, a signed URL too.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MATCH, LAST_MODIFIED, RANGE, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode};
use url::Url;

use super::stream::{Beginning, Begun, Failed, Pauses, Remote, changed};
use super::{redact, wait};
use crate::error::{Error, ErrorKind, Result};

/// A file of the web, as it was when it was first asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Web {
    url: Url,
    /// Its size, if the server tells.
    pub size: Option<u64>,
    /// Whether the server says that it is a page to look at.
    pub is_page: bool,
    /// What the server calls this content: an ETag, or when it was changed.
    pub(super) tag: Option<String>,
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(self.url.as_str()))
    }
}

const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of an answer that are looked at for an explanation.
const EXPLANATION: usize = 4096;

/// A server from which nothing comes for so long is taken for gone.
const SILENCE: Duration = Duration::from_secs(60);

static CLIENT: OnceLock<reqwest::Result<Client>> = OnceLock::new();
static CLIENT_WITHOUT_REDIRECTS: OnceLock<reqwest::Result<Client>> = OnceLock::new();

/// The client of the web.
pub(crate) fn client() -> Result<&'static Client> {
    built(CLIENT.get_or_init(|| builder().build()))
}

/// The same that shows where it is sent on to instead of going there.
pub(crate) fn client_without_redirects() -> Result<&'static Client> {
    let built = CLIENT_WITHOUT_REDIRECTS.get_or_init(|| builder().redirect(reqwest::redirect::Policy::none()).build());
    self::built(built)
}

fn builder() -> reqwest::ClientBuilder {
    let agent = concat!("scorelake/", env!("CARGO_PKG_VERSION"));
    Client::builder().user_agent(agent).connect_timeout(CONNECT).read_timeout(SILENCE)
}

fn built(client: &'static reqwest::Result<Client>) -> Result<&'static Client> {
    client.as_ref().map_err(|e| Error::new(ErrorKind::Network, format!("no client for the web: {e}")))
}

impl Web {
    /// Asks for a file's size and content.
    pub fn find(text: &str) -> Result<Self> {
        let url = Url::parse(text).map_err(|e| {
            Error::new(ErrorKind::Usage, format!("not a URL: {e}")).with("input", redact(text)).caused_by(e)
        })?;
        let client = client()?;
        wait(async move {
            let mut pauses = Pauses::default();
            loop {
                // Some servers, and every signed URL, answer GET alone; some tell the size with it alone.
                let answer = match ask(client, &url, Method::HEAD, 0, None).await {
                    Ok(answer) if length(&answer).is_some() => Ok(answer),
                    Err(failed @ Failed::ForNow { .. }) => Err(failed),
                    _ => ask(client, &url, Method::GET, 0, None).await,
                };
                match answer {
                    Ok(answer) => {
                        return Ok(Self { size: length(&answer), tag: tag(&answer), is_page: is_page(&answer), url });
                    }
                    Err(failed) => pauses.after(failed).await?,
                }
            }
        })
    }
}

impl Remote for Web {
    fn place(&self) -> String {
        self.to_string()
    }

    fn begin(&self, offset: u64, tag: Option<String>) -> Beginning {
        let web = self.clone();
        Box::pin(async move {
            let client = client().map_err(Failed::Finally)?;
            let answer = ask(client, &web.url, Method::GET, offset, tag.as_deref()).await?;
            let place = web.to_string();
            let is_part = answer.status() == StatusCode::PARTIAL_CONTENT;
            let range = answer.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
            if is_part && !range.is_some_and(|range| range.starts_with(&format!("bytes {offset}-"))) {
                let error =
                    Error::new(ErrorKind::Network, "the server gives another part of the file than was asked for");
                return Err(Failed::Finally(error.with("url", place).hint("download it and give its path")));
            }
            let found = self::tag(&answer);
            let size = if is_part { web.size } else { length(&answer) };
            if found != web.tag || size.zip(web.size).is_some_and(|(found, known)| found != known) {
                return Err(Failed::Finally(changed(&place)));
            }
            // A server that knows no ranges begins anew; what was read already is passed over.
            let mut skipped = if is_part { 0 } else { offset };
            let cut = move |e: reqwest::Error| Failed::ForNow { error: unreached(&place, &e), pause: None };
            let bytes = answer.bytes_stream().map_err(cut).map_ok(move |mut piece| {
                let skip = usize::try_from(skipped).unwrap_or(usize::MAX).min(piece.len());
                skipped -= skip as u64;
                piece.split_off(skip)
            });
            Ok(Begun { size: web.size, tag: found, bytes: bytes.boxed() })
        })
    }
}

async fn ask(client: &Client, url: &Url, method: Method, offset: u64, tag: Option<&str>) -> Result<Response, Failed> {
    let mut request = client.request(method, url.clone());
    if offset > 0 {
        request = request.header(RANGE, format!("bytes={offset}-"));
        // Only an ETag can be matched; a time of change is compared afterwards.
        if let Some(tag) = tag.filter(|tag| tag.starts_with('"')) {
            request = request.header(IF_MATCH, tag);
        }
    }
    let place = redact(url.as_str());
    let answer = request.send().await.map_err(|e| Failed::ForNow { error: unreached(&place, &e), pause: None })?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    if status == StatusCode::PRECONDITION_FAILED {
        return Err(Failed::Finally(changed(&place)));
    }
    let pause = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let secrets: Vec<String> = [url, answer.url()].into_iter().flat_map(secrets).collect();
    let said = secrets.iter().fold(explanation(answer).await, |said, secret| said.replace(secret, "…"));
    let what = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "the server refuses the file",
        StatusCode::NOT_FOUND | StatusCode::GONE => "the server has no such file",
        StatusCode::TOO_MANY_REQUESTS => "the server limits how often it may be asked",
        _ => "the server does not give the file",
    };
    let error = Error::new(ErrorKind::Network, format!("{what}: {status}{said}")).with("url", place);
    let error = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            error.hint("a signed URL may have expired; of files that need a login give a signed URL, or download them")
        }
        _ => error.hint("check the URL"),
    };
    let is_passing = status.is_server_error() || [408, 425, 429].contains(&status.as_u16());
    Err(if is_passing {
        Failed::ForNow { error, pause: pause.map(Duration::from_secs) }
    } else {
        Failed::Finally(error)
    })
}

/// What of a URL must be in no message, wherever it comes from.
fn secrets(url: &Url) -> Vec<String> {
    const SHORTEST: usize = 4;
    let mut all: Vec<String> = url.query_pairs().map(|(_, value)| value.into_owned()).collect();
    let raw = url.query().unwrap_or_default().split('&').filter_map(|pair| Some(pair.split_once('=')?.1.to_owned()));
    all.extend(raw);
    all.extend(url.password().map(str::to_owned));
    all.retain(|secret| secret.len() >= SHORTEST);
    all
}

fn unreached(place: &str, error: &reqwest::Error) -> Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Error::new(ErrorKind::Network, format!("the server cannot be read: {}", redact(&cause.to_string())))
        .with("url", place)
        .hint("check the URL and the network")
}

/// What the server says of it, if it is words: JSON with a message, or a line of text.
async fn explanation(answer: Response) -> String {
    let mut body = Vec::new();
    let mut stream = answer.bytes_stream();
    while let (true, Some(Ok(piece))) = (body.len() < EXPLANATION, stream.next().await) {
        body.extend_from_slice(&piece);
    }
    body.truncate(EXPLANATION);
    let text = String::from_utf8_lossy(&body);
    let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let of_json = json.as_ref().and_then(|json| {
        let of = |key: &str| json.get(key).and_then(serde_json::Value::as_str);
        of("message").or_else(|| of("error")).or_else(|| of("detail")).map(str::to_owned)
    });
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['<', '{']));
    let said = of_json.or_else(|| line.map(str::to_owned));
    said.map_or_else(String::new, |said| format!("; the server says: {}", redact(&said)))
}

/// The length of the whole file. Asked for by HEAD, so not the length of a body that was read.
fn length(answer: &Response) -> Option<u64> {
    answer.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_page(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/html") || kind.starts_with("application/xhtml")
}

fn tag(answer: &Response) -> Option<String> {
    let headers = answer.headers();
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|tag| tag.starts_with('"')).or_else(|| text(LAST_MODIFIED))
}
