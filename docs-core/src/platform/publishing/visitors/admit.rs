//! Visitors' access to sites, and the visible parts of a site.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value, json};

use super::{
    UNSIGNED, VisitorClaims,
    condition_work::{ConditionBudgets, EvaluationTurn},
};
use crate::{
    Error, ErrorKind, Result,
    content::{Cancelled, expression::Claims, run_in_place},
    model::{Condition, SectionId, SiteId, SiteVisibility, SpaceId},
    platform::{
        kernel::{
            actor::{Pass, Signer, Visitor},
            platform::Platform,
        },
        nouns::SiteRef,
        publishing::{
            keys::{fingerprint, signing_key},
            outline::{LiveSpaces, OutlinePart, SiteOutline, live_spaces},
            placement::Placement,
            share_links::share_key,
        },
    },
    policy::SpaceAccess,
    store::{
        Entity, Key, MAX_SCAN, Tx,
        records::{AdaptiveRecord, SectionRecord, ShareLinkRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Maximum number of sites examined for a space, among those that contain it and may grant the visitor access.
const MAX_EXAMINED_SITES: usize = 50;

/// A published site as seen by a visitor.
#[derive(Clone, Debug)]
pub(in crate::platform) struct Visit {
    pub(in crate::platform) site: Arc<SiteRecord>,
    /// The outline, without hidden parts.
    pub(in crate::platform) outline: SiteOutline,
    /// The spaces that are not deleted, including hidden ones.
    pub(in crate::platform) spaces: LiveSpaces,
    pub(in crate::platform) claims: Arc<VisitorClaims>,
    pub(in crate::platform) visitor: Visitor,
    pub(in crate::platform) token: VisitToken,
}

/// The content token of a visit, created at most once.
#[derive(Clone, Debug, Default)]
pub(in crate::platform) struct VisitToken(Arc<Mutex<Option<String>>>);

impl VisitToken {
    pub(in crate::platform) fn get_or_create(&self, make: impl FnOnce() -> Result<String>) -> Result<String> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = &*made {
            return Ok(token.clone());
        }
        Ok(made.insert(make()?).clone())
    }
}

/// A space that a visitor may read.
pub(in crate::platform) struct SpaceAdmission {
    pub(in crate::platform) access: SpaceAccess,
    pub(in crate::platform) claims: Arc<VisitorClaims>,
    pub(in crate::platform) placement: Placement,
}

impl Platform {
    /// Grants a visitor access to a space shown to them on a published site.
    pub(in crate::platform) async fn admit(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        id: &SpaceId,
    ) -> Result<SpaceAdmission> {
        let missing = || visitor.rejection("space");
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(id)).await?;
        let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
        let budgets = ConditionBudgets::default();
        for candidate in candidates(tx, visitor, id).await?.into_iter().take(MAX_EXAMINED_SITES) {
            let Some(claims) = self.enter(tx, visitor, &candidate.site).await? else { continue };
            let claims = VisitorClaims { budgets: budgets.clone(), ..claims };
            // The whole site is loaded only if it shows the space.
            if !candidate.is_shown(&claims) {
                continue;
            }
            let visit = self.load_parts(tx, visitor, candidate.site, claims).await?.visible_in_place();
            if let Some(admitted) = self.admit_through(&visit, &space) {
                return Ok(admitted);
            }
        }
        Err(missing())
    }

    /// Returns the visitor's access to a space through a site, or `None` if the site does not show it to them.
    pub(in crate::platform) fn admit_through(
        &self,
        visit: &Visit,
        space: &Arc<SpaceRecord>,
    ) -> Option<SpaceAdmission> {
        let place = visit.outline.all_places().into_iter().find(|place| place.space == space.id)?;
        let names = visit.outline.place_segments(place);
        let url = match &visit.visitor.preview {
            Some(_) => self.urls().preview_below(&visit.site.id, &names),
            None => self.urls().published_below(visit.site.basename.as_str(), &names),
        };
        Some(SpaceAdmission {
            access: SpaceAccess::for_visitor(Arc::clone(space)),
            placement: Placement { site: Arc::clone(&visit.site), url },
            claims: Arc::clone(&visit.claims),
        })
    }

    /// Grants a visitor access to a site of an organization.
    pub(in crate::platform) async fn visit_site(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        at: SiteRef<'_>,
    ) -> Result<Visit> {
        let site = find_site(tx, visitor, at).await?;
        self.visit(tx, visitor, site).await?.ok_or_else(|| visitor.rejection("site"))
    }

    /// Returns a site of an organization if the visitor is in its audience.
    pub(in crate::platform) async fn enter_site(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        at: SiteRef<'_>,
    ) -> Result<Arc<SiteRecord>> {
        let site = find_site(tx, visitor, at).await?;
        match self.is_in_audience(tx, visitor, &site).await? {
            true => Ok(site),
            false => Err(visitor.rejection("site")),
        }
    }

    /// Returns a site as seen by a visitor, or `None` if they are not in its audience.
    pub(in crate::platform) async fn visit(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        site: Arc<SiteRecord>,
    ) -> Result<Option<Visit>> {
        let parts = self.site_parts(tx, visitor, site).await?;
        Ok(parts.map(SiteParts::visible_in_place))
    }

    /// Returns the parts of a site, or `None` if the visitor is not in its audience. Their conditions are evaluated
    /// after the transaction.
    pub(in crate::platform) async fn site_parts(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        site: Arc<SiteRecord>,
    ) -> Result<Option<SiteParts>> {
        Ok(match self.enter(tx, visitor, &site).await? {
            Some(claims) => Some(self.load_parts(tx, visitor, site, claims).await?),
            None => None,
        })
    }

    /// Loads the parts of a site.
    async fn load_parts(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        site: Arc<SiteRecord>,
        claims: VisitorClaims,
    ) -> Result<SiteParts> {
        let outline = SiteOutline::load(tx, &site).await?;
        let spaces = live_spaces(tx, &outline).await?;
        let spaces = match &visitor.preview {
            Some(preview) => self.previewed_spaces(tx, preview, &site, spaces).await?,
            None => spaces,
        };
        Ok(SiteParts { site, outline, spaces, claims, visitor: visitor.clone() })
    }

    /// Returns a visitor's claims on a site, or `None` if they are not in its audience.
    async fn enter(&self, tx: &Tx, visitor: &Visitor, site: &SiteRecord) -> Result<Option<VisitorClaims>> {
        Ok(match self.is_in_audience(tx, visitor, site).await? {
            true => Some(self.declared_claims(tx, visitor, site).await?),
            false => None,
        })
    }

    /// Returns `true` if the visitor is in the audience of the site.
    pub(in crate::platform) async fn is_in_audience(
        &self,
        tx: &Tx,
        visitor: &Visitor,
        site: &SiteRecord,
    ) -> Result<bool> {
        if visitor.site.as_ref().is_some_and(|id| *id != site.id) {
            return Ok(false);
        }
        if let Some(preview) = &visitor.preview {
            return self.may_preview(tx, preview, site).await;
        }
        if !site.published {
            return Ok(false);
        }
        Ok(match (site.visibility, &visitor.pass) {
            (SiteVisibility::Public | SiteVisibility::Unlisted, _) => true,
            (SiteVisibility::ShareLink, Pass::ShareKey(key)) => share_key(tx, &site.id, key).await?.is_some(),
            (SiteVisibility::ShareLink, Pass::ShareLink(id)) => {
                let link: Option<Arc<ShareLinkRecord>> = tx.get(&ShareLinkRecord::key_for(id)).await?;
                link.is_some_and(|link| link.is_valid_for(&site.id))
            }
            (SiteVisibility::VisitorAuth, _) => self.is_signature_current(tx, site, visitor).await?,
            (SiteVisibility::ShareLink, Pass::None) => false,
        })
    }

    /// Returns `true` if the visitor's claims were signed with the site's current key, or for a current member.
    async fn is_signature_current(&self, tx: &Tx, site: &SiteRecord, visitor: &Visitor) -> Result<bool> {
        Ok(match &visitor.signed_by {
            None => false,
            Some(Signer::Key(with)) => {
                let key = signing_key(self.secrets(), tx, &site.id).await?;
                key.is_some_and(|key| *fingerprint(&key) == **with)
            }
            Some(member) => member.role(tx, &site.organization).await?.is_some(),
        })
    }

    /// Returns the visitor's claims that are declared in the site's schema. Empty if content is not adaptive.
    async fn declared_claims(&self, tx: &Tx, visitor: &Visitor, site: &SiteRecord) -> Result<VisitorClaims> {
        let nothing = || Value::Object(Map::new());
        let schema: Option<Arc<AdaptiveRecord>> = match site.adaptive_content.enabled {
            true => tx.get(&AdaptiveRecord::key_for(&site.id)).await?,
            false => None,
        };
        let queue = self.inner.memory.get_or_default();
        let turn = EvaluationTurn { queue, tenant: self.tenant_in(tx, &site.organization).await? };
        let budgets = ConditionBudgets::default();
        let Some(schema) = schema else {
            let (signed, unsigned) = (nothing(), nothing());
            return Ok(VisitorClaims { signed, unsigned, claims: Claims::default(), budgets, turn });
        };
        let schema = schema.schema.as_json();
        // Claims signed with a replaced key, or for a former member, are ignored. Those of a preview are its member's.
        let is_signed = visitor.preview.is_some() || self.is_signature_current(tx, site, visitor).await?;
        let role = match &visitor.signed_by {
            Some(signer) => signer.role(tx, &site.organization).await?,
            None => None,
        };
        let claims = |text: &str, schema: &Value| {
            let claims = serde_json::from_str(text).unwrap_or_else(|_| nothing());
            declared_part(schema, &claims).unwrap_or_else(nothing)
        };
        let signed = || {
            let mut known: Value = serde_json::from_str(&visitor.signed).unwrap_or_else(|_| nothing());
            // The role must be the member's current one.
            if let (Some(role), Some(known)) = (role, known.as_object_mut()) {
                known.insert("role".to_owned(), json!(role));
            }
            declared_part(schema, &known).unwrap_or_else(nothing)
        };
        let of_unsigned = schema.get("properties").and_then(|known| known.get(UNSIGNED));
        Ok(VisitorClaims {
            signed: if is_signed { signed() } else { nothing() },
            unsigned: of_unsigned.map_or_else(nothing, |schema| claims(&visitor.unsigned, schema)),
            claims: Claims::from_schema(schema),
            budgets,
            turn,
        })
    }
}

impl Visitor {
    /// Returns `true` if the visitor's credentials, which are not verified here, may grant access to the site.
    fn may_enter(&self, site: &SiteRecord) -> bool {
        if self.preview.is_some() {
            return true;
        }
        site.published
            && match site.visibility {
                SiteVisibility::Public | SiteVisibility::Unlisted => true,
                SiteVisibility::ShareLink => self.pass != Pass::None,
                SiteVisibility::VisitorAuth => self.signed_by.is_some(),
            }
    }

    /// Returns `true` if the visitor sees drafts of sections and spaces.
    fn sees_drafts(&self) -> bool {
        self.preview.as_ref().is_some_and(|preview| preview.drafts)
    }

    /// Returns the error for content that the visitor cannot see. A caller without credentials is asked to present a
    /// token.
    fn rejection(&self, noun: &str) -> Error {
        if self.site.is_none() && self.pass == Pass::None && !self.is_user {
            let message = "a token is required; send `Authorization: Bearer <token>`";
            return Error::new(ErrorKind::Unauthenticated, message);
        }
        Error::not_found(noun)
    }
}

impl Visit {
    /// Returns an id that is equal for visitors who see the same content, or `None` if content is not adaptive.
    pub(in crate::platform) fn context_id(&self) -> Option<String> {
        self.site.adaptive_content.enabled.then(|| self.claims.id())
    }
}

/// The parts of a published site, with those that are hidden from the visitor.
pub(in crate::platform) struct SiteParts {
    site: Arc<SiteRecord>,
    outline: SiteOutline,
    spaces: LiveSpaces,
    claims: VisitorClaims,
    visitor: Visitor,
}

impl SiteParts {
    /// Evaluates the conditions. They may wait for those of other requests, so the caller must not hold a transaction.
    pub(in crate::platform) async fn visible(self) -> Result<Visit> {
        if self.outline.conditions().next().is_none() {
            return Ok(self.filter(|_| true));
        }
        let decider = self.claims.site_evaluator();
        if self.outline.conditions().all(|condition| decider.is_cached(condition)) {
            return Ok(self.filter(|condition| decider.holds(condition)));
        }
        let turn = self.claims.turn.clone();
        let work = move |cancelled: &Cancelled| {
            self.filter(|condition| !cancelled.is_set() && decider.holds(condition))
        };
        turn.run(work).await
    }

    /// Evaluates the conditions within a transaction. Usually they are cached.
    fn visible_in_place(self) -> Visit {
        if self.outline.conditions().next().is_none() {
            return self.filter(|_| true);
        }
        let decider = self.claims.site_evaluator();
        let is_cached = self.outline.conditions().all(|condition| decider.is_cached(condition));
        let work = || self.filter(|condition| decider.holds(condition));
        if is_cached { work() } else { run_in_place(work) }
    }

    /// Removes the parts that are drafts, are deleted, or have an unmet condition.
    fn filter(self, holds: impl Fn(Option<&Condition>) -> bool) -> Visit {
        let Self { site, outline, spaces, claims, visitor } = self;
        let sees_drafts = visitor.sees_drafts();
        let is_shown = |part: OutlinePart<'_>| {
            let is_live = match &part {
                OutlinePart::Section(_) | OutlinePart::Link(_) => true,
                OutlinePart::SiteSpace(place) => spaces.contains_key(&place.space),
            };
            is_live && (sees_drafts || !outline.is_draft(part)) && holds(part.condition())
        };
        let outline = outline.filter(is_shown);
        Visit { site, outline, spaces, claims: Arc::new(claims), visitor, token: VisitToken::default() }
    }
}

