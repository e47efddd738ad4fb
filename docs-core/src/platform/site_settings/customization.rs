//! How sites and the spaces on them look.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;

use super::place;
use crate::{
    BoxFuture, Error, Result,
    model::{
        Customization, CustomizationOverride, Customizations, Favicon, OrgId, Patch, SiteId, SiteSpaceId,
    },
    platform::{Actor, Platform, access},
    policy::SiteAction,
    store::{
        MAX_SCAN, Operation, Tx, decode,
        records::{CustomizationRecord, Look, SiteRecord},
    },
};

/// Most bytes of a customization, as JSON: well below what a store takes.
const MAX_BYTES: usize = 64 * 1024;

impl Platform {
    /// How a site looks; the defaults where nothing was set.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_site_customization<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<Customization>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::View).await?;
            own(&tx, site).await
        })
    }

    /// Sets how a site looks: all of it.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` when a condition is no expression, or the favicon is a picture and an emoji.
    pub fn set_site_customization<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
        look: Customization,
    ) -> BoxFuture<'a, Result<Customization>> {
        Box::pin(async move {
            check_favicon(&look.favicon)?;
            check_size(&look)?;
            let operation =
                Set { actor: actor.clone(), org: org.clone(), site: site.clone(), look: look.clone() };
            self.write(actor, &operation).await?;
            Ok(look)
        })
    }

    /// How a space on a site looks: as the site, but for what was set on the space.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_site_space_customization<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a SiteSpaceId,
    ) -> BoxFuture<'a, Result<Customization>> {
        Box::pin(async move {
            let tx = self.read().await?;
            place_look(&tx, actor, (org, site), id).await
        })
    }

    /// Changes how a space on a site differs from the site. What the request leaves out stays; what it says `null` of
    /// is as on the site again.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`; `Invalid` when a condition is no expression, or the favicon is a picture and an emoji.
    pub fn override_site_space_customization<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        id: &'a SiteSpaceId,
        change: CustomizationOverride,
    ) -> BoxFuture<'a, Result<Customization>> {
        Box::pin(async move {
            if let Patch::Set(favicon) = &change.favicon {
                check_favicon(favicon)?;
            }
            let change = Override::new(actor, (org, site), id, Some(change));
            let look = self
                .write_and_show(actor, &change, |done| Box::pin(place_look(done.tx, actor, (org, site), id)));
            look.await
        })
    }

    /// Makes a space on a site look as the site.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn delete_site_space_customization<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a OrgId, &'a SiteId),
        id: &'a SiteSpaceId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            super::super::teams::there_was(self.write(actor, &Override::new(actor, of, id, None)).await)
        })
    }
}

/// How a space on a site looks, as a transaction sees it.
async fn place_look(
    tx: &Tx,
    actor: &Actor,
    (org, site): (&OrgId, &SiteId),
    id: &SiteSpaceId,
) -> Result<Customization> {
    access::site(tx, actor, (org, site), SiteAction::View).await?;
    place(tx, site, id).await?;
    let site_look = own(tx, site).await?;
    let record: Option<Arc<CustomizationRecord>> = tx.get(&CustomizationRecord::at_place(site, id)).await?;
    Ok(match record.as_deref().map(|record| &record.look) {
        Some(Look::SiteSpace(_, differs)) => differs.over(site_look),
        _ => site_look,
    })
}

/// How a site looks, and those of these spaces on it that differ.
pub(in crate::platform) async fn customizations<'p>(
    tx: &Tx,
    site: &SiteId,
    places: impl IntoIterator<Item = &'p SiteSpaceId>,
) -> Result<Customizations> {
    // A site has at most as many spaces as one scan reads.
    let found = tx.below(&CustomizationRecord::of_site(site), MAX_SCAN).await?;
    let mut look = Customization::default();
    let mut differing = BTreeMap::new();
    for (_, value) in found {
        let record: Arc<CustomizationRecord> = decode(value)?;
        match &record.look {
            Look::Site(own) => look = Customization::clone(own),
            Look::SiteSpace(place, differs) => {
                differing.insert(place.clone(), differs.clone());
            }
        }
    }
    let shown = places.into_iter().filter_map(|place| Some((place.clone(), differing.get(place)?)));
    let site_spaces = shown.map(|(place, differs)| (place, differs.over(look.clone()))).collect();
    Ok(Customizations { site: look, site_spaces })
}

