//! The platform with no HTTP at all: a space, a change request, an edit, a merge.
//!
//! `cargo run --example library_only`

use std::{error::Error, sync::Arc};

use docs_core::{
    Actor, Platform,
    model::{ContentChange, CreateChangeRequest, CreateSpace, RevisionPage, UpdateContent},
    platform::{ContentOf, NewUser, Shown},
};
use docs_memstore::{MemObjects, MemStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    let ada = platform.create_user(&Actor::Platform, ada).await?;
    let org = platform.create_org(&Actor::Platform, "Engines".parse()?, &ada.id).await?.id;
    let me = Actor::User(ada.id);

    let new = CreateSpace { title: Some("Guide".parse()?), ..CreateSpace::default() };
    let space = platform.create_space(&me, &org, new).await?;
    let request =
        CreateChangeRequest { subject: Some("A first page".parse()?), ..CreateChangeRequest::default() };
    let request = platform.create_change_request(&me, &space.id, request).await?;

    // Changes have the form they have on the wire.
    let change: ContentChange = serde_json::from_str(
        r##"{ "operation": "insert_page", "document": { "markdown": "# Welcome\n\nHello, reader." } }"##,
    )?;
    let number = request.number.to_string();
    let changes = UpdateContent { changes: vec![change] };
    let done = platform.edit_content(&me, &space.id, &number, changes).await?;
    println!("change request {} touched {} page(s)", done.change_request.number, done.changes.len());

    let merged = platform.merge_change_request(&me, &space.id, &number).await?;
    println!("merged as revision {} ({:?})", merged.revision, merged.result);

    let pages = platform.list_pages(&me, &ContentOf::space(space.id), Shown::default()).await?;
    for page in &pages.pages {
        if let RevisionPage::Document(page) = page {
            println!("the space now has “{}” at /{}", page.base.title, page.path);
        }
    }
    Ok(())
}
