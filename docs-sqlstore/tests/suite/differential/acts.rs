//! Execution of a step on one platform. The result or error is returned as JSON.

mod collections;
mod comments;
mod content;
mod people;
mod settings;
mod sites;
mod spaces;
mod structure;

pub(super) use self::people::cast;

use docs_core::{
    Actor, Platform, Result,
    model::List,
    store::{Page, PageRequest},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    known::Known,
    program::{Dice, Step, What},
};

/// Maximum number of pages to read from a list. Lists in programs are shorter.
const MOST_PAGES: usize = 500;
/// Strings that are prone to store errors: separators, wildcards, multi-byte characters, and case mappings.
const TEXTS: &[&str] = &[
    "Guide",
    "Team space",
    "a!b\"c",
    "ß漢📘\u{301}ﷺ",
    "%_\\' OR 1=1 --",
    " edge ",
    "İI ı i",
    "\u{1}\u{7f}\u{10FFFF}",
    "{\"a\": 1e2}",
    "\\u0000",
    "a title of quite some length, which is over fifty characters",
    "",
];

/// One step on one platform.
pub(super) struct Act<'a> {
    p: &'a Platform,
    known: &'a Known,
    me: Actor,
    dice: Dice,
}

/// The result of an operation. `Err` is malformed input, which never reaches the platform.
type Answer = std::result::Result<Value, Value>;

impl<'a> Act<'a> {
    /// Runs a step. Platforms with the same `known` get the same call.
    #[expect(
        clippy::too_many_lines,
        reason = "a row for each kind of step, and no arm for the rest: the compiler finds a kind that nobody does"
    )]
    pub(super) async fn answer(p: &'a Platform, known: &'a Known, step: &Step) -> Value {
        let mut act = Self { p, known, me: known.actor(step.who), dice: step.dice() };
        let answer = match step.what {
            What::SetUp
            | What::CreateUser
            | What::CreateToken
            | What::Authenticate
            | What::CurrentUser
            | What::CreateOrg
            | What::ListOrgs
            | What::GetOrg
            | What::PatchOrg
            | What::PutMember => act.people(step.what).await,
            What::ListSpaces
            | What::CreateSpace
            | What::GetSpace
            | What::PatchSpace
            | What::DeleteSpace
            | What::RestoreSpace
            | What::DuplicateSpace
            | What::PurgeSpace
            | What::ImportGit
            | What::GitInfo
            | What::JobsOfSpace => act.spaces(step.what).await,
            What::ListCollections
            | What::CreateCollection
            | What::GetCollection
            | What::PatchCollection
            | What::DeleteCollection
            | What::ListCollectionSpaces
            | What::MoveCollection
            | What::TransferCollection
            | What::MoveSpace
            | What::TransferSpace => act.collections(step.what).await,
            What::ListRequests
            | What::CreateRequest
            | What::GetRequest
            | What::PatchRequest
            | What::Edit
            | What::Pull
            | What::Merge => act.requests(step.what).await,
            What::PostComment | What::ListComments | What::ListCommenters => act.comments(step.what).await,
            What::PostReply | What::ListReplies | What::UpdateComment | What::DeleteComment => {
                act.threads(step.what).await
            }
            What::SubmitReview | What::AskReviewers | What::ListReviews => act.reviews(step.what).await,
            What::GetRevision
            | What::ListPages
            | What::GetPage
            | What::GetPageByPath
            | What::ListFiles
            | What::GetFile
            | What::FileBytes => act.content(step.what).await,
            What::ListSites
            | What::CreateSite
            | What::GetSite
            | What::PatchSite
            | What::DeleteSite
            | What::Publish
            | What::Unpublish
            | What::AddSiteSpace
            | What::ListSiteSpaces
            | What::PublishedSite => act.sites(step.what).await,
            What::AddSection | What::PatchSection | What::DeleteSection | What::ListSections => {
                act.sections(step.what).await
            }
            What::AddSectionGroup
            | What::DeleteSectionGroup
            | What::GatherSection
            | What::SortStructure
            | What::PatchSiteSpace
            | What::DeleteSiteSpace
            | What::SiteStructure => act.structure(step.what).await,
            What::SetClaims
            | What::ReadClaims
            | What::SetLook
            | What::OverrideLook
            | What::DropLook
            | What::ReadLook => act.looks(step.what).await,
            What::AddRedirect
            | What::PatchRedirect
            | What::DeleteRedirect
            | What::ListRedirects
            | What::FollowRedirect => act.redirects(step.what).await,
            What::AddShareLink | What::PatchShareLink | What::DeleteShareLink | What::ListShareLinks => {
                act.share_links(step.what).await
            }
            What::ReadSignIn | What::PatchSignIn | What::RenewKey => act.sign_in(step.what).await,
            What::ResolveUrl | What::Visit => act.visits(step.what).await,
            What::GetJob | What::Settle | What::Tidy | What::Work => act.jobs(step.what).await,
            What::ChangeRepository | What::Pass => Ok(Value::Null),
        };
        answer.unwrap_or_else(|unreadable| json!({ "unreadable": unreadable }))
    }

    async fn jobs(&mut self, what: What) -> Answer {
        Ok(match what {
            What::GetJob => {
                let job = super::known::id(super::known::one(&mut self.dice, &self.known.jobs));
                told(self.p.as_actor(&self.me).get_job(&job).await)
            }
            What::Tidy => told(self.p.tidy().await),
            // A worker that is stopped immediately runs housekeeping and takes one job.
            What::Work => {
                self.p.work(std::future::ready(())).await;
                Value::Null
            }
            _ => told(self.p.settle().await),
        })
    }

    fn text(&mut self) -> &'static str {
        self.dice.of::<&'static str>(TEXTS)
    }

    /// Sets a field to one of the values or `null`, or omits it.
    fn field(&mut self, fields: &mut Map<String, Value>, name: &str, values: &[Value]) {
        match self.dice.below(10) {
            0..=4 => {}
            5 => drop(fields.insert(name.to_owned(), Value::Null)),
            _ => drop(fields.insert(name.to_owned(), self.dice.of(values).clone())),
        }
    }

    /// Draws the cursor and limit of a list request.
    fn list(&mut self) -> PageRequest {
        let limit =
            *self.dice.of(&[None, Some(1), Some(2), Some(3), Some(7), Some(0), Some(1_000), Some(1_001)]);
        let foreign = if self.dice.chance(12) { self.dice.near(&self.known.cursors) } else { None };
        PageRequest { page: foreign.cloned(), limit }
    }
}

