//! URLs in pages: URL safety and reference resolution.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use docs_core::{
    content::document::decode_anchor,
    model::{
        ContentRef, FileId, PageId, PublishedSite, RevisionFile, SiteExternalLink, SiteSection, SiteSpace,
        SiteSpaceId, SiteStructure, SiteStructureNode, SpaceId,
    },
    platform::{EntityTag, PageAddress, PageSearch},
};
use percent_encoding::utf8_percent_encode;

use crate::{
    encode::{SEGMENT, encode_path},
    page_tree::PageTree,
    space_files::SpaceFiles,
};

/// URL schemes that a link may use.
const SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];
/// The maximum depth of section groups; deeper groups are ignored.
const MAX_GROUPS: usize = 16;

/// Returns the URL if a page may link to it: an http(s), mailto or tel URL, or a relative one. Returns `None`
/// for any other scheme, such as `javascript:`.
pub(crate) fn safe_link(url: &str) -> Option<Cow<'_, str>> {
    // Browsers ignore these characters anywhere in a URL, so they could disguise a scheme.
    let is_passed_over = |c: char| c.is_control() || c == '\u{feff}';
    let url: Cow<'_, str> = match url.trim() {
        url if url.contains(is_passed_over) => Cow::Owned(url.replace(is_passed_over, "")),
        url => Cow::Borrowed(url),
    };
    let scheme =
        url.split(['/', '?', '#']).next().unwrap_or_default().split_once(':').map(|(scheme, _)| scheme);
    let is_allowed = match scheme {
        None => !url.is_empty(),
        Some(scheme) => SCHEMES.iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed)),
    };
    is_allowed.then_some(url)
}

/// Returns the URL if it is an absolute http(s) URL.
fn safe_image(url: &str) -> Option<Cow<'_, str>> {
    safe_link(url).filter(|url| {
        let start = url.get(..8).unwrap_or(url).to_ascii_lowercase();
        start.starts_with("http://") || start.starts_with("https://")
    })
}

/// Returns the URL of the Markdown version of a page.
pub(crate) fn to_markdown_address(address: &str) -> String {
    if address.ends_with('/') { format!("{address}index.md") } else { format!("{address}.md") }
}

/// A space of a site with its section and path.
#[derive(Clone, Debug)]
pub(crate) struct SitePlace<'s> {
    pub(crate) section: Option<&'s SiteSection>,
    pub(crate) space: &'s SiteSpace,
    /// The path below the site, with a slash after each segment.
    pub(crate) path: String,
}

/// Returns all spaces of a site in order.
pub(crate) fn places(site: &PublishedSite) -> Vec<SitePlace<'_>> {
    match &site.structure {
        SiteStructure::SiteSpaces(spaces) => spaces.iter().map(|space| place(None, space)).collect(),
        SiteStructure::Sections(items) => sections(items)
            .into_iter()
            .flat_map(|section| section.site_spaces.iter().map(move |space| place(Some(section), space)))
            .collect(),
    }
}

/// An entry of the section bar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SectionOrLink<'s> {
    Section(&'s SiteSection),
    Link(&'s SiteExternalLink),
}

/// Returns all sections in order, including those in groups.
pub(crate) fn sections(items: &[SiteStructureNode]) -> Vec<&SiteSection> {
    let sections = sections_and_links(items).into_iter().filter_map(|entry| match entry {
        SectionOrLink::Section(section) => Some(section),
        SectionOrLink::Link(_) => None,
    });
    sections.collect()
}

/// Returns all sections and external links in order, including those in groups.
pub(crate) fn sections_and_links(items: &[SiteStructureNode]) -> Vec<SectionOrLink<'_>> {
    let mut found = Vec::new();
    let mut stack: Vec<(&SiteStructureNode, usize)> = items.iter().rev().map(|item| (item, 0)).collect();
    while let Some((item, depth)) = stack.pop() {
        match item {
            SiteStructureNode::Section(section) => found.push(SectionOrLink::Section(section)),
            SiteStructureNode::Link(link) => found.push(SectionOrLink::Link(link)),
            SiteStructureNode::Group(group) if depth < MAX_GROUPS => {
                stack.extend(group.children.iter().rev().map(|item| (item, depth + 1)));
            }
            SiteStructureNode::Group(_) => {}
        }
    }
    found
}

fn place<'s>(section: Option<&'s SiteSection>, space: &'s SiteSpace) -> SitePlace<'s> {
    let mut path = String::new();
    let named = section.filter(|section| !section.default).map(|section| section.path.as_str());
    let own = (!space.default).then_some(space.path.as_str());
    for segment in named.into_iter().chain(own) {
        path.push_str(&utf8_percent_encode(segment, SEGMENT).to_string());
        path.push('/');
    }
    SitePlace { section, space, path }
}

/// The URL of a link to a missing page in exported Markdown. It is not an address.
const BROKEN_REFERENCE: &str = "broken-reference";

/// The URL and name of a referenced item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReferenceTarget {
    /// The URL, or `None` if the visitor has no access or the target does not exist.
    pub(crate) href: Option<String>,
    pub(crate) name: Option<String>,
    /// `true` if the URL is outside the site.
    pub(crate) is_outside: bool,
}

