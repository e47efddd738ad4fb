//! Git import: the request, and what is known of a space's repository.

mod import;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

pub(super) use self::import::IMPORT;
use self::import::{git_error, path_error};
use super::{Actor, Platform, access, at_once};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::gitsync::RepoPath,
    model::{
        GitSync, ImportGitRepository, JobId, SpaceId, Text, Timestamp, UserId, has_credentials,
        is_written_out, web_url,
    },
    policy::SpaceAction,
    ports::FetchRequest,
    store::{Operation, Tx, jobs},
};

/// What an import works on, as the job keeps it: without credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ImportPayload {
    pub(super) space: SpaceId,
    /// Who asked for it, and makes the revision.
    pub(super) by: UserId,
    /// The request, its URL without credentials.
    pub(super) request: ImportGitRepository,
    /// The URL with credentials, sealed.
    #[serde(default)]
    pub(super) sealed_url: Option<String>,
}

impl Platform {
    /// Starts importing a Git repository into a space (SPEC 4.14): answers at once with the job that does it.
    ///
    /// The job makes the space's content equal to the repository's; whatever goes wrong is on the job and in the log,
    /// and leaves the space as it was. Imports of one space run one after the other, by their `timestamp`.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`; `Invalid` for a URL or ref that is none; `Precondition`
    /// when this platform reads no repositories.
    pub fn import_git<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        request: ImportGitRepository,
    ) -> BoxFuture<'a, Result<JobId>> {
        Box::pin(self.once(actor, async move {
            let git = self.git().ok_or_else(|| {
                Error::new(ErrorKind::Precondition, "this server does not read Git repositories")
            })?;
            let clean = check_url(&request.url)?;
            if !request.reference.starts_with("refs/") || request.reference.len() < 6 {
                return Err(Error::invalid("ref", "must be a ref in full, like refs/heads/main"));
            }
            check_shown("repoTreeURL", request.repo_tree_url.as_deref())?;
            check_shown("repoCommitURL", request.repo_commit_url.as_deref())?;
            check_shown("gitInfo.url", request.git_info.as_ref().and_then(|info| info.url.as_deref()))?;
            // What can be told at once is refused here, where somebody reads it; the job tells the rest.
            let wanted = FetchRequest {
                url: request.url.to_string(),
                reference: request.reference.to_string(),
                cache_id: None,
            };
            git.check(&wanted).map_err(git_error)?;
            let directory = request.repo_project_directory.as_deref().unwrap_or_default();
            RepoPath::new(directory).map_err(|error| path_error(&error))?;
            let by = actor.require_user()?.clone();
            let id: JobId = self.id();
            let sealed_url = match clean == *request.url {
                true => None,
                false => Some(
                    self.secrets()
                        .seal(id.as_str(), &request.url, self.ids().next())
                        .map_err(Error::internal)?,
                ),
            };
            let mut request = request;
            request.url = Text::new(clean).map_err(|e| Error::invalid("url", e))?;
            let now = self.now();
            let payload = ImportPayload { space: space.clone(), by, request, sealed_url };
            let enqueue = Enqueue { actor: actor.clone(), id, payload, now };
            self.write_and_show(actor, &enqueue, |_| at_once(Ok(enqueue.id.clone()))).await
        }))
    }

    /// What is known of the space's repository (SPEC 4.14).
    ///
    /// # Errors
    /// `NotFound`, also for a space that was never in sync with one.
    pub fn git_info<'a>(&'a self, actor: &'a Actor, space: &'a SpaceId) -> BoxFuture<'a, Result<GitSync>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::space(&tx, actor, space).await?;
            let git = access.space().git.as_ref();
            git.map(|git| git.info.clone()).ok_or_else(|| Error::not_found("Git repository of this space"))
        })
    }
}

/// Checks that text is the URL of a repository; answers it without credentials.
fn check_url(url: &str) -> Result<String> {
    let wrong = || Error::invalid("url", "must be an absolute https, http, git or file URL");
    let no_host = || {
        Error::invalid("url", "must be a URL with a host; percent-encode special characters of a password")
    };
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(wrong());
    }
    let mut parsed = match Url::parse(url) {
        Err(ParseError::RelativeUrlWithoutBase) => return Err(wrong()),
        // A password with a slash ends the host too early: what is left is no host, and is refused before it is kept.
        Err(_) => return Err(no_host()),
        Ok(parsed) => parsed,
    };
    let has_host = match parsed.scheme() {
        "https" | "http" => web_url(url).is_some(),
        "git" => parsed.host_str().is_some_and(|host| !host.is_empty()),
        "file" => true,
        _ => return Err(wrong()),
    };
    if !is_written_out(url, &parsed) {
        return Err(wrong());
    }
    if !has_host {
        return Err(no_host());
    }
    if !has_credentials(&parsed) {
        return Ok(url.to_owned());
    }
    let cleaned = parsed.set_password(None).and_then(|()| parsed.set_username(""));
    cleaned.map_err(|()| no_host())?;
    Ok(parsed.into())
}

