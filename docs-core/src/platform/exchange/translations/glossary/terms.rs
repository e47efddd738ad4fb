//! Terms of a glossary in several languages.

use docs_macros::{boxed, operation};

use super::{check_term, empty_entries, find, store};
use crate::{
    Error, Result,
    model::{
        GlossaryOperation, GlossaryTermId, JobId, MultilingualTerm, MultilingualTermObject,
        MultilingualTermUrls, OrgId, Timestamp, TranslationLanguage, UpdateGlossaryTerms,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform},
        nouns::{Translations, list_identities},
    },
    policy::OrgAction,
    store::{
        Page, PageRequest, Tx, checked_limit, open_cursor,
        records::{GlossaryRecord, GlossaryTermRecord},
        seal_cursor,
    },
};

impl<'p> Translations<'p> {
    /// Lists the terms of the glossary in several languages: oldest first, or by their text in a language. Terms
    /// without a text in that language are last.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member; `Forbidden` for guests; `Invalid` for an invalid cursor or limit.
    #[boxed]
    pub async fn list_glossary_terms(
        self,
        order: Option<TranslationLanguage>,
        page: &'p PageRequest,
    ) -> Result<Page<MultilingualTerm>> {
        let (platform, ref actor, org) = self.parts();
        let terms = platform.glossary_terms(actor, org).await?;
        let limit = checked_limit(page)?;
        let fingerprint =
            list_identities::glossary_terms(org, order.map(TranslationLanguage::as_str)).fingerprint();
        let after = page.page.as_ref().map(|token| open_cursor(token, fingerprint)).transpose()?;
        let count = terms.len() as u64;
        let mut sorted: Vec<(String, GlossaryTermRecord)> =
            terms.into_iter().map(|term| (position(&term, order), term)).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted.retain(|(position, _)| after.as_ref().is_none_or(|after| position > after));
        let more = sorted.len() > limit;
        sorted.truncate(limit);
        let last = sorted.last().filter(|_| more);
        let next = last.map(|(position, _)| seal_cursor(position, fingerprint));
        let items = sorted.into_iter().map(|(_, term)| platform.glossary_term_view(org, term)).collect();
        Ok(Page { items, next, count: Some(count) })
    }

    /// Reads a term of the glossary in several languages.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Forbidden` for guests.
    #[boxed]
    pub async fn get_glossary_term(self, term: &'p GlossaryTermId) -> Result<MultilingualTerm> {
        let (platform, ref actor, org) = self.parts();
        let terms = platform.glossary_terms(actor, org).await?;
        let found = terms.into_iter().find(|known| known.id == *term);
        Ok(platform.glossary_term_view(org, found.ok_or_else(|| Error::not_found("glossary entry"))?))
    }

    /// Adds, changes and deletes terms of the glossary in several languages. In every translation between two languages
    /// of a changed term, sentences that contain it are translated again.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization; `Invalid` for an unknown term, malformed texts, and a
    /// glossary above the size limit.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let changes = serde_json::json!({ "operations": [
    ///     { "type": "insert", "translations": { "en": "space", "de": "Bereich", "fr": "espace" } },
    /// ] });
    /// me.org(org).translations().update_glossary_terms(serde_json::from_value(changes)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn update_glossary_terms(self, change: UpdateGlossaryTerms) -> Result<()> {
        let (platform, ref actor, org) = self.parts();
        check(&change)?;
        let operations = change.operations.iter().cloned();
        let operations: Vec<_> = operations.map(|operation| (platform.id(), operation)).collect();
        let (job, now) = (platform.id(), platform.now());
        platform.write(actor, &glossary_terms_update(actor, org, &operations, &job, now)).await
    }
}

impl Platform {
    async fn glossary_terms(&self, actor: &Actor, org: &OrgId) -> Result<Vec<GlossaryTermRecord>> {
        let tx = self.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
        Ok(find(&tx, org).await?.map(|glossary| glossary.terms.clone()).unwrap_or_default())
    }

    fn glossary_term_view(&self, org: &OrgId, term: GlossaryTermRecord) -> MultilingualTerm {
        MultilingualTerm {
            object: MultilingualTermObject::Is,
            urls: MultilingualTermUrls { location: self.urls().glossary_term(org, &term.id) },
            id: term.id,
            translations: term.texts,
            created_at: term.created_at,
            updated_at: term.updated_at,
        }
    }
}

/// Returns the sort key of a term, which is unique.
fn position(term: &GlossaryTermRecord, order: Option<TranslationLanguage>) -> String {
    let text = order.map(|language| term.texts.get(&language).map(|text| text.to_lowercase()));
    let created = term.created_at;
    match text {
        None => created.to_string(),
        Some(Some(text)) => format!("0{text}\n{created}"),
        Some(None) => format!("1{created}"),
    }
}

fn check(change: &UpdateGlossaryTerms) -> Result<()> {
    for (at, operation) in change.operations.iter().enumerate() {
        let (GlossaryOperation::Insert { translations } | GlossaryOperation::Update { translations, .. }) =
            operation
        else {
            continue;
        };
        let field = format!("operations[{at}].translations");
        if translations.is_empty() {
            return Err(Error::invalid(&field, "must have at least one entry"));
        }
        translations.values().try_for_each(|text| check_term(&field, text))?;
    }
    Ok(())
}

#[operation("glossary_update")]
async fn glossary_terms_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    operations: &[(GlossaryTermId, GlossaryOperation)],
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
    let old = find(tx, org).await?;
    let mut terms = old.as_ref().map(|old| old.terms.clone()).unwrap_or_default();
    for (at, (id, operation)) in operations.iter().enumerate() {
        apply(&mut terms, at, (id, operation), now)?;
    }
    let entries = old.as_ref().map_or_else(empty_entries, |old| old.entries.clone());
    let new = GlossaryRecord { organization: org.clone(), entries, terms, updated_at: now };
    store(tx, old, new, "operations", (job, now)).await
}

/// Applies the operation at an index. An inserted term gets the id.
fn apply(
    terms: &mut Vec<GlossaryTermRecord>,
    at: usize,
    (id, operation): (&GlossaryTermId, &GlossaryOperation),
    now: Timestamp,
) -> Result<()> {
    match operation {
        GlossaryOperation::Insert { translations } => {
            if terms.iter().all(|term| term.texts != *translations) {
                let created_at = terms.iter().map(|term| term.created_at).max();
                let created_at = created_at.map_or(now, |last| now.later_than(last));
                let (id, texts) = (id.clone(), translations.clone());
                terms.push(GlossaryTermRecord { id, texts, created_at, updated_at: created_at });
            }
        }
        GlossaryOperation::Update { id, translations } => {
            let unknown =
                || Error::invalid(&format!("operations[{at}].id"), "the glossary has no such entry");
            let term = terms.iter_mut().find(|term| term.id == *id).ok_or_else(unknown)?;
            if term.texts != *translations {
                term.texts = translations.clone();
                term.updated_at = now.later_than(term.updated_at);
            }
        }
        GlossaryOperation::Delete { id } => terms.retain(|term| term.id != *id),
    }
    Ok(())
}
