//! Computed pages: pages that are generated when they are read instead of being stored.
//!
//! A computed page of an OpenAPI specification is replaced in responses by one page per tag, at the level of the
//! computed page. The generated pages depend on the latest version of the specification, which is cached in memory,
//! and on the location of the computed page. Their ids are derived from its seed and the names of the tags, so they
//! survive changes of the specification.

mod made;
mod outline;
mod placed;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde::Serialize;
use serde_json::Value;

pub(in crate::platform) use self::{
    made::{MadeCache, MadePages},
    placed::{MadePage, Place},
};
use self::{outline::SpecPages, placed::place};
use crate::{
    Error, Result,
    content::{PageEntry, PageKind, PageTree},
    model::{
        ContentRef, MAX_COMPUTED_PAGES, MAX_COMPUTED_PLACES, OpenApiSpecVersionId, OrgId, PageId,
        SpecVisibility,
    },
    platform::{
        content::openapi_specs,
        kernel::{platform::Platform, request::EntityTag},
    },
    ports::SpecOutline,
    store::records::{OpenApiSpecRecord, OpenApiSpecVersionRecord},
};

/// The `type` of pages that are computed from OpenAPI specifications.
pub(in crate::platform) const OPENAPI: &str = "builtin:openapi";
/// Capacity of the cache of specification outlines, in bytes.
const KEPT_BYTES: u64 = 32 << 20;

/// A cache of the pages of recently read versions.
pub(in crate::platform) struct SpecPagesCache(
    quick_cache::sync::Cache<OpenApiSpecVersionId, Arc<SpecPages>, ByBytes>,
);

#[derive(Clone)]
struct ByBytes;

impl quick_cache::Weighter<OpenApiSpecVersionId, Arc<SpecPages>> for ByBytes {
    fn weight(&self, _: &OpenApiSpecVersionId, pages: &Arc<SpecPages>) -> u64 {
        pages.bytes.max(1)
    }
}

impl Default for SpecPagesCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::with_weighter(100, KEPT_BYTES, ByBytes))
    }
}

/// The source of a computed page, as far as this module interprets it.
pub(in crate::platform) struct OpenApiSource {
    slug: String,
    /// Includes a page of the schemas.
    models: bool,
    /// Includes a link to the document if the specification is public.
    download: bool,
}

impl OpenApiSource {
    /// Returns the source of a page, or `None` if it is not computed from a specification.
    pub(in crate::platform) fn of(entry: &PageEntry) -> Option<Self> {
        let computed = entry.computed.as_ref().filter(|_| entry.kind == PageKind::Computed)?;
        if computed.get("type").and_then(Value::as_str) != Some(OPENAPI) {
            return None;
        }
        let reference = computed.pointer("/dependencies/spec/ref")?;
        let ContentRef::OpenApi { spec: slug } = serde_json::from_value(reference.clone()).ok()? else {
            return None;
        };
        let is_asked = |name: &str| computed.pointer(&format!("/props/{name}")) == Some(&Value::Bool(true));
        Some(Self { slug, models: is_asked("models"), download: is_asked("downloadLink") })
    }
}

/// A specification in its current version.
pub(in crate::platform) struct Spec {
    record: Arc<OpenApiSpecRecord>,
    version: OpenApiSpecVersionId,
    pages: Arc<SpecPages>,
    /// The public URL of its document, if it has one.
    published: Option<String>,
}

/// A computed page with the source of its generated pages.
struct ComputedPlace {
    /// `None` if the specification is missing or not processed yet.
    spec: Option<Arc<Spec>>,
    source: OpenApiSource,
    /// The number of pages it generates.
    room: usize,
}

/// The computed pages of a tree. A space has at most [`MAX_COMPUTED_PAGES`] in at most [`MAX_COMPUTED_PLACES`]: the
/// first ones in tree order, for every reader.
#[derive(Default)]
pub(in crate::platform) struct ComputedPlaces {
    places: HashMap<PageId, ComputedPlace>,
    omitted: usize,
}

impl ComputedPlaces {
    /// Generates the pages that replace a computed page. Returns `None` for pages that are not computed from a
    /// specification, and no pages without a processed specification.
    pub(in crate::platform) fn made(&self, entry: &PageEntry, at: Place<'_>) -> Option<Vec<MadePage>> {
        let ComputedPlace { spec, source, room } = self.places.get(at.id)?;
        Some(spec.as_ref().map_or_else(Vec::new, |spec| place(spec, *room, source, entry, at)))
    }

