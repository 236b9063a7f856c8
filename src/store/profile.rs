//! A profile of the AWS tools' own files: `~/.aws/credentials` and `~/.aws/config`.

use std::ffi::OsString;
use std::path::PathBuf;

use ini::{Ini, ParseOption};

use crate::error::{Error, ErrorKind, Result};

/// What a profile says.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) access_key_id: Option<String>,
    pub(super) secret_access_key: Option<String>,
    pub(super) session_token: Option<String>,
    pub(super) region: Option<String>,
    pub(super) endpoint: Option<String>,
    /// Ways to come by credentials that only the AWS tools themselves go.
    pub(super) unspoken: Vec<&'static str>,
    /// The files that were looked at, each with what was found.
    pub(super) looked_at: Vec<String>,
}

const UNSPOKEN: [&str; 5] = ["credential_process", "sso_session", "sso_start_url", "role_arn", "login_session"];

impl Profile {
    /// Reads the profile that `AWS_PROFILE` names, else `default`. One that is named must be there.
    pub(super) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty());
        let named = text("AWS_PROFILE").or_else(|| text("AWS_DEFAULT_PROFILE"));
        let mut profile = Self { name: named.clone().unwrap_or_else(|| "default".into()), ..Self::default() };
        let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let file = |name: &str, default: &str| {
            variable(name).map(PathBuf::from).or_else(|| home.as_ref().map(|home| home.join(".aws").join(default)))
        };
        let mut is_there = false;
        for (path, is_config) in
            [(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false), (file("AWS_CONFIG_FILE", "config"), true)]
        {
            let Some(path) = path else { continue };
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                    profile.looked_at.push(format!("{} (no such file)", path.display()));
                    continue;
                }
                Err(e) => return Err(Error::io(&path, "read", e)),
            };
            let options = ParseOption { enabled_quote: false, enabled_escape: false, ..ParseOption::default() };
            let ini = Ini::load_from_str_opt(&text, options).map_err(|e| {
                Error::new(ErrorKind::Config, format!("not a file of profiles: {}", e.msg))
                    .with("file", path.display())
                    .with("line", e.line)
            })?;
            // In the file of credentials a section is a profile's name; in the other one all but `default` say so.
            let long = format!("profile {}", profile.name);
            let section = ini.section(Some(profile.name.as_str())).or_else(|| ini.section(Some(long.as_str())));
            let Some(section) = section else {
                profile.looked_at.push(format!("{} (no profile `{}`)", path.display(), profile.name));
                continue;
            };
            is_there = true;
            profile.looked_at.push(format!("profile `{}` of {}", profile.name, path.display()));
            let value = |key: &str| section.get(key).map(str::trim).filter(|v| !v.is_empty()).map(str::to_owned);
            profile.access_key_id = profile.access_key_id.take().or_else(|| value("aws_access_key_id"));
            profile.secret_access_key = profile.secret_access_key.take().or_else(|| value("aws_secret_access_key"));
            profile.session_token = profile.session_token.take().or_else(|| value("aws_session_token"));
            profile.unspoken.extend(UNSPOKEN.into_iter().filter(|key| section.contains_key(*key)));
            if is_config {
                (profile.region, profile.endpoint) = (value("region"), value("endpoint_url"));
            }
        }
        match named {
            Some(name) if !is_there => Err(Error::new(ErrorKind::Usage, format!("there is no AWS profile `{name}`"))
                .with("looked at", profile.looked_at.join(", "))
                .hint("AWS_PROFILE names it")),
            _ => Ok(profile),
        }
    }
}
