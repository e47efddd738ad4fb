//! `docs-server import PATH --space SPACE`: imports a local document, archive or folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use docs_core::{
    Platform,
    model::{ImportContentResult, ListOrder, MAX_FILE_BYTES, Role, SpaceId, UserId},
    platform::{ContentVersion, FolderFile, MemberFilter},
    store::PageRequest,
};

use crate::{ServerConfig, ServerError, adapters};

/// Maximum number of files in a folder, and of all folders in it.
const MAX_FOLDER_ENTRIES: usize = 10_000;
/// Maximum size of all files in a folder, in bytes.
const MAX_FOLDER_BYTES: u64 = 200_000_000;
/// Maximum nesting of folders.
const MAX_FOLDER_DEPTH: usize = 64;

/// The arguments of `import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// A folder of Markdown, HTML and Word files, an archive of them, or one of them.
    path: PathBuf,
    /// Id of the space that receives the pages, after its existing ones.
    #[arg(long)]
    space: SpaceId,
    /// Number or id of the change request that receives the pages, instead of live content.
    #[arg(long, value_name = "NUMBER")]
    change_request: Option<String>,
    /// E-mail address of the author, who must be able to edit the space. Defaults to the first administrator of the
    /// organization.
    #[arg(long, value_name = "EMAIL")]
    user: Option<String>,
}

impl ImportArgs {
    /// Imports into a space of the store, and prints the warnings and a summary.
    ///
    /// # Errors
    /// - [`ServerError::Flag`] for a flag with an invalid value.
    /// - The errors of the import.
    pub(crate) async fn run(&self, config: &ServerConfig) -> Result<(), ServerError> {
        import(config, self).await
    }
}

async fn import(config: &ServerConfig, args: &ImportArgs) -> Result<(), ServerError> {
    let platform = adapters::import_platform(config).await?;
    let user = author(&platform, args).await?;
    let of = match &args.change_request {
        Some(request) => ContentVersion::request(args.space.clone(), request),
        None => ContentVersion::space(args.space.clone()),
    };
    let done = run(&platform, &user, &of, &args.path).await?;
    for warning in &done.warnings {
        eprintln!("{warning}");
    }
    println!(
        "{}: imported {} of {} pages and files; {} warnings",
        args.path.display(),
        done.imported_resources,
        done.total_resources,
        done.warnings.len()
    );
    Ok(())
}

/// Returns the author: the given user, or else the administrator who joined the organization first.
async fn author(platform: &Platform, args: &ImportArgs) -> Result<UserId, ServerError> {
    if let Some(email) = &args.user {
        let found = platform.as_platform().users().by_email(email).await;
        return Ok(found.map_err(|why| ServerError::from_error(format!("{email}: {why}")))?.id);
    }
    let org = platform.as_platform().space(&args.space).get().await?.organization;
    let filter =
        MemberFilter { role: Some(Role::Admin.into()), order: ListOrder::Asc, ..MemberFilter::default() };
    let page = PageRequest { page: None, limit: Some(1) };
    let members = platform.as_platform().org(&org).members().list(&filter, &page).await?;
    let first = members.items.into_iter().next();
    let missing = || ServerError::for_flag("--user", "is required: the organization has no administrator");
    Ok(first.ok_or_else(missing)?.id)
}

async fn run(
    platform: &Platform,
    user: &UserId,
    of: &ContentVersion,
    path: &Path,
) -> Result<ImportContentResult, ServerError> {
    let cannot = |why: io::Error| ServerError::from_error(format!("{}: {why}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let content = platform.as_user(user).content(of);
    if path.is_dir() {
        let files = FolderReader::read(path).map_err(cannot)?;
        return Ok(content.import_folder(name, files).await?);
    }
    if fs::metadata(path).map_err(cannot)?.len() > MAX_FILE_BYTES {
        let why = format!("{}: must be at most {MAX_FILE_BYTES} bytes", path.display());
        return Err(ServerError::from_error(why));
    }
    let bytes = fs::read(path).map_err(cannot)?;
    let name = name.parse().map_err(|why| ServerError::from_error(format!("{}: {why}", path.display())))?;
    let mut upload = content.import_file(name).await?;
    upload.write(bytes.into()).await?;
    Ok(upload.finish().await?)
}

/// Reads the files of a folder. Hidden files and symbolic links are skipped.
struct FolderReader {
    files: Vec<FolderFile>,
    entries: usize,
    bytes: u64,
}

impl FolderReader {
    fn read(root: &Path) -> io::Result<Vec<FolderFile>> {
        let mut reader = Self { files: Vec::new(), entries: 0, bytes: 0 };
        reader.folder(root, "", 0)?;
        Ok(reader.files)
    }

    fn folder(&mut self, folder: &Path, below: &str, depth: usize) -> io::Result<()> {
        if depth > MAX_FOLDER_DEPTH {
            return Err(io::Error::other(format!(
                "{below}: folders must have at most {MAX_FOLDER_DEPTH} levels"
            )));
        }
        let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_config = matches!(name.as_str(), ".gitbook" | ".gitbook.yaml");
            if name.starts_with('.') && !is_config {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_FOLDER_ENTRIES {
                return Err(io::Error::other(format!(
                    "must have at most {MAX_FOLDER_ENTRIES} files and folders"
                )));
            }
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.folder(&entry.path(), &path, depth + 1)?;
            } else if kind.is_file() {
                self.bytes += entry.metadata()?.len();
                if self.bytes > MAX_FOLDER_BYTES {
                    return Err(io::Error::other(format!("must have at most {MAX_FOLDER_BYTES} bytes")));
                }
                self.files.push(FolderFile { path, bytes: fs::read(entry.path())?.into() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[String]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, b"x").expect("a file");
        }
        root
    }

    #[test]
    fn hidden_files_of_a_folder_are_skipped() {
        let names = ["b/c.md", "a.md", ".git/config", ".DS_Store", ".gitbook/includes/d.md"];
        let root = folder(&names.map(str::to_owned));
        let files = FolderReader::read(root.path()).expect("files");
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".gitbook/includes/d.md", "a.md", "b/c.md"]);
    }

    #[test]
    fn a_folder_beyond_its_bounds_is_refused() {
        let deep =
            |levels: usize| FolderReader::read(folder(&[format!("{}x.md", "d/".repeat(levels))]).path());
        assert!(deep(MAX_FOLDER_DEPTH).is_ok());
        assert!(deep(MAX_FOLDER_DEPTH + 1).is_err_and(|error| error.to_string().contains("levels")));
        let mut reader = FolderReader { files: Vec::new(), entries: MAX_FOLDER_ENTRIES, bytes: 0 };
        let root = folder(&["a.md".to_owned()]);
        assert!(
            reader.folder(root.path(), "", 0).is_err_and(|error| error.to_string().contains("files and"))
        );
        let mut reader = FolderReader { files: Vec::new(), entries: 0, bytes: MAX_FOLDER_BYTES };
        assert!(reader.folder(root.path(), "", 0).is_err_and(|error| error.to_string().contains("bytes")));
    }
}
