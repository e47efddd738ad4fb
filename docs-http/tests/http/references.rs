//! References in the content of pages: reusable contents in place of their references, and links as paths of files.

use serde_json::json;

use crate::{
    front_ends,
    server::{Server, id},
};

/// Imports a repository whose pages refer to each other, a reusable content block and a picture. Returns the space.
async fn imported_space(s: &Server) -> String {
    let space = s.space().await;
    s.repository
        .put("SUMMARY.md", "* [Start](README.md)\n* [Guide](guide/README.md)\n  * [Linux](guide/linux.md)\n");
    s.repository.put("README.md", "# Start\n\nHello.\n");
    s.repository.put("guide/README.md", "# Guide\n\nRead [Linux](linux.md) and [Start](../README.md).\n");
    let text = "# Linux\n\n{% include \"../.gitbook/includes/note.md\" %}\n\nSee [the guide](README.md#top).\n\n\
                ![Gap](../.gitbook/assets/gap.png)\n";
    s.repository.put("guide/linux.md", text);
    s.repository.put(".gitbook/assets/gap.png", "PNG");
    s.repository.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\nMind the **gap**.\n");
    let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("/v1/spaces/{space}/git/import"), 204, import).await;
    s.platform.settle().await.expect("settled");
    space
}

#[tokio::test]
async fn reusable_contents_and_links_are_returned_as_requested() {
    let s = Server::new().await;
    let space = imported_space(&s).await;
    let content = format!("/v1/spaces/{space}/content");
    let head = id(&s.get(&content).await);
    let page = s.get(&format!("{content}/path/guide/linux")).await;
    let stored = page["markdown"].as_str().expect("Markdown").to_owned();
    assert!(stored.contains("{% include ") && !stored.contains("gap"), "{stored}");
    let revision = format!("/v1/spaces/{space}/revisions/{head}");
    for base in [&content, &revision] {
        let read = async |query: &str| s.get(&format!("{base}/page/{}?{query}", id(&page))).await;
        for query in ["dereferenced=false", "format.markdown.refs=stable", "cachedMetadata=true"] {
            assert_eq!(read(query).await["markdown"], stored.as_str(), "{query}");
        }
        for query in ["dereferenced=true", "dereferenced=reusable-contents"] {
            let shown = read(query).await["markdown"].as_str().expect("Markdown").to_owned();
            assert!(shown.contains("Mind the **gap**.") && !shown.contains("include"), "{shown}");
            let nodes = read(&format!("format=document&{query}")).await["document"]["nodes"].clone();
            assert_eq!((&nodes[0]["type"], nodes.as_array().map(Vec::len)), (&json!("paragraph"), Some(3)));
        }
        let shown = read("format.markdown.refs=relative").await["markdown"].clone();
        assert!(shown.as_str().is_some_and(|text| text.contains("[the guide](../guide.md#top)")), "{shown}");
        let path = format!("{base}/page/{}?", id(&page));
        for query in ["dereferenced=pages", "format.markdown.refs=absolute", "cachedMetadata=maybe"] {
            s.ask("GET", &format!("{path}{query}"), &s.admin, None).await.refused(400, query);
        }
    }
    let guide = s.get(&format!("{content}/path/guide?format.markdown.refs=relative")).await;
    let text = guide["markdown"].as_str().expect("Markdown");
    assert!(text.contains("[Linux](guide/linux.md)") && text.contains("[Start](readme.md)"), "{text}");
    let site = s.site("Docs", &[&space]).await;
    let url = s.post(&format!("{site}/publish"), 200, json!({})).await.body["urls"]["published"].clone();
    let visitor = front_ends::token(&s, &url).await;
    let read = async |query: &str| {
        let path = format!("{revision}/page/{}?format=markdown{query}", id(&page));
        s.ask("GET", &path, &visitor, None).await.is(200, query)["markdown"].clone()
    };
    let picture = id(&s.get(&format!("{revision}/files")).await["items"][0]);
    let file = |guide: &str| {
        format!("# Linux\n\nMind the **gap**.\n\nSee [the guide]({guide}#top).\n\n![Gap](/files/{picture})")
    };
    let (relative, stable) = (file("../guide.md"), file(&format!("/pages/{}", id(&guide))));
    for (query, file) in [
        ("", &relative),
        ("&format.markdown.refs=relative", &relative),
        ("&format.markdown.refs=stable", &stable),
        ("&format.markdown.refs=stable&dereferenced=true", &stable),
    ] {
        assert_eq!(
            read(query).await.as_str().map(str::trim_end),
            Some(&**file),
            "page file for visitors: {query}"
        );
    }
    for referenced in [format!("files/{picture}"), format!("page/{}", id(&guide))] {
        s.ask("GET", &format!("{revision}/{referenced}"), &visitor, None).await.is(200, "referenced content");
    }
    let document = format!("{revision}/page/{}/document", id(&page));
    assert_eq!(s.get(&document).await["nodes"][0]["type"], "reusable-content");
    assert_eq!(s.get(&format!("{document}?dereferenced=true")).await["nodes"][0]["type"], "paragraph");
}

#[tokio::test]
async fn files_for_visitors_contain_no_paths_of_hidden_pages() {
    let s = Server::new().await;
    let space = s.space().await;
    let edit = async |changes: serde_json::Value| {
        let requests = format!("/v1/spaces/{space}/change-requests");
        let request = format!("{requests}/{}", id(&s.post(&requests, 201, json!({})).await.body));
        s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    };
    edit(json!([{ "operation": "insert_page", "title": "Secret plan", "condition": "false",
        "document": { "markdown": "Hidden." } }]))
    .await;
    let content = format!("/v1/spaces/{space}/content");
    let secret = id(&s.get(&format!("{content}/path/secret-plan")).await);
    let text = format!("[link](/pages/{secret})");
    edit(json!([{ "operation": "insert_page", "title": "Open", "document": { "markdown": text } }])).await;
    let open = id(&s.get(&format!("{content}/path/open")).await);
    let site = s.site("Docs", &[&space]).await;
    let url = s.post(&format!("{site}/publish"), 200, json!({})).await.body["urls"]["published"].clone();
    let visitor = front_ends::token(&s, &url).await;
    for query in ["", "&format.markdown.refs=relative", "&format.markdown.refs=stable"] {
        let path = format!("{content}/page/{open}?format=markdown{query}");
        let page = s.ask("GET", &path, &visitor, None).await.is(200, query).to_string();
        assert!(page.contains("[link](") && !page.contains("secret"), "{query}: {page}");
    }
    let member = s.get(&format!("{content}/page/{open}?format.markdown.refs=relative")).await.to_string();
    assert!(member.contains("[link](secret-plan.md)"), "{member}");
}
