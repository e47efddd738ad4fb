//! Repository URLs.

use std::path::PathBuf;

use docs_ports::GitError;
use docs_web::{Credentials, HostError, Outbound};
use url::Url;

/// A parsed repository URL.
#[derive(Clone, Debug)]
pub(crate) enum RepositoryAddress {
    /// A repository over HTTP.
    Web(Web),
    /// A repository on a disk of this machine.
    Disk(Disk),
}

/// A repository over HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    /// The URL without credentials and without a trailing slash.
    pub(crate) url: Url,
    /// The credentials of the URL.
    pub(crate) credentials: Option<Credentials>,
}

/// A repository on a disk.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// The `file` URL.
    pub(crate) url: String,
    pub(crate) path: PathBuf,
}

impl RepositoryAddress {
    /// Parses a URL. Errors do not contain the URL, which may contain a password.
    pub(crate) fn parse(text: &str, outbound: Outbound) -> Result<Self, GitError> {
        let url = Url::parse(text.trim()).map_err(|_| {
            GitError::Url("must be a URL, like `https://example.com/owner/repository.git`".to_owned())
        })?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(GitError::Url("the URL of a repository must not contain `?` or `#`".to_owned()));
        }
        match url.scheme() {
            "https" | "http" => Self::web(url),
            "file" if outbound == Outbound::Files => Self::disk(&url),
            "file" => {
                Err(GitError::Refused("this server does not read repositories from its own disk".to_owned()))
            }
            _ => Err(GitError::Url("must be an `https` or `http` URL".to_owned())),
        }
    }

    /// Returns the URL without credentials, which identifies the repository.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Web(web) => web.url.to_string(),
            Self::Disk(disk) => disk.url.clone(),
        }
    }

    fn web(mut url: Url) -> Result<Self, GitError> {
        let credentials = Credentials::take(&mut url).map_err(|error| GitError::Url(error.to_string()))?;
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self::Web(Web { url, credentials }))
    }

    fn disk(url: &Url) -> Result<Self, GitError> {
        let is_here = matches!(url.host_str(), None | Some("" | "localhost"));
        match url.to_file_path() {
            Ok(path) if is_here && path.is_absolute() => {
                Ok(Self::Disk(Disk { url: format!("file://{}", url.path()), path }))
            }
            _ => Err(GitError::Url(
                "a `file` URL must have an absolute path, like `file:///srv/git/docs`".to_owned(),
            )),
        }
    }
}

/// Converts an error of the guard.
pub(crate) fn host_error(error: HostError) -> GitError {
    match error {
        HostError::None => GitError::Url(error.to_string()),
        HostError::Refused(_) => GitError::Refused(error.to_string()),
        HostError::NotFound(_) => GitError::Unreachable(error.to_string()),
        _ => GitError::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_parse_into_location_and_credentials() {
        let RepositoryAddress::Web(web) =
            RepositoryAddress::parse(" https://me%40x:p%3Aw%20@Example.com:8443/a/b.git/ ", Outbound::Public)
                .unwrap()
        else {
            panic!()
        };
        assert_eq!(web.url.as_str(), "https://example.com:8443/a/b.git");
        let credentials = web.credentials.unwrap();
        assert_eq!((credentials.user.as_str(), credentials.password.as_str()), ("me@x", "p:w "));
        assert_eq!(format!("{credentials:?}"), "Credentials");

        let RepositoryAddress::Disk(disk) =
            RepositoryAddress::parse("file:///srv/a b", Outbound::Files).unwrap()
        else {
            panic!()
        };
        assert_eq!((disk.url.as_str(), disk.path), ("file:///srv/a%20b", PathBuf::from("/srv/a b")));
    }

    #[test]
    fn unsupported_urls_are_refused_without_echoing_them() {
        for text in [
            "",
            "git@github.com:owner/repo.git",
            "ssh://git@secret.test/x",
            "secret:pw@host/x",
            "ftp://secret.test/x",
            "javascript:secret",
            "https://secret@:80/x",
            "https://h/x?secret",
            "https://h/x#secret",
            "git://secret.test/x",
            "/srv/secret",
            "file://host/secret",
            "file:secret",
            "docs-http://remote/secret",
        ] {
            for outbound in [Outbound::Public, Outbound::Files] {
                match RepositoryAddress::parse(text, outbound) {
                    Ok(address) => assert_eq!(text, "file:secret", "{address:?}"),
                    Err(error) => {
                        assert!(
                            matches!(error, GitError::Url(_) | GitError::Refused(_)),
                            "{text}: {error:?}"
                        );
                        assert!(!error.to_string().contains("secret"), "{text}: {error}");
                    }
                }
            }
        }
        let error = RepositoryAddress::parse("file:///srv", Outbound::Private).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{error:?}");
    }
}
