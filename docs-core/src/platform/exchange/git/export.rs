//! The job that exports the content of a space to a repository.

mod apply;
mod push;
mod space;
mod write;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use self::{
    apply::{NewRevision, StoreExport, record_in_sync},
    space::Revision,
    write::{ExportChanges, ExportComparison, Preparer},
};
use super::{
    commit_files::{book_at, book_config, content_paths, repo_tree, text_at},
    no_git,
    sync::{
        Attempt, CommitOrigin, ExportPayload, Times, deleted_branch_error, format_error, git_error, is_set,
    },
};
use crate::{
    Error, ErrorKind, Result,
    content::{
        Edit, GitFile,
        gitsync::{
            AdoptablePaths, ExportPlan, MAX_CONFIG_BYTES, MAX_SUMMARY_BYTES, MAX_WARNINGS, RepoConfig,
            RepoPath, Repository, link_whole_book,
        },
    },
    model::{JobResult, JobStage, RevisionId},
    platform::{
        jobs::{Effect, Job, JobRun, Payload, Progress},
        kernel::{actor::Actor, platform::Platform},
    },
    ports::{Checkout, Commit, GitError},
    store::{
        Hash,
        jobs::{JobClass, JobOutcome},
        records::{ContentPaths, GitState, RevisionRecord, SpaceRecord},
    },
};

/// Maximum number of attempts of an export when others push to the branch.
const MAX_ATTEMPTS: usize = 5;

/// Maximum number of comparisons in which an export adopts existing repository files as its own. After that, it adopts
/// none.
const MAX_CLAIMS: usize = 3;

impl Payload for ExportPayload {
    const KIND: &'static str = "git_export";
    const CLASS: JobClass = JobClass::Remote;
}

#[async_trait]
impl Job for ExportPayload {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let mut progress = run.progress(platform);
        for _ in 0..MAX_ATTEMPTS {
            match platform.attempt_export(&self, run, &mut progress).await? {
                Attempt::Ended(effect) => return Ok(effect),
                Attempt::Moved | Attempt::Differs => {
                    let reference = &self.request.reference;
                    let what = format!("another push changed {reference}; starting again from its commit");
                    run.append_log(platform, what);
                }
            }
            if run.is_stopping() {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "the server is stopping; the export continues \
                                                               later",
                ));
            }
        }
        let reference = &self.request.reference;
        let message = format!(
            "other pushes changed {reference} during all {MAX_ATTEMPTS} attempts; export again later"
        );
        Err(Error::conflict(message))
    }
}

/// The base commit of an export.
pub(super) struct ExportBase<'a> {
    pub(super) checkout: Option<&'a dyn Checkout>,
    /// `true` if the branch exists; otherwise the export is based on the commit of `HEAD`.
    pub(super) is_branch: bool,
}

/// Action of an attempt whose base commit lacks exported content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingContentAction {
    /// Push another commit.
    Push,
    /// Do nothing.
    Ignore,
}

/// The input of an attempt.
pub(super) struct Export<'a> {
    pub(super) payload: &'a ExportPayload,
    /// The space with the content to export, possibly at an earlier revision.
    pub(super) space: Arc<SpaceRecord>,
    pub(super) base: ExportBase<'a>,
    /// The URL with credentials.
    pub(super) url: String,
    pub(super) missing: MissingContentAction,
}

impl Platform {
    pub(super) async fn attempt_export(
        &self,
        payload: &ExportPayload,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let space = payload.live_space(self).await?;
        if let Some(why) = payload.is_stale(&space, run.job.lane_at) {
            run.append_log(self, why);
            return Ok(Attempt::Ended(Effect::Done));
        }
        if !is_set(payload.request.force) && self.is_unchanged_since_sync(payload, &space).await? {
            run.append_log(self, "the repository already has this revision; no export needed".to_owned());
            return Ok(Attempt::Ended(Effect::Done));
        }
        progress.stage(JobStage::RepoFetch).await?;
        let url = payload.url(self, run)?;
        let (checkout, is_branch) = self.base(payload, &url).await?;
        if !is_branch && payload.setting.is_some() && space.git_state_for(&payload.source()).is_some() {
            return Err(deleted_branch_error(&payload.request.reference));
        }
        match &checkout {
            Some(checkout) => run.append_log(self, format!("fetched commit {}", checkout.commit().oid)),
            None => run.append_log(self, "the repository has no commits yet".to_owned()),
        }
        let base = ExportBase { checkout: checkout.as_deref(), is_branch };
        self.export_on(
            Export { payload, space, base, url, missing: MissingContentAction::Push },
            run,
            progress,
        )
        .await
    }

    /// Returns `true` if the content of a space is unchanged since its last sync with this repository.
    async fn is_unchanged_since_sync(&self, payload: &ExportPayload, space: &SpaceRecord) -> Result<bool> {
        let Some(state) = &space.git else { return Ok(false) };
        let head: Option<Arc<RevisionRecord>> =
            self.read().await?.get(&RevisionRecord::key_for(&space.id, &space.head)).await?;
        let git = head.as_ref().and_then(|head| head.git.as_ref());
        Ok(git.is_some_and(|git| state.is_synced_to(&git.oid, &payload.source())))
    }

