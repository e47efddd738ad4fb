//! The first steps of a new user in a real browser: the first start of the program, and the pages that it publishes.
//!
//! If Chromium is not installed, the test prints a message and does not run. If `DOCS_TEST_SCREENSHOTS` is set, the
//! test saves screenshots of ten pages to that folder: desktop and phone, light and dark.

#[path = "../../../docs-site/tests/site/chromium.rs"]
pub(crate) mod chromium;
mod pictures;
mod reader;
mod site;

use std::process::Stdio;

use crate::{
    client::Client,
    process::{PATIENCE, Process, program},
};
use chromium::Browser;
use reader::{DESKTOP, PHONE, Reader};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::ChildStdout,
};

/// Output of the program at its first start.
struct Greeting {
    process: Process,
    /// URL of the handbook.
    handbook: String,
    token: String,
}

/// Starts the program with the flags from the README and another port, and parses its output.
async fn first_start() -> Greeting {
    let mut command = program();
    let mut child =
        command.args(["--bind", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("the server starts");
    let stdout = child.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(ChildStdout::from_std(stdout).expect("a pipe")).lines();
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.trim_start().starts_with("first space")) {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it starts in time");
        said.push(line.expect("its output can be read").unwrap_or_else(|| panic!("a greeting: {said:?}")));
    }
    // Drain the remaining output, so that the pipe does not fill up.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let after = |words: &str| {
        let found = said.iter().find_map(|line| line.strip_prefix(words));
        found.unwrap_or_else(|| panic!("{words} in {said:?}")).to_owned()
    };
    let handbook = after("Read the handbook: ");
    let base = handbook.trim_end_matches('/').to_owned();
    Greeting { process: Process { child, base }, handbook, token: after("export DOCS_TOKEN=") }
}

/// The user starts at the printed URL, and finally publishes a new site.
#[tokio::test(flavor = "multi_thread")]
async fn new_user_reads_the_handbook_and_an_own_site() {
    let Some(browser) = Browser::start().await else { return };
    let mut reader = Reader { browser };
    let greeting = first_start().await;
    reader.has(DESKTOP).await;
    opens_the_handbook(&mut reader, &greeting.handbook).await;
    reads_a_page(&mut reader).await;
    searches(&mut reader).await;
    chooses_a_tab(&mut reader).await;
    switches_the_theme(&mut reader).await;
    misses_a_page(&mut reader).await;
    reads_on_a_phone(&mut reader).await;
    let client = Client::new(&greeting.process.base, &greeting.token);
    let site = site::publish(&client).await;
    reads_from_right_to_left(&mut reader, &site).await;
    follows_a_redirect(&mut reader, &client, &site).await;
    assert_eq!(reader.browser.complaints(), Vec::<String>::new());
    assert_eq!(reader.browser.hosts(), ["127.0.0.1"], "nothing is asked of another host");
    if let Some(folder) = std::env::var_os("DOCS_TEST_SCREENSHOTS") {
        pictures::take(&mut reader, &greeting.handbook, &site, folder.as_ref()).await;
    }
    reader.browser.end().await;
}

async fn opens_the_handbook(reader: &mut Reader, address: &str) {
    reader.browser.open(address).await;
    assert_eq!(reader.heading().await, "Welcome");
    reader.sees("main", "This handbook is itself a space on the platform").await;
    reader.sees(".tree", "Quick start").await;
    // Images load lazily.
    reader.browser.eval("document.querySelector('main img').scrollIntoView()").await;
    let loaded =
        "[...document.querySelectorAll('main img')].every((it) => it.complete && it.naturalWidth > 0)";
    reader.browser.until(loaded).await;
}

async fn reads_a_page(reader: &mut Reader) {
    // Child pages are collapsed until the reader opens the parent page.
    let below = ".tree a[href$='/concepts/content-and-revisions']";
    assert!(!reader.can_see(below).await);
    reader.click(".tree .branch:has(> a[href$='/concepts']) summary").await;
    assert!(reader.can_see(below).await);
    reader.click(below).await;
    reader.comes_to("Content and revisions").await;
    reader.sees(".tree [aria-current]", "Content and revisions").await;
    let outline = reader.browser.eval("document.querySelectorAll('.outline a').length").await;
    assert!(outline.as_u64().is_some_and(|links| links > 1), "{outline}");
}

