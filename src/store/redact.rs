//! Secrets stay out of messages, manifests and run records: what a URL carries behind its `?` to prove who asks, and who asks before its `@`.

use sha2::{Digest, Sha256};

use crate::source::hex;

/// Parameters of URLs that only say what to give: they are shown as they are.
const HARMLESS: [&str; 10] =
    ["download", "format", "path", "ref", "rev", "revision", "version", "versionId", "name", "filename"];

/// What names of parameters hold that prove who asks. Nothing of their values is shown.
const PROOFS: [&str; 10] = ["sig", "token", "key", "secret", "pass", "cred", "auth", "session", "x-amz-", "x-goog-"];

/// The text with the secrets of every URL in it taken out. A text that is a URL from its beginning is one to its end, whatever is in it; in other
/// text one ends at a blank, a quotation mark or an angle.
pub fn redact(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if is_scheme {
        return format!("{scheme}://{}", behind_scheme(scheme, rest));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let begin = rest[..at].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let (scheme, behind) = (&rest[begin..at], &rest[at + 3..]);
        let end = behind.find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>')).unwrap_or(behind.len());
        out.push_str(&rest[..at + 3]);
        out.push_str(&behind_scheme(scheme, &behind[..end]));
        rest = &behind[end..];
    }
    out + rest
}

/// What stands behind `scheme://`.
fn behind_scheme(scheme: &str, text: &str) -> String {
    // Keys in buckets may hold a `?`: only the web has parameters, fragments and users.
    if !["http", "https"].contains(&scheme) {
        let (authority, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
        return match authority.rsplit_once('@') {
            // `abfss://container@account/` names a container.
            Some((user, host)) if !scheme.starts_with("abfs") || user.contains(':') => format!("…@{host}{rest}"),
            _ => text.to_owned(),
        };
    }
    let text = text.split('#').next().unwrap_or(text);
    let (place, query) = match text.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (text, None),
    };
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => authority.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        "?".to_owned() + &query.split('&').map(parameter).collect::<Vec<_>>().join("&")
    });
    format!("{authority}{path}{query}")
}

/// A parameter as it is shown: two values that say what to give stay two, by a few digits of their SHA-256.
fn parameter(pair: &str) -> String {
    let Some((name, value)) = pair.split_once('=') else { return "…".to_owned() };
    let lower = name.to_ascii_lowercase();
    if HARMLESS.contains(&name) {
        pair.to_owned()
    } else if PROOFS.iter().any(|proof| lower.contains(proof)) {
        format!("{name}=…")
    } else {
        format!("{name}=…{}", &hex(&Sha256::digest(value.as_bytes()))[..8])
    }
}
