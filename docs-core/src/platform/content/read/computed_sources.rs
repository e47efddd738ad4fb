//! Pages and documents that are computed from a source in a request.

use std::sync::Arc;

use docs_macros::boxed;

use super::{ReadableRevision, answer_size::AnswerSize};
use crate::{
    Error, ErrorKind, Result,
    content::{PageEntry, PageKind, Rank, run_blocking, run_in_place},
    model::{ComputeDocument, ComputeRevision, ComputedRevision, Document, SpecVisibility},
    platform::{
        access,
        content::computed::{
            self, GeneratedPage, GeneratedPageCache, GeneratedPages, OpenApiSource, RequestedDocument, Spec,
            document_text,
        },
        kernel::{
            actor::Actor,
            answer_memory::{AnswerMemory, UnlimitedMemory},
            platform::Platform,
        },
        nouns::ContentHandle,
    },
    policy::OrgAction,
    store::records::SpaceRecord,
};

impl<'p> ContentHandle<'p> {
    /// Generates pages from an OpenAPI specification, like a computed page with the source at the top level of the
    /// content. Nothing is stored.
    ///
    /// The specification must be public, used by the content, or visible to the caller for another reason. For all
    /// others, and before it is processed, no pages are generated.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{ComputeRevision, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, request: &ComputeRevision) -> Result<()> {
    /// let computed = me.space(space).content().compute_revision(request).await?;
    /// println!("{} pages", computed.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn compute_revision(self, request: &'p ComputeRevision) -> Result<ComputedRevision> {
        self.compute_revision_within(request, &UnlimitedMemory).await
    }

    /// Generates pages like [`compute_revision`](Self::compute_revision). Before a large response is built, memory is
    /// reserved.
    ///
    /// # Errors
    /// `NotFound`; `Unavailable` without free memory.
    #[boxed]
    pub async fn compute_revision_within(
        self,
        request: &'p ComputeRevision,
        memory: &'p dyn AnswerMemory,
    ) -> Result<ComputedRevision> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let source = OpenApiSource::from_request(&request.source);
        let Some(spec) = platform.usable_spec(&at, actor, source.slug()).await? else {
            return Ok(ComputedRevision::default());
        };
        let entry = PageEntry::new(PageKind::Computed, "Computed", Rank::nth(0));
        let made = platform.generate_for_request(at.space(), &spec, source, &request.seed).await?;
        let made = || made.iter().flat_map(|(_, made)| made);
        let size = AnswerSize::from_items(made().map(|made| made.with_descendants().len()).sum());
        let _turn = platform.answer_turn(at.space(), size, memory).await?;
        let view = |made: &GeneratedPage| platform.generated_page_view(at.space(), &entry, made.clone());
        let pages = run_in_place(|| made().map(view).collect());
        Ok(ComputedRevision { pages, ..ComputedRevision::default() })
    }

    /// Generates the document of a page like those of [`compute_revision`](Self::compute_revision). Nothing is stored.
    /// Of a long page, the document has the operations, webhooks and schemas that a site shows with their details.
    ///
    /// # Errors
    /// `NotFound`, also for a specification that is not visible to the caller or not processed yet, and for content
    /// that it does not have; `Invalid` if a field is missing.
    #[boxed]
    pub async fn compute_document(self, request: &'p ComputeDocument) -> Result<Document> {
        self.compute_document_within(request, &UnlimitedMemory).await
    }

    /// Generates a document like [`compute_document`](Self::compute_document). Before a large one is parsed, memory is
    /// reserved.
    ///
    /// # Errors
    /// Same as [`compute_document`](Self::compute_document); `Unavailable` without free memory.
    #[boxed]
    pub async fn compute_document_within(
        self,
        request: &'p ComputeDocument,
        memory: &'p dyn AnswerMemory,
    ) -> Result<Document> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let slug = &request.source.dependencies.spec.reference.spec;
        let spec = platform.usable_spec(&at, actor, slug).await?;
        let spec = spec.ok_or_else(|| Error::not_found("OpenAPI specification"))?;
        let text = match RequestedDocument::new(&request.source.props)? {
            RequestedDocument::Operation(path, method) => run_in_place(|| spec.operation(path, method)),
            RequestedDocument::Page(doc, name) => {
                let source = spec.all_pages();
                let pages = platform.generate_for_request(at.space(), &spec, source, &request.seed).await?;
                run_in_place(|| document_text(&pages, doc, name))
            }
        };
        let text = text.ok_or_else(|| Error::not_found("content in the OpenAPI specification"))?;
        platform.parse_generated(at.space(), &text, memory).await
    }
}

impl Platform {
    /// Generates the pages of a source at the top level of a space, from the cache if possible.
    async fn generate_for_request(
        &self,
        space: &SpaceRecord,
        spec: &Arc<Spec>,
        source: OpenApiSource,
        seed: &str,
    ) -> Result<Arc<GeneratedPages>> {
        let cache = self.inner.memory.get_or_default::<GeneratedPageCache>();
        let key = spec.generated_key(&source, seed)?;
        if let Some(made) = cache.get(&key) {
            return Ok(made);
        }
        let permit = self.build_turn(space).await?;
        let (spec, seed) = (Arc::clone(spec), seed.to_owned());
        let made = run_blocking(move || {
            let made = spec.generate(&source, &seed);
            // The permit is returned when the pages are generated, also if the request is cancelled.
            drop(permit);
            made
        });
        let made = made.await.ok_or_else(|| Error::internal("the pages were not generated"))?;
        Ok(cache.insert(key, vec![(0, made)]))
    }

    /// Returns a specification that content may show to the caller. A visitor sees those of the audience of the site. A
    /// member sees public ones, those of the computed pages of the content and, unless a guest, all others.
    async fn usable_spec(
        &self,
        at: &ReadableRevision,
        actor: &Actor,
        slug: &str,
    ) -> Result<Option<Arc<Spec>>> {
        let org = &at.space().organization;
        let Some(spec) = self.spec_by_slug(org, slug).await? else { return Ok(None) };
        let is_visible = match (&at.placement, spec.visibility()) {
            (_, SpecVisibility::Public) => true,
            (Some(_), visibility) => at.spec_audience().sees(visibility),
            (None, SpecVisibility::Private) => {
                let tree = at.view.tree().await?;
                let is_used = computed::sources(&tree).any(|(_, source)| source.slug() == slug);
                is_used || self.may_read_specs(at, actor).await?
            }
        };
        Ok(is_visible.then_some(spec))
    }

    async fn may_read_specs(&self, at: &ReadableRevision, actor: &Actor) -> Result<bool> {
        let tx = self.read().await?;
        match access::org(&tx, actor, &at.space().organization).await {
            Ok(access) => Ok(access.may(OrgAction::ReadSpecs)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
