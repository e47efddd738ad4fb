//! Users as seen by members, and by visitors of sites that mention them.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::{User, UserId},
    platform::{
        kernel::{
            actor::{Actor, Visitor},
            platform::Platform,
        },
        nouns::UserHandle,
        people::users::can_see_user,
    },
    store::{
        Tx,
        records::{MemberRecord, SiteRecord, UserRecord},
    },
};

impl<'p> UserHandle<'p> {
    /// Reads a user: the actor's own, or one who shares an organization with the actor, unless the actor is a guest
    /// there.
    ///
    /// With the content token of a site, the members of its organization are returned without e-mail address, because
    /// pages can mention them.
    #[boxed]
    pub async fn get(self) -> Result<User> {
        let (platform, ref actor, id) = self.parts();
        let tx = platform.read().await?;
        let missing = || Error::not_found("user");
        let user: Option<Arc<UserRecord>> = tx.get(&UserRecord::key_for(id)).await?;
        let shown = platform.user_view(&*user.ok_or_else(missing)?);
        match actor {
            Actor::Visitor(visitor) => match platform.is_mentionable(&tx, visitor, id).await? {
                true => Ok(User { email: None, ..shown }),
                false => Err(missing()),
            },
            Actor::User(_) | Actor::Token(_) | Actor::Platform => {
                can_see_user(&tx, actor, id).await?.then_some(shown).ok_or_else(missing)
            }
        }
    }
}

impl Platform {
    /// Returns `true` if a user is a member of the organization of the site that the visitor's token was issued for.
    async fn is_mentionable(&self, tx: &Tx, visitor: &Visitor, user: &UserId) -> Result<bool> {
        let Some(site) = &visitor.site else { return Ok(false) };
        let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(site)).await?;
        let Some(site) = site else { return Ok(false) };
        Ok(self.is_in_audience(tx, visitor, &site).await?
            && tx.get_value(&MemberRecord::key_for(&site.organization, user)).await?.is_some())
    }
}
