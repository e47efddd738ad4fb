//! Code shared by Git imports and exports.

use std::sync::Arc;

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

use crate::{
    Error, ErrorKind, Result,
    content::gitsync::{FileHost, FormatError, PathError, RepoPath},
    model::{
        BoundedText, ExportGitRepository, GitCommit, GitInfoProvider, GitInfoUpdate, GitProvider,
        GitSyncDirection, ImportGitRepository, JobId, RevisionId, SpaceId, Timestamp, Url as WebUrl, UserId,
        has_credentials, is_written_out, web_url, without_nul,
    },
    platform::{
        access,
        jobs::{Effect, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform},
        library::{follow::git::lane, head::move_head_to},
    },
    policy::{SpaceAction, SpaceProof},
    ports::{Commit, FetchRequest, GitAccess, GitError},
    store::{
        Operation, Tx,
        jobs::{self, Audience, FinishJob, NewJob, PutOff},
        records::{GitInfo, GitState, RevisionRecord, SpaceRecord, git_source},
    },
};

/// Maximum length of a stored commit message in characters.
const MAX_MESSAGE: usize = 4_000;

pub(in crate::platform) type ImportPayload = SyncPayload<ImportGitRepository>;
pub(in crate::platform) type ExportPayload = SyncPayload<ExportGitRepository>;

/// The payload of an import or export in its stored form, without plain credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct SyncPayload<R> {
    pub(super) space: SpaceId,
    /// The requesting user, recorded as the author of the revision.
    pub(super) by: UserId,
    /// The request. Its URL has no credentials.
    pub(super) request: R,
    /// The sealed URL with credentials.
    #[serde(default)]
    pub(super) sealed_url: Option<String>,
    /// The setting that caused the job, or `None` if a user requested it.
    #[serde(skip)]
    pub(super) setting: Option<SettingContext>,
}

/// The context of an import or export caused by a setting of the space.
#[derive(Clone, Debug)]
pub(in crate::platform) struct SettingContext {
    /// The id of the setting. Results under a replaced setting are discarded.
    pub(super) generation: String,
    /// The handling of fields that files cannot represent.
    pub(super) unsaid: UnexportableFields,
    /// The time when the exported revision became live. It is the commit time, so that a pushed commit can be
    /// recognized.
    pub(super) committed_at: Option<Timestamp>,
}

/// The handling of fields that files cannot represent in an import: emojis, icons and conditions of groups and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnexportableFields {
    Cleared,
    /// Retains the fields of the space.
    Retained,
}

/// The common fields of both kinds of requests.
pub(in crate::platform) struct SyncRequestFields<'r> {
    pub(super) url: &'r str,
    pub(super) reference: &'r str,
    pub(super) cache_id: Option<&'r str>,
    pub(super) tree_url: Option<&'r str>,
    pub(super) commit_url: Option<&'r str>,
    pub(super) directory: &'r str,
    pub(super) info: Option<&'r GitInfoUpdate>,
    pub(super) timestamp: Option<Timestamp>,
    /// `true` if the job runs even if a later event has already been applied.
    pub(super) is_unordered: bool,
}

/// A request for an import or export.
pub(in crate::platform) trait SyncRequest:
    Clone + Send + Sync + Serialize + 'static
{
    /// The required access to the ref.
    const ACCESS: GitAccess;

    fn fields(&self) -> SyncRequestFields<'_>;

    /// Replaces the URL of the request.
    fn with_url(self, url: String) -> Result<Self>;
}

macro_rules! sync_request {
    ($request:ty, $access:expr, $is_unordered:expr) => {
        impl SyncRequest for $request {
            const ACCESS: GitAccess = $access;

            fn fields(&self) -> SyncRequestFields<'_> {
                SyncRequestFields {
                    url: &self.url,
                    reference: &self.reference,
                    cache_id: self.repo_cache_id.as_deref(),
                    tree_url: self.repo_tree_url.as_deref(),
                    commit_url: self.repo_commit_url.as_deref(),
                    directory: self.repo_project_directory.as_deref().unwrap_or_default(),
                    info: self.git_info.as_ref(),
                    timestamp: self.timestamp,
                    is_unordered: $is_unordered(self),
                }
            }

            fn with_url(mut self, url: String) -> Result<Self> {
                self.url = BoundedText::new(url).map_err(|e| Error::invalid("url", e))?;
                Ok(self)
            }
        }
    };
}

