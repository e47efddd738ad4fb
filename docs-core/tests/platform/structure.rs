//! The structure of sites: random operations compared with a naive model, and constraints on changes and deletions.

mod drafts;
mod model;
mod mounts;
mod rules;
mod shown;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use docs_core::{
    ErrorKind,
    model::{CreateSite, CreateSpace, SiteId, SpaceId},
    platform::SiteSpaceFilter,
    store::{KeyBuf, Mode, PageRequest, Store},
};
use docs_memstore::MemStore;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::model::{DEPTH, Model, Seen, Tree, drawn, holder, walk};
use crate::support::{World, block_on, failing};

const WINDOW: Duration = Duration::from_secs(7 * 24 * 3600 + 1);
/// Number of spaces to add to the site.
const SPACES: usize = 4;

/// A step. Its numbers select one of the current items, in the order of the model.
#[derive(Clone, Debug)]
enum Step {
    AddPlace { space: usize, section: Option<usize> },
    AddSection { space: usize, title: Option<&'static str> },
    AddGroup { parent: Option<usize>, sections: Vec<usize> },
    DeletePlace(usize),
    DeleteSection(usize),
    DeleteGroup(usize),
    Gather { group: usize, section: usize, by_update: bool },
    Release { group: usize, section: usize },
    Sort { item: usize, beside: usize, side: &'static str },
    Move { item: usize, beside: usize, side: &'static str },
    DefaultSection(usize),
    DefaultPlace(usize),
    DefaultIn { section: usize, place: usize },
    SectionPath(usize, &'static str),
    PlacePath(usize, &'static str),
    Purge(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let n = || 0..50_usize;
    let side = || prop_oneof![Just("before"), Just("after")];
    let path = || prop_oneof![Just("a"), Just("b"), Just("B"), Just("a-2")];
    let title = prop_oneof![Just(None), Just(Some("Guide")), Just(Some("guide")), Just(Some("A B"))];
    let beside = || (n(), n(), side());
    let step = prop_oneof![
        6 => (n(), prop::option::of(n())).prop_map(|(space, section)| Step::AddPlace { space, section }),
        5 => (n(), title).prop_map(|(space, title)| Step::AddSection { space, title }),
        5 => (prop::option::of(n()), prop::collection::vec(n(), 0..3))
            .prop_map(|(parent, sections)| Step::AddGroup { parent, sections }),
        2 => n().prop_map(Step::DeletePlace),
        2 => n().prop_map(Step::DeleteSection),
        1 => n().prop_map(Step::DeleteGroup),
        3 => (n(), n(), any::<bool>())
            .prop_map(|(group, section, by_update)| Step::Gather { group, section, by_update }),
        2 => (n(), n()).prop_map(|(group, section)| Step::Release { group, section }),
        10 => beside().prop_map(|(item, beside, side)| Step::Sort { item, beside, side }),
        6 => beside().prop_map(|(item, beside, side)| Step::Move { item, beside, side }),
        1 => n().prop_map(Step::DefaultSection),
        1 => n().prop_map(Step::DefaultPlace),
        1 => (n(), n()).prop_map(|(section, place)| Step::DefaultIn { section, place }),
        2 => (n(), path()).prop_map(|(n, path)| Step::SectionPath(n, path)),
        2 => (n(), path()).prop_map(|(n, path)| Step::PlacePath(n, path)),
        1 => n().prop_map(Step::Purge),
    ];
    prop::collection::vec(step, 1..50)
}

struct Site {
    w: World,
    site: SiteId,
    spaces: Vec<SpaceId>,
    model: Model,
}

fn read<T: serde::de::DeserializeOwned>(body: Value) -> T {
    serde_json::from_value(body).expect("a request")
}

fn id<T: std::str::FromStr<Err = docs_core::model::NotAnId>>(text: &str) -> T {
    text.parse().expect("an id")
}

fn pick<T: Clone>(from: &[T], n: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[n % from.len()].clone())
}

/// Returns the error kind of a rejection.
fn kind<T>(answer: docs_core::Result<T>) -> Option<ErrorKind> {
    answer.err().map(|error| error.kind())
}

impl Site {
    async fn new(store: Arc<dyn Store>) -> Self {
        let w = World::over(store).await;
        let new: CreateSite = read(json!({ "title": "Site" }));
        let site = w.as_admin().org(&w.org).sites().create(new).await.expect("a site").id;
        let mut this = Self { w, site, spaces: Vec::new(), model: Model::default() };
        for _ in 0..SPACES {
            let space = this.space().await;
            this.spaces.push(space);
        }
        this
    }

    async fn space(&self) -> SpaceId {
        let new: CreateSpace = read(json!({ "title": "A space" }));
        self.w.as_admin().org(&self.w.org).spaces().create(new).await.expect("a space").id
    }

    /// Performs a step and returns the actual and the expected error. A step without a target is skipped.
    async fn step(&mut self, step: &Step) -> (Option<ErrorKind>, Option<ErrorKind>) {
        match step {
            Step::AddPlace { .. } | Step::AddSection { .. } | Step::AddGroup { .. } => self.add(step).await,
            Step::DeletePlace(_) | Step::DeleteSection(_) | Step::DeleteGroup(_) | Step::Purge(_) => {
                self.remove(step).await;
                (None, None)
            }
            Step::Gather { group, section, by_update } => self.gather(*group, *section, *by_update).await,
            Step::Release { group, section } => self.release(*group, *section).await,
            Step::Sort { .. } | Step::Move { .. } => self.sort(step).await,
            Step::SectionPath(..) | Step::PlacePath(..) => self.name(step).await,
            _ => self.default(step).await,
        }
    }

    async fn add(&mut self, step: &Step) -> (Option<ErrorKind>, Option<ErrorKind>) {
        match step {
            Step::AddPlace { space, section } => {
                self.add_place(space % SPACES, *section).await;
                (None, None)
            }
            Step::AddSection { space, title } => {
                self.add_section(space % SPACES, *title).await;
                (None, None)
            }
            Step::AddGroup { parent, sections } => self.add_group(*parent, sections).await,
            other => unreachable!("{other:?}"),
        }
    }

    async fn add_place(&mut self, space: usize, section: Option<usize>) {
        let site = self.w.platform.as_actor(&self.w.admin).org(&self.w.org).site(&self.site);
        let section = section.and_then(|n| pick(&self.model.sections(), n));
        let mut add = json!({ "spaceId": self.spaces[space] });
        if let Some(section) = &section {
            add["sectionId"] = section.as_str().into();
        }
        let place = site.spaces().create(read(add)).await.expect("added").id.to_string();
        let section = section.or_else(|| self.model.default_section.clone()).unwrap_or_default();
        let at = self.model.inside(&section).len();
        self.model.put_place(&section, &place, at);
        self.model.shows.insert(place, space);
    }

    /// Adds a section with a space. The first one moves the existing spaces into another new section.
    async fn add_section(&mut self, space: usize, title: Option<&str>) {
        let site = self.w.platform.as_actor(&self.w.admin).org(&self.w.org).site(&self.site);
        let add = json!({ "spaceId": self.spaces[space], "title": title });
        let added = site.sections().create(read(add)).await.expect("added");
        let known = self.model.sections();
        let all = site.sections().list(&PageRequest::default()).await.expect("listed").items;
        if !self.model.root.is_empty() {
            let is_new = |id: &String| !known.contains(id) && *id != added.id.as_str();
            let wrapper = all.iter().map(|section| section.id.to_string()).find(is_new);
            let wrapper = wrapper.expect("a section for what was there");
            let root = std::mem::take(&mut self.model.root);
            let default = self.model.defaults.remove("").expect("a default");
            self.model.defaults.insert(wrapper.clone(), default);
            self.model.default_section = Some(wrapper.clone());
            self.model.trees.push(Tree::Section(wrapper, root));
        }
        let (section, place) = (added.id.to_string(), added.site_spaces[0].id.to_string());
        self.model.trees.push(Tree::Section(section.clone(), Vec::new()));
        self.model.put_place(&section, &place, 0);
        self.model.shows.insert(place, space);
        self.model.default_section.get_or_insert(section);
    }

    async fn add_group(
        &mut self,
        parent: Option<usize>,
        sections: &[usize],
    ) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let site = self.w.platform.as_actor(&self.w.admin).org(&self.w.org).site(&self.site);
        let parent = parent.and_then(|n| pick(&self.model.groups(), n));
        let all = self.model.sections();
        let sections: BTreeSet<String> = sections.iter().filter_map(|n| pick(&all, *n)).collect();
        let mut add = json!({ "title": "Group", "sections": sections });
        let depth = match &parent {
            None => 0,
            Some(parent) => {
                add["parent"] = parent.as_str().into();
                self.model.depth(parent) + 1
            }
        };
        let answer = site.section_groups().create(read(add)).await;
        if depth >= DEPTH {
            return (kind(answer), Some(ErrorKind::Conflict));
        }
        let group = answer.expect("added").id.to_string();
        let inside = sections.iter().map(|section| self.model.take(section)).collect();
        let list = match &parent {
            None => &mut self.model.trees,
            Some(parent) => self.model.group(parent),
        };
        list.push(Tree::Group(group, inside));
        (None, None)
    }

    async fn remove(&mut self, step: &Step) {
        let admin = self.w.platform.as_actor(&self.w.admin);
        let site = admin.org(&self.w.org).site(&self.site);
        match step {
            Step::DeletePlace(n) => {
                let Some((section, place)) = pick(&self.model.places(), *n) else { return };
                assert!(site.space(&id(&place)).delete().await.expect("deleted"));
                assert!(!site.space(&id(&place)).delete().await.expect("no error"));
                self.model.take_place(&section, &place);
            }
            Step::DeleteSection(n) => {
                let Some(section) = pick(&self.model.sections(), *n) else { return };
                assert!(site.section(&id(&section)).delete().await.expect("deleted"));
                assert!(!site.section(&id(&section)).delete().await.expect("no error"));
                self.model.take(&section);
                self.model.defaults.remove(&section);
                if self.model.default_section.as_ref() == Some(&section) {
                    self.model.default_section = self.model.sections().first().cloned();
                }
            }
            Step::DeleteGroup(n) => {
                let Some(group) = pick(&self.model.groups(), *n) else { return };
                assert!(site.section_group(&id(&group)).delete().await.expect("deleted"));
                assert!(!site.section_group(&id(&group)).delete().await.expect("no error"));
                let (list, _) = holder(&mut self.model.trees, &group, 0).expect("there");
                let at = list.iter().position(|tree| tree.id() == group).expect("there");
                let Tree::Group(_, inside) = list.remove(at) else { panic!("a group") };
                list.splice(at..at, inside);
            }
            Step::Purge(n) => {
                let n = n % SPACES;
                admin.space(&self.spaces[n]).delete().await.expect("deleted");
                self.w.clock.advance(WINDOW);
                self.w.platform.settle().await.expect("settled");
                for (section, place) in self.model.places() {
                    if self.model.shows[&place] == n {
                        self.model.take_place(&section, &place);
                    }
                }
                self.spaces[n] = self.space().await;
            }
            other => unreachable!("{other:?}"),
        }
    }

    /// Moves a section into a group, by the operation of the group or by an update of the section.
    async fn gather(
        &mut self,
        group: usize,
        section: usize,
        by_update: bool,
    ) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let found = (pick(&self.model.groups(), group), pick(&self.model.sections(), section));
        let (Some(group), Some(section)) = found else { return (None, None) };
        let site = p.as_actor(me).org(of.0).site(of.1);
        let answer = if by_update {
            let change = read(json!({ "siteSectionGroupId": group }));
            kind(site.section(&id(&section)).update(change).await)
        } else {
            let add = read(json!({ "sectionId": section }));
            kind(site.section_group(&id(&group)).add_section(add).await)
        };
        if !self.model.group(&group).iter().any(|tree| tree.id() == section) {
            let moved = self.model.take(&section);
            self.model.group(&group).push(moved);
        }
        (answer, None)
    }

    async fn release(&mut self, group: usize, section: usize) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let found = (pick(&self.model.groups(), group), pick(&self.model.sections(), section));
        let (Some(group), Some(section)) = found else { return (None, None) };
        let is_inside = self.model.group(&group).iter().any(|tree| tree.id() == section);
        let answer = p
            .as_actor(me)
            .org(of.0)
            .site(of.1)
            .section_group(&id(&group))
            .remove_section(&id(&section))
            .await;
        assert_eq!(answer.expect("no error"), is_inside);
        if is_inside {
            let moved = self.model.take(&section);
            let (list, _) = holder(&mut self.model.trees, &group, 0).expect("there");
            let at = list.iter().position(|tree| tree.id() == group).expect("there");
            list.insert(at + 1, moved);
        }
        (None, None)
    }

    /// Returns all movable items with their type.
    fn parts(&self) -> Vec<(&'static str, String)> {
        let nodes = walk(&self.model.trees).into_iter().map(|tree| (tree.kind(), tree.id().to_owned()));
        nodes.chain(self.model.places().into_iter().map(|(_, place)| ("site-space", place))).collect()
    }

    async fn sort(&mut self, step: &Step) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let (Step::Sort { item, beside, side } | Step::Move { item, beside, side }) = step else {
            unreachable!("{step:?}")
        };
        let parts = self.parts();
        let (Some(item), Some(beside)) = (pick(&parts, *item), pick(&parts, *beside)) else {
            return (None, None);
        };
        let pointer = |(kind, id): &(&str, String)| json!({ "type": kind, "id": id });
        let answer = if matches!(step, Step::Sort { .. }) {
            let sort = json!({ "item": pointer(&item), "position": { *side: pointer(&beside) } });
            kind(p.as_actor(me).org(of.0).site(of.1).sort_structure(read(sort)).await)
        } else {
            // The older move operations accept fewer types.
            match (item.0, beside.0) {
                ("site-space", "site-space") => {
                    let to = json!({ "type": "site-space", "siteSpace": beside.1 });
                    let to = read(json!({ "position": { *side: to } }));
                    kind(p.as_actor(me).org(of.0).site(of.1).space(&id(&item.1)).move_beside(to).await)
                }
                ("site-section", "site-section") => {
                    let to = json!({ "type": "site-section", "siteSection": beside.1 });
                    let to = read(json!({ "position": { *side: to } }));
                    kind(p.as_actor(me).org(of.0).site(of.1).section(&id(&item.1)).move_beside(to).await)
                }
                ("site-section-group", "site-section" | "site-section-group") => {
                    let to = read(json!({ "position": { *side: pointer(&beside) } }));
                    kind(
                        p.as_actor(me).org(of.0).site(of.1).section_group(&id(&item.1)).move_beside(to).await,
                    )
                }
                _ => return (None, None),
            }
        };
        (answer, self.model.sort(item.0, &item.1, beside.0, &beside.1, side))
    }

    async fn name(&mut self, step: &Step) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let is_taken = |others: &[String], this: &str, path: &str| {
            others.iter().any(|other| other != this && self.model.paths[other].eq_ignore_ascii_case(path))
        };
        let (answer, taken) = match step {
            Step::SectionPath(n, path) => {
                let all = self.model.sections();
                let Some(section) = pick(&all, *n) else { return (None, None) };
                let answer = p
                    .as_actor(me)
                    .org(of.0)
                    .site(of.1)
                    .section(&id(&section))
                    .update(read(json!({ "path": path })))
                    .await;
                let taken = is_taken(&all, &section, path);
                assert!(taken || answer.as_ref().expect("changed").path.as_str() == *path);
                (kind(answer), taken)
            }
            Step::PlacePath(n, path) => {
                let Some((section, place)) = pick(&self.model.places(), *n) else { return (None, None) };
                let beside = self.model.places().into_iter().filter(|(other, _)| *other == section);
                let beside: Vec<String> = beside.map(|(_, place)| place).collect();
                let answer = p
                    .as_actor(me)
                    .org(of.0)
                    .site(of.1)
                    .space(&id(&place))
                    .update(read(json!({ "path": path })))
                    .await;
                let taken = is_taken(&beside, &place, path);
                assert!(taken || answer.as_ref().expect("changed").path.as_str() == *path);
                (kind(answer), taken)
            }
            other => unreachable!("{other:?}"),
        };
        (answer, taken.then_some(ErrorKind::Conflict))
    }

