//! Rendering of pages: layout and content.

mod around;
mod body;
mod compare;
mod head;
mod listing;
mod missing;
mod parts;
mod search;
mod shell;
mod template;
mod tree;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use docs_core::{
    Error, Result,
    model::{ContentRef, Customization, RevisionId},
};
use tokio::sync::OnceCell;

use crate::{
    address::{Addresses, Place, encoded},
    answer::gzipped,
    cache::{Caches, SpaceKey, Tagged},
    frame::{EntryKind, Frame},
    gather::{Gathered, Reused, Specs, gather, gather_references, gather_spaces, gather_specs},
    html::Html,
    render::{Counter, Manner, Renderer},
    visit::Visit,
    words::Words,
};

use self::{body::Body, template::Template, tree::Tree};
pub(crate) use self::{
    compare::compare_page,
    listing::{Part, list_page},
    missing::{bare_page, missing_page, moved_page, sign_in_page},
    search::{Found, Outcome, results_as_json, search, search_page},
    tree::is_listed_in_parts,
};

/// A rendered page.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) html: Tagged,
    /// The gzip-compressed page, filled on first use; the inner `None` means that compression failed.
    encoded: OnceCell<Option<Bytes>>,
    /// `true` if search engines may index it.
    pub(crate) is_indexed: bool,
    /// `true` if the cache key covers everything that the page depends on. OpenAPI specifications change
    /// independently of the content that shows them, so pages that show them are not cached.
    pub(crate) is_kept: bool,
}

impl Rendered {
    fn new(html: Html, is_indexed: bool) -> Self {
        Self { html: Tagged::of(html), encoded: OnceCell::new(), is_indexed, is_kept: true }
    }

    /// The gzip-compressed page, compressed on first use.
    pub(crate) async fn encoded(&self) -> Option<Bytes> {
        self.encoded.get_or_init(|| gzipped(&self.html.bytes)).await.clone()
    }

    /// The approximate memory in bytes, including the compressed form: a cache weighs a page only once, on
    /// insertion.
    pub(crate) fn weight(&self) -> usize {
        self.html.bytes.len() + self.html.bytes.len() / 3
    }
}

/// The context for rendering a page of a site.
#[derive(Debug)]
pub(crate) struct Scene<'s> {
    pub(crate) visit: &'s Visit,
    pub(crate) place: Place<'s>,
    pub(crate) places: Vec<Place<'s>>,
    pub(crate) look: &'s Customization,
    pub(crate) words: &'static Words,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) frame: Arc<Frame>,
    /// The revision of the content.
    revision: RevisionId,
    around: Arc<Surroundings>,
    /// The path of the space, with a trailing slash.
    base: String,
    /// The canonical address of the site, with a trailing slash.
    pub(crate) canonical_base: String,
    /// The same page in the variants of this space: positions in `places`, and paths of the page.
    variants: Vec<(usize, String)>,
}

/// The layout around all pages of a space, for all visitors with the same view of it. It is built once.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The addresses of the site, without page trees, which have a cache of their own.
    addresses: Addresses,
    template: OnceLock<Template>,
    tree: OnceLock<Option<Tree>>,
}

impl Surroundings {
    /// The approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        let tree = self.tree.get().and_then(Option::as_ref);
        self.addresses.weight()
            + self.template.get().map_or(0, Template::weight)
            + tree.map_or(0, Tree::weight)
    }
}

/// The maximum number of other variants that are searched for a page.
const MAX_VARIANTS: usize = 20;

impl<'s> Scene<'s> {
    /// Loads the context for the pages of the requested space.
    ///
    /// # Errors
    /// Those of the platform.
    pub(crate) async fn of(visit: &'s Visit, caches: &Caches) -> Result<Self> {
        Self::at(visit, caches, visit.place()?).await
    }

