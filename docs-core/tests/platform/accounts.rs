//! Accounts of users: their name in all organizations, and who creates organizations.

use std::sync::Arc;

use docs_core::{
    ErrorKind, Platform,
    model::{CreateOrganization, OrgId, UpdateUser},
    platform::MemberFilter,
    store::PageRequest,
};
use docs_memstore::{MemObjects, MemStore};

use crate::support::{Refused, World, person};

fn organization(title: &str) -> CreateOrganization {
    CreateOrganization { title: title.parse().expect("a title"), email_domains: None }
}

#[tokio::test]
async fn renamed_user_is_found_in_all_organizations() {
    let w = World::new().await;
    let ada = w.admin.user().expect("a user");
    let mut orgs = vec![w.org.clone()];
    // More than one transaction updates.
    for n in 0..12 {
        let title = format!("Organization {n}").parse().expect("a title");
        orgs.push(w.platform.as_platform().orgs().create(title, ada).await.expect("created").id);
    }
    for name in ["Countess", "Baroness"] {
        let change =
            UpdateUser { display_name: Some(name.parse().expect("a name")), ..UpdateUser::default() };
        w.as_admin().user(ada).update(change).await.expect("changed");
        w.platform.settle().await.expect("settled");
    }
    let found = async |org: &OrgId, text: &str| {
        let filter = MemberFilter { search: Some(text.parse().expect("a text")), ..MemberFilter::default() };
        let page = PageRequest::default();
        w.as_admin().org(org).members().list(&filter, &page).await.expect("listed").items.len()
    };
    for org in &orgs {
        assert_eq!(
            (found(org, "baroness").await, found(org, "countess").await),
            (1, 0),
            "only by the new name"
        );
    }
    w.check().await;
}

#[tokio::test]
async fn operator_can_reserve_the_creation_of_organizations() {
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()))
        .organizations_per_user(0)
        .build();
    let ada = person(&platform, "Ada").await;
    platform.as_actor(&ada).orgs().found(organization("Engines")).await.refused(ErrorKind::Forbidden);
    let title = "Engines".parse().expect("a title");
    platform.as_platform().orgs().create(title, ada.user().expect("a user")).await.expect("created");
    platform.as_platform().orgs().found(organization("Engines")).await.refused(ErrorKind::Forbidden);
}
