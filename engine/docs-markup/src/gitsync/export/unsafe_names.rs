//! Names of files that must not be written into a repository.

use super::super::{FormatError, RepoPath};

/// Extensions of files that are executed when they are opened, or by a checkout.
const PROGRAM_EXTENSIONS: [&str; 29] = [
    "bash", "bat", "cgi", "cjs", "cmd", "com", "dll", "exe", "hta", "jar", "js", "jse", "jsx", "lnk", "mjs",
    "msi", "php", "phtml", "pif", "ps1", "psm1", "py", "rb", "reg", "scr", "sh", "vbe", "vbs", "wsf",
];

/// Rejects files with side effects in a repository: programs, scripts and files that Git interprets.
///
/// # Errors
/// [`FormatError::Unsafe`].
pub(super) fn check(path: &RepoPath) -> Result<(), FormatError> {
    let refuse = |problem| Err(FormatError::Unsafe { file: path.clone(), problem });
    if path.as_str().split('/').any(is_git_name) {
        return refuse("Git interprets files of this name; rename or remove it");
    }
    // Some systems strip trailing dots and spaces from names.
    let name = path.name().trim_end_matches(['.', ' ']).to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((_, extension)) if PROGRAM_EXTENSIONS.contains(&extension) => {
            refuse("programs and scripts are not exported; remove it, or put it into an archive")
        }
        _ => Ok(()),
    }
}

/// Returns `true` if any file system treats a name as one of Git's own. Names are case-insensitive, and some systems
/// ignore certain characters.
fn is_git_name(name: &str) -> bool {
    let seen: String = name
        .chars()
        .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
        .collect();
    let seen = seen.trim_end_matches(['.', ' ']).to_lowercase();
    let seen = seen.split(':').next().unwrap_or_default();
    matches!(seen, ".git" | ".gitmodules" | ".gitattributes" | ".gitignore" | ".mailmap")
        || seen.strip_prefix("git~").is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_executable_and_git_file_names_are_rejected() {
        for name in [
            "a.js",
            "A.JS",
            "a.js.",
            "x/run.sh",
            ".gitattributes",
            ".GIT/x",
            "git~1",
            ".g\u{200c}it",
            ".gitmodules ",
            "a.exe",
        ] {
            let path = RepoPath::new(&format!(".gitbook/assets/{name}")).unwrap();
            let error = check(&path).expect_err(name);
            assert!(error.to_string().starts_with(path.as_str()), "{error}");
        }
        for name in ["a.json", "js", "a.svg", "a.pdf", "notes.txt", ".github.png", "gitbook", "a.js.zip"] {
            assert_eq!(check(&RepoPath::new(name).unwrap()), Ok(()), "{name}");
        }
    }
}
