//! `cargo bench -p docs-benches --bench sites`: resolving a URL of a site, reading a published site as a member and as
//! visitors with claims, and evaluating a condition.
//!
//! The results should not depend on the number of other sites.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use docs_benches::{Outcome, platform_with};
use docs_core::{
    Actor, Platform,
    content::expression::{Context, Expression, MAX_LENGTH, condition},
    model::{OrgId, ResolveUrl, ResolvedUrl, SiteId, SpaceId},
};
use serde_json::{Value, json};

/// Number of sections and spaces of the site.
const SECTIONS: usize = 20;
const PLACES: usize = 100;
/// Conditions of sections and spaces. Every visitor satisfies some of them.
const CONDITIONS: [&str; 4] = [
    "visitor.claims.unsigned.plan == 'pro'",
    "visitor.claims.unsigned.beta && visitor.claims.unsigned.plan in ['free', 'team']",
    "!visitor.claims.unsigned.beta || ['team', 'pro'].some(plan => plan.startsWith(visitor.claims.unsigned.plan))",
    "visitor.claims.unsigned.plan != 'none'",
];

/// Returns the numbers of other sites. A test run uses one.
fn sizes() -> Vec<usize> {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    if is_measured { vec![1, 100, 1_000] } else { vec![1] }
}

/// Parses a request from JSON.
fn request<T: serde::de::DeserializeOwned>(json: Value) -> serde_json::Result<T> {
    serde_json::from_value(json)
}

/// A platform with two large sites among others: one without conditions, and one with a condition on every section and
/// space.
struct Sites {
    platform: Platform,
    admin: Actor,
    org: OrgId,
    plain: Large,
    adapted: Large,
}

/// A site, and the URL of a page in its last space.
struct Large {
    id: SiteId,
    url: String,
}

impl Sites {
    async fn filled(others: usize) -> Outcome<Self> {
        let (platform, org, spaces, token) = platform_with(PLACES + 1).await?;
        let admin = platform.authenticate(&token).await?;
        let maker = Maker { platform: &platform, admin: &admin, org: &org };
        // The other sites show a different space, because resolving a member's view examines some of the sites that
        // share a space.
        let (spaces, other) = spaces.split_at(PLACES);
        for n in 0..others {
            let id = maker.site(&format!("Other {n}")).await?;
            let add = request(json!({ "spaceId": other[0] }))?;
            platform.as_actor(&admin).org(&org).site(&id).spaces().create(add).await?;
        }
        let plain = maker.large("Plain", spaces, None).await?;
        let adapted = maker.large("Adapted", spaces, Some(CONDITIONS)).await?;
        maker.adapt(&adapted.id).await?;
        Ok(Self { platform, admin, org, plain, adapted })
    }

    /// Returns a visitor of a site with these claims.
    async fn visitor(&self, site: &Large, claims: &Value) -> Outcome<Actor> {
        match self.platform.resolve_url(&asking(site, claims)?).await? {
            ResolvedUrl::Content(content) => Ok(self.platform.authenticate(&content.api_token).await?),
            ResolvedUrl::Redirect(other) => Err(format!("{} leads to {}", site.url, other.redirect).into()),
        }
    }
}

struct Maker<'m> {
    platform: &'m Platform,
    admin: &'m Actor,
    org: &'m OrgId,
}

