//! Visitor authentication of sites.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    model::{
        OrgId, Patch, PublishingAuth, PublishingAuthObject, SiteId, UpdatePublishingAuth, Url,
        VisitorAuthBackend, web_url,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right, secret::Secret},
        nouns::{Caller, SiteHandle, SiteRef},
        publishing::keys::{open_signing_key, purpose, signing_key},
    },
    policy::SiteAction,
    ports::Secrets,
    store::{Tx, records::SiteAuthRecord},
};

impl<'p> SiteHandle<'p> {
    /// Reads the visitor authentication settings of a site, including the key that signs visitor tokens. Creates the
    /// key if the site has none.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Conflict` if the key was sealed with another sealing key.
    #[boxed]
    pub async fn get_publishing_auth(self) -> Result<PublishingAuth> {
        let Self { caller, at: at @ SiteRef { site, .. }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        let record: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::key_for(site)).await?;
        drop(tx);
        match record {
            Some(record) => platform.auth_view(&record),
            None => platform.change_auth(actor, at, AuthSettingsChange::CreateMissing).await,
        }
    }

    /// Changes the visitor authentication settings of a site. Omitted fields and the signing key stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Invalid` for an integration without its backend, or for a URL
    /// with its own `location` parameter; `Conflict` if the key was sealed with another sealing key.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{OrgId, Patch, SiteId, UpdatePublishingAuth, Url}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let fallback_url = Patch::Set(Url::new("https://example.com/sign-in")?);
    /// let change = UpdatePublishingAuth { fallback_url, ..Default::default() };
    /// let auth = me.org(org).site(site).update_publishing_auth(change).await?;
    /// println!("{:?}", auth.fallback_url);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn update_publishing_auth(self, change: UpdatePublishingAuth) -> Result<PublishingAuth> {
        let (platform, ref actor, at, _) = self.parts();
        if let Patch::Set(url) = &change.fallback_url {
            check_fallback(url)?;
        }
        platform.change_auth(actor, at, AuthSettingsChange::Settings(change)).await
    }

    /// Replaces the signing key of a site. Tokens signed with the previous key become invalid.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn regenerate_publishing_auth(self) -> Result<PublishingAuth> {
        let (platform, ref actor, at, _) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(at), async move {
            platform.change_auth(actor, at, AuthSettingsChange::Key).await
        });
        done.await
    }
}

impl<'p> Caller<'p> {
    /// Reads the key that signs visitor tokens of a site. The key is the UTF-8 encoding of the returned text. Returns
    /// `None` if the site has no key yet, in which case no token is valid. Reserved for the platform itself.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `Conflict` if the key was sealed with another sealing key.
    #[boxed]
    pub async fn signing_key(self, site: &'p SiteId) -> Result<Option<String>> {
        let (platform, actor) = (self.platform, &self.actor());
        actor.require_platform()?;
        signing_key(platform.secrets(), &platform.read().await?, site).await
    }
}

impl Platform {
    async fn change_auth(
        &self,
        actor: &Actor,
        at @ SiteRef { org, site }: SiteRef<'_>,
        change: AuthSettingsChange,
    ) -> Result<PublishingAuth> {
        let key = Secret::draw(self.ids(), "docs-platform signing key of a site").as_hex();
        let sealed = self.secrets().seal(&purpose(site), &key, self.ids().next()).map_err(Error::internal)?;
        let operation = change_auth(actor, org, site, &change, &sealed, self.secrets());
        self.change_and_show(actor, &operation, |done| Box::pin(self.read_auth_settings(done.tx, actor, at)))
            .await
    }

    /// Returns the visitor authentication settings of a site, as of the transaction.
    async fn read_auth_settings(&self, tx: &Tx, actor: &Actor, at: SiteRef<'_>) -> Result<PublishingAuth> {
        access::require_site(tx, actor, at, SiteAction::Manage).await?;
        let record: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::key_for(at.site)).await?;
        let record = record.ok_or_else(|| Error::not_found("publishing auth"))?;
        self.auth_view(&record)
    }

    fn auth_view(&self, record: &SiteAuthRecord) -> Result<PublishingAuth> {
        Ok(PublishingAuth {
            object: PublishingAuthObject::Is,
            backend: record.backend,
            private_key: open_signing_key(self.secrets(), record)?,
            fallback_url: record.fallback_url.clone(),
            logout_url: record.logout_url.clone(),
            integration: record.integration.clone(),
        })
    }
}

/// Rejects a sign-in URL with its own `location` parameter, which is reserved for the page that the visitor requested.
fn check_fallback(url: &Url) -> Result<()> {
    if web_url(url.as_str()).is_some_and(|url| url.query_pairs().any(|(name, _)| name == "location")) {
        let message = "must not have the query parameter `location`, which is added for the requested page";
        return Err(Error::invalid("fallbackURL", message));
    }
    Ok(())
}

enum AuthSettingsChange {
    /// Creates the settings if they are missing.
    CreateMissing,
    Settings(UpdatePublishingAuth),
    Key,
}

/// Changes the visitor authentication settings of a site. `sealed` is a new key, used if the site has none or replaces
/// its key.
#[operation("publishing_auth_change")]
async fn change_auth(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    change: &AuthSettingsChange,
    sealed: &str,
    secrets: &dyn Secrets,
) -> Result<Arc<SiteAuthRecord>> {
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::key_for(site)).await?;
    let mut new = match &old {
        Some(old) => SiteAuthRecord::clone(old),
        None => SiteAuthRecord {
            site: site.clone(),
            backend: VisitorAuthBackend::Custom,
            integration: None,
            fallback_url: None,
            logout_url: None,
            sealed: sealed.to_owned(),
        },
    };
    match change {
        AuthSettingsChange::CreateMissing => {}
        AuthSettingsChange::Key => sealed.clone_into(&mut new.sealed),
        AuthSettingsChange::Settings(change) => settle(&mut new, change)?,
    }
    // If the caller gets this error, nothing must have changed.
    open_signing_key(secrets, &new)?;
    match old {
        None => Ok(tx.create(new)),
        Some(old) if *old == new => Ok(old),
        Some(old) => Ok(tx.put(&*old, new)?),
    }
}

fn settle(record: &mut SiteAuthRecord, change: &UpdatePublishingAuth) -> Result<()> {
    record.backend = change.backend.unwrap_or(record.backend);
    record.fallback_url = change.fallback_url.clone().apply(record.fallback_url.take());
    record.logout_url = change.logout_url.clone().apply(record.logout_url.take());
    if record.backend == VisitorAuthBackend::Custom {
        if matches!(change.integration, Patch::Set(_)) {
            return Err(Error::invalid("integration", "is allowed for the backend `integration` only"));
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
    fn fallback_url_with_location_parameter_is_refused() {
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