async fn find_site(tx: &Tx, visitor: &Visitor, at: SiteRef<'_>) -> Result<Arc<SiteRecord>> {
    let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(at.site)).await?;
    site.filter(|site| site.organization == *at.org).ok_or_else(|| visitor.rejection("site"))
}

/// A site that may show a space to a visitor.
pub(super) struct Candidate {
    site: Arc<SiteRecord>,
    /// The conditions on each placement of the space on the site, and on its section.
    conditions: Vec<[Option<Condition>; 2]>,
}

impl Candidate {
    fn is_shown(&self, claims: &VisitorClaims) -> bool {
        if !self.conditions.iter().flatten().any(Option::is_some) {
            return !self.conditions.is_empty();
        }
        let decider = claims.site_evaluator();
        run_in_place(|| {
            let mut places = self.conditions.iter();
            places.any(|conditions| conditions.iter().all(|condition| decider.holds(condition.as_ref())))
        })
    }
}

/// Returns the sites that may show a space to a visitor: the site of their token, or all sites that contain it.
pub(super) async fn candidates(tx: &Tx, visitor: &Visitor, space: &SpaceId) -> Result<Vec<Candidate>> {
    let all = SiteSpaceRecord::by_space(space);
    let wanted = match &visitor.site {
        Some(site) => all.part(site.as_str()),
        None => all,
    };
    let rows = tx.scan(&wanted.scan(MAX_SCAN)).await?;
    let keys: Vec<Key> = SiteSpaceRecord::named_by_all(&rows);
    let places: Vec<_> = tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().flatten().collect();
    let sites: BTreeSet<&SiteId> = places.iter().map(|place| &place.site).collect();
    let sites: Vec<Key> = sites.into_iter().map(SiteRecord::key_for).collect();
    let sites = tx.get_many::<SiteRecord>(&sites).await?.into_iter().flatten();
    let sites: BTreeMap<SiteId, _> = sites.map(|site| (site.id.clone(), site)).collect();
    let sections: BTreeSet<&SectionId> = places.iter().filter_map(|place| place.section.as_ref()).collect();
    let sections: Vec<Key> = sections.into_iter().map(SectionRecord::key_for).collect();
    let sections = tx.get_many::<SectionRecord>(&sections).await?.into_iter().flatten();
    let sections: BTreeMap<SectionId, _> = sections.map(|section| (section.id.clone(), section)).collect();
    let mut found: Vec<Candidate> = Vec::new();
    for place in places.iter().filter(|place| visitor.sees_drafts() || !place.draft) {
        let Some(site) = sites.get(&place.site).filter(|site| visitor.may_enter(site)) else { continue };
        let conditions = match place.section.as_ref().map(|id| sections.get(id)) {
            None => [place.condition.clone(), None],
            // Drafts of groups are excluded when the whole site is loaded.
            Some(Some(section)) if visitor.sees_drafts() || !section.draft => {
                [place.condition.clone(), section.condition.clone()]
            }
            // In a draft, or its section is deleted, so it is in no outline.
            Some(_) => continue,
        };
        // The rows are grouped by site.
        match found.last_mut().filter(|last| last.site.id == site.id) {
            Some(last) => last.conditions.push(conditions),
            None => found.push(Candidate { site: Arc::clone(site), conditions: vec![conditions] }),
        }
    }
    Ok(found)
}

