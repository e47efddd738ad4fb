//! The wiki of a repository on GitHub: the pages of the Git repository that it is kept in.

use std::collections::{BTreeMap, HashSet};

use super::{
    Gathered,
    folder::Folder,
    gather::{Gather, MAX_FILES_BYTES},
    links,
};
use crate::{
    Error, ErrorKind, Result,
    content::{
        gitsync::{MAX_FILE_BYTES, RepoPath},
        markdown::links as sites,
    },
    ports::{Checkout, FetchRequest, GitError, RepoEntryKind},
};

/// The branches that wikis are on: the one that they were created with, and the one they may have now.
const BRANCHES: [&str; 2] = ["refs/heads/master", "refs/heads/main"];
/// The first page of a wiki.
const HOME: &str = "home";
/// Endings of pictures, which double brackets show.
const PICTURES: [&str; 6] = ["png", "jpg", "jpeg", "gif", "svg", "webp"];

impl Gather<'_> {
    /// A wiki: its pages as its side bar has them, the others behind.
    pub(super) async fn wiki(&self, url: &str) -> Result<Gathered> {
        let wiki = Wiki::read(url)?;
        let checkout = self.clone_wiki(&wiki).await?;
        let mut files = BTreeMap::new();
        let mut bytes = 0_u64;
        for entry in checkout.entries().iter().filter(|entry| entry.kind == RepoEntryKind::File) {
            let Ok(path) = RepoPath::new(&entry.path) else { continue };
            bytes = bytes.saturating_add(entry.size);
            if bytes > MAX_FILES_BYTES || entry.size > MAX_FILE_BYTES {
                let most = MAX_FILES_BYTES / 1_000_000;
                return Err(Error::invalid("url", format_args!("the wiki has more than {most} MB")));
            }
            let read = checkout.read(&entry.path).await.map_err(refused)?;
            files.insert(path, read);
        }
        let pages: Vec<RepoPath> = files.keys().filter(|path| is_page(path)).cloned().collect();
        if pages.is_empty() {
            return Err(Error::invalid("url", "the wiki has no page in Markdown"));
        }
        let mut folder = Folder::new("the wiki");
        let text_of =
            |path: &RepoPath| String::from_utf8_lossy(files.get(path).map_or(&[][..], |b| b)).into_owned();
        let side =
            files.keys().find(|path| path.stem().eq_ignore_ascii_case("_sidebar") && path.is_markdown());
        let side = side.map(|path| wiki.plain(&text_of(path), &pages)).unwrap_or_default();
        folder.contents(contents(&side, &pages));
        for (path, bytes) in &files {
            if is_page(path) {
                folder.put(path.clone(), wiki.plain(&text_of(path), &pages).into());
            } else if !path.is_markdown() {
                folder.put(path.clone(), bytes.clone());
            }
        }
        let mut gathered = Gathered::default();
        folder.add_to(self.platform, self.domain, &mut gathered).await?;
        Ok(gathered)
    }

    async fn clone_wiki(&self, wiki: &Wiki) -> Result<Box<dyn Checkout>> {
        let git = self.platform.git().ok_or_else(|| {
            Error::new(ErrorKind::Precondition, "this server does not read Git repositories, so no wikis")
        })?;
        let mut last = GitError::NoRepository;
        for branch in BRANCHES {
            let request =
                FetchRequest { url: wiki.repository.clone(), reference: branch.to_owned(), cache_id: None };
            git.check(&request).map_err(refused)?;
            match git.fetch(&request).await {
                Ok(checkout) => return Ok(checkout),
                Err(error @ GitError::NoRef(_)) => last = error,
                Err(error) => return Err(refused(error)),
            }
        }
        Err(refused(last))
    }
}

/// Where a wiki is.
struct Wiki {
    /// Its Git repository.
    repository: String,
    /// Its pages on the web, with a slash at the end.
    pages: String,
}

impl Wiki {
    /// Reads the address of a wiki, of one of its pages, of its repository, or of the repository that it belongs to.
    fn read(url: &str) -> Result<Self> {
        let wrong = || Error::invalid("url", "must be a wiki, like https://github.com/OWNER/REPOSITORY/wiki");
        let plain = url.split(['?', '#']).next().unwrap_or_default();
        let host = plain.find("://").ok_or_else(wrong)? + 3;
        let mut parts = plain[host..].split('/').filter(|part| !part.is_empty());
        let (Some(site), Some(owner), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong());
        };
        match parts.next() {
            None | Some("wiki") => {}
            Some(_) => return Err(wrong()),
        }
        let name = name.trim_end_matches(".git");
        let name = name.strip_suffix(".wiki").unwrap_or(name);
        let base = format!("{}{site}/{owner}/{name}", &plain[..host]);
        Ok(Self { repository: format!("{base}.wiki.git"), pages: format!("{base}/wiki/") })
    }

    /// The Markdown of a page with all its links as links to files.
    fn plain(&self, text: &str, pages: &[RepoPath]) -> String {
        let text = brackets(text, pages);
        links::rewritten(&text, |destination| {
            let name = destination.strip_prefix(&self.pages)?;
            page_named(name, pages).map(|page| links::encoded(page.as_str()))
        })
    }
}

fn refused(error: GitError) -> Error {
    let message = error.to_string();
    let message = message.strip_prefix("url: ").unwrap_or(&message).to_owned();
    Error::invalid("url", message).caused_by(error)
}

/// Tells whether a file is a page: Markdown, and not what stands around every page.
fn is_page(path: &RepoPath) -> bool {
    path.is_markdown() && !path.as_str().split('/').any(|part| part.starts_with(['_', '.']))
}

