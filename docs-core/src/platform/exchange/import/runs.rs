//! Import runs of an organization: the import jobs of its spaces.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use super::{
    ImportOrigin, ImportRun, Source,
    gather::Gatherer,
    stored::{find_uploads, source_of, unusable_upload_error},
};
use crate::{
    Error, ErrorKind, Result,
    model::{
        ContentImportRun, ContentImportRunObject, ImportRunSource, ImportRunStatus, ImportRunTarget,
        ImportRunUrls, JobId, MAX_FILE_BYTES, NewImportSource, OrgId, PageId, SiteId, SpaceId,
        StartImportRun, Timestamp, UploadId, UserId, has_credentials, web_url,
    },
    platform::{
        access::{self, AccessResolver},
        content::{
            edit::append::AppendTarget,
            org_requests::{sees_site, spaces_of_site},
        },
        jobs::Payload,
        kernel::{actor::Actor, content_version::ContentVersion, platform::Platform, request::Right},
        nouns::{OrgHandle, filters::ImportRunFilter, list_identities},
    },
    policy::{OrgAccess, SpaceAction},
    store::{
        Entity, Key, ListSpec, Lister, MAX_SCAN, Operation, Page, PageRequest, Tx,
        jobs::{self, Audience, NewJob},
        records::{JobRecord, JobState, SiteSpaceRecord, SpaceRecord},
    },
};

impl<'p> OrgHandle<'p> {
    /// Starts the import of a website or of uploaded files into a space and returns immediately. The run is one of the
    /// [jobs](crate::platform::SpaceHandle::list_jobs) of the space.
    ///
    /// # Errors
    /// Those of [`import`](crate::platform::ContentHandle::import); `NotFound` for a space of another organization, and
    /// for a site that the actor may not see; `Invalid` for a URL with credentials, for files that the actor did not
    /// upload, and for `enhance`; `Conflict` when too many imports are unfinished.
    #[boxed]
    pub async fn start_import(self, request: StartImportRun) -> Result<ContentImportRun> {
        let (platform, ref actor, org) = self.parts();
        let space: SpaceId = request.target.space.parse().map_err(|_| Error::not_found("space"))?;
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let by = actor.require_user()?.clone();
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            let site = match &request.site {
                Some(site) => Some(require_visible_site(&tx, actor, &access, site).await?),
                None => None,
            };
            // The target needs a transaction of its own, so this one is ended first.
            drop(tx);
            let target = platform.run_target(actor, org, space, &request).await?;
            if request.enhance == Some(true) {
                return Err(Error::invalid("enhance", "must be false, because the platform has no AI model"));
            }
            // Fails if the platform does not support imports.
            drop(Gatherer::new(platform, target.space())?);
            let run = match &request.source {
                NewImportSource::Website { url } => website_run(url.as_str(), &target)?,
                NewImportSource::File { files } => platform.file_run(org, &by, files, &target).await?,
            };
            let run = ImportRun { site, is_background: true, ..run };
            let (id, now) = (platform.id(), platform.now());
            let start = StartRun { actor, id, space: &target.space().id, by, run, now };
            let show = platform.write_and_show(actor, &start, |done| {
                Box::pin(platform.import_run(done.tx, actor, org, &start.id))
            });
            show.await
        });
        done.await
    }

    /// Lists the import runs of the spaces that the actor may edit, most recent first. A page may be short and have a
    /// `next` if the filter drops many.
    ///
    /// Imports of spaces that were transferred to another organization are not listed. Ended runs are retained like
    /// other jobs.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list_imports(
        self,
        filter: &'p ImportRunFilter,
        page: &'p PageRequest,
    ) -> Result<Page<ContentImportRun>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        let identity = list_identities::import_runs(filter);
        let prefix = JobRecord::by_owner(org.as_str(), ImportRun::KIND);
        let mut list = Lister::<Arc<JobRecord>>::new(ListSpec { prefix, rev: true, identity }, page)?;
        let Some(conditions) = Conditions::new(&tx, actor, &access, filter).await? else {
            return Ok(Page { items: Vec::new(), next: None, count: None });
        };
        let mut resolver = AccessResolver::new(access, actor);
        while let Some(rows) = list.rows(&tx).await? {
            let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
            let editable = editable_spaces(&tx, &mut resolver, &found).await?;
            let fits = |job: &Arc<JobRecord>| editable.contains(&job.subject) && conditions.fits(job);
            list.offer_all(&rows, found.into_iter().map(|job| job.filter(fits)));
        }
        let page = list.finish(&tx, None).await?;
        let items = platform.import_runs(&tx, actor, resolver.org(), &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Reads an import run.
    ///
    /// # Errors
    /// `NotFound`, also for a run into a space of another organization; `Forbidden` without the `edit` role on the
    /// space.
    #[boxed]
    pub async fn get_import(self, id: &'p JobId) -> Result<ContentImportRun> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        platform.import_run(&tx, actor, org, id).await
    }

    /// Cancels an import run that has not ended. Its pages are not stored, even if the run is in progress. Succeeds if
    /// the run is cancelled already.
    ///
    /// # Errors
    /// Those of [`get_import`](Self::get_import); `Conflict` for a completed or failed run.
    #[boxed]
    pub async fn cancel_import(self, id: &'p JobId) -> Result<ContentImportRun> {
        let (platform, ref actor, org) = self.parts();
        let cancel = cancel_run(actor, org, id, platform.now());
        let show = platform
            .write_and_show(actor, &cancel, |done| Box::pin(platform.import_run(done.tx, actor, org, id)));
        show.await
    }
}

