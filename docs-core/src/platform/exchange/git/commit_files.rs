//! The files of a commit: the list, the configuration and texts.

use std::{borrow::Cow, collections::BTreeMap};

use super::sync::{format_error, git_error, path_error};
use crate::{
    Result,
    content::gitsync::{
        BookFormat, CommitEntry, EntryKind, HONKIT_FILE, HONKIT_SCRIPT, LANGUAGES_FILE, MAX_BOOK_BYTES,
        MDBOOK_FILE, RepoConfig, RepoPath, RepoTree,
    },
    model::without_nul,
    ports::{Checkout, RepoEntry, RepoEntryKind},
    store::records::{BookProgram, BookSettings, ContentPaths},
};

/// Returns the locations of the content in a commit, in their stored form.
pub(super) fn content_paths(config: &RepoConfig) -> Option<ContentPaths> {
    let project = config.project();
    let below = |path: &RepoPath| {
        if *path == project { Some(String::new()) } else { path.relative_to(&project).map(str::to_owned) }
    };
    Some(ContentPaths {
        root: below(&config.root)?,
        readme: below(&config.readme)?,
        summary: below(&config.summary)?,
        project: Some(project.as_str().to_owned()),
        book: book_settings(config),
    })
}

/// Maximum total size in bytes of the names and values of a book that are stored for exports to other repositories.
const MAX_STORED_VALUE_BYTES: usize = 16 << 10;

/// Returns the settings of a book that are stored with its space.
fn book_settings(config: &RepoConfig) -> Option<BookSettings> {
    let program = match config.format {
        BookFormat::Native => return None,
        BookFormat::MdBook => BookProgram::MdBook,
        BookFormat::HonKit => BookProgram::HonKit,
    };
    let (mut values, mut bytes) = (BTreeMap::new(), 0);
    for (name, value) in &config.book {
        let size = name.len() + value.len();
        if bytes + size <= MAX_STORED_VALUE_BYTES {
            bytes += size;
            values.insert(name.clone(), value.clone());
        }
    }
    Some(BookSettings { program, values })
}

/// Returns the configuration of a stored book at known locations.
pub(super) fn book_at(config: RepoConfig, book: &BookSettings) -> RepoConfig {
    let format = match book.program {
        BookProgram::MdBook => BookFormat::MdBook,
        BookProgram::HonKit => BookFormat::HonKit,
    };
    config.for_book(format, book.values.clone())
}

/// Returns a warning for the log of an import if a book has more values than are stored with its space.
pub(super) fn stored_values_warning(config: &RepoConfig) -> Option<String> {
    let left_out = config.book.len() - book_settings(config)?.values.len();
    let limit = MAX_STORED_VALUE_BYTES >> 10;
    (left_out > 0).then(|| {
        format!(
            "{}: exports to other repositories omit {left_out} variables: at most {limit} KiB are stored",
            config.file
        )
    })
}

/// Bytes reserved per byte of the paths and targets of symbolic links of a commit: the listing and the copies in the
/// tree of its files.
const BYTES_PER_LISTED_BYTE: u64 = 6;

/// Returns the bytes to reserve for the list of the files of a commit.
pub(super) fn list_bytes(entries: &[RepoEntry]) -> u64 {
    let target = |entry: &RepoEntry| match &entry.kind {
        RepoEntryKind::Symlink(target) => target.len(),
        RepoEntryKind::File | RepoEntryKind::Executable | RepoEntryKind::Submodule => 0,
    };
    let bytes: usize = entries.iter().map(|entry| entry.path.len() + target(entry)).sum();
    BYTES_PER_LISTED_BYTE * bytes as u64
}

/// Returns the files of a commit.
pub(super) fn repo_tree(checkout: &dyn Checkout) -> RepoTree {
    RepoTree::new(checkout.entries().iter().map(|entry| CommitEntry {
        path: entry.path.clone(),
        size: entry.size,
        kind: match &entry.kind {
            RepoEntryKind::File => EntryKind::File,
            RepoEntryKind::Executable => EntryKind::Executable,
            RepoEntryKind::Symlink(target) => EntryKind::Symlink(target.clone()),
            RepoEntryKind::Submodule => EntryKind::Submodule,
        },
    }))
}

/// Returns the configuration of a repository of mdBook or HonKit, or `None` for another repository. A file that cannot
/// be read is a warning of the configuration. The languages of a HonKit book share the configuration next to
/// [`LANGUAGES_FILE`], unless they have one of their own.
pub(super) async fn book_config(
    checkout: Option<&dyn Checkout>,
    tree: &RepoTree,
    project: &RepoPath,
) -> Result<Option<RepoConfig>> {
    if let Some(own) = book_config_in(project, checkout, tree, project).await? {
        return Ok(Some(own));
    }
    let book = project.folder();
    let languages = book.join(LANGUAGES_FILE).map_err(|error| path_error(&error))?;
    if project.is_root() || tree.file(&languages).map_err(format_error)?.is_none() {
        return Ok(None);
    }
    let shared = book_config_in(&book, checkout, tree, project).await?;
    Ok(Some(shared.unwrap_or_else(|| RepoConfig::from_honkit("", project))))
}

