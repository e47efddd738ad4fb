//! User files in a real browser: whatever its content and media type, a file cannot run scripts in the origin of the
//! server.
//!
//! If Chromium is not installed, the test prints a message and does not run.

#[path = "../../../docs-http/tests/http/tricks.rs"]
mod tricks;

use data_encoding::BASE64;
use docs_core::ports::{Ids as _, RandomIds, SealingKey, Secrets as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    client::{Client, id},
    journey::chromium::Browser,
    process::{Process, TOKEN, until},
};

const SECRET: &str = "the-secret-of-the-file-tests";
/// A script that records its execution in the origin's storage.
const MARK: &str = "try { localStorage.ran = (localStorage.ran || '') + ' ' + location.href } catch {}";
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The extension with which Chromium shows PDF files.
const PDF_VIEWER: &str = "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/";

/// Returns the bytes of a file of this kind.
fn bytes_of(kind: &str) -> Vec<u8> {
    let markup = "xmlns=\"http://www.w3.org/1999/xhtml\"";
    match kind {
        "html" => format!("<!DOCTYPE html><title>x</title><script>{MARK}</script>").into_bytes(),
        "xhtml" => format!("<html {markup}><body><script>{MARK}</script></body></html>").into_bytes(),
        "svg" => format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"><style>rect {{ fill: red }}</style>\
             <rect width=\"30\" height=\"20\"/><script>{MARK}</script></svg>"
        )
        .into_bytes(),
        "xsl" => format!(
            "<?xml version=\"1.0\"?><?xml-stylesheet type=\"text/xsl\" href=\"#s\"?><x><xsl:stylesheet id=\"s\" \
             version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\"><html {markup}>\
             <script>{MARK}</script></html></xsl:template></xsl:stylesheet></x>"
        )
        .into_bytes(),
        "js" => MARK.as_bytes().to_vec(),
        "css" => b"html { --ran: 1; background: rgb(1, 2, 3) }".to_vec(),
        "json" => b"{\"a\":1}".to_vec(),
        "text" => b"Some text, no page: <script>".to_vec(),
        "mht" => format!(
            "From: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"b\"\r\n\r\n--b\r\n\
             Content-Type: text/html\r\nContent-Location: http://a.test/\r\n\r\n<script>{MARK}</script>\r\n--b--\r\n"
        )
        .into_bytes(),
        "png" => BASE64.decode(PNG.as_bytes()).expect("base64"),
        "pdf" => pdf(),
        "wav" => wav(),
        "wasm" => b"\0asm\x01\0\0\0".to_vec(),
        _ => b"\x01\x02<script>".to_vec(),
    }
}

/// Returns a PDF file with one page and a JavaScript action.
fn pdf() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >>"
            .to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>".to_owned(),
    ];
    let (mut out, mut places) = (String::from("%PDF-1.4\n"), Vec::new());
    for (number, object) in (1..).zip(objects) {
        places.push(out.len());
        out.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let start = out.len();
    out.push_str("xref\n0 4\n0000000000 65535 f \n");
    places.iter().for_each(|at| out.push_str(&format!("{at:010} 00000 n \n")));
    out.push_str(&format!("trailer << /Size 4 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"));
    out.into_bytes()
}

/// Returns a WAV file with one second of silence.
fn wav() -> Vec<u8> {
    let samples = vec![128_u8; 8000];
    let mut out =
        b"RIFF\x64\x1f\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x40\x1f\0\0"
            .to_vec();
    out.extend(samples);
    out
}

