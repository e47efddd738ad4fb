//! Tests that use a text notation for outlines: `a:(x y*) g[b*:(z)]` is a section `a` with the spaces `x` and `y`, and
//! a group `g` with the section `b`. `*` marks a default.

use proptest::prelude::*;

use super::*;
use crate::model::{SitePath, Timestamp};

/// A builder of outlines.
struct Drawn {
    site: SiteRecord,
    nodes: Vec<OutlineNode>,
    places: Vec<Arc<SiteSpaceRecord>>,
}

impl Drawn {
    fn new() -> Self {
        let at = Timestamp::new(chrono::DateTime::from_timestamp_millis(0).unwrap());
        let site = serde_json::json!({
            "id": "site", "organization": "org", "title": "Docs", "basename": "docs",
            "created_by": "me", "created_at": at,
        });
        Self { site: serde_json::from_value(site).unwrap(), nodes: Vec::new(), places: Vec::new() }
    }

    fn group(mut self, id: &str, parent: Option<&str>) -> Self {
        let rank = self.nodes.len() as u64;
        let group = serde_json::json!({
            "id": id, "site": "site", "parent": parent, "rank": rank, "title": id,
        });
        self.nodes.push(OutlineNode::Group(Arc::new(serde_json::from_value(group).unwrap())));
        self
    }

    /// Adds a section with spaces. Its first space is its default, and the first section is the site's default.
    fn section(mut self, path: &str, group: Option<&str>, places: &[&str]) -> Self {
        let id = format!("s-{path}");
        let section = serde_json::json!({
            "id": id, "site": "site", "group": group, "rank": self.nodes.len(), "title": "Section",
            "path": path, "default_site_space": places.first().map(|place| format!("{id}-{place}")),
        });
        let section: SectionRecord = serde_json::from_value(section).unwrap();
        self.site.default_section.get_or_insert(section.id.clone());
        self.nodes.push(OutlineNode::Section(Arc::new(section)));
        self.spaces(Some(&id), places)
    }

    fn spaces(mut self, section: Option<&str>, places: &[&str]) -> Self {
        for (rank, path) in places.iter().enumerate() {
            let place = serde_json::json!({
                "id": format!("{}-{path}", section.unwrap_or("root")), "site": "site", "section": section,
                "space": "space", "path": path, "rank": rank,
            });
            let place: SiteSpaceRecord = serde_json::from_value(place).unwrap();
            if section.is_none() {
                self.site.default_site_space.get_or_insert(place.id.clone());
            }
            self.places.push(Arc::new(place));
        }
        self
    }

    /// Adds former paths of a section or space, each with the time when it was replaced.
    fn formerly(mut self, id: &str, paths: &[(&str, i64)]) -> Self {
        let paths = paths.iter().map(|(path, until)| FormerPath {
            path: SitePath::new(*path).unwrap(),
            until: Timestamp::new(chrono::DateTime::from_timestamp_millis(*until).unwrap()),
        });
        let paths: Vec<FormerPath> = paths.collect();
        for node in &mut self.nodes {
            if let OutlineNode::Section(section) = node
                && section.id.as_str() == id
            {
                Arc::make_mut(section).former_paths.clone_from(&paths);
            }
        }
        for place in self.places.iter_mut().filter(|place| place.id.as_str() == id) {
            Arc::make_mut(place).former_paths.clone_from(&paths);
        }
        self
    }

    fn outline(self) -> SiteOutline {
        SiteOutline::from_records(&self.site, self.nodes, self.places)
    }
}

fn found(outline: &SiteOutline, path: &str) -> Option<(String, usize)> {
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    outline.find(&segments).map(|found| (found.place.id.to_string(), found.used))
}

/// Resolves a former path.
fn formerly(outline: &SiteOutline, path: &str) -> Option<(String, usize)> {
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    outline.find_former(&segments).map(|found| (found.place.id.to_string(), found.used))
}

fn address(outline: &SiteOutline, id: &str) -> String {
    outline.place_segments(outline.place(&id.parse().unwrap()).unwrap()).join("/")
}

