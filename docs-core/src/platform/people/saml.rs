//! SAML providers of organizations. `login.rs` contains the sign-in, `session.rs` the resulting sessions, and
//! `refusal.rs` the rejected sign-ins.

mod login;
mod refusal;
mod session;

use std::sync::Arc;

use docs_macros::{boxed, operation};

pub(in crate::platform) use self::{
    login::SAML_LOGIN_WINDOW,
    refusal::MAX_UNSIGNED_REFUSALS,
    session::{SESSION_WINDOW, require_current},
};
pub use self::{
    login::{SamlAnswer, SamlStart},
    session::SamlSession,
};
use crate::{
    Error, Result,
    model::{
        Certificate, CreateSamlProvider, OrEmpty, OrgId, Patch, SamlProvider, SamlProviderId,
        SamlProviderObject, SamlProviderStatus, SamlProviderUrls, SsoLogin, SsoLogins, TeamId,
        UpdateSamlProvider,
    },
    platform::{
        access::{self, MAX_PROVIDERS, active_providers},
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{OrgHandle, SamlProviderHandle, SamlProviders, list_identities::tag},
    },
    policy::{OrgAccess, OrgAction},
    store::{
        Key, ListSpec, Lister, Page, PageRequest, Tx,
        records::{SamlProviderRecord, SamlRefusalRecord, TeamRecord},
    },
};

impl<'p> SamlProviders<'p> {
    /// Lists the SAML providers of an organization, oldest first.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<SamlProvider>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        access.require(OrgAction::Administrate)?;
        let spec = ListSpec::new(tag::SAML_PROVIDERS, SamlProviderRecord::by_org(org));
        let mut list = Lister::new(spec, page)?;
        list.fill(&tx, |_| true).await?;
        let count = u64::try_from(tx.number(&SamlProviderRecord::count_in(org)).await?).ok();
        let page = list.finish(&tx, count).await?;
        let items = platform.saml_views(&tx, &access, actor, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates a SAML provider. It is pending until its URL, entity id and certificate are set.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization; `Invalid` for an unknown team, or for a
    /// certificate that the [SAML implementation](crate::platform::Builder::saml) cannot use for verification;
    /// `Conflict` for too many providers.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = serde_json::json!({ "label": "Staff", "ssoURL": "https://id.example.com/sso" });
    /// let provider = me.org(org).saml_providers().create(serde_json::from_value(new)?).await?;
    /// println!("{}", provider.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateSamlProvider) -> Result<SamlProvider> {
        let (platform, ref actor, org) = self.parts();
        platform.require_usable(new.certificate.as_ref().and_then(|new| new.0.as_ref()))?;
        let done = platform.idempotent(actor, Right::Org(org.clone(), OrgAction::Administrate), async move {
            let record = SamlProviderRecord {
                id: platform.id(),
                organization: org.clone(),
                label: new.label,
                sso_url: new.sso_url.and_then(|url| url.0),
                entity_id: new.entity_id.and_then(|id| id.0),
                certificate: new.certificate.and_then(|certificate| certificate.0),
                default_team: new.default_team.as_deref().map(team_id).transpose()?,
                default_role: new.default_role,
                idp_initiated: new.idp_initiated.unwrap_or(false),
                epoch: 0,
                created_at: platform.now(),
            };
            let id = record.id.clone();
            let create = saml_provider_creation(actor, &record);
            platform
                .write_and_show(actor, &create, |done| {
                    Box::pin(platform.read_provider_view(done.tx, actor, org, &id))
                })
                .await
        });
        done.await
    }
}

