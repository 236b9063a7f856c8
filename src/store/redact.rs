//! Secrets stay out of messages, manifests and run records: what a URL carries behind its `?` to prove who asks, and who asks before its `@`.

/// Parameters of URLs that say what to give, and are kept. Of any other only the name is: signatures and tokens have many names.
const HARMLESS: [&str; 10] =
    ["download", "format", "path", "ref", "rev", "revision", "version", "versionId", "name", "filename"];

/// The text with the secrets of every URL in it replaced by `…`.
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        out.push_str(before);
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | '}' | '|');
        let end = behind.find(is_end).unwrap_or(behind.len());
        out.push_str(&url(&behind[..end]));
        rest = &behind[end..];
    }
    out.push_str(rest);
    out
}

/// What stands behind `://`.
fn url(text: &str) -> String {
    let (place, query) = match text.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (text, None),
    };
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    // `abfss://container@account/` names a container, `https://user:password@host/` a secret.
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => format!("…@{host}"),
        _ => authority.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        let shown = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if !HARMLESS.contains(&name) => format!("{name}=…"),
            _ => pair.to_owned(),
        });
        format!("?{}", shown.collect::<Vec<_>>().join("&"))
    });
    format!("{authority}{path}{query}")
}
