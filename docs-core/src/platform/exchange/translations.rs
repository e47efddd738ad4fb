//! Translations: spaces that mirror the content of another space in another language.

mod glossary;
mod run;
mod segments;
mod store;
mod texts;
mod window;
mod work;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

pub(in crate::platform) use self::{
    glossary::{FollowGlossary, MAX_GLOSSARY_BYTES},
    segments::MAX_SEGMENT_BYTES,
};
use crate::{
    Error, ErrorKind, Result,
    content::{document, run_blocking, run_in_place},
    model::{
        CreateTranslation, Document, JobId, OrgId, RevisionId, SpaceId, SpaceTitle, Timestamp, Translation,
        TranslationId, TranslationLanguage, TranslationObject, TranslationResult, TranslationSource,
        TranslationStats, TranslationStatus, TranslationUrls, UpdateTranslation, UserId,
    },
    platform::{
        access::{self, AccessResolver},
        content::short_documents::ShortDocument,
        jobs::{Purge, Urgency},
        kernel::{actor::Actor, platform::Platform, request::Right},
        library::{
            follow::translations::{MAX_TRANSLATIONS, PurgeTranslation, delete, enqueue, request_run},
            head::create_space,
            tree::{InsertionPoint, allocate_ranks, check_capacity, require_parent},
        },
        nouns::{TranslationHandle, Translations, list_identities::tag},
    },
    policy::{OrgAction, SpaceAccess, SpaceAction, TranslatedSpaces, TranslationAccess},
    store::{
        Entity as _, Key, ListIdentity, ListSpec, Lister, Operation, Page, PageRequest, Tx, ids_of,
        records::{
            GrantRecord, JobRecord, JobState, Parent, SpaceRecord, TranslationMemoryRecord, TranslationRecord,
        },
    },
};

/// Maximum size of instructions as Markdown in bytes.
pub(in crate::platform) const MAX_INSTRUCTION_BYTES: usize = 16 << 10;
/// Maximum total size, in bytes, of the instructions in a list response. The response ends before the translation that
/// exceeds it, and `next` continues with that translation.
const MAX_LISTED_INSTRUCTION_BYTES: usize = 1024 * 1024;

impl<'p> Translations<'p> {
    /// Lists the translations of an organization that the actor may see, newest first.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<Translation>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let mut resolver = AccessResolver::new(access::org(&tx, actor, org).await?, actor);
        let (prefix, identity) = (TranslationRecord::by_org(org), ListIdentity::new(tag::TRANSLATIONS));
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
            let seen = found.iter().zip(resolve_access(&tx, &mut resolver, &found).await?);
            let seen = rows.iter().zip(seen).map(|((row, _), (record, access))| {
                record.clone().zip(access).map(|translation| (row.clone(), translation))
            });
            list.offer_all(&rows, seen);
        }
        let cursors = list.cursors();
        // The total number is only returned to actors who may see all translations.
        let page = list.finish(&tx, None).await?;
        let (rows, mut translations): (Vec<Key>, Vec<_>) = page.items.into_iter().unzip();
        let mut bytes = 0;
        let fitting = translations.iter().take_while(|(record, _): &&(Arc<TranslationRecord>, _)| {
            let is_first = bytes == 0;
            bytes += record.instructions.len().max(record.instructions_document.len());
            is_first || bytes <= MAX_LISTED_INSTRUCTION_BYTES
        });
        let shown = fitting.count();
        translations.truncate(shown);
        let items = platform.translation_views(&tx, &translations).await?;
        Ok(Page { items, next: cursors.next(&rows, shown, page.next), count: page.count })
    }

    /// Creates a translation and its target space, directly after the source. A job translates the content now and
    /// after every change of the source.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization and on the source; `Invalid` for an unknown space, a
    /// language equal to that of the source, and instructions that are malformed or too long; `Conflict` for too many
    /// translations of a space.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{CreateTranslation, OrgId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, manual: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = serde_json::json!({ "source": { "space": manual, "language": "en" }, "language": "de" });
    /// let translation = me.org(org).translations().create(serde_json::from_value(new)?).await?;
    /// println!("{:?}", translation.status);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateTranslation) -> Result<Translation> {
        let (platform, ref actor, org) = self.parts();
        let no_space = || Error::invalid("source.space", "the organization has no such space");
        let sent_source = new.source.as_ref();
        let source: SpaceId = match sent_source {
            Some(source) => source.space.parse().map_err(|_| no_space())?,
            None => platform.only_space(actor, org).await?,
        };
        let source_language = sent_source.and_then(|source| source.language);
        let done = platform.idempotent(actor, Right::Translate(org.clone(), source.clone()), async move {
            let create = TranslationCreation {
                by: actor.require_user()?.clone(),
                actor: actor.clone(),
                org: org.clone(),
                source,
                source_language,
                language: new.language,
                instructions: new
                    .instructions
                    .as_ref()
                    .map(stored_instructions)
                    .transpose()?
                    .unwrap_or_default(),
                id: platform.id(),
                target: platform.id(),
                head: platform.id(),
                job: platform.id(),
                now: platform.now(),
            };
            create.prepare(platform).await?;
            platform
                .write_and_show(actor, &create, |done| {
                    Box::pin(platform.read_translation_view(done.tx, actor, org, &create.id))
                })
                .await
        });
        done.await
    }
}