/// Formats groups and sections with their spaces, in order.
fn text(outline: &SiteOutline) -> String {
    let nodes = outline.nodes().into_iter().map(|node| match node {
        OutlineNode::Link(link) => link.url.to_string(),
        OutlineNode::Group(group) => {
            format!("{}[{}]", group.id, group.parent.as_ref().map_or("", |id| id.as_str()))
        }
        OutlineNode::Section(section) => {
            let mark = if outline.is_default_section(section) { "*" } else { "" };
            let paths = outline
                .places(Some(&section.id))
                .iter()
                .map(|place| format!("{}{}", place.path, if outline.is_default(place) { "*" } else { "" }));
            format!("{}{mark}({})", section.path, paths.collect::<Vec<_>>().join(" "))
        }
    });
    nodes.collect::<Vec<_>>().join(" ")
}

#[test]
fn default_paths_omit_their_segment_but_resolve_with_it() {
    let outline =
        Drawn::new().section("guide", None, &["en", "fr"]).section("api", None, &["v1", "v2"]).outline();
    for (id, path) in [("s-guide-en", ""), ("s-guide-fr", "fr"), ("s-api-v1", "api"), ("s-api-v2", "api/v2")]
    {
        assert_eq!(address(&outline, id), path, "{id}");
    }
    for (path, id, used) in [
        ("", "s-guide-en", 0),
        ("start/here", "s-guide-en", 0),
        ("guide", "s-guide-en", 1),
        ("guide/en/start", "s-guide-en", 2),
        ("fr/start", "s-guide-fr", 1),
        ("API/V2", "s-api-v2", 2),
        ("api/start", "s-api-v1", 1),
        ("v2", "s-guide-en", 0),
    ] {
        assert_eq!(found(&outline, path), Some((id.to_owned(), used)), "{path}");
    }
    let plain = Drawn::new().spaces(None, &["a", "b"]).outline();
    assert!(!plain.has_sections());
    assert_eq!(found(&plain, "b/x"), Some(("root-b".to_owned(), 1)));
    assert_eq!(found(&plain, "x"), Some(("root-a".to_owned(), 0)));
    assert_eq!(found(&Drawn::new().outline(), ""), None);
}

#[test]
fn former_path_resolves_to_its_last_owner_unless_reused() {
    let drawn = || Drawn::new().section("guide", None, &["en", "fr"]).section("api", None, &["v1", "v2"]);
    let outline = drawn()
        .formerly("s-guide", &[("start", 1), ("api", 9)])
        .formerly("s-api", &[("Rest", 1), ("old", 1)])
        .formerly("s-guide-fr", &[("french", 1), ("rest", 9)])
        .formerly("s-api-v1", &[("v0", 1)])
        .formerly("s-api-v2", &[("next", 1), ("v0", 2), ("v1", 9)])
        .outline();
    for (path, id, used) in [
        ("start", "s-guide-en", 1),
        ("start/french/x", "s-guide-fr", 2),
        ("start/fr", "s-guide-fr", 2),
        ("french/x", "s-guide-fr", 1),
        ("rest/x", "s-api-v1", 1),
        ("old/next", "s-api-v2", 2),
        ("API/Next/x", "s-api-v2", 2),
        ("api/v0", "s-api-v2", 2),
    ] {
        assert_eq!(formerly(&outline, path), Some((id.to_owned(), used)), "{path}");
    }
    for path in ["", "api", "api/v1", "fr/next", "guide/en/french", "x/french", "next"] {
        assert_eq!(formerly(&outline, path), None, "{path}");
    }
    let hidden = |id: &'static str| {
        outline.filter(|part| match part {
            OutlinePart::Section(section) => section.id.as_str() != id,
            OutlinePart::SiteSpace(place) => place.id.as_str() != id,
            OutlinePart::Link(link) => link.id.as_str() != id,
        })
    };
    assert_eq!(formerly(&hidden("s-guide"), "start"), None);
    assert_eq!(formerly(&hidden("s-guide"), "api/v0"), Some(("s-api-v2".to_owned(), 2)));
    assert_eq!(formerly(&hidden("s-api-v2"), "old/next"), Some(("s-api-v1".to_owned(), 1)));
    assert_eq!(formerly(&hidden("s-api-v2"), "api/next"), None);
    let plain = Drawn::new().spaces(None, &["a", "b"]).formerly("root-b", &[("c", 1)]).outline();
    assert_eq!(formerly(&plain, "c/x"), Some(("root-b".to_owned(), 1)));
    assert_eq!(formerly(&plain, "b/c"), None);
}

