//! Uploads over HTTP: raw bytes with a media type, or a form with a file.

use std::io;

use bytes::Bytes;
use docs_core::platform::FileUpload;
use futures_util::{StreamExt as _, stream};
use poem::Body;
use serde_json::{Value, json};

use crate::server::{Answer, Server, id};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x64\0\0\0\x32\x08\x06\0\0\0";

/// An upload request.
#[derive(Clone, Copy)]
struct Upload<'u> {
    query: &'u str,
    headers: &'u [(&'u str, &'u str)],
    body: &'u [u8],
}

/// Sends a streamed body without its length.
async fn send_body(s: &Server, path: &str, token: &str, headers: &[(&str, &str)], body: Body) -> Answer {
    let mut request = s.client.post(path).header("authorization", format!("Bearer {token}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.body(body).send().await.0;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().into_bytes().await.expect("a body");
    Answer { status, headers, body: serde_json::from_slice(&bytes).expect("JSON") }
}

async fn send(s: &Server, content: &str, upload: Upload<'_>) -> Answer {
    let pieces: Vec<io::Result<Bytes>> =
        upload.body.chunks(7).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let path = format!("{content}/files{}", upload.query);
    send_body(s, &path, &s.editor, upload.headers, Body::from_bytes_stream(stream::iter(pieces))).await
}

/// Returns a form with these parts, each given by the rest of its disposition, further headers, and bytes.
fn form(parts: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (disposition, headers, bytes) in parts {
        form.extend(
            format!("--x-y\r\nContent-Disposition: form-data; {disposition}\r\n{headers}\r\n").bytes(),
        );
        form.extend(*bytes);
        form.extend(b"\r\n");
    }
    form.extend(b"--x-y--\r\n");
    form
}

const FORM: (&str, &str) = ("content-type", "multipart/form-data; boundary=x-y");

/// Returns the content paths of a space with editable live content, and of a change request in it.
async fn places(s: &Server) -> [String; 2] {
    let space = s.space().await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "editMode": "live" })).await;
    [format!("/v1/spaces/{space}/content"), format!("{}/content", s.request(&space).await)]
}