/// Removes how a space on a site differs, in the transaction that takes it off the site.
pub(in crate::platform) async fn drop_override(
    tx: &mut Tx,
    site: &SiteId,
    place: &SiteSpaceId,
) -> Result<()> {
    super::delete::<CustomizationRecord>(tx, &CustomizationRecord::at_place(site, place)).await
}

/// A site's own customization.
async fn own(tx: &Tx, site: &SiteId) -> Result<Customization> {
    let record: Option<Arc<CustomizationRecord>> = tx.get(&CustomizationRecord::at(site)).await?;
    Ok(match record.as_deref().map(|record| &record.look) {
        Some(Look::Site(look)) => Customization::clone(look),
        _ => Customization::default(),
    })
}

fn check_favicon(favicon: &Favicon) -> Result<()> {
    if favicon.icon.is_some() && favicon.emoji.is_some() {
        return Err(Error::invalid("favicon", "give an icon or an emoji, not both"));
    }
    Ok(())
}

fn check_size(look: &impl serde::Serialize) -> Result<()> {
    let bytes = serde_json::to_vec(look).map_err(Error::internal)?.len();
    if bytes > MAX_BYTES {
        let message = format_args!("must be at most {MAX_BYTES} bytes as JSON, has {bytes}");
        return Err(Error::invalid("the customization", message));
    }
    Ok(())
}

struct Set {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    look: Customization,
}

#[async_trait]
impl Operation for Set {
    type Out = ();
    const NAME: &'static str = "site_customization_set";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, site) = access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let icon = Some(&self.look.favicon).filter(|favicon| **favicon != Favicon::default());
        if site.icon.as_ref() != icon {
            tx.put(&*site, SiteRecord { icon: icon.cloned(), ..SiteRecord::clone(&site) })?;
        }
        let old: Option<Arc<CustomizationRecord>> = tx.get(&CustomizationRecord::at(&self.site)).await?;
        let new =
            CustomizationRecord { site: self.site.clone(), look: Look::Site(Box::new(self.look.clone())) };
        match old {
            None => drop(tx.create(new)),
            Some(old) if *old == new => {}
            Some(old) => drop(tx.put(&*old, new)?),
        }
        Ok(())
    }
}

/// Changes how a space on a site differs, or removes it.
struct Override {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    place: SiteSpaceId,
    change: Option<CustomizationOverride>,
}

impl Override {
    fn new(
        actor: &Actor,
        (org, site): (&OrgId, &SiteId),
        place: &SiteSpaceId,
        change: Option<CustomizationOverride>,
    ) -> Self {
        Self { actor: actor.clone(), org: org.clone(), site: site.clone(), place: place.clone(), change }
    }
}

#[async_trait]
impl Operation for Override {
    type Out = ();
    const NAME: &'static str = "site_space_customization_override";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        place(tx, &self.site, &self.place).await?;
        let key = CustomizationRecord::at_place(&self.site, &self.place);
        let old: Option<Arc<CustomizationRecord>> = tx.get(&key).await?;
        let differs = match old.as_deref().map(|old| &old.look) {
            Some(Look::SiteSpace(_, differs)) => CustomizationOverride::clone(differs),
            _ => CustomizationOverride::default(),
        };
        let differs = match self.change.clone() {
            Some(change) => differs.changed(change),
            None => CustomizationOverride::default(),
        };
        check_size(&differs)?;
        if differs == CustomizationOverride::default() {
            if let Some(old) = old {
                tx.delete(&*old);
            }
            return Ok(());
        }
        let new = CustomizationRecord {
            site: self.site.clone(),
            look: Look::SiteSpace(self.place.clone(), Box::new(differs)),
        };
        match old {
            None => drop(tx.create(new)),
            Some(old) if *old == new => {}
            Some(old) => drop(tx.put(&*old, new)?),
        }
        Ok(())
    }
}
