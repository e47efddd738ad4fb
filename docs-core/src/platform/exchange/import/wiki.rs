//! Imports of GitHub wikis, which are Git repositories of Markdown pages.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;

use super::{
    ImportItems,
    folder::{Folder, MAX_PAGES},
    gather::{Gatherer, MAX_FILES_BYTES, UNKNOWN_IMPORT_BYTES},
    links, page_url,
};
use crate::{
    Error, ErrorKind, Result,
    content::{gitsync::RepoPath, markdown::links as sites, run_in_place, yield_to_others},
    model::{MAX_FILE_BYTES, web_url},
    ports::{Checkout, FetchRequest, GitAccess, GitError},
};

/// The possible default branches of wikis: the historical one and the current one.
const WIKI_BRANCHES: [&str; 2] = ["refs/heads/master", "refs/heads/main"];
/// The name of the first page of a wiki, in lower case.
const HOME_PAGE: &str = "home";
/// Maximum number of files in a wiki that are not pages.
const MAX_ASSETS: usize = 5_000;
/// Image extensions that double brackets embed.
const PICTURE_ENDINGS: [&str; 6] = ["png", "jpg", "jpeg", "gif", "svg", "webp"];

impl Gatherer<'_> {
    /// Imports a wiki: the pages in the order of its sidebar, then the others.
    pub(super) async fn wiki(&self, url: &str) -> Result<ImportItems> {
        let wiki = Wiki::read(url)?;
        let late = |late| Error::invalid("url", late);
        let checkout = self.with_timeout(self.clone_wiki(&wiki)).await.map_err(late)??;
        self.begin_work(UNKNOWN_IMPORT_BYTES).await?;
        let files = self.with_timeout(read_files(checkout.as_ref())).await.map_err(late)??;
        let pages = WikiPages::from_files(&files);
        let mut folder = Folder::new("the wiki");
        let text_of =
            |path: &RepoPath| String::from_utf8_lossy(files.get(path).map_or(&[][..], |b| b)).into_owned();
        let side =
            files.keys().find(|path| path.stem().eq_ignore_ascii_case("_sidebar") && path.is_markdown());
        let side = side.map(|path| wiki.to_relative_links(&text_of(path), &pages)).unwrap_or_default();
        folder.contents(contents(&side, &pages.paths));
        for (path, bytes) in &files {
            if is_page(path) {
                folder.put_text(path.clone(), wiki.to_relative_links(&text_of(path), &pages))?;
                yield_to_others().await;
            } else if !path.is_markdown() {
                folder.put(path.clone(), bytes.clone());
            }
        }
        let mut gathered = ImportItems::default();
        folder.add_to(self.platform, self.domain, &mut gathered).await?;
        Ok(gathered)
    }

    async fn clone_wiki(&self, wiki: &Wiki) -> Result<Box<dyn Checkout>> {
        let git = self.platform.ports().git.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Precondition,
                "this server does not access Git repositories, so it cannot \
                                                 import wikis",
            )
        })?;
        let mut last = GitError::NoRepository;
        for branch in WIKI_BRANCHES {
            let request =
                FetchRequest { url: wiki.repository.clone(), reference: branch.to_owned(), cache_id: None };
            git.check(&request.url, &request.reference, GitAccess::Fetch).map_err(clone_error)?;
            match git.fetch(&request).await {
                Ok(checkout) => return Ok(checkout),
                Err(error @ GitError::NoRef(_)) => last = error,
                Err(error) => return Err(clone_error(error)),
            }
        }
        Err(clone_error(last))
    }
}