impl Maker<'_> {
    async fn site(&self, title: &str) -> Outcome<SiteId> {
        let new = request(json!({ "title": title, "spaces": [] }))?;
        let id = self.platform.as_actor(self.admin).org(self.org).sites().create(new).await?.id;
        self.platform.as_actor(self.admin).org(self.org).site(&id).publish().await?;
        Ok(id)
    }

    async fn large(&self, title: &str, spaces: &[SpaceId], conditions: Option<[&str; 4]>) -> Outcome<Large> {
        let id = self.site(title).await?;
        let (platform, of) = (self.platform, (self.org, &id));
        let mut url = String::new();
        for (n, spaces) in spaces.chunks(PLACES / SECTIONS).enumerate() {
            let condition = |n: usize| conditions.map(|all| json!({ "condition": all[n % all.len()] }));
            let add = json!({ "spaceId": spaces[0], "title": format!("Section {n}") });
            let section =
                platform.as_actor(self.admin).org(of.0).site(of.1).sections().create(request(add)?).await?;
            if let Some(change) = condition(n) {
                platform
                    .as_actor(self.admin)
                    .org(of.0)
                    .site(of.1)
                    .section(&section.id)
                    .update(request(change)?)
                    .await?;
            }
            for (m, space) in spaces.iter().enumerate().skip(1) {
                let add = request(json!({ "spaceId": space, "sectionId": section.id }))?;
                let place = platform.as_actor(self.admin).org(of.0).site(of.1).spaces().create(add).await?;
                if let Some(change) = condition(n + m) {
                    platform
                        .as_actor(self.admin)
                        .org(of.0)
                        .site(of.1)
                        .space(&place.id)
                        .update(request(change)?)
                        .await?;
                }
                url = format!("{}guide/start", place.urls.published.ok_or("it is published")?);
            }
        }
        Ok(Large { id, url })
    }

    /// Enables adaptive content on a site.
    async fn adapt(&self, site: &SiteId) -> Outcome<()> {
        let change = request(json!({ "adaptiveContent": { "enabled": true } }))?;
        self.platform.as_actor(self.admin).org(self.org).site(site).update(change).await?;
        let claim = |mut kind: Value| {
            kind["description"] = "What for".into();
            kind
        };
        let unsigned = json!({
            "type": "object", "description": "Unsigned claims of the site visitor.", "additionalProperties": false,
            "properties": {
                "plan": claim(json!({ "type": "string", "enum": ["free", "team", "pro", "none"] })),
                "beta": claim(json!({ "type": "boolean" })),
                "groups": claim(json!({ "type": "array", "items": claim(json!({ "type": "string" })) })),
            },
        });
        let schema = json!({
            "type": "object", "additionalProperties": false, "properties": { "unsigned": unsigned },
        });
        let schema = request(json!({ "jsonSchema": schema }))?;
        self.platform.as_actor(self.admin).org(self.org).site(site).set_adaptive_schema(schema).await?;
        Ok(())
    }
}

fn asking(site: &Large, claims: &Value) -> serde_json::Result<ResolveUrl> {
    request(json!({ "url": site.url, "visitor": { "unsignedClaims": claims } }))
}

fn claims() -> Value {
    json!({ "plan": "pro", "beta": true, "groups": ["readers", "writers", "administrators"] })
}

fn sites(c: &mut Criterion) {
    read(c).expect("a platform in memory does not fail");
}

fn read(c: &mut Criterion) -> Outcome<()> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for others in sizes() {
        let sites = rt.block_on(Sites::filled(others))?;
        let platform = &sites.platform;
        let mut group = c.benchmark_group("an address is resolved");
        for (name, site) in [("without conditions", &sites.plain), ("with conditions", &sites.adapted)] {
            let ask = asking(site, &claims())?;
            group.bench_function(BenchmarkId::new(name, others), |b| {
                b.iter(|| black_box(rt.block_on(platform.resolve_url(&ask))).expect("an address"));
            });
        }
        group.finish();
        let mut group = c.benchmark_group("a published site is read");
        let visitor = rt.block_on(sites.visitor(&sites.adapted, &claims()))?;
        let anybody = rt.block_on(sites.visitor(&sites.plain, &json!({})))?;
        let readers = [
            ("by a member", &sites.admin, &sites.adapted),
            ("by a visitor, with conditions", &visitor, &sites.adapted),
            ("by a visitor, without conditions", &anybody, &sites.plain),
        ];
        for (name, reader, site) in readers {
            group.bench_function(BenchmarkId::new(name, others), |b| {
                b.iter(|| {
                    let of = (&sites.org, &site.id);
                    black_box(rt.block_on(platform.as_actor(reader).org(of.0).site(of.1).published()))
                        .expect("a site")
                });
            });
        }
        group.finish();
    }
    Ok(())
}

/// Returns a condition close to the length limit that has to be evaluated completely.
fn long_condition() -> String {
    let one = "visitor.claims.unsigned.plan == 'no' || ";
    format!("{}visitor.claims.unsigned.beta", one.repeat((MAX_LENGTH - 40) / one.len()))
}

fn conditions(c: &mut Criterion) {
    let context = Context::default().with_visitor(&json!({}), &claims());
    let long = long_condition();
    let items = "'x'.repeat(1000).split('').filter(x => x == visitor.claims.unsigned.plan).length == 0";
    let mut group = c.benchmark_group("a condition is decided");
    for (name, text) in
        [("short", CONDITIONS[0]), ("as long as allowed", &*long), ("of a thousand items", items)]
    {
        assert!(condition(text, &context), "{name}");
        group.bench_function(BenchmarkId::new("read and evaluated", name), |b| {
            b.iter(|| black_box(condition(text, &context)));
        });
        let expression = Expression::parse(text).expect("an expression");
        group.bench_function(BenchmarkId::new("evaluated", name), |b| {
            b.iter(|| black_box(expression.evaluate(&context)).expect("a value"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = sites, conditions
}
criterion_main!(benches);