impl<'p> TranslationHandle<'p> {
    #[boxed]
    pub async fn get(self) -> Result<Translation> {
        let Self { caller, org, translation: id } = self;
        let tx = caller.platform.read().await?;
        caller.platform.read_translation_view(&tx, &caller.actor(), org, id).await
    }

    /// Changes the instructions of the translator, and translates everything again.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization and on the source; `Invalid` for instructions that are
    /// malformed or too long.
    #[boxed]
    pub async fn update(self, change: UpdateTranslation) -> Result<Translation> {
        let (platform, ref actor, org, id) = self.parts();
        let (instructions, job) = (stored_instructions(&change.instructions)?, platform.id());
        let update = translation_update(actor, org, id, &instructions, &job, platform.now());
        platform
            .change_and_show(actor, &update, |done| {
                Box::pin(platform.read_translation_view(done.tx, actor, org, id))
            })
            .await
    }

    /// Deletes a translation. Its target space remains, but is no longer updated. Returns `true` if there was a
    /// translation that the actor may see.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization and on the source.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, org, id) = self.parts();
        let (job, now) = (platform.id(), platform.now());
        let delete = translation_deletion(actor, org, id, &job, now);
        let done = platform
            .change(actor, &delete, |seen| Box::pin(platform.read_translation_view(seen.tx, actor, org, id)));
        Error::ignore_not_found(done.await)
    }

    /// Runs a translation over its whole source. Previously translated segments are not sent again. This is useful
    /// after a failure, or after a change of the server's translator.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization and on the source.
    #[boxed]
    pub async fn run(self) -> Result<()> {
        let (platform, ref actor, org, id) = self.parts();
        let done = platform.idempotent(actor, Right::Translation(org.clone(), id.clone()), async move {
            let (job, now) = (platform.id(), platform.now());
            let run = translation_run(actor, org, id, &job, now);
            platform
                .write_and_show(actor, &run, |_| crate::platform::kernel::write::ready_answer(Ok(())))
                .await
        });
        done.await
    }
}

/// Converts instructions to the stored form.
fn stored_instructions(sent: &Document) -> Result<ShortDocument> {
    ShortDocument::new(sent, "instructions", MAX_INSTRUCTION_BYTES)
}

/// Parses stored instructions.
fn shown_instructions(record: &TranslationRecord) -> Result<Document> {
    match record.instructions_document.is_empty() {
        true => Ok(document::parse(&record.instructions)),
        false => ShortDocument::parse(&record.instructions_document),
    }
}