async fn searches(reader: &mut Reader) {
    reader.press("/").await;
    reader.types("PowerShell").await;
    reader.browser.until("document.querySelector('.found a')").await;
    reader.sees(".found", "Quick start").await;
    reader.press("Enter").await;
    reader.browser.loaded().await;
    reader.sees(".results", "Quick start").await;
    reader.sees(".results li p", "PowerShell").await;
    reader.click(".results a[href*='/quick-start']").await;
    reader.comes_to("Quick start").await;
}

async fn chooses_a_tab(reader: &mut Reader) {
    reader.sees(".tabs", "export DOCS_TOKEN=").await;
    reader.does_not_see(".tabs", "$env:DOCS_TOKEN").await;
    reader.click("label[for=tab-1-1]").await;
    reader.sees(".tabs", "$env:DOCS_TOKEN").await;
    reader.does_not_see(".tabs", "export DOCS_TOKEN=").await;
}

async fn switches_the_theme(reader: &mut Reader) {
    let light = reader.brightness().await;
    reader.click(".theme").await;
    let dark = reader.brightness().await;
    assert!(light > 200 && dark < 60, "{light}, then {dark}");
    reader.browser.ask("Page.reload", serde_json::json!({})).await;
    reader.browser.loaded().await;
    assert_eq!(reader.brightness().await, dark, "what was chosen stays chosen");
    reader.click(".theme").await;
    assert_eq!(reader.brightness().await, light);
}

async fn misses_a_page(reader: &mut Reader) {
    let here = reader.browser.eval("location.href").await;
    let nowhere = format!("{}-that-never-was", here.as_str().expect("an address"));
    reader.browser.open(&nowhere).await;
    assert_eq!(reader.heading().await, "Page not found");
    assert_eq!(reader.browser.eval("fetch(location.href).then((it) => it.status)").await, 404);
    reader.sees(".tree", "Quick start").await;
    reader.click(".tree a[href$='/quick-start']").await;
    reader.comes_to("Quick start").await;
}

async fn reads_on_a_phone(reader: &mut Reader) {
    reader.has(PHONE).await;
    let link = ".tree a[href$='/embedding/inside-a-rust-service']";
    assert!(!reader.can_see(link).await, "the tree is opened first");
    reader.click(".open-tree").await;
    reader.click(link).await;
    reader.comes_to("Inside a Rust service").await;
    assert!(!reader.can_see(link).await, "it is closed again");
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(reader.browser.eval(fits).await, true, "nothing is wider than the phone");
    reader.has(DESKTOP).await;
}

async fn reads_from_right_to_left(reader: &mut Reader, site: &site::Made) {
    reader.browser.open(&format!("{}{}", site.url, site::ARABIC)).await;
    assert_eq!(reader.heading().await, "دليل البدء");
    for (wanted, direction) in
        [("h1", "rtl"), (".text", "rtl"), (".hint p", "rtl"), (".tabs", "rtl"), (".code pre", "ltr")]
    {
        let script = format!("getComputedStyle(document.querySelector(\"{wanted}\")).direction");
        assert_eq!(reader.browser.eval(&script).await, direction, "{wanted}");
    }
    let at_right = "(() => { const range = document.createRange(), text = document.querySelector('.text p');
        range.selectNodeContents(text); const end = text.getBoundingClientRect().right;
        return Math.abs(range.getClientRects()[0].right - end) < 2; })()";
    assert_eq!(reader.browser.eval(at_right).await, true, "a line begins at the right");
}

async fn follows_a_redirect(reader: &mut Reader, client: &Client, site: &site::Made) {
    let gone = format!("{}former/beginning", site.url);
    reader.browser.open(&gone).await;
    assert_eq!(reader.heading().await, "Page not found");
    site.redirect(client, "/former/beginning").await;
    reader.browser.open(&gone).await;
    assert_eq!(reader.heading().await, "دليل البدء");
    let path = format!("location.pathname.endsWith('/{}')", site::ARABIC);
    assert_eq!(reader.browser.eval(&path).await, true, "the address is that of the page");
}
