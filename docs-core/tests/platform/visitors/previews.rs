//! Previews of sites for members.

use std::time::Duration;

use docs_core::{
    ErrorKind,
    model::{
        ChangeRequest, ContentUpdateChange, Patch, PreviewSite, PublishedUrl, ResolveUrl, ResolvedContent,
        ResolvedUrl, Role, SiteId, SiteSpaceId, SiteVisibility, SpaceId, UpdateContent, UpdateSpace,
    },
    platform::{Actor, ContentOptions, Visitor},
    store::PageRequest,
};
use serde_json::{Value, json};

use super::{conditions::adapted, enter, place, show, site};
use crate::{
    search::{add, edit, space},
    support::{Refused, World},
};

/// A site that is not published, with two spaces. Only the administrator may read the second one.
struct Unpublished {
    w: World,
    docs: SiteId,
    guide: SpaceId,
    secret: SpaceId,
    at_guide: SiteSpaceId,
    at_secret: SiteSpaceId,
    member: Actor,
}

impl Unpublished {
    async fn new() -> Self {
        let w = World::new().await;
        let (guide, secret) = (space(&w, "Guide").await, space(&w, "Secret").await);
        add(&w, &guide, "Start", "The first text.").await;
        add(&w, &secret, "Plans", "For administrators.").await;
        let docs = site(&w, "Docs").await;
        let (at_guide, at_secret) = (place(&w, &docs, &guide).await, place(&w, &docs, &secret).await);
        let hidden = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
        w.as_admin().space(&secret).update(hidden).await.expect("closed");
        let member = w.member("Mia", Some(Role::Read)).await;
        Self { w, docs, guide, secret, at_guide, at_secret, member }
    }

    /// Returns the preview URL that an actor receives, without its token, and the visitor of the token.
    async fn preview(&self, actor: &Actor, asked: PreviewSite) -> docs_core::Result<(String, Actor)> {
        let url =
            self.w.platform.as_actor(actor).org(&self.w.org).site(&self.docs).preview(&asked).await?.url;
        let (url, token) = url.split_once("?token=").expect("a token");
        Ok((url.to_owned(), self.w.platform.authenticate(token).await?))
    }

    async fn open(&self, actor: &Actor, url: &str) -> docs_core::Result<(ResolvedContent, Actor)> {
        let content = match resolve(&self.w, actor, url).await? {
            ResolvedUrl::Content(content) => *content,
            other => panic!("{url} redirects: {other:?}"),
        };
        assert_eq!(content.preview, Some(true));
        let visitor = self.w.platform.authenticate(&content.api_token).await?;
        Ok((content, visitor))
    }

    /// Returns the titles of the pages of a space that an actor reads.
    async fn pages(&self, actor: &Actor, space: &SpaceId) -> docs_core::Result<Vec<String>> {
        let content = self.w.platform.as_actor(actor).space(space).content();
        titles(&content.list_pages(ContentOptions::default()).await?)
    }
}

fn titles(pages: &impl serde::Serialize) -> docs_core::Result<Vec<String>> {
    let pages = serde_json::to_value(pages).map_err(docs_core::Error::internal)?;
    let titles = pages["pages"].as_array().into_iter().flatten().filter_map(|page| page["title"].as_str());
    Ok(titles.map(str::to_owned).collect())
}

async fn resolve(w: &World, actor: &Actor, url: &str) -> docs_core::Result<ResolvedUrl> {
    let ask: ResolveUrl = serde_json::from_value(json!({ "url": url })).expect("a request");
    w.platform.as_actor(actor).resolve_url(&ask).await
}

