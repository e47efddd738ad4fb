//! ETags of content, derived from its revision without reading the content.

use docs_macros::boxed;

use super::ReadableRevision;
use crate::{
    Result,
    content::PageTree,
    model::{Revision, RevisionId},
    platform::{
        content::{files::Bearer, openapi_specs::SpecAudience, revisions},
        kernel::{actor::Actor, content_version::Version, platform::Platform, request::EntityTag},
        nouns::ContentHandle,
    },
    store::records::SpaceRecord,
};

impl<'p> ContentHandle<'p> {
    /// Computes the current ETag of [`get_with_tag`](Self::get_with_tag) without reading the content. Returns `None`
    /// for visitors, whose responses depend on more than the revision. If the content has computed pages, the ETag
    /// matches no response.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn revision_tag(self) -> Result<Option<EntityTag>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let tx = platform.read().await?;
        let at = platform.locate_read(&tx, actor, &self.of.to_content_version()).await?;
        if at.placement.is_some() {
            return Ok(None);
        }
        let record = revisions::find(&tx, &at.space().id, &at.revision).await?;
        let frame = platform.bare_revision(&tx, actor, at.space(), &record).await?;
        platform.frame_tag(actor, &frame).map(Some)
    }

    /// Computes the ETag of the specifications from which pages of this content are computed. It changes with these
    /// pages, even if the revision does not. Returns `None` without computed pages.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn computed_tag(self) -> Result<Option<EntityTag>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        if !platform.page_traits(&at.view).await?.has_computed {
            return Ok(None);
        }
        let (org, tree) = (&at.space().organization, at.view.tree().await?);
        platform.computed_specs_tag(org, &tree, at.spec_audience()).await
    }

    /// Computes the ETag of everything a member can read of a revision by its id, without reading the content.
    /// Revisions are immutable, except for computed pages, which have their own [`computed_tag`](Self::computed_tag).
    /// Returns `None` for content that may change: for visitors, and for the content of a space or a change request.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn permanent_tag(self) -> Result<Option<EntityTag>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = self.of.to_content_version();
        let Version::Revision(id) = &of.version else { return Ok(None) };
        let tx = platform.read().await?;
        let ReadableRevision { placement, .. } = platform.locate_read(&tx, actor, &of).await?;
        match placement {
            Some(_) => Ok(None),
            None => platform.own_tag(actor, id).map(Some),
        }
    }
}

impl Platform {
    /// Computes the ETag of a whole revision for a member. The content is determined by the revision id; its metadata
    /// and the sources of computed pages may change. The caller must not hold a transaction.
    pub(in crate::platform) async fn member_revision_tag(
        &self,
        actor: &Actor,
        space: &SpaceRecord,
        frame: &Revision,
        tree: &PageTree,
    ) -> Result<EntityTag> {
        let tag = self.frame_tag(actor, frame)?;
        match self.computed_specs_tag(&space.organization, tree, SpecAudience::Restricted).await? {
            None => Ok(tag),
            Some(computed) => EntityTag::from_answer(&(tag.as_str(), computed.as_str())),
        }
    }

    fn frame_tag(&self, actor: &Actor, frame: &Revision) -> Result<EntityTag> {
        let Revision { id, kind, urls, .. } = frame;
        EntityTag::from_answer(&(self.own_tag(actor, id)?.as_str(), kind, urls))
    }

    /// Computes the ETag of a revision for an actor. It also covers the server URLs, since each reader gets signed file
    /// URLs, and the server version, which may serialize content differently.
    fn own_tag(&self, actor: &Actor, id: &RevisionId) -> Result<EntityTag> {
        let urls = (self.urls().base(), self.urls().files_origin());
        EntityTag::from_answer(&(env!("CARGO_PKG_VERSION"), urls, Bearer::for_member(actor)?, id))
    }
}