/// Returns the part of a claim declared by a schema: values of the declared type and, if there is an enumeration, only
/// values contained in it.
fn declared_part(schema: &Value, claim: &Value) -> Option<Value> {
    let kind = schema.get("type").and_then(Value::as_str)?;
    let is_listed = || schema.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(claim));
    match (kind, claim) {
        ("boolean", Value::Bool(_)) | ("number" | "integer", Value::Number(_)) => Some(claim.clone()),
        ("string", Value::String(_)) if is_listed() => Some(claim.clone()),
        ("array", Value::Array(items)) => {
            let of = schema.get("items")?;
            Some(Value::Array(items.iter().filter_map(|item| declared_part(of, item)).collect()))
        }
        ("object", Value::Object(members)) => {
            let known = schema.get("properties").and_then(Value::as_object)?;
            let others = schema.get("additionalProperties").unwrap_or(&Value::Null);
            let named = known.iter().filter_map(|(name, schema)| {
                Some((name.clone(), declared_part(schema, members.get(name)?)?))
            });
            // A sorted map, so that equal claims serialize equally.
            let unnamed: BTreeMap<String, Value> = members
                .iter()
                .filter(|(name, _)| !known.contains_key(*name))
                .filter_map(|(name, member)| Some((name.clone(), declared_part(others, member)?)))
                .collect();
            Some(Value::Object(named.chain(unnamed).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn undeclared_claims_follow_additional_properties() {
        let schema = json!({ "type": "object", "properties": { "plan": { "type": "string" } },
            "additionalProperties": { "type": "boolean" } });
        let claims = json!({ "plan": "pro", "beta": true, "seats": 3, "name": "Ada" });
        assert_eq!(declared_part(&schema, &claims), Some(json!({ "plan": "pro", "beta": true })));
    }

    #[test]
    fn claims_that_do_not_match_the_schema_are_dropped() {
        let schema = json!({ "type": "object", "properties": {
            "beta": { "type": "boolean" },
            "plan": { "type": "string", "enum": ["free", "pro"] },
            "name": { "type": "string" },
            "seats": { "type": "number" },
            "teams": { "type": "array", "items": { "type": "string" } },
            "place": { "type": "object", "properties": { "eu": { "type": "boolean" } } },
        } });
        let claims = json!({
            "beta": true, "plan": "pro", "name": "Ada", "seats": 3, "teams": ["a", 1], "place": { "eu": true, "x": 1 },
            "other": true,
        });
        let known = json!({
            "beta": true, "plan": "pro", "name": "Ada", "seats": 3, "teams": ["a"], "place": { "eu": true },
        });
        assert_eq!(declared_part(&schema, &claims), Some(known));
        let wrong = json!({
            "beta": "true", "plan": "gold", "name": 1, "seats": "3", "teams": "a", "place": true,
        });
        assert_eq!(declared_part(&schema, &wrong), Some(json!({})));
        assert_eq!(declared_part(&schema, &json!([])), None);
    }
}