sync_request!(ImportGitRepository, GitAccess::Fetch, |it: &Self| is_set(it.force) || is_set(it.standalone));
sync_request!(ExportGitRepository, GitAccess::Push, |it: &Self| is_set(it.force));

pub(super) fn is_set(flag: Option<bool>) -> bool {
    flag == Some(true)
}

impl<R: SyncRequest> SyncPayload<R> {
    /// Returns the identity of the source without the commit: the same commit from another source counts as different.
    pub(super) fn source(&self) -> String {
        let wanted = self.request.fields();
        git_source(wanted.url, wanted.reference, wanted.directory)
    }

    /// Returns the folder of the repository that contains the documentation.
    pub(super) fn project(&self) -> Result<RepoPath> {
        RepoPath::new(self.request.fields().directory).map_err(|error| path_error(&error))
    }

    /// Returns the host that shows the files of the ref, if it is known.
    pub(super) fn file_host(&self) -> Option<FileHost> {
        let wanted = self.request.fields();
        let from_tree = |url| FileHost::from_tree_url(url, wanted.reference);
        FileHost::from_url(wanted.url, wanted.reference).or_else(|| wanted.tree_url.and_then(from_tree))
    }

    /// The space, unless it is deleted.
    pub(super) async fn live_space(&self, platform: &Platform) -> Result<Arc<SpaceRecord>> {
        let space: Option<Arc<SpaceRecord>> =
            platform.read().await?.get(&SpaceRecord::key_for(&self.space)).await?;
        space.filter(|space| space.deleted_at.is_none()).ok_or_else(|| Error::not_found("space"))
    }

    /// Checks the permission to store the result: while the job ran, the user may have lost it, or the space may have
    /// been deleted. Jobs caused by a setting act as the platform.
    pub(super) async fn proof(&self, tx: &Tx) -> Result<SpaceProof> {
        let actor = match &self.setting {
            Some(_) => Actor::Platform,
            None => Actor::User(self.by.clone()),
        };
        access::space(tx, &actor, &self.space).await?.require(SpaceAction::Manage)
    }

    /// Begins a transaction that records the result of the job and finishes the job. Returns the space, or why the
    /// result must be discarded. The live revision must equal `head` unless it is `None`.
    pub(super) async fn begin(
        &self,
        tx: &mut Tx,
        head: Option<&RevisionId>,
        finished: &FinishJob,
    ) -> Result<std::result::Result<SpaceProof, CommitOutcome>> {
        let proof = self.proof(tx).await?;
        let space = proof.space();
        if let Some(why) = self.is_stale(space, finished.job.lane_at) {
            return Ok(Err(CommitOutcome::Stale(why)));
        }
        if head.is_some_and(|head| *head != space.head) {
            return Ok(Err(CommitOutcome::Changed));
        }
        if !jobs::finish(tx, finished).await? {
            return Ok(Err(CommitOutcome::TakenOver));
        }
        Ok(Ok(proof))
    }

    /// Returns the reason why the result is obsolete: a later event was applied first, or the setting was replaced.
    pub(super) fn is_stale(&self, space: &SpaceRecord, event_at: Timestamp) -> Option<String> {
        if let Some(setting) = &self.setting {
            let current = space.git_sync.as_ref().map(|sync| &sync.generation);
            return (current != Some(&setting.generation))
                .then(|| "dropped: the setting of the space has changed".to_owned());
        }
        if self.request.fields().is_unordered {
            return None;
        }
        let last = space.git.as_ref()?.event_at?;
        (event_at < last)
            .then(|| format!("dropped: the event of {event_at} is older than the applied event of {last}"))
    }

    /// Returns the URL with credentials.
    pub(super) fn url(&self, platform: &Platform, run: &JobRun) -> Result<String> {
        let Some(sealed) = &self.sealed_url else { return Ok(self.request.fields().url.to_owned()) };
        if self.setting.is_some() {
            return open_url(platform, &self.space, sealed);
        }
        platform.secrets().open(run.job.id.as_str(), sealed).map_err(|_| {
            Error::new(
                ErrorKind::Precondition,
                "the credentials were sealed by another server; send the \
                                                 request again",
            )
        })
    }

