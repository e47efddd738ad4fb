//! Organizations.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use super::{Actor, Platform, access, people::platform_only};
use crate::{
    Error, Result,
    model::{
        OrgId, Organization, OrganizationObject, OrganizationTitle, OrganizationUrls, Role, Trial,
        TrialStatus, UpdateOrganization, UserId,
    },
    policy::{OrgAccess, OrgAction},
    ports::id_text,
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, key,
        records::{MemberRecord, OrgRecord, SiteRecord, UserRecord, counter},
    },
};

/// Most e-mail domains of an organization.
const MAX_DOMAINS: usize = 100;

impl Platform {
    /// Creates an organization with its first administrator. Only the platform itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when there is no such user.
    pub async fn create_org(&self, actor: &Actor, title: OrganizationTitle, admin: &UserId) -> Result<OrgId> {
        platform_only(actor)?;
        let new = self.new_org(title, admin);
        self.write(actor, &new).await?;
        Ok(new.org.id)
    }

    pub(super) fn new_org(&self, title: OrganizationTitle, admin: &UserId) -> CreateOrg {
        let now = self.now();
        let id: OrgId = self.id();
        let org = OrgRecord {
            id: id.clone(),
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
        let member =
            MemberRecord { organization: id, user: admin.clone(), role: Some(Role::Admin), joined_at: now };
        CreateOrg { org, member }
    }

    /// Makes a user a member of an organization, or changes the role of one who is (`None` for a guest). Only the
    /// platform itself may: people join by invites.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when there is no such organization or user.
    pub async fn put_member(
        &self,
        actor: &Actor,
        org: &OrgId,
        user: &UserId,
        role: Option<Role>,
    ) -> Result<()> {
        platform_only(actor)?;
        let member =
            MemberRecord { organization: org.clone(), user: user.clone(), role, joined_at: self.now() };
        self.write(actor, &PutMember(member)).await
    }

    /// Lists the organizations of the user who acts, in the order of joining (SPEC 4.10).
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `Invalid` for a wrong page or limit.
    pub async fn list_orgs(&self, actor: &Actor, page: &PageRequest) -> Result<Page<Organization>> {
        let user = actor.require_user()?;
        let tx = self.read().await?;
        let spec = ListSpec { prefix: MemberRecord::orgs_of(user), rev: false, filters: String::new() };
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids: Vec<OrgId> =
                rows.iter().filter_map(|(row, _)| key::last_segment(row).parse().ok()).collect();
            let keys: Vec<Key> =
                ids.iter().flat_map(|id| [OrgRecord::at(id), MemberRecord::at(id, user)]).collect();
            let found = tx.get_values(&keys).await?;
            for ((row, _), pair) in rows.iter().zip(found.chunks(2)) {
                let [Some(org), Some(member)] = pair else { continue };
                let org = crate::store::decode::<OrgRecord>(org.clone())?;
                let member = crate::store::decode::<MemberRecord>(member.clone())?;
                let access = OrgAccess::of_member(Some(org), Some(&member))?;
                if !list.offer(row, Some(self.org_view(&access))) {
                    break;
                }
            }
        }
        let count = tx.number(&counter(user.as_str(), "orgs")).await?;
        list.finish(&tx, u64::try_from(count).ok()).await
    }

    /// Reads an organization (SPEC 4.10).
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member.
    pub async fn get_org(&self, actor: &Actor, id: &OrgId) -> Result<Organization> {
        let tx = self.read().await?;
        Ok(self.org_view(&access::org(&tx, actor, id).await?))
    }

    /// Changes an organization (SPEC 4.10). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden` unless the actor administrates it; `Conflict` when the host name or an e-mail domain
    /// belongs to another organization; `Invalid` for a default site that the organization does not have.
    pub async fn update_org(
        &self,
        actor: &Actor,
        id: &OrgId,
        change: UpdateOrganization,
    ) -> Result<Organization> {
        if change.email_domains.as_ref().is_some_and(|domains| domains.len() > MAX_DOMAINS) {
            return Err(Error::invalid("emailDomains", format_args!("must be at most {MAX_DOMAINS}")));
        }
        self.write(actor, &UpdateOrg { actor: actor.clone(), id: id.clone(), change }).await?;
        self.get_org(actor, id).await
    }

    pub(super) fn org_view(&self, access: &OrgAccess) -> Organization {
        let org = access.org();
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
            permissions: access.permissions(),
        }
    }
}

pub(super) struct CreateOrg {
    org: OrgRecord,
    member: MemberRecord,
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
        require_user(tx, &self.member.user).await?;
        tx.create(self.org.clone());
        tx.create(self.member.clone());
        Ok(())
    }
}

struct PutMember(MemberRecord);

#[async_trait]
impl Operation for PutMember {
    type Out = ();
    const NAME: &'static str = "member_put";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        require_user(tx, &self.0.user).await?;
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::at(&self.0.organization)).await?;
        if org.is_none() {
            return Err(Error::not_found("organization"));
        }
        let key = MemberRecord::at(&self.0.organization, &self.0.user);
        match tx.get::<MemberRecord>(&key).await? {
            None => drop(tx.create(self.0.clone())),
            Some(old) => {
                let new = MemberRecord { role: self.0.role, ..MemberRecord::clone(&old) };
                tx.put(&*old, new)?;
            }
        }
        Ok(())
    }
}

async fn require_user(tx: &Tx, user: &UserId) -> Result<()> {
    let found: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(user)).await?;
    found.map(|_| ()).ok_or_else(|| Error::not_found("user"))
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
            new.email_domains =
                domains.into_iter().filter(|domain| seen.insert(domain.as_str().to_lowercase())).collect();
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
