//! References of a page to files of its repository.

use std::ops::Range;

use serde_json::Value;

use super::{
    RepoPath,
    summary::join,
    target::{self, DestinationKind},
    yaml,
};
use crate::markdown::{LinkKind, LinkRole, LinkSite, Resolution, links, rewrite_sites, split_front};

/// A reference of a page to a file or folder of its repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The byte range of the destination in the page's text.
    pub range: Range<usize>,
    pub kind: ReferenceKind,
    /// The target, relative to the root of the repository. It may not exist.
    pub path: RepoPath,
    /// The anchor on the target page.
    pub anchor: Option<String>,
}

/// The syntax of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReferenceKind {
    /// A link in Markdown or HTML.
    Link,
    /// An image in Markdown, or an HTML element with a source URL.
    Image,
    Include,
    /// A tag with a URL, such as `{% file src="…" %}` or `{% content-ref url="…" %}`.
    Tag,
    /// The cover in the front matter.
    Cover,
}

impl ReferenceKind {
    pub(super) fn from_site(site: &LinkSite) -> Self {
        match (site.kind, site.role) {
            (LinkKind::Include, _) => Self::Include,
            (LinkKind::Tag, _) => Self::Tag,
            (LinkKind::Image, _) | (LinkKind::Html, LinkRole::Embeds) => Self::Image,
            (LinkKind::Link, _) | (LinkKind::Html, LinkRole::Leads) => Self::Link,
        }
    }

    /// Returns `true` if the reference may become a URL on the repository host, because it does not embed its target.
    #[must_use]
    pub const fn is_link(self) -> bool {
        matches!(self, Self::Link | Self::Tag)
    }
}

/// Finds the references of a page to its repository, in text order.
///
/// Covers Markdown links and images, `href`, `src` and `srcset` in HTML, tags, and the cover; code is skipped. Paths
/// are relative to the folder of the page, or to the content folder `root` if they have a leading slash. Web URLs,
/// anchors on the same page and paths outside the repository are not included.
///
/// # Example
/// ```
/// use docs_markup::gitsync::{RepoPath, references};
///
/// let text = "See [Errors](../errors.md#codes) and ![a picture](a%20b.png).";
/// let found = references(text, &RepoPath::new("docs/guides/first.md")?, &RepoPath::new("docs")?);
/// assert_eq!(found[0].path.as_str(), "docs/errors.md");
/// assert_eq!(&text[found[1].range.clone()], "a%20b.png");
/// assert_eq!(found[1].path.as_str(), "docs/guides/a b.png");
/// # Ok::<(), docs_markup::gitsync::PathError>(())
/// ```
#[must_use]
pub fn references(text: &str, page: &RepoPath, root: &RepoPath) -> Vec<Reference> {
    let PageLinks { cover, sites, .. } = PageLinks::read(text, page, root);
    cover.into_iter().chain(sites.into_iter().filter_map(|(_, reference)| reference)).collect()
}

/// The destinations of a page, parsed once for callers that resolve them later.
///
/// # Example
/// ```
/// use docs_markup::{gitsync::{PageLinks, RepoPath}, markdown::Resolution};
///
/// let (text, page) = ("---\ntitle: A\n---\n\nSee [B](b.md) and [more](https://example.com).", RepoPath::new("a.md")?);
/// let links = PageLinks::read(text, &page, &RepoPath::default());
/// assert_eq!(links.references().next().map(|it| it.path.as_str()), Some("b.md"));
/// let linked = links.rewritten(text, |_, reference| match reference {
///     Some(_) => Resolution::To("/pages/b".to_owned()),
///     None => Resolution::Keep,
/// });
/// assert_eq!(linked, "---\ntitle: A\n---\n\nSee [B](/pages/b) and [more](https://example.com).");
/// # Ok::<(), docs_markup::gitsync::PathError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PageLinks {
    /// The offset of the text after the front matter.
    start: usize,
    cover: Option<Reference>,
    /// The links in the text after the front matter, with ranges in that text. The ranges of their references refer to
    /// the complete text.
    sites: Vec<(LinkSite, Option<Reference>)>,
}

