//! Records of users, tokens and organizations.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        EmailDomain, Hostname, OrgId, OrganizationBilling, OrganizationBlock, OrganizationCommunityType,
        OrganizationMergeRules, OrganizationTitle, OrganizationType, OrganizationUseCase, Plan, Role,
        SamlProviderId, SiteHostname, SitePointer, Timestamp, TokenId, Trial, Url, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserRecord {
    pub id: UserId,
    pub display_name: String,
    /// The e-mail address. Unique, ignoring case.
    pub email: String,
    #[serde(default)]
    pub photo: Option<Url>,
    pub created_at: Timestamp,
}

impl Entity for UserRecord {
    const KIND: &'static str = "usr";
}

impl UserRecord {
    #[must_use]
    pub fn key_for(id: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Prefix of the keys of all users.
    #[must_use]
    pub fn all() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// Unique index from an e-mail address to its user.
    #[must_use]
    pub fn by_email(email: &str) -> Key {
        unique("email", "", email)
    }
}

impl Indexed for UserRecord {
    const INDEXES: &'static [&'static str] = &["u"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        vec![Row::Unique(Self::by_email(&self.email), text(self.id.as_str()))]
    }
    fn owner(&self) -> Owner {
        Owner::NoOrganization
    }
}

/// A bearer token, identified by the hash of its secret. The secret itself is not stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The hash of the secret.
    pub hash: crate::store::Hash,
    /// The id used to list and revoke the token.
    pub id: TokenId,
    /// The user authenticated by the token.
    pub user: UserId,
    pub label: String,
    pub created_at: Timestamp,
    /// The expiry time, or `None` if the token does not expire.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The single sign-on session that the token belongs to, or `None` for other tokens.
    #[serde(default)]
    pub sso: Option<SsoSession>,
}

/// The organization and provider of a single sign-on session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsoSession {
    /// The only organization that the session is valid for.
    pub organization: OrgId,
    /// The provider that authenticated the user.
    pub provider: SamlProviderId,
    /// The provider's epoch at sign-in. A change of the provider's trust settings starts a new epoch and invalidates
    /// the session.
    #[serde(default)]
    pub epoch: u32,
    /// The join time of the user, as recorded at sign-in. `None` for sessions from before the introduction
    /// of this field.
    #[serde(default)]
    pub member_since: Option<Timestamp>,
}

impl Entity for TokenRecord {
    const KIND: &'static str = "tok";
}

impl TokenRecord {
    #[must_use]
    pub fn key_for(hash: &crate::store::Hash) -> Key {
        KeyBuf::new(Self::KIND).part(&hash.to_string()).key()
    }

    /// Index of the tokens of a user, oldest first.
    #[must_use]
    pub fn by_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("tok.u").part(user.as_str())
    }

    /// Index of all single sign-on sessions, by expiry time.
    #[must_use]
    pub fn sessions_by_expiry() -> KeyBuf {
        KeyBuf::new("tok.x")
    }
}

impl Indexed for TokenRecord {
    const INDEXES: &'static [&'static str] = &["tok.u", "tok.x"];
    fn key(&self) -> Key {
        Self::key_for(&self.hash)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_user(&self.user).time(self.created_at.time()).part(&self.hash.to_string());
        let mut rows = vec![Row::Index(row.key(), Value::Unit)];
        if let (Some(_), Some(end)) = (&self.sso, self.expires_at) {
            let row = Self::sessions_by_expiry().time(end.time()).part(&self.hash.to_string());
            rows.push(Row::Index(row.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        match &self.sso {
            Some(session) => Owner::Organization(session.organization.clone()),
            None => Owner::NoOrganization,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrgRecord {
    pub id: OrgId,
    pub title: OrganizationTitle,
    pub created_at: Timestamp,
    /// The user who created the organization; absent if the platform created it.
    #[serde(default)]
    pub created_by: Option<UserId>,
    /// E-mail domains whose users may join. Each is claimed by at most one organization.
    #[serde(default)]
    pub email_domains: Vec<EmailDomain>,
    /// The default host name of public content. Unique.
    #[serde(default)]
    pub hostname: Option<Hostname>,
    #[serde(default)]
    pub kind: OrganizationType,
    /// The organization's use case.
    #[serde(default)]
    pub use_case: Option<OrganizationUseCase>,
    #[serde(default)]
    pub community_type: Option<OrganizationCommunityType>,
    #[serde(default)]
    pub plan: Plan,
    /// The payment settings.
    #[serde(default)]
    pub billing: Option<OrganizationBilling>,
    #[serde(default)]
    pub trial: Trial,
    #[serde(default)]
    pub blocked: Option<OrganizationBlock>,
    /// The organization's own host name.
    #[serde(default)]
    pub custom_hostname: Option<SiteHostname>,
    /// The role of new members.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// The content displayed to visitors first.
    #[serde(default)]
    pub default_content: Option<SitePointer>,
    #[serde(default)]
    pub logo: Option<Url>,
    /// `true` if single sign-on is enforced.
    #[serde(default)]
    pub sso: bool,
    /// `true` if AI features are enabled.
    #[serde(default)]
    pub ai: bool,
    /// `true` if invite links are enabled.
    #[serde(default)]
    pub invite_links: bool,
    /// The rules for merging change requests in spaces without rules of their own.
    #[serde(default)]
    pub merge_rules: OrganizationMergeRules,
    /// The storage domain of the objects of the organization's spaces.
    pub domain: String,
}

impl Entity for OrgRecord {
    const KIND: &'static str = "org";
}

impl OrgRecord {
    /// The key of an organization.
    #[must_use]
    pub fn key_for(id: &OrgId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Prefix of the keys of all organizations.
    #[must_use]
    pub fn all() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// Counter of the organizations that a user created.
    #[must_use]
    pub fn count_by_creator(user: &UserId) -> Key {
        counter(user.as_str(), "created-orgs")
    }

    /// Unique index from a host name to its organization.
    #[must_use]
    pub fn by_hostname(hostname: &str) -> Key {
        unique("org.hostname", "", hostname)
    }

    /// Unique index from an e-mail domain to its organization.
    #[must_use]
    pub fn by_domain(domain: &str) -> Key {
        unique("org.domain", "", domain)
    }
}

impl Indexed for OrgRecord {
    const INDEXES: &'static [&'static str] = &["u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let created = self.created_by.iter().map(|user| Row::Count(Self::count_by_creator(user)));
        let hostname = self.hostname.iter().map(|name| Self::by_hostname(name.as_str()));
        let domains = self.email_domains.iter().map(|domain| Self::by_domain(domain.as_str()));
        let unique = hostname.chain(domains).map(|key| Row::Unique(key, text(self.id.as_str())));
        unique.chain(created).collect()
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.id.clone())
    }
}
