//! Operations on translations of spaces and on the glossary.

use docs_core::{
    Platform,
    model::{
        CreateTranslation, Glossary, GlossaryTermId, List, MultilingualTerm, OrgId, SetGlossary, Translation,
        TranslationId, TranslationLanguage, UpdateGlossaryTerms, UpdateTranslation,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, Idempotency, NoContent,
    PageQuery, Path, Query, Reply, Strict,
};
use crate::wire::reply::Deletion;

#[derive(Debug)]
pub struct Translations(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "ApiTag::Translations")]
impl Translations {
    /// List the translations of an organization
    ///
    /// Returns the translations whose source or result is visible to the caller, newest first.
    #[oai(path = "/translations", method = "get", operation_id = "listTranslations")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Translation>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).translations().list(&page.0).await?.into()))
    }

    /// Create a translation of a space
    ///
    /// Creates a space directly after the source space. It receives the translated content, and later changes of the
    /// source are translated too.
    #[oai(path = "/translations", method = "post", operation_id = "createTranslation")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<CreateTranslation>,
    ) -> ApiResult<Created<Translation>> {
        let caller = idempotency.platform(&self.0);
        Ok(Created::new(auth.caller(&caller).org(&org).translations().create(new.0).await?))
    }

    /// Get a translation
    ///
    /// Returns the translation with its state, statistics and result.
    #[oai(path = "/translations/:translationId", method = "get", operation_id = "getTranslation")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "translationId")] translation: Path<TranslationId>,
    ) -> ApiResult<Reply<Translation>> {
        Ok(Reply(auth.caller(&self.0).org(&org).translation(&translation).get().await?))
    }

    /// Change the instructions of a translation
    ///
    /// All content is translated again with the new instructions.
    #[oai(path = "/translations/:translationId", method = "put", operation_id = "updateTranslation")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "translationId")] translation: Path<TranslationId>,
        change: Strict<UpdateTranslation>,
    ) -> ApiResult<Reply<Translation>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).org(&org).translation(&translation).update(change.0).await?))
    }

    /// Delete a translation
    ///
    /// The space with the translated content remains, but is no longer updated. Returns 205 if the translation existed,
    /// otherwise 204.
    #[oai(path = "/translations/:translationId", method = "delete", operation_id = "deleteTranslation")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "translationId")] translation: Path<TranslationId, Deleted>,
    ) -> ApiResult<Deletion> {
        let platform = condition.platform(&self.0);
        let existed = auth.caller(&platform).org(&org).translation(&translation).delete().await?;
        Ok(if existed { Deletion::Deleted } else { Deletion::Absent })
    }

    /// Run a translation
    ///
    /// Translates all content. Text that was translated before is not sent to the translator again. Useful after a
    /// failure, or after a change of the server's translator.
    #[oai(path = "/translations/:translationId/run", method = "post", operation_id = "runTranslation")]
    async fn run(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "translationId")] translation: Path<TranslationId>,
    ) -> ApiResult<NoContent> {
        let platform = idempotency.platform(&self.0);
        auth.caller(&platform).org(&org).translation(&translation).run().await?;
        Ok(Empty)
    }

    /// Get the glossary of an organization
    ///
    /// Returns the term translations that apply to all translations of the organization.
    #[oai(path = "/glossary", method = "get", operation_id = "getGlossary")]
    async fn glossary(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<Glossary>> {
        Ok(Reply(auth.caller(&self.0).org(&org).translations().get_glossary().await?))
    }

    /// Replace the glossary of an organization
    ///
    /// Sentences that contain a term are translated again if its entry was added, removed or changed.
    #[oai(path = "/glossary", method = "put", operation_id = "setGlossary")]
    async fn set_glossary(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<SetGlossary>,
    ) -> ApiResult<Reply<Glossary>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).org(&org).translations().set_glossary(new.0).await?))
    }

    /// List the glossary entries in several languages
    ///
    /// In a translation between two languages of an entry, its text in the source language is translated by the other
    /// one. Entries of the whole glossary (`setGlossary`) apply to any source language, take precedence, and are not
    /// listed here.
    #[oai(path = "/translations-glossary", method = "get", operation_id = "listGlossaryEntries")]
    async fn glossary_terms(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Sorts the list by the text in this language, entries without one last. By default, oldest first.
        #[oai(name = "orderBy")]
        order: Query<TranslationLanguage>,
    ) -> ApiResult<Reply<List<MultilingualTerm>>> {
        let glossary = auth.caller(&self.0).org(&org).translations();
        Ok(Reply(glossary.list_glossary_terms(order.0, &page.0).await?.into()))
    }

    /// Change the glossary entries in several languages
    ///
    /// The operations apply in order, and all or none of them. Inserting an entry that exists, and deleting one that
    /// does not, has no effect.
    #[oai(path = "/translations-glossary", method = "put", operation_id = "updateGlossaryEntries")]
    async fn update_glossary_terms(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        change: Strict<UpdateGlossaryTerms>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).translations().update_glossary_terms(change.0).await?;
        Ok(Empty)
    }

    /// Get a glossary entry in several languages
    ///
    /// Returns the texts of the entry by language.
    #[oai(
        path = "/translations-glossary/:glossaryEntryId",
        method = "get",
        operation_id = "getGlossaryEntry"
    )]
    async fn glossary_term(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "glossaryEntryId")] term: Path<GlossaryTermId>,
    ) -> ApiResult<Reply<MultilingualTerm>> {
        Ok(Reply(auth.caller(&self.0).org(&org).translations().get_glossary_term(&term).await?))
    }
}