    /// Returns the fetch request for a ref. The cache id defaults to the id of the space.
    pub(super) fn fetch_request(&self, url: &str, reference: &str) -> FetchRequest {
        let cache_id = self.request.fields().cache_id.map_or_else(|| self.space.to_string(), str::to_owned);
        FetchRequest { url: url.to_owned(), reference: reference.to_owned(), cache_id: Some(cache_id) }
    }

    /// Returns the Git state of the space after the job.
    pub(super) fn state(&self, oid: &str, revision: &RevisionId, at: Times) -> GitState {
        let wanted = self.request.fields();
        // The link for readers: the one in the request, or the repository, unless that is on the server's disk.
        let shown = wanted.info.and_then(|info| info.url.as_deref());
        let local = Url::parse(wanted.url).is_ok_and(|url| url.scheme() == "file");
        let link = shown.or(wanted.tree_url).filter(|url| !url.is_empty());
        let link = link.or_else(|| (!local).then_some(wanted.url));
        // The tree URL ends in a branch, not in the name of the repository.
        let name = repo_name(shown.filter(|url| !url.is_empty()).unwrap_or(wanted.url));
        GitState {
            info: GitInfo {
                repo_name: (!name.is_empty()).then_some(name),
                installation_provider: wanted.info.and_then(|info| info.provider).map(|provider| {
                    match provider {
                        GitInfoProvider::Github => GitProvider::Github,
                        GitInfoProvider::Gitlab => GitProvider::Gitlab,
                    }
                }),
                url: link.map(str::to_owned),
                repo_tree_url: wanted.tree_url.filter(|url| !url.is_empty()).map(str::to_owned),
                updated_at: Some(at.now),
            },
            oid: Some(oid.to_owned()),
            source: Some(self.source()),
            event_at: Some(at.event),
            revision: Some(revision.clone()),
            layout: None,
            places: None,
        }
    }

    /// Returns the commit as shown with the revision.
    pub(super) fn commit(&self, commit: &Commit, made_by: CommitOrigin) -> GitCommit {
        let wanted = self.request.fields();
        let below = wanted.commit_url.filter(|url| !url.is_empty());
        let is_ours = made_by == CommitOrigin::Platform;
        GitCommit {
            oid: commit.oid.clone(),
            // NUL is removed: stores reject it, and it must not make the import fail.
            message: stored_message(&commit.message),
            created_by_platform: is_ours,
            created_by_git_book: is_ours,
            url: below.map(|url| format!("{}/{}", url.trim_end_matches('/'), commit.oid)),
            reference: Some(wanted.reference.to_owned()),
        }
    }
}

/// The outcome of recording the result of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum CommitOutcome {
    /// The result is recorded and the job is finished.
    Done,
    /// The space has changed since it was read.
    Changed,
    /// A later event was applied first, or the setting was replaced.
    Stale(String),
    /// Another worker has taken over the job.
    TakenOver,
}

pub(super) enum Attempt {
    Ended(Effect),
    /// The branch has moved since it was fetched, or the content of the space has changed since it was read.
    Moved,
    /// The commit lacks exported content, and the attempt was not allowed to push.
    Differs,
}

impl Platform {
    /// Converts the outcome of recording to the outcome of the attempt.
    pub(super) fn attempt(&self, outcome: CommitOutcome, run: &mut JobRun) -> Attempt {
        match outcome {
            CommitOutcome::Done => Attempt::Ended(Effect::Finished),
            CommitOutcome::Changed => Attempt::Moved,
            CommitOutcome::Stale(why) => {
                run.append_log(self, why);
                Attempt::Ended(Effect::Done)
            }
            CommitOutcome::TakenOver => {
                let kind = &run.job.kind;
                tracing::warn!(job.id = %run.job.id, job.kind = %kind, "stop; another worker has the job");
                Attempt::Ended(Effect::Finished)
            }
        }
    }
}

/// The time of an event and the time of its application.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) event: Timestamp,
    pub(super) now: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitOrigin {
    Platform,
    External,
}

