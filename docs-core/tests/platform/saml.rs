//! Who signs in through a SAML provider.

use std::sync::Arc;

use chrono::TimeDelta;
use docs_core::{
    ErrorKind,
    model::{CreateSamlProvider, SamlProvider, SamlProviderStatus, Timestamp},
    ports::{SamlIdentity, SamlRefused, SamlTrust, SamlVerifier},
};
use docs_memstore::MemStore;
use serde_json::json;

use crate::support::{Refused, World};

/// Understands responses like `Ada@Example.com 60`: an address, and for how many seconds it is good. Others it refuses.
struct Plain;

impl SamlVerifier for Plain {
    fn verify(&self, trust: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused> {
        let (email, seconds) =
            response.split_once(' ').ok_or_else(|| SamlRefused("it is not signed".to_owned()))?;
        let seconds = seconds.parse().map_err(|_| SamlRefused("it is not signed".to_owned()))?;
        Ok(SamlIdentity {
            assertion: format!(
                "{} {} {} {}",
                trust.issuer, trust.certificate, trust.audience, trust.recipient
            ),
            until: Timestamp::new(now.time() + TimeDelta::seconds(seconds)),
            email: email.to_owned(),
            first_name: Some("Ada".to_owned()),
            last_name: None,
        })
    }
}

/// One DER sequence that begins with another.
const CERTIFICATE: &str = "MAQwAgUA";

async fn provider(w: &World, is_complete: bool) -> SamlProvider {
    let mut new = json!({ "label": "Okta", "entityID": "https://idp.example", "certificate": CERTIFICATE });
    if is_complete {
        new["ssoURL"] = json!("https://idp.example/sso");
    }
    let new: CreateSamlProvider = serde_json::from_value(new).expect("a provider");
    w.as_admin().org(&w.org).saml_providers().create(new).await.expect("a provider")
}

#[tokio::test]
async fn what_an_active_provider_says_is_verified_for_this_service_with_its_certificate() {
    let w = World::build(Arc::new(MemStore::new()), |builder| builder.saml(Arc::new(Plain))).await;
    let p = &w.platform;
    let of = provider(&w, true).await;
    assert_eq!(of.status, SamlProviderStatus::Active);
    // The address is that of the administrator's account.
    let known = p.as_platform().saml_identity(&of.id, "ada@example.com 60").await;
    known.refused(ErrorKind::Conflict);
    w.as_admin().org(&w.org).member(w.admin.user().expect("a user")).set_sso().await.expect("linked");
    let (org, who) = p.as_platform().saml_identity(&of.id, "Ada@Example.com 60").await.expect("an identity");
    assert_eq!(
        (org, who.email.as_str(), who.first_name.as_deref()),
        (w.org.clone(), "ada@example.com", Some("Ada"))
    );
    let service = &of.service;
    let expected = format!("https://idp.example {CERTIFICATE} {} {}", service.entity_id, service.acs_url);
    assert_eq!(who.assertion, expected);
    let (_, new) = p.as_platform().saml_identity(&of.id, "New@example.com 60").await.expect("an identity");
    assert_eq!(new.email, "new@example.com", "nobody has the address yet");
    for (response, why) in [
        ("unsigned", "the SAML response: it is not signed"),
        ("ada@example.com 0", "the SAML response: its assertion has expired"),
        ("ada@example.com -5", "the SAML response: its assertion has expired"),
        ("nobody 60", "the SAML response: the name id: must be an address like name@example.com"),
    ] {
        let error = p.as_platform().saml_identity(&of.id, response).await;
        assert_eq!(error.refused(ErrorKind::Unauthenticated).to_string(), why, "{response}");
    }
}

#[tokio::test]
async fn nobody_signs_in_through_a_provider_that_is_pending_or_gone_nor_without_a_verifier() {
    let w = World::build(Arc::new(MemStore::new()), |builder| builder.saml(Arc::new(Plain))).await;
    let p = &w.platform;
    let (pending, gone) = (provider(&w, false).await, provider(&w, true).await);
    let response = "ada@example.com 60";
    w.as_admin().saml_identity(&gone.id, response).await.refused(ErrorKind::Forbidden);
    w.as_admin().org(&w.org).saml_provider(&gone.id).delete().await.expect("deleted");
    for id in [&pending.id, &gone.id] {
        p.as_platform().saml_identity(id, response).await.refused(ErrorKind::NotFound);
    }
    let w = World::new().await;
    let of = provider(&w, true).await;
    w.platform.as_platform().saml_identity(&of.id, response).await.refused(ErrorKind::Precondition);
}
