//! Records of SAML providers.

use serde::{Deserialize, Serialize};

use super::counter;
use crate::{
    model::{Certificate, OrgId, Role, SamlEntityId, SamlLabel, SamlProviderId, TeamId, Timestamp, Url},
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlProviderRecord {
    pub id: SamlProviderId,
    pub organization: OrgId,
    /// The label displayed to members.
    pub label: SamlLabel,
    /// The sign-in URL of the provider.
    #[serde(default)]
    pub sso_url: Option<Url>,
    #[serde(default)]
    pub entity_id: Option<SamlEntityId>,
    /// The certificate that verifies the provider's signatures.
    #[serde(default)]
    pub certificate: Option<Certificate>,
    /// The team that new members are added to when they join through the provider.
    #[serde(default)]
    pub default_team: Option<TeamId>,
    /// The role of members who join through the provider, or `None` for guests.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// `true` if the provider may initiate sign-in (IdP-initiated).
    #[serde(default)]
    pub idp_initiated: bool,
    /// Number of changes of the trust settings: URL, entity id or certificate.
    #[serde(default)]
    pub epoch: u32,
    pub created_at: Timestamp,
}

impl Entity for SamlProviderRecord {
    const KIND: &'static str = "sml";
}

impl SamlProviderRecord {
    #[must_use]
    pub fn key_for(id: &SamlProviderId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the providers of an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("sml.o").part(organization.as_str())
    }

    /// Index of the providers that add new members to a team.
    #[must_use]
    pub fn by_team(team: &TeamId) -> KeyBuf {
        KeyBuf::new("sml.t").part(team.as_str())
    }

    /// Counter of the providers of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "saml")
    }

    /// Returns `true` if the configuration is complete, so that members can sign in through the provider.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.missing_fields().is_empty()
    }

    /// Returns the trust settings. A change of them invalidates existing sessions.
    #[must_use]
    pub fn trust_settings(&self) -> (Option<&Url>, Option<&SamlEntityId>, Option<&Certificate>) {
        (self.sso_url.as_ref(), self.entity_id.as_ref(), self.certificate.as_ref())
    }

    /// Returns the names of the required fields that are not set. Sign-in requires that this is empty.
    #[must_use]
    pub fn missing_fields(&self) -> Vec<&'static str> {
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
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let of_org = Self::by_org(&self.organization).time(self.created_at.time()).part(id);
        let mut rows =
            vec![Row::Index(of_org.key(), Value::Unit), Row::Count(Self::count_in(&self.organization))];
        if let Some(team) = &self.default_team {
            rows.push(Row::Index(Self::by_team(team).part(id).key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// An assertion already used to sign in. Each assertion is accepted only once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlAssertionRecord {
    /// The hash of the assertion id and its provider.
    pub hash: Hash,
    /// The organization that owns the provider.
    pub organization: OrgId,
    /// The removal time of the record, a few minutes after the assertion expires.
    pub until: Timestamp,
}

impl Entity for SamlAssertionRecord {
    const KIND: &'static str = "sma";
}

impl SamlAssertionRecord {
    /// The key of an assertion, given the id assigned by the provider.
    #[must_use]
    pub fn key_for(provider: &SamlProviderId, assertion: &str) -> Key {
        Self::key_for_hash(&Self::assertion_hash(provider, assertion))
    }

    /// Returns the hash of an assertion id and its provider.
    #[must_use]
    pub fn assertion_hash(provider: &SamlProviderId, assertion: &str) -> Hash {
        Hash::compute(format!("{provider} {assertion}").as_bytes())
    }

    fn key_for_hash(hash: &Hash) -> Key {
        KeyBuf::new(Self::KIND).part(&hash.to_string()).key()
    }

    /// Index of all records, by removal time.
    #[must_use]
    pub fn by_expiry() -> KeyBuf {
        KeyBuf::new("sma.x")
    }
}

impl Indexed for SamlAssertionRecord {
    const INDEXES: &'static [&'static str] = &["sma.x"];
    fn key(&self) -> Key {
        Self::key_for_hash(&self.hash)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_expiry().time(self.until.time());
        vec![Row::Index(row.part(&self.hash.to_string()).key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// The last rejected sign-in through a provider. The audit log contains all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamlRefusalRecord {
    pub provider: SamlProviderId,
    pub organization: OrgId,
    pub at: Timestamp,
    /// The reason for the rejection, as a sentence.
    pub reason: String,
}

impl Entity for SamlRefusalRecord {
    const KIND: &'static str = "smr";
}

impl SamlRefusalRecord {
    /// The key of a provider's last rejected sign-in.
    #[must_use]
    pub fn key_for(provider: &SamlProviderId) -> Key {
        KeyBuf::new(Self::KIND).part(provider.as_str()).key()
    }
}

impl Indexed for SamlRefusalRecord {
    fn key(&self) -> Key {
        Self::key_for(&self.provider)
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
