//! Property test with random sequences of sign-in, linking, removal, SSO enforcement and time: the permissions of every
//! token match a model.

use std::{collections::BTreeMap, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{Role, SamlProvider, UpdateOrganization, UserId},
    platform::{NewToken, SamlAnswer},
};
use proptest::prelude::*;
use serde_json::json;

use super::{finish, provider, start, world};
use crate::support::{World, block_on};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Signs in.
    SignIn(u8),
    /// Signs in with an assertion that was used before.
    Replay(u8),
    /// An administrator links the user.
    Link(u8),
    Remove(u8),
    /// The embedding application adds the user as a member.
    Put(u8, Role),
    /// The operator issues a token to the user.
    Give(u8),
    Insist(bool),
    Hours(u8),
    SignOut(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..4_u8;
    prop_oneof![
        4 => who.clone().prop_map(Step::SignIn),
        1 => who.clone().prop_map(Step::Replay),
        2 => who.clone().prop_map(Step::Link),
        2 => who.clone().prop_map(Step::Remove),
        2 => (who.clone(), prop::sample::select(vec![Role::Read, Role::Admin])).prop_map(|(who, role)| Step::Put(who, role)),
        2 => who.clone().prop_map(Step::Give),
        1 => any::<bool>().prop_map(Step::Insist),
        1 => (1..7_u8).prop_map(Step::Hours),
        1 => who.prop_map(Step::SignOut),
    ]
}

/// The state of one user.
#[derive(Clone, Default, Debug)]
struct Standing {
    user: Option<UserId>,
    /// The role of a member, and `true` if the member is linked.
    member: Option<(Option<Role>, bool)>,
    /// Sessions: the token, and the hour of its expiry.
    sessions: Vec<(String, u64)>,
    /// Sessions that were ended by removal.
    ended: Vec<String>,
    tokens: Vec<String>,
}

/// A sequence of events with the expected state.
struct Course {
    w: World,
    of: SamlProvider,
    people: BTreeMap<u8, Standing>,
    insists: bool,
    hour: u64,
    /// Used responses, with the state stored by the browser.
    used: Vec<(String, String)>,
}

