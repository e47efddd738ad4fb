//! The tags of content: told by its revision, without reading what it holds.

use super::{Located, Version};
use crate::{
    BoxFuture, Result,
    content::PageTree,
    model::{Revision, RevisionId},
    platform::{Actor, EntityTag, Platform, files::Bearer, nouns::ContentHandle, revisions},
    store::records::SpaceRecord,
};

impl<'p> ContentHandle<'p> {
    /// The tag of what [`get_with_tag`](Self::get_with_tag) answers now, told without reading it. `None` for visitors,
    /// whose answers depend on more than the revision. Where pages are computed, it is the tag of no answer.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, EntityTag}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, seen: Option<EntityTag>) -> Result<()> {
    /// if me.space(space).change_request("3").content().revision_tag().await? == seen {
    ///     println!("nobody has changed it since");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn revision_tag(self) -> BoxFuture<'p, Result<Option<EntityTag>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let tx = platform.read().await?;
            let at = platform.locate_read(&tx, actor, &self.of.to_content_of()).await?;
            if at.placement.is_some() {
                return Ok(None);
            }
            let record = revisions::find(&tx, &at.space().id, &at.revision).await?;
            let frame = platform.bare_revision(&tx, (actor, at.space()), &record).await?;
            platform.frame_tag(actor, &frame).map(Some)
        })
    }

    /// Names what pages of this content are computed from now: another tag once these pages are others, though the
    /// revision is the same. `None` where nothing is computed.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// if me.space(space).content().computed_tag().await?.is_none() {
    ///     println!("the pages follow from the revision alone");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn computed_tag(self) -> BoxFuture<'p, Result<Option<EntityTag>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let at = platform.located(actor, &self.of.to_content_of()).await?;
            platform.computed_from(&at.space().organization, &*at.view.tree().await?).await
        })
    }

    /// The tag of all that is read of a revision by its id, told without reading it: what a member reads of it never
    /// changes, but for what is computed of it, which has a tag of its own, [`computed_tag`](Self::computed_tag).
    /// `None` where it may: for visitors, and for the content of a space or a change request.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{RevisionId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, revision: &RevisionId) -> Result<()> {
    /// assert!(me.space(space).revision(revision).lasting_tag().await?.is_some());
    /// assert!(me.space(space).content().lasting_tag().await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn lasting_tag(self) -> BoxFuture<'p, Result<Option<EntityTag>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = self.of.to_content_of();
            let Version::Revision(id) = &of.version else { return Ok(None) };
            let tx = platform.read().await?;
            let Located { placement, .. } = platform.locate_read(&tx, actor, &of).await?;
            match placement {
                Some(_) => Ok(None),
                None => platform.own_tag(actor, id).map(Some),
            }
        })
    }
}

impl Platform {
    /// The tag of what a member reads of a revision as a whole: what it holds follows from its id; what is told of it
    /// beside that may change, and what its pages are computed from. No transaction may be open meanwhile.
    pub(in crate::platform) async fn tag_of_revision(
        &self,
        (actor, space): (&Actor, &SpaceRecord),
        frame: &Revision,
        tree: &PageTree,
    ) -> Result<EntityTag> {
        let tag = self.frame_tag(actor, frame)?;
        match self.computed_from(&space.organization, tree).await? {
            None => Ok(tag),
            Some(computed) => EntityTag::of(&(tag.as_str(), computed.as_str())),
        }
    }

    fn frame_tag(&self, actor: &Actor, frame: &Revision) -> Result<EntityTag> {
        let Revision { id, kind, urls, .. } = frame;
        EntityTag::of(&(self.own_tag(actor, id)?.as_str(), kind, urls))
    }

    /// Each reader gets file addresses of their own, and these begin with an address of this server. Another version of
    /// the server may write content in another way.
    fn own_tag(&self, actor: &Actor, id: &RevisionId) -> Result<EntityTag> {
        let urls = (self.urls().base(), self.urls().files_origin());
        EntityTag::of(&(env!("CARGO_PKG_VERSION"), urls, Bearer::member(actor)?, id))
    }
}