    async fn default(&mut self, step: &Step) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let (p, me, org) = (&self.w.platform, &self.w.admin, &self.w.org);
        match step {
            Step::DefaultSection(n) => {
                let Some(section) = pick(&self.model.sections(), *n) else { return (None, None) };
                let change = read(json!({ "defaultSiteSection": section }));
                self.model.default_section = Some(section);
                (kind(p.as_actor(me).org(org).site(&self.site).update(change).await), None)
            }
            Step::DefaultPlace(n) => {
                let Some((section, place)) = pick(&self.model.places(), *n) else { return (None, None) };
                let answer = p
                    .as_actor(me)
                    .org(org)
                    .site(&self.site)
                    .update(read(json!({ "defaultSiteSpace": place })))
                    .await;
                if self.model.default_section.clone().unwrap_or_default() != section {
                    return (kind(answer), Some(ErrorKind::Invalid));
                }
                self.model.defaults.insert(section, place);
                (kind(answer), None)
            }
            Step::DefaultIn { section, place } => {
                let found = (pick(&self.model.sections(), *section), pick(&self.model.places(), *place));
                let (Some(section), Some((holder, place))) = found else { return (None, None) };
                let change = read(json!({ "defaultSiteSpace": place }));
                let answer =
                    p.as_actor(me).org(org).site(&self.site).section(&id(&section)).update(change).await;
                if holder != section {
                    return (kind(answer), Some(ErrorKind::Invalid));
                }
                self.model.defaults.insert(section, place);
                (kind(answer), None)
            }
            other => unreachable!("{other:?}"),
        }
    }

    /// Checks that the structure equals the model and that all paths are unique.
    async fn check(&mut self) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let shown = p.as_actor(me).org(of.0).site(of.1).structure().await.expect("shown");
        let shown = serde_json::to_value(shown).expect("JSON");
        let sectioned =
            !self.model.sections().is_empty() || (self.model.root.is_empty() && !self.model.trees.is_empty());
        assert_eq!(shown["type"], if sectioned { "sections" } else { "siteSpaces" });
        let mut seen = Seen::default();
        let expected = if sectioned {
            self.model.trees.iter().map(drawn).collect::<Vec<_>>().join(" ")
        } else {
            self.model.root.join(" ")
        };
        assert_eq!(seen.look(&shown["structure"]), expected);
        self.model.paths = seen.paths;
        let sections: Vec<String> = seen.default_sections;
        assert_eq!(sections, self.model.first_section().into_iter().collect::<Vec<_>>());
        let defaults: BTreeMap<String, String> = seen.defaults.iter().cloned().collect();
        assert_eq!(defaults.len(), seen.defaults.len(), "one default a section");
        assert_eq!(defaults, self.model.defaults);
        self.check_lists().await;
    }

    async fn check_lists(&self) {
        let (p, me, of) = (&self.w.platform, &self.w.admin, (&self.w.org, &self.site));
        let (mut sections, mut groups, mut places, mut defaults) = (vec![], vec![], vec![], vec![]);
        for (list, found) in [&mut sections, &mut groups, &mut places, &mut defaults].into_iter().enumerate()
        {
            let mut page = PageRequest { page: None, limit: Some(3) };
            loop {
                let (ids, next): (Vec<String>, _) = match list {
                    0 => {
                        let list =
                            p.as_actor(me).org(of.0).site(of.1).sections().list(&page).await.expect("listed");
                        assert_eq!(list.count, Some(self.model.sections().len() as u64));
                        (list.items.into_iter().map(|item| item.id.to_string()).collect(), list.next)
                    }
                    1 => {
                        let list = p
                            .as_actor(me)
                            .org(of.0)
                            .site(of.1)
                            .section_groups()
                            .list(&page)
                            .await
                            .expect("listed");
                        assert_eq!(list.count, Some(self.model.groups().len() as u64));
                        (list.items.into_iter().map(|item| item.id.to_string()).collect(), list.next)
                    }
                    n => {
                        let default = (n == 3).then_some(true);
                        let list = p
                            .as_actor(me)
                            .org(of.0)
                            .site(of.1)
                            .spaces()
                            .list(SiteSpaceFilter { default }, &page)
                            .await
                            .expect("listed");
                        (list.items.into_iter().map(|item| item.id.to_string()).collect(), list.next)
                    }
                };
                found.extend(ids);
                let Some(next) = next else { break };
                page.page = Some(next);
            }
        }
        assert_eq!((sections, groups), (self.model.sections(), self.model.groups()));
        let all: Vec<String> = self.model.places().into_iter().map(|(_, place)| place).collect();
        let first = self.model.first_section().unwrap_or_default();
        assert_eq!(defaults, self.model.defaults.get(&first).into_iter().cloned().collect::<Vec<_>>());
        assert_eq!(places, all);
        let site = p.as_actor(me).org(&self.w.org).site(&self.site).get().await.expect("the site");
        assert_eq!(site.site_spaces, all.len() as u64);
    }
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let mut site = Site::new(store).await;
    for step in steps {
        let (answer, expected) = site.step(&step).await;
        assert_eq!(answer, expected, "{step:?}");
        site.check().await;
    }
    let (p, me) = (&site.w.platform, &site.w.admin);
    assert!(p.as_actor(me).org(&site.w.org).site(&site.site).delete().await.expect("deleted"));
    for space in &site.spaces {
        p.as_actor(me).space(space).get().await.expect("a space outlives what shows it");
    }
    let tx = p.store().begin(Mode::Read, &[]).await.expect("a snapshot");
    for class in ["sec", "sec.r", "sgr", "sgr.r", "slk", "slk.r", "ssp", "ssp.r", "ssp.s"] {
        let left = tx.scan(&[KeyBuf::new(class).scan(10)]).await.expect("a scan");
        assert!(left.iter().all(Vec::is_empty), "nothing of the site is left");
    }
    site.w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn structure_equals_the_model_on_a_json_store(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new_json())));
    }

    #[test]
    fn structure_equals_a_naive_model(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn structure_equals_the_model_under_commit_faults(steps in steps()) {
        block_on(run(steps, failing()));
    }
}
