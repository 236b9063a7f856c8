//! A snapshot as one commit of a dataset repository of the Hugging Face hub.

use hf_hub::HFError;
use hf_hub::repository::CommitOperation;

use super::{Content, Outgoing};
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::{Environment, client, innermost};
use crate::store::File;

/// Where in the hub: `hf://datasets/OWNER/NAME[@BRANCH][/PATH]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubTarget {
    /// `OWNER/NAME`.
    pub repo: String,
    /// The branch.
    pub branch: String,
    /// The folder in the repository; empty for its root.
    pub folder: String,
}

impl HubTarget {
    /// Reads a target; `None` for anything that is no URL of the hub.
    pub fn of_url(url: &str) -> Option<Result<Self>> {
        let rest = url.strip_prefix("hf://")?;
        let wrong = || {
            Err(Error::new(ErrorKind::Usage, "not a dataset of the hub")
                .with("target", url)
                .hint("hf://datasets/OWNER/NAME[@BRANCH][/FOLDER]"))
        };
        let Some(rest) = rest.strip_prefix("datasets/") else { return Some(wrong()) };
        let mut parts = rest.trim_end_matches('/').splitn(3, '/');
        let (owner, name, folder) =
            (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let (name, branch) = name.split_once('@').unwrap_or((name, "main"));
        let is_inside = folder.is_empty() || folder.split('/').all(|part| !["", ".", ".."].contains(&part));
        if [owner, name, branch].contains(&"") || !is_inside {
            return Some(wrong());
        }
        Some(Ok(Self { repo: format!("{owner}/{name}"), branch: branch.into(), folder: folder.into() }))
    }

    fn path(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }
}

/// Attempts at a request that the hub limits or fails.
const ATTEMPTS: usize = 5;

/// Commits the files; gives the commit, and where it can be looked at, as the hub names them.
pub fn commit(
    environment: &Environment,
    target: &HubTarget,
    files: &[Outgoing],
    message: &str,
) -> Result<(Option<String>, Option<String>)> {
    if environment.offline {
        return Err(Error::new(ErrorKind::Network, "HF_HUB_OFFLINE forbids to publish to the hub").hint("unset it"));
    }
    if environment.token.is_none() {
        return Err(Error::new(ErrorKind::Usage, "publishing to the hub needs a token, and none was found")
            .with("looked at", environment.looked_for.join(", "))
            .hint("set HF_TOKEN to a token that may write, or run `hf auth login`"));
    }
    let operations = files.iter().map(|file| {
        let path = target.path(&file.name);
        Ok(match &file.content {
            Content::File(File::Disk(local)) => CommitOperation::add_file(path, local),
            content => CommitOperation::add_bytes(path, content.read()?),
        })
    });
    let operations = operations.collect::<Result<Vec<_>>>()?;
    let (owner, name) = target.repo.split_once('/').unwrap_or(("", &target.repo));
    let client = client(environment, ATTEMPTS)?;
    let sent = client
        .dataset(owner, name)
        .create_commit()
        .operations(operations)
        .commit_message(message)
        .revision(target.branch.as_str())
        .send();
    let commit = sent.map_err(|e| error(environment, target, e))?;
    Ok((commit.commit_oid, commit.commit_url))
}

fn error(environment: &Environment, target: &HubTarget, error: HFError) -> Error {
    let token = environment.token.as_ref().map(|token| format!("the token from {} was sent", token.from));
    let token = token.unwrap_or_default();
    let said = |message: &Option<String>| match message {
        Some(message) => format!("; the server says: {message}"),
        None => String::new(),
    };
    let described = match &error {
        HFError::AuthRequired { context } | HFError::Forbidden { context } => {
            Error::new(ErrorKind::Network, format!("the hub refuses the commit{}", said(&context.server_message)))
                .hint(format!("{token}; it must be one that may write to {}", target.repo))
        }
        HFError::RepoNotFound { .. } => {
            Error::new(ErrorKind::Network, "the hub has no such dataset, or the token may not see it")
                .hint(format!("{token}; make it first: hf repo create {} --repo-type dataset", target.repo))
        }
        HFError::RevisionNotFound { .. } => Error::new(ErrorKind::Network, "the dataset has no such branch")
            .hint("leave the @BRANCH out, or make the branch first"),
        HFError::Http { context } => Error::new(
            ErrorKind::Network,
            format!("the hub answers {}{}", context.status, said(&context.server_message)),
        ),
        other => Error::new(ErrorKind::Network, format!("the hub cannot be written to: {}", innermost(other)))
            .hint("check the network; HF_ENDPOINT names another hub"),
    };
    described
        .with("dataset", &target.repo)
        .with("branch", &target.branch)
        .with("endpoint", &environment.endpoint)
        .caused_by(error)
}
