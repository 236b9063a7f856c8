//! A store from its URL and what the environment says, as the tools of each cloud read it. What object_store looks for by itself it takes
//! minutes not to find: we look first, and say where.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::SpawnedReqwestConnector;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use super::profile::Profile;
use super::{explain, runtime};
use crate::error::{Error, ErrorKind, Result};

/// How long a machine's own metadata service may take to be there.
const PROBE: Duration = Duration::from_secs(1);
const METADATA: &str = "169.254.169.254:80";
/// One request, its body too.
const REQUEST: Duration = Duration::from_secs(300);
const CONNECT: Duration = Duration::from_secs(5);

fn options() -> ClientOptions {
    ClientOptions::new().with_connect_timeout(CONNECT).with_timeout(REQUEST)
}

fn retry() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(300), max_backoff: Duration::from_secs(8), base: 2.0 };
    RetryConfig { backoff, max_retries: 6, retry_timeout: Duration::from_secs(60) }
}

/// A store, and where credentials were looked for in vain before a machine's metadata service was asked, if it came to that.
type Opened = (Arc<dyn ObjectStore>, Option<String>);

/// The store of a bucket.
pub(super) fn open(url: &Url) -> Result<Opened> {
    // What is left empty is not given; a line's end that came along is no part of a value.
    let variable = |name: &str| {
        let value = std::env::var_os(name)?;
        let value = value.to_str().map(|text| OsString::from(text.trim())).unwrap_or(value);
        Some(value).filter(|value| !value.is_empty())
    };
    match url.scheme() {
        "s3" | "s3a" => s3(url, &variable),
        "gs" => gcs(url, &variable),
        _ => azure(url, &variable),
    }
}

/// The variables whose names begin so and that are not empty.
fn variables(prefix: &str) -> impl Iterator<Item = (String, String)> {
    let all =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let all = all.map(|(name, value)| (name, value.trim().to_owned()));
    all.filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty())
}

