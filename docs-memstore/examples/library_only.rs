//! The platform as a library without HTTP: creates a space and a change request, edits the change request and merges
//! it.
//!
//! `cargo run --example library_only`

use std::{error::Error, sync::Arc};

use docs_core::{
    Platform,
    model::{ContentEdit, CreateChangeRequest, CreateSpace, RevisionPage, UpdateContent},
    platform::{ContentOptions, NewUser},
};
use docs_memstore::{MemObjects, MemStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    let ada = platform.as_platform().users().create(ada).await?;
    let org = platform.as_platform().orgs().create("Engines".parse()?, &ada.id).await?.id;
    let me = platform.as_user(&ada.id);

    let new = CreateSpace { title: Some("Guide".parse()?), ..CreateSpace::default() };
    let space = me.org(&org).spaces().create(new).await?.id;
    let space = me.space(&space);
    let request =
        CreateChangeRequest { subject: Some("A first page".parse()?), ..CreateChangeRequest::default() };
    let request = space.change_requests().create(request).await?;

    // Changes have the same JSON format as in the HTTP API.
    let change: ContentEdit = serde_json::from_str(
        r##"{ "operation": "insert_page", "document": { "markdown": "# Welcome\n\nHello, reader." } }"##,
    )?;
    let changes = UpdateContent { changes: vec![change] };
    let request = space.change_request(request.id.as_str());
    let done = request.edit(changes).await?;
    println!("change request {} touched {} page(s)", done.change_request.number, done.changes.len());

    let merged = request.merge().await?;
    println!("merged as revision {} ({:?})", merged.revision, merged.result);

    let pages = space.content().list_pages(ContentOptions::default()).await?;
    for page in &pages.pages {
        if let RevisionPage::Document(page) = page {
            println!("the space now has “{}” at /{}", page.base.title, page.path);
        }
    }
    Ok(())
}
