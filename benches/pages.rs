//! `cargo bench -p docs-benches --bench pages`: a page of a site over a connection that stays open, kept from the
//! request before and drawn anew, beside a handler that returns the same bytes.
//!
//! Compare the times with `handler`: the kept page is to take at most 1.5 of it, the page that is drawn anew, of 5 kB
//! of Markdown, at most 6. All three are asked by the same client, so its cost is in each.

use std::net::SocketAddr;

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use docs_benches::{Outcome, platform_with};
use docs_core::{
    Platform,
    model::{OrgId, SiteVisibility, SpaceId, UpdateSite},
};
use docs_site::{SiteConfig, Sites};
use poem::{Endpoint, Response, endpoint::make_sync, http::StatusCode, listener::TcpAcceptor};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A request from its JSON.
fn request<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> serde_json::Result<T> {
    serde_json::from_value(json)
}

/// About 5 kB of Markdown as pages have it.
fn markdown() -> String {
    let part = "## Part\n\nSome *words* with a [link](https://a.test) and `code`, and some more of them to read.\n\n\
                {% hint style=\"info\" %}\nMind this.\n{% endhint %}\n\n* one\n* two\n\n```rust\nfn f() -> u8 { 1 }\n```\n\n\
                | A | B |\n| - | - |\n| 1 | 2 |\n\n";
    part.repeat(5_000 / part.len() + 1)
}

/// The address of the one page of a published site: its host and its path.
async fn site(
    platform: &Platform,
    (org, space): (&OrgId, &SpaceId),
    token: &str,
) -> Outcome<(String, String)> {
    let admin = platform.authenticate(token).await?;
    let me = platform.as_actor(&admin);
    let edit = request(json!({ "changes": [{ "operation": "insert_page", "title": "First",
        "document": { "markdown": markdown() } }] }))?;
    let number = me.space(space).change_requests().create(Default::default()).await?.number.to_string();
    me.space(space).change_request(&number).edit(edit).await?;
    me.space(space).change_request(&number).merge().await?;
    let new = request(json!({ "title": "Docs", "spaces": [space] }))?;
    let site = me.org(org).sites().create(new).await?.id;
    let change = UpdateSite { visibility: Some(SiteVisibility::Public), ..UpdateSite::default() };
    me.org(org).site(&site).update(change).await?;
    let shown = me.org(org).site(&site).publish().await?;
    let url = shown.urls.published.ok_or("it is published")?;
    let (_, rest) = url.split_once("://").ok_or("an address")?;
    let (host, path) = rest.split_at(rest.find('/').ok_or("a path")?);
    Ok((host.to_owned(), path.to_owned()))
}

/// Serves an endpoint on a port of this machine.
async fn serve<E: Endpoint + 'static>(endpoint: E) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(endpoint));
    Ok(address)
}

/// A client with a connection that stays open.
struct Client {
    stream: TcpStream,
    asks: String,
    got: Vec<u8>,
}

impl Client {
    async fn to(address: SocketAddr, (host, path): &(String, String)) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let asks = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        Ok(Self { stream, asks, got: vec![0; 1 << 20] })
    }

    /// What the page holds.
    async fn get(&mut self) -> Outcome<&[u8]> {
        self.stream.write_all(self.asks.as_bytes()).await?;
        let mut filled = 0;
        let mut whole = None;
        while whole.is_none_or(|(_, end)| filled < end) {
            let read = self.stream.read(&mut self.got[filled..]).await?;
            if read == 0 {
                return Err("the connection was closed".into());
            }
            filled += read;
            whole = whole.or_else(|| extent(&self.got[..filled]));
        }
        let (start, end) = whole.ok_or("an answer")?;
        if !self.got.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&self.got[..filled]).into_owned().into());
        }
        Ok(&self.got[start..end])
    }
}

/// Where the body of an answer begins and ends, once its head is there.
fn extent(got: &[u8]) -> Option<(usize, usize)> {
    let head = got.windows(4).position(|end| end == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&got[..head]).ok()?.to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    Some((head + 4, head + 4 + length.trim().parse::<usize>().ok()?))
}

fn pages(c: &mut Criterion) {
    read(c).expect("a platform in memory does not fail");
}

fn read(c: &mut Criterion) -> Outcome<()> {
    // One thread for all: the time is that of the processor.
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (platform, org, spaces, token) = rt.block_on(platform_with(1))?;
    let page = rt.block_on(site(&platform, (&org, &spaces[0]), &token))?;
    let next = || make_sync(|_| Response::builder().status(StatusCode::NOT_FOUND).finish());
    let kept = Sites::new(&platform, SiteConfig::default())?.before(next());
    let kept = rt.block_on(serve(kept))?;
    let anew = Sites::new(&platform, SiteConfig { cache_bytes: 0 })?.before(next());
    let anew = rt.block_on(serve(anew))?;
    let html = rt.block_on(async { Client::to(kept, &page).await?.get().await.map(<[u8]>::to_vec) })?;
    let same = Bytes::from(html.clone());
    let handler =
        make_sync(move |_| Response::builder().content_type("text/html; charset=utf-8").body(same.clone()));
    let handler = rt.block_on(serve(handler))?;
    let mut group = c.benchmark_group("a page of a site");
    for (name, address) in [("handler", handler), ("kept", kept), ("drawn anew", anew)] {
        let mut client = rt.block_on(Client::to(address, &page))?;
        if rt.block_on(client.get())? != html {
            return Err(format!("{name} answers something else").into());
        }
        group.bench_function(name, |b| b.iter(|| rt.block_on(client.get()).expect("a page").len()));
    }
    group.finish();
    Ok(())
}

criterion_group!(benches, pages);
criterion_main!(benches);
