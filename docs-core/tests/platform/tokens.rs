//! Tokens: creation, listing, expiry and revocation.

use std::{sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{Timestamp, TokenId, UserId},
    platform::{NewToken, NewUser, SetUp},
    ports::Clock as _,
    store::{PageRequest, key},
};
use docs_memstore::MemStore;

use crate::support::{Refused, World, person};

fn labelled(label: &str) -> NewToken {
    NewToken { label: label.parse().expect("a label"), secret: None, expires_at: None }
}

fn user(actor: &Actor) -> UserId {
    actor.user().expect("a user").clone()
}

#[tokio::test]
async fn token_is_valid_before_but_not_at_its_expiry() {
    let w = World::new().await;
    let ada = user(&w.admin);
    let at = |seconds| Timestamp::new(w.clock.now() + Duration::from_secs(seconds));
    for end in [at(0), Timestamp::new(w.clock.now() - Duration::from_millis(1))] {
        let new = NewToken { expires_at: Some(end), ..labelled("late") };
        let error = w.as_admin().user(&ada).issue_token(new).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with("expiresAt:"), "{error}");
    }
    let new = NewToken { expires_at: Some(at(60)), ..labelled("a minute") };
    let token = w.as_admin().user(&ada).issue_token(new).await.expect("made");
    w.clock.advance(Duration::from_millis(59_999));
    assert_eq!(w.platform.authenticate(&token.secret).await.expect("good").user(), w.admin.user());
    w.clock.advance(Duration::from_millis(1));
    w.platform.authenticate(&token.secret).await.refused(ErrorKind::Unauthenticated);
    let listed = w.as_admin().user(&ada).list_tokens(&PageRequest::default()).await.expect("listed");
    assert_eq!(listed.items[0].id, token.id, "one that has ended is still shown");
}

#[tokio::test]
async fn tokens_are_listed_in_pages_without_their_secrets() {
    let w = World::new().await;
    let ada = user(&w.admin);
    let mut made = Vec::new();
    for n in 0..5 {
        w.clock.advance(Duration::from_secs(1));
        let token = w.as_admin().user(&ada).issue_token(labelled(&format!("token {n}"))).await;
        made.push(token.expect("made"));
    }
    let (mut listed, mut page) = (Vec::new(), PageRequest { page: None, limit: Some(2) });
    loop {
        let found = w.as_admin().user(&ada).list_tokens(&page).await.expect("listed");
        listed.extend(found.items);
        page.page = found.next;
        if page.page.is_none() {
            break;
        }
    }
    let ids = |tokens: &[TokenId]| tokens.to_vec();
    let made_ids: Vec<_> = made.iter().map(|token| token.id.clone()).collect();
    let listed_ids: Vec<_> = listed.iter().map(|token| token.id.clone()).collect();
    assert_eq!(ids(&listed_ids), ids(&made_ids));
    assert_eq!(listed[3].label, "token 3");
    let shown = format!("{listed:?} {made:?}");
    assert!(made.iter().all(|token| !shown.contains(&token.secret)), "{shown}");
}

#[tokio::test]
async fn a_revoked_token_stops_working_at_once_and_the_others_go_on() {
    let w = World::new().await;
    let ada = user(&w.admin);
    let first = w.as_admin().user(&ada).issue_token(labelled("first")).await.expect("made");
    let second = w.as_admin().user(&ada).issue_token(labelled("second")).await.expect("made");
    w.as_admin().user(&ada).revoke_token(&first.id).await.expect("revoked");
    w.platform.authenticate(&first.secret).await.refused(ErrorKind::Unauthenticated);
    w.platform.authenticate(&second.secret).await.expect("good");
    w.as_admin().user(&ada).revoke_token(&first.id).await.refused(ErrorKind::NotFound);
    w.platform.as_platform().user(&ada).revoke_token(&second.id).await.expect("revoked");
    let left = w.as_admin().user(&ada).list_tokens(&PageRequest::default()).await.expect("listed");
    assert!(left.items.is_empty());
    w.check().await;
}

#[tokio::test]
async fn only_the_user_and_the_platform_manage_tokens() {
    let w = World::new().await;
    let ada = user(&w.admin);
    let zoe = person(&w.platform, "Zoe").await;
    let token = w.as_admin().user(&ada).issue_token(labelled("mine")).await.expect("made");
    let page = PageRequest::default();
    w.platform.as_actor(&zoe).user(&ada).issue_token(labelled("")).await.refused(ErrorKind::Forbidden);
    w.platform.as_actor(&zoe).user(&ada).list_tokens(&page).await.refused(ErrorKind::Forbidden);
    w.platform.as_actor(&zoe).user(&ada).revoke_token(&token.id).await.refused(ErrorKind::Forbidden);
    // The id of another user's token is not found among the caller's tokens.
    w.platform.as_actor(&zoe).user(&user(&zoe)).revoke_token(&token.id).await.refused(ErrorKind::NotFound);
    let nobody: UserId = "nobody".parse().expect("an id");
    w.platform.as_platform().user(&nobody).list_tokens(&page).await.refused(ErrorKind::NotFound);
    w.as_admin().users().by_email("zoe@example.com").await.refused(ErrorKind::Forbidden);
    let found = w.platform.as_platform().users().by_email("ZOE@example.com").await.expect("found");
    assert_eq!(found.id, user(&zoe));
}

#[tokio::test]
async fn token_secret_must_be_long_enough_and_visible_ascii() {
    let w = World::new().await;
    let ada = user(&w.admin);
    for secret in [
        "fifteen-letters",
        "sixteen letters.",
        "s\u{e4}chzehn-zeichen",
        "a-secret-and-\u{1F511}-key",
        "tab\tin-the-middle",
    ] {
        let new = NewToken { secret: Some(secret.to_owned()), ..labelled("chosen") };
        let error = w.as_admin().user(&ada).issue_token(new).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with("secret:"), "{secret}: {error}");
    }
    let secret = "!\"#$%&'()*+,-./~".to_owned();
    let new = NewToken { secret: Some(secret.clone()), ..labelled("chosen") };
    w.as_admin().user(&ada).issue_token(new).await.expect("made");
    assert_eq!(w.platform.authenticate(&secret).await.expect("good").user(), w.admin.user());
}

#[tokio::test]
async fn no_secret_is_stored_or_shown() {
    const SECRET: &str = "a-secret-of-an-operator";
    let store = Arc::new(MemStore::new_json());
    let w = World::over(store).await;
    let new = NewToken { secret: Some(SECRET.to_owned()), ..labelled("chosen") };
    let set_up = SetUp {
        administrator: NewUser {
            display_name: "Eve".parse().expect("a name"),
            email: "eve@example.com".parse().expect("an address"),
        },
        organization: "Other".parse().expect("a title"),
        token: Some(SECRET.to_owned()),
    };
    let shown = format!("{new:?} {set_up:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    let token = w.as_admin().user(&user(&w.admin)).issue_token(new).await.expect("made");
    assert!(!format!("{token:?}").contains(SECRET));
    let tx = w.platform.store().begin(docs_core::store::Mode::Read, &[]).await.expect("a snapshot");
    let mut from: docs_core::store::Key = "!".into();
    loop {
        let scan = docs_core::store::Scan { from: from.clone(), to: "~".into(), rev: false, limit: 1_000 };
        let rows = tx.scan(&[scan]).await.expect("a scan").pop().expect("one range");
        let Some((last, _)) = rows.last() else { break };
        from = key::successor(last);
        assert!(rows.iter().all(|row| !format!("{row:?}").contains(SECRET)), "{rows:?}");
    }
}