impl Course {
    /// Two of the four users exist from the beginning.
    async fn begin() -> Self {
        let w = world().await;
        let of = provider(&w, json!({ "defaultRole": "edit" })).await;
        let mut people: BTreeMap<u8, Standing> = BTreeMap::new();
        for who in 0..2_u8 {
            let user = crate::support::person(&w.platform, &format!("p{who}")).await;
            people.entry(who).or_default().user = user.user().cloned();
        }
        Self { w, of, people, insists: false, hour: 0, used: Vec::new() }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::SignIn(who) => self.sign_in(who).await,
            Step::Replay(nth) => self.replay(usize::from(nth)).await,
            Step::Link(who) => self.link(who).await,
            Step::Remove(who) => self.remove(who).await,
            Step::Put(who, role) => self.put(who, role).await,
            Step::Give(who) => self.give(who).await,
            Step::Insist(now) => {
                self.insists = now;
                let change = UpdateOrganization { sso: Some(now), ..Default::default() };
                self.w.as_admin().org(&self.w.org).update(change).await.expect("changed");
            }
            Step::Hours(hours) => {
                self.hour += u64::from(hours);
                self.w.clock.advance(Duration::from_secs(3_600 * u64::from(hours)));
                self.w.platform.tidy().await.expect("tidy");
            }
            Step::SignOut(who) => {
                if let Some((token, _)) = self.people.entry(who).or_default().sessions.pop() {
                    self.w
                        .platform
                        .as_platform()
                        .end_saml_session(&self.of.id, &token)
                        .await
                        .expect("signed out");
                    assert!(self.w.platform.authenticate(&token).await.is_err());
                }
            }
        }
    }

    async fn sign_in(&mut self, who: u8) {
        let way = start(&self.w, &self.of).await;
        let response = format!("P{who}@example.com 60 {0} {0}", way.request);
        let done = finish(&self.w, &self.of, &response, &[&way]).await;
        let standing = self.people.entry(who).or_default();
        let may = standing.user.is_none() || standing.member.is_some_and(|(_, linked)| linked);
        assert_eq!(done.is_ok(), may, "{standing:?} {done:?}");
        match done {
            Ok(session) => {
                if standing.user.is_none() {
                    standing.member = Some((Some(Role::Edit), true));
                }
                standing.user = Some(session.user.id.clone());
                standing.sessions.push((session.token, self.hour + 12));
                self.used.push((response, way.keep));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }

    async fn replay(&self, nth: usize) {
        let Some((response, kept)) = self.used.get(nth) else { return };
        let kept = [kept.clone()];
        let answer = SamlAnswer { response, kept: &kept };
        let again = self.w.platform.as_platform().finish_saml_login(&self.of.id, answer).await;
        let kind = again.expect_err("was used before").kind();
        assert!(matches!(kind, ErrorKind::Unauthenticated | ErrorKind::Conflict), "{kind:?}");
    }

    async fn link(&mut self, who: u8) {
        let standing = self.people.entry(who).or_default();
        let Some(user) = &standing.user else { return };
        let done = self.w.as_admin().org(&self.w.org).member(user).set_sso().await;
        assert_eq!(done.is_ok(), standing.member.is_some());
        standing.member = standing.member.map(|(role, _)| (role, true));
    }

    async fn remove(&mut self, who: u8) {
        let standing = self.people.entry(who).or_default();
        let Some(user) = &standing.user else { return };
        let done = self.w.as_admin().org(&self.w.org).member(user).remove().await.expect("Ada stays");
        assert_eq!(done, standing.member.take().is_some());
        standing.ended.extend(standing.sessions.drain(..).map(|(token, _)| token));
    }

    async fn put(&mut self, who: u8, role: Role) {
        let standing = self.people.entry(who).or_default();
        let Some(user) = &standing.user else { return };
        // A removal and a new membership never have the same timestamp.
        self.w.clock.advance(Duration::from_millis(1));
        let ours = self.w.platform.as_platform();
        ours.org(&self.w.org).member(user).put(Some(role)).await.expect("Ada stays");
        let linked = standing.member.is_some_and(|(_, linked)| linked);
        standing.member = Some((Some(role), linked));
    }

    async fn give(&mut self, who: u8) {
        let standing = self.people.entry(who).or_default();
        let Some(user) = &standing.user else { return };
        let new = NewToken { label: "given".parse().expect("a label"), secret: None, expires_at: None };
        let token = self.w.platform.as_platform().user(user).issue_token(new).await.expect("a token");
        standing.tokens.push(token.secret);
    }

    /// Checks that every token has the permissions of its user.
    async fn check(&self, step: Step) {
        for standing in self.people.values() {
            for token in &standing.ended {
                let actor = self.w.platform.authenticate(token).await;
                assert!(actor.is_err(), "a session of before after {step:?}: {standing:?}");
            }
            for (token, end) in &standing.sessions {
                let actor = self.w.platform.authenticate(token).await;
                assert_eq!(actor.is_ok(), *end > self.hour, "after {step:?}");
                let Ok(actor) = actor else { continue };
                let good = standing.member.is_some_and(|(_, linked)| linked);
                assert_eq!(self.sees(&actor).await, good, "a session after {step:?}: {standing:?}");
            }
            for token in &standing.tokens {
                let actor = self.w.platform.authenticate(token).await.expect("it has no end");
                let good =
                    standing.member.is_some_and(|(role, _)| !self.insists || role == Some(Role::Admin));
                assert_eq!(self.sees(&actor).await, good, "a token after {step:?}: {standing:?}");
            }
        }
    }

    async fn sees(&self, actor: &Actor) -> bool {
        self.w.platform.as_actor(actor).org(&self.w.org).get().await.is_ok()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn token_permissions_match_the_model(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        block_on(async move {
            let mut course = Course::begin().await;
            for step in steps {
                course.take(step).await;
                course.check(step).await;
            }
            course.w.check().await;
        });
    }
}