    /// Everything that the generated pages of a computed page depend on, except its location; `None` for pages that are
    /// not computed from a specification.
    fn facts(&self, entry: &PageEntry, id: &PageId) -> Option<impl Serialize + '_> {
        let ComputedPlace { spec, source, room } = self.places.get(id)?;
        let spec = spec.as_ref().map(|spec| (&spec.version, &spec.published));
        Some((
            id.clone(),
            entry.computed_seed.clone(),
            &source.slug,
            source.models,
            source.download,
            room,
            spec,
        ))
    }

    /// A warning about the pages that exceed the limits, if any do.
    pub(in crate::platform) fn warning(&self) -> Option<String> {
        (self.omitted > 0).then(|| {
            format!(
                "skipped {} computed pages: a space has at most {MAX_COMPUTED_PAGES} in \
                 {MAX_COMPUTED_PLACES} insertion points",
                self.omitted
            )
        })
    }
}

impl Platform {
    /// Resolves the computed pages of a tree against the current specifications, within the limits.
    pub(in crate::platform) async fn computed_places(
        &self,
        org: &OrgId,
        tree: &PageTree,
    ) -> Result<ComputedPlaces> {
        let mut specs: HashMap<String, Option<Arc<Spec>>> = HashMap::new();
        let mut places = ComputedPlaces::default();
        let mut left = MAX_COMPUTED_PAGES;
        for (number, (at, source)) in sources(tree).enumerate() {
            let Some(page) = tree.pages().get(at) else { continue };
            let spec = match specs.get(&source.slug) {
                _ if number >= MAX_COMPUTED_PLACES => None,
                Some(known) => known.clone(),
                None => {
                    let found = self.latest_spec(org, &source.slug).await?.map(Arc::new);
                    specs.entry(source.slug.clone()).or_insert(found).clone()
                }
            };
            let wanted = spec.as_ref().map_or(0, |spec| placed::wanted(spec, &source));
            let room = wanted.min(left);
            left -= room;
            places.omitted += wanted - room;
            places.places.insert(page.id.clone(), ComputedPlace { spec, source, room });
        }
        Ok(places)
    }

    /// The tag of the specifications that the pages of a tree are computed from, their versions and visibility; `None`
    /// without computed pages.
    pub(in crate::platform) async fn computed_from(
        &self,
        org: &OrgId,
        tree: &PageTree,
    ) -> Result<Option<EntityTag>> {
        let places = sources(tree).take(MAX_COMPUTED_PLACES);
        let slugs: BTreeSet<String> = places.map(|(_, source)| source.slug).collect();
        if slugs.is_empty() {
            return Ok(None);
        }
        let slugs: Vec<String> = slugs.into_iter().collect();
        self.specs_tag(org, &slugs).await.map(Some)
    }

    /// The tag of specifications: their versions and visibility.
    pub(in crate::platform) async fn specs_tag(&self, org: &OrgId, slugs: &[String]) -> Result<EntityTag> {
        let found = openapi_specs::find_all(&self.read().await?, org, slugs).await?;
        let told = |spec: &Arc<OpenApiSpecRecord>| (spec.last_version.clone(), spec.visibility);
        let found: Vec<_> = found.iter().map(|spec| spec.as_ref().map(told)).collect();
        EntityTag::of(&(slugs, found))
    }

    async fn latest_spec(&self, org: &OrgId, slug: &str) -> Result<Option<Spec>> {
        let tx = self.read().await?;
        let Some(record) = openapi_specs::find(&tx, org, slug).await? else { return Ok(None) };
        let Some(version) = record.last_version.clone() else { return Ok(None) };
        let cache = self.inner.memory.of::<SpecPagesCache>();
        let kept = &cache.0;
        let pages = match kept.get(&version) {
            Some(pages) => pages,
            None => {
                let found: Option<Arc<OpenApiSpecVersionRecord>> =
                    tx.get(&OpenApiSpecVersionRecord::at(&version)).await?;
                let Some(found) = found else { return Ok(None) };
                // Objects may be read through the connections of the transaction, so it is closed first.
                drop(tx);
                let bytes = self.spec_bytes(&record.id, &found.outline).await?;
                let outline: SpecOutline = serde_json::from_slice(&bytes).map_err(Error::internal)?;
                let pages = Arc::new(SpecPages::new(outline, found.outline.size));
                kept.insert(version.clone(), Arc::clone(&pages));
                pages
            }
        };
        let published = (record.visibility == SpecVisibility::Public)
            .then(|| self.urls().published_spec(org, record.slug.as_str()));
        Ok(Some(Spec { record, version, pages, published }))
    }
}

/// Returns `true` if pages of a tree are computed from specifications, which change independently of the revision.
pub(in crate::platform) fn is_in(tree: &PageTree) -> bool {
    sources(tree).next().is_some()
}

/// The computed pages of a tree by index, with their sources.
pub(in crate::platform) fn sources(tree: &PageTree) -> impl Iterator<Item = (usize, OpenApiSource)> {
    let pages = tree.pages().iter().enumerate();
    pages.filter_map(|(at, page)| Some((at, OpenApiSource::of(&page.entry)?)))
}
