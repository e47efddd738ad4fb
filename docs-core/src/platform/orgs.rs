//! Organizations.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use super::{Actor, Platform, access, members::user_of, people::platform_only};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        DomainOrganizations, EmailDomain, OrgId, Organization, OrganizationObject, OrganizationPermissions,
        OrganizationTitle, OrganizationUrls, Role, Trial, TrialStatus, UpdateOrganization, UserId,
    },
    policy::{OrgAccess, OrgAction},
    ports::id_text,
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value, decode, ids_of,
        records::{MemberRecord, OrgRecord, SiteRecord, TeamMemberRecord, counter, linked_id},
    },
};

/// Most e-mail domains of an organization.
const MAX_DOMAINS: usize = 100;

impl Platform {
    /// Creates an organization with its first administrator. Only the platform itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when there is no such user.
    pub fn create_org<'a>(
        &'a self,
        actor: &'a Actor,
        title: OrganizationTitle,
        admin: &'a UserId,
    ) -> BoxFuture<'a, Result<Organization>> {
        Box::pin(async move {
            platform_only(actor)?;
            let new = self.new_org(title, admin);
            let id = new.id();
            self.write_and_show(actor, &new, |done| Box::pin(self.org_seen(done.tx, actor, id))).await
        })
    }

    pub(super) fn new_org(&self, title: OrganizationTitle, admin: &UserId) -> CreateOrg {
        let now = self.now();
        let org = OrgRecord {
            id: self.id(),
            title,
            created_at: now,
            email_domains: Vec::new(),
            hostname: None,
            kind: Default::default(),
            use_case: None,
            community_type: None,
            plan: Default::default(),
            default_role: Some(Role::Read),
            default_content: None,
            logo: None,
            sso: false,
            ai: false,
            invite_links: false,
            domain: id_text(self.ids().next()),
        };
        CreateOrg { org, admin: admin.clone() }
    }

    /// Lists the organizations of the user who acts, in the order of joining (SPEC 4.10).
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `Invalid` for a wrong page or limit.
    pub fn list_orgs<'a>(
        &'a self,
        actor: &'a Actor,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Organization>>> {
        Box::pin(async move {
            let user = actor.require_user()?;
            let tx = self.read().await?;
            let spec = ListSpec { prefix: MemberRecord::orgs_of(user), rev: false, filters: String::new() };
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids: Vec<OrgId> = ids_of(&rows)?;
                let keys: Vec<Key> =
                    ids.iter().flat_map(|id| [OrgRecord::at(id), MemberRecord::at(id, user)]).collect();
                let found = tx.get_values(&keys).await?;
                let access = |pair: &[Option<Value>]| -> Result<Option<OrgAccess>> {
                    let [Some(org), Some(member)] = pair else { return Ok(None) };
                    let org = decode::<OrgRecord>(org.clone())?;
                    let member = decode::<MemberRecord>(member.clone())?;
                    OrgAccess::of_member(Some(org), Some(&member)).map(Some)
                };
                list.offer_all(&rows, found.chunks(2).map(access).collect::<Result<Vec<_>>>()?);
            }
            let count = tx.number(&counter(user.as_str(), "orgs")).await?;
            let page = list.finish(&tx, u64::try_from(count).ok()).await?;
            let items = self.org_views(&tx, actor, &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Reads an organization (SPEC 4.10).
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member.
    pub fn get_org<'a>(&'a self, actor: &'a Actor, id: &'a OrgId) -> BoxFuture<'a, Result<Organization>> {
        Box::pin(async move {
            let tx = self.read().await?;
            self.org_seen(&tx, actor, id).await
        })
    }

    async fn org_seen(&self, tx: &Tx, actor: &Actor, id: &OrgId) -> Result<Organization> {
        let access = access::org(tx, actor, id).await?;
        let mut shown = self.org_views(tx, actor, &[access]).await?;
        shown.pop().ok_or_else(|| Error::not_found("organization"))
    }

    /// Changes an organization (SPEC 4.10). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden` unless the actor administrates it; `Conflict` when the host name or an e-mail domain
    /// belongs to another organization; `Invalid` for a default site that the organization does not have.
    pub fn update_org<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a OrgId,
        change: UpdateOrganization,
    ) -> BoxFuture<'a, Result<Organization>> {
        Box::pin(async move {
            if change.email_domains.as_ref().is_some_and(|domains| domains.len() > MAX_DOMAINS) {
                return Err(Error::invalid("emailDomains", format_args!("must be at most {MAX_DOMAINS}")));
            }
            let update = UpdateOrg { actor: actor.clone(), id: id.clone(), change };
            self.write_and_show(actor, &update, |done| Box::pin(self.org_seen(done.tx, actor, id))).await
        })
    }

    /// Finds the organization that claims an e-mail domain, for its members and for those whose own address is in the
    /// domain; others, and a text that is no domain, find none.
    ///
    /// Somebody who is no member is shown as much as it takes to join: name, logo and whether single sign-on is
    /// enforced, but neither its other domains nor its content and settings. They have no permission in it.
    ///
    /// # Errors
    /// The store's.
    pub fn orgs_of_email_domain<'a>(
        &'a self,
        actor: &'a Actor,
        domain: &'a str,
    ) -> BoxFuture<'a, Result<DomainOrganizations>> {
        Box::pin(async move {
            let Ok(domain) = EmailDomain::new(domain).map(|domain| domain.to_lowercase()) else {
                return Ok(DomainOrganizations::default());
            };
            let tx = self.read().await?;
            let claim = tx.get_value(&OrgRecord::by_domain(domain.as_str())).await?;
            let Some(id) = claim.map(|id| linked_id::<OrgId>(&id)).transpose()? else {
                return Ok(DomainOrganizations::default());
            };
            let shown = match access::org(&tx, actor, &id).await {
                Ok(access) => self.org_views(&tx, actor, &[access]).await?.pop(),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.org_from_outside(&tx, actor, (&id, &domain)).await?
                }
                Err(error) => return Err(error),
            };
            Ok(DomainOrganizations { organizations: shown.into_iter().collect() })
        })
    }

    /// What somebody who is no member sees of the organization that claims the domain of their address.
    async fn org_from_outside(
        &self,
        tx: &Tx,
        actor: &Actor,
        (id, domain): (&OrgId, &EmailDomain),
    ) -> Result<Option<Organization>> {
        let user = user_of(tx, actor.require_user()?).await?;
        let own = user.email.rsplit('@').next().unwrap_or_default().to_lowercase();
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::at(id)).await?;
        Ok(org.filter(|_| own == domain.as_str()).map(|org| Organization {
            email_domains: vec![domain.clone()],
            hostname: None,
            use_case: None,
            community_type: None,
            default_role: None,
            default_content: None,
            ai: false,
            invite_links: false,
            ..self.org_view(&org, OrganizationPermissions::default())
        }))
    }

    /// Shows organizations, with what the actor owns in them.
    pub(super) async fn org_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        seen: &[OrgAccess],
    ) -> Result<Vec<Organization>> {
        let show = |access: &OrgAccess| self.org_view(access.org(), access.permissions());
        let mut shown: Vec<Organization> = seen.iter().map(show).collect();
        if let Some(user) = actor.user() {
            let owned: Vec<_> =
                shown.iter().map(|org| TeamMemberRecord::owned_by(&org.id, user).scan(false, 1)).collect();
            for ((org, access), owned) in shown.iter_mut().zip(seen).zip(tx.scan_many(&owned).await?) {
                // A guest sees no team, not even their own.
                org.permissions.own_team = !owned.is_empty() && access.role().is_some();
            }
        }
        Ok(shown)
    }

    fn org_view(&self, org: &OrgRecord, permissions: OrganizationPermissions) -> Organization {
        let (location, app) = self.urls().org(&org.id);
        Organization {
            object: OrganizationObject::Is,
            id: org.id.clone(),
            title: org.title.clone(),
            created_at: org.created_at,
            email_domains: org.email_domains.clone(),
            hostname: org.hostname.clone(),
            kind: org.kind,
            use_case: org.use_case,
            community_type: org.community_type,
            default_role: org.default_role,
            default_content: org.default_content.clone(),
            sso: org.sso,
            ai: org.ai,
            invite_links: org.invite_links,
            plan: org.plan,
            trial: Trial { status: TrialStatus::NotApplicable },
            internal_is_on_new_trial: true,
            urls: OrganizationUrls { location, app, logo: org.logo.clone() },
            permissions,
        }
    }
}

