//! Pages: what stands around the content, and the content itself.

mod around;
mod compare;
mod head;
mod missing;
mod parts;
mod search;
mod shell;
mod tree;

use std::sync::Arc;

use bytes::Bytes;
use docs_core::{
    Error, Result,
    content::Evaluated,
    model::{ContentFormat, ContentRef, Customization, DocumentPage, RevisionPage},
    platform::Shown,
};
use tokio::sync::OnceCell;

use crate::{
    address::{Addresses, Place, encoded},
    answer::gzipped,
    cache::{Caches, Tagged},
    frame::{EntryKind, Frame},
    gather::{Reused, Specs, gather, gather_references, gather_specs, shows_specs},
    render::{Counter, Renderer, outline},
    visit::Visit,
    words::Words,
};

pub(crate) use self::{
    compare::compare_page,
    missing::{bare_page, missing_page, moved_page, sign_in_page},
    search::{Found, Outcome, results_as_json, search, search_page},
};

/// A page as it is sent.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) html: Tagged,
    /// The page as gzip has it, once somebody asked for that; `None` within where it cannot be encoded.
    encoded: OnceCell<Option<Bytes>>,
    /// Whether search engines may list it.
    pub(crate) is_indexed: bool,
    /// Whether all that it was made of is in its key: specifications change without the content that shows them.
    pub(crate) is_kept: bool,
}

impl Rendered {
    fn new(html: String, is_indexed: bool) -> Self {
        Self { html: Tagged::new(html), encoded: OnceCell::new(), is_indexed, is_kept: true }
    }

    /// The page as gzip has it, which is made when it is asked for first.
    pub(crate) async fn encoded(&self) -> Option<Bytes> {
        self.encoded.get_or_init(|| gzipped(&self.html.bytes)).await.clone()
    }

    /// About how many bytes it takes, with room for its other form: a cache weighs a page once.
    pub(crate) fn weight(&self) -> usize {
        self.html.bytes.len() + self.html.bytes.len() / 3
    }
}

/// What every page of a site is drawn with.
#[derive(Debug)]
pub(crate) struct Scene<'s> {
    pub(crate) visit: &'s Visit,
    pub(crate) place: Place<'s>,
    pub(crate) places: Vec<Place<'s>>,
    pub(crate) look: &'s Customization,
    pub(crate) words: &'static Words,
    pub(crate) addresses: Addresses,
    pub(crate) frame: Arc<Frame>,
    /// The path of the space, with a slash at its end.
    base: String,
    /// The address of the site besides others, with a slash at its end.
    pub(crate) canonical_base: String,
    /// The same page in the spaces beside this one: their places of `places`, and its paths there.
    variants: Vec<(usize, String)>,
}

/// Most spaces of a section in which a page is looked for beside its own.
const MAX_VARIANTS: usize = 20;