/// Reads the files of a wiki. Their number and size are checked before the first is read.
async fn read_files(checkout: &dyn Checkout) -> Result<BTreeMap<RepoPath, Bytes>> {
    let entries = checkout.entries().iter().filter(|entry| entry.kind.is_file());
    let wanted: BTreeMap<RepoPath, (&str, u64)> = entries
        .filter_map(|entry| Some((RepoPath::new(&entry.path).ok()?, (entry.path.as_str(), entry.size))))
        .collect();
    let too_much = |what: std::fmt::Arguments<'_>| {
        Err(Error::invalid("url", format_args!("the wiki must have at most {what}")))
    };
    let pages = wanted.keys().filter(|path| is_page(path)).count();
    if pages == 0 {
        return Err(Error::invalid("url", "the wiki has no Markdown page"));
    }
    if pages > MAX_PAGES {
        return too_much(format_args!("{MAX_PAGES} pages"));
    }
    if wanted.len() - pages > MAX_ASSETS {
        return too_much(format_args!("{MAX_ASSETS} files in addition to its pages"));
    }
    let bytes = wanted.values().fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
    if bytes > MAX_FILES_BYTES || wanted.values().any(|(_, size)| *size > MAX_FILE_BYTES) {
        return too_much(format_args!("{} MB", MAX_FILES_BYTES / 1_000_000));
    }
    let mut files = BTreeMap::new();
    for (path, (name, _)) in wanted {
        files.insert(path, checkout.read(name).await.map_err(clone_error)?);
    }
    Ok(files)
}

/// The location of a wiki.
struct Wiki {
    /// The URL of its Git repository.
    repository: String,
    /// The base URL of its pages, with a trailing slash.
    pages: String,
}

impl Wiki {
    /// Parses the URL of a wiki, of one of its pages, of its repository, or of the code repository it belongs to.
    fn read(url: &str) -> Result<Self> {
        let wrong = || {
            Error::invalid(
                "url",
                "must be the address of a wiki, like \
                                              https://github.com/OWNER/REPOSITORY/wiki",
            )
        };
        let url = web_url(url).ok_or_else(wrong)?;
        let mut parts = url.path_segments().into_iter().flatten().filter(|part| !part.is_empty());
        let (Some(owner), Some(name), None | Some("wiki")) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let name = name.trim_end_matches(".git");
        let name = name.strip_suffix(".wiki").unwrap_or(name);
        let mut repository = url.clone();
        repository.set_query(None);
        repository.set_fragment(None);
        repository.set_path(&format!("/{owner}/{name}.wiki.git"));
        // Links to the pages have no credentials.
        let mut pages = page_url::without_credentials(repository.clone());
        pages.set_path(&format!("/{owner}/{name}/wiki/"));
        Ok(Self { repository: repository.into(), pages: pages.into() })
    }

    /// Converts the Markdown of a page so that all links become relative file links.
    fn to_relative_links(&self, text: &str, pages: &WikiPages) -> String {
        if text.len() > links::MAX_REWRITTEN_BYTES {
            return text.to_owned();
        }
        let text = run_in_place(|| brackets(text, pages));
        links::rewrite_known_links(&text, |destination| {
            let url = web_url(destination)?;
            let name = url.as_str().strip_prefix(&self.pages)?;
            pages.find(name).map(|page| links::percent_encode(page.as_str()))
        })
    }
}

fn clone_error(error: GitError) -> Error {
    let message = error.to_string();
    let message = message.strip_prefix("url: ").unwrap_or(&message).to_owned();
    Error::invalid("url", message).caused_by(error)
}

/// Returns `true` if a file is a page: Markdown, but not a sidebar, header or footer.
fn is_page(path: &RepoPath) -> bool {
    path.is_markdown() && !path.as_str().split('/').any(|part| part.starts_with(['_', '.']))
}

struct WikiPages {
    paths: Vec<RepoPath>,
    /// The index of each page by its normalized name; the first page if several have the same name.
    by_name: HashMap<String, usize>,
}

impl WikiPages {
    fn from_files(files: &BTreeMap<RepoPath, Bytes>) -> Self {
        Self::new(files.keys().filter(|path| is_page(path)).cloned().collect())
    }

    fn new(paths: Vec<RepoPath>) -> Self {
        let mut by_name = HashMap::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            by_name.entry(normalize_name(path.stem())).or_insert(at);
        }
        Self { paths, by_name }
    }

    fn find(&self, name: &str) -> Option<&RepoPath> {
        let decoded = name.replace("%20", " ");
        let at = self.by_name.get(&normalize_name(decoded.trim_end_matches('/')))?;
        self.paths.get(*at)
    }
}