/// Returns the record of a space after a synchronization with a commit.
pub(super) fn synced_record(
    old: &SpaceRecord,
    done: GitSyncDirection,
    git: GitState,
    now: Timestamp,
) -> SpaceRecord {
    let mut git_sync = old.git_sync.clone();
    if let Some(sync) = &mut git_sync {
        sync.record(done, &git, now);
    }
    SpaceRecord { git: Some(git), git_sync, ..old.clone() }
}

/// Makes a revision the head of its space. The space is then in sync with Git, with this revision or with one of its
/// parents.
pub(super) async fn move_head_in_sync(
    tx: &mut Tx,
    proof: &SpaceProof,
    revision: RevisionRecord,
    done: GitSyncDirection,
    git: GitState,
) -> Result<()> {
    let old = proof.space();
    let new = SpaceRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: revision.created_at.later_than(old.updated_at),
        ..synced_record(old, done, git, revision.created_at)
    };
    move_head_to(tx, proof, new, revision).await
}

/// Returns the sealing purpose of the URL of a space's setting.
pub(super) fn url_purpose(space: &SpaceId) -> String {
    format!("git-sync-url {space}")
}

/// Returns the URL of a space's setting with credentials.
pub(super) fn open_url(platform: &Platform, space: &SpaceId, sealed: &str) -> Result<String> {
    platform.secrets().open(&url_purpose(space), sealed).map_err(|_| {
        let message = "the credentials were sealed with another key; set the synchronization again";
        Error::new(ErrorKind::Precondition, message)
    })
}

/// Returns the name of a repository: the last segment of its path.
fn repo_name(address: &str) -> String {
    let url = Url::parse(address);
    let path = url.as_ref().map_or(address, Url::path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let name = percent_decode_str(last.trim_end_matches(".git")).decode_utf8_lossy();
    without_nul(&name).into_owned()
}

/// Maps a Git failure to a job error: temporary failures are retried.
pub(super) fn git_error(error: GitError) -> Error {
    let kind = if error.may_pass() { ErrorKind::Unavailable } else { ErrorKind::Invalid };
    Error::new(kind, error.to_string()).caused_by(error)
}

/// Returns the error for an export to a deleted branch, which must not be recreated without a request.
pub(super) fn deleted_branch_error(reference: &str) -> Error {
    Error::invalid("ref", format!("the repository has no {reference}; create it, or configure another ref"))
}

pub(super) fn format_error(error: FormatError) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string()).caused_by(error)
}

pub(super) fn path_error(error: &PathError) -> Error {
    Error::invalid("repoProjectDirectory", error)
}

/// Validates the URL of a repository and returns it without credentials.
pub(super) fn check_url(url: &str) -> Result<String> {
    let wrong = || Error::invalid("url", "must be an absolute https, http or file URL");
    let no_host = || {
        Error::invalid(
            "url",
            "must be a URL with a host; special characters of a password must be \
                               percent-encoded",
        )
    };
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(wrong());
    }
    let mut parsed = match Url::parse(url) {
        Err(ParseError::RelativeUrlWithoutBase) => return Err(wrong()),
        // A slash in a password ends the host too early. The remainder is not a valid host, so the URL is rejected
        // before it is stored.
        Err(_) => return Err(no_host()),
        Ok(parsed) => parsed,
    };
    let has_host = match parsed.scheme() {
        "https" | "http" => web_url(url).is_some(),
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

/// Rejects URLs that must not be shown to readers: URLs with credentials and URLs that are not web URLs. An empty
/// string counts as no URL.
pub(super) fn check_public_url(field: &str, url: Option<&str>) -> Result<()> {
    let holds_some = url.is_some_and(|url| match Url::parse(url) {
        Ok(url) => has_credentials(&url),
        // An invalid URL with credentials is rejected for the credentials.
        Err(_) => url.contains('@'),
    });
    if holds_some {
        return Err(Error::invalid(field, "must not contain credentials"));
    }
    match url.filter(|url| !url.is_empty()) {
        Some(url) => WebUrl::new(url).map(drop).map_err(|error| Error::invalid(field, error)),
        None => Ok(()),
    }
}

/// Enqueues the job of an import or export.
pub(super) struct EnqueueGitSync<R> {
    pub(super) actor: Actor,
    pub(super) id: JobId,
    pub(super) payload: SyncPayload<R>,
    pub(super) now: Timestamp,
}

#[async_trait]
impl<R: SyncRequest> Operation for EnqueueGitSync<R>
where
    SyncPayload<R>: Payload,
{
    type Output = ();
    const NAME: &'static str = <SyncPayload<R> as Payload>::KIND;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let space = &self.payload.space;
        let access = access::space(tx, &self.actor, space).await?;
        access.require(SpaceAction::Manage)?;
        // An event without a timestamp sorts after those already applied, even if the clock of this server lags.
        let applied = access.space().git.as_ref().and_then(|git| git.event_at);
        let told = self.payload.request.fields().timestamp;
        let event_at = told.unwrap_or(self.now.max(applied.unwrap_or(self.now)));
        let job = self.payload.to_new_job(&self.id, space, self.now)?;
        let audience = Audience::Subject { by: Some(self.payload.by.clone()), same: None };
        let lane = Some((lane(space), event_at));
        let owner = access.space().organization.to_string();
        jobs::require_room(tx, &owner, job.kind).await?;
        let owner = Some(owner);
        jobs::enqueue(tx, self.now, NewJob { owner, audience, lane, put_off: PutOff::Yields, ..job }).await
    }
}

