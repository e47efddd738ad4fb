//! Operations on users, tokens, organizations and members.

use docs_core::{
    Actor, Platform,
    model::{CreateChangeRequest, CreateSite, CreateSpace, OrgId, Role, UpdateOrganization},
    platform::{NewToken, NewUser, SetUp},
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{Known, KnownRequest, KnownSite, KnownSpace, id, one},
        program::What,
    },
    Act, Answer, bounded, read, told, walk,
};

const EMAILS: &[&str] = &[
    "ada@example.com",
    "ADA@example.com",
    "b!\"c@x.org",
    "ß@ß.de",
    "İ@i.tr",
    "i@I.tr",
    "none",
    "@x",
    "a b@c",
];
const SECRETS: &[&str] = &["short", "a secret of sixteen", "another secret!\"ß"];

/// Creates the actors of a program, two organizations, and a first space.
pub(in super::super) async fn cast(p: &Platform) -> Known {
    let new = |name: &str| NewUser {
        display_name: name.parse().expect("a name"),
        email: format!("{name}@example.org").parse().expect("an address"),
    };
    let title = |title: &str| title.parse().expect("a title");
    let first = SetUp { administrator: new("admin"), organization: title("First"), token: None };
    let done = p.as_platform().set_up(first).await.expect("the store is new");
    let mut known = Known { users: vec![done.administrator.to_string()], ..Known::default() };
    known.secrets.push(done.token.secret);
    // Members in the order of their roles, then a guest, and a user who is not a member.
    let roles = Role::ALL.iter().rev().skip(1).map(|role| (role.as_str(), Some(Some(*role))));
    for (name, role) in roles.chain([("guest", Some(None)), ("stranger", None)]) {
        let user = p.as_platform().users().create(new(name)).await.expect("a user").id;
        if let Some(role) = role {
            p.as_platform().org(&done.organization).member(&user).put(role).await.expect("a member");
        }
        known.users.push(user.to_string());
    }
    let second = id(&known.users[1]);
    let second = p.as_platform().orgs().create(title("Second"), &second).await.expect("an organization").id;
    known.orgs = vec![done.organization.to_string(), second.to_string()];
    let second: OrgId = id(&known.orgs[1]);
    let admin = Actor::User(done.administrator);
    let user = admin.user().expect("a user");
    p.as_platform().org(&second).member(user).put(Some(Role::Admin)).await.expect("a member");
    for org in [&done.organization, &done.organization, &second] {
        let space =
            p.as_actor(&admin).org(org).spaces().create(CreateSpace::default()).await.expect("a space").id;
        known.spaces.push(KnownSpace { id: space.to_string(), ..KnownSpace::default() });
    }
    let request = p
        .as_actor(&admin)
        .space(&id(&known.spaces[0].id))
        .change_requests()
        .create(CreateChangeRequest::default())
        .await;
    let request = request.expect("a change request");
    known.spaces[0].requests.push(KnownRequest { id: request.id.to_string(), number: 1, living: true });
    let site = p
        .as_actor(&admin)
        .org(&done.organization)
        .sites()
        .create(CreateSite::default())
        .await
        .expect("a site")
        .id;
    let site = site.to_string();
    known.sites = vec![KnownSite { org: known.orgs[0].clone(), id: site, ..KnownSite::default() }];
    known
}

