//! The commit of an export: its author, committer and time, and its push.

use std::sync::Arc;

use super::{
    super::{no_git, sync::git_error},
    Export,
    write::{ExportChanges, PushFileSource},
};
use crate::{
    Error, Result,
    content::GitFile,
    platform::{jobs::JobRun, kernel::platform::Platform},
    ports::{Commit, GitError, PushRequest, Signature},
    store::records::UserRecord,
};

/// The committer of exports; the author is the requesting user.
const COMMITTER_NAME: &str = "Docs Platform";
/// An e-mail address in the reserved domain `.invalid`, which cannot be registered.
const COMMITTER_EMAIL: &str = "git-export@docs-platform.invalid";

impl Platform {
    /// Pushes, and returns the commit with the Git locations of its files, or `None` if the branch has moved.
    pub(super) async fn push(
        &self,
        export: &Export<'_>,
        run: &mut JobRun,
        prepared: ExportChanges,
    ) -> Result<Option<(Commit, Vec<GitFile>)>> {
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let Export { payload, space, base, url, .. } = export;
        let author: Option<Arc<UserRecord>> =
            self.read().await?.get(&UserRecord::key_for(&payload.by)).await?;
        let author = author.ok_or_else(|| Error::not_found("user"))?;
        let parent = base.checkout.map(|checkout| checkout.commit().oid.clone());
        let wanted = payload.fetch_request(url, &payload.request.reference);
        let request = PushRequest {
            url: wanted.url,
            reference: wanted.reference,
            cache_id: wanted.cache_id,
            expected: parent.clone().filter(|_| base.is_branch),
            parent,
            removed: prepared.removed.iter().map(ToString::to_string).collect(),
            message: payload.request.commit_message.to_string(),
            author: Signature { name: author.display_name.clone(), email: author.email.clone() },
            committer: Signature { name: COMMITTER_NAME.to_owned(), email: COMMITTER_EMAIL.to_owned() },
            // The commit time of a run caused by a setting is fixed, so that a repeated run makes the same commit.
            // Other runs use the current time.
            committed_at: payload
                .setting
                .as_ref()
                .and_then(|it| it.committed_at)
                .unwrap_or_else(|| self.now())
                .time(),
        };
        let (written, removed) = (prepared.writes.len(), prepared.removed.len());
        let mut files = PushFileSource::new(self, &space.domain, prepared);
        match git.push(&request, &mut files).await {
            Ok(commit) => {
                let what =
                    format!("pushed commit {}: {written} files written, {removed} removed", commit.oid);
                run.append_log(self, what);
                Ok(Some((commit, files.gits)))
            }
            Err(GitError::Moved) => Ok(None),
            Err(GitError::Source(reason)) => Err(match reason.downcast_ref::<Error>() {
                Some(error) => Error::new(error.kind(), error.message().to_owned()).caused_by(reason),
                None => Error::internal(reason),
            }),
            Err(error) => Err(git_error(error)),
        }
    }
}
