//! Customization of sites and of their site spaces.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use super::find_site_space;
use crate::{
    Error, Result,
    model::{
        Ai, Customization, CustomizationOverride, Customizations, Favicon, OrgId, Patch, SiteId, SiteSpaceId,
    },
    platform::{
        access,
        kernel::{actor::Actor, emoji::normalize_emoji},
        nouns::{SiteHandle, SiteRef, SiteSpaceHandle},
    },
    policy::SiteAction,
    store::{
        MAX_SCAN, Operation, Tx, decode,
        records::{CustomizationEntry, CustomizationRecord, SiteRecord},
    },
};

/// Maximum size of a customization as JSON, in bytes. Well below the store's value limit.
pub(in crate::platform) const MAX_BYTES: usize = 64 * 1024;

impl<'p> SiteHandle<'p> {
    /// Reads the customization of a site, with unset fields set to their defaults.
    #[boxed]
    pub async fn get_customization(self) -> Result<Customization> {
        let (platform, ref actor, at, _) = self.parts();
        let tx = platform.read().await?;
        site_look(&tx, actor, at).await
    }

    /// Replaces the entire customization of a site. Page actions may be given in two forms, see
    /// [`PageActions`](crate::model::PageActions).
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` if a condition is not a valid expression, or the
    /// favicon has both an image and an emoji.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId, Theme}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let site = me.org(org).site(site);
    /// let mut look = site.get_customization().await?;
    /// look.styling.theme = Theme::Bold;
    /// site.set_customization(look).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn set_customization(self, look: Customization) -> Result<Customization> {
        let Self { caller, at: at @ SiteRef { org, site }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        check_favicon(&look.favicon)?;
        check_actions(&look)?;
        check_size(&look)?;
        platform
            .change_and_show(actor, &set_customization(actor, org, site, &look), |seen| {
                Box::pin(site_look(seen.tx, actor, at))
            })
            .await
    }
}

impl<'p> SiteSpaceHandle<'p> {
    /// Reads the customization of a space on a site: the site's customization with the overrides of the space.
    #[boxed]
    pub async fn get_customization(self) -> Result<Customization> {
        let (platform, ref actor, at, id) = self.parts();
        let tx = platform.read().await?;
        place_look(&tx, actor, at, id).await
    }

    /// Changes the overrides of a space on a site. Omitted fields stay unchanged; `null` restores the site's value.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` if a condition is not a valid expression, or the
    /// favicon has both an image and an emoji.
    #[boxed]
    pub async fn override_customization(self, change: CustomizationOverride) -> Result<Customization> {
        let (platform, ref actor, at, id) = self.parts();
        if let Patch::Set(favicon) = &change.favicon {
            check_favicon(favicon)?;
        }
        let change = OverrideCustomization::new(actor, at, id, Some(change));
        let look =
            platform.change_and_show(actor, &change, |done| Box::pin(place_look(done.tx, actor, at, id)));
        look.await
    }

    /// Removes the overrides of a space on a site. Returns `true` if the space is on the site.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn delete_customization(self) -> Result<bool> {
        let (platform, ref actor, of, id) = self.parts();
        let remove = OverrideCustomization::new(actor, of, id, None);
        let done = platform.change(actor, &remove, |seen| Box::pin(place_look(seen.tx, actor, of, id)));
        Error::ignore_not_found(done.await)
    }
}

/// Returns the customization of a site, as of the transaction.
async fn site_look(tx: &Tx, actor: &Actor, of: SiteRef<'_>) -> Result<Customization> {
    access::require_site(tx, actor, of, SiteAction::View).await?;
    site_customization(tx, of.site).await
}

/// Returns the customization of a space on a site, as of the transaction.
async fn place_look(
    tx: &Tx,
    actor: &Actor,
    of @ SiteRef { org: _, site }: SiteRef<'_>,
    id: &SiteSpaceId,
) -> Result<Customization> {
    access::require_site(tx, actor, of, SiteAction::View).await?;
    find_site_space(tx, site, id).await?;
    let site_look = site_customization(tx, site).await?;
    let record: Option<Arc<CustomizationRecord>> =
        tx.get(&CustomizationRecord::key_for_place(site, id)).await?;
    Ok(match record.as_deref().map(|record| &record.look) {
        Some(CustomizationEntry::SiteSpace(_, differs)) => differs.apply_to(site_look),
        _ => site_look,
    })
}

/// Returns the published customization of a site, and that of each of the given site spaces: the site's with its
/// overrides.
pub(in crate::platform) async fn customizations<'p>(
    tx: &Tx,
    site: &SiteId,
    places: impl IntoIterator<Item = &'p SiteSpaceId>,
) -> Result<Customizations> {
    // A site has fewer spaces than the scan limit.
    let found = tx.scan_prefix(&CustomizationRecord::by_site(site), MAX_SCAN).await?;
    let mut look = Customization::default();
    let mut differing = BTreeMap::new();
    for (_, value) in found {
        let record: Arc<CustomizationRecord> = decode(value)?;
        match &record.look {
            CustomizationEntry::Site(own) => look = complete(own),
            CustomizationEntry::SiteSpace(place, differs) => {
                differing.insert(place.clone(), differs.clone());
            }
        }
    }
    // The platform has no assistant, and its instructions are for managers of the site.
    look.ai = Ai::default();
    let of_place = |place: &SiteSpaceId| match differing.get(place) {
        Some(differs) => differs.apply_to(look.clone()),
        None => look.clone(),
    };
    let site_spaces = places.into_iter().map(|place| (place.clone(), of_place(place))).collect();
    Ok(Customizations { site: look, site_spaces })
}