impl<'s> Scene<'s> {
    /// Reads what the pages of a space are drawn with.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) async fn of(visit: &'s Visit, caches: &Caches) -> Result<Self> {
        Self::at(visit, caches, visit.place()?).await
    }

    /// The same for another space of the site.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) async fn at(visit: &'s Visit, caches: &Caches, place: Place<'s>) -> Result<Self> {
        let look = visit.look(&place.space.id);
        let frame = visit.frame(caches, &place).await?;
        let mut addresses = visit.addresses(&place);
        addresses.frames.insert(addresses.space.clone(), Arc::clone(&frame));
        let links = frame.entries.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Link(target) => Some(target),
            EntryKind::Document | EntryKind::Group | EntryKind::Computed => None,
        });
        gather_references(visit, caches, links.chain(targets_of(look)), &mut addresses).await?;
        Ok(Self {
            visit,
            canonical_base: visit.canonical_base(&visit.place()?),
            base: format!("{}{}", visit.found.site_base_path, place.path),
            places: visit.places(),
            place,
            look,
            words: Words::of(look.internationalization.locale),
            addresses,
            frame,
            variants: Vec::new(),
        })
    }

    /// Looks for an entry in the spaces beside this one.
    ///
    /// # Errors
    /// The platform's.
    async fn find_variants(&mut self, caches: &Caches, at: usize) -> Result<()> {
        let Some(entry) = self.frame.entries.get(at) else { return Ok(()) };
        let path = if self.frame.first() == Some(at) { "" } else { entry.path.as_str() };
        let (mut found, mut looked) = (Vec::new(), 0);
        for (number, place) in self.beside() {
            if place.space.id == self.place.space.id {
                found.push((number, encoded(path)));
                continue;
            }
            looked += 1;
            if looked > MAX_VARIANTS {
                continue;
            }
            let frame = self.visit.frame(caches, place).await?;
            if frame.find(path).is_some_and(|at| frame.entries[at].kind == EntryKind::Document) {
                found.push((number, encoded(path)));
            }
        }
        self.variants = found;
        Ok(())
    }

    /// The spaces to choose from where this one is, itself among them, with their places.
    fn beside(&self) -> impl Iterator<Item = (usize, &Place<'s>)> {
        let section = self.place.section.map(|section| &section.id);
        self.places.iter().enumerate().filter(move |(_, place)| place.section.map(|of| &of.id) == section)
    }

    /// The path below the site of a space beside this one: of the same page, where it has that.
    fn variant_path(&self, (number, place): (usize, &Place<'_>)) -> String {
        let same = self.variants.iter().find(|(of, _)| *of == number).map_or("", |(_, path)| path.as_str());
        format!("{}{same}", place.path)
    }

    /// The page in the languages of the site, its own among them: how HTML names these, and its addresses. Nothing
    /// where there is only one, or where nobody knows where the site is.
    fn alternates(&self) -> Vec<(&'static str, String)> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let own = self.places.iter().position(|place| place.space.id == self.place.space.id);
        // Of two spaces in one language the page's own is the one.
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

    /// The path of the space, with a slash at its end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The path of the site, with a slash at its end.
    pub(crate) fn site_base(&self) -> &str {
        &self.visit.found.site_base_path
    }

    /// The title of the site.
    pub(crate) fn title(&self) -> &str {
        self.visit.title_of(self.look)
    }

    /// The address of an entry that it has besides others; `None` where nobody knows it.
    pub(crate) fn canonical(&self, at: usize) -> Option<String> {
        if !self.visit.has_address() {
            return None;
        }
        let own = self.addresses.of_entry(&self.addresses.space, &self.frame, at)?;
        Some(self.visit.address(&self.canonical_base, own.strip_prefix(self.site_base())?))
    }
}

/// Where the links of a site's header and footer lead.
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

/// Draws a page of a space.
///
/// # Errors
/// The platform's; `NotFound` for a page that was removed just now.
pub(crate) async fn document_page(visit: &Visit, caches: &Caches, at: usize) -> Result<Rendered> {
    document_page_of(visit, caches, (visit.place()?, at)).await
}

/// The same for any space of the site.
///
/// # Errors
/// As of [`document_page`].
pub(crate) async fn document_page_of(
    visit: &Visit,
    caches: &Caches,
    (place, at): (Place<'_>, usize),
) -> Result<Rendered> {
    let mut scene = Scene::at(visit, caches, place).await?;
    let id = scene.frame.entries.get(at).map(|entry| entry.id.clone());
    let id = id.ok_or_else(|| Error::not_found("page"))?;
    let shown = Shown { format: ContentFormat::Document, evaluated: Evaluated::Yes, ..Shown::default() };
    let space = scene.addresses.space.clone();
    let page = match visit.content(&space).get_page(&id, shown).await? {
        RevisionPage::Document(page) => *page,
        _ => return Err(Error::not_found("page")),
    };
    let (mut reused, mut specs, mut is_kept) = (Reused::new(), Specs::new(), true);
    if let Some(document) = &page.document {
        reused = gather(visit, caches, document, &mut scene.addresses).await?;
        specs = gather_specs(visit, (&space, &id), (document, &reused)).await?;
        // One that is not there yet may come at any time.
        is_kept = !shows_specs(document) && !reused.values().any(shows_specs);
    }
    scene.find_variants(caches, at).await?;
    let html = draw(&scene, (&page, at), (&reused, &specs));
    let is_indexed =
        visit.site.site.visibility == docs_core::model::SiteVisibility::Public && !page.no_robots_index;
    Ok(Rendered { is_kept, ..Rendered::new(html, is_indexed) })
}

fn draw(scene: &Scene<'_>, (page, at): (&DocumentPage, usize), (reused, specs): (&Reused, &Specs)) -> String {
    let counter = Counter::default();
    let renderer = Renderer {
        addresses: &scene.addresses,
        reused,
        specs,
        words: scene.words,
        outside: scene.look.external_links.target,
        counter: &counter,
    };
    let body = page.document.as_ref().map(|document| renderer.document(document));
    let headings = page.document.as_ref().map(outline).unwrap_or_default();
    shell::shell(
        scene,
        &head::page_head(scene, page, at),
        &around::article(scene, page, at, body),
        &around::aside(scene, page, &headings),
    )
    .into_string()
}
