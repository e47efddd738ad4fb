//! Computed pages, which are generated when they are read instead of being stored.
//!
//! In responses, a computed page of an OpenAPI specification is replaced by one page per tag, at the same level. The
//! generated pages depend on the latest version of the specification, which is cached in memory, and on the location of
//! the computed page. Their ids are derived from its seed and the tag names, so they survive changes of the
//! specification.

mod cache;
mod documents;
mod indexed;
mod outline;
mod overview;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde::Serialize;
use serde_json::{Value, json};

pub(in crate::platform) use self::{
    cache::{GeneratedPageCache, GeneratedPages},
    documents::{RequestedDocument, document_text},
};
use self::{
    outline::{SpecPages, TagGroup, TagPage},
    overview::{escape_text, label},
};
use crate::{
    Error, Result,
    content::{PageEntry, PageKind, PageTree, UniqueNames, document, slugify},
    model::{
        Block, BlockKind, ContentRef, Document, Icon, MAX_COMPUTED_PAGES, MAX_COMPUTED_PLACES,
        OpenApiSpecVersionId, OrgId, PageBase, PageId, SpecVisibility,
    },
    platform::{
        content::openapi_specs::{self, SpecAudience},
        kernel::{platform::Platform, request::EntityTag},
    },
    ports::{SpecOperation, SpecOutline},
    store::{
        Hash,
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord},
    },
};

/// The `type` of pages computed from OpenAPI specifications.
pub(in crate::platform) const OPENAPI: &str = "builtin:openapi";
/// A cache of the pages of recently read versions. Stores nothing unless the builder sets a size.
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
        Self::new(0)
    }
}

impl SpecPagesCache {
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        Self(quick_cache::sync::Cache::with_weighter(100, bytes, ByBytes))
    }
}

/// The source of a computed page, limited to the fields that this module interprets.
pub(in crate::platform) struct OpenApiSource {
    slug: String,
    /// Adds a page with the schemas.
    models: bool,
    /// Adds a link to the document if the specification is public.
    download: bool,
    /// Adds a page about the specification as a whole.
    overview: bool,
    /// Adds a parent page for each group of tags.
    groups: bool,
}

impl OpenApiSource {
    /// Returns the source of a page, or `None` if the page is not computed from a specification.
    pub(in crate::platform) fn from_entry(entry: &PageEntry) -> Option<Self> {
        let computed = entry.computed.as_ref().filter(|_| entry.kind == PageKind::Computed)?.value();
        if computed.get("type").and_then(Value::as_str) != Some(OPENAPI) {
            return None;
        }
        let reference = computed.pointer("/dependencies/spec/ref")?;
        let ContentRef::OpenApi { spec: slug } = serde_json::from_value(reference.clone()).ok()? else {
            return None;
        };
        let is_asked = |name: &str| computed.pointer(&format!("/props/{name}")) == Some(&Value::Bool(true));
        Some(Self {
            slug,
            models: is_asked("models"),
            download: is_asked("downloadLink"),
            overview: is_asked("overview"),
            groups: is_asked("tagGroups"),
        })
    }
}

/// A specification with its current version.
pub(in crate::platform) struct Spec {
    record: Arc<OpenApiSpecRecord>,
    version: OpenApiSpecVersionId,
    pages: Arc<SpecPages>,
    /// The public URL of the document, if any.
    published: Option<String>,
}

/// A computed page and the specification it is generated from.
struct ComputedPlace {
    /// `None` if the specification is missing, not yet processed or hidden from the audience.
    spec: Option<Arc<Spec>>,
    source: OpenApiSource,
    /// Maximum number of pages it may generate.
    room: usize,
}

/// The computed pages of a tree. At most [`MAX_COMPUTED_PAGES`] pages are generated in at most [`MAX_COMPUTED_PLACES`]
/// locations: the first ones in tree order, regardless of the reader.
#[derive(Default)]
pub(in crate::platform) struct ComputedPlaces {
    places: HashMap<PageId, ComputedPlace>,
    omitted: usize,
}

