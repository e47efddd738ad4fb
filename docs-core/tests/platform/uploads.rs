//! Uploads: streamed bytes become an ordinary file or leave no data behind.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use docs_core::{
    ErrorKind, Result,
    content::PART_BYTES,
    model::{EditMode, MergeOutcome, RevisionFile, Role, SpaceId, UpdateContent, UpdateSpace},
    platform::{
        Caller, CollectMode, ContentOptions, ContentVersion, FileUpload, IdempotentRequest, NewUpload,
        OBJECT_GRACE_PERIOD, StoredFile, WRITE_WINDOW,
    },
    ports::{Web, WebError, WebResponse},
    store::PageRequest,
};
use serde_json::json;

use crate::support::{Refused, World};

fn named(name: &str) -> NewUpload {
    NewUpload { name: name.parse().expect("a name"), content_type: None }
}

/// Returns non-repeating bytes.
fn bytes(size: usize) -> Vec<u8> {
    (0..size as u64)
        .flat_map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).to_le_bytes())
        .take(size)
        .collect()
}

async fn upload(
    me: Caller<'_>,
    of: &ContentVersion,
    new: NewUpload,
    pieces: &[&[u8]],
) -> Result<RevisionFile> {
    let mut upload = me.content(of).upload_file(new).await?;
    for piece in pieces {
        upload.write(Bytes::copy_from_slice(piece)).await?;
    }
    upload.finish().await
}

async fn stored(w: &World, space: &SpaceId, file: &RevisionFile) -> StoredFile {
    let sealed = file.download_url.rsplit('/').nth(1).expect("a sealed part");
    w.platform.find_file(space, sealed).await.expect("found")
}

/// Creates a space with editable live content and an open change request, as upload targets.
async fn places(w: &World) -> (SpaceId, [ContentVersion; 2]) {
    let space = w.space().await;
    let open = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(open).await.expect("open for edits");
    let request = w.request(&space).await;
    let places = [ContentVersion::space(space.clone()), ContentVersion::request(space.clone(), &request)];
    (space, places)
}

#[tokio::test]
async fn file_of_any_size_round_trips_whole_and_in_ranges() {
    let w = World::new().await;
    let (space, places) = places(&w).await;
    for size in [0, 1, 70_000, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 7]
    {
        let all = bytes(size);
        let pieces: Vec<&[u8]> = all.chunks(65_521).collect();
        for of in &places {
            let file = upload(w.as_admin(), of, named("data.bin"), &pieces).await.expect("uploaded");
            assert_eq!(file.size, size as u64);
            let shown =
                w.as_admin().content(of).get_file(&file.id, ContentOptions::default()).await.expect("read");
            assert_eq!(shown, file, "it is shown as it was answered");
            let stored = stored(&w, &space, &file).await;
            let whole = w.platform.file_bytes(&stored, None).await.expect("read");
            assert!(whole == all, "{size} bytes");
            let (n, part) = (size as u64, PART_BYTES as u64);
            for range in
                [0..1, n / 2..n, part - 1..part + 1, part..part, part..2 * part, n..n + 5, 3..2 * part + 3]
            {
                let place = |at: u64| usize::try_from(at.min(n)).expect("a place");
                let expected = &all[place(range.start)..place(range.end.max(range.start))];
                let read = w.platform.file_bytes(&stored, Some(range.clone())).await.expect("read");
                assert!(read == expected, "{range:?} of {size}: {} bytes", read.len());
                let mut joined = Vec::new();
                for piece in stored.pieces(range.clone()) {
                    assert!(piece.end - piece.start <= part, "{piece:?}");
                    joined.extend(w.platform.file_bytes(&stored, Some(piece)).await.expect("read"));
                }
                assert!(joined == expected, "the pieces of {range:?} of {size}");
            }
        }
    }
    w.check().await;
}

/// A mock web with one file.
struct One(Vec<u8>);

#[async_trait]
impl Web for One {
    async fn get(&self, url: &str) -> std::result::Result<WebResponse, WebError> {
        let bytes = Bytes::copy_from_slice(&self.0);
        Ok(WebResponse { bytes, content_type: None, charset: None, url: url.to_owned() })
    }
}

