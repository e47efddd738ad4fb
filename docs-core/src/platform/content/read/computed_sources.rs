//! Pages and documents that are computed from a source in a request.

use std::sync::Arc;

use docs_macros::boxed;

use super::ReadableRevision;
use crate::{
    Error, ErrorKind, Result,
    content::{PageEntry, PageKind, Rank, parse_document},
    model::{ComputeDocument, ComputeRevision, ComputedRevision, Document, SpecVisibility},
    platform::{
        access,
        content::computed::{self, OpenApiSource, Spec},
        kernel::{actor::Actor, platform::Platform},
        nouns::ContentHandle,
    },
    policy::OrgAction,
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
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let source = OpenApiSource::from_request(&request.source);
        let Some(spec) = platform.usable_spec(&at, actor, source.slug()).await? else {
            return Ok(ComputedRevision::default());
        };
        let entry = PageEntry::new(PageKind::Computed, "Computed", Rank::nth(0));
        let made = spec.generate(&source, &request.seed).into_iter();
        let pages = made.map(|made| platform.generated_page_view(at.space(), &entry, made)).collect();
        Ok(ComputedRevision { pages, ..ComputedRevision::default() })
    }

    /// Generates the document of a page like those of [`compute_revision`](Self::compute_revision). Nothing is stored.
    ///
    /// # Errors
    /// `NotFound`, also for a specification that is not visible to the caller or not processed yet, and for content
    /// that it does not have; `Invalid` if a field is missing.
    #[boxed]
    pub async fn compute_document(self, request: &'p ComputeDocument) -> Result<Document> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let slug = &request.source.dependencies.spec.reference.spec;
        let spec = platform.usable_spec(&at, actor, slug).await?;
        let spec = spec.ok_or_else(|| Error::not_found("OpenAPI specification"))?;
        let text = spec.document(&request.source.props, &request.seed)?;
        Ok(parse_document(&text).await)
    }
}

impl Platform {
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
