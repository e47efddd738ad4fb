//! Runs every command of the handbook and the README unchanged, page by page. Each page gets a new server and a shell
//! that stops at the first failing command, error response or unset variable.
//!
//! The commands need `bash`, `curl` and `jq`, and on one page `openssl`. If one is missing, the tests print a message
//! and do not run.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use clap::Parser as _;
use docs_core::ports::Checkout as _;
use docs_server::Cli;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::process::{PATIENCE, Process, TOKEN, until};

/// The server address used on the pages.
const SERVER: &str = "127.0.0.1:4000";
/// The web page and the repository imported on the pages. The tests replace them with local ones, so no network access
/// is needed.
const WEB_PAGE: &str = "https://example.com/docs";
const REPOSITORY: &str = "https://github.com/example/project.git";
/// The certificate that the reader saves to a file on one of the pages.
const CERTIFICATE: &str = include_str!("saml/provider.crt");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn handbook() -> PathBuf {
    root().join("examples/handbook")
}

/// Returns the paths of the handbook's Markdown files, excluding included files.
fn pages() -> Vec<String> {
    let handbook = docs_server::handbook().expect("the handbook");
    let paths = handbook.entries().iter().map(|entry| entry.path.clone());
    paths.filter(|path| path.ends_with(".md") && !path.starts_with('.') && !path.contains("/.")).collect()
}

/// A code block of a page.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    /// Commands, with their location.
    Commands(String, String),
    /// A file that the reader is asked to save: its name and its content.
    File(String, String),
}

/// Returns the blocks of a page, with those of included files at their position.
fn blocks(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut found, mut title) = (Vec::new(), None);
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if let Some(included) = quoted(line, "{% include \"") {
            found.extend(blocks(&path.parent().expect("a folder").join(included)));
        } else if let Some(named) = quoted(line, "{% code title=\"") {
            title = Some(named);
        } else if line == "{% endcode %}" {
            title = None;
        } else if let Some(language) = line.strip_prefix("```") {
            let code: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
            let code = code.join("\n") + "\n";
            match (language, title) {
                ("bash", _) => found.push(Block::Commands(format!("{}:{}", path.display(), at + 2), code)),
                ("json" | "javascript", Some(name)) if name.ends_with(".json") || name.ends_with(".mjs") => {
                    found.push(Block::File(name.to_owned(), code));
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the quoted text after `start`.
fn quoted<'t>(line: &'t str, start: &str) -> Option<&'t str> {
    line.strip_prefix(start)?.split('"').next()
}

fn has_commands(page: &str) -> bool {
    blocks(&handbook().join(page)).iter().any(|block| matches!(block, Block::Commands(..)))
}

/// Returns the variables that the commands set from command output.
fn names_set(code: &str) -> Vec<&str> {
    let name = |line: &'_ str| -> Option<usize> {
        let (name, value) = line.split_once('=')?;
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | '0'..='9'));
        (is_name && value.contains("$(")).then_some(name.len())
    };
    code.lines().filter_map(|line| Some(&line[..name(line)?])).collect()
}

/// Returns a shell script with the blocks, which stops at the first error and prints its location.
fn script(blocks: &[Block], folder: &Path) -> String {
    let mut script = "set -euo pipefail\ntrap 'echo \"stopped at $STANDS\" >&2' ERR\n".to_owned();
    for block in blocks {
        match block {
            Block::File(name, text) => fs::write(folder.join(name), text).expect("a file"),
            Block::Commands(stands, code) => {
                script += &format!("STANDS='{stands}'\n{code}");
                for name in names_set(code) {
                    script += &format!(
                        "[ -n \"${name}\" ] && [ \"${name}\" != null ] || {{ echo \"{name} is not set at {stands}\" >&2; exit 1; }}\n"
                    );
                }
            }
        }
    }
    script
}