/// Resolves the access of an actor to translations, in order. A missing or hidden translation is `None`.
async fn resolve_access(
    tx: &Tx,
    resolver: &mut AccessResolver,
    records: &[Option<Arc<TranslationRecord>>],
) -> Result<Vec<Option<TranslationAccess>>> {
    let present = records.iter().flatten();
    let keys: Vec<Key> = present
        .flat_map(|record| [SpaceRecord::key_for(&record.source), SpaceRecord::key_for(&record.target)])
        .collect();
    let spaces = tx.get_many::<SpaceRecord>(&keys).await?;
    let live = spaces.into_iter().map(|space| space.filter(|space| space.deleted_at.is_none()));
    let live: Vec<Option<Arc<SpaceRecord>>> = live.collect();
    let mut there = live.iter().step_by(2).map(Option::is_some).collect::<Vec<_>>().into_iter();
    let mut spaces = resolver.spaces(tx, live).await?.into_iter();
    let org = resolver.org();
    let access = |record: &Option<Arc<TranslationRecord>>| {
        let record = record.as_ref()?;
        let (source, target) = (spaces.next().flatten(), spaces.next().flatten());
        let source_is_there = there.next().unwrap_or_default();
        let access = org.translation(&TranslatedSpaces { source, source_is_there, target }).ok()?;
        (record.organization == org.org().id).then_some(access)
    };
    Ok(records.iter().map(access).collect())
}

/// Checks the permission to change a translation.
pub(in crate::platform) async fn require_editor(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TranslationId,
) -> Result<()> {
    find(tx, actor, org, id).await?.1.require_edit()
}

/// Returns a translation of an organization with the access of the actor.
async fn find(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TranslationId,
) -> Result<(Arc<TranslationRecord>, TranslationAccess)> {
    let missing = || Error::not_found("translation");
    let mut resolver = AccessResolver::new(access::org(tx, actor, org).await?, actor);
    let record = tx.get::<TranslationRecord>(&TranslationRecord::key_for(id)).await?;
    let records = [record.filter(|record| record.organization == *org)];
    let access = resolve_access(tx, &mut resolver, &records).await?.pop().flatten();
    let [record] = records;
    record.zip(access).ok_or_else(missing)
}

impl Platform {
    /// Returns the space of an organization that has only one.
    async fn only_space(&self, actor: &Actor, org: &OrgId) -> Result<SpaceId> {
        let tx = self.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::CreateContent)?;
        let rows = tx.scan_prefix(&SpaceRecord::by_org(org), 2).await?;
        match ids_of::<SpaceId>(&rows)?.as_slice() {
            [space] => Ok(space.clone()),
            _ => Err(Error::invalid("source", "is required unless the organization has exactly one space")),
        }
    }

    async fn read_translation_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        org: &OrgId,
        id: &TranslationId,
    ) -> Result<Translation> {
        let found = find(tx, actor, org, id).await?;
        let mut shown = self.translation_views(tx, &[found]).await?;
        shown.pop().ok_or_else(|| Error::not_found("translation"))
    }

    async fn translation_views(
        &self,
        tx: &Tx,
        translations: &[(Arc<TranslationRecord>, TranslationAccess)],
    ) -> Result<Vec<Translation>> {
        let jobs = translations.iter().filter_map(|(record, _)| record.job.as_ref());
        let jobs: Vec<Key> = jobs.map(JobRecord::key_for).collect();
        let jobs = tx.get_many::<JobRecord>(&jobs).await?;
        let job = |record: &TranslationRecord| {
            jobs.iter().flatten().find(|job| Some(&job.id) == record.job.as_ref())
        };
        let records: Vec<_> = translations.iter().map(|(record, _)| Arc::clone(record)).collect();
        let parse =
            move || records.iter().map(|record| shown_instructions(record)).collect::<Result<Vec<_>>>();
        let documents = run_blocking(parse)
            .await
            .ok_or_else(|| Error::internal("the instructions were not parsed"))??;
        let shown = translations.iter().zip(documents).map(|((record, access), instructions)| Translation {
            object: TranslationObject::Is,
            id: record.id.clone(),
            status: status(record, job(record).map(|job| &**job)),
            source: TranslationSource { space: record.source.clone(), language: record.source_language },
            language: record.language,
            instructions,
            result: record.done.as_ref().map(|done| TranslationResult {
                space: record.target.clone(),
                revision: done.revision.clone(),
                language: record.language,
            }),
            created_at: record.created_at,
            updated_at: record.updated_at,
            stats: record.stats,
            permissions: access.permissions(),
            urls: TranslationUrls { location: self.urls().translation(&record.organization, &record.id) },
        });
        // The instructions may be long.
        Ok(run_in_place(|| shown.collect()))
    }
}

