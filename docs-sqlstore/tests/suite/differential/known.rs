//! Items that a program knows to exist from earlier results.

use docs_core::{
    Actor,
    model::{OrgId, SpaceId},
};
use serde_json::Value;

use super::program::{Dice, Step, What};

/// Number of actors: seven members and guests, a user who is not a member, the platform itself, and an unknown user.
pub(super) const CAST: usize = 10;
/// Index of the platform itself among the actors. The actors before it are users.
pub(super) const PLATFORM: usize = 8;
/// An id that does not exist.
const NOTHING: &str = "nothing";

/// A space, and the items known to be in it.
#[derive(Default, Clone, PartialEq, Debug)]
pub(super) struct KnownSpace {
    pub(super) id: String,
    pub(super) deleted: bool,
    /// Newest first.
    pub(super) requests: Vec<KnownRequest>,
    pub(super) pages: Vec<String>,
    pub(super) paths: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) revisions: Vec<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct KnownRequest {
    pub(super) id: String,
    pub(super) number: u64,
    /// Neither merged nor archived.
    pub(super) living: bool,
}

/// A site, its organization and its parts.
#[derive(Default, Clone, PartialEq, Debug)]
pub(super) struct KnownSite {
    pub(super) org: String,
    pub(super) id: String,
    pub(super) places: Vec<String>,
    pub(super) sections: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) redirects: Vec<String>,
    pub(super) links: Vec<String>,
    /// Secrets of share links.
    pub(super) keys: Vec<String>,
    /// Signing keys for visitor tokens.
    pub(super) signing: Vec<String>,
    /// URLs of the published site and its items.
    pub(super) addresses: Vec<String>,
}

/// A comment and its location.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct KnownComment {
    pub(super) space: String,
    pub(super) request: Option<String>,
    pub(super) id: String,
    pub(super) replies: Vec<String>,
}

impl Default for KnownComment {
    fn default() -> Self {
        let nothing = || NOTHING.to_owned();
        Self { space: nothing(), request: None, id: nothing(), replies: Vec::new() }
    }
}

/// All known items.
#[derive(Default, Clone, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) users: Vec<String>,
    pub(super) orgs: Vec<String>,
    pub(super) spaces: Vec<KnownSpace>,
    pub(super) sites: Vec<KnownSite>,
    pub(super) collections: Vec<String>,
    /// Newest first.
    pub(super) comments: Vec<KnownComment>,
    pub(super) downloads: Vec<(String, String)>,
    pub(super) cursors: Vec<String>,
    pub(super) secrets: Vec<String>,
    pub(super) jobs: Vec<String>,
    /// Visitor tokens, newest first.
    pub(super) passes: Vec<String>,
    /// The most recently edited change request, with its space.
    pub(super) edited: Option<(String, String)>,
    /// The space of the most recent import.
    pub(super) imported: Option<String>,
}

impl Known {
    pub(super) fn actor(&self, who: usize) -> Actor {
        match who {
            PLATFORM => Actor::Platform,
            _ if who < PLATFORM => Actor::User(id(&self.users[who])),
            _ => Actor::User(id(NOTHING)),
        }
    }

    pub(super) fn org(&self, dice: &mut Dice) -> OrgId {
        id(one(dice, &self.orgs))
    }

    /// Draws a space, usually one that matches `deleted`. This is the first draw of a step about a space.
    fn space(&self, dice: &mut Dice, deleted: bool) -> Option<&KnownSpace> {
        if dice.chance(3) {
            return None;
        }
        let any = dice.chance(8);
        let mut fit: Vec<&KnownSpace> =
            self.spaces.iter().filter(|space| any || space.deleted == deleted).collect();
        if deleted {
            // The first ones may have been purged.
            fit.reverse();
        }
        dice.near(&fit).copied()
    }

    pub(super) fn space_id(&self, dice: &mut Dice, what: What) -> SpaceId {
        let deleted = matches!(what, What::RestoreSpace | What::PurgeSpace);
        id(self.space(dice, deleted).map_or(NOTHING, |space| &space.id))
    }

    /// Draws a change request, usually an open one, by id or number. These are the first draws of a step about one.
    pub(super) fn request(&self, dice: &mut Dice) -> (SpaceId, String) {
        let all: Vec<_> = self
            .spaces
            .iter()
            .flat_map(|space| space.requests.iter().map(move |request| (space, request)))
            .collect();
        let living = all.iter().copied().filter(|(space, request)| request.living && !space.deleted);
        let living: Vec<_> = living.collect();
        let fit = if living.is_empty() || dice.chance(12) { all } else { living };
        let Some((space, request)) = dice.near(&fit) else { return (id(NOTHING), "1".to_owned()) };
        let name = match dice.below(100) {
            0..=2 => (*dice.of(&["0", "007", "99999999999999999999", "nothing", "a!b"])).to_owned(),
            3..=50 => request.id.clone(),
            _ => request.number.to_string(),
        };
        (id(&space.id), name)
    }

