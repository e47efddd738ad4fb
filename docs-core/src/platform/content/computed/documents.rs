//! Pages and documents that are generated for a request, instead of for a computed page of the content.

use std::sync::Arc;

use super::{
    GeneratedContent, GeneratedPage, OpenApiSource, PageLocation, Spec, count_pages, generate_pages,
    generated_id, operation_block, print_block, webhook_block,
};
use crate::{
    Error, Result,
    content::{UniqueNames, run_in_place},
    model::{
        ContentRef, DocumentProps, GeneratedDocument, GeneratedMethod, MAX_COMPUTED_PAGES, OrgId,
        RevisionSource, SpecVisibility,
    },
    platform::kernel::platform::Platform,
};

impl OpenApiSource {
    /// Returns the source of a request.
    pub(in crate::platform) fn from_request(source: &RevisionSource) -> Self {
        let props = &source.props;
        Self {
            slug: source.dependencies.spec.reference.spec.to_string(),
            models: props.models,
            download: props.download_link == Some(true),
            overview: props.overview == Some(true),
            groups: props.tag_groups == Some(true),
        }
    }

    /// Returns the source of all pages that a specification can generate.
    fn everything(slug: &str) -> Self {
        Self { slug: slug.to_owned(), models: true, download: true, overview: true, groups: true }
    }

    /// Returns the slug of the specification.
    pub(in crate::platform) fn slug(&self) -> &str {
        &self.slug
    }
}

impl Spec {
    pub(in crate::platform) fn visibility(&self) -> SpecVisibility {
        self.record.visibility
    }

    /// Generates the pages of a source at the top level of a space, at most [`MAX_COMPUTED_PAGES`].
    pub(in crate::platform) fn generate(
        self: &Arc<Self>,
        source: &OpenApiSource,
        seed: &str,
    ) -> Vec<GeneratedPage> {
        let room = count_pages(self, source).min(MAX_COMPUTED_PAGES);
        let (id, mut beside) = (generated_id(seed, "source"), UniqueNames::default());
        let at = PageLocation { id: &id, above: "", beside: &mut beside };
        run_in_place(|| generate_pages(self, room, source, seed.to_owned(), at))
    }

    /// Generates the Markdown of a document.
    ///
    /// # Errors
    /// `Invalid` if a field is missing; `NotFound` if the specification has no such content.
    pub(in crate::platform) fn document(
        self: &Arc<Self>,
        props: &DocumentProps,
        seed: &str,
    ) -> Result<String> {
        let missing = || Error::not_found("content in the OpenAPI specification");
        let required = |field: &str| {
            Error::invalid(&format!("source.props.{field}"), "is required for this value of `doc`; set it")
        };
        let page = || props.page.as_deref().ok_or_else(|| required("page"));
        if props.doc == GeneratedDocument::Operation {
            let (page, method) = (page()?, props.method.ok_or_else(|| required("method"))?);
            return run_in_place(|| self.operation(page, method)).ok_or_else(missing);
        }
        let name = match props.doc {
            GeneratedDocument::Models => "",
            _ => page()?,
        };
        let pages = self.generate(&OpenApiSource::everything(self.record.slug.as_str()), seed);
        let found = pages.iter().find_map(|made| made.find(&|made| made.is_about(props.doc, name)));
        let found = found.ok_or_else(missing)?;
        Ok(run_in_place(|| found.markdown()))
    }

    /// Returns the Markdown of an operation, or of the first webhook with a name.
    fn operation(&self, path: &str, method: GeneratedMethod) -> Option<String> {
        let target = ContentRef::OpenApi { spec: self.record.slug.to_string() };
        let outline = &self.pages.outline;
        let block = match method {
            GeneratedMethod::Hook => {
                outline.webhooks.iter().find(|of| of.path == path).map(|of| webhook_block(of, &target))
            }
            _ => {
                let mut operations = outline.operations.iter();
                let found = operations.find(|of| of.path == path && of.method == method.name());
                found.map(|of| operation_block(of, &target))
            }
        };
        block.map(print_block)
    }
}

impl GeneratedPage {
    /// Returns `true` if the page has the content of a document about a name.
    fn is_about(&self, doc: GeneratedDocument, name: &str) -> bool {
        let named = self.props.get("page").and_then(serde_json::Value::as_str) == Some(name);
        match (&self.what, doc) {
            (GeneratedContent::Models, GeneratedDocument::Models) => true,
            (GeneratedContent::Models, _) | (_, GeneratedDocument::Models | GeneratedDocument::Operation) => {
                false
            }
            (_, GeneratedDocument::Info) => named,
            (GeneratedContent::Tag(_), GeneratedDocument::Operations | GeneratedDocument::Tag) => named,
            (_, GeneratedDocument::Operations | GeneratedDocument::Tag) => false,
        }
    }
}

impl Platform {
    /// Returns a specification of an organization with its latest version, or `None` if it is missing or not processed
    /// yet.
    pub(in crate::platform) async fn spec_by_slug(
        &self,
        org: &OrgId,
        slug: &str,
    ) -> Result<Option<Arc<Spec>>> {
        Ok(self.latest_spec(org, slug).await?.map(Arc::new))
    }
}