/// Derives the status of a translation from its last job, so it needs no repair after a crash.
fn status(record: &TranslationRecord, job: Option<&JobRecord>) -> TranslationStatus {
    let is_first = record.done.is_none();
    match job.map(|job| job.state) {
        Some(JobState::Running) => TranslationStatus::Running,
        Some(JobState::Queued | JobState::Waiting) if !is_first => TranslationStatus::Running,
        _ if is_first => TranslationStatus::Pending,
        _ => TranslationStatus::Completed,
    }
}

/// Maximum number of characters in the title of a space.
const MAX_TITLE: usize = 50;

/// Number of translation memory parts that one transaction removes. Each part may be large.
const MEMORY_PURGE_BATCH: u32 = 100;

/// Creates a translation and its target space.
struct TranslationCreation {
    actor: Actor,
    by: UserId,
    org: OrgId,
    source: SpaceId,
    /// The language of the source in the request.
    source_language: Option<TranslationLanguage>,
    language: TranslationLanguage,
    instructions: ShortDocument,
    id: TranslationId,
    target: SpaceId,
    /// The first revision of the target.
    head: RevisionId,
    job: JobId,
    now: Timestamp,
}

impl TranslationCreation {
    /// Stores the empty content in the storage area of the source.
    async fn prepare(&self, platform: &Platform) -> Result<()> {
        let tx = platform.read().await?;
        let source = self.source(&tx).await?;
        platform.content().empty_root(&source.space().domain).await?;
        Ok(())
    }

    /// Returns the language of the source: that of the request, otherwise that of the space, otherwise English.
    fn language_of(&self, source: &SpaceRecord) -> Result<TranslationLanguage> {
        let language = self.source_language.or(source.language).unwrap_or(TranslationLanguage::English);
        match language == self.language {
            true => Err(Error::invalid("language", "must differ from the language of the source")),
            false => Ok(language),
        }
    }

    /// Returns the source if the actor may translate it.
    async fn source(&self, tx: &Tx) -> Result<SpaceAccess> {
        access::org(tx, &self.actor, &self.org).await?.require(OrgAction::CreateContent)?;
        let no_space = || Error::invalid("source.space", "the organization has no such space");
        let access =
            access::space(tx, &self.actor, &self.source).await.map_err(|error| match error.kind() {
                ErrorKind::NotFound => no_space(),
                _ => error,
            })?;
        if access.space().organization != self.org {
            return Err(no_space());
        }
        access.require(SpaceAction::Manage)?;
        Ok(access)
    }

    /// Creates the target space directly after its source.
    async fn target(&self, tx: &mut Tx, source: &SpaceRecord) -> Result<SpaceRecord> {
        require_parent(tx, &self.actor, &source.organization, source.parent.as_ref()).await?;
        if let Some(parent) = &source.parent {
            check_capacity(tx, parent, 1).await?;
        }
        let parent = Parent::new(&source.organization, source.parent.as_ref());
        let gap = InsertionPoint::after_child(parent, &source.rank(), source.id.as_str());
        let suffix = format!(" ({})", self.language.english_name());
        let room = MAX_TITLE.saturating_sub(suffix.chars().count());
        let title: String = source.title.chars().take(room).collect();
        Ok(SpaceRecord {
            id: self.target.clone(),
            title: SpaceTitle::from_truncated(&format!("{}{suffix}", title.trim_end()))
                .unwrap_or_else(|| source.title.clone()),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            rank: allocate_ranks(tx, &gap, 1, self.now).await?.pop(),
            head: self.head.clone(),
            root: crate::content::Content::empty_hash(),
            git: None,
            git_sync: None,
            language: Some(self.language),
            translations: 0,
            ..SpaceRecord::clone(source)
        })
    }