    /// Draws a site. This is the first draw of a step about a site.
    pub(super) fn site(&self, dice: &mut Dice) -> KnownSite {
        let found = if dice.chance(4) { None } else { dice.near(&self.sites) };
        let orgs = self.orgs.first().cloned().unwrap_or_default();
        found.cloned().unwrap_or(KnownSite { org: orgs, id: NOTHING.to_owned(), ..KnownSite::default() })
    }

    /// Records the items in the result of a step.
    pub(super) fn learn(&mut self, step: &Step, answer: &Value) {
        let mut seen = Seen { site: self.site(&mut step.dice()).id, space: None };
        let space = self.space_id(&mut step.dice(), step.what);
        let ok = answer.get("ok");
        match (step.what, ok) {
            (What::DeleteSpace, Some(Value::Bool(true))) => self.space_named(space.as_str()).deleted = true,
            (What::RestoreSpace, Some(_)) => self.space_named(space.as_str()).deleted = false,
            (What::DeleteSite, Some(_)) => self.sites.retain(|site| site.id != seen.site),
            (What::Merge, Some(_)) => {
                let (space, name) = self.request(&mut step.dice());
                let requests = self.space_named(space.as_str()).requests.iter_mut();
                let merged =
                    |request: &&mut KnownRequest| request.id == name || request.number.to_string() == name;
                requests.filter(merged).for_each(|request| request.living = false);
            }
            (What::ImportGit, Some(Value::String(job))) => {
                add(&mut self.jobs, job);
                self.imported = Some(space.to_string());
            }
            (What::Edit, Some(_)) => {
                let (space, name) = self.request(&mut step.dice());
                self.edited = Some((space.to_string(), name));
            }
            (What::CreateOrg, Some(Value::String(org))) => add(&mut self.orgs, org),
            (What::CreateToken, Some(token)) => add(&mut self.secrets, &text(token, "secret")),
            (What::CreateUser, Some(user)) => add(&mut self.users, &text(user, "id")),
            (What::SetUp, Some(done)) => {
                add(&mut self.users, &text(done, "administrator"));
                add(&mut self.orgs, &text(done, "organization"));
                add(&mut self.secrets, &text(done, "secret"));
            }
            _ => {}
        }
        self.walk(&mut seen, answer);
    }

