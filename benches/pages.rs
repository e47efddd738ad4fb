//! `cargo bench -p docs-benches --bench pages`: the cost of serving a page of a site, cached and rendered, compared
//! with a handler that returns the same bytes.
//!
//! Costs are measured in CPU time. Over a persistent connection, that is the CPU time of the process except for the
//! client thread, so it includes the threads of the store. Within the process, it is the CPU time of calling the
//! endpoint. A page is rendered on its first request on a known site, and on every request if there is no cache. It has
//! 5 kB of Markdown. Over the connection, the limit for a cached page is 1.5 times the cost of the handler, and for a
//! rendered page six times. The measured values and their reasons are in `decisions/0027-site.md`.
//!
//! There are three kinds of first requests. "drawn before": the HTML of the page's text is cached, as after a change of
//! the site or a request by another reader. "never drawn": only the parsed document is cached. "read first": nothing is
//! cached. `-- drawn`, `-- first` and `-- read` repeat only one of these, for use with a profiler.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use cpu_time::{ProcessTime, ThreadTime};
use docs_benches::{Outcome, platform_over};
use docs_core::{
    Platform,
    model::{OrgId, SiteId, SiteVisibility, SpaceId, UpdateSite},
    store::{Objects, Store},
};
use docs_memstore::{MemObjects, MemStore};
use docs_site::{SiteConfig, Sites};
use docs_sqlstore::{Options, SqliteStore};
use poem::{
    Endpoint, EndpointExt as _, Request, Response,
    endpoint::{BoxEndpoint, make_sync},
    http::{StatusCode, header},
    listener::TcpAcceptor,
};
use serde_json::json;
use tokio::{net::TcpListener, runtime::Runtime};

/// Store and objects of a site.
type Stores = (Arc<dyn Store>, Arc<dyn Objects>);

/// Number of requests per round and server, and number of rounds. The median of the rounds is reported.
const MEASURED: (u32, usize) = (300, 11);
/// The same numbers for a test run.
const TRIED: (u32, usize) = (2, 1);

/// Number of rounds for a profiler.
const PROFILED: usize = 400;

/// Number of pages that receive a first request.
const FIRST: usize = 48;

/// A server under test.
type Server = Arc<BoxEndpoint<'static, Response>>;

/// Parses a request from JSON.
fn request<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> serde_json::Result<T> {
    serde_json::from_value(json)
}

/// Returns about 5 kB of typical Markdown.
fn markdown() -> String {
    let part = "## Part\n\nSome *words* with a [link](https://a.test) and `code`, and some more of them to read.\n\n\
                {% hint style=\"info\" %}\nMind this.\n{% endhint %}\n\n* one\n* two\n\n```rust\nfn f() -> u8 { 1 }\n```\n\n\
                | A | B |\n| - | - |\n| 1 | 2 |\n\n";
    part.repeat(5_000 / part.len() + 1)
}

/// A published site.
struct Site {
    platform: Platform,
    token: String,
    org: OrgId,
    id: SiteId,
    /// Host and path of the only page in the navigation.
    page: (String, String),
}

impl Site {
    /// Changes an element that is part of every page.
    async fn change(&self, round: usize) -> Outcome<()> {
        let title = Some(format!("Docs {round}").parse()?);
        let admin = self.platform.authenticate(&self.token).await?;
        let site = self.platform.as_actor(&admin).org(&self.org).site(&self.id);
        site.update(UpdateSite { title, ..UpdateSite::default() }).await?;
        Ok(())
    }
}

async fn site(platform: &Platform, org: OrgId, space: &SpaceId, token: String) -> Outcome<Site> {
    let admin = platform.authenticate(&token).await?;
    let me = platform.as_actor(&admin);
    // Pages for first requests are hidden from the navigation, so that each has the same size as the cached page.
    let page = |n: usize| {
        json!({ "operation": "insert_page", "title": format!("Page {n}"), "hidden": n > 0,
            "document": { "markdown": format!("{n}\n\n{}", markdown()) } })
    };
    let edit = request(json!({ "changes": (0..=FIRST).map(page).collect::<Vec<_>>() }))?;
    let number = me.space(space).change_requests().create(Default::default()).await?.number.to_string();
    me.space(space).change_request(&number).edit(edit).await?;
    me.space(space).change_request(&number).merge().await?;
    let new = request(json!({ "title": "Docs", "spaces": [space] }))?;
    let id = me.org(&org).sites().create(new).await?.id;
    let change = UpdateSite { visibility: Some(SiteVisibility::Public), ..UpdateSite::default() };
    me.org(&org).site(&id).update(change).await?;
    let shown = me.org(&org).site(&id).publish().await?;
    let url = shown.urls.published.ok_or("it is published")?;
    let (_, rest) = url.split_once("://").ok_or("an address")?;
    let (host, path) = rest.split_at(rest.find('/').ok_or("a path")?);
    let page = (host.to_owned(), path.to_owned());
    Ok(Site { platform: platform.clone(), token, org, id, page })
}

