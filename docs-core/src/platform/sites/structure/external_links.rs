//! External links in the structure of a site.

use docs_macros::{boxed, operation};

use super::groups::{last_rank, parse_group, unknown_group};
use crate::{
    Error, ErrorKind, Result,
    model::{AddExternalLink, ExternalLinkId, Patch, SectionGroupId, SiteExternalLink, UpdateExternalLink},
    platform::{
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{ExternalLinkHandle, ExternalLinks, SiteRef},
        publishing::outline::MAX_EXTERNAL_LINKS,
        sites::manage::SiteTarget,
    },
    store::{Tx, records::ExternalLinkRecord},
};

/// The request field with the group of a link.
const PARENT: &str = "parent";

impl<'p> ExternalLinks<'p> {
    /// Adds a link at the end of a site with sections, or of a section group.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an unknown group, and for a site without sections;
    /// `Conflict` if the site has the maximum number of links.
    #[boxed]
    pub async fn create(self, add: AddExternalLink) -> Result<SiteExternalLink> {
        let (platform, ref actor, of) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let group = add.parent.as_ref().map(|id| id.parse().map_err(|_| unknown_group(PARENT)));
            let group = group.transpose()?;
            let (on, id) = (SiteTarget::new(actor, of), &platform.id());
            let operation = external_link_creation(&on, id, group.as_ref(), &add);
            platform
                .write_and_show(actor, &operation, |done| {
                    Box::pin(platform.read_link_view(done.tx, actor, of, id))
                })
                .await
        });
        done.await
    }
}

impl<'p> ExternalLinkHandle<'p> {
    /// Changes a link. Omitted fields stay unchanged. A link that moves becomes the last child of its new group.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an unknown group.
    #[boxed]
    pub async fn update(self, change: UpdateExternalLink) -> Result<SiteExternalLink> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        let group = parse_group(PARENT, &change.parent)?;
        let update = external_link_update(&on, id, &group, &change);
        platform
            .write_and_show(actor, &update, |done| Box::pin(platform.read_link_view(done.tx, actor, of, id)))
            .await
    }

    /// Deletes a link. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let on = SiteTarget::new(actor, of);
        Error::ignore_not_found(platform.write(actor, &external_link_deletion(&on, id)).await)
    }
}

impl Platform {
    /// Builds the view of a link, as of the transaction.
    pub(super) async fn read_link_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SiteRef<'_>,
        id: &ExternalLinkId,
    ) -> Result<SiteExternalLink> {
        let opened = self.load_visible_site(tx, actor, of.into()).await?;
        let link = opened.outline.link(id).cloned().ok_or_else(missing)?;
        Ok(self.view_places(tx, &opened, &[]).await?.link(&link))
    }
}

#[operation("site_external_link_add")]
async fn external_link_creation(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &ExternalLinkId,
    group: Option<&SectionGroupId>,
    add: &AddExternalLink,
) -> Result<()> {
    let (site, outline) = on.load_outline(tx).await?;
    if !outline.has_sections() {
        return Err(Error::new(
            ErrorKind::Invalid,
            "an external link needs a site with sections; add a section first",
        ));
    }
    if let Some(group) = group {
        outline.group(group).ok_or_else(|| unknown_group(PARENT))?;
    }
    if outline.links().len() >= MAX_EXTERNAL_LINKS {
        return Err(Error::conflict(format!("a site must have at most {MAX_EXTERNAL_LINKS} external links")));
    }
    let add = add.clone();
    tx.create(ExternalLinkRecord {
        id: id.clone(),
        site: site.id.clone(),
        group: group.cloned(),
        rank: last_rank(&outline, group),
        title: add.title,
        localized_title: add.localized_title.unwrap_or_default(),
        description: add.description,
        localized_description: add.localized_description.unwrap_or_default(),
        icon: add.icon,
        url: add.url,
        draft: add.draft.unwrap_or_default(),
        condition: add.condition.apply(None),
    });
    Ok(())
}

#[operation("site_external_link_update")]
async fn external_link_update(
    tx: &mut Tx,
    on: &SiteTarget,
    id: &ExternalLinkId,
    group: &Patch<SectionGroupId>,
    change: &UpdateExternalLink,
) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let old = outline.link(id).ok_or_else(missing)?;
    let change = change.clone();
    let mut new = ExternalLinkRecord::clone(old);
    new.title = change.title.unwrap_or(new.title);
    new.localized_title = change.localized_title.apply(Some(new.localized_title)).unwrap_or_default();
    new.description = change.description.apply(new.description);
    new.localized_description =
        change.localized_description.apply(Some(new.localized_description)).unwrap_or_default();
    new.icon = change.icon.apply(new.icon);
    new.url = change.url.unwrap_or(new.url);
    new.draft = change.draft.unwrap_or(new.draft);
    new.condition = change.condition.apply(new.condition);
    let group = group.clone().apply(new.group.clone());
    if group != new.group {
        if let Some(group) = &group {
            outline.group(group).ok_or_else(|| unknown_group(PARENT))?;
        }
        new.rank = last_rank(&outline, group.as_ref());
        new.group = group;
    }
    if new != **old {
        tx.put(&**old, new)?;
    }
    Ok(())
}

#[operation("site_external_link_delete")]
async fn external_link_deletion(tx: &mut Tx, on: &SiteTarget, id: &ExternalLinkId) -> Result<()> {
    let (_, outline) = on.load_outline(tx).await?;
    let link = outline.link(id).ok_or_else(missing)?;
    tx.delete(&**link);
    Ok(())
}

pub(super) fn missing() -> Error {
    Error::not_found("external link")
}
