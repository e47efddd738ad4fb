//! Users, tokens and organizations.

use serde::{Deserialize, Serialize};

use super::{text, unique};
use crate::{
    model::{
        EmailDomain, Hostname, OrgId, OrganizationBilling, OrganizationBlock, OrganizationCommunityType,
        OrganizationTitle, OrganizationType, OrganizationUseCase, Plan, Role, SamlProviderId, SiteHostname,
        SitePointer, Timestamp, TokenId, Trial, Url, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserRecord {
    /// The id.
    pub id: UserId,
    /// The name shown to others.
    pub display_name: String,
    /// The e-mail address; no two users have the same, whatever the case.
    pub email: String,
    /// A picture.
    #[serde(default)]
    pub photo: Option<Url>,
    /// When the user was created.
    pub created_at: Timestamp,
}

impl Entity for UserRecord {
    const KIND: &'static str = "usr";
}

impl UserRecord {
    /// The key of a user.
    #[must_use]
    pub fn at(id: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// What the keys of all users begin with.
    #[must_use]
    pub fn all() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// Leads from an e-mail address to its user.
    #[must_use]
    pub fn by_email(email: &str) -> Key {
        unique("email", "", email)
    }
}

impl Indexed for UserRecord {
    const INDEXES: &'static [&'static str] = &["u"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        vec![Row::Unique(Self::by_email(&self.email), text(self.id.as_str()))]
    }
    fn owner(&self) -> Owner {
        Owner::Nobody
    }
}

/// A bearer token, by the hash of its secret: the secret itself is nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The hash of the secret.
    pub hash: crate::store::Hash,
    /// The id by which it is listed and revoked.
    pub id: TokenId,
    /// Whose rights it carries.
    pub user: UserId,
    /// What it is for.
    pub label: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The session of single sign-on that it is; none for a token that a user was given.
    #[serde(default)]
    pub sso: Option<SsoSession>,
}

/// Where a session of single sign-on comes from, and is good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsoSession {
    /// The organization, the only one.
    pub organization: OrgId,
    /// The provider that vouched for its bearer.
    pub provider: SamlProviderId,
    /// The epoch of the provider then: in a later one, it is somebody else who vouched.
    #[serde(default)]
    pub epoch: u32,
    /// When its bearer had become the member that they were then; known of sessions that began since this is kept.
    #[serde(default)]
    pub member_since: Option<Timestamp>,
}

impl Entity for TokenRecord {
    const KIND: &'static str = "tok";
}

impl TokenRecord {
    /// The key of a token.
    #[must_use]
    pub fn at(hash: &crate::store::Hash) -> Key {
        KeyBuf::new(Self::KIND).part(&hash.to_string()).key()
    }

    /// The tokens of a user, oldest first.
    #[must_use]
    pub fn of_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("tok.u").part(user.as_str())
    }

    /// All sessions of single sign-on, by the time they end.
    #[must_use]
    pub fn sessions_by_end() -> KeyBuf {
        KeyBuf::new("tok.x")
    }
}

impl Indexed for TokenRecord {
    const INDEXES: &'static [&'static str] = &["tok.u", "tok.x"];
    fn key(&self) -> Key {
        Self::at(&self.hash)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_user(&self.user).time(self.created_at.time()).part(&self.hash.to_string());
        let mut rows = vec![Row::Index(row.key(), Value::Unit)];
        if let (Some(_), Some(end)) = (&self.sso, self.expires_at) {
            let row = Self::sessions_by_end().time(end.time()).part(&self.hash.to_string());
            rows.push(Row::Index(row.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        match &self.sso {
            Some(session) => Owner::Organization(session.organization.clone()),
            None => Owner::Nobody,
        }
    }
}

/// An organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrgRecord {
    /// The id.
    pub id: OrgId,
    /// The title.
    pub title: OrganizationTitle,
    /// When it was created.
    pub created_at: Timestamp,
    /// Domains whose e-mail addresses may join; no two organizations claim the same.
    #[serde(default)]
    pub email_domains: Vec<EmailDomain>,
    /// Default host name for public content, unique.
    #[serde(default)]
    pub hostname: Option<Hostname>,
    /// What it is.
    #[serde(default)]
    pub kind: OrganizationType,
    /// What it uses the platform for.
    #[serde(default)]
    pub use_case: Option<OrganizationUseCase>,
    /// The kind of community.
    #[serde(default)]
    pub community_type: Option<OrganizationCommunityType>,
    /// The plan.
    #[serde(default)]
    pub plan: Plan,
    /// How it pays.
    #[serde(default)]
    pub billing: Option<OrganizationBilling>,
    /// Its trial.
    #[serde(default)]
    pub trial: Trial,
    /// Its block.
    #[serde(default)]
    pub blocked: Option<OrganizationBlock>,
    /// Its own host name.
    #[serde(default)]
    pub custom_hostname: Option<SiteHostname>,
    /// Role of those who join.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// What a visitor sees first.
    #[serde(default)]
    pub default_content: Option<SitePointer>,
    /// The logo.
    #[serde(default)]
    pub logo: Option<Url>,
    /// Single sign-on is enforced.
    #[serde(default)]
    pub sso: bool,
    /// AI features are enabled.
    #[serde(default)]
    pub ai: bool,
    /// Invite links are enabled.
    #[serde(default)]
    pub invite_links: bool,
    /// Where the objects of its spaces are kept.
    pub domain: String,
}

impl Entity for OrgRecord {
    const KIND: &'static str = "org";
}

impl OrgRecord {
    /// The key of an organization.
    #[must_use]
    pub fn at(id: &OrgId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// What the keys of all organizations begin with.
    #[must_use]
    pub fn all() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// Leads from a host name to its organization.
    #[must_use]
    pub fn by_hostname(hostname: &str) -> Key {
        unique("org.hostname", "", hostname)
    }

    /// Leads from an e-mail domain to its organization.
    #[must_use]
    pub fn by_domain(domain: &str) -> Key {
        unique("org.domain", "", domain)
    }
}

impl Indexed for OrgRecord {
    const INDEXES: &'static [&'static str] = &["u"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let hostname = self.hostname.iter().map(|name| Self::by_hostname(name.as_str()));
        let domains = self.email_domains.iter().map(|domain| Self::by_domain(domain.as_str()));
        hostname.chain(domains).map(|key| Row::Unique(key, text(self.id.as_str()))).collect()
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.id.clone())
    }
}
