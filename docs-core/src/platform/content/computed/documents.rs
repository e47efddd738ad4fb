//! Pages and documents that are generated for a request, instead of for a computed page of the content.

use std::sync::Arc;

use super::{
    GeneratedContent, GeneratedPage, GeneratedPages, OpenApiSource, PageLocation, Spec, count_pages,
    generate_pages, generated_id, operation_block, print_block, webhook_block,
};
use crate::{
    Error, Result,
    content::UniqueNames,
    model::{
        ContentRef, DocumentProps, GeneratedDocument, GeneratedMethod, MAX_COMPUTED_PAGES, OrgId,
        RevisionSource, SpecVisibility,
    },
    platform::{
        content::openapi_specs::MAX_SHOWN_SUBJECTS,
        kernel::{platform::Platform, request::EntityTag},
    },
};

/// The content of a document to generate.
pub(in crate::platform) enum RequestedDocument<'r> {
    /// The operation or webhook with this path or name.
    Operation(&'r str, GeneratedMethod),
    /// The page about a name.
    Page(GeneratedDocument, &'r str),
}

impl<'r> RequestedDocument<'r> {
    /// Returns the requested content.
    ///
    /// # Errors
    /// `Invalid` if a field is missing.
    pub(in crate::platform) fn new(props: &'r DocumentProps) -> Result<Self> {
        let required = |field: &str| {
            Error::invalid(&format!("source.props.{field}"), "is required for this value of `doc`; set it")
        };
        let page = || props.page.as_deref().ok_or_else(|| required("page"));
        Ok(match props.doc {
            GeneratedDocument::Operation => {
                Self::Operation(page()?, props.method.ok_or_else(|| required("method"))?)
            }
            GeneratedDocument::Models => Self::Page(props.doc, ""),
            _ => Self::Page(props.doc, page()?),
        })
    }
}

/// Returns the Markdown of the page about a name, with at most as many operations, webhooks and schemas as a document
/// shows. Returns `None` if there is no such page.
pub(in crate::platform) fn document_text(
    pages: &GeneratedPages,
    doc: GeneratedDocument,
    name: &str,
) -> Option<String> {
    let mut pages = pages.iter().flat_map(|(_, made)| made);
    let found = pages.find_map(|made| made.find(&|made| made.is_about(doc, name)))?;
    Some(found.markdown_within(MAX_SHOWN_SUBJECTS))
}

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

    /// Returns the slug of the specification.
    pub(in crate::platform) fn slug(&self) -> &str {
        &self.slug
    }
}

impl Spec {
    pub(in crate::platform) fn visibility(&self) -> SpecVisibility {
        self.record.visibility
    }

    /// Returns the source of all pages that the specification can generate.
    pub(in crate::platform) fn all_pages(&self) -> OpenApiSource {
        let slug = self.record.slug.to_string();
        OpenApiSource { slug, models: true, download: true, overview: true, groups: true }
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
        generate_pages(self, room, source, seed.to_owned(), at)
    }

    /// Returns a key of everything that the result of [`generate`](Self::generate) depends on.
    pub(in crate::platform) fn generated_key(&self, source: &OpenApiSource, seed: &str) -> Result<EntityTag> {
        let OpenApiSource { slug, models, download, overview, groups } = source;
        let shown = (models, download, overview, groups);
        EntityTag::from_answer(&("request", &self.version, &self.published, slug, shown, seed))
    }

    /// Returns the Markdown of an operation, or of the first webhook with a name.
    pub(in crate::platform) fn operation(&self, path: &str, method: GeneratedMethod) -> Option<String> {
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
