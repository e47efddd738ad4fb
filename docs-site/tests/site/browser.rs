//! Pages in a real browser: Chromium, driven through its DevTools protocol over pipes. Where it is not installed the
//! tests say so and do nothing.

use std::{process::Stdio, time::Duration};

use docs_core::model::SiteId;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::world::World;

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The page that commands are for.
    session: Option<String>,
    last: u64,
    /// What happened that nothing waited for.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it; `None` where there is none.
    pub(crate) async fn start() -> Option<Self> {
        let found = std::process::Command::new("chromium").arg("--version").output();
        if !found.is_ok_and(|found| found.status.success()) {
            println!("skipped: chromium is not installed");
            return None;
        }
        let profile = tempfile::tempdir().expect("a folder");
        // It talks through the files 3 and 4, which stand for its input and output here.
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --remote-debugging-pipe --user-data-dir=\"$0\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a browser");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let from = BufReader::new(from);
        let mut browser =
            Self { child, to, from, session: None, last: 0, events: Vec::new(), _profile: profile };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            browser.ask(domain, json!({})).await;
        }
        Some(browser)
    }

    async fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        let read = self.from.read_until(0, &mut bytes);
        tokio::time::timeout(Duration::from_secs(60), read)
            .await
            .expect("an answer in time")
            .expect("a pipe");
        bytes.pop();
        serde_json::from_slice(&bytes).expect("JSON")
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).await.expect("a pipe");
        loop {
            let got = self.read().await;
            if got["id"] == self.last {
                assert!(got["error"].is_null(), "{method}: {got}");
                return got["result"].clone();
            }
            self.events.push(got);
        }
    }

    /// What an expression says; a promise is waited for.
    pub(crate) async fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let got = self.ask("Runtime.evaluate", params).await;
        assert!(got["exceptionDetails"].is_null(), "{expression}: {got}");
        got["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    async fn until(&mut self, expression: &str) {
        let poll = format!(
            "new Promise((done, fail) => {{ const end = Date.now() + 20000; const look = () => {{ \
             if ({expression}) done(true); else if (Date.now() > end) fail(new Error('never')); \
             else requestAnimationFrame(look); }}; look(); }})"
        );
        assert_eq!(self.eval(&poll).await, true, "{expression}");
    }

    pub(crate) async fn open(&mut self, url: &str) {
        self.ask("Page.navigate", json!({ "url": url })).await;
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let got = self.read().await;
            self.events.push(got);
        }
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
    }

    /// What the browser complained of: violations of the policy, scripts that failed, dialogs.
    fn complaints(&self) -> Vec<String> {
        let is_bad = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Page.javascriptDialogOpening" | "Runtime.exceptionThrown" => true,
            "Log.entryAdded" => event["params"]["entry"]["source"] == "security",
            _ => false,
        };
        self.events.iter().filter(is_bad).map(Value::to_string).collect()
    }

    /// Hosts that were asked for something.
    fn hosts(&self) -> Vec<String> {
        let asked = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let url = |event: &Value| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
        let mut hosts: Vec<String> = asked
            .map(url)
            .filter_map(|url| Some(url::Url::parse(&url).ok()?.host_str()?.to_owned()))
            .collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }

    pub(crate) async fn end(mut self) {
        self.child.kill().await.expect("ended");
    }
}

