//! The pages of a specification at the location of a computed page.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{OPENAPI, OpenApiSource, Spec, outline::TagPage};
use crate::{
    content::{PageEntry, UniqueNames, document, slugify},
    model::{Block, BlockKind, ContentRef, Document, PageId},
    ports::SpecOperation,
    store::Hash,
};

/// The location of a computed page.
pub(in crate::platform) struct Place<'a> {
    pub(in crate::platform) id: &'a PageId,
    /// The path of its parent; empty at the top level.
    pub(in crate::platform) above: &'a str,
    /// The slugs of its siblings. Those of the generated pages are added.
    pub(in crate::platform) beside: &'a mut UniqueNames,
}

/// A generated page.
#[derive(Clone)]
pub(in crate::platform) struct MadePage {
    pub(in crate::platform) id: PageId,
    pub(in crate::platform) title: String,
    pub(in crate::platform) icon: Option<String>,
    pub(in crate::platform) description: Option<String>,
    pub(in crate::platform) slug: String,
    pub(in crate::platform) path: String,
    props: Value,
    /// The seed of its id.
    pub(in crate::platform) seed: String,
    /// Its child pages.
    pub(in crate::platform) pages: Vec<MadePage>,
    what: What,
    spec: Arc<Spec>,
}

/// The content of a generated page.
#[derive(Clone)]
enum What {
    /// The tag with this index.
    Tag(usize),
    /// All schemas.
    Models,
    /// A link to this URL of the document.
    Download(String),
}

/// Generates the pages of one location.
struct Maker<'a> {
    spec: &'a Arc<Spec>,
    seed: String,
    /// The number of pages that may still be generated.
    room: usize,
}

/// The number of pages that a specification generates in one location.
pub(super) fn wanted(spec: &Spec, source: &OpenApiSource) -> usize {
    let has_models = source.models && !spec.pages.outline.schemas.is_empty();
    let has_download = source.download && spec.published.is_some();
    spec.pages.pages.len() + usize::from(has_models) + usize::from(has_download)
}

/// Generates the first pages of a specification, at most `room`, at the location of a computed page.
pub(super) fn place(
    spec: &Arc<Spec>,
    room: usize,
    source: &OpenApiSource,
    entry: &PageEntry,
    at: Place<'_>,
) -> Vec<MadePage> {
    let seed = entry.computed_seed.clone().unwrap_or_else(|| at.id.to_string());
    let mut maker = Maker { spec, seed, room };
    let taken = at.beside;
    let mut made: Vec<MadePage> =
        spec.pages.roots.iter().map_while(|tag| maker.tag(*tag, at.above, taken)).collect();
    if source.models && !spec.pages.outline.schemas.is_empty() {
        let props = json!({ "doc": "models" });
        made.extend(maker.page("models", "Schemas", What::Models, props, at.above, &mut *taken));
    }
    if let Some(url) = spec.published.clone().filter(|_| source.download) {
        let props = json!({ "doc": "info", "page": "download" });
        made.extend(maker.page("download", "Download", What::Download(url), props, at.above, taken));
    }
    made
}