fn website_run(url: &str, target: &AppendTarget) -> Result<ImportRun> {
    if web_url(url).is_some_and(|url| has_credentials(&url)) {
        return Err(Error::invalid("source.url", "must not contain credentials"));
    }
    Ok(ImportRun::new(url.to_owned(), Source::Website, ImportOrigin::Url, target))
}

/// Creates the job of an import run.
struct StartRun<'a> {
    actor: &'a Actor,
    id: JobId,
    space: &'a SpaceId,
    by: UserId,
    run: ImportRun,
    now: Timestamp,
}

#[async_trait]
impl Operation for StartRun<'_> {
    type Output = ();
    const NAME: &'static str = "import_start";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, self.actor, self.space).await?;
        access.require(SpaceAction::Edit)?;
        let owner = access.space().organization.to_string();
        let audience = Audience::Subject { by: Some(self.by.clone()), same: None };
        let job = self.run.to_new_job(&self.id, self.space, self.now)?;
        jobs::require_room(tx, &owner, job.kind).await?;
        jobs::enqueue(tx, self.now, NewJob { owner: Some(owner), audience, ..job }).await
    }
}

#[operation("import_cancel")]
async fn cancel_run(tx: &mut Tx, actor: &Actor, org: &OrgId, id: &JobId, now: Timestamp) -> Result<()> {
    let (job, _) = find_run(tx, actor, org, id).await?;
    match job.state {
        JobState::Cancelled => Ok(()),
        JobState::Done | JobState::Failed => Err(Error::conflict("the import has ended already")),
        JobState::Waiting | JobState::Queued | JobState::Running => Ok(jobs::cancel(tx, &job, now).await?),
    }
}

/// Finds an import job of a space of the organization that the actor may edit.
async fn find_run(tx: &Tx, actor: &Actor, org: &OrgId, id: &JobId) -> Result<(Arc<JobRecord>, OrgAccess)> {
    let in_org = access::org(tx, actor, org).await?;
    let missing = || Error::not_found("import run");
    let job: Option<Arc<JobRecord>> = tx.get(&JobRecord::key_for(id)).await?;
    let job = job.filter(|job| job.listed && job.kind == ImportRun::KIND).ok_or_else(missing)?;
    let space: SpaceId = job.subject.parse().map_err(|_| missing())?;
    let access = access::space(tx, actor, &space).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(),
        _ => error,
    })?;
    if access.space().organization != *org {
        return Err(missing());
    }
    access.require(SpaceAction::Edit)?;
    Ok((job, in_org))
}

/// Returns a site by id.
///
/// # Errors
/// `NotFound` if the actor may not see it.
async fn require_visible_site(tx: &Tx, actor: &Actor, access: &OrgAccess, site: &str) -> Result<SiteId> {
    let missing = || Error::not_found("site");
    let site: SiteId = site.parse().map_err(|_| missing())?;
    if sees_site(tx, actor, access, &site).await? { Ok(site) } else { Err(missing()) }
}

/// Returns the ids of the spaces of jobs that the actor may edit, and that belong to the organization.
async fn editable_spaces(
    tx: &Tx,
    resolver: &mut AccessResolver,
    jobs: &[Option<Arc<JobRecord>>],
) -> Result<BTreeSet<String>> {
    let ids: BTreeSet<SpaceId> = jobs.iter().flatten().filter_map(|job| job.subject.parse().ok()).collect();
    let keys: Vec<Key> = ids.iter().map(SpaceRecord::key_for).collect();
    let org = resolver.org().org().id.clone();
    let spaces = tx.get_many::<SpaceRecord>(&keys).await?.into_iter();
    let spaces = spaces
        .map(|space| space.filter(|space| space.organization == org && space.deleted_at.is_none()))
        .collect();
    let seen = resolver.spaces(tx, spaces).await?.into_iter().flatten();
    let editable = seen.filter(|access| access.require(SpaceAction::Edit).is_ok());
    Ok(editable.map(|access| access.space().id.to_string()).collect())
}

