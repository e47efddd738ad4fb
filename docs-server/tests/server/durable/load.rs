//! A mixed load of writes, with a log of acknowledged writes that is kept outside the server.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::{Answer, Client, NoAnswer, id};

/// The log of one worker. Only this worker writes to its resources. Each resource is therefore in the last acknowledged
/// state, or in the state requested by the write that was in progress when the server died.
#[derive(Default)]
pub(crate) struct Log {
    worker: u32,
    steps: u32,
    /// Last acknowledged title of each space; `None` if deleted.
    spaces: BTreeMap<String, Option<String>>,
    /// Spaces with an accepted Git import.
    imports: Vec<String>,
    /// Change requests in the shared space, each with the page that it adds and its merge state.
    requests: BTreeMap<String, Request>,
    /// The write that received no response, if any.
    open: Option<Open>,
    /// Number of acknowledged writes.
    pub(crate) acknowledged: u32,
}

#[derive(Clone, Default)]
struct Request {
    subject: String,
    page: Option<String>,
    merged: bool,
}

/// A write with an unknown outcome.
#[derive(Clone, Debug)]
enum Open {
    Title(String, Option<String>),
    Page(String, String),
    Merge(String),
    /// A creation. The id is unknown, so the test only checks that no partial resource exists.
    New,
}

#[derive(Clone)]
pub(crate) struct SharedResources {
    pub(crate) org: String,
    pub(crate) shared: String,
}

impl SharedResources {
    /// Returns the first organization, and a new space in it.
    pub(crate) async fn new(client: &Client) -> Self {
        let org = id(&client.get("/orgs").await["items"][0]);
        let shared = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Shared" })).await);
        Self { org, shared }
    }

    fn request(&self, request: &str) -> String {
        format!("/spaces/{}/change-requests/{request}", self.shared)
    }
}

impl Log {
    pub(crate) fn new(worker: u32) -> Self {
        Self { worker, ..Self::default() }
    }

    /// Writes until the server no longer responds.
    pub(crate) async fn write(&mut self, client: &Client, shared: &SharedResources) {
        while self.step(client, shared).await.is_ok() {}
    }

    /// Performs one write. Workers rotate through the kinds of writes, each starting with a different one.
    pub(crate) async fn step(&mut self, client: &Client, shared: &SharedResources) -> Result<(), NoAnswer> {
        self.steps += 1;
        self.open = Some(Open::New);
        match (self.steps + self.worker) % 8 {
            0 => self.create_space(client, shared).await?,
            1 | 5 => self.rename(client).await?,
            2 => self.create_request(client, shared).await?,
            3 | 6 => self.edit(client, shared).await?,
            4 => self.merge(client, shared).await?,
            _ if self.steps.is_multiple_of(3) => self.delete(client).await?,
            _ => self.import(client).await?,
        }
        self.open = None;
        Ok(())
    }

    async fn create_space(&mut self, client: &Client, shared: &SharedResources) -> Result<(), NoAnswer> {
        let title = self.name("space");
        let path = format!("/orgs/{}/spaces", shared.org);
        let answer = client.call("POST", &path, json!({ "title": title })).await?;
        if let Some(space) = self.acknowledged(&answer)? {
            self.spaces.insert(id(&space), Some(title));
        }
        Ok(())
    }

    async fn rename(&mut self, client: &Client) -> Result<(), NoAnswer> {
        let Some(space) = self.living() else { return Ok(()) };
        let title = self.name("renamed");
        self.open = Some(Open::Title(space.clone(), Some(title.clone())));
        let answer = client.call("PATCH", &format!("/spaces/{space}"), json!({ "title": title })).await?;
        if self.acknowledged(&answer)?.is_some() {
            self.spaces.insert(space, Some(title));
        }
        Ok(())
    }

    async fn delete(&mut self, client: &Client) -> Result<(), NoAnswer> {
        let imported = |space: &String| self.imports.contains(space);
        let Some(space) = self.living().filter(|space| !imported(space)) else { return Ok(()) };
        self.open = Some(Open::Title(space.clone(), None));
        let answer = client.call("DELETE", &format!("/spaces/{space}"), Value::Null).await?;
        if self.acknowledged(&answer)?.is_some() {
            self.spaces.insert(space, None);
        }
        Ok(())
    }

    async fn import(&mut self, client: &Client) -> Result<(), NoAnswer> {
        let Some(space) = self.living().filter(|space| !self.imports.contains(space)) else { return Ok(()) };
        let body = json!({ "url": docs_server::HANDBOOK_URL, "ref": docs_server::MAIN_REF });
        let answer = client.call("POST", &format!("/spaces/{space}/git/import"), body).await?;
        if self.acknowledged(&answer)?.is_some() {
            self.imports.push(space);
        }
        Ok(())
    }

    async fn create_request(&mut self, client: &Client, shared: &SharedResources) -> Result<(), NoAnswer> {
        let subject = self.name("request");
        let path = format!("/spaces/{}/change-requests", shared.shared);
        let answer = client.call("POST", &path, json!({ "subject": subject })).await?;
        if let Some(request) = self.acknowledged(&answer)? {
            self.requests.insert(id(&request), Request { subject, ..Request::default() });
        }
        Ok(())
    }

    async fn edit(&mut self, client: &Client, shared: &SharedResources) -> Result<(), NoAnswer> {
        let Some((request, _)) = self.request(|r| !r.merged && r.page.is_none()) else { return Ok(()) };
        let title = self.name("page");
        self.open = Some(Open::Page(request.clone(), title.clone()));
        let text = format!("# {title}\n\nThe text of {title}.\n");
        let change = json!({ "operation": "insert_page", "document": { "markdown": text } });
        let path = format!("{}/content", shared.request(&request));
        let answer = client.call("POST", &path, json!({ "changes": [change] })).await?;
        if self.acknowledged(&answer)?.is_some() {
            self.requests.entry(request).or_default().page = Some(title);
        }
        Ok(())
    }