/// Test files: name, media type, and kind of content.
const FILES: &[(&str, &str, &str)] = &[
    ("a.png", "image/png", "png"),
    ("a.txt", "text/plain", "text"),
    ("a.pdf", "application/pdf", "pdf"),
    ("a.wav", "audio/wav", "wav"),
    ("a.svg", "image/svg+xml", "svg"),
    ("a.html", "text/html", "html"),
    ("b.html", "text/html; charset=utf-7", "html"),
    ("a.xhtml", "application/xhtml+xml", "xhtml"),
    ("a.xml", "text/xml", "xhtml"),
    ("b.xml", "application/xml", "svg"),
    ("a.rss", "application/rss+xml", "xhtml"),
    ("a.xsl", "text/xsl", "xsl"),
    ("a.js", "text/javascript", "js"),
    ("a.css", "text/css", "css"),
    ("a.json", "application/json", "json"),
    ("a.wasm", "application/wasm", "wasm"),
    ("a.mht", "multipart/related", "mht"),
    ("b.mht", "message/rfc822", "mht"),
    ("a.unknown", "application/x-unknown", "html"),
    ("a.bin", "application/octet-stream", "html"),
    ("b.png", "image/png", "html"),
    ("b.txt", "text/plain", "html"),
    ("b.pdf", "application/pdf", "html"),
    ("a.mp4", "video/mp4", "html"),
    ("a.webp", "image/webp", "html"),
    ("a.webm", "video/webm", "svg"),
];

/// Uploads the files. Returns the space, and the URLs in the same order.
async fn upload(client: &Client) -> (String, Vec<String>) {
    let orgs = client.get("/orgs").await;
    let space = id(&client.post(&format!("/orgs/{}/spaces", id(&orgs["items"][0])), json!({})).await);
    let requests = format!("/spaces/{space}/change-requests");
    let content = format!("{requests}/{}/content?compat=false", id(&client.post(&requests, json!({})).await));
    let mut urls = Vec::new();
    for some in FILES.chunks(20) {
        let files = some.iter().map(|(name, content_type, kind)| {
            json!({ "name": name, "contentType": content_type, "base64": BASE64.encode(&bytes_of(kind)) })
        });
        let change = json!({ "operation": "insert_files", "files": files.collect::<Vec<_>>() });
        let done = client.post(&content, json!({ "changes": [change] })).await;
        let inserted = done["insertedFiles"].as_array().expect("files");
        urls.extend(inserted.iter().map(|file| file["downloadURL"].as_str().expect("an address").to_owned()));
    }
    (space, urls)
}

/// Returns a sealed file URL with a media type that is rejected today, as if an earlier version had issued it.
fn planted(url: &str, space: &str, content_type: &str) -> String {
    let mut parts: Vec<&str> = url.split('/').collect();
    let (key, purpose) = (SealingKey::from_secret(SECRET), format!("file of {space}"));
    let sealed = parts.len() - 2;
    let address = key.open(&purpose, parts[sealed]).expect("sealed");
    let mut address: Value = serde_json::from_str(&address).expect("an address");
    address["content_type"] = content_type.into();
    let resealed = key.seal(&purpose, &address.to_string(), RandomIds.next()).expect("sealed");
    parts[sealed] = &resealed;
    parts.join("/")
}

/// Opens a URL as a page. Returns `false` if the browser downloads it instead.
async fn open(browser: &mut Browser, url: &str) -> bool {
    let done = browser.ask("Page.navigate", json!({ "url": url })).await;
    let is_shown = done["errorText"].is_null();
    if is_shown {
        browser.loaded().await;
    }
    is_shown
}

/// Starts a server that responds to every request with a page that runs the script. Returns its URL.
async fn marking_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}/", listener.local_addr().expect("it is known"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let read = stream.read(&mut head).await;
            let page = bytes_of("html");
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                page.len()
            );
            if read.is_ok() && stream.write_all(head.as_bytes()).await.is_ok() {
                // The browser may have closed the connection early.
                let _ = stream.write_all(&page).await;
            }
        }
    });
    base
}

/// Embeds URLs in a page of the server's origin in all possible ways, and waits until each has loaded.
async fn embed(browser: &mut Browser, urls: &[String]) {
    let script = format!(
        "(async (urls) => {{
            const add = (name, fields) => document.documentElement.append(Object.assign(document.createElement(name), fields));
            for (const url of urls) {{
                add('iframe', {{ src: url }});
                add('embed', {{ src: url }});
                add('object', {{ data: url }});
                add('script', {{ src: url }});
                add('script', {{ src: url, type: 'module' }});
                add('link', {{ href: url, rel: 'stylesheet' }});
                add('img', {{ src: url }});
                await import(url).catch(() => 0);
                await navigator.serviceWorker.register(url).catch(() => 0);
                await fetch(url).then((got) => got.arrayBuffer());
            }}
            await new Promise((done) => setTimeout(done, 1000));
        }})({})",
        json!(urls)
    );
    browser.eval(&script).await;
}

