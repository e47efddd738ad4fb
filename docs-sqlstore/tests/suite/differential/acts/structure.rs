//! Operations on the structure of a site: sections, groups and spaces.

use docs_core::model::{AddSection, AddSectionGroup, SectionGroupId, SectionId, SiteSpaceId};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{KnownSite, id, one},
        program::What,
    },
    Act, Answer, read,
    settings::place_of,
    told, walk,
};

impl Act<'_> {
    pub(super) async fn sections(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        let of = (&org, &site);
        let section: SectionId = id(one(&mut self.dice, &known.sections));
        Ok(match what {
            What::AddSection => {
                let space = self.known.space_id(&mut self.dice, What::GetSpace);
                let mut add = Map::from_iter([("spaceId".to_owned(), json!(space))]);
                let title = self.text();
                self.field(&mut add, "title", &[title.into(), "Guide".into(), "GUIDE".into()]);
                self.field(&mut add, "icon", &["book".into()]);
                let add: AddSection = read(add)?;
                told(p.as_actor(&me).org(of.0).site(of.1).sections().create(add).await)
            }
            What::PatchSection => {
                let change = self.section_change(&known);
                told(p.as_actor(&me).org(of.0).site(of.1).section(&section).update(read(change)?).await)
            }
            What::DeleteSection => {
                told(p.as_actor(&me).org(of.0).site(of.1).section(&section).delete().await)
            }
            _ => {
                walk(self.list(), |page| {
                    let (me, org, site) = (me.clone(), org.clone(), site.clone());
                    async move { p.as_actor(&me).org(&org).site(&site).sections().list(&page).await }
                })
                .await
            }
        })
    }

    /// Operations on section groups, ordering and the whole structure.
    pub(super) async fn structure(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        let of = (&org, &site);
        let section: SectionId = id(one(&mut self.dice, &known.sections));
        let group: SectionGroupId = id(one(&mut self.dice, &known.groups));
        let place: SiteSpaceId = id(one(&mut self.dice, &known.places));
        Ok(match what {
            What::AddSectionGroup => {
                let mut add = json!({ "title": "Group" });
                if self.dice.chance(60) {
                    add["sections"] = json!([section]);
                }
                if self.dice.chance(40) {
                    add["parent"] = json!(group);
                }
                let add: AddSectionGroup = read(add)?;
                told(p.as_actor(&me).org(of.0).site(of.1).section_groups().create(add).await)
            }
            What::DeleteSectionGroup => {
                told(p.as_actor(&me).org(of.0).site(of.1).section_group(&group).delete().await)
            }
            What::GatherSection if self.dice.chance(60) => {
                let add = read(json!({ "sectionId": section }))?;
                told(p.as_actor(&me).org(of.0).site(of.1).section_group(&group).add_section(add).await)
            }
            What::GatherSection => told(
                p.as_actor(&me).org(of.0).site(of.1).section_group(&group).remove_section(&section).await,
            ),
            What::SortStructure => {
                let sort = self.sort(&known);
                told(p.as_actor(&me).org(of.0).site(of.1).sort_structure(read(sort)?).await)
            }
            What::PatchSiteSpace => {
                let mut change = Map::new();
                self.field(&mut change, "path", &["a".into(), "A".into(), "b".into(), "a/b".into()]);
                self.field(&mut change, "condition", &["true".into(), "1 +".into()]);
                told(p.as_actor(&me).org(of.0).site(of.1).space(&place).update(read(change)?).await)
            }
            What::DeleteSiteSpace => told(p.as_actor(&me).org(of.0).site(of.1).space(&place).delete().await),
            _ => told(p.as_actor(&me).org(of.0).site(of.1).structure().await),
        })
    }

    fn section_change(&mut self, known: &KnownSite) -> Value {
        let mut change = Map::new();
        self.field(&mut change, "title", &["Guide".into(), "Other".into()]);
        self.field(&mut change, "path", &["a".into(), "A".into(), "guide".into(), "..".into()]);
        self.field(&mut change, "condition", &["visitor.claims.beta".into(), "1 +".into()]);
        self.field(&mut change, "description", &["What for".into()]);
        if self.dice.chance(40) {
            let place = one(&mut self.dice, &known.places).to_owned();
            change.insert("defaultSiteSpace".to_owned(), place.into());
        }
        if self.dice.chance(90) {
            change.retain(|name, value| !value.is_null() || name == "condition" || name == "description");
        }
        change.into()
    }

    fn sort(&mut self, known: &KnownSite) -> Value {
        let kinds = [
            ("site-section", &known.sections),
            ("site-section-group", &known.groups),
            ("site-space", &known.places),
        ];
        let first = self.dice.below(3);
        // Usually next to an item of a permitted kind.
        let second = match first {
            _ if self.dice.chance(5) => self.dice.below(3),
            2 => 2,
            _ => self.dice.below(2),
        };
        let mut part = |at: usize| {
            let (kind, ids) = kinds[at];
            json!({ "type": kind, "id": one(&mut self.dice, ids) })
        };
        let (item, beside) = (part(first), part(second));
        let side = *self.dice.of(&["before", "after"]);
        json!({ "item": item, "position": { side: beside } })
    }
}