impl ComputedPlaces {
    /// Generates the pages that replace a computed page. Returns `None` for pages that are not computed from a
    /// specification, and an empty list without a processed specification that the audience sees.
    pub(in crate::platform) fn generate(
        &self,
        entry: &PageEntry,
        at: PageLocation<'_>,
    ) -> Option<Vec<GeneratedPage>> {
        let ComputedPlace { spec, source, room } = self.places.get(at.id)?;
        Some(spec.as_ref().map_or_else(Vec::new, |spec| {
            let seed = entry.computed_seed.clone().unwrap_or_else(|| at.id.to_string());
            generate_pages(spec, *room, source, seed, at)
        }))
    }

    /// Returns everything that the generated pages depend on, except the location. Returns `None` for pages that are
    /// not computed from a specification.
    fn facts(&self, entry: &PageEntry, id: &PageId) -> Option<impl Serialize + '_> {
        let ComputedPlace { spec, source, room } = self.places.get(id)?;
        let spec = spec.as_ref().map(|spec| (&spec.version, &spec.published));
        Some((
            id.clone(),
            entry.computed_seed.clone(),
            &source.slug,
            source.models,
            (source.download, source.overview, source.groups),
            room,
            spec,
        ))
    }

    /// Returns a warning about pages omitted because of the limits, if any.
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
    /// Resolves the computed pages of a tree against the current specifications that an audience sees, within the
    /// limits.
    pub(in crate::platform) async fn computed_places(
        &self,
        org: &OrgId,
        tree: &PageTree,
        audience: SpecAudience,
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
            let wanted = spec.as_ref().map_or(0, |spec| count_pages(spec, &source));
            let room = wanted.min(left);
            left -= room;
            places.omitted += wanted - room;
            let spec = spec.filter(|spec| audience.sees(spec.record.visibility));
            places.places.insert(page.id.clone(), ComputedPlace { spec, source, room });
        }
        Ok(places)
    }

    /// Returns an ETag of the specifications that the pages of a tree are computed from. It covers their versions and
    /// visibility. Returns `None` if the tree has no computed pages.
    pub(in crate::platform) async fn computed_specs_tag(
        &self,
        org: &OrgId,
        tree: &PageTree,
        audience: SpecAudience,
    ) -> Result<Option<EntityTag>> {
        let places = sources(tree).take(MAX_COMPUTED_PLACES);
        let slugs: BTreeSet<String> = places.map(|(_, source)| source.slug).collect();
        if slugs.is_empty() {
            return Ok(None);
        }
        let slugs: Vec<String> = slugs.into_iter().collect();
        self.specs_tag(org, &slugs, audience).await.map(Some)
    }

    /// Returns an ETag that covers the versions and visibility of the specifications that an audience sees.
    pub(in crate::platform) async fn specs_tag(
        &self,
        org: &OrgId,
        slugs: &[String],
        audience: SpecAudience,
    ) -> Result<EntityTag> {
        let found = openapi_specs::find_all(&self.read().await?, org, slugs).await?;
        let version = |spec: &Arc<OpenApiSpecRecord>| {
            audience.sees(spec.visibility).then(|| (spec.last_version.clone(), spec.visibility))
        };
        let found: Vec<_> = found.iter().map(|spec| spec.as_ref().and_then(version)).collect();
        EntityTag::from_answer(&(slugs, found))
    }

    async fn latest_spec(&self, org: &OrgId, slug: &str) -> Result<Option<Spec>> {
        let tx = self.read().await?;
        let Some(record) = openapi_specs::find(&tx, org, slug).await? else { return Ok(None) };
        let Some(version) = record.last_version.clone() else { return Ok(None) };
        let cache = self.inner.memory.get_or_default::<SpecPagesCache>();
        let kept = &cache.0;
        let pages = match kept.get(&version) {
            Some(pages) => pages,
            None => {
                let found: Option<Arc<OpenApiSpecVersionRecord>> =
                    tx.get(&OpenApiSpecVersionRecord::key_for(&version)).await?;
                let Some(found) = found else { return Ok(None) };
                // Objects may be read through the transaction's connections, so close it first.
                drop(tx);
                let bytes = self.spec_bytes(&record.id, &found.outline).await?;
                let outline: SpecOutline = serde_json::from_slice(&bytes).map_err(Error::internal)?;
                let pages = Arc::new(SpecPages::new(outline));
                kept.insert(version.clone(), Arc::clone(&pages));
                pages
            }
        };
        let published = (record.visibility == SpecVisibility::Public)
            .then(|| self.urls().published_spec(org, record.slug.as_str()));
        Ok(Some(Spec { record, version, pages, published }))
    }
}