/// Writes wrappers that take precedence over installed programs: `curl` fails on error responses; `cargo` and `docker`
/// only record their arguments instead of building.
fn programs(folder: &Path) {
    let bin = folder.join("bin");
    fs::create_dir(&bin).expect("a folder");
    let write = |name: &str, text: &str| write_program(folder, name, text);
    write(
        "curl",
        &format!("exec {} --fail-with-body --max-time 60 \"$@\"", found("curl").expect("curl").display()),
    );
    let asked = folder.join("asked");
    for name in ["cargo", "docker"] {
        write(name, &format!("echo {name} \"$@\" >> {}", asked.display()));
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_docs-server"), bin.join("docs-server")).expect("a link");
}

fn write_program(folder: &Path, name: &str, text: &str) {
    let path = folder.join("bin").join(name);
    fs::write(&path, format!("#!/usr/bin/env bash\n{text}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

fn found(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn is_missing(programs: &[&str]) -> bool {
    let missing: Vec<_> = programs.iter().filter(|program| found(program).is_none()).collect();
    if !missing.is_empty() {
        println!("the commands of the handbook are not run: {missing:?} is missing");
    }
    !missing.is_empty()
}

/// Creates a repository whose branch `main` contains a documentation folder.
fn repository(folder: &Path) -> String {
    let path = folder.join("project.git");
    let repository = git2::Repository::init_bare(&path).expect("a repository");
    let blob = repository.blob(b"# Project\n\nWhat it is.\n").expect("a blob");
    let tree = |entries: &[(&str, git2::Oid, i32)]| {
        let mut tree = repository.treebuilder(None).expect("a tree");
        for (name, id, mode) in entries {
            tree.insert(*name, *id, *mode).expect("an entry");
        }
        tree.write().expect("a tree")
    };
    let root = tree(&[("docs", tree(&[("README.md", blob, 0o100_644)]), 0o040_000)]);
    let who = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).expect("a signature");
    let root = repository.find_tree(root).expect("the tree");
    repository.commit(Some("refs/heads/main"), &who, &who, "Begin", &root, &[]).expect("a commit");
    format!("file://{}", path.display())
}

/// Starts a website with one page and returns its URL.
async fn website() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/docs", listener.local_addr().expect("its address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            // Client errors are irrelevant to this test.
            let _ = stream.read(&mut asked).await;
            let body = "<html><head><title>Docs</title></head><body><main><h1>Docs</h1><p>Text.</p></main></body></html>";
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    url
}

/// Runs a script in a folder, with the wrappers first in `PATH`.
async fn run(script: String, folder: &Path) {
    let path = std::env::var("PATH").expect("a path");
    let mut shell = tokio::process::Command::new("bash");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("DOCS_")) {
        shell.env_remove(name);
    }
    shell
        .arg("-c")
        .arg(script)
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .env("DOCS_TOKEN", TOKEN)
        .env("RUST_LOG", "warn")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let done = tokio::time::timeout(PATIENCE, shell.output()).await.expect("in time").expect("a shell");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}\n{}", said(&done.stdout), said(&done.stderr));
}

/// Checks that the recorded `cargo run` commands use valid flags.
fn check_asked(folder: &Path) {
    let Ok(asked) = fs::read_to_string(folder.join("asked")) else { return };
    for line in asked.lines().filter_map(|line| line.strip_prefix("cargo run --example server")) {
        let flags = line.strip_prefix(" --").unwrap_or_default().split_whitespace();
        if let Err(error) = Cli::try_parse_from(["docs-server"].into_iter().chain(flags)) {
            panic!("{line}: {error}");
        }
    }
}

/// Runs the commands of a page.
async fn page_runs(page: &str) {
    if is_missing(&["bash", "curl", "jq", "openssl"]) {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    programs(folder);
    fs::write(folder.join("provider.crt"), CERTIFICATE).expect("a file");
    let store = format!("sqlite:{}", folder.join("docs.db").display());
    let flags = ["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "files"];
    let server = Process::with_handbook(&flags).await;
    write_program(folder, "systemctl", &format!("[ \"$1\" != stop ] || kill -9 {}", server.child.id()));
    let address = server.base.trim_start_matches("http://").to_owned();
    handbook_is_imported(&address).await;
    let script = script(&blocks(&handbook().join(page)), folder)
        .replace(SERVER, &address)
        .replace("DOCS_TOKEN=choose-a-long-secret", &format!("DOCS_TOKEN={TOKEN}"))
        .replace(WEB_PAGE, &website().await)
        .replace(REPOSITORY, &repository(folder));
    run(script, folder).await;
    check_asked(folder);
}

/// Waits until the handbook has been imported into the first space.
async fn handbook_is_imported(address: &str) {
    let script = format!(
        "api() {{ curl -sS --fail -H 'Authorization: Bearer {TOKEN}' \"http://{address}/v1$1\"; }}; \
         ORG=$(api /orgs | jq -r '.items[0].id') && SPACE=$(api /orgs/$ORG/spaces | jq -r '.items[0].id') && \
         api /spaces/$SPACE/content/path/quick-start > /dev/null"
    );
    until("the handbook", async || {
        let asked = Command::new("bash").args(["-c", &script]).stderr(Stdio::null()).status();
        asked.expect("a shell").success()
    })
    .await;
}

/// Commands of the handbook that are not run because they use a package registry. A separate test covers the programs
/// that they install.
const NOT_RUN: &[&str] = &["npm install @gitbook/api@0.130.0"];

#[test]
fn shell_blocks_are_run_or_listed_as_exceptions() {
    for page in pages() {
        let text = fs::read_to_string(handbook().join(&page)).expect("a page");
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```") else { continue };
            let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if matches!(language, "sh" | "shell" | "console" | "zsh" | "terminal") {
                let first = code.first().expect("a command");
                assert!(NOT_RUN.contains(first), "{page}: write `bash` behind the quotes: {code:?}");
            }
        }
    }
}

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        /// The pages with commands.
        const PAGES: &[&str] = &[$($page),*];

        mod every_command_runs_as_it_is_written_in {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::page_runs($page).await;
                }
            )*
        }
    };
}

pages! {
    the_quick_start: "quick-start.md",
    change_requests_and_merging: "concepts/change-requests-and-merging.md",
    content_and_revisions: "concepts/content-and-revisions.md",
    people_and_permissions: "concepts/people-and-permissions.md",
    as_a_test_backend: "embedding/as-a-test-backend.md",
    arrange_a_site: "guides/arrange-a-site.md",
    bring_a_second_person_in: "guides/bring-a-second-person-in.md",
    discuss_and_review: "guides/discuss-and-review.md",
    edit_through_a_change_request: "guides/edit-through-a-change-request.md",
    export_to_git: "guides/export-to-git.md",
    go_back: "guides/go-back.md",
    import_documents: "guides/import-documents.md",
    import_from_git: "guides/import-from-git.md",
    look_after_a_server: "guides/look-after-a-server.md",
    publish_a_site: "guides/publish-a-site.md",
    publish_an_openapi_specification: "guides/publish-an-openapi-specification.md",
    publish_to_an_audience: "guides/publish-to-an-audience.md",
    sign_in_with_saml: "guides/sign-in-with-saml.md",
    sync_with_git: "guides/sync-with-git.md",
    translate_a_space: "guides/translate-a-space.md",
    upload_files: "guides/upload-files.md",
    limits: "reference/limits.md",
    server_flags: "reference/server-flags.md",
}

/// Returns the `node_modules` folder with the published client if it is installed.
fn published_client() -> Option<PathBuf> {
    let modules = PathBuf::from(std::env::var_os("DOCS_TEST_NODE_MODULES")?);
    modules.join("@gitbook/api").is_dir().then_some(modules)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_client_runs_the_specification_guide() {
    let (Some(modules), false) = (published_client(), is_missing(&["bash", "curl", "jq", "node"])) else {
        println!("the published client is not run: DOCS_TEST_NODE_MODULES has no @gitbook/api");
        return;
    };
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    programs(folder);
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).expect("a link");
    let server = Process::with(&["--bind", "127.0.0.1:0", "--store", "memory"]).await;
    let page = handbook().join("guides/publish-an-openapi-specification.md");
    let files: Vec<Block> =
        blocks(&page).into_iter().filter(|block| matches!(block, Block::File(..))).collect();
    let script = script(&files, folder)
        + &format!(
            "api() {{ curl -sS -H \"Authorization: Bearer $DOCS_TOKEN\" \"{base}/v1$1\"; }}\n\
             ORG=$(api /orgs | jq -r '.items[0].id')\n\
             [ \"$(DOCS_URL={base} ORG=$ORG DOCS_TOKEN=$DOCS_TOKEN node publish.mjs)\" = 'pets pending' ]\n\
             [ \"$(api /orgs/$ORG/openapi/pets | jq -r .slug)\" = pets ]\n\
             ! DOCS_TOKEN=$DOCS_TOKEN ORG=$ORG node publish.mjs 2> refused\n\
             grep -q 'set DOCS_URL' refused\n",
            base = server.base,
        );
    run(script, folder).await;
}

#[test]
fn every_page_with_commands_is_run() {
    let with_commands: Vec<String> = pages().into_iter().filter(|page| has_commands(page)).collect();
    let mut known: Vec<&str> = PAGES.to_vec();
    known.sort_unstable();
    assert_eq!(with_commands, known);
}

#[test]
fn handbook_test_examples_exist_in_the_test_file() {
    let page = fs::read_to_string(handbook().join("embedding/as-a-test-backend.md")).expect("the page");
    let tests =
        fs::read_to_string(root().join("docs-memstore/tests/a_world_of_its_own.rs")).expect("the tests");
    let shown: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let shown: Vec<&str> = shown.into_iter().filter(|code| code.starts_with("#[tokio::test]")).collect();
    assert!(!shown.is_empty());
    for code in shown {
        assert!(tests.contains(code), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_of_the_readme_run_against_a_server() {
    if is_missing(&["bash", "curl", "jq"]) {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    programs(folder.path());
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let commands: Vec<&str> = readme.lines().filter(|line| line.starts_with("curl ")).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    let server = Process::start("memory").await;
    let address = server.base.trim_start_matches("http://");
    let block = Block::Commands("README.md".to_owned(), commands.join("\n") + "\n");
    run(script(&[block], folder.path()).replace(SERVER, address), folder.path()).await;
}

#[tokio::test]
#[should_panic(expected = "SITE is not set")]
async fn null_variable_stops_the_guide_script() {
    let folder = TempDir::new().expect("a folder");
    let code = "SITE=$(echo null)\n".to_owned();
    let script = script(&[Block::Commands("here".to_owned(), code)], folder.path());
    run(script, folder.path()).await;
}