/// The pages of a space that references can resolve to.
#[derive(Clone, Debug)]
pub(crate) enum LinkedPages {
    /// All pages.
    Tree(Arc<PageTree>),
    /// The pages of a large space that have been looked up. `None` for a page that is missing or hidden.
    LookedUp(HashMap<PageId, Option<PageAddress>>),
}

impl LinkedPages {
    /// Returns the title of a page and its percent-encoded path below the space.
    fn page(&self, id: &PageId) -> Option<(String, String)> {
        match self {
            Self::Tree(frame) => {
                let at = frame.page(id)?;
                Some((frame.entries[at].title.to_string(), frame.address(at)))
            }
            Self::LookedUp(pages) => {
                let page = pages.get(id)?.as_ref()?;
                Some((page.title.clone(), encode_path(&page.path)))
            }
        }
    }
}

/// Resolves the references in the content of one space.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// The path of the site, with a trailing slash.
    pub(crate) site_base: String,
    /// The space that contains the references.
    pub(crate) space: SpaceId,
    /// The spaces of the site, each with its path below the site and its title.
    spaces: Arc<HashMap<SpaceId, (String, String)>>,
    /// The pages of the referenced spaces.
    pub(crate) linked: HashMap<SpaceId, LinkedPages>,
    /// The number of pages visited for `linked`.
    pub(crate) search: PageSearch,
    /// The files that the rendered content references.
    pub(crate) files: HashMap<SpaceId, Arc<SpaceFiles>>,
    loads: ImageSchemes,
    /// The spaces whose page trees contain computed pages, each with the ETag of the sources. The rendered output then
    /// depends on these sources too.
    pub(crate) computed: Vec<(SpaceId, EntityTag)>,
    /// `true` if a space that the site lists was missing or newer than the site record, or if conditions were not
    /// evaluated. The rendered output then must not be cached under the site record.
    pub(crate) is_passing: bool,
}

/// The URL schemes of external images that pages load. Must match the [content security
/// policy](crate::response::content_security_policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageSchemes {
    /// https only.
    Encrypted,
    /// http and https, because the pages themselves are served over http.
    Any,
}

