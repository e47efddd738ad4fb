//! Terms of a glossary in several languages.

use docs_macros::{boxed, operation};

use super::{check_term, empty_entries, find, store};
use crate::{
    Error, Result,
    model::{
        GlossaryOperation, GlossaryOperationType, GlossaryTermId, JobId, MultilingualTerm,
        MultilingualTermObject, MultilingualTermUrls, OrgId, TermTexts, Timestamp, TranslationLanguage,
        UpdateGlossaryTerms,
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
        let operations = change.operations.iter().cloned().enumerate();
        let changes = operations.map(|(at, operation)| checked(at, operation, platform.id()));
        let changes: Vec<TermChange> = changes.collect::<Result<_>>()?;
        let (job, now) = (platform.id(), platform.now());
        platform.write(actor, &glossary_terms_update(actor, org, &changes, &job, now)).await
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

/// A checked operation.
enum TermChange {
    /// Insert a term with this id.
    Insert(GlossaryTermId, TermTexts),
    Update(GlossaryTermId, TermTexts),
    Delete(GlossaryTermId),
}

/// Checks the operation at an index. An inserted term gets the id `new`.
fn checked(at: usize, operation: GlossaryOperation, new: GlossaryTermId) -> Result<TermChange> {
    let id = || {
        let missing = || Error::invalid(&format!("operations[{at}].id"), "is required for this operation");
        operation.id.clone().ok_or_else(missing)
    };
    let texts = || {
        let field = format!("operations[{at}].translations");
        let texts = operation.translations.clone().unwrap_or_default();
        if texts.is_empty() {
            return Err(Error::invalid(&field, "must have at least one entry"));
        }
        texts.values().try_for_each(|text| check_term(&field, text))?;
        Ok(texts)
    };
    Ok(match operation.kind {
        GlossaryOperationType::Insert => TermChange::Insert(new, texts()?),
        GlossaryOperationType::Update => TermChange::Update(id()?, texts()?),
        GlossaryOperationType::Delete => TermChange::Delete(id()?),
    })
}

#[operation("glossary_update")]
async fn glossary_terms_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    changes: &[TermChange],
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
    let old = find(tx, org).await?;
    let mut terms = old.as_ref().map(|old| old.terms.clone()).unwrap_or_default();
    for (at, change) in changes.iter().enumerate() {
        apply(&mut terms, at, change, now)?;
    }
    let entries = old.as_ref().map_or_else(empty_entries, |old| old.entries.clone());
    let new = GlossaryRecord { organization: org.clone(), entries, terms, updated_at: now };
    store(tx, old, new, "operations", (job, now)).await
}

/// Applies the change at an index.
fn apply(terms: &mut Vec<GlossaryTermRecord>, at: usize, change: &TermChange, now: Timestamp) -> Result<()> {
    match change {
        TermChange::Insert(id, texts) => {
            if terms.iter().all(|term| term.texts != *texts) {
                let last = terms.iter().map(|term| term.created_at).max();
                let created_at = last.map_or(now, |last| now.later_than(last));
                let (id, texts) = (id.clone(), texts.clone());
                terms.push(GlossaryTermRecord { id, texts, created_at, updated_at: created_at });
            }
        }
        TermChange::Update(id, texts) => {
            let unknown =
                || Error::invalid(&format!("operations[{at}].id"), "the glossary has no such entry");
            let term = terms.iter_mut().find(|term| term.id == *id).ok_or_else(unknown)?;
            if term.texts != *texts {
                term.texts = texts.clone();
                term.updated_at = now.later_than(term.updated_at);
            }
        }
        TermChange::Delete(id) => terms.retain(|term| term.id != *id),
    }
    Ok(())
}
