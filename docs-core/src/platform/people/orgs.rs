//! Operations on organizations.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, ErrorKind, Result,
    model::{
        CreateOrganization, DomainOrganizations, EmailDomain, Hostname, OrgId, Organization,
        OrganizationMergeRules, OrganizationObject, OrganizationPermissions, OrganizationPointer,
        OrganizationPointerType, OrganizationTitle, OrganizationUrls, Role, Subdomain, SubdomainObject,
        UpdateAccount, UpdateOrganization, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{Caller, OrgHandle, Orgs, list_identities::tag},
        people::{members::require_rule_members, users::find_user},
    },
    policy::{OrgAccess, OrgAction},
    ports::id_text,
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value, decode, ids_of,
        records::{MemberRecord, OrgRecord, SiteRecord, TeamMemberRecord, UserRecord, counter, linked_id},
    },
};

/// Maximum number of e-mail domains per organization.
pub(in crate::platform) const MAX_DOMAINS: usize = 100;
/// Default number of organizations that a user can create.
pub(in crate::platform) const ORGANIZATIONS_PER_USER: u32 = 10;

impl<'p> Orgs<'p> {
    /// Creates an organization with the actor as its first administrator.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself and for single sign-on sessions, and if only the operator
    /// [creates organizations](crate::platform::Builder::organizations_per_user); `Conflict` if the user has created
    /// the maximum number of organizations, or if an e-mail domain is claimed by another organization; `Invalid` for a
    /// domain other than that of the user's address.
    #[boxed]
    pub async fn found(self, new: CreateOrganization) -> Result<Organization> {
        let (platform, ref actor) = self.parts();
        let done = platform.idempotent(actor, Right::FoundOrg, async move {
            let user = require_founder(actor)?;
            let domains = new.email_domains.unwrap_or_default();
            check_domain_count(&domains)?;
            let create = OrgFounding {
                org: platform.new_org(new.title, user),
                founder: user.clone(),
                domains,
                most: platform.organizations_per_user(),
            };
            let id = create.org.id();
            platform
                .write_and_show(actor, &create, |done| Box::pin(platform.read_org_view(done.tx, actor, id)))
                .await
        });
        done.await
    }

    /// Creates an organization with its first administrator. Reserved for the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for an unknown user.
    #[boxed]
    pub async fn create(self, title: OrganizationTitle, admin: &'p UserId) -> Result<Organization> {
        let (platform, ref actor) = self.parts();
        actor.require_platform()?;
        let new = platform.new_org(title, admin);
        let id = new.id();
        platform
            .write_and_show(actor, &new, |done| Box::pin(platform.read_org_view(done.tx, actor, id)))
            .await
    }

