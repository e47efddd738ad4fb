//! Previews of whole sites, published or not.

use docs_core::model::{CreateChangeRequest, PreviewSite, UpdateContent};
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::world::{World, path_of};

#[tokio::test]
async fn unpublished_site_is_shown_at_its_preview_url() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let first = w.page(&space, "First", "The quick fox jumps.").await;
    let (id, site) = w.site("Docs", &space).await;
    let at_site = w.me().org(&w.org).site(&id);
    at_site.unpublish().await.expect("unpublished");
    let requests = w.me().space(&space);
    let number = requests.change_requests().create(CreateChangeRequest::default()).await.expect("one").number;
    let change = json!({ "changes": [
        { "operation": "update_page", "page": first, "document": { "markdown": "The slow fox jumps." } },
    ] });
    let change: UpdateContent = serde_json::from_value(change).expect("changes");
    requests.change_request(&number.to_string()).edit(change).await.expect("edited");
    let url = at_site.preview(&PreviewSite::default()).await.expect("a preview").url;
    let (path, token) = url.split_once("?token=").expect("a token");
    let path = path_of(path);
    assert_eq!(path, format!("/preview/{id}/"));
    // The token moves from the URL to a cookie of the preview.
    let got = w.get(&format!("{path}?token={token}")).await;
    assert_eq!(
        (got.status, got.header("location")),
        (StatusCode::TEMPORARY_REDIRECT, path.trim_end_matches('/'))
    );
    let cookie = got.header("set-cookie");
    assert!(cookie.contains(&format!("Path=/preview/{id};")), "{cookie}");
    let cookie = cookie.split(';').next().expect("a cookie").to_owned();
    let get = async |path: &str| w.ask(Method::GET, path, &[("cookie", cookie.as_str())]).await;
    let shown = get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
    assert!(shown.body.contains("The quick fox"), "{}", shown.body);
    assert!(!shown.body.contains(&site), "links stay in the preview: {}", shown.body);
    assert_eq!((shown.header("cache-control"), shown.header("x-robots-tag")), ("no-store", "noindex"));
    let changed = get(&format!("{path}~/changes/{number}/")).await;
    assert!(
        changed.body.contains("The slow fox") && !changed.body.contains("The quick fox"),
        "{}",
        changed.body
    );
    let compared = get(&format!("{path}~/changes/{number}/~compare")).await;
    assert!(compared.body.contains("<del>quick </del><ins>slow </ins>fox"), "{}", compared.body);
    for path in [path.clone(), format!("{path}~/changes/{number}/")] {
        let refused = w.get(&path).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{refused:?}");
        assert!(!refused.body.contains("fox"), "{}", refused.body);
    }
    assert_eq!(get(&site).await.status, StatusCode::NOT_FOUND, "it is not published");
    w.clock.advance(std::time::Duration::from_secs(3_600));
    let ended = get(&path).await;
    assert_eq!(ended.status, StatusCode::UNAUTHORIZED, "{ended:?}");
}

#[tokio::test]
async fn previews_do_not_enter_the_caches_of_visitors() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "The quick fox jumps.").await;
    let (id, site) = w.site("Docs", &space).await;
    let draft = w.space("Draft").await;
    w.page(&draft, "Later", "Not published yet.").await;
    let place = w.place(&id, &draft).await;
    let change = serde_json::from_value(json!({ "draft": true })).expect("a change");
    w.me().org(&w.org).site(&id).space(&place).update(change).await.expect("a draft");
    let url = w.me().org(&w.org).site(&id).preview(&PreviewSite::default()).await.expect("a preview").url;
    let (path, token) = url.split_once("?token=").expect("a token");
    let (path, header) = (path_of(path), format!("Bearer {token}"));
    for _ in 0..2 {
        let shown = w.ask(Method::GET, &format!("{path}draft/later"), &[("authorization", &header)]).await;
        assert!(shown.body.contains("Not published yet."), "{shown:?}");
        assert_eq!(w.get(&format!("{site}draft/later")).await.status, StatusCode::NOT_FOUND);
        let public = w.html(&site).await;
        assert!(public.contains("The quick fox") && !public.contains("Draft"), "{public}");
        assert!(!public.contains("/preview/"), "{public}");
    }
}
