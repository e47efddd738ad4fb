//! `docs-server admin …` on an SQLite file, checked through the platform.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output},
    sync::Arc,
    time::{Duration, SystemTime},
};

use data_encoding::BASE64;
use docs_blobs::ObjectBlobs;
use docs_core::{
    Actor, ErrorKind, Platform,
    model::{CreateChangeRequest, CreateSpace, OrgId, RevisionPage, SpaceId, UpdateContent},
    platform::ContentOptions,
    ports::{Clock as _, SystemClock},
    store::PageRequest,
};
use docs_memstore::ManualClock;
use docs_server::StoreUrl;
use docs_sqlstore::{Options, SqliteStore};
use tempfile::TempDir;

fn admin(store: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
    command
        .arg("admin")
        .args(words)
        .args(["--store", store])
        .env_remove("DOCS_STORE")
        .env("RUST_LOG", "warn");
    command.output().expect("the server starts")
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn done(store: &str, words: &[&str]) -> String {
    let output = admin(store, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

/// Runs a command that must fail, and returns its error message.
#[track_caller]
fn refused(store: &str, words: &[&str]) -> String {
    let output = admin(store, words);
    assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}");
    String::from_utf8(output.stderr).expect("text")
}

async fn platform(file: &Path) -> Platform {
    let (store, objects) = StoreUrl::Sqlite(file.to_owned()).open(None).await.expect("the file opens");
    Platform::builder(store, objects).build()
}

#[tokio::test]
async fn admin_creates_users_orgs_and_tokens_and_revokes_tokens() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let store = store.as_str();
    let user = done(store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let org = done(store, &["org", "create", "--title", "Engines", "--admin", "ADA@example.com"]);
    let of = ["--user", "ada@example.com"];
    let create = |more: &[&'static str]| done(store, &[&["token", "create"], &of[..], more].concat());
    let first = create(&["--label", "laptop"]);
    let second = create(&["--expires", "2199-12-31T00:00:00Z"]);
    let listed = done(store, &[&["token", "list"], &of[..]].concat());
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert_eq!((rows[0][2], rows[0][3], rows[1][2]), ("never", "laptop", "2199-12-31T00:00:00.000Z"));
    assert!(!listed.contains(&first) && !listed.contains(&second), "a list shows no secrets");
    done(store, &[&["token", "revoke"], &of[..], &[rows[0][0]]].concat());

    let platform = platform(&file).await;
    let gone = platform.authenticate(&first).await.expect_err("it was revoked");
    assert_eq!(gone.kind(), ErrorKind::Unauthenticated);
    let ada = platform.authenticate(&second).await.expect("it is good");
    assert_eq!(ada.user().map(ToString::to_string), Some(user));
    let org: OrgId = org.parse().expect("an id");
    assert_eq!(platform.as_actor(&ada).org(&org).get().await.expect("hers").title.as_str(), "Engines");
    let log = platform.as_platform().audit_log(&Default::default(), &PageRequest::default()).await;
    let log: Vec<_> = log.expect("listed").items.iter().map(|entry| entry.operation.clone()).collect();
    assert_eq!(log, ["token_revoke", "token_create", "token_create", "org_create", "user_create"]);
}

#[tokio::test]
async fn admin_lists_users_adds_members_and_reads_the_audit_log() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let store = store.as_str();
    let ada = done(store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let grace = done(store, &["user", "create", "--email", "grace@example.com", "--name", "Grace Hopper"]);
    let org = done(store, &["org", "create", "--title", "Engines", "--admin", "ada@example.com"]);
    let mut users: Vec<String> = done(store, &["user", "list"]).lines().map(str::to_owned).collect();
    users.sort();
    let mut expected =
        [format!("{ada}\tada@example.com\tAda"), format!("{grace}\tgrace@example.com\tGrace Hopper")];
    expected.sort();
    assert_eq!(users, expected);
    done(store, &["user", "rename", "--email", "Grace@example.com", "--name", "G. Hopper"]);
    assert!(done(store, &["user", "list"]).contains("grace@example.com\tG. Hopper"));
    let said = refused(store, &["user", "rename", "--email", "grace@example.com", "--name", ""]);
    assert!(said.contains("--name"), "{said}");
    let orgs = done(store, &["org", "list"]);
    let row: Vec<&str> = orgs.split('\t').collect();
    assert_eq!((row[0], row[2]), (org.as_str(), "Engines"));

    let add = ["member", "add", "--org", &org, "--user", "grace@example.com"];
    done(store, &add);
    done(store, &[&add[..], &["--role", "edit"]].concat());
    let said = refused(store, &[&add[..], &["--role", "boss"]].concat());
    assert!(
        said.contains("--role") && said.contains("`boss` is not a role; use one of read, comment, edit"),
        "{said}"
    );
    let said = refused(store, &["member", "add", "--org", "x y", "--user", "grace@example.com"]);
    assert!(said.contains("--org"), "{said}");
    let platform = platform(&file).await;
    let (org_id, grace_id) = (org.parse().expect("an id"), grace.parse().expect("an id"));
    let member = platform.as_user(&grace_id).org(&org_id).member(&grace_id).get().await.expect("a member");
    assert_eq!(member.role, Some(docs_core::model::Role::Edit));

    let log = done(store, &["audit", "list", "--org", &org, "--limit", "2"]);
    let rows: Vec<Vec<&str>> = log.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        rows.iter().map(|row| (row[1], row[2])).collect::<Vec<_>>(),
        [("member_put", "-"); 2],
        "{log}"
    );
    let all = done(store, &["audit", "list"]);
    assert!(all.lines().count() > 2 && all.contains("user_create"), "{all}");
    assert_eq!(done(store, &["audit", "list", "--since", "2199-12-31T00:00:00Z"]), "");
    assert_eq!(done(store, &["audit", "list", "--user", "grace@example.com"]), "");
    let said = refused(store, &["audit", "list", "--since", "yesterday"]);
    assert!(said.contains("--since") && said.contains("`yesterday` is not a valid time"), "{said}");
}

#[test]
fn admin_command_errors_name_the_flag_or_value() {
    let folder = TempDir::new().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let of = ["token", "create", "--user", "ada@example.com"];
    for (words, named) in [
        (
            &["user", "create", "--email", "ada@example.com", "--name", "Ada"][..],
            "email: is in use by another user",
        ),
        (&["user", "create", "--email", "eve@example.com", "--name", ""], "--name:"),
        (&["org", "create", "--title", "x", "--admin", "ada@example.com"], "--title:"),
        (
            &["org", "create", "--title", "Engines", "--admin", "eve@example.com"],
            "eve@example.com: no such user",
        ),
        (&["token", "list", "--user", "eve@example.com"], "eve@example.com: no such user"),
        (&["token", "revoke", "--user", "ada@example.com", "unknown"], "no such token"),
        (&[&of[..], &["--expires", "tomorrow"]].concat(), "--expires:"),
        (&[&of[..], &["--expires", "2001-01-01T00:00:00Z"]].concat(), "expiresAt:"),
        (&[&of[..], &["--label", &"x".repeat(51)]].concat(), "--label:"),
    ] {
        let said = refused(&store, words);
        assert!(said.contains(named) && !said.contains("because"), "{words:?}: {said}");
    }
    assert_eq!(done(&store, &["token", "list", "--user", "ada@example.com"]), "");
    let said = refused("memory", &["token", "list", "--user", "ada@example.com"]);
    assert!(said.contains("--store: must be the database"), "{said}");
}

/// All other commands fail with the path of the missing file, because the path is probably mistyped.
#[test]
fn only_user_create_creates_a_missing_sqlite_file() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("dosc.db");
    let store = format!("sqlite:{}", file.display());
    for words in [&["user", "list"][..], &["org", "list"], &["audit", "list"], &["verify"], &["collect"]] {
        let said = refused(&store, words);
        assert!(said.contains("--store: the file") && said.contains("dosc.db"), "{words:?}: {said}");
        assert!(!file.exists(), "{words:?}");
    }
    done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    assert!(done(&store, &["user", "list"]).contains("ada@example.com"));
}

#[tokio::test]
async fn admin_commands_verify_rebuild_and_collect_garbage() {
    use docs_core::store::{KeyBuf, LAYOUT, Mode, Tx, Value};
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let blobs = folder.path().join("blobs");
    let blobs = blobs.to_str().expect("text");
    done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    done(&store, &["org", "create", "--title", "Engines", "--admin", "ada@example.com"]);
    assert_eq!(done(&store, &["verify"]), "all rows match the records");

    // Remove an index row, as if a newer program version had added the index.
    let opened = platform(&file).await;
    let mut tx = Tx::new(opened.store().begin(Mode::Write, &[]).await.expect("begins"));
    let (row, _) = tx.scan_prefix(&KeyBuf::new("mem.j"), 1).await.expect("read").remove(0);
    tx.delete_value(row.clone());
    tx.commit().await.expect("stored");
    let output = admin(&store, &["verify"]);
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("missing\t{row}\n"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("admin rebuild"));
    // A rebuild requires exclusive access to the store.
    drop(opened);
    assert_eq!(done(&store, &["rebuild"]), "all rows were rebuilt");
    assert_eq!(done(&store, &["verify"]), "all rows match the records");

    // A file with a newer layout is not modified.
    let opened = platform(&file).await;
    let mut tx = Tx::new(opened.store().begin(Mode::Write, &[]).await.expect("begins"));
    let newer = Value::Json(r#"{"version":99}"#.into());
    tx.put_value(KeyBuf::new("sys").part("layout").key(), newer);
    tx.commit().await.expect("stored");
    let said = refused(&store, &["token", "list", "--user", "ada@example.com"]);
    assert!(said.contains("--store: the store has layout"), "{said}");
    drop(opened);
    let said = refused(&store, &["rebuild"]);
    assert!(said.contains("layout 99"), "{said}");
    let opened = platform(&file).await;
    let mut tx = Tx::new(opened.store().begin(Mode::Write, &[]).await.expect("begins"));
    let current = Value::Json(format!(r#"{{"version":{LAYOUT}}}"#).into_bytes().into());
    tx.put_value(KeyBuf::new("sys").part("layout").key(), current);
    tx.commit().await.expect("stored");

    let would = done(&store, &["collect", "--dry-run", "--blobs", blobs]);
    assert!(would.contains("objects would be removed\t0"), "{would}");
    let removed = done(&store, &["collect", "--blobs", blobs]);
    assert!(removed.contains("objects removed\t0\nincomplete uploads removed\t0"), "{removed}");
}

/// Minimum age of collected content that was deleted.
const LONG: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Size in bytes of an object that is too large to be stored inline.
const LARGE: usize = docs_sqlstore::INLINE_BYTES + 1;

/// Opens the platform on the file and the blob folder, with a manual clock.
async fn platform_at(clock: &ManualClock, file: &Path, blobs: &Path) -> Platform {
    let place = ObjectBlobs::folder(blobs).expect("a folder");
    let options = Options::new().clock(Arc::new(clock.clone())).blobs(Arc::new(place));
    let store = SqliteStore::open(file, options).await.expect("the file opens");
    let objects = Arc::new(store.objects());
    Platform::builder(Arc::new(store), objects).clock(clock.clone()).build()
}

/// Creates a space with a large file that repeats one byte. Also returns the URL of the file.
async fn space_with_file(platform: &Platform, who: &Actor, org: &OrgId, byte: u8) -> (SpaceId, String) {
    let me = platform.as_actor(who);
    let space = me.org(org).spaces().create(CreateSpace::default()).await.expect("a space").id;
    let requests = me.space(&space);
    let request = requests.change_requests().create(CreateChangeRequest::default()).await.expect("one");
    let change = serde_json::json!({ "changes": [{ "operation": "insert_files", "files": [
        { "name": "large.bin", "base64": BASE64.encode(&[byte; LARGE]), "contentType": "text/plain" }] }] });
    let update: UpdateContent = serde_json::from_value(change).expect("changes");
    let number = request.number.to_string();
    let done = requests.change_request(&number).edit(update).await.expect("edited");
    requests.change_request(&number).merge().await.expect("merged");
    (space, done.inserted_files.expect("a file").remove(0).download_url)
}

async fn purge(platform: &Platform, space: &SpaceId) {
    let space = platform.as_platform().space(space);
    space.delete().await.expect("deleted");
    space.purge().await.expect("purged");
}

/// Returns the names of the blobs in a folder, excluding the ownership marker.
fn blobs_in(folder: &Path) -> BTreeSet<String> {
    let below = |folder: fs::DirEntry| fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let files = fs::read_dir(folder).expect("a folder").flatten().flat_map(below);
    files.map(|file| file.file_name().into_string().expect("text")).collect()
}

/// Returns a count printed by `collect`.
#[track_caller]
fn told(printed: &str, what: &str) -> usize {
    let line = printed.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix('\t'));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{what} in {printed}"))
}

#[tokio::test]
async fn collect_removes_only_blobs_deleted_long_ago() {
    let folder = TempDir::new().expect("a folder");
    let (file, blobs) = (folder.path().join("docs.db"), folder.path().join("blobs"));
    let store = format!("sqlite:{}", file.display());
    let ada = done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let org = done(&store, &["org", "create", "--title", "Engines", "--admin", "ada@example.com"]);
    let (ada, org) = (Actor::User(ada.parse().expect("an id")), org.parse().expect("an id"));
    let clock = ManualClock::new(SystemClock.now() - LONG);
    let platform = platform_at(&clock, &file, &blobs).await;
    let (gone, _) = space_with_file(&platform, &ada, &org, b'a').await;
    let of_gone = blobs_in(&blobs);
    let (kept, url) = space_with_file(&platform, &ada, &org, b'b').await;
    purge(&platform, &gone).await;
    clock.advance(LONG);
    let (young, _) = space_with_file(&platform, &ada, &org, b'c').await;
    purge(&platform, &young).await;
    let all = blobs_in(&blobs);
    assert_eq!((of_gone.len(), all.len()), (1, 3), "a blob for each file");

    let place = blobs.to_str().expect("text");
    let would = done(&store, &["collect", "--dry-run", "--blobs", place]);
    let (objects, uploads) = ("objects would be removed", "incomplete uploads would be removed");
    assert!(told(&would, objects) > 0, "{would}");
    assert_eq!((told(&would, uploads), blobs_in(&blobs)), (0, all.clone()), "a dry run only counts");
    let removed = done(&store, &["collect", "--blobs", place]);
    assert_eq!(told(&removed, "objects removed"), told(&would, objects));
    assert_eq!(blobs_in(&blobs), &all - &of_gone, "what is named stays, and what was there lately");
    let sealed = url.rsplit('/').nth(1).expect("a segment");
    let found = platform.find_file(&kept, sealed).await.expect("there");
    assert_eq!(platform.file_bytes(&found, None).await.expect("read"), vec![b'b'; LARGE]);

    // The file of an interrupted upload is removed only after a certain age.
    let name = of_gone.first().expect("a name");
    let left = blobs.join(&name[..2]).join(name);
    fs::write(&left, "bytes").expect("written");
    assert_eq!(told(&done(&store, &["collect", "--blobs", place]), "incomplete uploads removed"), 0);
    let opened = fs::File::options().append(true).open(&left).expect("it stayed");
    opened.set_modified(SystemTime::now() - LONG).expect("a file has a time");
    let would = done(&store, &["collect", "--dry-run", "--blobs", place]);
    assert_eq!((told(&would, uploads), left.is_file()), (1, true), "{would}");
    let removed = done(&store, &["collect", "--blobs", place]);
    let count = |what| told(&removed, what);
    assert_eq!((count("objects removed"), count("incomplete uploads removed")), (0, 1), "{removed}");
    assert_eq!(blobs_in(&blobs), &all - &of_gone);
}

#[tokio::test]
async fn export_command_writes_a_public_site_to_files() {
    use docs_core::model::{CreateSite, CreateSpace, SiteSpacesInput, SiteVisibility, UpdateSite};
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let org = done(&store, &["org", "create", "--title", "Engines", "--admin", "ada@example.com"]);
    let token = done(&store, &["token", "create", "--user", "ada@example.com"]);
    let org: OrgId = org.parse().expect("an id");
    let site = {
        let platform = platform(&file).await;
        let ada = platform.authenticate(&token).await.expect("it is good");
        let me = platform.as_actor(&ada);
        let new = CreateSpace { title: "Guide".parse().ok(), ..CreateSpace::default() };
        let space = me.org(&org).spaces().create(new).await.expect("a space").id;
        let spaces = Some(SiteSpacesInput::Existing(vec![space.to_string()]));
        let new = CreateSite { title: "Docs".parse().ok(), spaces, ..CreateSite::default() };
        let site = me.org(&org).sites().create(new).await.expect("a site").id;
        let public = UpdateSite { visibility: Some(SiteVisibility::Public), ..UpdateSite::default() };
        me.org(&org).site(&site).update(public).await.expect("changed");
        me.org(&org).site(&site).publish().await.expect("published");
        site
    };
    let to = folder.path().join("public");
    let export = |name: &str, store: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
        command.args(["export", name, "--store", store, "--to"]).arg(&to).env("RUST_LOG", "warn");
        command.env_remove("DOCS_STORE").output().expect("the server starts")
    };
    let why = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let unknown = export("nothing", &store);
    assert!(
        !unknown.status.success() && why(&unknown).contains("must be the id of a site"),
        "{}",
        why(&unknown)
    );
    let memory = export("docs", "memory");
    assert!(!memory.status.success() && why(&memory).contains("--store"), "{}", why(&memory));
    let made = export("docs", &store);
    assert!(made.status.success(), "{}", why(&made));
    assert!(to.join("404.html").is_file() && to.join("robots.txt").is_file());
    let again = export(site.as_str(), &store);
    assert!(!again.status.success() && why(&again).contains("--to"), "{}", why(&again));
}

/// Runs `import` and returns its standard output and error.
fn import(store: &str, path: &Path, words: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
    command.arg("import").arg(path).args(words).args(["--store", store]);
    let output =
        command.env_remove("DOCS_STORE").env("RUST_LOG", "warn").output().expect("the server starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn a_local_folder_and_file_are_imported_into_a_space() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let store = store.as_str();
    let user = done(store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let org: OrgId = done(store, &["org", "create", "--title", "Engines", "--admin", "ada@example.com"])
        .parse()
        .expect("an id");
    let user = user.parse().expect("an id");
    let platform = platform(&file).await;
    let space =
        platform.as_user(&user).org(&org).spaces().create(CreateSpace::default()).await.expect("created");
    let request = platform.as_user(&user).space(&space.id).change_requests();
    let request = request.create(CreateChangeRequest::default()).await.expect("created").number.to_string();
    let content = folder.path().join("content");
    fs::create_dir_all(content.join("Guide")).expect("a folder");
    fs::write(content.join("Guide.md"), "# Guide\n\n[first](Guide/First.md) [gone](gone.md)\n")
        .expect("a file");
    fs::write(content.join("Guide/First.md"), "# First\n").expect("a file");
    fs::write(folder.path().join("page.html"), "<h1>Page</h1><p>Text</p>").expect("a file");
    let words = ["--space", space.id.as_str(), "--change-request", &request];
    let (is_done, out, warnings) = import(store, &content, &words);
    assert!(is_done, "{warnings}");
    assert!(out.ends_with("imported 2 of 2 pages and files; 1 warnings\n"), "{out}");
    assert_eq!(warnings, "`Guide.md`: `gone.md` is not a page or file of the import\n");
    let (is_done, out, warnings) = import(
        store,
        &folder.path().join("page.html"),
        &[&words[..], &["--user", "ada@example.com"]].concat(),
    );
    assert!(is_done && out.contains("imported 1 of 1"), "{out} {warnings}");
    let content = platform.as_user(&user).space(&space.id).change_request(&request);
    let pages = content.content().list_pages(ContentOptions::default()).await.expect("read");
    let title = |page: &RevisionPage| match page {
        RevisionPage::Document(page) => page.base.title.to_string(),
        other => panic!("{other:?}"),
    };
    let titles: Vec<String> = pages.pages.iter().map(title).collect();
    assert_eq!(titles, ["Guide", "Page"]);
    let (is_done, _, error) = import(store, &folder.path().join("docs.db"), &words);
    assert!(!is_done && error.contains("file: must have a name with one of the extensions"), "{error}");
    let (is_done, _, error) = import(store, &folder.path().join("content"), &["--space", space.id.as_str()]);
    assert!(!is_done && error.contains("locked"), "{error}");
}