#[tokio::test]
async fn unpublished_site_is_previewed_for_an_hour() {
    let it = Unpublished::new().await;
    let (url, visitor) = it.preview(&it.w.admin, PreviewSite::default()).await.expect("a preview");
    assert_eq!(url, format!("{}/preview/{}/", it.w.platform.urls().base(), it.docs));
    let shown = it.w.as_admin().org(&it.w.org).site(&it.docs).get().await.expect("a site");
    assert_eq!((shown.urls.preview, shown.urls.published), (url.clone(), None));
    let (content, inside) = it.open(&visitor, &format!("{url}start")).await.expect("open");
    assert_eq!((content.space, content.pathname.as_str()), (it.guide.clone(), "/start"));
    assert_eq!(content.canonical_url, format!("{url}start"));
    assert_eq!(content.site_base_path, format!("/preview/{}/", it.docs));
    assert_eq!(it.pages(&inside, &it.guide).await.expect("read"), ["Start"]);
    // The administrator's own credentials open the preview too.
    it.open(&it.w.admin, &url).await.expect("open for the member");
    let site = it.w.platform.as_actor(&inside).org(&it.w.org).site(&it.docs).published().await;
    let site = site.expect("rendered");
    assert_eq!(site.site.urls.published.as_ref(), Some(&url));
    let structure = serde_json::to_value(&site.structure).expect("JSON");
    let urls = [&structure["structure"][0], &structure["structure"][1]];
    let urls = urls.map(|place| place["urls"]["published"].clone());
    assert_eq!(urls, [json!(url), json!(format!("{url}secret/"))]);
    it.w.clock.advance(Duration::from_secs(3_600));
    let token = &content.api_token;
    it.w.platform.authenticate(token).await.refused(ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn previews_require_access_to_the_site() {
    let it = Unpublished::new().await;
    let (url, visitor) = it.preview(&it.member, PreviewSite::default()).await.expect("a preview");
    let stranger = crate::support::person(&it.w.platform, "Eve").await;
    resolve(&it.w, &Actor::Visitor(Visitor::anonymous()), &url).await.refused(ErrorKind::Unauthenticated);
    resolve(&it.w, &stranger, &url).await.refused(ErrorKind::NotFound);
    let other = site(&it.w, "Other").await;
    let other = url.replace(it.docs.as_str(), other.as_str());
    resolve(&it.w, &visitor, &other).await.refused(ErrorKind::NotFound);
    it.w.platform
        .resolve_url(&serde_json::from_value(json!({ "url": url })).expect("a request"))
        .await
        .refused(ErrorKind::NotFound);
    // The content token of a visitor of the published site gives no access.
    show(&it.w, &it.docs, SiteVisibility::Public).await;
    let base = super::address(&it.w, &it.docs).await;
    let (_, public) = enter(&it.w, &base, Value::Null).await.expect("published");
    resolve(&it.w, &public, &url).await.refused(ErrorKind::Unauthenticated);
    it.w.as_admin().org(&it.w.org).site(&it.docs).unpublish().await.expect("unpublished");
    it.open(&visitor, &url).await.expect("open");
    let user = it.member.user().expect("a user");
    it.w.as_admin().org(&it.w.org).member(user).remove().await.expect("removed");
    resolve(&it.w, &visitor, &url).await.refused(ErrorKind::NotFound);
    it.pages(&visitor, &it.guide).await.refused(ErrorKind::NotFound);
    it.preview(&it.member, PreviewSite::default()).await.refused(ErrorKind::NotFound);
    it.preview(&Actor::Platform, PreviewSite::default()).await.refused(ErrorKind::Forbidden);
}

#[tokio::test]
async fn previews_show_the_spaces_of_their_member() {
    let it = Unpublished::new().await;
    let (url, visitor) = it.preview(&it.member, PreviewSite::default()).await.expect("a preview");
    it.open(&visitor, &url).await.expect("open");
    assert_eq!(it.pages(&visitor, &it.guide).await.expect("read"), ["Start"]);
    it.pages(&visitor, &it.secret).await.refused(ErrorKind::NotFound);
    // `secret` is the path of a page, because the space does not exist for the member.
    let (content, _) = it.open(&visitor, &format!("{url}secret/plans")).await.expect("open");
    assert_eq!((content.space, content.pathname.as_str()), (it.guide.clone(), "/secret/plans"));
    let site = it.w.platform.as_actor(&visitor).org(&it.w.org).site(&it.docs).published().await;
    assert_eq!(site.expect("rendered").site.site_spaces, 1);
    let at = |id: &SiteSpaceId| PreviewSite { site_space: Some(id.clone()), ..PreviewSite::default() };
    it.preview(&it.member, at(&it.at_guide)).await.expect("readable");
    let refused = it.preview(&it.member, at(&it.at_secret)).await.refused(ErrorKind::Invalid);
    assert!(refused.message().starts_with("siteSpace: "), "{refused}");
    let (url, visitor) = it.preview(&it.w.admin, at(&it.at_secret)).await.expect("readable");
    assert!(url.ends_with("/secret/"), "{url}");
    assert_eq!(it.open(&visitor, &url).await.expect("open").0.space, it.secret);
}

#[tokio::test]
async fn preview_targets_are_urls_of_the_site() {
    let it = Unpublished::new().await;
    let (base, docs) = (it.w.platform.urls().base(), &it.docs);
    let at = |url: &str| PreviewSite { target: PublishedUrl::new(url).ok(), ..PreviewSite::default() };
    for (target, opened) in [
        (format!("{base}/sites/docs/secret/plans"), format!("{base}/preview/{docs}/secret/plans")),
        (format!("{base}/preview/{docs}/a%20b"), format!("{base}/preview/{docs}/a%20b")),
    ] {
        assert_eq!(it.preview(&it.w.admin, at(&target)).await.expect("a preview").0, opened);
    }
    for target in
        ["https://elsewhere.example/", &format!("{base}/app"), &format!("{base}/preview/{}/", it.guide)]
    {
        let refused = it.preview(&it.w.admin, at(target)).await.refused(ErrorKind::Invalid);
        assert!(refused.message().starts_with("target: "), "{refused}");
    }
    let both = PreviewSite { site_space: Some(it.at_guide.clone()), ..at(&format!("{base}/sites/docs/")) };
    let refused = it.preview(&it.w.admin, both).await.refused(ErrorKind::Invalid);
    assert!(refused.message().starts_with("target: "), "{refused}");
    let large = json!({ "name": "x".repeat(8 * 1024) }).as_object().cloned();
    let large = PreviewSite { claims: large, ..PreviewSite::default() };
    let refused = it.preview(&it.w.admin, large).await.refused(ErrorKind::Invalid);
    assert!(refused.message().starts_with("claims: "), "{refused}");
}

#[tokio::test]
async fn previews_read_change_requests_and_old_revisions() {
    let it = Unpublished::new().await;
    let before = it.w.as_admin().space(&it.guide).get().await.expect("a space").revision;
    add(&it.w, &it.guide, "Second", "The second text.").await;
    let (request, number) = open_request(&it.w, &it.guide).await;
    let (url, visitor) = it.preview(&it.member, PreviewSite::default()).await.expect("a preview");
    let (content, inside) = it.open(&visitor, &format!("{url}~/changes/{number}/third")).await.expect("open");
    assert_eq!((content.change_request, content.revision), (Some(number.clone()), None));
    assert_eq!(content.pathname, "/third");
    assert_eq!(content.base_path, format!("/preview/{}/~/changes/{number}/", it.docs));
    assert_eq!(content.canonical_url, format!("{url}~/changes/{number}/third"));
    let content = it.open(&visitor, &format!("{url}~/revisions/{before}")).await.expect("open").0;
    assert_eq!((content.change_request, content.revision), (None, Some(before.to_string())));
    let space = it.w.platform.as_actor(&inside).space(&it.guide);
    let shown = space.change_request(&number).get().await.expect("readable");
    assert_eq!((shown.id, shown.created_by.email), (request.id, None));
    assert!(request.created_by.email.is_some(), "members see the e-mail address");
    let pages = space.change_request(&number).content().list_pages(ContentOptions::default()).await;
    assert_eq!(titles(&pages.expect("readable")).expect("titles"), ["Start", "Second", "Third"]);
    let changes = space.change_request(&number).content().list_changes(None).await.expect("readable");
    assert_eq!(changes.changes.len(), 1);
    let old = space.revision(&before).list_pages(ContentOptions::default()).await.expect("readable");
    assert_eq!(titles(&old).expect("titles"), ["Start"]);
    // Visitors of the published site read the live content only.
    show(&it.w, &it.docs, SiteVisibility::Public).await;
    let base = super::address(&it.w, &it.docs).await;
    let (_, public) = enter(&it.w, &base, Value::Null).await.expect("published");
    let space = it.w.platform.as_actor(&public).space(&it.guide);
    space.change_request(&number).get().await.refused(ErrorKind::NotFound);
    let pages = space.change_request(&number).content().list_pages(ContentOptions::default()).await;
    pages.refused(ErrorKind::NotFound);
    space.revision(&before).list_pages(ContentOptions::default()).await.refused(ErrorKind::NotFound);
    // A space that is not on the site, or not readable for the member.
    let secret = open_request(&it.w, &it.secret).await.1;
    let secret = it.w.platform.as_actor(&inside).space(&it.secret).change_request(&secret).get().await;
    secret.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn file_urls_of_previews_expire_with_the_preview() {
    let it = Unpublished::new().await;
    let number = it.w.request(&it.guide).await;
    let request = it.w.as_admin().space(&it.guide).change_request(&number);
    let insert = json!({ "changes": [{ "operation": "insert_files",
        "files": [{ "name": "data.txt", "contentType": "text/plain", "base64": "RGF0YQ==" }] }] });
    let done = request.edit(serde_json::from_value(insert).expect("changes")).await.expect("edited");
    let file = &done.inserted_files.as_ref().expect("files")[0].id;
    let markdown = format!("![data](/files/{file})");
    let insert = json!({ "changes": [{ "operation": "insert_page", "title": "Shown", "document": { "markdown": markdown } }] });
    request.edit(serde_json::from_value(insert).expect("changes")).await.expect("edited");
    let (url, visitor) = it.preview(&it.member, PreviewSite::default()).await.expect("a preview");
    let inside = it.open(&visitor, &format!("{url}~/changes/{number}/")).await.expect("open").1;
    let content = it.w.platform.as_actor(&inside).space(&it.guide).change_request(&number).content();
    let files = content.list_files(ContentOptions::default(), &PageRequest::default()).await.expect("files");
    let changes = content.list_changes(None).await.expect("changes");
    let changes = serde_json::to_value(changes).expect("JSON");
    let changed = changes["changes"].as_array().expect("changes").iter();
    let changed = changed.filter_map(|change| change["file"]["downloadURL"].as_str()).next().expect("a URL");
    let urls = [files.items[0].download_url.as_str(), changed];
    let sealed = urls.map(|url| url.rsplit('/').nth(1).expect("a sealed part"));
    for sealed in sealed {
        it.w.platform.find_file(&it.guide, sealed).await.expect("found");
    }
    it.w.clock.advance(Duration::from_secs(3_600));
    for sealed in sealed {
        it.w.platform.find_file(&it.guide, sealed).await.refused(ErrorKind::NotFound);
    }
}

/// Creates a change request that adds a page. Returns it with its number.
async fn open_request(w: &World, space: &SpaceId) -> (ChangeRequest, String) {
    let number = w.request(space).await;
    let insert = json!({ "changes": [{ "operation": "insert_page", "title": "Third", "document": { "markdown": "" } }] });
    let insert: UpdateContent = serde_json::from_value(insert).expect("changes");
    let request = w.as_admin().space(space).change_request(&number);
    let done = request.edit(insert).await.expect("edited");
    assert!(matches!(done.changes.as_slice(), [ContentUpdateChange::CreatedPage { .. }]));
    (request.get().await.expect("a request"), number)
}

#[tokio::test]
async fn previews_evaluate_the_given_claims() {
    let w = World::new().await;
    let (docs, guide) = (adapted(&w).await, space(&w, "Guide").await);
    place(&w, &docs, &guide).await;
    let page = add(&w, &guide, "Beta", "For testers.").await;
    let hide =
        json!({ "operation": "update_page", "page": page, "condition": "visitor.claims.beta == true" });
    edit(&w, &guide, json!([hide])).await.expect("hidden");
    for (claims, expected) in [(json!({ "beta": true }), vec!["Beta"]), (json!({}), vec![])] {
        let asked = PreviewSite { claims: claims.as_object().cloned(), ..PreviewSite::default() };
        let url = w.as_admin().org(&w.org).site(&docs).preview(&asked).await.expect("a preview").url;
        let (url, token) = url.split_once("?token=").expect("a token");
        let visitor = w.platform.authenticate(token).await.expect("a visitor");
        let ResolvedUrl::Content(content) = resolve(&w, &visitor, url).await.expect("open") else {
            panic!("{url} redirects");
        };
        let visitor = w.platform.authenticate(&content.api_token).await.expect("a visitor");
        let pages =
            w.platform.as_actor(&visitor).space(&guide).content().list_pages(ContentOptions::default()).await;
        assert_eq!(titles(&pages.expect("readable")).expect("titles"), expected, "{claims}");
    }
}

#[tokio::test]
async fn previews_show_drafts_unless_asked_otherwise() {
    let it = Unpublished::new().await;
    let draft = serde_json::from_value(json!({ "draft": true })).expect("a change");
    it.w.as_admin().org(&it.w.org).site(&it.docs).space(&it.at_secret).update(draft).await.expect("a draft");
    for (draft, count) in [(None, 2), (Some(true), 2), (Some(false), 1)] {
        let asked = PreviewSite { draft, ..PreviewSite::default() };
        let (_, visitor) = it.preview(&it.w.admin, asked).await.expect("a preview");
        let site = it.w.platform.as_actor(&visitor).org(&it.w.org).site(&it.docs).published().await;
        assert_eq!(site.expect("rendered").site.site_spaces, count, "{draft:?}");
        assert_eq!(it.pages(&visitor, &it.secret).await.is_ok(), count == 2, "{draft:?}");
    }
}