#[tokio::test]
async fn equal_bytes_are_equal_files_for_all_upload_methods() {
    for size in [1_000, 2 * PART_BYTES + 7] {
        let mut all = b"GIF89a\x64\0\x32\0\0\0\0".to_vec();
        all.extend(bytes(size));
        let w = World::with_web(Arc::new(One(all.clone()))).await;
        let (_, [_, request]) = places(&w).await;
        let uploaded =
            upload(w.as_admin(), &request, named("a.gif"), &[&all[..5], &all[5..]]).await.expect("uploaded");
        let change = json!({ "operation": "insert_files", "files": [{ "name": "b.gif", "url": "https://a.example/" }] });
        let update = UpdateContent { changes: vec![serde_json::from_value(change).expect("a change")] };
        let name = uploaded_to(&request);
        let done =
            w.as_admin().space(&request.space).change_request(&name).edit(update).await.expect("edited");
        let fetched = done.inserted_files.expect("files").remove(0);
        let dimensions = uploaded.dimensions.expect("a picture");
        assert_eq!((dimensions.width, dimensions.height), (100.0, 50.0));
        let alike = RevisionFile {
            id: fetched.id.clone(),
            name: fetched.name.clone(),
            download_url: uploaded.download_url.replace("/a.gif", "/b.gif"),
            ..uploaded
        };
        assert_eq!(alike, fetched, "{size}");
    }
}

