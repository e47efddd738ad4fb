//! Creation of directories and files that only the owner of the process can access, regardless of its umask. Databases,
//! repositories, indexes and large objects have content that other users of the machine must not read.
//!
//! Permissions are set on creation. Existing directories keep their permissions, which are the operator's choice. On
//! systems without such permissions, for example Windows, directories and files are created with the system defaults.
//!
//! # Example
//! ```
//! # let temporary = tempfile::tempdir()?;
//! # let folder = temporary.path().join("a/b");
//! docs_disk::create_folder(&folder)?;
//! docs_disk::create_file(&folder.join("note"))?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// Creates a directory and its missing parents. Succeeds if the directory already exists.
///
/// # Errors
/// The I/O errors of the operating system.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a directory like [`create_folder`] and syncs the new directory entries, so that they survive a power failure
/// once the function has returned.
///
/// # Errors
/// The I/O errors of the operating system.
pub fn create_durable_folder(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    create_folder(path)?;
    #[cfg(unix)]
    for folder in missing.iter().filter_map(|folder| folder.parent()) {
        File::open(folder)?.sync_all()?;
    }
    drop(missing);
    Ok(())
}

/// Returns options for creating files that only their owner can access.
fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions apply on Unix only"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file. The file must not exist.
///
/// # Errors
/// `AlreadyExists` if the file exists. It is not opened even briefly, because closing a database that SQLite has open
/// in the same process would release SQLite's locks. Other I/O errors of the operating system.
pub fn create_new_file(path: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Opens a file for writing without truncating it, creating it if it is missing.
///
/// # Errors
/// The I/O errors of the operating system.
pub fn create_file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(false).open(path)
}

/// Removes the permissions of other users from a directory or file and everything in it. Intended for files created by
/// a library. A file that is read-only for its owner remains read-only. Symbolic links are not followed, and
/// concurrently deleted files are skipped.
///
/// # Errors
/// The I/O errors of the operating system.
pub fn restrict(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if found.is_symlink() {
        return Ok(());
    }
    take_rights(path, &found)?;
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            restrict(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn take_rights(path: &Path, found: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = found.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    match fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(not(unix))]
fn take_rights(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn created_folders_and_files_are_for_their_owner() {
        let temporary = tempfile::tempdir().expect("a folder");
        let inner = temporary.path().join("a/b");
        create_durable_folder(&inner).expect("created");
        create_folder(&inner).expect("it may exist");
        create_file(&inner.join("f")).expect("created");
        fs::write(inner.join("f"), "text").expect("written");
        create_file(&inner.join("f")).expect("it may exist");
        assert_eq!(fs::read_to_string(inner.join("f")).expect("read"), "text");
        let exists = create_new_file(&inner.join("f")).expect_err("it exists");
        assert_eq!(exists.kind(), io::ErrorKind::AlreadyExists);
        create_new_file(&inner.join("g")).expect("created");
        assert_eq!(mode(&inner.join("g")), 0o600);
        assert_eq!(
            [mode(&temporary.path().join("a")), mode(&inner), mode(&inner.join("f"))],
            [0o700, 0o700, 0o600]
        );
    }

    #[test]
    fn restrict_takes_the_rights_of_others_from_a_tree() {
        let temporary = tempfile::tempdir().expect("a folder");
        let (folder, pack) = (temporary.path().join("objects"), temporary.path().join("objects/pack"));
        let outside = temporary.path().join("outside");
        fs::create_dir(&folder).expect("created");
        for (path, rights) in [(&pack, 0o444), (&outside, 0o644)] {
            fs::write(path, "bytes").expect("written");
            fs::set_permissions(path, fs::Permissions::from_mode(rights)).expect("set");
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("set");
        std::os::unix::fs::symlink(&outside, folder.join("link")).expect("linked");
        restrict(&folder).expect("restricted");
        assert_eq!([mode(&folder), mode(&pack), mode(&outside)], [0o700, 0o400, 0o644]);
        restrict(&temporary.path().join("missing")).expect("nothing to do");
    }
}
