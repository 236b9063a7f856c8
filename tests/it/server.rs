//! A small HTTP server on loopback whose answers a test decides, one request a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The place after `bytes=` in a range that is open at its end.
    pub(crate) fn offset(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// What the server does with a request.
pub(crate) enum Reply {
    /// Status, headers, body.
    Whole(u16, Vec<(String, String)>, Vec<u8>),
    /// The same with all of its length told, and only so many bytes sent.
    Cut(u16, Vec<(String, String)>, Vec<u8>, usize),
    /// These bytes.
    Raw(Vec<u8>),
}

type Rule = dyn Fn(&Request, usize) -> Reply + Send + Sync;

/// A server on a port of its own, with the requests that it got.
pub(crate) struct Server {
    pub(crate) endpoint: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `rule` gets the request and how often the same method and path came before.
    pub(crate) fn start(rule: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (rule, requests): (Arc<Rule>, _) = (Arc::new(rule), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (rule, requests) = (Arc::clone(&rule), Arc::clone(&requests));
                std::thread::spawn(move || {
                    let _gone = serve(stream, &*rule, &requests);
                });
            }
        });
        Self { endpoint, seen }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Method and path of each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }

    pub(crate) fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }
}

fn serve(mut stream: TcpStream, rule: &Rule, seen: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_nodelay(true)?;
    let request = read(&stream)?;
    let before = {
        let mut seen = seen.lock().unwrap();
        let same = |other: &&Request| other.method == request.method && other.path == request.path;
        let before = seen.iter().filter(same).count();
        seen.push(request.clone());
        before
    };
    let (status, headers, body, sent) = match rule(&request, before) {
        Reply::Whole(status, headers, body) => (status, headers, body.clone(), body.len()),
        Reply::Cut(status, headers, body, at) => (status, headers, body, at),
        Reply::Raw(bytes) => return stream.write_all(&bytes).and_then(|()| stream.flush()),
    };
    let mut head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        let value = value.replace("{endpoint}", &format!("http://{}", stream.local_addr()?));
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(&body[..sent])?;
    }
    stream.flush()
}

fn read(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or("").to_owned(), words.next().unwrap_or("").to_owned());
    let mut request = Request { method, path, ..Request::default() };
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            request.headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(request)
}