    /// Grants the actor the role they have on the source, unless they already have it on the target.
    async fn keep_role(&self, tx: &mut Tx, source: &SpaceAccess) -> Result<()> {
        let content = crate::model::ContentTarget::Space(self.target.clone());
        if access::role_on(tx, &self.actor, &content).await? >= Some(source.role()) {
            return Ok(());
        }
        tx.create(GrantRecord {
            organization: self.org.clone(),
            content: content.into(),
            grantee: crate::model::Grantee::User(self.by.clone()),
            role: source.role(),
            granted_at: self.now,
            space_deleted: false,
        });
        Ok(())
    }
}

#[async_trait]
impl Operation for TranslationCreation {
    type Output = ();
    const NAME: &'static str = "translation_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let seen = self.source(tx).await?;
        let source = seen.space();
        let source_language = self.language_of(source)?;
        if source.translations >= MAX_TRANSLATIONS {
            return Err(Error::conflict(format!(
                "a space must have at most {MAX_TRANSLATIONS} translations; delete one first"
            )));
        }
        let target = self.target(tx, source).await?;
        create_space(tx, target, &self.by);
        // Creating the target may have changed the rank of the source, so the source is read again.
        let source: Arc<SpaceRecord> = tx.get(&SpaceRecord::key_for(&source.id)).await?.ok_or_else(|| {
            Error::internal(format!("space {} disappeared within a transaction", self.source))
        })?;
        let new = SpaceRecord {
            translations: source.translations + 1,
            language: source.language.or(Some(source_language)),
            ..SpaceRecord::clone(&source)
        };
        tx.put(&*source, new)?;
        let record = TranslationRecord {
            id: self.id.clone(),
            organization: self.org.clone(),
            source: self.source.clone(),
            source_language,
            target: self.target.clone(),
            language: self.language,
            instructions: self.instructions.markdown.clone(),
            instructions_document: self.instructions.json.clone(),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            asked: 0,
            job: Some(self.job.clone()),
            done: None,
            stats: TranslationStats::default(),
            spent_words: 0,
        };
        enqueue(tx, &record, self.job.clone(), self.now).await?;
        tx.create(record);
        self.keep_role(tx, &seen).await
    }
}

/// Changes the instructions of the translator.
#[operation("translation_update")]
async fn translation_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TranslationId,
    instructions: &ShortDocument,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (old, access) = find(tx, actor, org, id).await?;
    access.require_edit()?;
    let ShortDocument { json, markdown } = instructions.clone();
    if (&old.instructions, &old.instructions_document) == (&markdown, &json) {
        return Ok(());
    }
    let new = match old.instructions == markdown {
        true => TranslationRecord::clone(&old),
        false => request_run(tx, &old, (job.clone(), now), Urgency::Requested).await?,
    };
    let updated_at = now.later_than(old.updated_at);
    tx.put(
        &*old,
        TranslationRecord { instructions: markdown, instructions_document: json, updated_at, ..new },
    )?;
    Ok(())
}

/// Runs a translation over the whole source.
#[operation("translation_run")]
async fn translation_run(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TranslationId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (old, access) = find(tx, actor, org, id).await?;
    access.require_edit()?;
    let new = request_run(tx, &old, (job.clone(), now), Urgency::Requested).await?;
    tx.put(&*old, TranslationRecord { asked: old.asked + 1, ..new })?;
    Ok(())
}

/// Deletes a translation. Its target space remains.
#[operation("translation_delete")]
async fn translation_deletion(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TranslationId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (old, access) = find(tx, actor, org, id).await?;
    access.require_edit()?;
    delete(tx, &old, job.clone(), now).await
}

#[async_trait]
impl Purge for PurgeTranslation {
    const LOGGED: bool = false;

    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        let of = TranslationMemoryRecord::by_translation(&self.translation);
        let rows = tx.scan_prefix(&of, MEMORY_PURGE_BATCH).await?;
        let keys: Vec<Key> = rows.into_iter().map(|(key, _)| key).collect();
        tx.delete_all::<TranslationMemoryRecord>(&keys).await?;
        Ok(!keys.is_empty())
    }
}