/// Reads all pages of a list, including their cursors.
async fn walk<T, F>(mut request: PageRequest, list: impl Fn(PageRequest) -> F) -> Value
where
    T: Serialize,
    F: Future<Output = Result<Page<T>>>,
{
    let mut pages = Vec::new();
    loop {
        let page = list(request.clone()).await;
        let next = page.as_ref().ok().and_then(|page| page.next.clone());
        pages.push(told(page.map(List::from)));
        assert!(pages.len() < MOST_PAGES, "the list has an end: {request:?}");
        match next {
            Some(next) => request.page = Some(next),
            None => return json!({ "pages": pages }),
        }
    }
}

/// Converts a result to the form in which it is compared.
fn told<T: Serialize>(answer: Result<T>) -> Value {
    match answer {
        Ok(done) => json!({ "ok": serde_json::to_value(done).expect("answers are JSON") }),
        Err(error) => json!({ "refused": format!("{:?}", error.kind()), "message": error.message() }),
    }
}

/// Parses a request in the form sent by clients.
fn read<T: DeserializeOwned>(json: impl Into<Value>) -> std::result::Result<T, Value> {
    serde_json::from_value(json.into()).map_err(|error| Value::from(error.to_string()))
}

/// Parses a string of limited length.
fn bounded<const MIN: usize, const MAX: usize>(
    text: &str,
) -> std::result::Result<docs_core::model::BoundedText<MIN, MAX>, Value> {
    text.parse().map_err(|error: docs_core::model::TextError| Value::from(error.to_string()))
}