/// The parsed filter of a list.
struct Conditions<'f> {
    filter: &'f ImportRunFilter,
    /// The site of the filter, with its spaces.
    site: Option<(SiteId, BTreeSet<SpaceId>)>,
}

impl<'f> Conditions<'f> {
    /// Parses a filter. Returns `None` if it matches nothing.
    async fn new(
        tx: &Tx,
        actor: &Actor,
        access: &OrgAccess,
        filter: &'f ImportRunFilter,
    ) -> Result<Option<Self>> {
        let Some(name) = &filter.site else { return Ok(Some(Self { filter, site: None })) };
        let Ok(site) = name.parse::<SiteId>() else { return Ok(None) };
        let spaces = spaces_of_site(tx, actor, access, &site).await?;
        Ok(spaces.map(|spaces| Self { filter, site: Some((site, spaces)) }))
    }

    fn fits(&self, job: &JobRecord) -> bool {
        let Self { filter, site } = self;
        if filter.space.as_ref().is_some_and(|space| *space != job.subject)
            || filter.status.is_some_and(|wanted| !wanted.contains(status(job)))
        {
            return false;
        }
        let Ok(run) = serde_json::from_value::<ImportRun>(job.payload.clone()) else { return false };
        let request = run.request.as_ref().map(|request| request.as_str());
        filter.change_request.as_ref().is_none_or(|wanted| request == Some(wanted.as_str()))
            && site.as_ref().is_none_or(|(site, spaces)| {
                run.site.as_ref() == Some(site) || spaces.iter().any(|space| space.as_str() == job.subject)
            })
    }
}

const fn status(job: &JobRecord) -> ImportRunStatus {
    match job.state {
        JobState::Waiting | JobState::Queued => ImportRunStatus::Pending,
        JobState::Running => ImportRunStatus::InProgress,
        JobState::Done => ImportRunStatus::Completed,
        JobState::Failed => ImportRunStatus::Failed,
        JobState::Cancelled => ImportRunStatus::Cancelled,
    }
}

impl ImportRun {
    fn shown_source(&self) -> ImportRunSource {
        match self.origin {
            ImportOrigin::Url => ImportRunSource::Website { url: self.url.clone(), format: self.source },
            ImportOrigin::File => ImportRunSource::File {
                files: self.files.iter().map(UploadId::to_string).collect(),
                name: self.files.is_empty().then(|| self.url.clone()),
            },
        }
    }
}

impl Platform {
    /// Returns the run that imports uploaded files: one document or archive, or several documents.
    async fn file_run(
        &self,
        org: &OrgId,
        by: &UserId,
        keys: &[String],
        target: &AppendTarget,
    ) -> Result<ImportRun> {
        let rejected = |why: String| Error::invalid("source.files", why);
        if !(1..=StartImportRun::MAX_FILES).contains(&keys.len()) {
            let most = StartImportRun::MAX_FILES;
            return Err(rejected(format!("must have 1 to {most} keys, has {}", keys.len())));
        }
        let parse = |key: &String| key.parse().map_err(|_| unusable_upload_error(key));
        let ids: Vec<UploadId> = keys.iter().map(parse).collect::<Result<_>>()?;
        let files = find_uploads(&self.read().await?, org, by, &ids, self.now()).await?;
        let bytes: u64 = files.iter().map(|file| file.content.size).sum();
        if bytes > MAX_FILE_BYTES {
            return Err(rejected(format!("must have at most {MAX_FILE_BYTES} bytes together, have {bytes}")));
        }
        let mut names = BTreeSet::new();
        for file in &files {
            if !names.insert(file.name.to_lowercase()) {
                return Err(rejected(format!("two files have the name `{}`; rename one of them", file.name)));
            }
        }
        let sources: Vec<Source> =
            files.iter().map(|file| source_of("source.files", &file.name)).collect::<Result<_>>()?;
        let source = match sources.as_slice() {
            [source] => *source,
            several if several.contains(&Source::Zip) => {
                return Err(rejected(
                    "an archive must be the only file; start a run for each archive".to_owned(),
                ));
            }
            // Several documents are imported like those of an archive.
            _ => Source::Zip,
        };
        let name = files.into_iter().next().map(|file| file.name).unwrap_or_default();
        Ok(ImportRun { files: ids, ..ImportRun::new(name, source, ImportOrigin::File, target) })
    }

