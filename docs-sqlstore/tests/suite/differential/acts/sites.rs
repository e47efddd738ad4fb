//! Operations on sites and their spaces.

use docs_core::{
    model::{AddSiteSpace, CreateSite, OrgId, SiteId, SiteType, UpdateSite},
    platform::{SiteFilter, SiteSpaceFilter},
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{id, one},
        program::What,
    },
    Act, Answer, read, told, walk,
};

impl Act<'_> {
    pub(super) async fn sites(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let org: OrgId = id(if known.org.is_empty() { "nothing" } else { &known.org });
        let site: SiteId = id(&known.id);
        Ok(match what {
            What::ListSites => {
                let filter = self.site_filter();
                walk(self.list(), |page| {
                    let (me, org, filter) = (me.clone(), org.clone(), filter.clone());
                    async move { p.as_actor(&me).org(&org).sites().list(&filter, &page).await }
                })
                .await
            }
            What::CreateSite => {
                let org = self.known.org(&mut self.dice);
                let new: CreateSite = read(self.new_site())?;
                told(p.as_actor(&me).org(&org).sites().create(new).await)
            }
            What::GetSite => told(p.as_actor(&me).org(&org).site(&site).get().await),
            What::PatchSite => {
                let change: UpdateSite = read(self.site_change(&known.places))?;
                told(p.as_actor(&me).org(&org).site(&site).update(change).await)
            }
            What::DeleteSite => told(p.as_actor(&me).org(&org).site(&site).delete().await),
            What::Publish => told(p.as_actor(&me).org(&org).site(&site).publish().await),
            What::Unpublish => told(p.as_actor(&me).org(&org).site(&site).unpublish().await),
            What::AddSiteSpace => {
                let mut add = json!({ "spaceId": self.known.space_id(&mut self.dice, What::GetSpace) });
                if self.dice.chance(5) {
                    add["sectionId"] = "section".into();
                }
                let add: AddSiteSpace = read(add)?;
                told(p.as_actor(&me).org(&org).site(&site).spaces().create(add).await)
            }
            What::ListSiteSpaces => {
                let default = *self.dice.of(&[None, None, Some(true), Some(false)]);
                walk(self.list(), |page| {
                    let (me, org, site) = (me.clone(), org.clone(), site.clone());
                    async move {
                        p.as_actor(&me)
                            .org(&org)
                            .site(&site)
                            .spaces()
                            .list(SiteSpaceFilter { default }, &page)
                            .await
                    }
                })
                .await
            }
            _ => told(p.as_actor(&me).org(&org).site(&site).published().await),
        })
    }

    fn site_filter(&mut self) -> SiteFilter {
        let mut filter = SiteFilter::default();
        if self.dice.chance(25) {
            filter.space = Some(self.known.space_id(&mut self.dice, What::GetSpace).to_string());
        }
        if self.dice.chance(25) {
            filter.title = Some(self.text().chars().take(3).collect());
        }
        if self.dice.chance(25) {
            filter.published = Some(self.dice.chance(50));
        }
        if self.dice.chance(25) {
            filter.types = vec![SiteType::Basic, *self.dice.of(&[SiteType::Premium, SiteType::Ultimate])];
        }
        filter
    }

    fn new_site(&mut self) -> Value {
        let mut new = Map::new();
        let (first, second) = (
            self.known.space_id(&mut self.dice, What::GetSpace),
            self.known.space_id(&mut self.dice, What::GetSpace),
        );
        let spaces = [
            json!([first]),
            json!([first, second]),
            json!([]),
            json!("empty"),
            json!("sample"),
            json!(["a/b"]),
        ];
        self.field(&mut new, "spaces", &spaces);
        let title = self.text();
        self.field(&mut new, "title", &[title.into(), "Docs".into()]);
        self.field(&mut new, "type", &["basic".into(), "premium".into(), "ultimate".into()]);
        self.field(&mut new, "visibility", &["public".into(), "unlisted".into()]);
        if self.dice.chance(20) {
            new.insert("createSpace".to_owned(), true.into());
        }
        new.into()
    }

    fn site_change(&mut self, places: &[String]) -> Value {
        let mut change = Map::new();
        let title = self.text();
        self.field(&mut change, "title", &[title.into(), "Docs".into()]);
        self.field(
            &mut change,
            "visibility",
            &["public".into(), "share-link".into(), "visitor-auth".into(), "wrong".into()],
        );
        self.field(&mut change, "basename", &["docs".into(), "docs-2".into(), "own".into(), "Wrong".into()]);
        self.field(
            &mut change,
            "adaptiveContent",
            &[json!({ "enabled": true }), json!({ "enabled": false })],
        );
        self.field(&mut change, "agentsContext", &["included".into(), "excluded".into()]);
        if self.dice.chance(50) {
            let place = one(&mut self.dice, places).to_owned();
            self.field(&mut change, "defaultSiteSpace", &[place.into()]);
        }
        if self.dice.chance(3) {
            change.insert("defaultSiteSection".to_owned(), "section".into());
        }
        self.field(&mut change, "proxy", &["example.com/help".into(), "Example.com/help".into(), "x".into()]);
        if self.dice.chance(90) {
            change.retain(|name, value| !value.is_null() || name == "proxy");
        }
        change.into()
    }
}
