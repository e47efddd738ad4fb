//! Files and reusable content blocks are visible if visible content references them.

use std::collections::BTreeSet;

use docs_core::{
    Actor, ErrorKind,
    model::SiteVisibility,
    platform::{ContentOptions, ContentVersion},
};
use serde_json::json;

use super::{address, enter, key, place, show, site, token};
use crate::{
    git::{import, world},
    support::{Refused, World},
};

/// Returns the names of the files and the titles of the reusable content blocks that a reader sees.
async fn told(w: &World, reader: &Actor, of: &ContentVersion) -> (BTreeSet<String>, BTreeSet<String>) {
    let shown =
        w.platform.as_actor(reader).content(of).get(ContentOptions::default()).await.expect("a revision");
    let files = shown.files.iter().map(|file| file.name.to_string()).collect();
    (files, shown.reusable_contents.iter().map(|content| content.title.to_string()).collect())
}

/// This includes reusable content blocks, and the files used in them.
#[tokio::test]
async fn files_used_only_in_hidden_blocks_are_hidden() {
    let (w, remote, space) = world().await;
    let p = &w.platform;
    remote.put("SUMMARY.md", "* [Welcome](README.md)\n");
    remote.put(
        "README.md",
        "# Welcome\n\n{% if visitor.claims.beta %}\n{% include \".gitbook/includes/outer.md\" %}\n{% endif %}\n\n\
         ![](.gitbook/assets/open.png)\n",
    );
    remote.put(
        ".gitbook/includes/outer.md",
        "---\ntitle: Outer\n---\n\n{% include \"inner.md\" %}\n\n![](../assets/outer.png)\n",
    );
    remote.put(
        ".gitbook/includes/inner.md",
        "---\ntitle: Inner\n---\n\n{% if visitor.claims.pro %}\n![](../assets/inner.png)\n{% endif %}\n\n\
         {% include \"outer.md\" %}\n",
    );
    for name in ["open", "outer", "inner", "unused"] {
        remote.put(&format!(".gitbook/assets/{name}.png"), name);
    }
    import(&w, &space).await;
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &space).await;
    let kind = |what: &str| json!({ "type": "boolean", "description": what });
    let schema = json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "beta": kind("Tries what is new"), "pro": kind("Pays"),
    } } });
    let schema = serde_json::from_value(schema).expect("a schema");
    w.as_admin().org(&w.org).site(&docs).set_adaptive_schema(schema).await.expect("set");
    let adapts = serde_json::from_value(json!({ "adaptiveContent": { "enabled": true } })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).update(adapts).await.expect("changed");
    show(&w, &docs, SiteVisibility::Public).await;
    let (url, signs) = (address(&w, &docs).await, key(&w, &w.org, &docs).await);
    let of = ContentVersion::space(space.clone());
    let all = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("a revision");
    assert_eq!((all.files.len(), all.reusable_contents.len()), (4, 2), "members see all");
    for (claims, files, reusables) in [
        (json!({}), vec!["open.png"], vec![]),
        (json!({ "pro": true }), vec!["open.png"], vec![]),
        (json!({ "beta": true }), vec!["open.png", "outer.png"], vec!["Inner", "Outer"]),
        (
            json!({ "beta": true, "pro": true }),
            vec!["inner.png", "open.png", "outer.png"],
            vec!["Inner", "Outer"],
        ),
    ] {
        let (_, reader) = enter(&w, &url, json!({ "jwtToken": token(&signs, &claims) })).await.expect("open");
        let expected = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
        assert_eq!(told(&w, &reader, &of).await, (expected(files), expected(reusables.clone())), "{claims}");
        for content in &all.reusable_contents {
            let got =
                p.as_actor(&reader).content(&of).get_reusable_document(&content.id, Default::default()).await;
            match reusables.contains(&content.title.as_str()) {
                true => drop(got.expect("seen")),
                false => drop(got.refused(ErrorKind::NotFound)),
            }
        }
    }
}