    /// Finds the content into which a run imports, and names the fields of the request in errors.
    async fn run_target(
        &self,
        actor: &Actor,
        org: &OrgId,
        space: SpaceId,
        request: &StartImportRun,
    ) -> Result<AppendTarget> {
        let of = match &request.target.change_request {
            Some(request) => ContentVersion::request(space, request),
            None => ContentVersion::space(space),
        };
        let page = request.target.page.as_deref().map(str::parse::<PageId>).transpose();
        let page = page.map_err(|_| Error::not_found("page"))?;
        let target = self.append_target_in(actor, &of, page.as_ref()).await;
        let target = target.map_err(|error| match error.message().strip_prefix("pageId: ") {
            Some(why) => Error::invalid("target.page", why.to_owned()),
            None => error,
        })?;
        if target.space().organization == *org { Ok(target) } else { Err(Error::not_found("space")) }
    }

    async fn import_run(&self, tx: &Tx, actor: &Actor, org: &OrgId, id: &JobId) -> Result<ContentImportRun> {
        let (job, access) = find_run(tx, actor, org, id).await?;
        let shown = self.import_runs(tx, actor, &access, &[job]).await?.pop();
        shown.ok_or_else(|| Error::not_found("import run"))
    }

    async fn import_runs(
        &self,
        tx: &Tx,
        actor: &Actor,
        access: &OrgAccess,
        jobs: &[Arc<JobRecord>],
    ) -> Result<Vec<ContentImportRun>> {
        let mut sites = SiteLookup { tx, actor, access, by_space: BTreeMap::new(), visible: BTreeMap::new() };
        let mut shown = Vec::new();
        for job in jobs {
            let run: ImportRun = serde_json::from_value(job.payload.clone()).map_err(Error::internal)?;
            let space: SpaceId = job.subject.parse().map_err(Error::internal)?;
            let site = match &run.site {
                Some(site) => sites.is_visible(site).await?.then(|| site.clone()),
                None => sites.only_site_of(&space).await?,
            };
            let status = status(job);
            shown.push(ContentImportRun {
                object: ContentImportRunObject::Is,
                id: job.id.clone(),
                status,
                reason: job.error.clone(),
                source: run.shown_source(),
                target: ImportRunTarget { space, change_request: run.request, page: run.page },
                site,
                created_by: job.by.clone(),
                created_at: job.created_at,
                started_at: job.started_at,
                updated_at: job.ended_at.or(job.started_at).unwrap_or(job.created_at),
                completed_at: job.ended_at.filter(|_| status == ImportRunStatus::Completed),
                urls: ImportRunUrls { location: self.urls().import_run(&access.org().id, &job.id) },
            });
        }
        Ok(shown)
    }
}

/// The visible sites of spaces. Each space and site is looked up once.
struct SiteLookup<'t> {
    tx: &'t Tx,
    actor: &'t Actor,
    access: &'t OrgAccess,
    by_space: BTreeMap<SpaceId, Option<SiteId>>,
    visible: BTreeMap<SiteId, bool>,
}

impl SiteLookup<'_> {
    async fn is_visible(&mut self, site: &SiteId) -> Result<bool> {
        if let Some(known) = self.visible.get(site) {
            return Ok(*known);
        }
        let seen = sees_site(self.tx, self.actor, self.access, site).await?;
        self.visible.insert(site.clone(), seen);
        Ok(seen)
    }

    /// Returns the site of a space that is on exactly one.
    async fn only_site_of(&mut self, space: &SpaceId) -> Result<Option<SiteId>> {
        if let Some(known) = self.by_space.get(space) {
            return Ok(known.clone());
        }
        let rows = self.tx.scan_prefix(&SiteSpaceRecord::by_space(space), MAX_SCAN).await?;
        let places = self.tx.get_many::<SiteSpaceRecord>(&SiteSpaceRecord::named_by_all(&rows)).await?;
        let sites: BTreeSet<&SiteId> = places.iter().flatten().map(|place| &place.site).collect();
        let only = sites.first().filter(|_| sites.len() == 1).map(|site| SiteId::clone(site));
        let only = match only {
            Some(site) if self.is_visible(&site).await? => Some(site),
            _ => None,
        };
        self.by_space.insert(space.clone(), only.clone());
        Ok(only)
    }
}