    fn walk(&mut self, seen: &mut Seen, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.walk(seen, item)),
            Value::Object(fields) => {
                let before = seen.space.clone();
                self.look(seen, value);
                fields.values().for_each(|field| self.walk(seen, field));
                seen.space = before;
            }
            _ => {}
        }
    }

    /// Records one object of a result.
    fn look(&mut self, seen: &mut Seen, it: &Value) {
        let own = text(it, "id");
        let place = it.pointer("/urls/location").or(it.pointer("/urls/app")).and_then(Value::as_str);
        // The URL of an item contains its parent.
        if let Some(space) = place.and_then(|url| after(url, "/spaces/").or(after(url, "/s/"))) {
            seen.space = Some(space);
        }
        match it.get("object").and_then(Value::as_str) {
            Some("space") => {
                let space = self.space_named(&own);
                add(&mut space.revisions, &text(it, "revision"));
            }
            Some("change-request") => {
                let living = ["draft", "open"].iter().any(|status| it["status"] == *status);
                let number = it["number"].as_u64().unwrap_or_default();
                let space = self.space_named(&text(it, "space"));
                add(&mut space.revisions, &text(it, "revision"));
                match space.requests.iter_mut().find(|request| request.id == own) {
                    Some(request) => request.living = living,
                    None => space.requests.insert(0, KnownRequest { id: own.clone(), number, living }),
                }
            }
            Some("collection") => add(&mut self.collections, &own),
            Some("site") => {
                let org = place.and_then(|url| after(url, "/orgs/")).unwrap_or_default();
                seen.site.clone_from(&own);
                if self.sites.iter().all(|site| site.id != own) {
                    self.sites.push(KnownSite { org, id: own.clone(), ..KnownSite::default() });
                }
            }
            Some(
                kind
                @ ("site-space" | "site-section" | "site-section-group" | "site-redirect" | "share-link"),
            ) => self.part(kind, &seen.site, &own),
            Some("publishing-auth") => {
                if let Some(site) = self.site_named(&seen.site) {
                    first(&mut site.signing, &text(it, "privateKey"));
                }
            }
            Some("comment" | "comment-reply") => self.comment(place.unwrap_or_default()),
            Some("page") => self.page(seen, &own, None),
            Some("deleted_page") => {
                let page = text(it, "page");
                self.spaces.iter_mut().for_each(|space| space.pages.retain(|known| *known != page));
            }
            _ if it.get("type").is_some() && it.get("path").is_some() => {
                self.page(seen, &own, Some(&text(it, "path")));
            }
            _ => {}
        }
        self.look_at_addresses(seen, it, &own);
        if let Some(pass) = it.get("apiToken").and_then(Value::as_str) {
            first(&mut self.passes, pass);
        }
        if let Some(next) = it.pointer("/next/page").and_then(Value::as_str) {
            add(&mut self.cursors, &next.to_owned());
        }
    }

    /// Records a part of a site.
    fn part(&mut self, kind: &str, site: &str, own: &str) {
        if let Some(site) = self.site_named(site) {
            let list = match kind {
                "site-space" => &mut site.places,
                "site-section" => &mut site.sections,
                "site-section-group" => &mut site.groups,
                "site-redirect" => &mut site.redirects,
                _ => &mut site.links,
            };
            // The most recent items are the most likely to exist.
            first(list, own);
        }
    }

    /// Records the URLs in an object: file downloads, published sites, and share links with their keys.
    fn look_at_addresses(&mut self, seen: &Seen, it: &Value, own: &str) {
        if let Some(url) = it.get("downloadURL").and_then(Value::as_str) {
            let parts: Vec<&str> = url.rsplit('/').take(3).collect();
            add(&mut self.downloads, &(parts[2].to_owned(), parts[1].to_owned()));
            first(&mut self.space_named(parts[2]).files, own);
        }
        if let Some(url) = it.pointer("/urls/published").and_then(Value::as_str)
            && let Some(site) = self.site_named(&seen.site)
        {
            first(&mut site.addresses, url);
            if it["object"] == "share-link" {
                first(&mut site.keys, url.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            }
        }
    }

    /// Records a comment or reply from its URL.
    fn comment(&mut self, url: &str) {
        let (Some(space), Some(id)) = (after(url, "/spaces/"), after(url, "/comments/")) else { return };
        let at = self.comments.iter().position(|known| known.id == id).unwrap_or_else(|| {
            let request = after(url, "/change-requests/");
            self.comments.insert(0, KnownComment { space, request, id, replies: Vec::new() });
            0
        });
        if let Some(reply) = after(url, "/replies/") {
            add(&mut self.comments[at].replies, &reply);
        }
    }

    fn page(&mut self, seen: &Seen, page: &str, path: Option<&str>) {
        let Some(space) = &seen.space else { return };
        let space = self.space_named(space);
        first(&mut space.pages, page);
        if let Some(path) = path {
            first(&mut space.paths, path);
        }
    }

    fn site_named(&mut self, id: &str) -> Option<&mut KnownSite> {
        self.sites.iter_mut().find(|site| site.id == id)
    }

    fn space_named(&mut self, id: &str) -> &mut KnownSpace {
        let at = self.spaces.iter().position(|space| space.id == id).unwrap_or(self.spaces.len());
        if at == self.spaces.len() {
            self.spaces.push(KnownSpace { id: id.to_owned(), ..KnownSpace::default() });
        }
        &mut self.spaces[at]
    }
}

/// The current position in a result.
struct Seen {
    site: String,
    space: Option<String>,
}

/// Draws one of the ids, or occasionally one that does not exist.
pub(super) fn one<'a>(dice: &mut Dice, ids: &'a [String]) -> &'a str {
    if dice.chance(3) { NOTHING } else { dice.near(ids).map_or(NOTHING, String::as_str) }
}

/// Parses an id of any type.
pub(super) fn id<T: std::str::FromStr<Err = docs_core::model::NotAnId>>(text: &str) -> T {
    text.parse().expect("what was learned is an id")
}

fn add<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) {
    if !list.contains(item) {
        list.push(item.clone());
    }
}

/// Moves an item to the front, because a recently seen item is the most likely to exist.
fn first(list: &mut Vec<String>, item: &str) {
    list.retain(|known| known != item);
    list.insert(0, item.to_owned());
}

fn text(of: &Value, field: &str) -> String {
    of[field].as_str().unwrap_or_default().to_owned()
}

/// Returns the URL segment after `segment`.
fn after(url: &str, segment: &str) -> Option<String> {
    let (_, rest) = url.split_once(segment)?;
    rest.split('/').next().map(str::to_owned)
}