    /// Loads the context for the pages of any space of the site.
    ///
    /// # Errors
    /// Those of the platform.
    pub(crate) async fn at(visit: &'s Visit, caches: &Caches, place: Place<'s>) -> Result<Self> {
        let (key, frame) = visit.named_frame(caches, &place).await?;
        let (look, revision) = (visit.look(&place.space.id), key.revision.clone());
        let key = visit.is_live().then(|| SpaceKey::of(visit, (key, &place.space.id)));
        let kept = key.as_ref().and_then(|key| caches.surroundings.get(key));
        let is_kept = kept.is_some();
        let around = match kept {
            Some(around) => around,
            None => Arc::new(Surroundings {
                addresses: visit.addresses(&place),
                template: OnceLock::new(),
                tree: OnceLock::new(),
            }),
        };
        let mut addresses = around.addresses.clone();
        addresses.frames.insert(addresses.space.clone(), Arc::clone(&frame));
        let mut addresses = Arc::new(addresses);
        gather_spaces(visit, caches, &frame.linked, &mut addresses).await?;
        gather_references(visit, caches, targets_of(look), &mut addresses).await?;
        let scene = Self {
            visit,
            canonical_base: visit.canonical_base(&visit.place()?),
            base: format!("{}{}", visit.found.site_base_path, place.path),
            places: visit.places(),
            place,
            look,
            words: Words::of(look.internationalization.locale),
            addresses,
            frame,
            revision,
            around,
            variants: Vec::new(),
        };
        if let Some(key) = key.filter(|_| !is_kept && !scene.addresses.is_passing) {
            // Fills the layout before it is cached, because the cache weighs it only on insertion.
            scene.template();
            scene.whole_tree();
            caches.surroundings.insert(key, Arc::clone(&scene.around));
        }
        Ok(scene)
    }

    /// The render options of documents.
    fn manner(&self) -> Manner {
        let outside = self.look.external_links.target;
        Manner { words: self.words, outside, loads: self.visit.loads() }
    }

    /// The page template.
    fn template(&self) -> &Template {
        self.around.template.get_or_init(|| shell::template(self))
    }

    /// The page tree; `None` if it is too large for a page.
    fn whole_tree(&self) -> Option<&Tree> {
        self.around.tree.get_or_init(|| Tree::whole(self)).as_ref()
    }

    /// Looks up a page in the variants of this space.
    ///
    /// # Errors
    /// Those of the platform.
    async fn find_variants(&mut self, caches: &Caches, at: usize) -> Result<()> {
        let Some(entry) = self.frame.entries.get(at) else { return Ok(()) };
        let path = if self.frame.first() == Some(at) { "" } else { &*entry.path };
        let (mut found, mut looked, mut is_passing) = (Vec::new(), 0, false);
        for (number, place) in self.beside() {
            if place.space.id == self.place.space.id {
                found.push((number, encoded(path)));
                continue;
            }
            looked += 1;
            if looked > MAX_VARIANTS {
                continue;
            }
            let (key, frame) = self.visit.named_frame(caches, place).await?;
            is_passing |= !key.follows_from(place);
            if frame.find(path).is_some_and(|at| frame.entries[at].kind == EntryKind::Document) {
                found.push((number, encoded(path)));
            }
        }
        self.variants = found;
        if is_passing {
            Arc::make_mut(&mut self.addresses).is_passing = true;
        }
        Ok(())
    }

    /// The variants of this space, including itself, with their positions in `places`.
    fn beside(&self) -> impl Iterator<Item = (usize, &Place<'s>)> {
        let section = self.place.section.map(|section| &section.id);
        self.places.iter().enumerate().filter(move |(_, place)| place.section.map(|of| &of.id) == section)
    }

