//! What a store answers, in our words. The only place where its errors become ours.

use std::fmt::Display;

use object_store::Error as StoreError;

use super::bucket::looked_for_in_vain;
use super::redact;
use crate::error::{Error, ErrorKind};

/// An error of a store about a place in it.
pub(crate) fn explain(place: impl Display, action: &str, source: StoreError) -> Error {
    let said = redact(&innermost(&source));
    let place = place.to_string();
    if let Some(looked_at) = looked_for_in_vain(&place).filter(|_| !is_about_content(&source)) {
        return Error::new(ErrorKind::Network, format!("no credentials were found, and the metadata service gives none: {said}"))
            .with("place", redact(&place))
            .with("looked at", looked_at)
            .hint("docs/stores.md lists the variables and files; of a public bucket AWS_SKIP_SIGNATURE, GOOGLE_SKIP_SIGNATURE or AZURE_SKIP_SIGNATURE=true")
            .caused_by(Hidden(redact(&source.to_string())));
    }
    let refusals = ["AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "403 Forbidden", "401 Unauthorized"];
    let is_refused = matches!(&source, StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. })
        || refusals.iter().any(|refusal| said.contains(refusal));
    let error = match &source {
        _ if said.contains("NoSuchBucket") => {
            Error::new(ErrorKind::Network, format!("cannot {action}: there is no such bucket")).hint(
                "check the name, and the endpoint (AWS_ENDPOINT_URL) if it is not Amazon's; scorelake makes no buckets",
            )
        }
        StoreError::NotFound { .. } => {
            Error::new(ErrorKind::Network, format!("cannot {action}: not found")).hint("check the URL")
        }
        _ if is_refused => Error::new(ErrorKind::Network, format!("cannot {action}: the store refuses: {said}"))
            .hint("the credentials may not do this, or are not of this store; a bucket that is not public needs some"),
        StoreError::NotImplemented { .. } | StoreError::NotSupported { .. } => {
            Error::new(ErrorKind::Network, format!("cannot {action}: the store cannot do it: {said}"))
                .hint("a lake needs a store with conditional writes (If-None-Match, If-Match)")
        }
        StoreError::InvalidPath { .. } => {
            Error::new(ErrorKind::Usage, format!("cannot {action}: {said}")).hint("name the object by its key")
        }
        _ => Error::new(ErrorKind::Network, format!("cannot {action}: {said}"))
            .hint("check the endpoint and the network, and run again: nothing is half published"),
    };
    error.with("place", redact(&place)).caused_by(Hidden(redact(&source.to_string())))
}

/// Whether the store was reached, and speaks of what is there.
fn is_about_content(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NotFound { .. }
            | StoreError::AlreadyExists { .. }
            | StoreError::Precondition { .. }
            | StoreError::InvalidPath { .. }
    )
}

/// The cause, without its secrets.
#[derive(Debug)]
struct Hidden(String);

impl Display for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Hidden {}

/// The message nearest to the cause, and what the server said if it said something.
fn innermost(error: &StoreError) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        texts.push(inner.to_string());
        source = inner.source();
    }
    // A server's own words stand in a body, `<Message>…</Message>`; else the innermost cause says most.
    let body = texts.iter().find_map(|text| {
        let of = |name: &str| {
            let (_, rest) = text.split_once(&format!("<{name}>"))?;
            Some(rest.split_once(&format!("</{name}>"))?.0)
        };
        match (of("Code"), of("Message")) {
            (Some(code), Some(message)) => Some(format!("{code}: {message}")),
            (code, message) => code.or(message).map(str::to_owned),
        }
    });
    let outer = texts.iter().find(|text| text.contains("after ") && text.contains("retries"));
    match (body, texts.last()) {
        (Some(body), _) => body,
        (None, Some(last)) if outer.is_none_or(|outer| outer.contains(last.as_str())) => {
            outer.unwrap_or(last).to_owned()
        }
        (None, Some(last)) => last.clone(),
        (None, None) => error.to_string(),
    }
}
