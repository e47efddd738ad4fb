//! Editing the content of a change request. All changes of an edit are applied atomically, in order, as one revision.

pub(in crate::platform) mod append;
mod assets;
mod body;
mod kinds;
mod links;
pub(in crate::platform) mod plan;
mod revert;
pub(in crate::platform) mod upload;
mod warnings;

use std::sync::Arc;

use docs_macros::{boxed, operation};

use self::plan::EditPlan;
use crate::{
    Error, Result,
    content::{EditOutcome, PageEffect},
    model::{
        ContentEdit, ContentUpdate, ContentUpdateChange, InsertFilesChange, PageRef, PageRefObject,
        ReusableContent, RevisionFile, RevisionId, SpaceId, Timestamp, UpdateContent, UserId, UserUrls,
    },
    platform::{
        access,
        content::{
            change_requests::{feed_head, find, require_editable},
            files::Bearer,
            read::ContentOptions,
            revisions,
        },
        kernel::{
            actor::Actor,
            platform::Platform,
            request::Right,
            write::{MAX_WRITE_ATTEMPTS, ready_answer},
        },
        nouns::{ChangeRequestHandle, RequestRef},
    },
    policy::SpaceAction,
    store::{
        Tx,
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord},
    },
};

/// Maximum number of files that one request may fetch by URL.
pub(in crate::platform) const MAX_FETCHES: usize = 20;

impl<'p> ChangeRequestHandle<'p> {
    /// Edits the content of a change request. All changes are applied atomically, in order, as one new revision.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the `edit` role; `Conflict` for a merged or archived request; `Invalid` naming
    /// the change (`changes[2]`) and its invalid field.
    ///
    /// # Cancel safety
    /// If the future is dropped, either all changes are applied or none.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{ContentEdit, PageFields, PageId};
    /// # use docs_core::model::{SpaceId, UpdateContent, UpdatePageChange};
    /// # use docs_core::platform::Caller;
    /// # async fn example(me: Caller<'_>, space: &SpaceId, page: &PageId) -> Result<()> {
    /// let (page, fields) = (page.to_string(), PageFields { hidden: Some(true), ..Default::default() });
    /// let hide = UpdatePageChange { page, fields, ..UpdatePageChange::default() };
    /// let update = UpdateContent { changes: vec![ContentEdit::UpdatePage(hide)] };
    /// let edited = me.space(space).change_request("3").edit(update).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn edit(self, update: UpdateContent) -> Result<ContentUpdate> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            check_counts(&update)?;
            let (by, revision) = (actor.require_user()?.clone(), platform.id::<RevisionId>());
            let mut plan = EditPlan::new(platform, update.changes)?;
            for _ in 0..MAX_WRITE_ATTEMPTS {
                let EditTarget { space: space_record, request, condition } =
                    platform.edit_target(actor, space, name).await?;
                plan.store_files(platform, &space_record).await?;
                let edits = plan.edits(platform, &space_record, &request).await?;
                let now = platform.now();
                let edited = platform
                    .content()
                    .edit(&space_record.domain, request.root, now.time(), &edits.list)
                    .await
                    .map_err(|error| edits.name(error))?;
                let inserted = platform.read_inserted(actor, &space_record, &plan, &edited).await?;
                let warnings = edits.warnings.messages();
                let warnings = warnings.as_slice();
                let show =
                    EditResponse { space, name, plan: &plan, edited: &edited, inserted: &inserted, warnings };
                // Validation errors of the edit take precedence over the precondition.
                condition?;
                if edited.root == request.root {
                    let tx = platform.read().await?;
                    return platform.update_view(&tx, actor, &show).await;
                }
                let parents = vec![request.head.clone()];
                let record =
                    RevisionRecord::new(revision.clone(), space.clone(), edited.root, now, by.clone());
                let record = RevisionRecord { parents, ..record };
                let apply = apply_edits(actor, &by, &request, &record, now);
                platform.check_write_window(plan.storing)?;
                let done = platform.write_and_show(actor, &apply, |done| match done.out {
                    true => {
                        Box::pin(async move { platform.update_view(done.tx, actor, &show).await.map(Some) })
                    }
                    false => ready_answer(Ok(None)),
                });
                if let Some(done) = done.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the change request kept changing; try again"))
        });
        done.await
    }
}

impl Platform {
    /// Finds the content of a change request. Checks that the actor may edit it and that the request is open.
    async fn edit_target(&self, actor: &Actor, space: &SpaceId, name: &str) -> Result<EditTarget> {
        let tx = self.read().await?;
        let proof = access::space(&tx, actor, space).await?.require(SpaceAction::Edit)?;
        let request = find(&tx, space, name).await?;
        require_editable(&request)?;
        let space = Arc::clone(proof.space());
        let condition = match self.precondition() {
            Some(condition) => {
                let record = revisions::find(&tx, &space.id, &request.head).await?;
                let frame = self.bare_revision(&tx, actor, &space, &record).await?;
                drop(tx);
                let view = self.content().view(&space.domain, request.root);
                condition.check(Some(
                    &self.member_revision_tag(actor, &space, &frame, &*view.tree().await?).await?,
                ))
            }
            None => Ok(()),
        };
        Ok(EditTarget { space, request, condition })
    }