    /// The path of a variant below the site: of the same page if it exists there, otherwise of the space.
    fn variant_path(&self, (number, place): (usize, &Place<'_>)) -> String {
        let same = self.variants.iter().find(|(of, _)| *of == number).map_or("", |(_, path)| path.as_str());
        format!("{}{same}", place.path)
    }

    /// The page in each language of the site: HTML language code and address. Empty if there is only one
    /// language, or if the address of the site is unknown.
    fn alternates(&self) -> Vec<(&'static str, String)> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let own = self.places.iter().position(|place| place.space.id == self.place.space.id);
        // The page's own space takes precedence over other spaces in the same language.
        let first = self.variants.iter().filter(|(number, _)| Some(*number) == own);
        for (number, path) in first.chain(&self.variants).filter(|_| self.visit.has_address()) {
            let place = &self.places[*number];
            let look = self.visit.look(&place.space.id);
            let language = Words::of(look.internationalization.locale).language;
            if found.iter().all(|(known, _)| *known != language) {
                let below = format!("{}{path}", place.path);
                found.push((language, self.visit.address(&self.canonical_base, &below)));
            }
        }
        if found.len() > 1 { found } else { Vec::new() }
    }

    /// The path of the space, with a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The path of the site, with a trailing slash.
    pub(crate) fn site_base(&self) -> &str {
        &self.visit.found.site_base_path
    }

    pub(crate) fn title(&self) -> &str {
        self.visit.title_of(self.look)
    }

    /// The canonical address of an entry; `None` if the address of the site is unknown.
    pub(crate) fn canonical(&self, at: usize) -> Option<String> {
        if !self.visit.has_address() {
            return None;
        }
        let own = self.addresses.of_entry(&self.addresses.space, &self.frame, at)?;
        Some(self.visit.address(&self.canonical_base, own.strip_prefix(self.site_base())?))
    }
}

/// The targets of the links in a site's header, footer and announcement.
fn targets_of(look: &Customization) -> impl Iterator<Item = &ContentRef> {
    let header = look
        .header
        .links
        .iter()
        .flat_map(|link| link.to.iter().chain(link.links.iter().map(|link| &link.to)));
    let footer = look.footer.groups.iter().flat_map(|group| group.links.iter().map(|link| &link.to));
    let announced = look.announcement.iter().flat_map(|it| it.link.iter().map(|link| &link.to));
    header.chain(footer).chain(announced)
}

/// Renders a page of the requested space.
///
/// # Errors
/// Those of the platform; `NotFound` for a page that was removed in the meantime.
pub(crate) async fn document_page(visit: &Visit, caches: &Caches, at: usize) -> Result<Rendered> {
    document_page_of(visit, caches, (visit.place()?, at)).await
}

/// Renders a page of any space of the site.
///
/// # Errors
/// Same as [`document_page`].
pub(crate) async fn document_page_of(
    visit: &Visit,
    caches: &Caches,
    (place, at): (Place<'_>, usize),
) -> Result<Rendered> {
    let mut scene = Scene::at(visit, caches, place).await?;
    let id = scene.frame.entries.get(at).map(|entry| entry.id.clone());
    let id = id.ok_or_else(|| Error::not_found("page"))?;
    // The template is built before the page adds page trees to the addresses, because it is shared by all
    // pages.
    scene.template();
    let space = scene.addresses.space.clone();
    let body = Body::find(caches, &scene, at).await?;
    let (mut gathered, mut specs) = (Gathered::default(), Specs::new());
    if let Some(references) = body.references() {
        gathered = gather(visit, caches, references, &mut scene.addresses).await?;
        specs = gather_specs(visit, (&space, &id), &gathered).await?;
    }
    scene.find_variants(caches, at).await?;
    // A missing specification may be added at any time.
    let is_kept = !gathered.shows_specs() && !scene.addresses.is_passing;
    let html = draw(&scene, at, (&body, &gathered.reused, &specs));
    let is_indexed = visit.site.site.visibility == docs_core::model::SiteVisibility::Public
        && !scene.frame.entries[at].is_unindexed;
    Ok(Rendered { is_kept, ..Rendered::new(html, is_indexed) })
}

fn draw(scene: &Scene<'_>, at: usize, (body, reused, specs): (&Body, &Reused, &Specs)) -> Html {
    let counter = Counter::default();
    let manner = scene.manner();
    let renderer = Renderer {
        addresses: &scene.addresses,
        reused,
        specs,
        words: manner.words,
        outside: manner.outside,
        counter: &counter,
        gaps: None,
    };
    let write = |html: &mut Html| body.write(html, &renderer);
    let write = (!matches!(body, Body::None)).then_some(write);
    let main = |html: &mut Html| around::write_article(html, (scene, at), write.as_ref());
    let aside = |html: &mut Html| body.write_outline(html, (scene, at));
    shell::shell(scene, &head::page_head(scene, at), ROOM, (main, aside))
}

/// The initial buffer capacity in bytes, sufficient for the content of most pages.
const ROOM: usize = 32 * 1024;