/// Returns `true` if the tree has pages computed from specifications, which change independently of the revision.
pub(in crate::platform) fn has_computed_pages(tree: &PageTree) -> bool {
    sources(tree).next().is_some()
}

/// Returns the computed pages of a tree by index, with their sources.
pub(in crate::platform) fn sources(tree: &PageTree) -> impl Iterator<Item = (usize, OpenApiSource)> {
    let pages = tree.pages().iter().enumerate();
    pages.filter_map(|(at, page)| Some((at, OpenApiSource::from_entry(&page.entry)?)))
}

/// The location of a computed page.
pub(in crate::platform) struct PageLocation<'a> {
    pub(in crate::platform) id: &'a PageId,
    /// The path of the parent. Empty at the top level.
    pub(in crate::platform) above: &'a str,
    /// The slugs of its siblings, including those of the pages generated so far.
    pub(in crate::platform) beside: &'a mut UniqueNames,
}

#[derive(Clone)]
pub(in crate::platform) struct GeneratedPage {
    pub(in crate::platform) id: PageId,
    pub(in crate::platform) title: String,
    pub(in crate::platform) icon: Option<String>,
    pub(in crate::platform) description: Option<String>,
    pub(in crate::platform) slug: String,
    pub(in crate::platform) path: String,
    props: Value,
    /// The seed from which its id is derived.
    pub(in crate::platform) seed: String,
    pub(in crate::platform) pages: Vec<GeneratedPage>,
    what: GeneratedContent,
    spec: Arc<Spec>,
}

#[derive(Clone)]
enum GeneratedContent {
    /// The specification as a whole.
    Overview,
    /// A group of tags, which lists its child pages.
    Group,
    /// The tag at this index.
    Tag(usize),
    /// All schemas.
    Models,
    /// A link to the document at this URL.
    Download(String),
}

/// Generates the pages for one location.
struct PageGenerator<'a> {
    spec: &'a Arc<Spec>,
    seed: String,
    /// The number of pages that may still be generated.
    room: usize,
}

/// Returns the number of pages that a specification generates at one location.
fn count_pages(spec: &Spec, source: &OpenApiSource) -> usize {
    let has_models = source.models && !spec.pages.outline.schemas.is_empty();
    let has_download = source.download && spec.published.is_some();
    let groups = if source.groups { spec.pages.groups.len() } else { 0 };
    let others = [has_models, has_download, source.overview].into_iter().filter(|is| *is).count();
    spec.pages.pages.len() + groups + others
}

/// Generates the first `room` pages of a specification at a location.
fn generate_pages(
    spec: &Arc<Spec>,
    room: usize,
    source: &OpenApiSource,
    seed: String,
    at: PageLocation<'_>,
) -> Vec<GeneratedPage> {
    let mut maker = PageGenerator { spec, seed, room };
    let taken = at.beside;
    let mut made: Vec<GeneratedPage> = Vec::new();
    if source.overview {
        let props = json!({ "doc": "info", "page": "overview" });
        made.extend(maker.page(
            "overview",
            "Overview",
            GeneratedContent::Overview,
            props,
            at.above,
            &mut *taken,
        ));
    }
    let groups: &[TagGroup] = if source.groups { &spec.pages.groups } else { &[] };
    made.extend(groups.iter().map_while(|group| maker.group(group, at.above, taken)));
    let grouped: HashSet<usize> = groups.iter().flat_map(|group| &group.roots).copied().collect();
    let others = spec.pages.roots.iter().filter(|tag| !grouped.contains(tag));
    made.extend(others.map_while(|tag| maker.tag(*tag, at.above, taken)));
    if source.models && !spec.pages.outline.schemas.is_empty() {
        let props = json!({ "doc": "models" });
        made.extend(maker.page("models", "Schemas", GeneratedContent::Models, props, at.above, &mut *taken));
    }
    if let Some(url) = spec.published.clone().filter(|_| source.download) {
        let props = json!({ "doc": "info", "page": "download" });
        made.extend(maker.page(
            "download",
            "Download",
            GeneratedContent::Download(url),
            props,
            at.above,
            taken,
        ));
    }
    made
}