pub(super) struct CreateOrg {
    org: OrgRecord,
    admin: UserId,
}

impl CreateOrg {
    pub(super) const fn id(&self) -> &OrgId {
        &self.org.id
    }
}

#[async_trait]
impl Operation for CreateOrg {
    type Out = ();
    const NAME: &'static str = "org_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let admin = user_of(tx, &self.admin).await?;
        let (org, now) = (tx.create(self.org.clone()), self.org.created_at);
        tx.create(MemberRecord::joining(&org.id, &admin, Some(Role::Admin), now));
        Ok(())
    }
}

struct UpdateOrg {
    actor: Actor,
    id: OrgId,
    change: UpdateOrganization,
}

#[async_trait]
impl Operation for UpdateOrg {
    type Out = ();
    const NAME: &'static str = "org_update";

    fn taken(&self, key: &Key) -> Error {
        let hostname = self.change.hostname.as_ref();
        if hostname.is_some_and(|name| OrgRecord::by_hostname(name.as_str()) == *key) {
            return Error::conflict("hostname: another organization has it");
        }
        Error::conflict("emailDomains: another organization has one of them")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::org(tx, &self.actor, &self.id).await?;
        let old = Arc::clone(access.require(OrgAction::Administrate)?.org());
        let change = self.change.clone();
        let mut new = OrgRecord::clone(&old);
        new.title = change.title.unwrap_or(new.title);
        if let Some(domains) = change.email_domains {
            let mut seen = BTreeSet::new();
            new.email_domains = domains
                .iter()
                .map(EmailDomain::to_lowercase)
                .filter(|domain| seen.insert(domain.clone()))
                .collect();
        }
        new.hostname = change.hostname.or(new.hostname);
        new.default_role = change.default_role.apply(new.default_role);
        new.default_content = change.default_content.apply(new.default_content);
        new.logo = change.logo.apply(new.logo);
        new.sso = change.sso.unwrap_or(new.sso);
        new.ai = change.ai.unwrap_or(new.ai);
        new.invite_links = change.invite_links.unwrap_or(new.invite_links);
        if let Some(pointer) =
            new.default_content.as_ref().filter(|_| new.default_content != old.default_content)
        {
            let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(&pointer.site)).await?;
            if site.is_none_or(|site| site.organization != self.id) {
                return Err(Error::invalid("defaultContent.site", "the organization has no such site"));
            }
        }
        tx.put(&*old, new)?;
        Ok(())
    }
}