#[test]
fn space_path_shadowed_by_a_section_includes_its_section() {
    let outline = Drawn::new().section("guide", None, &["en", "api"]).section("API", None, &["v1"]).outline();
    assert_eq!(address(&outline, "s-guide-api"), "guide/api");
    assert_eq!(found(&outline, "api"), Some(("s-API-v1".to_owned(), 1)));
    assert_eq!(found(&outline, "guide/api"), Some(("s-guide-api".to_owned(), 2)));
}

#[test]
fn filter_removes_empty_parts_and_passes_defaults_on() {
    let outline = Drawn::new()
        .section("a", None, &["x", "y"])
        .group("g", None)
        .group("h", Some("g"))
        .section("b", Some("h"), &["x"])
        .group("i", None)
        .section("c", Some("i"), &["x"])
        .section("d", None, &[])
        .outline();
    assert_eq!(text(&outline), "a*(x* y) g[] h[g] b(x*) i[] c(x*) d()");
    let hidden = |sections: &'static [&str], places: &'static [&str]| {
        outline.filter(|part| match part {
            OutlinePart::Section(section) => !sections.contains(&section.path.as_str()),
            OutlinePart::SiteSpace(place) => !places.contains(&place.id.as_str()),
            OutlinePart::Link(_) => true,
        })
    };
    assert_eq!(text(&hidden(&[], &[])), "a*(x* y) g[] h[g] b(x*) i[] c(x*)");
    assert_eq!(text(&hidden(&[], &["s-a-x"])), "a*(y*) g[] h[g] b(x*) i[] c(x*)");
    assert_eq!(text(&hidden(&["a"], &["s-c-x"])), "g[] h[g] b*(x*)");
    assert_eq!(text(&hidden(&["b", "c"], &["s-a-x", "s-a-y"])), "");
    assert!(hidden(&["a", "b", "c"], &[]).has_sections(), "it stays a site of sections");
    assert_eq!(found(&hidden(&["a"], &[]), "a/y"), Some(("s-b-x".to_owned(), 0)));
    assert_eq!(address(&hidden(&[], &["s-a-x"]), "s-a-y"), "");
}

#[test]
fn group_has_its_depth_and_height() {
    let outline =
        Drawn::new().group("a", None).group("b", Some("a")).group("c", Some("b")).group("d", Some("a"));
    let outline = outline.outline();
    for (id, above, height) in [("a", 1, 3), ("b", 2, 2), ("c", 3, 1), ("d", 2, 1)] {
        let id: SectionGroupId = id.parse().unwrap();
        assert_eq!((outline.chain(Some(&id)).len(), outline.height(&id)), (above, height), "{id}");
    }
    assert!(outline.has_sections(), "groups, and no space outside of sections");
}

proptest! {
    #[test]
    fn space_paths_are_unique_and_resolve_to_their_space(
        sections in prop::collection::btree_map("[a-c]{1,2}", prop::collection::btree_set("[a-c]{1,2}", 0..4), 1..6),
    ) {
        let mut drawn = Drawn::new();
        for (path, places) in &sections {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            drawn = drawn.section(path, None, &places);
        }
        let outline = drawn.outline();
        let mut seen = BTreeSet::new();
        for place in outline.all_places() {
            let segments = outline.place_segments(place);
            prop_assert!(seen.insert(segments.clone()), "{segments:?} leads to one");
            let found = outline.find(&segments).expect("something is there");
            prop_assert_eq!((&found.place.id, found.used), (&place.id, segments.len()));
            let mut positions: Vec<String> =
                outline.all_places().iter().map(|place| outline.place_position(place)).collect();
            let shown = positions.clone();
            positions.sort();
            prop_assert_eq!(positions, shown, "positions ascend in the order of the site");
        }
    }
}