impl<'p> SamlProviderHandle<'p> {
    /// Reads a SAML provider.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn get(self) -> Result<SamlProvider> {
        let (platform, ref actor, org, id) = self.parts();
        let tx = platform.read().await?;
        platform.read_provider_view(&tx, actor, org, id).await
    }

    /// Changes a SAML provider. Omitted fields stay unchanged. If its URL, entity id or certificate changes, its
    /// sessions become invalid.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization; `Invalid` for an unknown team, or for a
    /// certificate that the [SAML implementation](crate::platform::Builder::saml) cannot use for verification.
    #[boxed]
    pub async fn update(self, change: UpdateSamlProvider) -> Result<SamlProvider> {
        let (platform, ref actor, org, id) = self.parts();
        if let Patch::Set(OrEmpty(certificate)) = &change.certificate {
            platform.require_usable(certificate.as_ref())?;
        }
        let update = saml_provider_update(actor, org, id, &change);
        platform
            .change_and_show(actor, &update, |done| {
                Box::pin(platform.read_provider_view(done.tx, actor, org, id))
            })
            .await
    }

    /// Deletes a SAML provider. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, org, id) = self.parts();
        let operation = saml_provider_deletion(actor, org, id);
        let done = platform
            .change(actor, &operation, |seen| Box::pin(platform.read_provider_view(seen.tx, actor, org, id)));
        Error::ignore_not_found(done.await)
    }
}

impl<'p> OrgHandle<'p> {
    /// Lists the active SAML providers of an organization with their sign-in URLs, oldest first.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list_sso_logins(self) -> Result<SsoLogins> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org_before_sign_in(&tx, actor, org).await?;
        let providers = active_providers(&tx, org).await?.into_iter();
        let active = providers.map(|provider| SsoLogin {
            id: provider.id.clone(),
            label: provider.label.clone(),
            start_url: platform.urls().saml_service(&provider.id).start_url,
        });
        Ok(SsoLogins { items: active.collect() })
    }
}

impl Platform {
    /// Rejects a certificate that the SAML implementation cannot use for verification.
    fn require_usable(&self, certificate: Option<&Certificate>) -> Result<()> {
        let (Some(saml), Some(certificate)) = (&self.ports().saml, certificate) else { return Ok(()) };
        saml.check_certificate(certificate.as_str()).map_err(|why| Error::invalid("certificate", why))
    }

    async fn read_provider_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        org: &OrgId,
        id: &SamlProviderId,
    ) -> Result<SamlProvider> {
        let (access, provider) = provider(tx, actor, org, id).await?;
        let mut shown = self.saml_views(tx, &access, actor, &[provider]).await?;
        shown.pop().ok_or_else(|| Error::not_found("SAML provider"))
    }

    async fn saml_views(
        &self,
        tx: &Tx,
        access: &OrgAccess,
        actor: &Actor,
        providers: &[Arc<SamlProviderRecord>],
    ) -> Result<Vec<SamlProvider>> {
        let keys: Vec<Key> = providers
            .iter()
            .filter_map(|provider| provider.default_team.as_ref())
            .map(TeamRecord::key_for)
            .collect();
        let teams: Vec<_> = tx.get_many::<TeamRecord>(&keys).await?.into_iter().flatten().collect();
        let teams = self.team_views(tx, access, actor, &teams).await?;
        let shown = providers.iter().map(|provider| SamlProvider {
            object: SamlProviderObject::Is,
            id: provider.id.clone(),
            label: provider.label.clone(),
            sso_url: provider.sso_url.as_ref().map(ToString::to_string).unwrap_or_default(),
            entity_id: provider.entity_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            certificate: provider.certificate.as_ref().map(ToString::to_string).unwrap_or_default(),
            default_team: teams.iter().find(|team| provider.default_team.as_ref() == Some(&team.id)).cloned(),
            default_role: provider.default_role,
            idp_initiated: provider.idp_initiated,
            created_at: provider.created_at,
            status: match provider.is_active() {
                true => SamlProviderStatus::Active,
                false => SamlProviderStatus::Pending,
            },
            service: self.urls().saml_service(&provider.id),
            urls: SamlProviderUrls {
                location: self.urls().saml_provider(&provider.organization, &provider.id),
            },
        });
        Ok(shown.collect())
    }
}