/// Serves an endpoint on a local port.
async fn serve(endpoint: Server) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(endpoint));
    Ok(address)
}

/// A client with a persistent connection.
struct Client {
    stream: TcpStream,
    /// Headers that it sends.
    asks: String,
    got: Vec<u8>,
}

impl Client {
    fn to(address: SocketAddr, host: &str, coding: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let asks = format!("host: {host}\r\naccept-encoding: {coding}\r\n\r\n");
        Ok(Self { stream, asks, got: vec![0; 1 << 20] })
    }

    /// Sends a request and returns the complete response.
    fn get(&mut self, path: &str) -> Outcome<&[u8]> {
        self.stream.write_all(format!("GET {path} HTTP/1.1\r\n{}", self.asks).as_bytes())?;
        let mut filled = 0;
        let mut whole = None;
        while whole.is_none_or(|end| filled < end) {
            let read = self.stream.read(&mut self.got[filled..])?;
            if read == 0 {
                return Err("the connection was closed".into());
            }
            filled += read;
            whole = whole.or_else(|| end(&self.got[..filled]));
        }
        if !self.got.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&self.got[..filled]).into_owned().into());
        }
        Ok(&self.got[..filled])
    }
}

/// Returns the end of a response if its head is complete.
fn end(got: &[u8]) -> Option<usize> {
    let head = got.windows(4).position(|end| end == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&got[..head]).ok()?.to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    Some(head + 4 + length.trim().parse::<usize>().ok()?)
}

/// Returns a response without the parts that vary: the ETag of identical bytes depends on whether they were rendered or
/// copied from an earlier rendering.
fn lasting(answer: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(answer);
    let is_lasting = |line: &&str| !line.starts_with("date:") && !line.starts_with("etag:");
    let mut lines: Vec<&str> = text.split("\r\n").filter(is_lasting).collect();
    let head = lines.iter().position(|line| line.is_empty()).unwrap_or_default();
    lines[..head].sort_unstable();
    lines.join("\r\n").into_bytes()
}

/// Builds a request.
fn request_of((host, path): &(String, String), coding: &str) -> Outcome<Request> {
    let request = Request::builder().uri(path.parse()?);
    Ok(request.header(header::HOST, host).header(header::ACCEPT_ENCODING, coding).finish())
}

/// Returns the endpoint that serves the sites of a platform.
fn sites(platform: &Platform, config: SiteConfig) -> Outcome<Server> {
    let next = make_sync(|_| Response::builder().status(StatusCode::NOT_FOUND).finish());
    Ok(Arc::new(Sites::new(platform, config)?.with_fallback(next).boxed()))
}