async fn bytes_of(s: &Server, file: &Value) -> Vec<u8> {
    let url = file["downloadURL"].as_str().expect("an address");
    let path = url.strip_prefix("https://docs.example").expect("an address of this server");
    s.client.get(path).send().await.0.into_body().into_vec().await.expect("a body")
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table")]
async fn file_is_uploaded_as_bytes_or_in_a_form() {
    let s = Server::new().await;
    let png = ("content-type", "image/png");
    let octets = ("content-type", "application/octet-stream");
    let one = |disposition: &'static str, headers: &'static str| form(&[(disposition, headers, PNG)]);
    for content in places(&s).await {
        for (n, (query, headers, body, name, content_type)) in [
            ("?name=a.png", vec![png], PNG.to_vec(), "a.png", "image/png"),
            ("?name=b.png", vec![octets], PNG.to_vec(), "b.png", "image/png"),
            ("?name=c.png", vec![], PNG.to_vec(), "c.png", "image/png"),
            (
                "?name=d%20%C3%A9.txt",
                vec![("content-type", "text/plain; charset=utf-8")],
                b"d".to_vec(),
                "d é.txt",
                "text/plain; charset=utf-8",
            ),
            (
                "?name=e.json",
                vec![("content-type", "application/json")],
                b"{".to_vec(),
                "e.json",
                "application/json",
            ),
            ("?name=f.txt", vec![octets], Vec::new(), "f.txt", "text/plain"),
            (
                "",
                vec![FORM],
                one("name=\"file\"; filename=\"g.png\"", "Content-Type: image/png\r\n"),
                "g.png",
                "image/png",
            ),
            ("", vec![FORM], one("filename=h.png; name=file", ""), "h.png", "image/png"),
            (
                "?name=i.png",
                vec![FORM],
                one("name=\"file\"; filename=\"x\"", "Content-Type: image/png\r\n"),
                "i.png",
                "image/png",
            ),
            (
                "?name=j.png",
                vec![FORM],
                one("name=\"file\"", "content-type: application/octet-stream\r\n"),
                "j.png",
                "image/png",
            ),
            // Other form fields are ignored.
            (
                "",
                vec![FORM],
                form(&[
                    ("name=note", "", b"x"),
                    ("name=file; filename=k.png", "", PNG),
                    ("name=note", "", b"y"),
                ]),
                "k.png",
                "image/png",
            ),
            // A number is appended to a name that is in use.
            ("?name=a.png", vec![png], PNG.to_vec(), "a (1).png", "image/png"),
        ]
        .into_iter()
        .enumerate()
        {
            let answer = send(&s, &content, Upload { query, headers: &headers, body: &body }).await;
            assert_eq!(answer.status, 201, "{query} {headers:?}: {}", answer.body);
            let file = &answer.body;
            let size = if body.ends_with(b"--x-y--\r\n") { PNG.len() } else { body.len() };
            assert_eq!((&file["name"], &file["contentType"]), (&json!(name), &json!(content_type)));
            assert_eq!(file["size"].as_u64(), Some(size as u64), "{name}");
            let dimensions = json!({ "width": 100.0, "height": 50.0 });
            assert_eq!(
                file.get("dimensions"),
                (content_type == "image/png").then_some(&dimensions),
                "{name}"
            );
            let location = answer.header("location").expect("where it is");
            assert_eq!(location, format!("https://docs.example{content}/files/{}", id(file)));
            let shown = s.ask("GET", &location["https://docs.example".len()..], &s.editor, None).await;
            assert_eq!(&shown.is(200, location), file);
            let bytes = bytes_of(&s, file).await;
            assert_eq!(bytes, if size == body.len() { body } else { PNG.to_vec() }, "{name}");
            let listed = s.get(&format!("{content}/files")).await;
            assert_eq!(listed["items"].as_array().expect("a list").len(), n + 1);
        }
    }
    s.check().await;
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table")]
async fn invalid_uploads_are_rejected_without_side_effects() {
    let s = Server::new().await;
    let file = |disposition: &'static str| form(&[(disposition, "", b"x")]);
    let right = file("name=file; filename=a.txt");
    let twice = form(&[("name=file; filename=a.txt", "", b"x"), ("name=file; filename=b.txt", "", b"x")]);
    let note = vec![b'x'; 65_537];
    let more = form(&[("name=file; filename=a.txt", "", b"x"), ("name=note", "", &note)]);
    let early = form(&[("name=note", "", &note), ("name=file; filename=a.txt", "", b"x")]);
    let long = format!("?name={}", "a".repeat(257));
    let octets = ("content-type", "application/octet-stream");
    for content in places(&s).await {
        let before = s.stored().await;
        for (query, headers, body, status, said) in [
            ("", vec![octets], b"x".to_vec(), 400, "name: is required"),
            ("?name=", vec![octets], b"x".to_vec(), 400, "name: must be at least 1"),
            (&*long, vec![octets], b"x".to_vec(), 400, "name: must be at most 256"),
            ("?name=a%2Fb.txt", vec![octets], b"x".to_vec(), 400, "name: must be a name without `/`"),
            ("?name=..%5Ca.txt", vec![octets], b"x".to_vec(), 400, "name: must be a name without `/`"),
            ("?name=..", vec![octets], b"x".to_vec(), 400, "name: must not consist of dots"),
            ("?name=a%0Ab", vec![octets], b"x".to_vec(), 400, "name: must not contain control"),
            ("?name=a&name=b", vec![octets], b"x".to_vec(), 400, "name: must occur once"),
            (
                "?name=a",
                vec![("content-type", "image")],
                b"x".to_vec(),
                400,
                "contentType: must be a media type",
            ),
            ("?name=a", vec![octets, ("content-encoding", "gzip")], b"x".to_vec(), 415, "Content-Encoding"),
            (
                "?name=a",
                vec![("content-type", "multipart/mixed; boundary=x-y")],
                right.clone(),
                415,
                "Content-Type",
            ),
            (
                "",
                vec![("content-type", "multipart/form-data")],
                right.clone(),
                400,
                "Content-Type: must contain the boundary",
            ),
            ("", vec![("content-type", "multipart/form-data; boundary=z")], right.clone(), 400, "the form: "),
            ("", vec![FORM], b"no form".to_vec(), 400, "the form: must end"),
            ("", vec![FORM], right[..right.len() - 9].to_vec(), 400, "the form: must end"),
            ("", vec![FORM], b"--x-y--\r\n".to_vec(), 400, "the form: must have one field"),
            ("", vec![FORM], file("name=other; filename=a.txt"), 400, "the form: must have one field"),
            ("", vec![FORM], file("name=file"), 400, "name: is required"),
            ("", vec![FORM], file("name=file; filename=\"\""), 400, "name: must be at least 1"),
            (
                "",
                vec![FORM],
                file("name=file; filename=\"../a.txt\""),
                400,
                "name: must be a name without `/`",
            ),
            ("", vec![FORM], twice.clone(), 400, "the form: must have one field"),
            ("", vec![FORM], more.clone(), 400, "the form: fields other than `file` must be at most"),
            ("", vec![FORM], early.clone(), 400, "the form: fields other than `file` must be at most"),
        ] {
            let answer = send(&s, &content, Upload { query, headers: &headers, body: &body }).await;
            let message = answer.refused(status, &format!("{query} {headers:?}"));
            assert!(message.starts_with(said), "{query} {headers:?}: {message}");
        }
        assert_eq!(before, s.stored().await, "{content}");
    }
}

#[tokio::test]
async fn interrupted_upload_stores_nothing() {
    let s = Server::new().await;
    for content in places(&s).await {
        let before = s.stored().await;
        let piece = Bytes::from(vec![1; 1_000_000]);
        let pieces = stream::iter((0..6).map(move |_| Ok(piece.clone())));
        let broken = pieces.chain(stream::iter([Err(io::Error::other("the client went away"))]));
        let path = format!("{content}/files?name=a.bin");
        let answer = send_body(&s, &path, &s.editor, &[], Body::from_bytes_stream(broken)).await;
        assert_eq!(answer.refused(400, "broken off"), "the body ended early");
        assert_eq!(before, s.stored().await, "{content}");
    }
}

/// Returns a streamed body of this many bytes.
fn zeros(size: u64) -> Body {
    let step = 1_000_000;
    let piece = Bytes::from(vec![0; 1_000_000]);
    let pieces = (0..size.div_ceil(step)).map(move |n| {
        let length = usize::try_from(step.min(size - n * step)).expect("a piece");
        Ok::<_, io::Error>(piece.slice(..length))
    });
    Body::from_bytes_stream(stream::iter(pieces))
}

#[tokio::test]
async fn upload_limit_applies_with_or_without_content_length() {
    let s = Server::new().await;
    let [live, _] = places(&s).await;
    let before = s.stored().await;
    let path = format!("{live}/files?name=a.bin");
    let more = (FileUpload::MAX_BYTES + 1).to_string();
    // A `Content-Length` over the limit is rejected without reading the body.
    let unread =
        Body::from_bytes_stream(stream::iter([Err::<Bytes, _>(io::Error::other("nobody reads this"))]));
    let announced = send_body(&s, &path, &s.editor, &[("content-length", &more)], unread).await;
    for answer in [announced, send_body(&s, &path, &s.editor, &[], zeros(FileUpload::MAX_BYTES + 1)).await] {
        assert!(answer.refused(413, "too large").contains(&FileUpload::MAX_BYTES.to_string()));
    }
    assert_eq!(before, s.stored().await);
    let answer = send_body(&s, &path, &s.editor, &[], zeros(FileUpload::MAX_BYTES)).await;
    assert_eq!((answer.status, answer.body["size"].as_u64()), (201, Some(FileUpload::MAX_BYTES)));
    let bytes = bytes_of(&s, &answer.body).await;
    assert!(bytes.len() as u64 == FileUpload::MAX_BYTES && bytes.iter().all(|byte| *byte == 0));
}

#[tokio::test]
async fn upload_to_locked_content_is_rejected_before_its_body() {
    let s = Server::new().await;
    let locked = s.space().await;
    let space = s.space().await;
    let (merged, archived) = (s.request(&space).await, s.request(&space).await);
    s.post(&format!("{merged}/merge"), 200, json!({})).await;
    s.patch(&archived, json!({ "status": "archived" })).await;
    let before = s.stored().await;
    for content in
        [format!("/v1/spaces/{locked}/content"), format!("{merged}/content"), format!("{archived}/content")]
    {
        let unread =
            Body::from_bytes_stream(stream::iter([Err::<Bytes, _>(io::Error::other("nobody reads this"))]));
        let path = format!("{content}/files?name=a.bin");
        send_body(&s, &path, &s.editor, &[], unread).await.refused(409, &content);
    }
    assert_eq!(before, s.stored().await);
}

#[tokio::test]
async fn upload_with_a_repeated_idempotency_key_is_stored_once() {
    let s = Server::new().await;
    for content in places(&s).await {
        let key = ("idempotency-key", content.as_str());
        let upload = |boundary: &str, text: &str| {
            let body = form(&[("name=file; filename=a.txt", "", text.as_bytes())]);
            String::from_utf8(body).expect("text").replace("x-y", boundary).into_bytes()
        };
        let mut answers = Vec::new();
        // Clients generate a new boundary for each request.
        for boundary in ["x-y", "another"] {
            let media_type = format!("multipart/form-data; boundary={boundary}");
            let headers = [key, ("content-type", &*media_type)];
            let answer =
                send(&s, &content, Upload { query: "", headers: &headers, body: &upload(boundary, "text") })
                    .await;
            assert_eq!(answer.status, 201, "{}", answer.body);
            answers.push((answer.header("idempotency-replayed").map(str::to_owned), answer.body));
        }
        assert_eq!(answers[0].1, answers[1].1);
        assert_eq!((answers[0].0.as_deref(), answers[1].0.as_deref()), (None, Some("true")));
        let other =
            send(&s, &content, Upload { query: "", headers: &[key, FORM], body: &upload("x-y", "other") })
                .await;
        other.refused(422, "another file");
        assert_eq!(s.get(&format!("{content}/files")).await["items"].as_array().expect("a list").len(), 1);
    }
}

async fn send_import(s: &Server, content: &str, body: Vec<u8>, headers: &[(&str, &str)]) -> Answer {
    let headers = [&[FORM], headers].concat();
    send_body(s, &format!("{content}/import"), &s.editor, &headers, Body::from(body)).await
}

#[tokio::test]
async fn an_uploaded_document_is_imported() {
    let s = Server::new().await;
    let part = |name: &str, bytes: &[u8]| {
        form(&[(&format!("name=\"file\"; filename=\"{name}\""), "Content-Type: text/markdown\r\n", bytes)])
    };
    for content in places(&s).await {
        let body = part("a-page.md", b"Title\n");
        let key = [("idempotency-key", content.as_str())];
        let done = send_import(&s, &content, body.clone(), &key).await.is(201, &content);
        assert_eq!((&done["importedResources"], &done["warnings"]), (&json!(1), &json!([])));
        let after = s.get(&content).await;
        assert_eq!(
            (&after["id"], &after["pages"][0]["title"]),
            (&done["revision"], &json!("Title")),
            "{content}"
        );
        let again = send_import(&s, &content, body.clone(), &key).await.is(201, "again");
        assert_eq!(again, done);
        let other = send_import(&s, &content, part("a-page.md", b"Other\n"), &key).await;
        other.refused(422, "another file with the same key");
        for (name, bytes, status, message) in [
            ("a.exe", &b"x"[..], 400, "file: must have a name with one of the extensions zip"),
            ("", b"x", 400, "file: "),
            ("a.zip", b"no archive", 400, "file: must be a zip archive"),
        ] {
            let answer = send_import(&s, &content, part(name, bytes), &[]).await;
            let refused = answer.refused(status, name);
            assert!(refused.starts_with(message), "{name}: {refused}");
        }
        let page = format!("{content}/page/{}", id(&after["pages"][0]));
        let child = send_import(&s, &page, part("child.md", b"Child\n"), &[]).await.is(201, &page);
        let after = s.get(&content).await;
        assert_eq!(after["id"], child["revision"]);
        assert_eq!(after["pages"][0]["pages"][0]["title"], "Child");
        let without = send_import(&s, &content, form(&[("name=\"x\"", "", b"x")]), &[]).await;
        assert!(without.refused(400, "no file").starts_with("the form: must have one field `file`"));
        assert_eq!(s.get(&content).await["id"], child["revision"]);
    }
    s.check().await;
}
