//! File names that an export does not create in a repository.

use unicode_normalization::UnicodeNormalization as _;

use super::super::{FormatError, RepoPath};

/// Extensions of files that are executed when they are opened, or during a checkout.
const PROGRAM_EXTENSIONS: [&str; 29] = [
    "bash", "bat", "cgi", "cjs", "cmd", "com", "dll", "exe", "hta", "jar", "js", "jse", "jsx", "lnk", "mjs",
    "msi", "php", "phtml", "pif", "ps1", "psm1", "py", "rb", "reg", "scr", "sh", "vbe", "vbs", "wsf",
];

/// File names that Git interprets.
const GIT_NAMES: [&str; 5] = [".git", ".gitmodules", ".gitattributes", ".gitignore", ".mailmap"];

/// Prefixes, up to the number, of the short names that Windows generates for these files.
const SHORT_GIT_NAMES: [&str; 9] =
    ["git~", "gitmod~", "gi7eba~", "gitatt~", "gi7d29~", "gitign~", "gi250a~", "mailma~", "maba30~"];

const GIT_NAME_PROBLEM: &str = "Git interprets files of this name; rename or remove it";

/// Returns the reason an export must not create a file with this name: it is a program or a script, or Git interprets
/// it. A program that was imported from a repository may still be exported.
#[must_use]
pub fn name_problem(name: &str) -> Option<&'static str> {
    if name.split('/').any(is_git_name) {
        return Some(GIT_NAME_PROBLEM);
    }
    is_program(name).then_some(
        "only programs and scripts that came from a repository are exported; remove it, or put it into an archive",
    )
}

/// Returns `true` if opening the file executes it.
#[must_use]
pub fn is_program(path: &str) -> bool {
    // Some systems strip trailing dots and spaces from names.
    let name = path.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, extension)| PROGRAM_EXTENSIONS.contains(&extension))
}

/// Rejects files that Git interprets.
///
/// # Errors
/// [`FormatError::Unsafe`].
pub(super) fn check(path: &RepoPath) -> Result<(), FormatError> {
    if !path.as_str().split('/').any(is_git_name) {
        return Ok(());
    }
    Err(FormatError::Unsafe { file: path.clone(), problem: GIT_NAME_PROBLEM })
}

/// Returns `true` if any file system treats a name as one of Git's own. Names are case-insensitive and normalized,
/// some systems ignore certain characters, and a backslash separates names on Windows.
fn is_git_name(name: &str) -> bool {
    name.split('\\').any(|name| {
        let seen: String = name
            .chars()
            .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
            .nfkc()
            .collect();
        let seen = seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_lowercase();
        let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
        GIT_NAMES.contains(&seen.as_str())
            || SHORT_GIT_NAMES.iter().any(|prefix| seen.strip_prefix(prefix).is_some_and(is_number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_executable_and_git_file_names_are_rejected() {
        for name in ["a.js", "A.JS", "a.js.", "x/run.sh", "a.exe", "x\\a.bat ."] {
            assert!(name_problem(name).is_some() && is_program(name), "{name}");
            assert_eq!(check(&RepoPath::new(name).unwrap()), Ok(()), "{name}");
        }
        for name in [
            ".gitattributes",
            ".GIT/x",
            "git~1",
            ".g\u{200c}it",
            ".gitmodules ",
            ".git:x",
            ".git . ::$INDEX_ALLOCATION",
            ".\u{ff47}it",
            "x\\.git\\hooks",
            "GITMOD~2",
            "gi7eba~9",
            "GITATT~1",
            ".mailmap",
        ] {
            let path = RepoPath::new(&format!(".gitbook/assets/{name}")).unwrap();
            assert!(name_problem(path.as_str()).is_some(), "{name}");
            let error = check(&path).expect_err(name);
            assert!(error.to_string().starts_with(path.as_str()), "{error}");
        }
        for name in [
            "a.json",
            "js",
            "a.svg",
            "a.pdf",
            "notes.txt",
            ".github.png",
            "gitbook",
            "a.js.zip",
            "git~",
            "git~x",
            "gitlab~1.png",
            "js/a",
        ] {
            assert_eq!((name_problem(name), check(&RepoPath::new(name).unwrap())), (None, Ok(())), "{name}");
        }
    }
}