impl PageGenerator<'_> {
    /// Generates the page of a group of tags and its descendants.
    fn group(&mut self, group: &TagGroup, above: &str, taken: &mut UniqueNames) -> Option<GeneratedPage> {
        let props = json!({ "doc": "info", "page": group.name });
        let name = format!("group {}", group.name);
        let mut page = self.page(&name, &group.name, GeneratedContent::Group, props, above, taken)?;
        let mut below = UniqueNames::default();
        page.pages = group.roots.iter().map_while(|tag| self.tag(*tag, &page.path, &mut below)).collect();
        Some(page)
    }

    /// Generates the page of a tag and its descendants.
    fn tag(&mut self, number: usize, above: &str, taken: &mut UniqueNames) -> Option<GeneratedPage> {
        let spec = Arc::clone(self.spec);
        let TagPage { tag, operations, webhooks, children } = &spec.pages.pages[number];
        let doc = if operations.is_empty() && webhooks.is_empty() { "info" } else { "operations" };
        let props = json!({ "doc": doc, "page": tag.name });
        let title = tag.title.as_deref().unwrap_or(&tag.name);
        let name = format!("tag {}", tag.name);
        let mut page = self.page(&name, title, GeneratedContent::Tag(number), props, above, taken)?;
        page.icon.clone_from(&tag.icon);
        page.description.clone_from(&tag.summary);
        let mut below = UniqueNames::default();
        page.pages = children.iter().map_while(|child| self.tag(*child, &page.path, &mut below)).collect();
        Some(page)
    }

    fn page(
        &mut self,
        name: &str,
        title: &str,
        what: GeneratedContent,
        props: Value,
        above: &str,
        taken: &mut UniqueNames,
    ) -> Option<GeneratedPage> {
        self.room = self.room.checked_sub(1)?;
        let title = if title.trim().is_empty() { "Untitled" } else { title };
        let slug = Some(slugify(title)).filter(|slug| !slug.is_empty());
        let slug = taken.take_slug(slug.unwrap_or_else(|| "page".to_owned()), 2);
        let path = if above.is_empty() { slug.clone() } else { format!("{above}/{slug}") };
        Some(GeneratedPage {
            id: generated_id(&self.seed, name),
            title: title.to_owned(),
            icon: None,
            description: None,
            slug,
            path,
            props,
            seed: self.seed.clone(),
            pages: Vec::new(),
            what,
            spec: Arc::clone(self.spec),
        })
    }
}

impl GeneratedPage {
    /// Returns the fields that all pages have.
    pub(in crate::platform) fn base(&self) -> PageBase {
        PageBase {
            id: self.id.clone(),
            title: self.title.clone(),
            emoji: None,
            icon: self.icon.as_deref().and_then(|icon| Icon::new(icon).ok()),
            created_at: None,
            updated_at: None,
            conflicts: Vec::new(),
        }
    }

    /// Finds the first match among this page and its descendants, in depth-first order.
    pub(in crate::platform) fn find(&self, is_it: &dyn Fn(&Self) -> bool) -> Option<&Self> {
        if is_it(self) {
            return Some(self);
        }
        self.pages.iter().find_map(|page| page.find(is_it))
    }

    /// The approximate size in memory, excluding child pages and the specification.
    fn own_bytes(&self) -> u64 {
        let texts = [&self.title, &self.slug, &self.path, &self.seed].map(String::len);
        let texts = texts.iter().sum::<usize>() + self.description.as_ref().map_or(0, String::len);
        // The property names and the tag name.
        (size_of::<Self>() + texts + self.title.len() + 256) as u64
    }