impl PageLinks {
    /// Parses `text` like [`references`].
    #[must_use]
    pub fn read(text: &str, page: &RepoPath, root: &RepoPath) -> Self {
        let finder = Finder { folder: page.folder(), root };
        let (front_matter, body) = split_front(text);
        let cover = front_matter.and_then(|matter| {
            // The front matter begins after the first line.
            let start = text.find('\n').map_or(text.len(), |end| end + 1);
            finder.cover(text, start..start + matter.len())
        });
        let start = text.len() - body.len();
        let reference = |site: LinkSite| {
            let kind = ReferenceKind::from_site(&site);
            let range = site.range.start + start..site.range.end + start;
            let reference = finder.reference(kind, range, &site.destination);
            (site, reference)
        };
        Self { start, cover, sites: links(body).into_iter().map(reference).collect() }
    }

    /// Returns the number of destinations.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sites.len() + usize::from(self.cover.is_some())
    }

    /// Returns the references to the repository, in text order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.cover.iter().chain(self.sites.iter().filter_map(|(_, reference)| reference.as_ref()))
    }

    /// Returns the text with the destinations after its front matter replaced. `resolve` receives each current
    /// destination and its reference to the repository, and returns the new destination.
    #[must_use]
    pub fn rewritten(
        &self,
        text: &str,
        mut resolve: impl FnMut(&str, Option<&Reference>) -> Resolution,
    ) -> String {
        let (head, body) = text.split_at_checked(self.start).unwrap_or((text, ""));
        let sites = self.sites.iter();
        let resolved = sites.map(|(site, reference)| (site, resolve(&site.destination, reference.as_ref())));
        format!("{head}{}", rewrite_sites(body, resolved))
    }
}

/// Path prefixes of platform URLs, which are not paths in the repository.
const PLATFORM: [&str; 2] = ["/broken/", "/reusable-content/"];

/// Resolves a destination in a folder to a path in the repository and an anchor.
pub(super) fn place(
    destination: &str,
    folder: &RepoPath,
    root: &RepoPath,
) -> Option<(RepoPath, Option<String>)> {
    if PLATFORM.iter().any(|prefix| destination.starts_with(prefix)) {
        return None;
    }
    let DestinationKind::Local(local) = target::read(destination) else { return None };
    let path = join(folder, root, &local.path).ok()?;
    Some((path, local.anchor))
}

struct Finder<'a> {
    folder: RepoPath,
    root: &'a RepoPath,
}

