//! What the hub's tools agree on: endpoint, cache, token, and whether there is a network. We read it ourselves and hand it over, so that a
//! message can name what was looked at.

use std::ffi::OsString;
use std::path::PathBuf;

/// A token and where it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The secret.
    pub(super) secret: String,
    /// The variable or file that it is from.
    pub from: String,
}

/// Never the secret.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a token from {}", self.from)
    }
}

/// The environment of hub tools.
#[derive(Debug, Clone)]
pub struct Environment {
    /// `HF_ENDPOINT`, else https://huggingface.co.
    pub endpoint: String,
    /// `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, else `hub` in `HF_HOME`, else in the user's cache; none where there is no user's folder.
    pub cache: Option<PathBuf>,
    /// `HF_TOKEN`, else the token file.
    pub token: Option<Token>,
    /// Where a token was looked for.
    pub looked_for: Vec<String>,
    /// `HF_HUB_OFFLINE`: the network is not to be used.
    pub offline: bool,
    /// Not `HF_HUB_DISABLE_PROGRESS_BARS`.
    pub shows_progress: bool,
}

impl Environment {
    /// Reads it with a way to look a variable up.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| {
            variable(name).map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
        };
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let is_on = |name: &str| {
            text(name).is_some_and(|value| ["1", "on", "yes", "true"].contains(&value.to_lowercase().as_str()))
        };
        let user = path("HOME").or_else(|| path("USERPROFILE"));
        let of_user = || path("XDG_CACHE_HOME").or_else(|| user.map(|home| home.join(".cache")));
        let home = path("HF_HOME").or_else(|| of_user().map(|cache| cache.join("huggingface")));
        let given = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE"));
        let cache = given.or_else(|| home.as_ref().map(|home| home.join("hub")));
        let file = path("HF_TOKEN_PATH").or_else(|| home.map(|home| home.join("token")));
        let mut looked_for = vec!["HF_TOKEN".to_owned(), "HUGGING_FACE_HUB_TOKEN".to_owned()];
        looked_for.extend(file.as_ref().map(|file| file.display().to_string()));
        let of_variable = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]
            .into_iter()
            .find_map(|name| Some(Token { secret: text(name)?.trim().to_owned(), from: name.to_owned() }));
        let of_file = || {
            let file = file.as_ref()?;
            let secret = std::fs::read_to_string(file).ok()?.trim().to_owned();
            (!secret.is_empty()).then(|| Token { secret, from: file.display().to_string() })
        };
        let is_implicit = !is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN");
        Self {
            endpoint: text("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".into()),
            cache,
            token: of_variable.or_else(of_file).filter(|_| is_implicit),
            looked_for,
            offline: is_on("HF_HUB_OFFLINE"),
            shows_progress: !is_on("HF_HUB_DISABLE_PROGRESS_BARS"),
        }
    }

    /// That of this process.
    pub fn of_process() -> Self {
        Self::read(|name| std::env::var_os(name))
    }
}