async fn site(w: &World) -> (SiteId, String) {
    let space = w.space("Guide").await;
    let tabs = "{% tabs %}\n{% tab title=\"Linux\" %}\nOne.\n{% endtab %}\n{% tab title=\"Mac\" %}\nTwo.\n{% endtab %}\n{% endtabs %}\n\n```rust\nfn f() {}\n```\n\n$$\\frac{a}{b}$$\n\n## Part\n\nText.\n\n## Other\n\nMoney comes back.";
    w.page(&space, "First", "Start here. [Second](/sites/docs/second)").await;
    w.page(&space, "Second", tabs).await;
    w.page(&space, "Third", tabs).await;
    let made = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_gets_around_in_a_browser_and_nothing_else_is_asked() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (_, path) = site(&w).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}")).await;
    assert_eq!(browser.eval("document.querySelector('h1').textContent").await, "First");
    // A link within the site takes the place of the page without loading it.
    browser.eval("window.stays = true").await;
    browser.eval("document.querySelector('.tree a[href$=second]').click()").await;
    browser.until("document.querySelector('h1').textContent === 'Second'").await;
    assert_eq!(browser.eval("window.stays").await, true);
    assert_eq!(
        browser.eval("location.pathname.endsWith('/second') && document.title.startsWith('Second')").await,
        true
    );
    // A tab that was chosen is chosen on the next page.
    browser.eval("document.querySelector('label[for=tab-1-1]').click()").await;
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelectorAll('.panel')[1]).display").await,
        "block"
    );
    browser.eval("document.querySelector('.tree a[href$=third]').click()").await;
    browser.until("document.querySelector('h1').textContent === 'Third'").await;
    assert_eq!(browser.eval("document.querySelectorAll('.tab-choice')[1].checked").await, true);
    assert_ne!(
        browser.eval("getComputedStyle(document.querySelector('.c-k')).color").await,
        browser.eval("getComputedStyle(document.querySelector('.code')).color").await,
        "code has colours"
    );
    assert_eq!(browser.eval("document.querySelector('mfrac') instanceof MathMLElement").await, true);
    browser.eval("history.back()").await;
    browser.until("document.querySelector('h1').textContent === 'Second'").await;
    // Search as one types.
    browser.eval("{ const input = document.querySelector('.find input'); input.value = 'money'; input.dispatchEvent(new Event('input')); }").await;
    browser.until("document.querySelector('.found a')").await;
    browser.eval("document.querySelector('.found a').click()").await;
    browser.until("location.hash === '#other'").await;
    // Light and dark.
    let before = browser.eval("getComputedStyle(document.documentElement).backgroundColor").await;
    browser.eval("document.querySelector('.theme').click()").await;
    let after = browser.eval("getComputedStyle(document.documentElement).backgroundColor").await;
    assert_ne!(before, after);
    browser.open(&format!("{base}{path}third")).await;
    assert_eq!(browser.eval("getComputedStyle(document.documentElement).backgroundColor").await, after);
    browser.open(&format!("{base}{path}nowhere")).await;
    assert_eq!(
        browser
            .eval("document.querySelector('.tree a') !== null && document.querySelector('h1').textContent")
            .await,
        "Page not found"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.hosts(), ["127.0.0.1"], "nothing is asked of another host");
    // The same without scripts.
    browser.ask("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.open(&format!("{base}{path}~site/search?q=money")).await;
    browser.ask("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await;
    assert_eq!(browser.eval("document.querySelectorAll('.results li').length > 0").await, true);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_runs_in_a_browser_and_the_policy_is_never_needed() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let pages: Vec<Value> = crate::table::payloads()
        .iter()
        .map(|payload| {
            let markdown = crate::table::everywhere(payload);
            json!({ "operation": "insert_page", "title": payload.chars().take(100).collect::<String>(),
                "document": { "markdown": markdown } })
        })
        .collect();
    w.page(&space, "First", "Start.").await;
    for chunk in pages.chunks(40) {
        w.edit(&space, Value::Array(chunk.to_vec())).await;
    }
    let (_, path) = w.site("Docs", &space).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}")).await;
    // Pictures of other hosts are the author's own wish; here they would only take time.
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    let count = browser
        .eval("document.querySelectorAll('.tree ul a[href]').length")
        .await
        .as_u64()
        .expect("a number");
    assert!(count > 200, "{count}");
    let links = browser.eval("[...document.querySelectorAll('.tree ul a[href]')].map((a) => a.href)").await;
    for link in links.as_array().expect("links").iter().filter_map(Value::as_str) {
        browser.open(link).await;
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{link}");
    }
    browser.end().await;
}
