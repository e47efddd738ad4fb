//! The API explorer, tested in a browser.
//!
//! If Chromium is not installed, the test prints a message and does not run.

use crate::{journey::chromium::Browser, process::Process};

#[tokio::test(flavor = "multi_thread")]
async fn explorer_works_under_its_policy() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Process::with(&["--bind", "127.0.0.1:0"]).await;
    browser.open(&format!("{}/docs", server.base)).await;
    let shown = "document.querySelector('rapi-doc')?.shadowRoot?.textContent";
    browser.until(&format!("{shown}?.includes('Create a change request')")).await;
    assert_eq!(browser.eval("fetch('v1/user').then(response => response.status)").await, 401);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    let inline = "const script = document.createElement('script'); script.textContent = 'window.ran = true'; \
        document.body.append(script); typeof window.ran";
    assert_eq!(browser.eval(inline).await, "undefined", "inline scripts are blocked");
    let elsewhere = "fetch('http://192.0.2.1/').then(() => 'sent', error => error.name)";
    assert_eq!(browser.eval(elsewhere).await, "TypeError", "requests to other hosts are blocked");
    assert!(!browser.complaints().is_empty());
    browser.end().await;
}