/// The page of a name: spaces and hyphens are the same, and so are cases.
fn page_named<'a>(name: &str, pages: &'a [RepoPath]) -> Option<&'a RepoPath> {
    let folded = |text: &str| text.trim().replace(['-', '_'], " ").to_lowercase();
    let decoded = name.replace("%20", " ");
    let wanted = folded(decoded.trim_end_matches('/'));
    pages.iter().find(|page| folded(page.stem()) == wanted)
}

/// The table of contents: the first page, what the side bar lists, and what it does not.
fn contents(side: &str, pages: &[RepoPath]) -> String {
    let listed: HashSet<String> = sites(side).into_iter().map(|site| site.destination).collect();
    let is_listed =
        |page: &&RepoPath| listed.contains(&links::encoded(page.as_str())) || listed.contains(page.as_str());
    let line = |page: &RepoPath| {
        let title = page.stem().replace('-', " ");
        format!("* [{}]({})\n", links::escaped(&title), links::encoded(page.as_str()))
    };
    let home = pages.iter().find(|page| page.stem().eq_ignore_ascii_case(HOME));
    let mut out = "# Table of contents\n\n".to_owned();
    out.extend(home.filter(|page| !is_listed(page)).map(line));
    out.push_str(side);
    let rest: Vec<&RepoPath> =
        pages.iter().filter(|page| !is_listed(page) && home.is_none_or(|home| home != *page)).collect();
    if !rest.is_empty() {
        // What follows a heading of the side bar would stand below it.
        out.push_str(if side.lines().any(|line| line.starts_with("## ")) {
            "\n\n## More\n\n"
        } else {
            "\n\n"
        });
        out.extend(rest.into_iter().map(line));
    }
    out
}

/// Double brackets as links of Markdown: `[[Page]]`, `[[Text|Page]]`, `[[picture.png|alt=Text]]`. Code stays.
fn brackets(text: &str, pages: &[RepoPath]) -> String {
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

fn bracket_line(line: &str, pages: &[RepoPath], out: &mut String) {
    let mut rest = line;
    let mut ticks = 0;
    while let Some(start) = rest.find("[[") {
        let (before, behind) = rest.split_at(start);
        let Some(end) = behind.find("]]") else { break };
        let inside = &behind[2..end];
        out.push_str(before);
        ticks += before.matches('`').count();
        // An odd number of ticks in front: within code.
        if ticks % 2 == 1 {
            out.push_str(&behind[..end + 2]);
        } else {
            out.push_str(&bracket(inside, pages));
        }
        rest = &behind[end + 2..];
    }
    out.push_str(rest);
}

fn bracket(inside: &str, pages: &[RepoPath]) -> String {
    let mut parts = inside.split('|').map(str::trim);
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    let is_picture = |name: &str| {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        ending.is_some_and(|ending| PICTURES.contains(&ending.as_str()))
    };
    if is_picture(first) {
        let alt = second.and_then(|option| option.strip_prefix("alt=")).unwrap_or_default();
        return format!("![{}]({})", links::escaped(alt), links::encoded(first.trim_start_matches('/')));
    }
    let (label, target) = (first, second.unwrap_or(first));
    let (name, place) = target.split_once('#').unwrap_or((target, ""));
    let place = if place.is_empty() { String::new() } else { format!("#{}", links::encoded(place)) };
    let to = match page_named(name, pages) {
        Some(page) => links::encoded(page.as_str()),
        None if target.contains("://") => return format!("[{}]({target})", links::escaped(label)),
        // A page that nobody has written: its name is all there is.
        None => return links::escaped(label),
    };
    format!("[{}]({to}{place})", links::escaped(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> Vec<RepoPath> {
        ["Home.md", "Getting-Started.md", "guides/Deep-Dive.md"]
            .map(|path| RepoPath::new(path).unwrap())
            .into()
    }

    #[test]
    fn a_wiki_is_found_by_every_address_of_it() {
        for url in [
            "https://github.com/o/r/wiki",
            "https://github.com/o/r/wiki/Getting-Started#x",
            "https://github.com/o/r",
            "https://github.com/o/r.git",
            "https://github.com/o/r.wiki.git",
        ] {
            let wiki = Wiki::read(url).unwrap();
            assert_eq!(wiki.repository, "https://github.com/o/r.wiki.git", "{url}");
            assert_eq!(wiki.pages, "https://github.com/o/r/wiki/", "{url}");
        }
        for url in ["https://github.com/o", "https://github.com/o/r/issues", "https://github.com/"] {
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
            ("[[/images/a b.png|alt=A *b*]]", "![A \\*b\\*](images/a%20b.png)"),
            ("`[[Home]]` and [[Home]]", "`[[Home]]` and [Home](Home.md)"),
            ("```\n[[Home]]\n```\n", "```\n[[Home]]\n```\n"),
            ("a [[ b", "a [[ b"),
        ] {
            assert_eq!(brackets(wiki, &pages()), markdown, "{wiki}");
        }
    }

    #[test]
    fn the_side_bar_is_the_table_of_contents_and_what_it_leaves_out_follows() {
        let side = "## Guides\n* [Deep](guides/Deep-Dive.md)\n";
        assert_eq!(
            contents(side, &pages()),
            "# Table of contents\n\n* [Home](Home.md)\n## Guides\n* [Deep](guides/Deep-Dive.md)\n\n\n## More\n\n* \
             [Getting Started](Getting-Started.md)\n"
        );
    }
}
