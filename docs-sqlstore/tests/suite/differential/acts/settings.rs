//! Operations on site settings (customization, redirects, share links, sign-in, claims), and visits to sites.

use data_encoding::BASE64URL_NOPAD;
use docs_core::{
    Actor,
    model::{
        CreateShareLink, CreateSiteRedirect, Customization, OrgId, RedirectId, RedirectSource, ResolveUrl,
        ShareLinkId, SiteId, SiteSpaceId, UpdatePublishingAuth, UpdateShareLink, UpdateSiteRedirect,
    },
    platform::Visitor,
};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use super::{
    super::{
        known::{KnownSite, id, one},
        program::What,
    },
    Act, Answer, read, told, walk,
};

/// Source paths of redirects, some of which denote the same URL.
const SOURCES: &[&str] = &["/old", "/Old", "/%6fld", "/a/b", "/page", "/gone/%c3%a4", "no-path", "/x/"];
/// Conditions of header links.
const CONDITIONS: &[&str] =
    &["visitor.claims.plan == 'pro'", "visitor.claims.unsigned.beta", "visitor.claims.teams.includes('ß')"];

impl Act<'_> {
    /// Operations on the claims and the customization of a site.
    pub(super) async fn looks(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        let place: SiteSpaceId = id(one(&mut self.dice, &known.places));
        Ok(match what {
            What::SetClaims => {
                let schema = self.claims();
                told(
                    p.as_actor(&me)
                        .org(&org)
                        .site(&site)
                        .set_adaptive_schema(read(json!({ "jsonSchema": schema }))?)
                        .await,
                )
            }
            What::ReadClaims if self.dice.chance(50) => {
                told(p.as_actor(&me).org(&org).site(&site).template_conditions().await)
            }
            What::ReadClaims => told(p.as_actor(&me).org(&org).site(&site).get_adaptive_schema().await),
            What::SetLook => {
                let look: Customization = read(self.look())?;
                told(p.as_actor(&me).org(&org).site(&site).set_customization(look).await)
            }
            What::OverrideLook => {
                let change = self.look_of_place();
                told(
                    p.as_actor(&me)
                        .org(&org)
                        .site(&site)
                        .space(&place)
                        .override_customization(read(change)?)
                        .await,
                )
            }
            What::DropLook => {
                told(p.as_actor(&me).org(&org).site(&site).space(&place).delete_customization().await)
            }
            _ if self.dice.chance(50) => {
                told(p.as_actor(&me).org(&org).site(&site).get_customization().await)
            }
            _ => told(p.as_actor(&me).org(&org).site(&site).space(&place).get_customization().await),
        })
    }

    pub(super) async fn redirects(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        let redirect: RedirectId = id(one(&mut self.dice, &known.redirects));
        Ok(match what {
            What::AddRedirect => {
                let add = json!({ "source": self.dice.of(SOURCES), "destination": self.destination(&known) });
                let add: CreateSiteRedirect = read(add)?;
                told(p.as_actor(&me).org(&org).site(&site).redirects().create(add).await)
            }
            What::PatchRedirect => {
                let mut change = Map::new();
                self.field(&mut change, "source", &SOURCES.iter().map(|s| json!(s)).collect::<Vec<_>>());
                let destination = self.destination(&known);
                self.field(&mut change, "destination", &[destination]);
                change.retain(|_, value| !value.is_null());
                let change: UpdateSiteRedirect = read(change)?;
                told(p.as_actor(&me).org(&org).site(&site).redirect(&redirect).update(change).await)
            }
            What::DeleteRedirect => {
                told(p.as_actor(&me).org(&org).site(&site).redirect(&redirect).delete().await)
            }
            What::ListRedirects => {
                walk(self.list(), |page| {
                    let (me, org, site) = (me.clone(), org.clone(), site.clone());
                    async move {
                        p.as_actor(&me)
                            .org(&org)
                            .site(&site)
                            .redirects()
                            .list(&Default::default(), &page)
                            .await
                    }
                })
                .await
            }
            _ => {
                let source: RedirectSource = read(*self.dice.of(SOURCES))?;
                told(p.as_actor(&me).org(&org).site(&site).resolve_redirect(&source).await)
            }
        })
    }

    pub(super) async fn share_links(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        let link: ShareLinkId = id(one(&mut self.dice, &known.links));
        Ok(match what {
            What::AddShareLink => {
                let name = self.text();
                let add: CreateShareLink = read(json!({ "name": name }))?;
                told(p.as_actor(&me).org(&org).site(&site).share_links().create(add).await)
            }
            What::PatchShareLink => {
                let mut change = Map::new();
                self.field(&mut change, "name", &["For friends".into()]);
                self.field(&mut change, "active", &[true.into(), false.into()]);
                change.retain(|_, value| !value.is_null());
                let change: UpdateShareLink = read(change)?;
                told(p.as_actor(&me).org(&org).site(&site).share_link(&link).update(change).await)
            }
            What::DeleteShareLink => {
                told(p.as_actor(&me).org(&org).site(&site).share_link(&link).delete().await)
            }
            _ => {
                walk(self.list(), |page| {
                    let (me, org, site) = (me.clone(), org.clone(), site.clone());
                    async move { p.as_actor(&me).org(&org).site(&site).share_links().list(None, &page).await }
                })
                .await
            }
        })
    }

    /// Operations on visitor sign-in.
    pub(super) async fn sign_in(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        Ok(match what {
            What::PatchSignIn => {
                let mut change = Map::new();
                self.field(&mut change, "fallbackURL", &["https://in.example".into(), "no address".into()]);
                self.field(&mut change, "backend", &["custom".into(), "integration".into()]);
                self.field(&mut change, "integration", &["sso".into()]);
                change.retain(|name, value| !value.is_null() || name != "backend");
                let change: UpdatePublishingAuth = read(change)?;
                told(p.as_actor(&me).org(&org).site(&site).update_publishing_auth(change).await)
            }
            What::RenewKey => told(p.as_actor(&me).org(&org).site(&site).regenerate_publishing_auth().await),
            _ => told(p.as_actor(&me).org(&org).site(&site).get_publishing_auth().await),
        })
    }

    /// Operations of visitors, with a token or without.
    pub(super) async fn visits(&mut self, what: What) -> Answer {
        let p = self.p;
        let known = self.known.site(&mut self.dice);
        let (org, site) = place_of(&known);
        if what == What::ResolveUrl {
            let ask: ResolveUrl = read(self.ask(&known))?;
            return Ok(told(p.resolve_url(&ask).await));
        }
        self.me = match (self.dice.below(4), self.dice.near(&self.known.passes)) {
            (0, _) | (_, None) => Actor::Visitor(Visitor::anonymous()),
            (1, _) => {
                let key = one(&mut self.dice, &known.keys);
                Actor::Visitor(Visitor::anonymous().with_share_key(key))
            }
            (_, Some(pass)) => match p.authenticate(pass).await {
                Ok(actor) => actor,
                Err(refused) => return Ok(told::<()>(Err(refused))),
            },
        };
        let me = self.me.clone();
        match self.dice.below(6) {
            0 | 1 => Ok(told(p.as_actor(&me).org(&org).site(&site).published().await)),
            2 => Ok(told(p.as_actor(&me).org(&org).site(&site).structure().await)),
            3 => self.content(What::ListPages).await,
            4 => self.content(What::ListFiles).await,
            _ => self.content(What::GetPageByPath).await,
        }
    }

    fn claims(&mut self) -> Value {
        let mut properties = Map::new();
        for (name, schema) in [
            ("plan", json!({ "type": "string", "enum": ["free", "pro", "ß"], "description": "Plan" })),
            (
                "teams",
                json!({ "type": "array", "items": { "type": "string", "description": "A team" }, "description": "Teams" }),
            ),
            (
                "unsigned",
                json!({
                    "type": "object",
                    "description": "Unsigned claims of the site visitor.",
                    "properties": { "beta": { "type": "boolean", "description": "Beta" } },
                    "additionalProperties": false,
                }),
            ),
            ("odd", json!({ "type": "null" })),
        ] {
            if self.dice.chance(if name == "odd" { 5 } else { 75 }) {
                properties.insert(name.to_owned(), schema);
            }
        }
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn look(&mut self) -> Value {
        let mut look = serde_json::to_value(Customization::default()).expect("a look is JSON");
        look["title"] = self.text().into();
        look["favicon"] = match self.dice.below(3) {
            0 => json!({ "emoji": "1f4d8" }),
            1 => json!({ "icon": { "light": "https://x.org/l.png", "dark": "https://x.org/d.png" } }),
            _ => json!({}),
        };
        let link = json!({
            "title": "Where to",
            "to": { "kind": "url", "url": "https://x.org" },
            "links": [],
            "condition": self.dice.of(CONDITIONS),
        });
        look["header"]["links"] = vec![link; self.dice.below(3)].into();
        if self.dice.chance(10) {
            look["styling"]["primaryColor"]["light"] = "red".into();
        }
        look
    }

    fn look_of_place(&mut self) -> Value {
        let mut change = Map::new();
        let title = self.text();
        self.field(&mut change, "title", &[title.into(), "Of the space".into()]);
        self.field(&mut change, "favicon", &[json!({ "emoji": "1f680" })]);
        self.field(&mut change, "pdf", &[json!({ "enabled": false }), json!({ "enabled": 1 })]);
        self.field(&mut change, "styling", &[json!({ "corners": "rounded" }), json!({ "corners": "sharp" })]);
        change.into()
    }

    fn destination(&mut self, known: &KnownSite) -> Value {
        let (section, place) = (one(&mut self.dice, &known.sections), one(&mut self.dice, &known.places));
        match self.dice.below(3) {
            0 => json!({ "kind": "site-section", "siteSectionId": section }),
            1 => json!({ "kind": "site-space", "siteSpaceId": place }),
            _ => {
                let pages = self.known.spaces.first().map_or(&[][..], |space| &space.pages);
                json!({ "kind": "site-page", "siteSpaceId": place, "pageId": one(&mut self.dice, pages) })
            }
        }
    }

    /// Draws a URL below a known one, and the credentials of a visitor.
    fn ask(&mut self, known: &KnownSite) -> Value {
        let seen = self.dice.near(&known.addresses);
        let base = seen.map_or("https://docs.example/nothing", String::as_str).trim_end_matches('/');
        let below = match self.dice.below(6) {
            0 | 1 => String::new(),
            2 => (*self.dice.of(SOURCES)).to_owned(),
            3 => format!("/{}", self.text()),
            _ => {
                let paths = self.known.spaces.first().map_or(&[][..], |space| &space.paths);
                format!("/{}", one(&mut self.dice, paths))
            }
        };
        let mut visitor = Map::new();
        let beta = json!({ "beta": true, "other": [1] });
        self.field(&mut visitor, "unsignedClaims", &[beta, json!({})]);
        if self.dice.chance(60) {
            visitor.insert("jwtToken".to_owned(), self.token(known).into());
        }
        visitor.retain(|_, value| !value.is_null());
        let mut ask = Map::from_iter([("url".to_owned(), format!("{base}{below}").into())]);
        self.field(&mut ask, "redirectOnError", &[true.into(), false.into()]);
        if self.dice.chance(75) {
            ask.insert("visitor".to_owned(), visitor.into());
        }
        ask.into()
    }

    /// Draws a visitor token signed with a known key or a wrong one.
    fn token(&mut self, known: &KnownSite) -> String {
        let claims = self.dice.of::<&str>(&[
            r#"{"plan":"pro","exp":4102444800}"#,
            r#"{"plan":"free","teams":["ß"],"exp":4102444800}"#,
            r#"{"exp":1}"#,
        ]);
        let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let text = format!("{}.{}", encoded(r#"{"alg":"HS256","typ":"JWT"}"#), encoded(claims));
        let key = one(&mut self.dice, &known.signing);
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key of any length");
        mac.update(text.as_bytes());
        format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
    }
}

pub(super) fn place_of(known: &KnownSite) -> (OrgId, SiteId) {
    (id(if known.org.is_empty() { "nothing" } else { &known.org }), id(&known.id))
}