    async fn merge(&mut self, client: &Client, shared: &SharedResources) -> Result<(), NoAnswer> {
        let Some((request, _)) = self.request(|r| !r.merged && r.page.is_some()) else { return Ok(()) };
        self.open = Some(Open::Merge(request.clone()));
        let path = format!("{}/merge", shared.request(&request));
        let answer = client.call("POST", &path, json!({})).await?;
        if self.acknowledged(&answer)?.is_some() {
            self.requests.entry(request).or_default().merged = true;
        }
        Ok(())
    }

    /// Returns the body of an acknowledged write. A write rejected with 409 did not take effect. The outcome of one
    /// that failed with 503 is unknown.
    fn acknowledged(&mut self, answer: &Answer) -> Result<Option<Value>, NoAnswer> {
        match answer.status {
            200..=299 => {
                self.acknowledged += 1;
                Ok(Some(answer.body.clone()))
            }
            409 => Ok(None),
            503 => Err(NoAnswer),
            status => panic!("worker {}: {status} {}", self.worker, answer.body),
        }
    }

    fn name(&self, what: &str) -> String {
        format!("{what} {} of {}", self.steps, self.worker)
    }

    /// Returns a space of this worker that has not been deleted.
    fn living(&self) -> Option<String> {
        let living: Vec<&String> =
            self.spaces.iter().filter(|(_, title)| title.is_some()).map(|(id, _)| id).collect();
        (!living.is_empty()).then(|| living[self.steps as usize % living.len()].clone())
    }

    fn request(&self, which: impl Fn(&Request) -> bool) -> Option<(String, Request)> {
        self.requests.iter().find(|(_, r)| which(r)).map(|(id, r)| (id.clone(), r.clone()))
    }

    /// Compares the log with the state of a server, and determines the outcome of the write without a response.
    ///
    /// `pages` maps the page titles in the shared space to page ids.
    pub(crate) async fn check(
        &mut self,
        client: &Client,
        shared: &SharedResources,
        pages: &BTreeMap<String, String>,
    ) {
        let open = self.open.take();
        for (space, title) in &mut self.spaces {
            let found = client.get(&format!("/spaces/{space}")).await;
            let now =
                found["deletedAt"].is_null().then(|| found["title"].as_str().unwrap_or_default().to_owned());
            let asked = matches!(&open, Some(Open::Title(id, asked)) if id == space && *asked == now);
            assert!(
                now == *title || asked,
                "space {space} is {now:?}, acknowledged was {title:?}, open {open:?}"
            );
            *title = now;
        }
        for (id, request) in &mut self.requests {
            let path = shared.request(id);
            let found = client.get(&path).await;
            assert_eq!(found["subject"], request.subject.as_str());
            let merged = found["status"] == "merged";
            let asked = matches!(&open, Some(Open::Merge(open)) if open == id);
            assert!(merged == request.merged || asked, "request {id}: merged {merged}, open {open:?}");
            request.merged = merged;
            let maybe = match &open {
                Some(Open::Page(open, title)) if open == id => Some(title),
                _ => None,
            };
            let Some(title) = request.page.clone().or_else(|| maybe.cloned()) else { continue };
            let own = titles(&client.get(&format!("{path}/content/pages")).await);
            assert!(own.contains_key(&title) || request.page.is_none(), "request {id} has lost {title}");
            if own.contains_key(&title) {
                request.page = Some(title.clone());
            }
            // A partial merge would set the status without adding the page, or add the page without setting the status.
            assert_eq!(pages.contains_key(&title), merged, "request {id}, page {title}, open {open:?}");
            if let Some(page) = pages.get(&title) {
                let path = format!("/spaces/{}/content/page/{page}?format=markdown", shared.shared);
                let text = client.get(&path).await["markdown"].as_str().unwrap_or_default().to_owned();
                assert!(text.contains(&format!("The text of {title}.")), "{text}");
            }
        }
    }

    /// Waits until every accepted import has finished.
    pub(crate) async fn imports_end(&self, client: &Client) {
        for space in &self.imports {
            let path = format!("/spaces/{space}/content/pages");
            crate::process::until(&format!("the import into {space}"), async || {
                !client.get(&path).await["pages"].as_array().expect("pages").is_empty()
            })
            .await;
        }
    }
}

/// Starts all workers.
pub(crate) fn start(logs: Vec<Log>, client: &Client, shared: &SharedResources) -> Vec<JoinHandle<Log>> {
    let begin = |mut log: Log| {
        let (client, shared) = (client.clone(), shared.clone());
        tokio::spawn(async move {
            log.write(&client, &shared).await;
            log
        })
    };
    logs.into_iter().map(begin).collect()
}

/// Waits until all workers have stopped, which they do when the server no longer responds.
pub(crate) async fn stopped(workers: Vec<JoinHandle<Log>>) -> Vec<Log> {
    let mut logs = Vec::with_capacity(workers.len());
    for worker in workers {
        logs.push(worker.await.expect("a worker's answers are as they should be"));
    }
    logs
}

/// Returns the ids of all pages, keyed by title.
pub(crate) fn titles(tree: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut levels = vec![tree];
    while let Some(level) = levels.pop() {
        for page in level["pages"].as_array().into_iter().flatten() {
            let title = page["title"].as_str().unwrap_or_default().to_owned();
            assert!(found.insert(title.clone(), id(page)).is_none(), "{title} is there twice");
            levels.push(page);
        }
    }
    found
}
