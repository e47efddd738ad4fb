//! Backup of a database in use.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use docs_ports::{Ids, RandomIds, id_text};
use docs_store::{Mode, StoreError, StoreResult};
use rusqlite::Connection;

use super::{
    error::{ConnectionResult, Failure},
    file::File,
};

/// Writes the copy under a temporary name, and renames it once it is on the disk.
pub(super) fn write(file: &File, path: &Path) -> StoreResult<()> {
    let path = std::path::absolute(path).map_err(|error| backup_error(path, &error.to_string()))?;
    if path.exists() {
        return Err(backup_error(&path, "the file already exists; use another name"));
    }
    let part = PartialFile::for_target(&path)?;
    // Read connections cannot write to any file.
    let conn = file.connect(Mode::Write).map_err(Failure::from)?;
    copy(&conn, &part.0, &path)?;
    part.rename(&path).map_err(|error| backup_error(&path, &error.to_string()))
}

fn copy(conn: &Connection, part: &Path, path: &Path) -> StoreResult<()> {
    let name = part.to_str().ok_or_else(|| backup_error(path, "the path must be UTF-8"))?;
    // SQLite writes to the existing empty file. A file created by SQLite would be readable by other users.
    docs_disk::create_new_file(part).map_err(|error| backup_error(path, &error.to_string()))?;
    let copied: ConnectionResult<()> =
        conn.execute("VACUUM INTO ?1", [name]).map(drop).map_err(Failure::from);
    copied.map_err(|failure| match StoreError::from(failure) {
        StoreError::Unavailable(why) => backup_error(path, &why),
        error => error,
    })
}

/// An incomplete file, deleted on drop unless it was renamed.
struct PartialFile(PathBuf);

impl PartialFile {
    fn for_target(path: &Path) -> StoreResult<Self> {
        let name =
            path.file_name().ok_or_else(|| backup_error(path, "the path must end with a file name"))?;
        let mut name = name.to_owned();
        name.push(format!(".{}.part", id_text(RandomIds.next())));
        Ok(Self(path.with_file_name(name)))
    }

    fn rename(&self, path: &Path) -> io::Result<()> {
        fs::File::open(&self.0)?.sync_all()?;
        fs::rename(&self.0, path)?;
        // The new name must be durable, too.
        path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(file = %self.0.display(), %error, "failed to remove incomplete backup, remove it \
                                                              manually");
        }
    }
}

fn backup_error(path: &Path, why: &str) -> StoreError {
    StoreError::Unavailable(format!("failed to write a backup to {}: {why}", path.display()))
}