/// Refuses credentials in an address that is shown to readers.
fn check_shown(field: &str, url: Option<&str>) -> Result<()> {
    let holds_some = url.is_some_and(|url| match Url::parse(url) {
        Ok(url) => has_credentials(&url),
        // What cannot be read may still be shown.
        Err(_) => url.contains('@'),
    });
    if holds_some { Err(Error::invalid(field, "must not hold credentials")) } else { Ok(()) }
}

/// The lane of a space's imports.
pub(super) fn lane(space: &SpaceId) -> String {
    format!("git:{space}")
}

struct Enqueue {
    actor: Actor,
    id: JobId,
    payload: ImportPayload,
    now: Timestamp,
}

#[async_trait]
impl Operation for Enqueue {
    type Out = ();
    const NAME: &'static str = "git_import";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let space = &self.payload.space;
        let access = access::space(tx, &self.actor, space).await?;
        access.require(SpaceAction::Manage)?;
        // Without a time of its own an event is later than what was applied, whatever the clock of this server says.
        let applied = access.space().git.as_ref().and_then(|git| git.event_at);
        let event_at = self.payload.request.timestamp.unwrap_or(self.now.max(applied.unwrap_or(self.now)));
        jobs::enqueue(
            tx,
            self.now,
            jobs::NewJob {
                id: self.id.clone(),
                kind: IMPORT,
                payload: serde_json::to_value(&self.payload).map_err(Error::internal)?,
                subject: space.to_string(),
                lane: Some((lane(space), event_at)),
                due: self.now,
            },
        )
        .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_credentials() {
        let clean = |url| check_url(url).expect("a URL");
        assert_eq!(clean("https://me:secret@example.com/a/b.git"), "https://example.com/a/b.git");
        assert_eq!(clean("https://me@x:secret@example.com"), "https://example.com/");
        assert_eq!(clean("HTTPS://:secret@Example.com:443/a"), "https://example.com/a");
        assert_eq!(clean("http://me@[::1]:8080/a.git"), "http://[::1]:8080/a.git");
        assert_eq!(clean("git://me@example.com:9418/a.git"), "git://example.com:9418/a.git");
        // Without any it stays as it was written.
        assert_eq!(clean("https://Bücher.example:443/a"), "https://Bücher.example:443/a");
        assert_eq!(clean("http://[::1]:8080/a.git?x"), "http://[::1]:8080/a.git?x");
        assert_eq!(clean("https://example.com/a@b"), "https://example.com/a@b");
        assert_eq!(clean("file:///srv/docs"), "file:///srv/docs");
    }

    #[test]
    fn a_url_of_another_scheme_is_refused_by_name() {
        for wrong in [
            "",
            "example.com/a",
            "ssh://git@example.com/a",
            "gopher://x/",
            "https://",
            "https:///a",
            "https:a.example/b",
            "https:\\\\a.example\\b",
            "git:///a",
            "git:a",
            "https://a b/",
            "https://a.example:99999/",
            "https://[::1/a",
            "https://me:pa/ss@host/x",
        ] {
            let error = check_url(wrong).expect_err(wrong);
            assert!(error.message().starts_with("url: "), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_address_that_is_shown_holds_no_credentials() {
        for fine in [None, Some("https://example.com/a@b"), Some("tree/main"), Some("")] {
            assert!(check_shown("repoTreeURL", fine).is_ok(), "{fine:?}");
        }
        for wrong in [
            "https://me:secret@example.com/a",
            "https://me@example.com",
            "https:me:secret@example.com/a",
            "HTTPS:\\\\me:secret@example.com",
            "https://me:secret@example.com:99999/a",
        ] {
            let error = check_shown("repoTreeURL", Some(wrong)).expect_err(wrong);
            assert_eq!(error.message(), "repoTreeURL: must not hold credentials");
        }
    }
}
