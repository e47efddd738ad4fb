//! Upload of a file: bytes of the caller's own that become a file of content, a piece at a time.

use std::fmt;

use bytes::Bytes;

use super::{Bearer, FileWriter, media_type};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{Edit, check_file_name},
    model::{BoundedText, FileId, MAX_FILE_BYTES, MediaType, RevisionFile, UserId},
    platform::{
        Actor, ContentOf, Platform, Right, Shown,
        import::append::{Append, Target},
        nouns::ContentHandle,
    },
    policy::SpaceAction,
};

/// What is said of a file before its bytes come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUpload {
    /// Its name, without a folder. Where another file of the content has it, the new one gets a number.
    pub name: BoundedText<1, 256>,
    /// Its media type, such as `image/png`; told by the name when absent, or when it says nothing but that these are
    /// bytes.
    pub content_type: Option<String>,
}

/// A file that is being uploaded: [`write`](Self::write) its bytes in their order, then [`finish`](Self::finish).
///
/// Some megabytes of it are held at a time. Dropped before it is finished, it leaves nothing in the content, and what
/// was stored of it is removed like everything that nothing names.
pub struct FileUpload {
    platform: Platform,
    actor: Actor,
    by: UserId,
    of: ContentOf,
    /// What the file goes into; an error that is told only at the end, as the same request may have been answered.
    target: Result<Target>,
    name: String,
    content_type: String,
    writer: FileWriter,
}

impl fmt::Debug for FileUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileUpload")
            .field("of", &self.of)
            .field("name", &self.name)
            .field("size", &self.writer.size())
            .finish_non_exhaustive()
    }
}

impl<'p> ContentHandle<'p> {
    /// Begins to upload a file into the live content of a space, or into a change request. The right to do so and the
    /// state of the content are looked at before any byte is taken, and again when the file is there.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` where live content is locked, or the change request
    /// is merged or archived; `Invalid` naming `name` or `contentType`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::SpaceId, platform::{Caller, NewUpload}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = NewUpload { name: "notes.txt".parse()?, content_type: None };
    /// let mut upload = me.space(space).change_request("3").content().upload_file(new).await?;
    /// for piece in ["In the ", "beginning."] {
    ///     upload.write(piece.into()).await?;
    /// }
    /// let file = upload.finish().await?;
    /// println!("{} of {} bytes is at {}", file.name, file.size, file.download_url);
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload_file(self, new: NewUpload) -> BoxFuture<'p, Result<FileUpload>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, self.caller.actor());
            let of = self.of.to_content_of();
            let by = actor.require_user()?.clone();
            let name = new.name.to_string();
            check_file_name(&name).map_err(|why| Error::invalid("name", why))?;
            let content_type = content_type(&name, new.content_type.as_deref())?;
            let target = match platform.append_target(&actor, &of).await {
                Err(error) if !platform.may_be_repeated() => return Err(error),
                target => target,
            };
            let objects = &platform.inner.objects;
            let place = target.as_ref().ok().map(|target| (objects.clone(), target.space().domain.clone()));
            let writer = FileWriter::new(place, &content_type);
            Ok(FileUpload { platform: platform.clone(), actor, by, of, target, name, content_type, writer })
        })
    }
}

/// The media type of an uploaded file: the declared one, or that of its name for bytes without a declared format.
fn content_type(name: &str, declared: Option<&str>) -> Result<String> {
    let declared: Option<MediaType> = declared
        .map(|declared| declared.parse().map_err(|why| Error::invalid("contentType", why)))
        .transpose()?;
    Ok(match declared.filter(|declared| *declared != MediaType::octet_stream()) {
        Some(declared) => declared.to_string(),
        None => media_type(name),
    })
}

impl FileUpload {
    /// The most bytes that a file has.
    pub const MAX_BYTES: u64 = MAX_FILE_BYTES;

    /// Takes the next bytes of the file, as many as there are. The future is done when there is room for more.
    ///
    /// # Errors
    /// `TooLarge` for a file of more than [`MAX_BYTES`](Self::MAX_BYTES); the store's. The upload cannot go on then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves an upload of which some bytes are missing: drop it as well.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, platform::FileUpload};
    /// # async fn example(upload: &mut FileUpload, pieces: Vec<bytes::Bytes>) -> Result<()> {
    /// for piece in pieces {
    ///     upload.write(piece).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn write<'a>(&'a mut self, bytes: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.writer.size() + bytes.len() as u64 > MAX_FILE_BYTES {
                let what = format!("the file is too large: at most {MAX_FILE_BYTES} bytes are accepted");
                return Err(Error::new(ErrorKind::TooLarge, what));
            }
            self.writer.write(bytes).await
        })
    }

    /// Makes the bytes a file of the content, as one revision.
    ///
    /// # Errors
    /// Those of [`upload_file`](ContentHandle::upload_file), if they have come to be so meanwhile; `Conflict` for an
    /// upload of more than a day; the store's.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the file in the content, or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, platform::FileUpload};
    /// # async fn example(upload: FileUpload) -> Result<()> {
    /// println!("{} bytes", upload.finish().await?.size);
    /// # Ok(())
    /// # }
    /// ```
    pub fn finish(self) -> BoxFuture<'static, Result<RevisionFile>> {
        Box::pin(async move {
            let Self { platform, actor, by, of, target, name, content_type, writer } = self;
            // What the request is told from others by is complete only now.
            let blob = writer.blob();
            let platform = &platform.continued(&[name.as_bytes(), content_type.as_bytes(), blob.as_bytes()]);
            let actor = &actor;
            let done = platform.once(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
                let target = target?;
                let bearer = Bearer::member(actor)?;
                let entry = writer.finish().await?.entry(name, content_type, None);
                let file: FileId = platform.id();
                let edits = [Edit::PutFile { file: file.clone(), entry }];
                let space = target.space();
                let append = Append { actor, by: &by, of: &of, before: &target, edits: &edits, run: None };
                let show = |_, root| -> BoxFuture<'_, Result<RevisionFile>> {
                    let (view, file, bearer) = (platform.content().view(&space.domain, root), &file, &bearer);
                    Box::pin(async move {
                        let entry = view.file(file).await?;
                        let entry = entry.ok_or_else(|| Error::internal("an uploaded file is missing"))?;
                        platform.file_view((space, bearer), file.clone(), entry, Shown::default())
                    })
                };
                platform.append(append, show).await
            });
            done.await
        })
    }
}
