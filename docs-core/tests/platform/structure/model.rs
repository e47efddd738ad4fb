//! The naive model: nested lists, and the parsed response.

use std::collections::{BTreeMap, BTreeSet};

use docs_core::ErrorKind;
use serde_json::Value;

/// Maximum nesting depth of groups.
pub(super) const DEPTH: usize = 5;
/// A section with its spaces, or a group with its items.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Section(String, Vec<String>),
    Group(String, Vec<Tree>),
}

impl Tree {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Section(id, _) | Self::Group(id, _) => id,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Section(..) => "site-section",
            Self::Group(..) => "site-section-group",
        }
    }

    pub(super) fn height(&self) -> usize {
        match self {
            Self::Section(..) => 0,
            Self::Group(_, inside) => 1 + inside.iter().map(Self::height).max().unwrap_or_default(),
        }
    }
}

/// Returns the items of a tree in pre-order.
pub(super) fn walk(trees: &[Tree]) -> Vec<&Tree> {
    let mut found = Vec::new();
    for tree in trees {
        found.push(tree);
        if let Tree::Group(_, inside) = tree {
            found.extend(walk(inside));
        }
    }
    found
}

/// Returns the list that contains an item, with its group depth.
pub(super) fn holder<'a>(
    trees: &'a mut Vec<Tree>,
    id: &str,
    depth: usize,
) -> Option<(&'a mut Vec<Tree>, usize)> {
    if trees.iter().any(|tree| tree.id() == id) {
        return Some((trees, depth));
    }
    trees.iter_mut().find_map(|tree| match tree {
        Tree::Section(..) => None,
        Tree::Group(_, inside) => holder(inside, id, depth + 1),
    })
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) trees: Vec<Tree>,
    /// The spaces of a site without sections.
    pub(super) root: Vec<String>,
    pub(super) default_section: Option<String>,
    /// The default space of each section. The empty key is for a site without sections.
    pub(super) defaults: BTreeMap<String, String>,
    /// The index of the space that each site space shows.
    pub(super) shows: BTreeMap<String, usize>,
    /// The paths in the last response.
    pub(super) paths: BTreeMap<String, String>,
}

impl Model {
    pub(super) fn sections(&self) -> Vec<String> {
        let sections = walk(&self.trees).into_iter().filter(|tree| matches!(tree, Tree::Section(..)));
        sections.map(|tree| tree.id().to_owned()).collect()
    }

    pub(super) fn groups(&self) -> Vec<String> {
        let groups = walk(&self.trees).into_iter().filter(|tree| matches!(tree, Tree::Group(..)));
        groups.map(|tree| tree.id().to_owned()).collect()
    }

    /// Returns all site spaces with their sections.
    pub(super) fn places(&self) -> Vec<(String, String)> {
        let mut places: Vec<(String, String)> =
            self.root.iter().map(|place| (String::new(), place.clone())).collect();
        for tree in walk(&self.trees) {
            if let Tree::Section(section, inside) = tree {
                places.extend(inside.iter().map(|place| (section.clone(), place.clone())));
            }
        }
        places
    }

    /// Returns the first section of a site: the default one, or the first with spaces if the default is empty.
    pub(super) fn first_section(&self) -> Option<String> {
        let places = self.places();
        let has_places = |section: &String| places.iter().any(|(of, _)| of == section);
        let default = self.default_section.clone().filter(has_places);
        default
            .or_else(|| self.sections().into_iter().find(has_places))
            .or_else(|| self.default_section.clone())
    }

    /// Returns the site spaces of a section, or of a site without sections.
    pub(super) fn inside(&mut self, section: &str) -> &mut Vec<String> {
        if section.is_empty() {
            return &mut self.root;
        }
        let (list, _) = holder(&mut self.trees, section, 0).expect("a section");
        let tree = list.iter_mut().find(|tree| tree.id() == section).expect("a section");
        let Tree::Section(_, places) = tree else { panic!("{section} is a section") };
        places
    }

    pub(super) fn put_place(&mut self, section: &str, place: &str, at: usize) {
        self.inside(section).insert(at, place.to_owned());
        self.defaults.entry(section.to_owned()).or_insert_with(|| place.to_owned());
    }

    pub(super) fn take_place(&mut self, section: &str, place: &str) {
        self.inside(section).retain(|other| other != place);
        if self.defaults.get(section).is_some_and(|default| default == place) {
            match self.inside(section).first().cloned() {
                None => drop(self.defaults.remove(section)),
                Some(first) => drop(self.defaults.insert(section.to_owned(), first)),
            }
        }
    }