/// A builder with each variable set that it knows.
fn configured<B, K: FromStr>(
    builder: B,
    variables: impl Iterator<Item = (String, String)>,
    set: impl Fn(B, K, String) -> B,
) -> B {
    variables.fold(builder, |builder, (name, value)| match name.to_ascii_lowercase().parse() {
        Ok(key) => set(builder, key, value),
        Err(_unknown) => builder,
    })
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn is_on(variable: Variable<'_>, name: &str) -> bool {
    variable(name).is_some_and(|value| ["1", "true", "yes", "on"].contains(&&*value.to_string_lossy().to_lowercase()))
}

fn s3(url: &Url, variable: Variable<'_>) -> Result<Opened> {
    let mut in_vain = None;
    let has = |names: &[&str]| names.iter().all(|name| variable(name).is_some());
    let is_anonymous = is_on(variable, "AWS_SKIP_SIGNATURE");
    let of_variables = has(&["AWS_ACCESS_KEY_ID"]) || has(&["AWS_SECRET_ACCESS_KEY"]);
    for (one, other) in [("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")]
    {
        if has(&[one]) && !has(&[other]) {
            return Err(Error::new(ErrorKind::Usage, format!("{one} is set, and {other} is not"))
                .with("url", url)
                .hint("set both, or neither"));
        }
    }
    let profile = Profile::read(variable)?;
    // A session's token goes with the keys that it was given with. What was left empty was not given.
    let given = variables("AWS_").filter(|(name, _)| of_variables || name != "AWS_SESSION_TOKEN");
    let mut builder = configured(AmazonS3Builder::new(), given, AmazonS3Builder::with_config);
    let of_service = has(&["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"])
        || has(&["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"])
        || has(&["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]);
    if !of_variables && !is_anonymous {
        match (&profile.access_key_id, &profile.secret_access_key) {
            (Some(id), Some(secret)) => {
                builder = builder.with_access_key_id(id).with_secret_access_key(secret);
                if let Some(token) = &profile.session_token {
                    builder = builder.with_token(token);
                }
            }
            _ if of_service => {}
            _ if !profile.unspoken.is_empty() => {
                return Err(Error::new(
                    ErrorKind::Usage,
                    format!("the AWS profile `{}` is one of {}", profile.name, profile.unspoken.join(", ")),
                )
                .with("url", url)
                .hint(format!(
                    "let the AWS tools resolve it: eval \"$(aws configure export-credentials --profile {} --format env)\"",
                    profile.name
                )));
            }
            _ => {
                let mut looked_at = vec![
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned(),
                    "AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN".to_owned(),
                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, or _FULL_URI with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
                        .to_owned(),
                ];
                looked_at.extend(profile.looked_at.iter().cloned());
                let is_forbidden = is_on(variable, "AWS_EC2_METADATA_DISABLED");
                let found = require_metadata(url, variable("AWS_METADATA_ENDPOINT"), is_forbidden, looked_at);
                in_vain = Some(found.map_err(|e| {
                    e.hint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; of a public bucket AWS_SKIP_SIGNATURE=true")
                })?);
            }
        }
    }
    if let (None, None, Some(region)) = (variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), &profile.region) {
        builder = builder.with_region(region);
    }
    let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = endpoints.iter().find_map(|name| variable(name)?.into_string().ok()).or(profile.endpoint);
    if let Some(endpoint) = &endpoint {
        if !["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme)) || Url::parse(endpoint).is_err() {
            return Err(Error::new(ErrorKind::Usage, "the endpoint is no URL")
                .with("endpoint", endpoint)
                .hint("AWS_ENDPOINT_URL, or endpoint_url of the profile: write http:// or https:// before it"));
        }
        builder = builder.with_endpoint(endpoint);
    }
    let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
    let built = builder
        .with_url(format!("{url}/"))
        .with_client_options(options().with_allow_http(is_plain))
        .with_retry(retry())
        .with_http_connector(SpawnedReqwestConnector::new(runtime::handle()?))
        .build();
    Ok((Arc::new(built.map_err(|e| explain(url, "open the bucket", e))?), in_vain))
}

fn gcs(url: &Url, variable: Variable<'_>) -> Result<Opened> {
    let mut in_vain = None;
    let given = [
        "GOOGLE_SERVICE_ACCOUNT",
        "GOOGLE_SERVICE_ACCOUNT_PATH",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SERVICE_ACCOUNT",
    ];
    let home = variable("HOME").map(std::path::PathBuf::from);
    let file = home.map(|home| home.join(".config/gcloud/application_default_credentials.json"));
    let is_given = given.iter().any(|name| variable(name).is_some()) || file.as_ref().is_some_and(|file| file.exists());
    if !is_given && !is_on(variable, "GOOGLE_SKIP_SIGNATURE") {
        let mut looked_at: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        looked_at.extend(file.map(|file| format!("{} (no such file)", file.display())));
        let host = variable("GCE_METADATA_HOST").or_else(|| variable("GCE_METADATA_ROOT"));
        let found = require_metadata(url, host, is_on(variable, "NO_GCE_CHECK"), looked_at);
        in_vain = Some(found.map_err(|e| {
            e.hint("set GOOGLE_APPLICATION_CREDENTIALS to a file of credentials, or run `gcloud auth application-default login`; of a public bucket GOOGLE_SKIP_SIGNATURE=true")
        })?);
    }
    let given = variables("GOOGLE_").chain(variables("SERVICE_ACCOUNT"));
    let built = configured(GoogleCloudStorageBuilder::new(), given, GoogleCloudStorageBuilder::with_config)
        .with_url(format!("{url}/"))
        .with_client_options(options())
        .with_retry(retry())
        .with_http_connector(SpawnedReqwestConnector::new(runtime::handle()?))
        .build();
    Ok((Arc::new(built.map_err(|e| explain(url, "open the bucket", e))?), in_vain))
}

fn azure(url: &Url, variable: Variable<'_>) -> Result<Opened> {
    let mut in_vain = None;
    let has_account = !url.username().is_empty()
        || ["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_USE_EMULATOR"].iter().any(|name| variable(name).is_some());
    if !has_account {
        return Err(Error::new(ErrorKind::Usage, "the URL names a container, and no account")
            .with("url", url)
            .hint("set AZURE_STORAGE_ACCOUNT_NAME, or write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX"));
    }
    let given = [
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_ACCESS_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_STORAGE_TOKEN",
        "AZURE_STORAGE_CLIENT_SECRET",
        "AZURE_CLIENT_SECRET",
        "AZURE_FEDERATED_TOKEN_FILE",
        "IDENTITY_ENDPOINT",
        "AZURE_MSI_ENDPOINT",
    ];
    let switches = ["AZURE_SKIP_SIGNATURE", "AZURE_USE_AZURE_CLI", "AZURE_STORAGE_USE_EMULATOR"];
    let is_given = given.iter().any(|name| variable(name).is_some());
    if !is_given && !switches.iter().any(|name| is_on(variable, name)) {
        let looked_at = given.iter().chain(&switches).map(|name| (*name).to_owned()).collect();
        in_vain = Some(require_metadata(url, None, false, looked_at).map_err(|e| {
            e.hint("set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_USE_AZURE_CLI=true after `az login`; of a public container AZURE_SKIP_SIGNATURE=true")
        })?);
    }
    let mut builder = configured(MicrosoftAzureBuilder::new(), variables("AZURE_"), MicrosoftAzureBuilder::with_config);
    if let Some(endpoint) = variable("IDENTITY_ENDPOINT").and_then(|value| value.into_string().ok()) {
        builder = builder.with_msi_endpoint(endpoint);
    }
    let built = builder
        .with_url(format!("{url}/"))
        .with_client_options(options())
        .with_retry(retry())
        .with_http_connector(SpawnedReqwestConnector::new(runtime::handle()?))
        .build();
    Ok((Arc::new(built.map_err(|e| explain(url, "open the container", e))?), in_vain))
}

/// Nothing was given: only a machine of the cloud itself can still tell who we are. Gives what was looked at before it.
fn require_metadata(
    url: &Url,
    host: Option<OsString>,
    is_forbidden: bool,
    mut looked_at: Vec<String>,
) -> Result<String> {
    let host = host.map(|host| host.to_string_lossy().into_owned());
    let address = match host.as_deref().map(|host| host.split("://").last().unwrap_or(host).trim_end_matches('/')) {
        Some(host) if host.contains(':') => host.to_owned(),
        Some(host) => format!("{host}:80"),
        None => METADATA.to_owned(),
    };
    if is_forbidden {
        looked_at.push("no metadata service, which the environment forbids to ask".into());
    } else {
        if answers(&address) {
            return Ok(looked_at.join(", "));
        }
        looked_at.push(format!("the metadata service {address} (no answer within {} s)", PROBE.as_secs()));
    }
    Err(Error::new(ErrorKind::Usage, "no credentials were found")
        .with("url", url)
        .with("looked at", looked_at.join(", ")))
}

/// Whether a web server is there and speaks soon: some networks take any connection and then say nothing.
fn answers(address: &str) -> bool {
    let Some(found) = address.to_socket_addrs().ok().and_then(|mut addresses| addresses.next()) else { return false };
    let spoken = TcpStream::connect_timeout(&found, PROBE).and_then(|mut stream| {
        stream.set_read_timeout(Some(PROBE))?;
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
        let mut first = [0; 5];
        stream.read_exact(&mut first)?;
        Ok(first == *b"HTTP/")
    });
    spoken.unwrap_or(false)
}
