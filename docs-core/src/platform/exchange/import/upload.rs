//! Imports of uploaded files and of local folders.

use std::fmt;

use bytes::Bytes;
use docs_macros::boxed;

use super::{
    AuthorizedImport, ImportOrigin, ImportRun, Origin, Reader,
    gather::Gatherer,
    stored::{name_file, source_of},
};
use crate::{
    Error, ErrorKind, Result,
    model::{
        BoundedText, ImportContentResult, ImportContentSource as Source, MAX_FILE_BYTES, PageId, UserId,
    },
    platform::{
        content::{edit::append::AppendTarget, files::FileWriter},
        jobs::catch_panic,
        kernel::{
            actor::Actor, content_version::ContentVersion, import_memory::Reservation, platform::Platform,
            request::Right,
        },
        nouns::ContentHandle,
    },
    policy::SpaceAction,
    ports::UnpackedFile,
};

/// A file of a folder: its path relative to the folder, and its content.
pub type FolderFile = UnpackedFile;

/// An uploaded document or archive that is imported. [`write`](Self::write) the content in order, then call
/// [`finish`](Self::finish).
///
/// The content is held in memory, within the budget that all imports of the platform share.
pub struct ImportUpload {
    platform: Platform,
    actor: Actor,
    by: UserId,
    of: ContentVersion,
    /// The content to import into. An error is returned only by `finish`, because the request may be a retry of one
    /// that succeeded.
    target: Result<AppendTarget>,
    name: String,
    source: Source,
    memory: Option<Reservation>,
    /// Hashes the content for the fingerprint of the request.
    hash: FileWriter,
    /// The chunks of the content. Empty without a target, because the request then only compares its fingerprint.
    chunks: Vec<Bytes>,
}

impl fmt::Debug for ImportUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportUpload")
            .field("of", &self.of)
            .field("name", &self.name)
            .field("size", &self.hash.size())
            .finish_non_exhaustive()
    }
}

impl<'p> ContentHandle<'p> {
    /// Starts the import of an uploaded document or archive into the live content of a space, or into a change request.
    /// The extension of the name determines its format: `zip`, `docx`, `md`, `markdown`, `html`, `htm` or `xhtml`.
    ///
    /// # Errors
    /// Those of [`import`](Self::import); `Invalid` naming `file` for another extension.
    #[boxed]
    pub async fn import_file(self, name: BoundedText<1, 256>) -> Result<ImportUpload> {
        self.import_file_in(None, name).await
    }

    /// Starts the import of an uploaded document or archive as child pages of a page, as
    /// [`import_file`](Self::import_file) does at the top level.
    ///
    /// # Errors
    /// Those of [`import_in_page`](Self::import_in_page) and [`import_file`](Self::import_file).
    #[boxed]
    pub async fn import_file_in_page(
        self,
        page: &'p PageId,
        name: BoundedText<1, 256>,
    ) -> Result<ImportUpload> {
        self.import_file_in(Some(page), name).await
    }

    async fn import_file_in(self, page: Option<&PageId>, name: BoundedText<1, 256>) -> Result<ImportUpload> {
        let (platform, actor) = (self.caller.platform, self.caller.actor());
        let of = self.of.to_content_version();
        let by = actor.require_user()?.clone();
        let source = source_of("file", &name)?;
        let target = match platform.append_target_in(&actor, &of, page).await {
            Err(error) if !platform.is_idempotent() => return Err(error),
            target => target,
        };
        let memory = target.as_ref().ok().map(|target| platform.import_memory(&target.space().organization));
        Ok(ImportUpload {
            platform: platform.clone(),
            actor,
            by,
            of,
            target,
            name: name.to_string(),
            source,
            memory,
            hash: FileWriter::new(None, ""),
            chunks: Vec::new(),
        })
    }

