//! SAML providers of organizations.

use serde::{Deserialize, Serialize};

use super::counter;
use crate::{
    model::{Certificate, OrgId, Role, SamlEntityId, SamlLabel, SamlProviderId, TeamId, Timestamp, Url},
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A SAML provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlProviderRecord {
    /// The id.
    pub id: SamlProviderId,
    /// The organization whose members sign in through it.
    pub organization: OrgId,
    /// The label that members see.
    pub label: SamlLabel,
    /// Where members sign in.
    #[serde(default)]
    pub sso_url: Option<Url>,
    /// Its entity id.
    #[serde(default)]
    pub entity_id: Option<SamlEntityId>,
    /// The certificate it signs with.
    #[serde(default)]
    pub certificate: Option<Certificate>,
    /// The team of those who join through it.
    #[serde(default)]
    pub default_team: Option<TeamId>,
    /// The role of those who join through it; `None` for guests.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// People may begin at the provider, without being sent there.
    #[serde(default)]
    pub idp_initiated: bool,
    /// How often what it is trusted by has changed: its address, its entity id or its certificate.
    #[serde(default)]
    pub epoch: u32,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for SamlProviderRecord {
    const KIND: &'static str = "sml";
}

impl SamlProviderRecord {
    /// The key of a provider.
    #[must_use]
    pub fn at(id: &SamlProviderId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The providers of an organization, by the time of their creation.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("sml.o").part(organization.as_str())
    }

    /// The providers that bring people into a team.
    #[must_use]
    pub fn into_team(team: &TeamId) -> KeyBuf {
        KeyBuf::new("sml.t").part(team.as_str())
    }

    /// How many providers an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "saml")
    }

    /// Tells whether people can sign in through it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.missing().is_empty()
    }

    /// What it is trusted by: sessions of before a change of it are none of this provider.
    #[must_use]
    pub fn trusted_by(&self) -> (Option<&Url>, Option<&SamlEntityId>, Option<&Certificate>) {
        (self.sso_url.as_ref(), self.entity_id.as_ref(), self.certificate.as_ref())
    }

    /// The fields that it has to have before people can sign in through it, and has not.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let fields = [
            ("ssoURL", self.sso_url.is_some()),
            ("entityID", self.entity_id.is_some()),
            ("certificate", self.certificate.is_some()),
        ];
        fields.into_iter().filter(|(_, is_there)| !is_there).map(|(field, _)| field).collect()
    }
}

impl Indexed for SamlProviderRecord {
    const INDEXES: &'static [&'static str] = &["sml.o", "sml.t", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let of_org = Self::of_org(&self.organization).time(self.created_at.time()).part(id);
        let mut rows =
            vec![Row::Index(of_org.key(), Value::Unit), Row::Count(Self::count_in(&self.organization))];
        if let Some(team) = &self.default_team {
            rows.push(Row::Index(Self::into_team(team).part(id).key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// An assertion that somebody signed in with: it is good for once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlAssertionRecord {
    /// The hash of its id and of the provider that made it.
    pub hash: Hash,
    /// The provider's organization.
    pub organization: OrgId,
    /// Until when it is known: some minutes longer than it would be taken.
    pub until: Timestamp,
}

impl Entity for SamlAssertionRecord {
    const KIND: &'static str = "sma";
}

impl SamlAssertionRecord {
    /// The key of an assertion, by its id as the provider gave it.
    #[must_use]
    pub fn at(provider: &SamlProviderId, assertion: &str) -> Key {
        Self::key_of(&Self::hash_of(provider, assertion))
    }

    /// What an assertion is known by.
    #[must_use]
    pub fn hash_of(provider: &SamlProviderId, assertion: &str) -> Hash {
        Hash::of(format!("{provider} {assertion}").as_bytes())
    }

    fn key_of(hash: &Hash) -> Key {
        KeyBuf::new(Self::KIND).part(&hash.to_string()).key()
    }

    /// All of them, by the time until which they are known.
    #[must_use]
    pub fn by_end() -> KeyBuf {
        KeyBuf::new("sma.x")
    }
}

impl Indexed for SamlAssertionRecord {
    const INDEXES: &'static [&'static str] = &["sma.x"];
    fn key(&self) -> Key {
        Self::key_of(&self.hash)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_end().time(self.until.time());
        vec![Row::Index(row.part(&self.hash.to_string()).key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// The last time that somebody was not let in through a provider; the audit log has all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlRefusalRecord {
    /// The provider.
    pub provider: SamlProviderId,
    /// Its organization.
    pub organization: OrgId,
    /// When.
    pub at: Timestamp,
    /// Why, as a sentence.
    pub reason: String,
}

impl Entity for SamlRefusalRecord {
    const KIND: &'static str = "smr";
}

impl SamlRefusalRecord {
    /// The key of the last refusal of a provider.
    #[must_use]
    pub fn at(provider: &SamlProviderId) -> Key {
        KeyBuf::new(Self::KIND).part(provider.as_str()).key()
    }
}

impl Indexed for SamlRefusalRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        Self::at(&self.provider)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