impl Act<'_> {
    pub(super) async fn people(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        Ok(match what {
            What::SetUp => self.set_up().await?,
            What::CreateUser => told(p.as_actor(&me).users().create(self.new_user()?).await),
            What::CreateToken => self.create_token().await?,
            What::Authenticate => {
                let secret = self.dice.near(&self.known.secrets).map_or("nobody's", String::as_str);
                let found = p.authenticate(secret).await;
                told(found.map(|actor| actor.user().map(ToString::to_string)))
            }
            What::CurrentUser => told(p.as_actor(&me).current_user().await),
            What::CreateOrg => {
                let title = bounded(self.text())?;
                told(p.as_actor(&me).orgs().create(title, &id(one(&mut self.dice, &self.known.users))).await)
            }
            What::ListOrgs => {
                walk(self.list(), |page| {
                    let me = me.clone();
                    async move { p.as_actor(&me).orgs().list(&page).await }
                })
                .await
            }
            What::GetOrg => told(p.as_actor(&me).org(&self.known.org(&mut self.dice)).get().await),
            What::PutMember => {
                let org = self.known.org(&mut self.dice);
                // The first administrator usually remains one, because without administrators almost no operation
                // succeeds.
                let users = &self.known.users[usize::from(self.dice.chance(90))..];
                let user = id(one(&mut self.dice, users));
                let roles: Vec<_> = [None].into_iter().chain(Role::ALL.iter().copied().map(Some)).collect();
                told(p.as_actor(&me).org(&org).member(&user).put(*self.dice.of(&roles)).await)
            }
            _ => {
                let org = self.known.org(&mut self.dice);
                let change: UpdateOrganization = read(self.org_change())?;
                told(p.as_actor(&me).org(&org).update(change).await)
            }
        })
    }

    async fn set_up(&mut self) -> Answer {
        let token = *self.dice.of(&[None, Some(SECRETS[0]), Some(SECRETS[1])]);
        let new = SetUp {
            administrator: self.new_user()?,
            organization: bounded(self.text())?,
            token: token.map(str::to_owned),
        };
        let done = self.p.as_actor(&self.me).set_up(new).await;
        Ok(told(done.map(|done| {
            json!({
                "administrator": done.administrator, "organization": done.organization,
                "id": done.token.id, "secret": done.token.secret,
            })
        })))
    }

    async fn create_token(&mut self) -> Answer {
        let user = id(one(&mut self.dice, &self.known.users));
        let user = if self.dice.chance(50) { self.me.user().cloned().unwrap_or(user) } else { user };
        let label = bounded(self.text())?;
        let secret = if self.dice.chance(60) { None } else { Some((*self.dice.of(SECRETS)).to_owned()) };
        let new = NewToken { label, secret, expires_at: None };
        let made = self.p.as_actor(&self.me).user(&user).issue_token(new).await;
        Ok(told(made.map(|made| json!({ "id": made.id, "secret": made.secret }))))
    }

    fn new_user(&mut self) -> Result<NewUser, Value> {
        let fresh = format!("u{}@example.com", self.dice.below(1_000));
        let email = if self.dice.chance(60) { &fresh } else { *self.dice.of(EMAILS) };
        Ok(NewUser { display_name: bounded(self.text())?, email: bounded(email)? })
    }

    fn org_change(&mut self) -> Value {
        let mut change = Map::new();
        let title = self.text();
        self.field(&mut change, "title", &[title.into()]);
        let domains = [json!([]), json!(["a.org", "A.org"]), json!(["b.org", "a.org"]), json!(["c-.org"])];
        self.field(&mut change, "emailDomains", &domains);
        self.field(&mut change, "hostname", &["docs".into(), "wiki".into(), "Wrong!".into()]);
        self.field(&mut change, "defaultRole", &["read".into(), "admin".into(), "king".into()]);
        let site = self.known.site(&mut self.dice).id;
        self.field(&mut change, "defaultContent", &[json!({ "type": "site", "site": site })]);
        self.field(&mut change, "logo", &["https://x.org/logo.png".into(), "no".into()]);
        for flag in ["sso", "ai", "inviteLinks"] {
            self.field(&mut change, flag, &[true.into(), false.into()]);
        }
        // Most fields reject `null`, so it is drawn rarely.
        if self.dice.chance(85) {
            let may_be_null = ["defaultRole", "defaultContent", "logo"];
            change.retain(|name, value| !value.is_null() || may_be_null.contains(&name.as_str()));
        }
        change.into()
    }
}
