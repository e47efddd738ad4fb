//! The mix of operations.

use std::{net::SocketAddr, sync::Arc};

use docs_benches::Outcome;
use hyper::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{client::Client, report::Samples, server::TOKEN};

/// The resources that requests use.
pub(crate) struct Fixture {
    org: String,
    /// The first space, which is published as a site.
    published: String,
    /// Path of the site on the server.
    site: String,
    /// The spaces to edit.
    spaces: Vec<String>,
}

impl Fixture {
    /// Finds the first organization and its site, and copies its space for editing.
    pub(crate) async fn create(client: &mut Client, spaces: usize) -> Outcome<Self> {
        let orgs = client.json(Method::GET, "/v1/orgs", &Value::Null).await?;
        let org = text(&orgs, "/items/0/id")?;
        let list = client.json(Method::GET, &format!("/v1/orgs/{org}/spaces"), &Value::Null).await?;
        let published = text(&list, "/items/0/id")?;
        let address = text(&list, "/items/0/urls/published")?;
        let site = address.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
        let mut copies = Vec::with_capacity(spaces);
        for _ in 0..spaces.max(1) {
            let path = format!("/v1/spaces/{published}/duplicate");
            let copy = client.json(Method::POST, &path, &Value::Null).await?;
            copies.push(text(&copy, "/id")?);
        }
        Ok(Self { org, published, site: site.ok_or("the site has no path")?, spaces: copies })
    }
}

fn text(value: &Value, pointer: &str) -> Outcome<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| format!("{pointer} is not in {value}").into())
}

/// Reproducible pseudo-random numbers (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % end.max(1)
    }
}

/// A client that sends requests over one connection.
pub(crate) struct Worker {
    fixture: Arc<Fixture>,
    random: Random,
    /// Percentage of requests that write.
    writes: u64,
    samples: Samples,
}

impl Worker {
    pub(crate) fn new(fixture: Arc<Fixture>, random: Random, writes: u64) -> Self {
        Self { fixture, random, writes, samples: Samples::default() }
    }

    /// Sends requests until the deadline. A failed connection is counted and replaced.
    pub(crate) async fn run(mut self, address: SocketAddr, until: Instant) -> Samples {
        while Instant::now() < until {
            let begun = Instant::now();
            let mut client = match Client::connect(address, TOKEN).await {
                Ok(client) => client,
                Err(error) => {
                    self.samples.fail("connect", error.to_string());
                    tokio::time::sleep_until(begun + std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            self.samples.add("connect", begun.elapsed());
            while Instant::now() < until {
                let done = match self.random.below(100) < self.writes {
                    true => self.write(&mut client).await,
                    false => self.read(&mut client).await,
                };
                if done.is_err() {
                    break;
                }
            }
        }
        self.samples
    }

    async fn read(&mut self, client: &mut Client) -> Outcome<()> {
        let fixture = Arc::clone(&self.fixture);
        let space = self.space();
        let (name, path) = match self.random.below(10) {
            0 => ("get space", format!("/v1/spaces/{space}")),
            1 => ("list spaces", format!("/v1/orgs/{}/spaces?limit=100", fixture.org)),
            2 => ("list pages", format!("/v1/spaces/{space}/content/pages")),
            3 => ("page as document", format!("/v1/spaces/{space}/content/path/quick-start?format=document")),
            4 => ("page as Markdown", format!("/v1/spaces/{space}/content/path/quick-start?format=markdown")),
            5 => ("search", format!("/v1/spaces/{}/search?query=change%20request", fixture.published)),
            6 => ("list comments", format!("/v1/spaces/{space}/comments")),
            7 => ("home of a site", fixture.site.clone()),
            8 => ("page of a site", format!("{}quick-start", fixture.site)),
            _ => ("Markdown of a site", format!("{}quick-start.md", fixture.site)),
        };
        self.timed(client, name, (Method::GET, path, Value::Null)).await.map(drop)
    }

    async fn write(&mut self, client: &mut Client) -> Outcome<()> {
        let space = self.space();
        let below = |path: &str| format!("/v1/spaces/{space}/{path}");
        let number = self.random.below(1 << 40);
        match self.random.below(3) {
            0 => {
                let title = json!({ "title": format!("Space {number}") });
                let request = (Method::PATCH, format!("/v1/spaces/{space}"), title);
                self.timed(client, "update space", request).await?;
            }
            1 => {
                let comment = json!({ "body": { "markdown": format!("Comment {number}") } });
                let request = (Method::POST, below("comments"), comment);
                let made = self.timed(client, "create comment", request).await?;
                let request =
                    (Method::DELETE, below(&format!("comments/{}", text(&made, "/id")?)), Value::Null);
                self.timed(client, "delete comment", request).await?;
            }
            _ => {
                let subject = json!({ "subject": format!("Change {number}") });
                let request = (Method::POST, below("change-requests"), subject);
                let made = self.timed(client, "create change request", request).await?;
                let within = below(&format!("change-requests/{}", text(&made, "/id")?));
                let page = json!({ "operation": "insert_page", "title": format!("Page {number}"),
                    "document": { "markdown": "A new page.\n" } });
                let request = (Method::POST, format!("{within}/content"), json!({ "changes": [page] }));
                self.timed(client, "edit content", request).await?;
                let request = (Method::PATCH, within, json!({ "status": "archived" }));
                self.timed(client, "archive change request", request).await?;
            }
        }
        Ok(())
    }

    /// Sends a request and records its latency or its failure.
    async fn timed(
        &mut self,
        client: &mut Client,
        name: &'static str,
        (method, path, body): (Method, String, Value),
    ) -> Outcome<Value> {
        let begun = Instant::now();
        match client.send(method, &path, &body).await {
            Ok((status, bytes)) if status.is_success() => {
                self.samples.add(name, begun.elapsed());
                Ok(serde_json::from_slice(&bytes).unwrap_or_default())
            }
            Ok((status, bytes)) => {
                let why = format!("{status} {}", String::from_utf8_lossy(&bytes));
                self.samples.fail(name, why.clone());
                Err(why.into())
            }
            Err(error) => {
                self.samples.fail(name, error.to_string());
                Err(error)
            }
        }
    }

    fn space(&mut self) -> String {
        let spaces = &self.fixture.spaces;
        spaces[self.random.below(spaces.len() as u64) as usize].clone()
    }
}