    /// The approximate in-memory size of the specification.
    fn shared_bytes(&self) -> u64 {
        self.spec.pages.bytes
    }

    /// The JSON value of the `computed` field, which identifies the source of the page.
    pub(in crate::platform) fn computed(&self) -> Value {
        let Spec { record, version, .. } = &*self.spec;
        json!({
            "type": OPENAPI,
            "props": self.props,
            "dependencies": { "spec": {
                "ref": { "kind": "openapi", "spec": record.slug },
                "value": {
                    "object": "openapi-spec",
                    "id": record.id,
                    "slug": record.slug,
                    "lastVersion": version,
                },
            } },
        })
    }

    /// Returns a list of links to the child pages.
    fn child_links(&self) -> String {
        self.pages.iter().map(|page| format!("* [{}](/pages/{})\n", label(&page.title), page.id)).collect()
    }

    /// Renders the content as Markdown.
    pub(in crate::platform) fn markdown(&self) -> String {
        self.markdown_within(usize::MAX)
    }

    /// Renders the content as Markdown, with at most `most` operations, webhooks and schemas.
    fn markdown_within(&self, most: usize) -> String {
        let Spec { record, pages, .. } = &*self.spec;
        let target = ContentRef::OpenApi { spec: record.slug.to_string() };
        match &self.what {
            GeneratedContent::Download(url) => format!("[Download the OpenAPI specification](<{url}>)\n"),
            GeneratedContent::Overview => overview::markdown(&pages.outline),
            GeneratedContent::Group => self.child_links(),
            GeneratedContent::Models => {
                let schemas = pages.outline.schemas.iter().take(most).cloned().collect();
                print_block(BlockKind::OpenapiSchemas { schemas, grouped: None, target: Box::new(target) })
            }
            GeneratedContent::Tag(number) => {
                let TagPage { tag, operations, webhooks, .. } = &pages.pages[*number];
                let mut text = tag.description.as_deref().map(escape_text).unwrap_or_default();
                if let Some(docs) = &tag.docs {
                    text.push_str(&format!("\n{}\n", overview::link(docs)));
                }
                if text.is_empty() {
                    // A tag without a description or operations lists its child pages.
                    text = self.child_links();
                }
                let operations = operations.iter().filter_map(|at| pages.outline.operations.get(*at));
                let operations = operations.map(|of| operation_block(of, &target));
                let webhooks = webhooks.iter().filter_map(|at| pages.outline.webhooks.get(*at));
                let webhooks = webhooks.map(|of| webhook_block(of, &target));
                for kind in operations.chain(webhooks).take(most) {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&print_block(kind));
                }
                text
            }
        }
    }
}

fn operation_block(of: &SpecOperation, target: &ContentRef) -> BlockKind {
    let target = Box::new(target.clone());
    BlockKind::OpenapiOperation { path: of.path.clone(), method: of.method.clone(), target }
}

fn webhook_block(of: &SpecOperation, target: &ContentRef) -> BlockKind {
    let target = Box::new(target.clone());
    BlockKind::OpenapiWebhook { name: of.path.clone(), method: of.method.clone(), target }
}

/// Serializes a block as Markdown. Returns an empty string if Markdown cannot represent the block: the path of an
/// operation may contain any characters.
fn print_block(kind: BlockKind) -> String {
    match document::print(&Document::new(vec![Block::new(kind, Vec::new())])) {
        Ok(text) => format!("{}\n", text.trim_end()),
        Err(error) => {
            tracing::debug!(%error, "omit block of specification without a Markdown form");
            String::new()
        }
    }
}

/// Derives the id of a generated page from its name and the seed.
fn generated_id(seed: &str, name: &str) -> PageId {
    let hash = Hash::compute(format!("computed page {name} of {seed}").as_bytes()).to_string();
    let id = hash.get(..26).unwrap_or(&hash).parse();
    id.expect("a hash consists of letters and digits")
}