/// Normalizes a page name: spaces, hyphens and underscores are equivalent, and case is ignored.
fn normalize_name(name: &str) -> String {
    name.trim().replace(['-', '_'], " ").to_lowercase()
}

/// Generates a table of contents: the home page, the pages in the sidebar, then the remaining pages.
fn contents(side: &str, pages: &[RepoPath]) -> String {
    let listed: HashSet<String> = sites(side).into_iter().map(|site| site.destination).collect();
    let is_listed = |page: &&RepoPath| {
        listed.contains(&links::percent_encode(page.as_str())) || listed.contains(page.as_str())
    };
    let line = |page: &RepoPath| {
        let title = page.stem().replace('-', " ");
        format!("* [{}]({})\n", links::escape_markdown(&title), links::percent_encode(page.as_str()))
    };
    let home = pages.iter().find(|page| page.stem().eq_ignore_ascii_case(HOME_PAGE));
    let mut out = "# Table of contents\n\n".to_owned();
    out.extend(home.filter(|page| !is_listed(page)).map(line));
    out.push_str(side);
    let rest: Vec<&RepoPath> =
        pages.iter().filter(|page| !is_listed(page) && home.is_none_or(|home| home != *page)).collect();
    if !rest.is_empty() {
        // The remaining pages get a separate heading, to separate them from the last group of the sidebar.
        out.push_str(if side.lines().any(|line| line.starts_with("## ")) {
            "\n\n## More\n\n"
        } else {
            "\n\n"
        });
        out.extend(rest.into_iter().map(line));
    }
    out
}

/// Converts double brackets to Markdown links: `[[Page]]`, `[[Text|Page]]`, `[[picture.png|alt=Text]]`. Code is left
/// unchanged.
fn brackets(text: &str, pages: &WikiPages) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                bracket_line(line, pages, &mut out);
                continue;
            }
            _ => {}
        }
        out.push_str(line);
    }
    out
}

fn bracket_line(line: &str, pages: &WikiPages, out: &mut String) {
    let mut rest = line;
    let mut ticks = 0;
    // A longer text exceeds the limit of a page, so its further links are left unchanged.
    while out.len() <= links::MAX_REWRITTEN_BYTES
        && let Some(start) = rest.find("[[")
    {
        let (before, tail) = rest.split_at(start);
        let Some(end) = tail.find("]]") else { break };
        let inside = &tail[2..end];
        out.push_str(before);
        ticks += before.matches('`').count();
        // Preceded by an odd number of backticks: inside code.
        if ticks % 2 == 1 {
            out.push_str(&tail[..end + 2]);
        } else {
            out.push_str(&bracket(inside, pages));
        }
        rest = &tail[end + 2..];
    }
    out.push_str(rest);
}