    async fn update_view(&self, tx: &Tx, actor: &Actor, show: &EditResponse<'_>) -> Result<ContentUpdate> {
        let EditResponse { space, name, plan, edited, inserted, warnings } = *show;
        let change_request = self.read_request_view(tx, actor, space, name).await?;
        let page_ref = |id: &crate::model::PageId| PageRef {
            object: PageRefObject::Is,
            id: id.clone(),
            urls: UserUrls { location: self.urls().change_request_page(space, &change_request.id, id) },
        };
        let changes = edited
            .pages
            .iter()
            .map(|(id, touch)| match touch {
                PageEffect::Created => ContentUpdateChange::CreatedPage {
                    reference: plan.page_reference(id),
                    page: page_ref(id),
                },
                PageEffect::Updated => ContentUpdateChange::UpdatedPage { page: page_ref(id) },
                PageEffect::Deleted => ContentUpdateChange::DeletedPage { page: id.clone() },
            })
            .collect();
        let InsertedItems { files, reusables } = inserted;
        let inserted_files = (!files.is_empty()).then(|| files.clone());
        let inserted_reusable_contents = (!reusables.is_empty()).then(|| reusables.clone());
        let warnings = warnings.to_vec();
        Ok(ContentUpdate { change_request, changes, inserted_files, inserted_reusable_contents, warnings })
    }

    /// Reads the inserted files and reusable content blocks after an edit. A file whose name is taken gets a numbered
    /// name.
    async fn read_inserted(
        &self,
        actor: &Actor,
        space: &SpaceRecord,
        plan: &EditPlan,
        edited: &EditOutcome,
    ) -> Result<InsertedItems> {
        let bearer = Bearer::for_member(actor)?;
        let view = self.content().view(&space.domain, edited.root);
        let (mut files, mut reusables) = (Vec::new(), Vec::new());
        for id in plan.reusables() {
            let entry = view.reusable(id).await?;
            let entry = entry.ok_or_else(|| Error::internal("an inserted reusable content is missing"))?;
            reusables.push(self.reusable_view(space, id.clone(), entry, ContentOptions::default())?);
        }
        for id in plan.files() {
            let file = view.file(id).await?.ok_or_else(|| Error::internal("an inserted file is missing"))?;
            files.push(self.file_view(space, &bearer, id.clone(), file, ContentOptions::default())?);
        }
        Ok(InsertedItems { files, reusables })
    }
}

/// The content of a change request to edit, from one snapshot.
struct EditTarget {
    space: Arc<SpaceRecord>,
    request: Arc<ChangeRequestRecord>,
    /// The result of the precondition check. The edit is stored only if the head is unchanged.
    condition: Result<()>,
}

/// The inserted files and reusable content blocks.
struct InsertedItems {
    files: Vec<RevisionFile>,
    reusables: Vec<ReusableContent>,
}

/// The response to an edit, except the change request.
#[derive(Clone, Copy)]
struct EditResponse<'e> {
    space: &'e SpaceId,
    name: &'e str,
    plan: &'e EditPlan,
    edited: &'e EditOutcome,
    inserted: &'e InsertedItems,
    warnings: &'e [String],
}

fn check_counts(update: &UpdateContent) -> Result<()> {
    let (has, most) = (update.changes.len(), UpdateContent::MAX_CHANGES);
    if !(1..=most).contains(&has) {
        return Err(Error::invalid("changes", format_args!("must be 1 to {most} changes, has {has}")));
    }
    let mut fetches = 0;
    for (at, change) in update.changes.iter().enumerate() {
        let ContentEdit::InsertFiles(insert) = change else { continue };
        fetches += insert.files.iter().filter(|file| file.url.is_some()).count();
        if fetches > MAX_FETCHES {
            let field = format!("changes[{at}].files");
            return Err(Error::invalid(
                &field,
                format_args!("at most {MAX_FETCHES} files can be fetched per request"),
            ));
        }
        let (has, most) = (insert.files.len(), InsertFilesChange::MAX_FILES);
        if !(1..=most).contains(&has) {
            let field = format!("changes[{at}].files");
            return Err(Error::invalid(&field, format_args!("must be 1 to {most} files, has {has}")));
        }
    }
    Ok(())
}

/// Makes an edited revision the head of the request. `Output` is `false` if the head has changed.
#[operation("change_request_edit")]
pub(in crate::platform) async fn apply_edits(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    request: &ChangeRequestRecord,
    revision: &RevisionRecord,
    now: Timestamp,
) -> Result<bool> {
    let space = &request.space;
    access::space(tx, actor, space).await?.require(SpaceAction::Edit)?;
    let old = find(tx, space, request.id.as_str()).await?;
    require_editable(&old)?;
    if old.head != request.head {
        return Ok(false);
    }
    let mut new = ChangeRequestRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: now.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    new.contribute(by, now);
    tx.create(revision.clone());
    feed_head(tx, &old);
    tx.put(&*old, new)?;
    Ok(true)
}