/// Reads the configuration in a folder, for the content of the project directory.
async fn book_config_in(
    folder: &RepoPath,
    checkout: Option<&dyn Checkout>,
    tree: &RepoTree,
    project: &RepoPath,
) -> Result<Option<RepoConfig>> {
    for (name, format) in [(MDBOOK_FILE, BookFormat::MdBook), (HONKIT_FILE, BookFormat::HonKit)] {
        let path = folder.join(name).map_err(|error| path_error(&error))?;
        let text = match tree.file(&path) {
            Ok(None) => continue,
            Ok(Some(file)) if file.size > MAX_BOOK_BYTES => {
                let problem = format!("must be at most {} KiB", MAX_BOOK_BYTES >> 10);
                return Ok(Some(RepoConfig::unread_book(format, name, project, &problem)));
            }
            Ok(Some(_)) => text_at(checkout, tree, &path, MAX_BOOK_BYTES).await?.unwrap_or_default(),
            Err(error) => {
                // The message begins with the file.
                let error = error.to_string();
                let problem = error.split_once(": ").map_or(error.as_str(), |(_, problem)| problem);
                return Ok(Some(RepoConfig::unread_book(format, name, project, problem)));
            }
        };
        return Ok(Some(match format {
            BookFormat::MdBook => RepoConfig::from_mdbook(&text, project),
            BookFormat::HonKit | BookFormat::Native => RepoConfig::from_honkit(&text, project),
        }));
    }
    let script = folder.join(HONKIT_SCRIPT).map_err(|error| path_error(&error))?;
    if tree.file(&script).ok().flatten().is_none() {
        return Ok(None);
    }
    let problem = format!("a program, which is not run; write the settings to {HONKIT_FILE}");
    Ok(Some(RepoConfig::unread_book(BookFormat::HonKit, HONKIT_SCRIPT, project, &problem)))
}

/// Returns the text of a file, or `None` if it is missing.
pub(super) async fn text_at(
    checkout: Option<&dyn Checkout>,
    tree: &RepoTree,
    path: &RepoPath,
    limit: u64,
) -> Result<Option<String>> {
    let Some(checkout) = checkout else { return Ok(None) };
    let Some(file) = tree.file_within(path, limit).map_err(format_error)? else { return Ok(None) };
    let bytes = checkout.read(file.source.as_str()).await.map_err(git_error)?;
    Ok(Some(decode_text(bytes.to_vec()).0))
}

/// Decodes a file as text. The second element lists the replacements, each worded as the end of a sentence.
pub(super) fn decode_text(bytes: Vec<u8>) -> (String, Vec<&'static str>) {
    let mut replaced = Vec::new();
    let text = String::from_utf8(bytes).unwrap_or_else(|error| match utf16(error.as_bytes()) {
        Some(text) => {
            replaced.push("is UTF-16; an export of changes writes UTF-8");
            text
        }
        None => {
            replaced.push("is not UTF-8; invalid bytes were replaced");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    });
    // The API rejects NUL, so a client could not save the page again.
    let clean = match without_nul(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(clean),
    };
    if clean.is_some() {
        replaced.push("contains NUL characters, which were replaced");
    }
    (clean.unwrap_or(text), replaced)
}

/// Decodes UTF-16 that begins with a byte order mark.
fn utf16(bytes: &[u8]) -> Option<String> {
    let unit = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (units, rest) = bytes[2..].as_chunks();
    let units: Vec<u16> = units.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_a_byte_order_mark_of_utf_16_is_decoded() {
        let little: Vec<u8> = "\u{feff}# Ü 🚀\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}# Ü 🚀\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [&little, &big] {
            let (text, replaced) = decode_text(bytes.clone());
            assert_eq!(text, "# Ü 🚀\n");
            assert_eq!(replaced, ["is UTF-16; an export of changes writes UTF-8"]);
        }
        // An incomplete unit or an unpaired surrogate is not UTF-16.
        for bytes in [little[..little.len() - 1].to_vec(), vec![0xff, 0xfe, 0x00, 0xd8]] {
            let (text, replaced) = decode_text(bytes);
            assert!(text.contains('\u{fffd}'), "{text}");
            assert_eq!(replaced[0], "is not UTF-8; invalid bytes were replaced");
        }
    }

    #[test]
    fn each_path_and_link_target_of_a_commit_is_charged() {
        let entry = |path: &str, kind| RepoEntry { path: path.to_owned(), oid: String::new(), size: 9, kind };
        let link = |path| entry(path, RepoEntryKind::Symlink("target".to_owned()));
        let entries = [entry("a.md", RepoEntryKind::File), link("b"), link("c")];
        assert_eq!(list_bytes(&entries), BYTES_PER_LISTED_BYTE * (4 + 2 * (1 + 6)));
        assert_eq!(list_bytes(&[]), 0);
    }
}