impl Finder<'_> {
    fn reference(&self, kind: ReferenceKind, range: Range<usize>, destination: &str) -> Option<Reference> {
        let (path, anchor) = place(destination, &self.folder, self.root)?;
        Some(Reference { range, kind, path, anchor })
    }

    fn cover(&self, text: &str, range: Range<usize>) -> Option<Reference> {
        let matter = text.get(range.clone())?;
        let Ok(Value::Object(map)) = yaml::read(matter) else { return None };
        let Some(Value::String(cover)) = map.get("cover") else { return None };
        let mut at = range.start;
        for line in matter.split_inclusive('\n') {
            if let Some(rest) = line.strip_prefix("cover:") {
                let start = at + "cover:".len();
                let place = match rest.find(cover.as_str()) {
                    Some(offset) if !cover.is_empty() => start + offset..start + offset + cover.len(),
                    _ => start..start + rest.trim_end().len(),
                };
                return self.reference(ReferenceKind::Cover, place, cover);
            }
            at += line.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(text: &str) -> Vec<(ReferenceKind, &str, String)> {
        let page = RepoPath::new("docs/guides/page.md").unwrap();
        references(text, &page, &RepoPath::new("docs").unwrap())
            .into_iter()
            .map(|reference| (reference.kind, &text[reference.range], reference.path.to_string()))
            .collect()
    }

    #[test]
    fn references_of_every_kind_are_found_and_resolved() {
        use ReferenceKind::{Cover, Image, Include, Link, Tag};
        for (text, kind, written, path) in [
            ("[a](b.md)", Link, "b.md", "docs/guides/b.md"),
            ("[a](../x/)", Link, "../x/", "docs/x"),
            ("[a](/x.md)", Link, "/x.md", "docs/x.md"),
            ("![a](<b c.png>)", Image, "b c.png", "docs/guides/b c.png"),
            ("<a href=\"b.md\">x</a>", Link, "b.md", "docs/guides/b.md"),
            (
                "text <img src='b&amp;c.png' data-size=\"line\"> text",
                Image,
                "b&amp;c.png",
                "docs/guides/b&c.png",
            ),
            ("<figure>\n<img\n src=\"../b.png\" alt=\"\"></figure>", Image, "../b.png", "docs/b.png"),
            (
                "{% include \"../.gitbook/includes/x.md\" %}",
                Include,
                "../.gitbook/includes/x.md",
                "docs/.gitbook/includes/x.md",
            ),
            ("{% include '../x y.md' %}", Include, "../x y.md", "docs/x y.md"),
            ("{% file src=../a.pdf %}", Tag, "../a.pdf", "docs/a.pdf"),
            ("{% file src='\"a\".pdf' %}", Tag, "\"a\".pdf", "docs/guides/\"a\".pdf"),
            ("<img src=\"b&ouml;se&#x2E;png\">", Image, "b&ouml;se&#x2E;png", "docs/guides/böse.png"),
            (
                "{% file src=\"../a_b_c.pdf\" %}\ncaption\n{% endfile %}",
                Tag,
                "../a_b_c.pdf",
                "docs/a_b_c.pdf",
            ),
            ("{% content-ref url=\"b.md\" %}", Tag, "b.md", "docs/guides/b.md"),
            ("---\ntitle: x\ncover: ../a.png\n---\n", Cover, "../a.png", "docs/a.png"),
            ("---\ncover: >-\n  ../a.png\n---\n", Cover, " >-", "docs/a.png"),
            ("---\ncover: \"a b.png\"\ncoverY: 3\n---\ntext", Cover, "a b.png", "docs/guides/a b.png"),
        ] {
            assert_eq!(find(text), [(kind, written, path.to_owned())], "{text}");
        }
    }

    #[test]
    fn each_srcset_candidate_is_a_reference() {
        let text = "<picture><source srcset=\"a.png 1x,b.png 2x, c.png\" media=\"(x)\"><img src=\"d.png\"></picture>";
        let written: Vec<_> = find(text).into_iter().map(|(_, written, _)| written).collect();
        assert_eq!(written, ["a.png", "b.png", "c.png", "d.png"]);
    }

    #[test]
    fn references_in_card_tables_are_found() {
        let text = "<table data-view=\"cards\"><thead><tr><th data-hidden data-card-target></th></tr></thead><tbody>\
                    <tr><td><a href=\"one.md\">one.md</a></td><td><a href=\"../.gitbook/assets/a.png\">a</a></td></tr></tbody></table>";
        let paths: Vec<_> = find(text).into_iter().map(|(_, _, path)| path).collect();
        assert_eq!(paths, ["docs/guides/one.md", "docs/.gitbook/assets/a.png"]);
    }

    #[test]
    fn external_and_invalid_targets_are_not_references() {
        for text in [
            "[a](https://x.y/b.md)",
            "<https://x.y>",
            "[a](#here)",
            "[a]()",
            "[a](mailto:a@b.c)",
            "[a](../../../etc/passwd)",
            "[a](/../../x)",
            "[a](/broken/pages/123)",
            "{% include \"/reusable-content/abc\" %}",
            "{% embed url=\"https://x.y\" %}",
            "{% hint style=\"info\" %}",
            "<img alt=\"src\" src=\"data:image/png;base64,AAAA\">",
            "---\ncover: https://x.y/z.png\n---\n",
            "---\ncover: [\n---\n",
            "plain text",
            "",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }

    #[test]
    fn references_in_code_and_comments_are_ignored() {
        for text in [
            "`![a](b.png)` and `{% include \"x.md\" %}`",
            "```html\n<img src=\"a.png\">\n{% file src=\"b\" %}\n```",
            "    ![a](b.png)\n    {% include \"x.md\" %}",
            "- item\n\n  ~~~\n  {% include \"x.md\" %}\n  ~~~",
            "<!-- ![a](b.png) <img src=\"c.png\"> -->",
            "\\{% include \"x.md\" %}",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }

    #[test]
    fn references_come_in_the_order_of_the_text() {
        let text = "---\ncover: a.png\n---\n\n[x][r] <img src=\"b.png\"> ![](c.png)\n\n{% include \"d.md\" %}\n\n[r]: e.md\n";
        let written: Vec<_> = find(text).into_iter().map(|(_, written, _)| written).collect();
        assert_eq!(written, ["a.png", "b.png", "c.png", "d.md", "e.md"]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(
            text in "(---\\n|cover: |\\[|\\]|\\(|\\)|!|<|>|`|a\\.md|img src=\"|srcset=\"|\"|\\{% include |%\\}|\\n|    |> |- |&amp;|ä|,|\\PC){0,80}"
        ) {
            for reference in references(&text, &RepoPath::new("a/b.md").unwrap(), &RepoPath::default()) {
                prop_assert!(text.get(reference.range).is_some());
            }
        }
    }
}