/// Returns a SAML provider if the actor is an administrator of its organization.
pub(in crate::platform) async fn provider(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    id: &SamlProviderId,
) -> Result<(OrgAccess, Arc<SamlProviderRecord>)> {
    let access = access::org(tx, actor, org).await?;
    access.require(OrgAction::Administrate)?;
    let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(id)).await?;
    let provider = provider.filter(|provider| provider.organization == *org);
    Ok((access, provider.ok_or_else(|| Error::not_found("SAML provider"))?))
}

/// Returns a provider if it is active.
async fn active_provider(tx: &Tx, id: &SamlProviderId) -> Result<Option<Arc<SamlProviderRecord>>> {
    let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(id)).await?;
    Ok(provider.filter(|provider| provider.is_active()))
}

fn unknown_team() -> Error {
    Error::invalid("defaultTeam", "the organization has no such team")
}

fn team_id(id: &str) -> Result<TeamId> {
    id.parse().map_err(|_| unknown_team())
}

/// Rejects a default team that the organization does not have.
async fn require_team(tx: &Tx, provider: &SamlProviderRecord) -> Result<()> {
    let Some(team) = &provider.default_team else { return Ok(()) };
    let team: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::key_for(team)).await?;
    team.filter(|team| team.organization == provider.organization).map(drop).ok_or_else(unknown_team)
}

#[operation("saml_provider_create")]
async fn saml_provider_creation(tx: &mut Tx, actor: &Actor, record: &SamlProviderRecord) -> Result<()> {
    let org = &record.organization;
    access::org(tx, actor, org).await?.require(OrgAction::Administrate)?;
    require_team(tx, record).await?;
    if tx.number(&SamlProviderRecord::count_in(org)).await? >= i64::from(MAX_PROVIDERS) {
        return Err(Error::conflict(format!(
            "an organization must have at most {MAX_PROVIDERS} SAML providers; delete one first"
        )));
    }
    tx.create(record.clone());
    Ok(())
}

#[operation("saml_provider_update")]
async fn saml_provider_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &SamlProviderId,
    change: &UpdateSamlProvider,
) -> Result<()> {
    let (_, old) = provider(tx, actor, org, id).await?;
    let change = change.clone();
    let mut new = SamlProviderRecord::clone(&old);
    new.label = change.label.unwrap_or(new.label);
    match change.sso_url {
        Patch::Keep => {}
        Patch::Clear => new.sso_url = None,
        Patch::Set(url) => new.sso_url = url.0,
    }
    match change.entity_id {
        Patch::Keep => {}
        Patch::Clear => new.entity_id = None,
        Patch::Set(id) => new.entity_id = id.0,
    }
    match change.certificate {
        Patch::Keep => {}
        Patch::Clear => new.certificate = None,
        Patch::Set(certificate) => new.certificate = certificate.0,
    }
    match change.default_team {
        Patch::Keep => {}
        Patch::Clear => new.default_team = None,
        Patch::Set(team) => new.default_team = Some(team_id(&team)?),
    }
    new.default_role = change.default_role.apply(new.default_role);
    new.idp_initiated = change.idp_initiated.unwrap_or(new.idp_initiated);
    if new.trust_settings() != old.trust_settings() {
        new.epoch = old.epoch.saturating_add(1);
    }
    if new != *old {
        require_team(tx, &new).await?;
        tx.put(&*old, new)?;
    }
    Ok(())
}

#[operation("saml_provider_delete")]
async fn saml_provider_deletion(tx: &mut Tx, actor: &Actor, org: &OrgId, id: &SamlProviderId) -> Result<()> {
    let (_, old) = provider(tx, actor, org, id).await?;
    tx.delete(&*old);
    tx.delete_all::<SamlRefusalRecord>(&[SamlRefusalRecord::key_for(id)]).await?;
    Ok(())
}