    /// Imports the files of a folder as an archive of them is imported.
    ///
    /// # Errors
    /// Those of [`import`](Self::import).
    ///
    /// # Cancel safety
    /// Dropping the future leaves the import either completely applied or not applied.
    #[boxed]
    pub async fn import_folder(self, name: String, files: Vec<FolderFile>) -> Result<ImportContentResult> {
        let (platform, actor) = (self.caller.platform, self.caller.actor());
        let of = self.of.to_content_version();
        let by = actor.require_user()?.clone();
        let target = platform.append_target(&actor, &of).await?;
        let mut memory = platform.import_memory(&target.space().organization);
        let bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        platform.hold_import(&mut memory, bytes).await?;
        let import = UploadedImport { actor: &actor, by: &by, of: &of, target: &target, name, memory };
        import.run(platform, Source::Zip, Origin::Folder(files)).await.map_err(name_file)
    }
}

impl ImportUpload {
    /// Appends a chunk of any length. The future completes when there is memory for it.
    ///
    /// # Errors
    /// `TooLarge` for a file of more than [`MAX_FILE_BYTES`]; `Unavailable` when the memory for imports is
    /// in use. The upload cannot continue after an error.
    ///
    /// # Cancel safety
    /// Dropping the future may lose bytes. Drop the upload as well.
    #[boxed('a)]
    pub async fn write<'a>(&'a mut self, bytes: Bytes) -> Result<()> {
        if self.hash.size() + bytes.len() as u64 > MAX_FILE_BYTES {
            let what = format!("the file must be at most {MAX_FILE_BYTES} bytes");
            return Err(Error::new(ErrorKind::TooLarge, what));
        }
        self.hash.write(bytes.clone()).await?;
        // A retry of a request that cannot be executed only compares its fingerprint.
        if let Some(memory) = &mut self.memory {
            // The chunks and their concatenation are held together for a moment.
            self.platform.hold_import(memory, 2 * bytes.len() as u64).await?;
            self.chunks.push(bytes);
        }
        Ok(())
    }

    /// Waits until the upload must end, because it grows too slowly while other imports wait for its memory. Never
    /// completes otherwise. Drop the upload then.
    ///
    /// # Cancel safety
    /// This method is cancel safe.
    pub async fn stalled(&self) {
        match &self.memory {
            Some(memory) => memory.stalled().await,
            None => std::future::pending().await,
        }
    }

    /// Imports the file, as one revision.
    ///
    /// # Errors
    /// Those of [`import_file`](ContentHandle::import_file), checked again; `Invalid` naming `file` for a file that
    /// cannot be read.
    #[boxed('static)]
    pub async fn finish(self) -> Result<ImportContentResult> {
        let Self { platform, actor, by, of, target, name, source, memory, hash, chunks } = self;
        let content = Bytes::from(chunks.concat());
        // The request fingerprint also covers the content, which is known only now.
        let platform = &platform.with_fingerprint_parts(&[name.as_bytes(), hash.blob().as_bytes()]);
        let actor = &actor;
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
                let target = target?;
                let memory = memory.ok_or_else(|| Error::internal("an import has no memory"))?;
                let origin = Origin::File(name.clone(), content);
                let import = UploadedImport { actor, by: &by, of: &of, target: &target, name, memory };
                import.run(platform, source, origin).await.map_err(name_file)
            });
        done.await
    }
}

/// An authorized import of files.
struct UploadedImport<'a> {
    actor: &'a Actor,
    by: &'a UserId,
    of: &'a ContentVersion,
    target: &'a AppendTarget,
    name: String,
    memory: Reservation,
}

impl UploadedImport<'_> {
    async fn run(
        self,
        platform: &Platform,
        source: Source,
        origin: Origin<'_>,
    ) -> Result<ImportContentResult> {
        let Self { actor, by, of, target, name, memory } = self;
        let gather = Gatherer::with_memory(platform, target.space(), memory)?;
        let reader = Reader::of(source)?;
        let what = ImportRun::new(name, source, ImportOrigin::File, target);
        let mut run = platform.begin_listed_job(&what, target.space(), by).await?;
        let leased = run.job.clone();
        let importing = AuthorizedImport { actor, by, of, target, gather, reader };
        let doing = catch_panic(importing.run(platform, origin, &mut run));
        let done = platform.with_lease_renewal(&leased, doing).await;
        platform.end_listed_job(run, done).await
    }
}