/// Returns the URL of the file with this name.
fn url_of(urls: &[String], name: &str) -> String {
    let at = FILES.iter().position(|(of, ..)| *of == name).expect("a file");
    urls[at].clone()
}

/// Checks the files that browsers open as pages.
async fn shows_pictures_text_and_pdf(browser: &mut Browser, urls: &[String]) {
    assert!(open(browser, &url_of(urls, "a.png")).await);
    assert_eq!(browser.eval("document.images[0].naturalWidth").await, 1, "a picture is shown");
    assert!(open(browser, &url_of(urls, "a.txt")).await);
    assert_eq!(browser.eval("document.body.innerText").await, "Some text, no page: <script>");
    assert!(open(browser, &url_of(urls, "a.pdf")).await);
    until("the viewer of PDF", async || {
        let targets = browser.ask("Target.getTargets", json!({})).await;
        let mut infos = targets["targetInfos"].as_array().into_iter().flatten();
        infos.any(|it| it["url"].as_str().is_some_and(|url| url.starts_with(PDF_VIEWER)))
    })
    .await;
}

/// Checks the files that a page of the server's origin can embed.
async fn shows_pictures_and_sound_of_pages(browser: &mut Browser, urls: &[String]) {
    let width = format!(
        "(async () => {{ const it = new Image(); it.src = {}; await it.decode(); return it.naturalWidth }})()",
        json!(url_of(urls, "a.svg"))
    );
    assert_eq!(browser.eval(&width).await, 30, "SVG is shown as a picture of a page");
    let sound = format!(
        "new Promise((done, fail) => {{ const it = new Audio({}); it.onloadedmetadata = () => done(it.duration); \
         it.onerror = fail }})",
        json!(url_of(urls, "a.wav"))
    );
    assert_eq!(browser.eval(&sound).await, 1, "sound is played by a page");
}

/// Media types that are opened as pages. Others are downloaded.
const SHOWN: &[&str] =
    &["image/png", "image/webp", "text/plain", "application/pdf", "audio/wav", "video/mp4", "video/webm"];

#[tokio::test(flavor = "multi_thread")]
async fn no_stored_file_runs_in_the_servers_origin() {
    let Some(mut browser) = Browser::start().await else { return };
    browser.ask("Browser.setDownloadBehavior", json!({ "behavior": "deny" })).await;
    let server = Process::with(&["--bind", "127.0.0.1:0", "--secret", SECRET]).await;
    let (space, urls) = upload(&Client::new(&server.base, TOKEN)).await;
    // Control: verifies that the script is detected if it runs.
    assert!(open(&mut browser, &marking_server().await).await);
    assert_eq!(browser.eval("typeof localStorage.ran").await, "string");
    shows_pictures_text_and_pdf(&mut browser, &urls).await;

    let mut all = urls.clone();
    for content_type in tricks::TRICKS.iter().chain(tricks::ACTIVE) {
        all.extend(["a.html", "a.xhtml"].map(|name| planted(&url_of(&urls, name), &space, content_type)));
    }
    for url in &all {
        let is_shown = open(&mut browser, url).await;
        let at = urls.iter().position(|of| of == url).map(|at| FILES[at]);
        let expected = at.is_some_and(|(_, content_type, _)| SHOWN.contains(&content_type));
        assert_eq!(is_shown, expected, "{at:?} {url}");
    }
    assert!(open(&mut browser, &format!("{}/healthz", server.base)).await);
    embed(&mut browser, &urls).await;
    for some in all[urls.len()..].chunks(10) {
        embed(&mut browser, some).await;
    }
    let ran = browser.eval("typeof localStorage.ran").await;
    assert_eq!(ran, "undefined", "nothing ran in the server's origin");
    let style = browser.eval("getComputedStyle(document.documentElement).getPropertyValue('--ran')").await;
    assert_eq!(style, "", "no file is a style sheet");
    shows_pictures_and_sound_of_pages(&mut browser, &urls).await;
    browser.end().await;
}
