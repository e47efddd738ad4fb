//! The first space of an empty site.

use docs_macros::operation;

use super::{
    part_space::PartSpace,
    places::{NewPlace, append, set_default},
};
use crate::{
    Error, Result,
    model::SiteSpaceId,
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, write::ready_answer},
        nouns::SiteRef,
        publishing::outline::SiteOutline,
        sites::manage::SiteTarget,
    },
    policy::SiteAction,
    store::Tx,
};

impl Platform {
    /// Checks that the actor may fill a site and that it is empty.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Forbidden` without the permission to manage the site; `Conflict` unless the site is empty.
    pub(in crate::platform) async fn require_empty_site(&self, actor: &Actor, of: SiteRef<'_>) -> Result<()> {
        let tx = self.read().await?;
        let (_, site) = access::require_site(&tx, actor, of, SiteAction::Manage).await?;
        require_empty(&SiteOutline::load(&tx, &site).await?)
    }

    /// Adds the first space to an empty site.
    pub(in crate::platform) async fn fill_site(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        space: &PartSpace,
    ) -> Result<()> {
        let (on, id) = (SiteTarget::new(actor, of), self.id());
        let operation = site_fill(&on, space, &id);
        self.check_part_space(space)?;
        self.write_and_show(actor, &operation, |_| ready_answer(Ok(()))).await
    }
}

#[operation("site_fill")]
async fn site_fill(tx: &mut Tx, on: &SiteTarget, space: &PartSpace, id: &SiteSpaceId) -> Result<()> {
    let (site, outline) = on.load_outline(tx).await?;
    require_empty(&outline)?;
    let space = space.obtain(tx, on).await?;
    let new = NewPlace { id, space: &space, title: None, draft: false };
    let place = append(tx, &site, None, &[], new).await?;
    set_default(tx, &site, None, Some(&place.id))
}

fn require_empty(outline: &SiteOutline) -> Result<()> {
    if outline.nodes().is_empty() && outline.all_places().is_empty() {
        return Ok(());
    }
    let message =
        "the site is not empty; a template can only be applied to a site without spaces, sections and links";
    Err(Error::conflict(message))
}
