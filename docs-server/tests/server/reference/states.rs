//! States, their meanings, and the actions permitted in each.

use docs_core::{
    Actor, ErrorKind, Platform, Result,
    model::{CreateChangeRequest, OrgId, SettableStatus, SpaceId, UpdateChangeRequest},
    platform::{Caller, ContentVersion, NewUser},
};
use serde_json::{Value, json};

use super::{Table, code, platform, values};

const PAGE: &str = "states.md";

/// Schemas with states, by heading.
const STATES: &[(&str, &str)] = &[
    ("Change requests", "ChangeRequestStatus"),
    ("Reviews", "ReviewStatus"),
    ("Outcomes of a merge", "MergeOutcome"),
    ("Outcomes of an update", "UpdateOutcome"),
    ("Live content of a space", "EditMode"),
    ("Visibility of a site", "SiteVisibility"),
    ("Visibility of a space", "Visibility"),
    ("Comments in a list", "CommentStatus"),
    ("Links", "LinkStatus"),
    ("Findings of sites", "SiteFindingStatus"),
    ("SAML providers", "SamlProviderStatus"),
    ("OpenAPI specifications", "SpecProcessingState"),
    ("Errors of OpenAPI specifications", "SpecErrorCode"),
    ("Translations", "TranslationStatus"),
    ("Jobs", "JobState"),
    ("Stages of a job", "JobStage"),
];

pub(super) async fn tables(document: &Value) -> Vec<Table> {
    let table = |(heading, schema): &(&str, &str)| {
        let rows: Vec<_> =
            values(document, schema).into_iter().map(|(value, meaning)| vec![code(value), meaning]).collect();
        Table::new(PAGE, heading, &["State", "Meaning"], &rows)
    };
    let mut tables: Vec<Table> = STATES.iter().map(table).collect();
    tables.push(admitted().await);
    tables
}

/// The actions on a change request.
const ACTS: &[&str] = &[
    "change its content",
    "change its subject",
    "make it a draft",
    "open it",
    "archive it",
    "update it",
    "merge it",
    "ask for a review",
    "review it",
    "comment on it",
];

/// A platform with an organization and a space.
struct World {
    platform: Platform,
    admin: Actor,
    space: SpaceId,
}

impl World {
    async fn new() -> Self {
        let platform = platform();
        let ada = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let ada = platform.as_platform().users().create(ada).await.expect("a user").id;
        let title = "Engines".parse().expect("a title");
        let org: OrgId = platform.as_platform().orgs().create(title, &ada).await.expect("an organization").id;
        let space = platform.as_user(&ada).org(&org).spaces().create(Default::default()).await;
        Self { platform, admin: Actor::User(ada), space: space.expect("a space").id }
    }

    fn me(&self) -> Caller<'_> {
        self.platform.as_actor(&self.admin)
    }

    /// Creates a change request that contains a change.
    async fn request(&self) -> String {
        let new = CreateChangeRequest::default();
        let name = self
            .me()
            .space(&self.space)
            .change_requests()
            .create(new)
            .await
            .expect("created")
            .number
            .to_string();
        self.edit(&name).await.expect("edited");
        name
    }

    async fn edit(&self, name: &str) -> Result<()> {
        let change = json!({ "changes": [{ "operation": "insert_page", "title": "Page", "document": {} }] });
        let change = serde_json::from_value(change).expect("a change");
        self.me().space(&self.space).change_request(name).edit(change).await.map(drop)
    }

    async fn set(&self, name: &str, status: SettableStatus) -> Result<()> {
        let change = UpdateChangeRequest { status: Some(status), ..Default::default() };
        self.me().space(&self.space).change_request(name).update(change).await.map(drop)
    }

    async fn act(&self, act: &str, name: &str) -> Result<()> {
        let request = self.me().space(&self.space).change_request(name);
        match act {
            "change its content" => self.edit(name).await,
            "change its subject" => {
                let subject = Some("Better".parse().expect("a subject"));
                request.update(UpdateChangeRequest { subject, ..Default::default() }).await.map(drop)
            }
            "make it a draft" => self.set(name, SettableStatus::Draft).await,
            "open it" => self.set(name, SettableStatus::Open).await,
            "archive it" => self.set(name, SettableStatus::Archived).await,
            "update it" => request.pull().await.map(drop),
            "merge it" => request.merge().await.map(drop),
            "ask for a review" => {
                let users = json!({ "users": [self.admin.user().expect("a user")] });
                request.request_reviewers(serde_json::from_value(users).expect("users")).await.map(drop)
            }
            "review it" => {
                let review = serde_json::from_value(json!({ "status": "approved" })).expect("a review");
                request.submit_review(review).await.map(drop)
            }
            "comment on it" => {
                let comment = json!({ "body": { "markdown": "Why?" } });
                let of = ContentVersion::request(self.space.clone(), name);
                let comment = serde_json::from_value(comment).expect("a comment");
                self.me().content(&of).comments().post(comment).await.map(drop)
            }
            other => panic!("unknown action: {other}"),
        }
    }
}

/// Returns the table of permitted actions per state, determined with a change request that is behind its space.
async fn admitted() -> Table {
    const STATES: [&str; 4] = ["draft", "open", "archived", "merged"];
    let world = World::new().await;
    let mut rows = Vec::new();
    for act in ACTS {
        let mut row = vec![(*act).to_owned()];
        for state in STATES {
            let (name, other) = (world.request().await, world.request().await);
            world.act("merge it", &other).await.expect("merged");
            match state {
                "open" => world.set(&name, SettableStatus::Open).await.expect("open"),
                "archived" => world.set(&name, SettableStatus::Archived).await.expect("archived"),
                "merged" => world.act("merge it", &name).await.expect("merged"),
                _ => {}
            }
            row.push(match world.act(act, &name).await {
                Ok(()) => "yes".to_owned(),
                Err(error) if error.kind() == ErrorKind::Conflict => code(409),
                Err(error) => panic!("{act} in {state}: {error:?}"),
            });
        }
        rows.push(row);
    }
    let states = STATES.map(code);
    let head: Vec<&str> = ["Action"].into_iter().chain(states.iter().map(String::as_str)).collect();
    Table::new(PAGE, "Actions on a change request", &head, &rows)
}