impl Maker<'_> {
    /// The page of a tag with its descendants.
    fn tag(&mut self, number: usize, above: &str, taken: &mut UniqueNames) -> Option<MadePage> {
        let spec = Arc::clone(self.spec);
        let TagPage { tag, operations, webhooks, children } = &spec.pages.pages[number];
        let doc = if operations.is_empty() && webhooks.is_empty() { "info" } else { "operations" };
        let props = json!({ "doc": doc, "page": tag.name });
        let title = tag.title.as_deref().unwrap_or(&tag.name);
        let name = format!("tag {}", tag.name);
        let mut page = self.page(&name, title, What::Tag(number), props, above, taken)?;
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
        what: What,
        props: Value,
        above: &str,
        taken: &mut UniqueNames,
    ) -> Option<MadePage> {
        self.room = self.room.checked_sub(1)?;
        let title = if title.trim().is_empty() { "Untitled" } else { title };
        let slug = Some(slugify(title)).filter(|slug| !slug.is_empty());
        let slug = taken.take_slug(slug.unwrap_or_else(|| "page".to_owned()), 2);
        let path = if above.is_empty() { slug.clone() } else { format!("{above}/{slug}") };
        Some(MadePage {
            id: made_id(&self.seed, name),
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

impl MadePage {
    /// Finds the first page that matches among this page and its descendants.
    pub(in crate::platform) fn find(&self, is_it: &dyn Fn(&Self) -> bool) -> Option<&Self> {
        if is_it(self) {
            return Some(self);
        }
        self.pages.iter().find_map(|page| page.find(is_it))
    }

    /// The approximate size in memory, without its child pages and its specification.
    pub(super) fn own_bytes(&self) -> u64 {
        let texts = [&self.title, &self.slug, &self.path, &self.seed].map(String::len);
        let texts = texts.iter().sum::<usize>() + self.description.as_ref().map_or(0, String::len);
        // The names of properties, and the name of the tag.
        (size_of::<Self>() + texts + self.title.len() + 256) as u64
    }

    /// The approximate size of its specification in memory.
    pub(super) fn shared_bytes(&self) -> u64 {
        self.spec.pages.bytes
    }

    /// The `computed` value that states its source.
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

    /// Its content as Markdown.
    pub(in crate::platform) fn markdown(&self) -> String {
        let Spec { record, pages, .. } = &*self.spec;
        let target = ContentRef::OpenApi { spec: record.slug.to_string() };
        match &self.what {
            What::Download(url) => format!("[Download the OpenAPI specification](<{url}>)\n"),
            What::Models => {
                let schemas = pages.outline.schemas.clone();
                printed(BlockKind::OpenapiSchemas { schemas, grouped: None, target: Box::new(target) })
            }
            What::Tag(number) => {
                let TagPage { tag, operations, webhooks, .. } = &pages.pages[*number];
                let mut text = tag.description.as_deref().map(foreign).unwrap_or_default();
                if text.is_empty() {
                    // A tag without a description and operations lists its child pages.
                    let links = self
                        .pages
                        .iter()
                        .map(|page| format!("* [{}](/pages/{})\n", label(&page.title), page.id));
                    text = links.collect();
                }
                let block =
                    |SpecOperation { method, path, .. }: &SpecOperation| BlockKind::OpenapiOperation {
                        path: path.clone(),
                        method: method.clone(),
                        target: Box::new(target.clone()),
                    };
                let hook = |SpecOperation { method, path, .. }: &SpecOperation| BlockKind::OpenapiWebhook {
                    name: path.clone(),
                    method: method.clone(),
                    target: Box::new(target.clone()),
                };
                let operations =
                    operations.iter().filter_map(|at| pages.outline.operations.get(*at)).map(block);
                let webhooks = webhooks.iter().filter_map(|at| pages.outline.webhooks.get(*at)).map(hook);
                for kind in operations.chain(webhooks) {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&printed(kind));
                }
                text
            }
        }
    }
}

/// Prints a block as Markdown. A block that Markdown cannot represent is omitted: a path may be any text.
fn printed(kind: BlockKind) -> String {
    match document::print(&Document::new(vec![Block::new(kind, Vec::new())])) {
        Ok(text) => format!("{}\n", text.trim_end()),
        Err(error) => {
            tracing::debug!(%error, "omit block of specification without a Markdown form");
            String::new()
        }
    }
}

/// Escapes text of a specification, so that it contains no template tags.
fn foreign(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("{}\n", text.replace("{%", "\\{%")) }
}

/// Escapes a title as link text.
fn label(title: &str) -> String {
    let is_special = |c: char| c.is_ascii_punctuation();
    title.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The id of a generated page, derived from its name and the seed.
fn made_id(seed: &str, name: &str) -> PageId {
    let hash = Hash::of(format!("computed page {name} of {seed}").as_bytes()).to_string();
    let id = hash.get(..26).unwrap_or(&hash).parse();
    id.expect("a hash consists of letters and digits")
}
