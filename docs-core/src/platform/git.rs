//! Git import: the request, and what is known of a space's repository.

mod import;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

use self::import::{git_error, path_error};
use super::{Actor, access, at_once, jobs::Job as _, nouns::SpaceHandle};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::gitsync::RepoPath,
    model::{
        BoundedText, GitSync, ImportGitRepository, JobId, SpaceId, Timestamp, UserId, has_credentials,
        is_written_out, web_url,
    },
    policy::SpaceAction,
    ports::GitAccess,
    store::{
        Operation, Tx,
        jobs::{self, Audience, NewJob},
    },
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

impl<'p> SpaceHandle<'p> {
    /// Starts importing a Git repository into a space: answers at once with the job that does it.
    ///
    /// The job makes the space's content equal to the repository's; a failure is recorded on the job, see
    /// [`get_job`](Self::get_job), and leaves the space as it was. Imports of one space run one after the other, by
    /// their `timestamp`.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`; `Invalid` for a text that is no URL or no ref; `Conflict`
    /// when too many imports of the space wait already; `Precondition` when this platform reads no repositories.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let request = serde_json::json!({ "url": "https://example.com/docs.git", "ref": "main" });
    /// let job = me.space(space).import_git(serde_json::from_value(request)?).await?;
    /// println!("job {job} imports the repository");
    /// # Ok(())
    /// # }
    /// ```
    pub fn import_git(self, request: ImportGitRepository) -> BoxFuture<'p, Result<JobId>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, async move {
                let git = platform.ports().git.as_ref().ok_or_else(|| {
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
                git.check(&request.url, &request.reference, GitAccess::Fetch).map_err(git_error)?;
                let directory = request.repo_project_directory.as_deref().unwrap_or_default();
                RepoPath::new(directory).map_err(|error| path_error(&error))?;
                let by = actor.require_user()?.clone();
                let id: JobId = platform.id();
                let sealed_url = match clean == *request.url {
                    true => None,
                    false => Some(
                        platform
                            .secrets()
                            .seal(id.as_str(), &request.url, platform.ids().next())
                            .map_err(Error::internal)?,
                    ),
                };
                let mut request = request;
                request.url = BoundedText::new(clean).map_err(|e| Error::invalid("url", e))?;
                let now = platform.now();
                let payload = ImportPayload { space: space.clone(), by, request, sealed_url };
                let enqueue = EnqueueGitSync { actor: actor.clone(), id, payload, now };
                platform.write_and_show(actor, &enqueue, |_| at_once(Ok(enqueue.id.clone()))).await
            });
            done.await
        })
    }

    /// Reads what is known of the Git repository that a space is in sync with.
    ///
    /// # Errors
    /// `NotFound`, also for a space that was never in sync with one.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let git = me.space(space).git_info().await?;
    /// println!("in sync with {:?} since {:?}", git.url, git.updated_at);
    /// # Ok(())
    /// # }
    /// ```
    pub fn git_info(self) -> BoxFuture<'p, Result<GitSync>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
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

struct EnqueueGitSync {
    actor: Actor,
    id: JobId,
    payload: ImportPayload,
    now: Timestamp,
}

#[async_trait]
impl Operation for EnqueueGitSync {
    type Out = ();
    const NAME: &'static str = "git_import";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let space = &self.payload.space;
        let access = access::space(tx, &self.actor, space).await?;
        access.require(SpaceAction::Manage)?;
        // Without a time of its own an event is later than what was applied, whatever the clock of this server says.
        let applied = access.space().git.as_ref().and_then(|git| git.event_at);
        let event_at = self.payload.request.timestamp.unwrap_or(self.now.max(applied.unwrap_or(self.now)));
        let job = self.payload.about(&self.id, space, self.now)?;
        let audience = Audience::Subject { by: Some(self.payload.by.clone()), same: None };
        let lane = Some((lane(space), event_at));
        jobs::enqueue(tx, self.now, NewJob { audience, lane, ..job }).await
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