/// Returns the servers to compare: the handler, the sites with a cache, and the sites without a cache.
async fn servers(
    platform: &Platform,
    page: &(String, String),
    coding: &str,
) -> Outcome<[(&'static str, Server); 3]> {
    let kept = sites(platform, SiteConfig::default())?;
    let anew = sites(platform, SiteConfig { cache_bytes: 0 })?;
    let (parts, body) = kept.get_response(request_of(page, coding)?).await.into_parts();
    let (headers, body) = (parts.headers, body.into_bytes().await?);
    println!("  {coding}: {} bytes", body.len());
    let same = make_sync(move |_| {
        let mut response = Response::builder().body(Bytes::clone(&body));
        *response.headers_mut() = headers.clone();
        response
    });
    Ok([("a handler", Arc::new(same.boxed())), ("kept", kept), ("nothing kept", anew)])
}

/// Returns the median.
fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Measures each server over a connection.
fn connected(
    rt: &Runtime,
    ((host, path), coding): (&(String, String), &str),
    servers: &[(&'static str, Server)],
    (asked, rounds): (u32, usize),
) -> Outcome<Vec<Duration>> {
    let mut clients = Vec::new();
    for (_, server) in servers {
        clients.push(Client::to(rt.block_on(serve(Arc::clone(server)))?, host, coding)?);
    }
    let same = lasting(clients[0].get(path)?);
    let mut times = vec![Vec::new(); clients.len()];
    for round in 0..=rounds {
        for ((client, times), (name, _)) in clients.iter_mut().zip(&mut times).zip(servers) {
            if lasting(client.get(path)?) != same {
                return Err(format!("{name} answers something else").into());
            }
            let (all, own) = (ProcessTime::now(), ThreadTime::now());
            for _ in 0..asked {
                client.get(path)?;
            }
            // The first round is a warm-up.
            if round > 0 {
                times.push(all.elapsed().saturating_sub(own.elapsed()) / asked);
            }
        }
    }
    Ok(times.into_iter().map(middle).collect())
}

/// Measures first requests of a client on a known site.
fn first(client: &mut Client, path: &str) -> Outcome<Duration> {
    client.get(path)?;
    let (all, own) = (ProcessTime::now(), ThreadTime::now());
    for n in 1..=FIRST {
        client.get(&format!("{path}page-{n}"))?;
    }
    Ok(all.elapsed().saturating_sub(own.elapsed()) / u32::try_from(FIRST)?)
}

/// Measures first requests with an empty site cache in each round. After the first round, the parsed documents of all
/// pages are cached.
fn undrawn(rt: &Runtime, site: &Site, coding: &str, rounds: usize) -> Outcome<Vec<Duration>> {
    let (host, path) = &site.page;
    let time = |_| {
        let server = sites(&site.platform, SiteConfig::default())?;
        first(&mut Client::to(rt.block_on(serve(server))?, host, coding)?, path)
    };
    (0..rounds).map(time).collect()
}

/// Measures first requests for pages with cached HTML, each after a change of the site.
fn drawn(rt: &Runtime, site: &Site, coding: &str, rounds: usize) -> Outcome<Vec<Duration>> {
    let (host, path) = &site.page;
    let server = sites(&site.platform, SiteConfig::default())?;
    let mut client = Client::to(rt.block_on(serve(server))?, host, coding)?;
    first(&mut client, path)?;
    let time = |round| {
        rt.block_on(site.change(round))?;
        first(&mut client, path)
    };
    (0..rounds).map(time).collect()
}

/// Measures first requests for pages that are not cached at all, on newly started platforms.
fn unread(rt: &Runtime, stores: &Stores, site: &Site, rounds: usize) -> Outcome<Vec<Duration>> {
    let (host, path) = &site.page;
    let time = |_| {
        let (store, objects) = stores.clone();
        let platform = Platform::builder(store, objects).base_url(site.platform.urls().base()).build();
        let server = sites(&platform, SiteConfig::default())?;
        first(&mut Client::to(rt.block_on(serve(server))?, host, "identity")?, path)
    };
    (0..rounds).map(time).collect()
}

/// Measures each server within the process, on one thread.
fn called(
    (page, coding): (&(String, String), &str),
    servers: &[(&'static str, Server)],
    (asked, rounds): (u32, usize),
) -> Outcome<Vec<Duration>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut times = vec![Vec::new(); servers.len()];
    for _ in 0..rounds {
        for ((_, server), times) in servers.iter().zip(&mut times) {
            let since = ProcessTime::now();
            rt.block_on(async {
                for _ in 0..asked {
                    server.get_response(request_of(page, coding)?).await.into_body().into_bytes().await?;
                }
                Outcome::Ok(())
            })?;
            times.push(since.elapsed() / asked);
        }
    }
    Ok(times.into_iter().map(middle).collect())
}

fn measure(store: Arc<dyn Store>, objects: Arc<dyn Objects>, how: (u32, usize)) -> Outcome<()> {
    // The runtime's thread serves; the client runs on this thread.
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stores = (store, objects);
    let (store, objects) = stores.clone();
    let (platform, org, spaces, token) = rt.block_on(platform_over(store, objects, 1))?;
    let site = rt.block_on(site(&platform, org, &spaces[0], token))?;
    if let Some(times) = profiled(&rt, &stores, &site) {
        println!("  {:8.1} µs", middle(times?).as_secs_f64() * 1e6);
        return Ok(());
    }
    for coding in ["identity", "gzip"] {
        let asked = (&site.page, coding);
        let servers = rt.block_on(servers(&platform, &site.page, coding))?;
        let mut connected = connected(&rt, asked, &servers, how)?;
        connected.push(middle(drawn(&rt, &site, coding, how.1)?));
        connected.push(middle(undrawn(&rt, &site, coding, how.1)?));
        if coding == "identity" {
            connected.push(middle(unread(&rt, &stores, &site, how.1)?));
        }
        for (way, times) in [("over a connection", connected), ("called", called(asked, &servers, how)?)] {
            let first = ["drawn before", "never drawn", "read first"];
            let names = servers.iter().map(|(name, _)| *name).chain(first);
            for (name, time) in names.zip(&times) {
                let micros = |time: &Duration| time.as_secs_f64() * 1e6;
                let ratio = micros(time) / micros(&times[0]);
                println!("  {way:<18} {name:<16} {:8.1} µs  {ratio:7.2} of the handler", micros(time));
            }
        }
    }
    Ok(())
}

/// Returns the durations of the variant selected for a profiler, if any.
fn profiled(rt: &Runtime, stores: &Stores, site: &Site) -> Option<Outcome<Vec<Duration>>> {
    std::env::args().find_map(|argument| match argument.as_str() {
        "drawn" => Some(drawn(rt, site, "identity", PROFILED)),
        "first" => Some(undrawn(rt, site, "identity", PROFILED)),
        "read" => Some(unread(rt, stores, site, PROFILED)),
        _ => None,
    })
}

fn main() -> Outcome<()> {
    let how = if std::env::args().any(|argument| argument == "--bench") { MEASURED } else { TRIED };
    println!("a page of a site in memory");
    measure(Arc::new(MemStore::new()), Arc::new(MemObjects::new()), how)?;
    println!("a page of a site in a file");
    let folder = tempfile::tempdir()?;
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = rt.block_on(SqliteStore::open(folder.path().join("docs.sqlite"), Options::new()))?;
    let objects = store.objects();
    measure(Arc::new(store), Arc::new(objects), how)
}