/// Gives a site space the overrides of another one of its site.
pub(in crate::platform) async fn copy_override(
    tx: &mut Tx,
    site: &SiteId,
    from: &SiteSpaceId,
    to: &SiteSpaceId,
) -> Result<()> {
    let record: Option<Arc<CustomizationRecord>> =
        tx.get(&CustomizationRecord::key_for_place(site, from)).await?;
    if let Some(CustomizationEntry::SiteSpace(_, differs)) = record.as_deref().map(|record| &record.look) {
        let look = CustomizationEntry::SiteSpace(to.clone(), differs.clone());
        tx.create(CustomizationRecord { site: site.clone(), look });
    }
    Ok(())
}

/// Removes the overrides of a space in the transaction that removes the space from the site.
pub(in crate::platform) async fn delete_override(
    tx: &mut Tx,
    site: &SiteId,
    place: &SiteSpaceId,
) -> Result<()> {
    super::delete::<CustomizationRecord>(tx, &CustomizationRecord::key_for_place(site, place)).await
}

/// Returns the site's own customization.
async fn site_customization(tx: &Tx, site: &SiteId) -> Result<Customization> {
    let record: Option<Arc<CustomizationRecord>> = tx.get(&CustomizationRecord::key_for(site)).await?;
    Ok(match record.as_deref().map(|record| &record.look) {
        Some(CustomizationEntry::Site(look)) => complete(look),
        _ => Customization::default(),
    })
}

/// Returns a stored customization with the fields that an earlier version of the program did not store.
fn complete(look: &Customization) -> Customization {
    look.clone().completed(&Customization::default())
}

fn check_actions(look: &Customization) -> Result<()> {
    let items = look.page_actions.items.as_deref().unwrap_or_default();
    let is_repeated = |at: usize| items[..at].contains(&items[at]);
    match (0..items.len()).find(|at| is_repeated(*at)) {
        Some(at) => {
            Err(Error::invalid(&format!("pageActions.items[{at}]"), "must not repeat an action of the list"))
        }
        None => Ok(()),
    }
}

fn check_favicon(favicon: &Favicon) -> Result<()> {
    if favicon.icon.is_some() && favicon.emoji.is_some() {
        return Err(Error::invalid("favicon", "must have an icon or an emoji, not both"));
    }
    if let Some(emoji) = &favicon.emoji {
        normalize_emoji(emoji, "favicon.emoji")?;
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

#[operation("site_customization_set")]
async fn set_customization(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    look: &Customization,
) -> Result<()> {
    let (_, record) = access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let icon = Some(&look.favicon).filter(|favicon| **favicon != Favicon::default());
    if record.icon.as_ref() != icon {
        tx.put(&*record, SiteRecord { icon: icon.cloned(), ..SiteRecord::clone(&record) })?;
    }
    let look = look.clone().completed(&site_customization(tx, site).await?);
    let old: Option<Arc<CustomizationRecord>> = tx.get(&CustomizationRecord::key_for(site)).await?;
    let new = CustomizationRecord { site: site.clone(), look: CustomizationEntry::Site(Box::new(look)) };
    match old {
        None => drop(tx.create(new)),
        Some(old) if *old == new => {}
        Some(old) => drop(tx.put(&*old, new)?),
    }
    Ok(())
}

/// Changes or removes the overrides of a space on a site.
struct OverrideCustomization {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    place: SiteSpaceId,
    change: Option<CustomizationOverride>,
}

impl OverrideCustomization {
    fn new(
        actor: &Actor,
        SiteRef { org, site }: SiteRef<'_>,
        place: &SiteSpaceId,
        change: Option<CustomizationOverride>,
    ) -> Self {
        Self { actor: actor.clone(), org: org.clone(), site: site.clone(), place: place.clone(), change }
    }
}

#[async_trait]
impl Operation for OverrideCustomization {
    type Output = ();
    const NAME: &'static str = "site_space_customization_override";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        access::require_site(
            tx,
            &self.actor,
            SiteRef { org: &self.org, site: &self.site },
            SiteAction::Manage,
        )
        .await?;
        find_site_space(tx, &self.site, &self.place).await?;
        let key = CustomizationRecord::key_for_place(&self.site, &self.place);
        let old: Option<Arc<CustomizationRecord>> = tx.get(&key).await?;
        let differs = match old.as_deref().map(|old| &old.look) {
            Some(CustomizationEntry::SiteSpace(_, differs)) => CustomizationOverride::clone(differs),
            _ => CustomizationOverride::default(),
        };
        let differs = match self.change.clone() {
            Some(change) => differs.updated_by(change),
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
            look: CustomizationEntry::SiteSpace(self.place.clone(), Box::new(differs)),
        };
        match old {
            None => drop(tx.create(new)),
            Some(old) if *old == new => {}
            Some(old) => drop(tx.put(&*old, new)?),
        }
        Ok(())
    }
}
