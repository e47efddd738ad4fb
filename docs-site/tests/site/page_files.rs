//! The files that pages show, whose URLs are encrypted for each visitor.

use docs_core::model::SpaceId;
use poem::http::Method;
use serde_json::{Value, json};

use crate::{settings::import, world::World};

/// Number of files of each space.
const FILES: usize = 20;

/// Adds files, which pages of the same change reference as `/files/f0` and so on.
fn files() -> Value {
    let file = |at: usize| {
        json!({ "name": format!("n{at}.png"), "base64": "YQ==", "contentType": "image/png",
            "ref": format!("f{at}") })
    };
    json!({ "operation": "insert_files", "files": (0..FILES).map(file).collect::<Vec<_>>() })
}

fn page(title: &str, text: &str) -> Value {
    json!({ "operation": "insert_page", "title": title, "document": { "markdown": text } })
}

/// Adds a page that shows all files, so that visitors see them.
fn gallery() -> Value {
    page("Gallery", &(0..FILES).map(|at| format!("![](/files/f{at})\n\n")).collect::<String>())
}

/// Creates a space with files, whose reusable content block shows one of them. Returns the id of the block.
async fn shared_space(w: &World) -> (SpaceId, String) {
    let space = w.space("Shared").await;
    let block = json!({ "operation": "insert_reusable_content", "title": "Block",
        "document": { "markdown": "![](/files/f15)" } });
    w.edit(&space, json!([files(), gallery(), block])).await;
    let content = w.me().space(&space).content().get(Default::default()).await.expect("content");
    let block = content.reusable_contents[0].id.to_string();
    (space, block)
}

#[tokio::test]
async fn pages_encrypt_the_urls_of_shown_files_only() {
    let w = World::new().await;
    let (shared, block) = shared_space(&w).await;
    let space = w.space("Guide").await;
    let uses = format!("{{% include \"/spaces/{shared}/reusable-content/{block}\" %}}");
    let shows = format!("![a](/files/f1)\n\n![b](/files/f2)\n\n![b](/files/f2) [c](/files/f3)\n\n{uses}\n");
    let changes = json!([files(), page("Plain", "No files."), page("Shows", &shows), gallery()]);
    w.edit(&space, changes).await;
    let (id, site) = w.site("Docs", &space).await;
    w.place(&id, &shared).await;
    let content = w.me().space(&space).content().get(Default::default()).await.expect("content");
    let file = |name: &str| {
        let file = content.files.iter().find(|file| file.name == name).expect("a file");
        json!({ "kind": "file", "file": file.id })
    };
    let link = json!({ "title": "File", "links": [], "to": file("n6.png") });
    w.look(&id, json!({ "header": { "preset": "default", "links": [link] } })).await;
    for (path, names) in [
        ("plain", vec![6]),
        ("plain.md", vec![6]),
        ("missing", vec![6]),
        ("shows", vec![1, 2, 3, 6, 15]),
        ("shows.md", vec![1, 2, 3, 6]),
        ("gallery", (0..FILES).collect()),
    ] {
        let server = w.measured();
        let path = format!("{site}{path}");
        for _ in 0..2 {
            let got = World::ask_of(&server.app, Method::GET, &path, &[]).await;
            for name in names.iter().filter(|name| !path.ends_with(".md") || **name != 6) {
                assert!(got.body.contains(&format!("/n{name}.png")), "{path}: n{name} in {}", got.body);
            }
        }
        assert_eq!(server.sealed_files(), names.len() as u64, "{path}");
    }
}

#[tokio::test]
async fn cover_of_a_page_is_shown() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("SUMMARY.md", "* [Welcome](README.md)\n* [Pictured](pictured.md)\n");
    w.git.put("pictured.md", "---\ncover: a.svg\n---\n\n# Pictured\n");
    w.git.put("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    import(&w, &space, json!({})).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&format!("{site}pictured")).await;
    let cover = page.split("page-cover").nth(1).expect("a cover");
    assert!(cover[..2_000.min(cover.len())].contains("/a.svg\""), "{page}");
}