    /// Fetches the branch, or `HEAD` if the branch is missing. The flag is `true` for the branch.
    pub(super) async fn base(
        &self,
        payload: &ExportPayload,
        url: &str,
    ) -> Result<(Option<Box<dyn Checkout>>, bool)> {
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        for (reference, is_branch) in [(&*payload.request.reference, true), ("HEAD", false)] {
            match git.fetch(&payload.fetch_request(url, reference)).await {
                Ok(checkout) => return Ok((Some(checkout), is_branch)),
                Err(GitError::NoRef(_)) => {}
                Err(error) => return Err(git_error(error)),
            }
        }
        Ok((None, false))
    }

    /// Exports the content of a space on top of a commit.
    pub(super) async fn export_on(
        &self,
        export: Export<'_>,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let storing = self.begin_write_window();
        let Export { payload, space, base, .. } = &export;
        progress.stage(JobStage::ConfigCheck).await?;
        let checkout = base.checkout;
        let places = space.git.as_ref().and_then(|git| git.places.as_ref());
        let (repository, config) = repository(checkout, payload, places).await?;
        let before = self.last_synced_revision(payload, space, &repository).await?;
        let view = self.content().view(&space.domain, space.root);
        let now = Revision::read(&view, Some(&before)).await?;
        progress.stage(JobStage::ContentProcess).await?;
        let oid = checkout.map(|checkout| checkout.commit().oid.clone());
        let is_in_step = space
            .git
            .as_ref()
            .zip(oid.as_ref())
            .is_some_and(|(git, oid)| git.is_synced_to(oid, &payload.source()));
        let compared = ExportComparison {
            domain: &space.domain,
            view: &view,
            repository: &repository,
            config,
            checkout,
            is_in_step,
        };
        let mut prepared = self.prepare(&compared, &now, &before, progress).await?;
        progress.stage(JobStage::Finalize).await?;
        let left_out = prepared.warnings.len().saturating_sub(MAX_WARNINGS);
        prepared.warnings.truncate(MAX_WARNINGS);
        for warning in prepared.warnings.drain(..) {
            run.append_log(self, warning);
        }
        if left_out > 0 {
            run.append_log(self, format!("skipped {left_out} more files"));
        }
        let is_nothing = prepared.writes.is_empty() && prepared.removed.is_empty() && base.is_branch;
        if is_nothing && is_in_step && prepared.gits.is_empty() {
            run.append_log(self, "the repository already has this content; no commit needed".to_owned());
            return self.record_in_sync(&export, run).await.map(Attempt::Ended);
        }
        if !is_nothing && export.missing == MissingContentAction::Ignore {
            return Ok(Attempt::Differs);
        }
        let (commit, gits) = match checkout.filter(|_| is_nothing) {
            Some(checkout) => {
                run.append_log(self, "the repository already has this content; no commit needed".to_owned());
                (checkout.commit().clone(), prepared.gits)
            }
            None => match self.push(&export, run, prepared).await? {
                Some(pushed) => pushed,
                None => return Ok(Attempt::Moved),
            },
        };
        self.check_write_window(storing)?;
        self.store_export(&export, run, commit, gits, content_paths(&repository.config))
            .await
            .map(Attempt::Ended)
    }

    /// Compares the space with the repository. Repeats the comparison until every adopted repository file has the
    /// expected content.
    async fn prepare(
        &self,
        compared: &ExportComparison<'_>,
        now: &Revision,
        before: &Revision,
        progress: &mut Progress<'_>,
    ) -> Result<ExportChanges> {
        let mut claims = AdoptablePaths::AllBut(BTreeSet::new());
        let mut rounds = 0;
        loop {
            let plan = ExportPlan::new(compared.repository, &now.outline, &before.outline, &claims);
            let plan = plan.map_err(format_error)?;
            let preparer =
                Preparer { platform: self, compared, plan: &plan, now, before, own: before.own_paths() };
            let prepared = preparer.prepare(progress).await?;
            if prepared.refused.is_empty() {
                return Ok(prepared);
            }
            rounds += 1;
            claims = match claims {
                AdoptablePaths::AllBut(mut refused) if rounds < MAX_CLAIMS => {
                    refused.extend(prepared.refused);
                    AdoptablePaths::AllBut(refused)
                }
                _ => AdoptablePaths::NoPath,
            };
        }
    }

    /// Returns the revision of the space when it was last in sync.
    async fn last_synced_revision(
        &self,
        payload: &ExportPayload,
        space: &SpaceRecord,
        repository: &Repository,
    ) -> Result<Revision> {
        let state = space.git.as_ref();
        let Some(id) = state.and_then(|git| git.revision.as_ref()) else { return Ok(Revision::default()) };
        let record: Option<Arc<RevisionRecord>> =
            self.read().await?.get(&RevisionRecord::key_for(&space.id, id)).await?;
        let Some(record) = record else { return Ok(Revision::default()) };
        let view = self.content().view(&space.domain, record.root);
        let mut before = Revision::read(&view, None).await?;
        if space.git_state_for(&payload.source()).is_none() {
            before.retain_same(&repository.oids);
        }
        Ok(before)
    }

