//! A driver of Chromium over the DevTools protocol, using pipes. The tests of the server share it.

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// Reports that a test is skipped. Fails if `DOCS_TEST_NO_SKIP` is set, which requires that all tools are installed.
#[track_caller]
pub(crate) fn skip(why: &str) {
    assert!(
        std::env::var_os("DOCS_TEST_NO_SKIP").is_none(),
        "{why}, and DOCS_TEST_NO_SKIP says that it is there"
    );
    println!("skipped: {why}");
}

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The session of the page that receives the commands.
    session: Option<String>,
    last: u64,
    /// Events that no call has consumed yet.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser. Returns `None` if it is not installed.
    pub(crate) async fn start() -> Option<Self> {
        let found = std::process::Command::new("chromium").arg("--version").output();
        if !found.is_ok_and(|found| found.status.success()) {
            skip("chromium is not installed");
            return None;
        }
        let profile = tempfile::tempdir().expect("a folder");
        // Chromium uses the file descriptors 3 and 4, which are mapped to standard input and output.
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
        tokio::time::timeout(Duration::from_secs(90), read)
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

    /// Evaluates an expression and awaits a resulting promise.
    pub(crate) async fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let got = self.ask("Runtime.evaluate", params).await;
        assert!(got["exceptionDetails"].is_null(), "{expression}: {got}");
        got["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) async fn until(&mut self, expression: &str) {
        let poll = format!(
            "new Promise((done, fail) => {{ const end = Date.now() + 60000; const look = () => {{ \
             if ({expression}) done(true); else if (Date.now() > end) fail(new Error('never')); \
             else requestAnimationFrame(look); }}; look(); }})"
        );
        assert_eq!(self.eval(&poll).await, true, "{expression}");
    }

    pub(crate) async fn open(&mut self, url: &str) {
        self.ask("Page.navigate", json!({ "url": url })).await;
        self.loaded().await;
    }

    /// Waits for the load event of a navigation.
    pub(crate) async fn loaded(&mut self) {
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let got = self.read().await;
            self.events.push(got);
        }
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
    }

    /// Returns the reported problems: policy violations, script errors and dialogs.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let is_bad = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Page.javascriptDialogOpening" | "Runtime.exceptionThrown" => true,
            "Log.entryAdded" => event["params"]["entry"]["source"] == "security",
            _ => false,
        };
        self.events.iter().filter(is_bad).map(Value::to_string).collect()
    }

    /// Returns the hosts that received requests.
    pub(crate) fn hosts(&self) -> Vec<String> {
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
