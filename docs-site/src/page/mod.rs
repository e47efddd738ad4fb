//! Pages: what stands around the content, and the content itself.

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
    fn new(html: Html, is_indexed: bool) -> Self {
        Self { html: Tagged::of(html), encoded: OnceCell::new(), is_indexed, is_kept: true }
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
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) frame: Arc<Frame>,
    /// The revision that the content is of.
    revision: RevisionId,
    around: Arc<Surroundings>,
    /// The path of the space, with a slash at its end.
    base: String,
    /// The address of the site besides others, with a slash at its end.
    pub(crate) canonical_base: String,
    /// The same page in the spaces beside this one: their places of `places`, and its paths there.
    variants: Vec<(usize, String)>,
}

/// What stands around all pages of a space, for all who are told the same of it: it is read and written once.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The addresses of the site, without page trees: those have a cache of their own.
    addresses: Addresses,
    template: OnceLock<Template>,
    tree: OnceLock<Option<Tree>>,
}

impl Surroundings {
    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let tree = self.tree.get().and_then(Option::as_ref);
        self.addresses.weight()
            + self.template.get().map_or(0, Template::weight)
            + tree.map_or(0, Tree::weight)
    }
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
            // What is kept weighs from the first on what it will.
            scene.template();
            scene.whole_tree();
            caches.surroundings.insert(key, Arc::clone(&scene.around));
        }
        Ok(scene)
    }

    /// What documents are drawn with that is not theirs.
    fn manner(&self) -> Manner {
        let outside = self.look.external_links.target;
        Manner { words: self.words, outside, loads: self.visit.loads() }
    }

    /// The page with slots for what differs.
    fn template(&self) -> &Template {
        self.around.template.get_or_init(|| shell::template(self))
    }

    /// The tree of pages; `None` where that is too large for a page.
    fn whole_tree(&self) -> Option<&Tree> {
        self.around.tree.get_or_init(|| Tree::whole(self)).as_ref()
    }

    /// Looks for an entry in the spaces beside this one.
    ///
    /// # Errors
    /// The platform's.
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
    // Before the page adds to what is known of other spaces: what stands around it is the same on all pages.
    scene.template();
    let space = scene.addresses.space.clone();
    let body = Body::find(caches, &scene, at).await?;
    let (mut gathered, mut specs) = (Gathered::default(), Specs::new());
    if let Some(references) = body.references() {
        gathered = gather(visit, caches, references, &mut scene.addresses).await?;
        specs = gather_specs(visit, (&space, &id), &gathered).await?;
    }
    scene.find_variants(caches, at).await?;
    // A specification that is not there yet may come at any time.
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

/// Room for the content of most pages, in bytes.
const ROOM: usize = 32 * 1024;