    /// Records the live revision as in sync with the commit: its content is equal, although it is not the exported
    /// revision. Later synchronizations can then skip the comparison.
    async fn record_in_sync(&self, export: &Export<'_>, run: &JobRun) -> Result<Effect> {
        if export.payload.setting.is_none() {
            return Ok(Effect::Done);
        }
        let finished = run.finish(self, JobOutcome::default());
        self.upkeep(&record_in_sync(export.payload, &export.space.head, &finished)).await?;
        Ok(Effect::Finished)
    }

    /// Records that the commit has the exported content. Edits made during the export become a revision on top of it.
    async fn store_export(
        &self,
        export: &Export<'_>,
        run: &mut JobRun,
        commit: Commit,
        files: Vec<GitFile>,
        places: Option<ContentPaths>,
    ) -> Result<Effect> {
        let Export { payload, space, .. } = export;
        let edits = [Edit::SetGit { files }];
        let exported = self.set_git_locations(space, space.root, &edits).await?;
        let id: RevisionId = self.id();
        let is_ours = commit.message.trim_end() == payload.request.commit_message.trim_end();
        let made_by = if is_ours { CommitOrigin::Platform } else { CommitOrigin::External };
        for _ in 0..MAX_ATTEMPTS {
            let current = payload.live_space(self).await?;
            let edited = match current.head == space.head {
                true => None,
                false => Some(NewRevision {
                    id: self.id(),
                    root: self.set_git_locations(space, current.root, &edits).await?,
                    parent: current.head.clone(),
                }),
            };
            let result = JobResult { revision: Some(id.clone()), ..JobResult::default() };
            let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
            let times = Times { event: run.job.lane_at, now: finished.now };
            let operation = StoreExport {
                payload: ExportPayload::clone(payload),
                exported: NewRevision { id: id.clone(), root: exported, parent: space.head.clone() },
                edited,
                commit: payload.commit(&commit, made_by),
                git: GitState { places: places.clone(), ..payload.state(&commit.oid, &id, times) },
                finished,
            };
            let outcome = self.write(&Actor::Platform, &operation).await?;
            if let Attempt::Ended(effect) = self.attempt(outcome, run) {
                return Ok(effect);
            }
        }
        // The next run finds the commit in the repository.
        Err(Error::new(ErrorKind::Unavailable, "the content of the space keeps changing; retrying later"))
    }

    async fn set_git_locations(&self, space: &SpaceRecord, root: Hash, edits: &[Edit]) -> Result<Hash> {
        Ok(self.content().edit(&space.domain, root, self.now().time(), edits).await?.root)
    }
}

/// Returns the content folder, the first page and the table of contents of the last import or export for a project
/// directory. Files keep their paths, so they also apply to a directory above the previous project directory.
fn known_paths(known: &ContentPaths, project: &RepoPath) -> Option<[RepoPath; 3]> {
    let previous = known.project.as_deref().and_then(|previous| RepoPath::new(previous).ok());
    let folder = previous.filter(|previous| previous.relative_to(project).is_some());
    let folder = folder.as_ref().unwrap_or(project);
    let path = |text: &str| folder.join(text).ok();
    Some([path(&known.root)?, path(&known.readme)?, path(&known.summary)?])
}

/// Reads the repository at the base commit of an export. The second value is the configuration to add if the repository
/// has neither a configuration nor a table of contents. It uses the content paths in `known`, if any.
async fn repository(
    checkout: Option<&dyn Checkout>,
    payload: &ExportPayload,
    known: Option<&ContentPaths>,
) -> Result<(Repository, Option<RepoConfig>)> {
    let (project, host) = (payload.project()?, payload.file_host());
    let mut tree = checkout.map(repo_tree).unwrap_or_default();
    let text = text_at(checkout, &tree, &RepoConfig::path(&project), MAX_CONFIG_BYTES).await?;
    let book = match text {
        Some(_) => None,
        None => book_config(checkout, &tree, &project).await?,
    };
    let is_configured = text.is_some() || book.is_some();
    let mut config = match book {
        Some(config) => config,
        None => RepoConfig::read(text.as_deref(), &project).map_err(format_error)?,
    };
    let mut new = None;
    if !is_configured && tree.file(&config.summary).map_err(format_error)?.is_none() {
        if let Some([root, readme, summary]) = known.and_then(|known| known_paths(known, &project)) {
            config = RepoConfig { root, readme, summary, ..config };
        }
        if let Some(book) = known.and_then(|known| known.book.as_ref()) {
            config = book_at(config, book);
        }
        new = Some(config.clone());
    }
    let summary = text_at(checkout, &tree, &config.summary, MAX_SUMMARY_BYTES).await?;
    link_whole_book(&mut tree, &config, summary.as_deref());
    let entries = checkout.map_or([].as_slice(), |checkout| checkout.entries());
    let oids = entries.iter().map(|entry| (entry.path.clone(), entry.oid.clone())).collect();
    Ok((Repository { tree, oids, config, summary, host }, new))
}
