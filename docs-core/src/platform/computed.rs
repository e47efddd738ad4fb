//! Computed pages: pages that are made of something else than stored text whenever they are read.
//!
//! A computed page of an OpenAPI specification stands for pages of its tags. In answers they take its place, at its
//! level: what they are follows from the latest version of the specification, which is read once and kept in memory,
//! and from where the computed page is. Their ids follow from its seed and the names of the tags, so they stay when the
//! specification changes.

mod outline;
mod placed;

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

pub(super) use self::placed::{MadePage, Place};
use self::{outline::SpecPages, placed::place};
use super::{EntityTag, Platform, openapi_specs};
use crate::{
    Error, Result,
    content::{PageEntry, PageKind, PageTree},
    model::{ContentRef, OpenApiSpecVersionId, OrgId, SpecVisibility},
    ports::SpecOutline,
    store::records::{OpenApiSpecRecord, OpenApiSpecVersionRecord},
};

/// What is computed of OpenAPI specifications.
pub(super) const OPENAPI: &str = "builtin:openapi";
/// Outlines of versions that are kept in memory, by their bytes.
const KEPT_BYTES: u64 = 32 << 20;

/// The pages of versions that were read lately.
pub(super) struct SpecPagesCache(quick_cache::sync::Cache<OpenApiSpecVersionId, Arc<SpecPages>, ByBytes>);

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

/// What a computed page is made from, as far as it is known here.
pub(super) struct OpenApiSource {
    slug: String,
    /// With a page of the schemas.
    models: bool,
    /// With a link to the document, where anybody may read it.
    download: bool,
}

impl OpenApiSource {
    /// What a page is computed from; `None` for pages that are not computed from a specification.
    pub(super) fn of(entry: &PageEntry) -> Option<Self> {
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

/// A specification that pages are made of, as it is now.
pub(super) struct Spec {
    record: Arc<OpenApiSpecRecord>,
    version: OpenApiSpecVersionId,
    pages: Arc<SpecPages>,
    /// Where anybody reads its document.
    published: Option<String>,
}

impl Platform {
    /// The pages that a computed page stands for; `None` for pages that no specification is behind. Of a specification
    /// that is missing, or was not processed yet, there are none.
    pub(super) async fn computed_pages(
        &self,
        org: &OrgId,
        entry: &PageEntry,
        at: Place<'_>,
    ) -> Result<Option<Vec<MadePage>>> {
        let Some(source) = OpenApiSource::of(entry) else { return Ok(None) };
        Ok(Some(match self.latest_spec(org, &source.slug).await? {
            None => Vec::new(),
            Some(spec) => place(&Arc::new(spec), &source, (entry, at)),
        }))
    }

    /// Names what pages of a tree are computed from now, and what of it they show; `None` where none is.
    pub(super) async fn computed_from(&self, org: &OrgId, tree: &PageTree) -> Result<Option<EntityTag>> {
        let slugs: BTreeSet<String> = sources(tree).map(|(_, source)| source.slug).collect();
        if slugs.is_empty() {
            return Ok(None);
        }
        let slugs: Vec<String> = slugs.into_iter().collect();
        let found = openapi_specs::find_all(&self.read().await?, org, &slugs).await?;
        let told = |spec: &Arc<OpenApiSpecRecord>| (spec.last_version.clone(), spec.visibility);
        let found: Vec<_> = found.iter().map(|spec| spec.as_ref().map(told)).collect();
        EntityTag::of(&(slugs, found)).map(Some)
    }

    async fn latest_spec(&self, org: &OrgId, slug: &str) -> Result<Option<Spec>> {
        let tx = self.read().await?;
        let Some(record) = openapi_specs::find(&tx, org, slug).await? else { return Ok(None) };
        let Some(version) = record.last_version.clone() else { return Ok(None) };
        let kept = &self.inner.spec_pages.0;
        let pages = match kept.get(&version) {
            Some(pages) => pages,
            None => {
                let found: Option<Arc<OpenApiSpecVersionRecord>> =
                    tx.get(&OpenApiSpecVersionRecord::at(&version)).await?;
                let Some(found) = found else { return Ok(None) };
                // Objects may come through the same connections as the transaction, so none is held meanwhile.
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

/// Tells whether pages of a tree are made of specifications, which change without the revision.
pub(super) fn is_in(tree: &PageTree) -> bool {
    sources(tree).next().is_some()
}

/// The pages of a tree that stand for others, with what these are made from.
pub(super) fn sources(tree: &PageTree) -> impl Iterator<Item = (usize, OpenApiSource)> {
    let pages = tree.pages().iter().enumerate();
    pages.filter_map(|(at, page)| Some((at, OpenApiSource::of(&page.entry)?)))
}