/// Returns the commit message without NUL, truncated to [`MAX_MESSAGE`] characters.
fn stored_message(message: &str) -> String {
    without_nul(message).chars().take(MAX_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_removed_from_the_displayed_url() {
        let clean = |url| check_url(url).expect("a URL");
        assert_eq!(clean("https://me:secret@example.com/a/b.git"), "https://example.com/a/b.git");
        assert_eq!(clean("https://me@x:secret@example.com"), "https://example.com/");
        assert_eq!(clean("HTTPS://:secret@Example.com:443/a"), "https://example.com/a");
        assert_eq!(clean("http://me@[::1]:8080/a.git"), "http://[::1]:8080/a.git");
        // A URL without credentials is unchanged.
        assert_eq!(clean("https://Bücher.example:443/a"), "https://Bücher.example:443/a");
        assert_eq!(clean("http://[::1]:8080/a.git?x"), "http://[::1]:8080/a.git?x");
        assert_eq!(clean("https://example.com/a@b"), "https://example.com/a@b");
        assert_eq!(clean("file:///srv/docs"), "file:///srv/docs");
    }

    #[test]
    fn invalid_or_unsupported_urls_are_refused() {
        for wrong in [
            "",
            "example.com/a",
            "ssh://git@example.com/a",
            "gopher://x/",
            "https://",
            "https:///a",
            "https:a.example/b",
            "https:\\\\a.example\\b",
            "git://a.example/a.git",
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
    fn shown_urls_must_be_web_urls_without_credentials() {
        for fine in [None, Some("https://example.com/a@b"), Some("HTTP://example.com"), Some("")] {
            assert!(check_public_url("repoTreeURL", fine).is_ok(), "{fine:?}");
        }
        for wrong in [
            "https://me:secret@example.com/a",
            "https://me@example.com",
            "https:me:secret@example.com/a",
            "HTTPS:\\\\me:secret@example.com",
            "https://me:secret@example.com:99999/a",
        ] {
            let error = check_public_url("repoTreeURL", Some(wrong)).expect_err(wrong);
            assert_eq!(error.message(), "repoTreeURL: must not contain credentials");
        }
        for wrong in ["javascript:x", "tree/main", "ftp://example.com", "https://", "data:text/html,x", " "] {
            let error = check_public_url("gitInfo.url", Some(wrong)).expect_err(wrong);
            assert_eq!(error.message(), "gitInfo.url: must be an absolute http or https URL");
        }
    }

    #[test]
    fn messages_longer_than_the_bound_are_cut() {
        let shown = |characters: usize| stored_message(&"ä".repeat(characters)).chars().count();
        let lengths = [MAX_MESSAGE - 1, MAX_MESSAGE, MAX_MESSAGE + 1];
        assert_eq!(lengths.map(shown), [MAX_MESSAGE - 1, MAX_MESSAGE, MAX_MESSAGE]);
    }
}
