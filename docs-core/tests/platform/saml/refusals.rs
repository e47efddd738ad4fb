//! The audit log of rejected sign-ins.

use std::time::Duration;

use docs_core::{ErrorKind, model::AuditEntry, platform::AuditFilter, store::PageRequest};
use serde_json::json;

use super::{finish, provider, sign_in, start, world};
use crate::support::{Refused, World};

/// Returns the audit entries of an operation, newest first.
async fn entries(w: &World, operation: &str) -> Vec<AuditEntry> {
    let filter = AuditFilter {
        organization: Some(w.org.clone()),
        operation: Some(operation.to_owned()),
        ..AuditFilter::default()
    };
    let page = PageRequest { limit: Some(100), ..PageRequest::default() };
    w.as_admin().audit_log(&filter, &page).await.expect("the log").items
}

/// Returns the reasons of rejected sign-ins, newest first.
async fn reasons(w: &World) -> Vec<String> {
    let entries = entries(w, "saml_login_refuse").await.into_iter();
    entries.map(|entry| entry.detail.expect("a reason")).collect()
}

/// The e-mail address is only recorded if the provider has signed it.
#[tokio::test]
async fn refusal_reason_and_verified_address_are_audited() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    sign_in(&w, &of, "Ada@example.com").await.refused(ErrorKind::Conflict);
    finish(&w, &of, "unsigned", &[]).await.refused(ErrorKind::Unauthenticated);
    let way = start(&w, &of).await;
    let late = format!("Eve@example.com 0 a {}", way.request);
    finish(&w, &of, &late, &[&way]).await.refused(ErrorKind::Unauthenticated);
    w.clock.advance(Duration::from_millis(1));
    let ours = w.platform.as_platform();
    ours.refuse_saml_login(&of.id, "the form is too large").await.expect("noted");
    let reasons = reasons(&w).await;
    assert_eq!(reasons[0], "the form is too large");
    assert_eq!(reasons[1], "Eve@example.com: the SAML response: its assertion has expired");
    assert_eq!(reasons[2], "the SAML response: it is not signed", "nobody vouched for anybody");
    assert!(reasons[3].starts_with("Ada@example.com: an account with this address exists"), "{reasons:?}");
    assert_eq!(reasons.len(), 4);
    assert_eq!(entries(&w, "saml_provider_create").await[0].detail, None, "its name says it");
    w.check().await;
}

/// A reason is one line of limited length.
#[tokio::test]
async fn refusal_reason_is_cut_and_needs_an_active_provider() {
    let w = world().await;
    let of = provider(&w, json!({})).await;
    let ours = w.platform.as_platform();
    ours.refuse_saml_login(&of.id, &format!("one\n{}", "x".repeat(10_000))).await.expect("noted");
    let reason = reasons(&w).await.remove(0);
    assert!(reason.starts_with("onexx") && reason.len() == 500, "{reason}");
    w.as_admin().refuse_saml_login(&of.id, "no").await.refused(ErrorKind::Forbidden);
    let pending = provider(&w, json!({ "label": "Pending", "ssoURL": "-" })).await;
    ours.refuse_saml_login(&pending.id, "no").await.refused(ErrorKind::Precondition);
    w.as_admin().org(&w.org).saml_provider(&of.id).delete().await.expect("deleted");
    ours.refuse_saml_login(&of.id, "no").await.refused(ErrorKind::NotFound);
    assert_eq!(reasons(&w).await.len(), 1);
    w.check().await;
}

/// Rejections over the limit per minute and provider are only counted. Signed ones are always recorded.
#[tokio::test]
async fn unsigned_refusals_are_rate_limited_and_counted() {
    let w = world().await;
    let (of, other) = (provider(&w, json!({})).await, provider(&w, json!({ "label": "Other" })).await);
    let ours = w.platform.as_platform();
    for _ in 0..45 {
        ours.refuse_saml_login(&of.id, "the form is too large").await.expect("it is no error");
    }
    assert_eq!(reasons(&w).await.len(), 20, "the others cost no write");
    ours.refuse_saml_login(&other.id, "the form is too large").await.expect("noted");
    sign_in(&w, &of, "Ada@example.com").await.refused(ErrorKind::Conflict);
    let noted = reasons(&w).await;
    assert_eq!(noted.len(), 22, "another provider, and whom this one vouched for");
    assert!(noted[0].starts_with("Ada@example.com: "), "{noted:?}");
    w.clock.advance(Duration::from_secs(60));
    for said in [
        "the SAML response: it is not signed (and 25 earlier refusals that were not recorded)",
        "the SAML response: it is not signed",
    ] {
        finish(&w, &of, "unsigned", &[]).await.refused(ErrorKind::Unauthenticated);
        assert_eq!(reasons(&w).await[0], said);
    }
    w.check().await;
}
