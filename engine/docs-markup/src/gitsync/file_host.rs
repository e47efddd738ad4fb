//! URLs of files on the host of a repository.

use super::RepoPath;

/// The web pages of a Git host that show the files of a branch or tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileHost {
    /// The URL of the root folder's page.
    base: String,
}

impl FileHost {
    /// Derives the file pages from the URL of a repository on GitHub, GitLab or Bitbucket.
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::{FileHost, RepoPath};
    ///
    /// let host = FileHost::from_url("https://github.com/a/docs.git", "refs/heads/main").expect("a known host");
    /// let address = host.view(&RepoPath::new("CONTRIBUTING.md")?, Some("start"));
    /// assert_eq!(address, "https://github.com/a/docs/blob/main/CONTRIBUTING.md#start");
    /// # Ok::<(), docs_markup::gitsync::PathError>(())
    /// ```
    #[must_use]
    pub fn from_url(url: &str, reference: &str) -> Option<Self> {
        let name = ref_name(reference)?;
        let (scheme, rest) = url.split_once("://")?;
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit('@').next()?.to_ascii_lowercase();
        let view = match host.strip_prefix("www.").unwrap_or(&host) {
            "github.com" => "blob",
            "gitlab.com" => "-/blob",
            "bitbucket.org" => "src",
            _ => return None,
        };
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_segment = |part: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '%');
            !matches!(part, "" | "." | "..") && part.chars().all(is_plain)
        };
        let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        let is_repository = is_web && path.contains('/') && path.split('/').all(is_segment);
        is_repository.then(|| Self { base: format!("https://{host}/{path}/{view}/{}", encode(name)) })
    }

    /// Derives the file pages from the URL of a branch's root folder, which ends in `/tree/` and the branch name on
    /// GitHub, GitLab and compatible hosts.
    #[must_use]
    pub fn from_tree_url(url: &str, reference: &str) -> Option<Self> {
        let name = ref_name(reference)?;
        let repository = url.trim_end_matches('/').strip_suffix(name)?.strip_suffix("/tree/")?;
        let is_web = repository.starts_with("https://") || repository.starts_with("http://");
        let is_plain = is_web && !repository.contains(['?', '#']);
        is_plain.then(|| Self { base: format!("{repository}/blob/{}", encode(name)) })
    }

    /// Returns the URL of the page that shows a file.
    #[must_use]
    pub fn view(&self, path: &RepoPath, anchor: Option<&str>) -> String {
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.base, encode(path.as_str()))
    }
}

/// Returns the name of a branch or tag.
fn ref_name(reference: &str) -> Option<&str> {
    let name = reference.strip_prefix("refs/heads/").or_else(|| reference.strip_prefix("refs/tags/"));
    name.filter(|name| !name.is_empty())
}

/// Percent-encodes a path for URLs and Markdown destinations.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_known_hosts_have_an_address() {
        let path = RepoPath::new("a b/(\u{e4})#?%.md").unwrap();
        let file = "a%20b/%28%C3%A4%29%23%3F%25.md";
        for (url, reference, base) in [
            ("https://github.com/o/r", "refs/heads/main", "https://github.com/o/r/blob/main"),
            ("http://GitHub.com/o/r.git/", "refs/heads/a/b", "https://github.com/o/r/blob/a/b"),
            ("https://www.github.com/o/r.js", "refs/tags/v1#", "https://www.github.com/o/r.js/blob/v1%23"),
            ("https://gitlab.com/g/s/r.git", "refs/heads/main", "https://gitlab.com/g/s/r/-/blob/main"),
            ("https://me:x@bitbucket.org/o/r", "refs/heads/main", "https://bitbucket.org/o/r/src/main"),
        ] {
            let host = FileHost::from_url(url, reference).expect(url);
            assert_eq!(host.view(&path, None), format!("{base}/{file}"));
            assert_eq!(host.view(&path, Some("x")), format!("{base}/{file}#x"));
        }
        let tree = "https://git.example/o/r/-/tree/a/b";
        let host = FileHost::from_tree_url(tree, "refs/heads/a/b").expect(tree);
        assert_eq!(host.view(&path, None), format!("https://git.example/o/r/-/blob/a/b/{file}"));
    }

    #[test]
    fn files_of_other_repositories_have_no_address() {
        for (url, reference) in [
            ("https://git.example/o/r", "refs/heads/main"),
            ("https://github.com.evil.example/o/r", "refs/heads/main"),
            ("https://github.com/o", "refs/heads/main"),
            ("https://github.com/o/../r", "refs/heads/main"),
            ("https://github.com/o/r?x", "refs/heads/main"),
            ("https://github.com/o/r) [x](y", "refs/heads/main"),
            ("https://github.com/o/r", "HEAD"),
            ("https://github.com/o/r", "refs/heads/"),
            ("file:///github.com/o/r", "refs/heads/main"),
            ("github.com/o/r", "refs/heads/main"),
        ] {
            assert_eq!(FileHost::from_url(url, reference), None, "{url}");
        }
        for (url, reference) in [
            ("https://git.example/o/r/tree/main", "refs/heads/other"),
            ("https://git.example/o/r/src/main", "refs/heads/main"),
            ("javascript:/tree/main", "refs/heads/main"),
            ("https://git.example/?a/tree/main", "refs/heads/main"),
        ] {
            assert_eq!(FileHost::from_tree_url(url, reference), None, "{url}");
        }
    }
}