impl Addresses {
    /// Creates the URLs of a site, as seen from one of its spaces.
    pub(crate) fn new(places: &[SitePlace<'_>], site_base: &str, space: &SpaceId) -> Self {
        let spaces = places
            .iter()
            .map(|place| (place.space.space.id.clone(), (place.path.clone(), place.space.title.clone())))
            .collect::<HashMap<_, _>>();
        Self {
            site_base: site_base.to_owned(),
            space: space.clone(),
            spaces: Arc::new(spaces),
            linked: HashMap::new(),
            search: PageSearch::default(),
            files: HashMap::new(),
            loads: ImageSchemes::Encrypted,
            computed: Vec::new(),
            is_passing: false,
        }
    }

    /// Sets the URL schemes of external images that pages load.
    pub(crate) fn with_image_schemes(self, loads: ImageSchemes) -> Self {
        Self { loads, ..self }
    }

    /// Returns the URL if an image may be loaded from it.
    pub(crate) fn allowed_image_url<'u>(&self, url: &'u str) -> Option<Cow<'u, str>> {
        let is_plain = |url: &str| url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:"));
        safe_image(url).filter(|url| self.loads == ImageSchemes::Any || !is_plain(url))
    }

    /// Records that the rendered output depends on the sources of the computed pages of a space.
    pub(crate) fn add_dependency(&mut self, space: &SpaceId, computed: EntityTag) {
        if self.computed.iter().all(|(known, _)| known != space) {
            self.computed.push((space.clone(), computed));
        }
    }

    /// Returns `true` if the rendered output depends only on the site record.
    pub(crate) const fn is_site_only(&self) -> bool {
        !self.is_passing && self.computed.is_empty()
    }

    /// Returns the same URLs, as seen from another space of the site.
    pub(crate) fn for_space(&self, space: &SpaceId) -> Self {
        Self { space: space.clone(), ..self.clone() }
    }

    /// Returns the number of files that have been looked up.
    pub(crate) fn known_files(&self) -> usize {
        self.files.values().map(|files| files.len()).sum()
    }

    /// Returns a file of the space that contains the references.
    pub(crate) fn file(&self, id: &FileId) -> Option<&RevisionFile> {
        self.files.get(&self.space)?.get(id)
    }

    /// Returns the estimated memory in bytes, without the page trees and files.
    pub(crate) fn weight(&self) -> usize {
        self.spaces.values().map(|(path, title)| path.len() + title.len() + 256).sum()
    }

    /// Returns `true` if the site contains the space.
    pub(crate) fn has(&self, space: &SpaceId) -> bool {
        self.spaces.contains_key(space)
    }

    /// Returns the URL of a space, with a trailing slash.
    pub(crate) fn space_address(&self, space: &SpaceId) -> Option<String> {
        self.spaces.get(space).map(|(path, _)| format!("{}{path}", self.site_base))
    }

    /// Returns the URL of an entry in the page tree of a space.
    pub(crate) fn entry_address(&self, space: &SpaceId, frame: &PageTree, at: usize) -> Option<String> {
        frame.entries.get(at)?;
        Some(format!("{}{}", self.space_address(space)?, frame.address(at)))
    }

    /// Resolves a reference to its URL and name.
    pub(crate) fn target(&self, target: &ContentRef) -> ReferenceTarget {
        match target {
            ContentRef::Url { url } => ReferenceTarget {
                href: safe_link(url).filter(|url| url != BROKEN_REFERENCE).map(Cow::into_owned),
                name: Some(url.clone()),
                is_outside: !url.starts_with(['/', '#', '?', '.']) || url.starts_with("//"),
            },
            ContentRef::File { file } => {
                let file = self.file(file);
                ReferenceTarget {
                    href: file.map(|file| file.download_url.clone()),
                    name: file.map(|file| file.name.clone()),
                    is_outside: false,
                }
            }
            ContentRef::Page { page, space } => {
                let space = space.as_ref().unwrap_or(&self.space);
                let found = self.linked.get(space).and_then(|pages| pages.page(page));
                let Some((name, path)) = found else { return ReferenceTarget::default() };
                let href = self.space_address(space).map(|space| space + &path);
                ReferenceTarget { href, name: Some(name), is_outside: false }
            }
            ContentRef::Anchor { anchor, page, space } => {
                // The source can contain the anchor in encoded form.
                let anchor = decode_anchor(anchor);
                let whole = match (page, space) {
                    (Some(page), space) => {
                        self.target(&ContentRef::Page { page: page.clone(), space: space.clone() })
                    }
                    (None, Some(space)) => self.target(&ContentRef::Space { space: space.clone() }),
                    (None, None) => ReferenceTarget {
                        href: Some(String::new()),
                        name: Some(String::new()),
                        is_outside: false,
                    },
                };
                let place = utf8_percent_encode(&anchor, SEGMENT);
                ReferenceTarget {
                    href: whole.href.map(|href| format!("{href}#{place}")),
                    // The heading is part of another document, which is not read.
                    name: whole.name.map(|name| format!("{name} #{anchor}").trim_start().to_owned()),
                    is_outside: whole.is_outside,
                }
            }
            ContentRef::Space { space } => ReferenceTarget {
                href: self.space_address(space),
                name: self.spaces.get(space).map(|(_, title)| title.clone()),
                is_outside: false,
            },
            ContentRef::OpenApi { spec } => {
                ReferenceTarget { name: Some(spec.clone()), ..ReferenceTarget::default() }
            }
            // Users and collections must not be revealed to visitors.
            ContentRef::User { .. } | ContentRef::Collection { .. } | ContentRef::ReusableContent { .. } => {
                ReferenceTarget::default()
            }
        }
    }

    /// Returns the URL of an image, with its size if known.
    pub(crate) fn picture(&self, target: &ContentRef) -> Option<Picture> {
        match target {
            ContentRef::Url { url } => {
                Some(Picture { src: self.allowed_image_url(url)?.into_owned(), width: None, height: None })
            }
            ContentRef::File { file } => {
                let file = self.file(file)?;
                let size = file.dimensions;
                Some(Picture {
                    src: file.download_url.clone(),
                    width: size.map(|size| size.width),
                    height: size.map(|size| size.height),
                })
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) src: String,
    pub(crate) width: Option<f64>,
    pub(crate) height: Option<f64>,
}

pub(crate) fn find_place<'p, 's>(places: &'p [SitePlace<'s>], id: &SiteSpaceId) -> Option<&'p SitePlace<'s>> {
    places.iter().find(|place| place.space.id == *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_mailto_tel_and_relative_urls_are_safe() {
        for right in [
            "https://a.example/x",
            "HTTP://a.example",
            "mailto:a@b.example",
            "tel:+1",
            "/a:b",
            "#a",
            "?a:b",
            "a/b:c",
        ] {
            assert_eq!(safe_link(right).as_deref(), Some(right));
        }
        for wrong in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "java\tscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:x",
            "",
            " ",
        ] {
            assert_eq!(safe_link(wrong), None, "{wrong:?}");
        }
        assert_eq!(safe_image("mailto:a@b.example"), None);
        assert_eq!(safe_image("//a.example/x.png"), None);
    }

    #[test]
    fn https_pages_reject_http_images() {
        let encrypted = Addresses::new(&[], "/", &"space".parse().expect("an id"));
        let any = encrypted.clone().with_image_schemes(ImageSchemes::Any);
        for (url, is_encrypted) in [
            ("https://a.example/x.png", true),
            ("http://a.example/x.png", false),
            ("HTTP://a.example/x.png", false),
        ] {
            assert_eq!(any.allowed_image_url(url).as_deref(), Some(url));
            assert_eq!(encrypted.allowed_image_url(url).is_some(), is_encrypted, "{url}");
        }
        assert_eq!(any.allowed_image_url("javascript:alert(1)"), None);
    }
}