    pub(super) fn take(&mut self, id: &str) -> Tree {
        let (list, _) = holder(&mut self.trees, id, 0).expect("it is there");
        let at = list.iter().position(|tree| tree.id() == id).expect("it is there");
        list.remove(at)
    }

    pub(super) fn group(&mut self, id: &str) -> &mut Vec<Tree> {
        let (list, _) = holder(&mut self.trees, id, 0).expect("a group");
        let tree = list.iter_mut().find(|tree| tree.id() == id).expect("a group");
        let Tree::Group(_, inside) = tree else { panic!("{id} is a group") };
        inside
    }

    /// Returns the group depth of an item.
    pub(super) fn depth(&mut self, id: &str) -> usize {
        holder(&mut self.trees, id, 0).expect("it is there").1
    }

    /// Moves an item next to another and returns the expected error.
    pub(super) fn sort(
        &mut self,
        kind: &str,
        item: &str,
        other: &str,
        beside: &str,
        side: &str,
    ) -> Option<ErrorKind> {
        if (kind == "site-space") != (other == "site-space") || item == beside {
            return Some(ErrorKind::Invalid);
        }
        let behind = usize::from(side == "after");
        if kind == "site-space" {
            let all = self.places();
            let of = |id: &str| all.iter().find(|(_, place)| place == id).expect("a place").0.clone();
            let (from, to) = (of(item), of(beside));
            if from == to {
                // The default does not change.
                self.inside(&from).retain(|place| place != item);
            } else {
                self.take_place(&from, item);
            }
            let at = self.inside(&to).iter().position(|place| place == beside).expect("there") + behind;
            self.put_place(&to, item, at);
            return None;
        }
        let moved = walk(&self.trees).into_iter().find(|tree| tree.id() == item).expect("there").clone();
        if walk(std::slice::from_ref(&moved)).iter().any(|inner| inner.id() == beside) {
            return Some(ErrorKind::Invalid);
        }
        if kind == "site-section-group" && self.depth(beside) + moved.height() > DEPTH {
            return Some(ErrorKind::Conflict);
        }
        let moved = self.take(item);
        let (list, _) = holder(&mut self.trees, beside, 0).expect("there");
        let at = list.iter().position(|tree| tree.id() == beside).expect("there") + behind;
        list.insert(at, moved);
        None
    }
}

/// Formats a tree as text.
pub(super) fn drawn(tree: &Tree) -> String {
    match tree {
        Tree::Section(id, places) => format!("{id}({})", places.join(" ")),
        Tree::Group(id, inside) => {
            format!("{id}[{}]", inside.iter().map(drawn).collect::<Vec<_>>().join(" "))
        }
    }
}

/// The parsed response.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) paths: BTreeMap<String, String>,
    /// Each path, prefixed with its scope.
    pub(super) unique: BTreeSet<String>,
    pub(super) default_sections: Vec<String>,
    pub(super) defaults: Vec<(String, String)>,
}

impl Seen {
    /// Formats a list of items as text.
    pub(super) fn look(&mut self, parts: &Value) -> String {
        let parts = parts.as_array().expect("a list");
        let mut drawn = Vec::new();
        for part in parts {
            let text = |field: &str| part[field].as_str().unwrap_or_default().to_owned();
            let id = text("id");
            if let Some(path) = part["path"].as_str() {
                // Section paths are unique within the site, across groups. Space paths are unique within their section.
                let scope =
                    if part["object"] == "site-section" { String::new() } else { text("section") + "/" };
                let is_new = self.unique.insert(scope + &path.to_lowercase());
                assert!(is_new, "`{path}` is there twice");
                self.paths.insert(id.clone(), path.to_owned());
            }
            drawn.push(match part["object"].as_str() {
                Some("site-space") => {
                    if part["default"] == true {
                        self.defaults.push((text("section"), id.clone()));
                    }
                    id
                }
                Some("site-section") => {
                    if part["default"] == true {
                        self.default_sections.push(id.clone());
                    }
                    let inside = self.look(&part["siteSpaces"]);
                    format!("{id}({inside})")
                }
                _ => {
                    let direct = part["children"].as_array().expect("a list").iter();
                    let direct = direct.filter(|child| child["object"] == "site-section").cloned();
                    assert_eq!(part["sections"], Value::Array(direct.collect()));
                    let inside = self.look(&part["children"]);
                    format!("{id}[{inside}]")
                }
            });
        }
        drawn.join(" ")
    }
}