fn bracket(inside: &str, pages: &WikiPages) -> String {
    let mut parts = inside.split('|').map(str::trim);
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    let is_picture = |name: &str| {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        ending.is_some_and(|ending| PICTURE_ENDINGS.contains(&ending.as_str()))
    };
    if is_picture(first) {
        let alt = second.and_then(|option| option.strip_prefix("alt=")).unwrap_or_default();
        return format!(
            "![{}]({})",
            links::escape_markdown(alt),
            links::percent_encode(first.trim_start_matches('/'))
        );
    }
    let (label, target) = (first, second.unwrap_or(first));
    let (name, place) = target.split_once('#').unwrap_or((target, ""));
    let place = if place.is_empty() { String::new() } else { format!("#{}", links::percent_encode(place)) };
    let to = match pages.find(name) {
        Some(page) => links::percent_encode(page.as_str()),
        None if web_url(target).is_some() => return format!("[{}]({target})", links::escape_markdown(label)),
        // A link to a missing page becomes plain text.
        None => return links::escape_markdown(label),
    };
    format!("[{}]({to}{place})", links::escape_markdown(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> WikiPages {
        let paths = ["Home.md", "Getting-Started.md", "guides/Deep-Dive.md"];
        WikiPages::new(paths.map(|path| RepoPath::new(path).unwrap()).into())
    }

    /// Among pages with the same name, the first one is found.
    #[test]
    fn page_names_ignore_case_and_hyphens() {
        let paths = ["a/One-Page.md", "b/one_page.md", "Two.md"].map(|path| RepoPath::new(path).unwrap());
        let pages = WikiPages::new(paths.into());
        for name in ["One Page", "one-page", "ONE_PAGE/", "one%20page", " One Page "] {
            assert_eq!(pages.find(name).map(RepoPath::as_str), Some("a/One-Page.md"), "{name}");
        }
        assert_eq!(pages.find("two").map(RepoPath::as_str), Some("Two.md"));
        assert_eq!(pages.find("three"), None);
    }

    #[test]
    fn every_wiki_url_resolves_to_its_repository() {
        for url in [
            "https://github.com/o/r/wiki",
            "https://github.com/o/r/wiki/Getting-Started#x",
            "https://github.com/o/r",
            "https://github.com/o/r.git",
            "https://github.com/o/r.wiki.git",
            "HTTPS://GitHub.com:443/o/r/wiki?x",
        ] {
            let wiki = Wiki::read(url).unwrap();
            assert_eq!(wiki.repository, "https://github.com/o/r.wiki.git", "{url}");
            assert_eq!(wiki.pages, "https://github.com/o/r/wiki/", "{url}");
        }
        let private = Wiki::read("https://me:secret@github.com/o/r").unwrap();
        assert_eq!(private.repository, "https://me:secret@github.com/o/r.wiki.git");
        assert_eq!(private.pages, "https://github.com/o/r/wiki/");
        for url in ["https://github.com/o", "https://github.com/o/r/issues", "https://github.com/", "o/r"] {
            assert!(Wiki::read(url).is_err_and(|error| error.message().starts_with("url: ")), "{url}");
        }
    }

    #[test]
    fn double_brackets_become_links() {
        for (wiki, markdown) in [
            ("See [[Getting Started]].", "See [Getting Started](Getting-Started.md)."),
            ("[[here|getting-started#step-1]]", "[here](Getting-Started.md#step-1)"),
            ("[[Deep Dive]]", "[Deep Dive](guides/Deep-Dive.md)"),
            ("[[Nobody wrote it]]", "Nobody wrote it"),
            ("[[web|https://a.test/x]]", "[web](https://a.test/x)"),
            ("[[web|HTTPS://a.test/x]]", "[web](HTTPS://a.test/x)"),
            ("[[/images/a b.png|alt=A *b*]]", "![A \\*b\\*](images/a%20b.png)"),
            ("`[[Home]]` and [[Home]]", "`[[Home]]` and [Home](Home.md)"),
            ("```\n[[Home]]\n```\n", "```\n[[Home]]\n```\n"),
            ("a [[ b", "a [[ b"),
        ] {
            assert_eq!(brackets(wiki, &pages()), markdown, "{wiki}");
        }
    }

    /// Pages missing from the sidebar are added at the end.
    #[test]
    fn side_bar_becomes_the_table_of_contents() {
        let side = "## Guides\n* [Deep](guides/Deep-Dive.md)\n";
        assert_eq!(
            contents(side, &pages().paths),
            "# Table of contents\n\n* [Home](Home.md)\n## Guides\n* [Deep](guides/Deep-Dive.md)\n\n\n## More\n\n* \
             [Getting Started](Getting-Started.md)\n"
        );
    }

    #[test]
    fn destinations_of_a_wiki_page_are_bounded() {
        let path = RepoPath::new(&format!("{}x.md", "long/".repeat(800))).expect("a path");
        let pages = WikiPages::new(vec![path]);
        for text in ["[[x]]".repeat(100_000), "[[x]]\n".repeat(100_000)] {
            let new = brackets(&text, &pages);
            let most = links::MAX_REWRITTEN_BYTES + text.len() + 10_000;
            assert!((links::MAX_REWRITTEN_BYTES..most).contains(&new.len()), "{} bytes", new.len());
        }
    }
}
