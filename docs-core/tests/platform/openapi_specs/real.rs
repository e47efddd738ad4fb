//! Documents of others, processed by hand: `DOCS_SPECS=folder cargo test -p docs-core --test platform real --
//! --nocapture` publishes each specification below a folder, with all the files that it refers to, and says what came
//! of it. Without the variable there is nothing to publish.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use docs_core::platform::Shown;
use docs_memstore::MemGit;

use super::{pages::flat, *};
use crate::git::import;

/// The files of a folder, and of all in it.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

/// Tells whether a file says of itself that it is a specification.
fn is_entry(path: &Path) -> bool {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let is_said = |line: &str| line.starts_with("openapi:") || line.starts_with("swagger:");
    let is_json = ["\"openapi\":", "\"swagger\":"].iter().any(|said| text.contains(said));
    text.lines().any(is_said) || (text.starts_with('{') && is_json)
}

#[tokio::test]
async fn documents_of_a_folder_are_published_and_told_of() {
    let Some(folder) = std::env::var_os("DOCS_SPECS") else { return };
    let (web, git) = (MemWeb::new(), MemGit::new());
    let for_web = Arc::new(web.clone());
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(for_web).git(Arc::new(git.clone())).spec_reader(Arc::new(OpenApiReader))
    })
    .await;
    let mut all = Vec::new();
    files(Path::new(&folder), &mut all);
    let at = |path: &Path| format!("https://specs.example{}", path.display());
    for path in &all {
        web.put(&at(path), "text/plain", std::fs::read(path).expect("a file"));
    }
    let mut entries: Vec<&PathBuf> = all.iter().filter(|path| is_entry(path)).collect();
    entries.sort();
    for (n, entry) in entries.into_iter().enumerate() {
        let name = format!("spec-{n}");
        let began = Instant::now();
        w.put_spec(&name, url(&at(entry))).await;
        w.settled().await;
        let took = began.elapsed();
        let spec = w.spec(&name).await;
        println!("{}: {:?}, {took:?}", entry.display(), spec.processing_state);
        for error in spec.last_processed_errors.into_iter().flatten().take(4) {
            println!("    {:?} {}", error.code, error.message);
        }
        if spec.last_version.is_none() {
            continue;
        }
        let space = w.space().await;
        git.put("README.md", "# Start\n");
        let item = "\n* [Start](README.md)\n* ```yaml\n  type: builtin:openapi\n  props:\n    models: true\n  \
                    dependencies:\n    spec:\n      ref:\n        kind: openapi\n        spec: ";
        git.put("SUMMARY.md", format!("{item}{name}\n  ```\n"));
        assert_eq!(import(&w, &space).await.1, None);
        let pages =
            w.as_admin().space(&space).content().list_pages(Shown::default()).await.expect("read").pages;
        let mut found = Vec::new();
        flat(&pages, 0, &mut found);
        let files = w.spec_content(&name).await.as_object().map_or(0, serde_json::Map::len);
        println!(
            "    {files} files, {} pages: {:?}",
            found.len() - 1,
            found[1..].iter().map(|(_, page)| &page.base.title).take(4).collect::<Vec<_>>()
        );
    }
}