    /// Lists the organizations of the user in join order or, for the platform itself, all organizations in id order.
    ///
    /// If an organization requires single sign-on and does not accept the token, only the fields needed to sign in are
    /// returned. A single sign-on session lists only its own organization.
    ///
    /// # Errors
    /// `Unauthenticated` for a site visitor.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<Organization>> {
        let (platform, ref actor) = self.parts();
        let tx = platform.read().await?;
        if *actor == Actor::Platform {
            return platform.all_orgs(&tx, actor, page).await;
        }
        let user = actor.require_user()?;
        let spec = ListSpec::new(tag::ORGANIZATIONS, MemberRecord::by_user(user));
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids: Vec<OrgId> = ids_of(&rows)?;
            let keys: Vec<Key> =
                ids.iter().flat_map(|id| [OrgRecord::key_for(id), MemberRecord::key_for(id, user)]).collect();
            let found = tx.get_values(&keys).await?;
            let access = |pair: &[Option<Value>]| -> Result<Option<OrgAccess>> {
                let [Some(org), Some(member)] = pair else { return Ok(None) };
                let org = decode::<OrgRecord>(org.clone())?;
                if !actor.reaches(&org.id) {
                    return Ok(None);
                }
                let member = decode::<MemberRecord>(member.clone())?;
                OrgAccess::for_member(Some(org), Some(&member)).map(Some)
            };
            list.offer_all(&rows, found.chunks(2).map(access).collect::<Result<Vec<_>>>()?);
        }
        let count = match actor {
            Actor::Token(token) if token.session_org().is_some() => None,
            _ => u64::try_from(tx.number(&counter(user.as_str(), "orgs")).await?).ok(),
        };
        let page = list.finish(&tx, count).await?;
        let mut items = platform.org_views(&tx, actor, &page.items).await?;
        let given = matches!(actor, Actor::Token(token) if token.session_org().is_none());
        let closed = |access: &OrgAccess| given && !access.accepts_tokens();
        for (shown, access) in items.iter_mut().zip(&page.items).filter(|(_, access)| closed(access)) {
            *shown = platform.org_outline(access.org());
        }
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Finds the organization that claims an e-mail domain, for its members and for users whose own address is in the
    /// domain.
    ///
    /// For other users, and for a malformed domain, the result is empty. A user who is not a member gets only the
    /// fields needed to join: name, logo and whether single sign-on is enforced, but no other domains, content or
    /// settings. They have no permissions in the organization.
    #[boxed]
    pub async fn by_email_domain(self, domain: &'p str) -> Result<DomainOrganizations> {
        let (platform, ref actor) = self.parts();
        let Ok(domain) = EmailDomain::new(domain).map(|domain| domain.to_lowercase()) else {
            return Ok(DomainOrganizations::default());
        };
        let tx = platform.read().await?;
        let claim = tx.get_value(&OrgRecord::by_domain(domain.as_str())).await?;
        let Some(id) = claim.map(|id| linked_id::<OrgId>(&id)).transpose()? else {
            return Ok(DomainOrganizations::default());
        };
        let shown = match access::org(&tx, actor, &id).await {
            Ok(access) => platform.org_views(&tx, actor, &[access]).await?.pop(),
            Err(error) if error.kind() == ErrorKind::NotFound && actor.reaches(&id) => {
                platform.read_org_outline(&tx, actor, &id, &domain).await?
            }
            // A member who must sign in through the organization's single sign-on.
            Err(error) if error.kind() == ErrorKind::Forbidden => {
                let access = access::org_before_sign_in(&tx, actor, &id).await?;
                Some(platform.org_outline(access.org()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(DomainOrganizations { organizations: shown.into_iter().collect() })
    }
}

impl<'p> Caller<'p> {
    /// Finds the organization with a host name, ignoring case. Any user may call it: the result contains only its id.
    ///
    /// # Errors
    /// `NotFound`, always for site visitors.
    #[boxed]
    pub async fn subdomain(self, name: &'p str) -> Result<Subdomain> {
        let tx = self.platform.read().await?;
        let missing = || Error::not_found("subdomain");
        let visits = matches!(self.actor(), Actor::Visitor(_));
        let name = Hostname::new(name.to_lowercase()).ok().filter(|_| !visits).ok_or_else(missing)?;
        let leads = tx.get_value(&OrgRecord::by_hostname(name.as_str())).await?.ok_or_else(missing)?;
        let id: OrgId = linked_id(&leads)?;
        let org: Arc<OrgRecord> = tx.get(&OrgRecord::key_for(&id)).await?.ok_or_else(missing)?;
        Ok(Subdomain {
            object: SubdomainObject::Is,
            subdomain: name.to_string(),
            is_active: org.blocked.is_none(),
            target: OrganizationPointer { kind: OrganizationPointerType::Is, organization: id },
        })
    }
}

impl<'p> OrgHandle<'p> {
    /// Changes the account data of an organization: plan, billing, trial and blocked status. Reserved for the platform
    /// itself.
    ///
    /// Members can read the data. It has no effect except on the status of the host name.
    ///
    /// # Errors
    /// `Forbidden` for users.
    #[boxed]
    pub async fn update_account(self, change: UpdateAccount) -> Result<Organization> {
        let (platform, ref actor, id) = self.parts();
        actor.require_platform()?;
        let update = org_account_update(id, &change);
        platform
            .change_and_show(actor, &update, |done| Box::pin(platform.read_org_view(done.tx, actor, id)))
            .await
    }

    /// Reads an organization.
    #[boxed]
    pub async fn get(self) -> Result<Organization> {
        let (platform, ref actor, id) = self.parts();
        let tx = platform.read().await?;
        platform.read_org_view(&tx, actor, id).await
    }

    /// Changes an organization. Omitted fields are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator; `Conflict` if the host name or an e-mail domain belongs to
    /// another organization; `Invalid` for a default site that the organization does not have.
    #[boxed]
    pub async fn update(self, change: UpdateOrganization) -> Result<Organization> {
        let (platform, ref actor, id) = self.parts();
        check_domain_count(change.email_domains.as_deref().unwrap_or_default())?;
        let update = OrgUpdate { actor: actor.clone(), id: id.clone(), change };
        platform
            .change_and_show(actor, &update, |done| Box::pin(platform.read_org_view(done.tx, actor, id)))
            .await
    }
}

impl Platform {
    pub(in crate::platform) fn new_org(&self, title: OrganizationTitle, admin: &UserId) -> OrgCreation {
        let now = self.now();
        let org = OrgRecord {
            id: self.id(),
            title,
            created_at: now,
            created_by: None,
            email_domains: Vec::new(),
            hostname: None,
            kind: Default::default(),
            use_case: None,
            community_type: None,
            plan: Default::default(),
            billing: None,
            trial: Default::default(),
            blocked: None,
            custom_hostname: None,
            default_role: Some(Role::Read),
            default_content: None,
            logo: None,
            sso: false,
            ai: false,
            invite_links: false,
            merge_rules: OrganizationMergeRules::None,
            domain: id_text(self.ids().next()),
        };
        OrgCreation { org, admin: admin.clone() }
    }

    async fn read_org_view(&self, tx: &Tx, actor: &Actor, id: &OrgId) -> Result<Organization> {
        let access = access::org(tx, actor, id).await?;
        let mut shown = self.org_views(tx, actor, &[access]).await?;
        shown.pop().ok_or_else(|| Error::not_found("organization"))
    }

    /// Returns the outline of the organization that claims the domain of the actor's e-mail address, for an actor who
    /// is not a member.
    async fn read_org_outline(
        &self,
        tx: &Tx,
        actor: &Actor,
        id: &OrgId,
        domain: &EmailDomain,
    ) -> Result<Option<Organization>> {
        let user = find_user(tx, actor.require_user()?).await?;
        let own = user.email.rsplit('@').next().unwrap_or_default().to_lowercase();
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(id)).await?;
        Ok(org
            .filter(|_| own == domain.as_str())
            .map(|org| Organization { email_domains: vec![domain.clone()], ..self.org_outline(&org) }))
    }

    /// Returns the public part of an organization: name, logo and how to join.
    fn org_outline(&self, org: &OrgRecord) -> Organization {
        Organization {
            email_domains: Vec::new(),
            hostname: None,
            use_case: None,
            community_type: None,
            default_role: None,
            default_content: None,
            ai: false,
            invite_links: false,
            merge_rules: OrganizationMergeRules::None,
            trial: Default::default(),
            blocked: None,
            custom_hostname: None,
            ..self.org_view(org, OrganizationPermissions::default())
        }
    }

    /// Lists all organizations for the platform itself.
    async fn all_orgs(&self, tx: &Tx, actor: &Actor, page: &PageRequest) -> Result<Page<Organization>> {
        let spec = ListSpec::new(tag::ALL_ORGANIZATIONS, OrgRecord::all());
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(tx).await? {
            let access = |value: &Value| OrgAccess::for_platform(Some(decode::<OrgRecord>(value.clone())?));
            let found: Result<Vec<_>> = rows.iter().map(|(_, value)| access(value).map(Some)).collect();
            list.offer_all(&rows, found?);
        }
        let page = list.finish(tx, None).await?;
        let items = self.org_views(tx, actor, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    pub(in crate::platform) async fn org_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        seen: &[OrgAccess],
    ) -> Result<Vec<Organization>> {
        let show = |access: &OrgAccess| self.org_view(access.org(), access.permissions());
        let mut shown: Vec<Organization> = seen.iter().map(show).collect();
        if let Some(user) = actor.user() {
            let owned: Vec<_> =
                shown.iter().map(|org| TeamMemberRecord::by_owner(&org.id, user).scan(1)).collect();
            for ((org, access), owned) in shown.iter_mut().zip(seen).zip(tx.scan_many(&owned).await?) {
                // Guests see no teams, including their own.
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
            merge_rules: org.merge_rules.clone(),
            plan: org.plan,
            billing: org.billing.clone().filter(|_| permissions.view_billing),
            trial: org.trial.clone(),
            blocked: org.blocked,
            custom_hostname: org.custom_hostname.clone(),
            internal_is_on_new_trial: true,
            urls: OrganizationUrls { location, app, logo: org.logo.clone() },
            permissions,
        }
    }
}

pub(in crate::platform) struct OrgCreation {
    org: OrgRecord,
    admin: UserId,
}

impl OrgCreation {
    pub(in crate::platform) const fn id(&self) -> &OrgId {
        &self.org.id
    }
}

#[async_trait]
impl Operation for OrgCreation {
    type Output = ();
    const NAME: &'static str = "org_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let admin = find_user(tx, &self.admin).await?;
        let (org, now) = (tx.create(self.org.clone()), self.org.created_at);
        tx.create(MemberRecord::new(&org.id, &admin, Some(Role::Admin), now));
        Ok(())
    }
}

/// Creates an organization for one of its users.
struct OrgFounding {
    org: OrgCreation,
    founder: UserId,
    domains: Vec<EmailDomain>,
    /// The maximum number of organizations that a user can create.
    most: u32,
}

#[async_trait]
impl Operation for OrgFounding {
    type Output = ();
    const NAME: &'static str = "org_found";

    fn taken_error(&self, _: &Key) -> Error {
        taken_domain_error()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if self.most == 0 {
            return Err(Error::forbidden("only the operator of the server can create organizations"));
        }
        if tx.number(&OrgRecord::count_by_creator(&self.founder)).await? >= i64::from(self.most) {
            let most = self.most;
            return Err(Error::conflict(format!(
                "a user can create at most {most} organizations; ask the operator of the server"
            )));
        }
        let domains = distinct_domains(&self.domains);
        require_own_domains(&*find_user(tx, &self.founder).await?, &[], &domains)?;
        let OrgCreation { org, admin } = &self.org;
        let created_by = Some(self.founder.clone());
        let org = OrgRecord { created_by, email_domains: domains, ..org.clone() };
        OrgCreation { org, admin: admin.clone() }.apply(tx).await
    }
}

/// Returns the user of an actor who may create organizations.
///
/// # Errors
/// `Forbidden` for the platform, for visitors, and for single sign-on sessions, which are valid in one organization.
pub(in crate::platform) fn require_founder(actor: &Actor) -> Result<&UserId> {
    match actor {
        Actor::Token(token) if token.session_org().is_some() => {
            Err(Error::forbidden("a single sign-on session cannot create organizations"))
        }
        _ => actor.require_user(),
    }
}

fn check_domain_count(domains: &[EmailDomain]) -> Result<()> {
    if domains.len() > MAX_DOMAINS {
        return Err(Error::invalid("emailDomains", format_args!("must have at most {MAX_DOMAINS} domains")));
    }
    Ok(())
}

/// Returns the domains in lower case, each once.
fn distinct_domains(domains: &[EmailDomain]) -> Vec<EmailDomain> {
    let mut seen = BTreeSet::new();
    domains.iter().map(EmailDomain::to_lowercase).filter(|domain| seen.insert(domain.clone())).collect()
}

/// Rejects e-mail domains other than that of the user's address, except those in `known`. Otherwise, users could claim
/// the domains of others.
fn require_own_domains(user: &UserRecord, known: &[EmailDomain], domains: &[EmailDomain]) -> Result<()> {
    let own = user.email.rsplit('@').next().unwrap_or_default().to_lowercase();
    let foreign = |domain: &EmailDomain| domain.as_str() != own && !known.contains(domain);
    match domains.iter().position(foreign) {
        Some(at) => Err(Error::invalid(
            &format!("emailDomains[{at}]"),
            "must be the domain of your own e-mail address; ask the operator of the server for others",
        )),
        None => Ok(()),
    }
}

fn taken_domain_error() -> Error {
    Error::conflict("emailDomains: a domain is in use by another organization")
}

#[operation("org_account_update")]
async fn org_account_update(tx: &mut Tx, id: &OrgId, change: &UpdateAccount) -> Result<()> {
    let access = access::org(tx, &Actor::Platform, id).await?;
    let (old, change) = (access.org(), change.clone());
    let mut new = OrgRecord::clone(old);
    new.plan = change.plan.unwrap_or(new.plan);
    new.kind = change.kind.unwrap_or(new.kind);
    new.use_case = change.use_case.apply(new.use_case);
    new.community_type = change.community_type.apply(new.community_type);
    new.billing = change.billing.apply(new.billing);
    new.trial = change.trial.unwrap_or(new.trial);
    new.blocked = change.blocked.apply(new.blocked);
    new.custom_hostname = change.custom_hostname.apply(new.custom_hostname);
    tx.put(&**old, new)?;
    Ok(())
}

struct OrgUpdate {
    actor: Actor,
    id: OrgId,
    change: UpdateOrganization,
}

impl OrgUpdate {
    /// Checks the domains that an administrator adds to an organization that a user created.
    async fn check_new_domains(&self, tx: &Tx, old: &OrgRecord, domains: &[EmailDomain]) -> Result<()> {
        let (Some(_), Some(user)) = (&old.created_by, self.actor.user()) else { return Ok(()) };
        require_own_domains(&*find_user(tx, user).await?, &old.email_domains, domains)
    }
}

#[async_trait]
impl Operation for OrgUpdate {
    type Output = ();
    const NAME: &'static str = "org_update";

    fn taken_error(&self, key: &Key) -> Error {
        let hostname = self.change.hostname.as_ref();
        if hostname.is_some_and(|name| OrgRecord::by_hostname(name.as_str()) == *key) {
            return Error::conflict("hostname: is in use by another organization");
        }
        taken_domain_error()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::org(tx, &self.actor, &self.id).await?;
        let old = Arc::clone(access.require(OrgAction::Administrate)?.org());
        let change = self.change.clone();
        let mut new = OrgRecord::clone(&old);
        new.title = change.title.unwrap_or(new.title);
        if let Some(domains) = change.email_domains {
            new.email_domains = distinct_domains(&domains);
            self.check_new_domains(tx, &old, &new.email_domains).await?;
        }
        new.hostname = change.hostname.or(new.hostname);
        new.default_role = change.default_role.apply(new.default_role);
        new.default_content = change.default_content.apply(new.default_content);
        new.logo = change.logo.apply(new.logo);
        new.sso = change.sso.unwrap_or(new.sso);
        new.ai = change.ai.unwrap_or(new.ai);
        new.invite_links = change.invite_links.unwrap_or(new.invite_links);
        new.merge_rules = change.merge_rules.unwrap_or(new.merge_rules);
        require_rule_members(tx, &self.id, old.merge_rules.rules(), new.merge_rules.rules()).await?;
        if let Some(pointer) =
            new.default_content.as_ref().filter(|_| new.default_content != old.default_content)
        {
            let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(&pointer.site)).await?;
            if site.is_none_or(|site| site.organization != self.id) {
                return Err(Error::invalid("defaultContent.site", "the organization has no such site"));
            }
        }
        tx.put(&*old, new)?;
        Ok(())
    }
}
