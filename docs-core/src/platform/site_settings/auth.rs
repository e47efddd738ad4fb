//! How visitors of a site prove who they are.

use std::sync::Arc;

use async_trait::async_trait;

use super::Secret;
use crate::{
    BoxFuture, Error, Result,
    model::{
        OrgId, Patch, PublishingAuth, PublishingAuthObject, SiteId, UpdatePublishingAuth, Url,
        VisitorAuthBackend, web_url,
    },
    platform::{Actor, Platform, access, at_once, people::platform_only},
    policy::SiteAction,
    ports::Secrets,
    store::{Operation, Tx, records::SiteAuthRecord},
};

impl Platform {
    /// How visitors of a site prove who they are, with the key that signs their tokens. A site that has no key yet is
    /// given one.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Conflict` when the key was sealed by another server's
    /// key.
    pub fn get_publishing_auth<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<PublishingAuth>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::Manage).await?;
            let record: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::at(site)).await?;
            drop(tx);
            match record {
                Some(record) => self.auth_view(&record),
                None => self.change_auth(actor, (org, site), Change::Nothing).await,
            }
        })
    }

    /// Changes how visitors of a site prove who they are. What the request leaves out stays, the key too.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site; `Invalid` for an integration without its backend, and for an address with a `location` of its own;
    /// `Conflict` when the key was sealed by another server's key.
    pub fn update_publishing_auth<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
        change: UpdatePublishingAuth,
    ) -> BoxFuture<'a, Result<PublishingAuth>> {
        Box::pin(async move {
            if let Patch::Set(url) = &change.fallback_url {
                check_fallback(url)?;
            }
            self.change_auth(actor, (org, site), Change::Settings(change)).await
        })
    }

    /// Gives a site another signing key: what was signed with the one before is worth nothing from here on.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor manages the site.
    pub fn regenerate_publishing_auth<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<PublishingAuth>> {
        Box::pin(self.once(actor, async move { self.change_auth(actor, (org, site), Change::Key).await }))
    }

    /// The key that signs the tokens of a site's visitors: the bytes of the text. `None` while the site was given none,
    /// so that no token is valid. Only the platform itself may ask.
    ///
    /// # Errors
    /// `Forbidden`; `Conflict` when the key was sealed by another server's key.
    pub fn signing_key<'a>(
        &'a self,
        actor: &'a Actor,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async move {
            platform_only(actor)?;
            signing_key(self.secrets(), &self.read().await?, site).await
        })
    }

    async fn change_auth(
        &self,
        actor: &Actor,
        (org, site): (&OrgId, &SiteId),
        change: Change,
    ) -> Result<PublishingAuth> {
        let key = Secret::draw(self.ids(), "docs-platform signing key of a site").as_hex();
        let sealed = self.secrets().seal(&purpose(site), &key, self.ids().next()).map_err(Error::internal)?;
        let (actor, org, site) = (actor.clone(), org.clone(), site.clone());
        let operation = ChangeAuth { actor, org, site, change, sealed, secrets: self.secrets() };
        let show =
            self.write_and_show(&operation.actor, &operation, |done| at_once(self.auth_view(&done.out)));
        show.await
    }

    fn auth_view(&self, record: &SiteAuthRecord) -> Result<PublishingAuth> {
        Ok(PublishingAuth {
            object: PublishingAuthObject::Is,
            backend: record.backend,
            private_key: opened(self.secrets(), record)?,
            fallback_url: record.fallback_url.clone(),
            integration: record.integration.clone(),
        })
    }
}

/// Refuses an address to sign in at that names a `location` itself: where the visitor wanted to go is told by that name.
fn check_fallback(url: &Url) -> Result<()> {
    if web_url(url.as_str()).is_some_and(|url| url.query_pairs().any(|(name, _)| name == "location")) {
        let message =
            "must not have `location` in its query: it is added, and says where the visitor wanted to go";
        return Err(Error::invalid("fallbackURL", message));
    }
    Ok(())
}

/// The signing key of a site, where it has one.
pub(in crate::platform) async fn signing_key(
    secrets: &dyn Secrets,
    tx: &Tx,
    site: &SiteId,
) -> Result<Option<String>> {
    let record: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::at(site)).await?;
    record.map(|record| opened(secrets, &record)).transpose()
}

/// The signing key of a site, as text whose bytes are the key.
fn opened(secrets: &dyn Secrets, record: &SiteAuthRecord) -> Result<String> {
    secrets.open(&purpose(&record.site), &record.sealed).map_err(|_| {
        Error::conflict(
            "the signing key was sealed with another key; start the server with that one, or regenerate it",
        )
    })
}

/// What the signing key of a site is sealed for.
fn purpose(site: &SiteId) -> String {
    format!("site-signing-key {site}")
}

enum Change {
    /// Only what a site needs that has nothing yet.
    Nothing,
    Settings(UpdatePublishingAuth),
    Key,
}

struct ChangeAuth<'s> {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    change: Change,
    /// The key of a site that has none yet, or is to have another.
    sealed: String,
    secrets: &'s dyn Secrets,
}

#[async_trait]
impl Operation for ChangeAuth<'_> {
    type Out = Arc<SiteAuthRecord>;
    const NAME: &'static str = "publishing_auth_change";

    async fn apply(&self, tx: &mut Tx) -> Result<Arc<SiteAuthRecord>> {
        access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let old: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::at(&self.site)).await?;
        let mut new = match &old {
            Some(old) => SiteAuthRecord::clone(old),
            None => SiteAuthRecord {
                site: self.site.clone(),
                backend: VisitorAuthBackend::Custom,
                integration: None,
                fallback_url: None,
                sealed: self.sealed.clone(),
            },
        };
        match &self.change {
            Change::Nothing => {}
            Change::Key => new.sealed.clone_from(&self.sealed),
            Change::Settings(change) => settle(&mut new, change)?,
        }
        // Who is refused the answer has changed nothing.
        opened(self.secrets, &new)?;
        match old {
            None => Ok(tx.create(new)),
            Some(old) if *old == new => Ok(old),
            Some(old) => Ok(tx.put(&*old, new)?),
        }
    }
}

fn settle(record: &mut SiteAuthRecord, change: &UpdatePublishingAuth) -> Result<()> {
    record.backend = change.backend.unwrap_or(record.backend);
    record.fallback_url = change.fallback_url.clone().apply(record.fallback_url.take());
    if record.backend == VisitorAuthBackend::Custom {
        if matches!(change.integration, Patch::Set(_)) {
            return Err(Error::invalid("integration", "only the backend `integration` has one"));
        }
        record.integration = None;
    } else {
        record.integration = change.integration.clone().apply(record.integration.take());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_to_sign_in_at_has_no_location_of_its_own() {
        let check = |text: &str| check_fallback(&Url::new(text).expect(text));
        for fine in [
            "https://in.example",
            "https://in.example/?a=location&b",
            "https://in.example/location#?location=1",
        ] {
            assert!(check(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "https://in.example?location=x",
            "https://in.example/a?b=1&location",
            "https://in.example/?%6Cocation=x",
        ] {
            let error = check(wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("fallbackURL: "), "{error}");
        }
    }
}