fn uploaded_to(request: &ContentVersion) -> String {
    match &request.version {
        docs_core::platform::Version::Request(name) => name.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn file_names_and_types_are_normalized_or_rejected() {
    let w = World::new().await;
    let (_, [live, _]) = places(&w).await;
    for (name, told, shown_as) in [
        ("logo.png", None, "image/png"),
        ("logo.png", Some("application/octet-stream"), "image/png"),
        ("logo", Some("image/png"), "image/png"),
        ("notes.unknown", None, "application/octet-stream"),
        ("notes", Some("text/plain; charset=latin1"), "text/plain; charset=latin1"),
    ] {
        let new = NewUpload { content_type: told.map(str::to_owned), ..named(name) };
        let file = upload(w.as_admin(), &live, new, &[b"x"]).await.expect("uploaded");
        assert_eq!(file.content_type, shown_as, "{name} {told:?}");
    }
    let files =
        w.as_admin().content(&live).list_files(ContentOptions::default(), &PageRequest::default()).await;
    let mut names: Vec<String> = files.expect("listed").items.into_iter().map(|file| file.name).collect();
    names.sort();
    assert_eq!(names, ["logo", "logo (1).png", "logo.png", "notes", "notes.unknown"]);
    for (name, told, field) in [
        ("../a.png", None, "name"),
        ("a\\b.png", None, "name"),
        ("..", None, "name"),
        ("a\nb.png", None, "name"),
        ("invoice\u{202e}gpj.exe", None, "name"),
        ("a.png", Some("image"), "contentType"),
        ("a.png", Some(""), "contentType"),
        ("a.png", Some("image/png\r\nx: y"), "contentType"),
    ] {
        let new = NewUpload { content_type: told.map(str::to_owned), ..named(name) };
        let refused = w.as_admin().content(&live).upload_file(new).await.refused(ErrorKind::Invalid);
        assert_eq!(refused.field(), Some(field), "{name:?} {told:?}");
    }
}

#[tokio::test]
async fn upload_checks_permission_before_and_after_the_bytes() {
    let w = World::new().await;
    let (space, [live, request]) = places(&w).await;
    let eve = w.member("Eve", Some(Role::Edit)).await;
    for (role, kind) in [(Some(Role::Comment), ErrorKind::Forbidden), (None, ErrorKind::NotFound)] {
        let other = w.member(&format!("Other {role:?}"), role).await;
        for of in [&live, &request] {
            w.platform.as_actor(&other).content(of).upload_file(named("a")).await.refused(kind);
        }
    }
    let head = w.as_admin().space(&space).get().await.expect("read").revision;
    w.as_admin()
        .content(&ContentVersion::revision(space.clone(), head))
        .upload_file(named("a"))
        .await
        .refused(ErrorKind::Invalid);
    let begin = async |of: &ContentVersion| {
        let upload = w.platform.as_actor(&eve).content(of).upload_file(named("a")).await;
        let mut upload: FileUpload = upload.expect("begun");
        upload.write("text".into()).await.expect("taken");
        upload
    };
    let (into_live, into_request, last) = (begin(&live).await, begin(&request).await, begin(&live).await);
    let lock = UpdateSpace { edit_mode: Some(EditMode::Locked), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(lock).await.expect("locked");
    into_live.finish().await.refused(ErrorKind::Conflict);
    w.platform.as_actor(&eve).content(&live).upload_file(named("a")).await.refused(ErrorKind::Conflict);
    let name = uploaded_to(&request);
    let merged = w.as_admin().space(&space).change_request(&name).merge().await.expect("merged");
    assert_eq!(merged.result, MergeOutcome::Merge);
    into_request.finish().await.refused(ErrorKind::Conflict);
    let user = eve.user().expect("a user");
    w.platform.as_platform().org(&w.org).member(user).put(Some(Role::Read)).await.expect("lowered");
    last.finish().await.refused(ErrorKind::Forbidden);
    let files =
        w.as_admin().content(&live).list_files(ContentOptions::default(), &PageRequest::default()).await;
    assert_eq!(files.expect("listed").items, [], "nothing came into the content");
    w.check().await;
}

#[tokio::test]
async fn upload_is_rejected_at_the_write_that_exceeds_the_limit() {
    let w = World::new().await;
    let (_, [live, _]) = places(&w).await;
    let mut upload = w.as_admin().content(&live).upload_file(named("a")).await.expect("begun");
    let piece = Bytes::from(vec![0; 10_000_000]);
    for _ in 0..10 {
        upload.write(piece.clone()).await.expect("100 MB fit");
    }
    let refused = upload.write("x".into()).await.refused(ErrorKind::TooLarge);
    assert!(refused.message().contains("100000000"), "{refused:?}");
}

/// Objects that files reference are preserved.
#[tokio::test]
async fn interrupted_upload_is_garbage_collected() {
    let w = World::new().await;
    let (space, [live, request]) = places(&w).await;
    let (mine, other) = (bytes(2 * PART_BYTES + 7), bytes(PART_BYTES));
    let file = upload(w.as_admin(), &request, named("kept.bin"), &[&mine]).await.expect("uploaded");
    let mut broken = w.as_admin().content(&live).upload_file(named("broken.bin")).await.expect("begun");
    let scrambled: Vec<u8> = other.iter().map(|byte| !byte).collect();
    broken.write(scrambled.into()).await.expect("a part is stored");
    drop(broken);
    w.clock.advance(OBJECT_GRACE_PERIOD.to_std().expect("a span") + Duration::from_secs(3600));
    let collected = w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!((collected.objects, collected.unreadable), (1, 0), "the one part of the broken-off upload");
    let stored = stored(&w, &space, &file).await;
    assert!(w.platform.file_bytes(&stored, None).await.expect("read") == mine, "all its parts are there");
    let again = w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!(again.objects, 0);
}

#[tokio::test]
async fn upload_slower_than_garbage_collection_is_rejected() {
    let w = World::new().await;
    let (_, [live, _]) = places(&w).await;
    let mut upload = w.as_admin().content(&live).upload_file(named("a")).await.expect("begun");
    upload.write("slow".into()).await.expect("taken");
    let longer = WRITE_WINDOW + TimeDelta::seconds(1);
    w.clock.advance(longer.to_std().expect("a span"));
    upload.finish().await.refused(ErrorKind::Conflict);
}

#[tokio::test]
async fn repeated_upload_is_idempotent_even_with_locked_content() {
    let w = World::new().await;
    let (space, [_, request]) = places(&w).await;
    let again = |key: &str| {
        let request = IdempotentRequest::new(key.parse().expect("a key"), &[b"upload"]);
        (w.platform.with_idempotency(request.clone()), request)
    };
    let (platform, first_request) = again("key");
    let send = async |platform: &docs_core::Platform, name: &str, text: &str| {
        upload(platform.as_actor(&w.admin), &request, named(name), &[text.as_bytes()]).await
    };
    let first = send(&platform, "a.txt", "text").await.expect("uploaded");
    assert!(!first_request.is_replayed());
    let name = uploaded_to(&request);
    w.as_admin().space(&space).change_request(&name).merge().await.expect("merged");
    let (platform, second_request) = again("key");
    assert_eq!(send(&platform, "a.txt", "text").await.expect("answered again"), first);
    assert!(second_request.is_replayed());
    for (name, text) in [("a.txt", "other"), ("b.txt", "text")] {
        send(&again("key").0, name, text).await.refused(ErrorKind::Unprocessable);
    }
    send(&again("new-key").0, "a.txt", "text").await.refused(ErrorKind::Conflict);
}
