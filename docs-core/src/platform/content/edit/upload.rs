//! Streaming upload of a file into content.

use std::fmt;

use bytes::Bytes;
use docs_macros::boxed;

use super::append::{Append, AppendTarget};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{Edit, check_file_name},
    model::{BoundedText, FileId, MAX_FILE_BYTES, MediaType, RevisionFile, UserId},
    platform::{
        content::{
            files::{Bearer, FileWriter, media_type},
            read::ContentOptions,
        },
        kernel::{actor::Actor, content_version::ContentVersion, platform::Platform, request::Right},
        nouns::ContentHandle,
    },
    policy::SpaceAction,
};

/// Metadata of a file to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUpload {
    /// File name without a folder. If the name is taken, a number is appended.
    pub name: BoundedText<1, 256>,
    /// Media type, such as `image/png`. If absent or `application/octet-stream`, it is derived from the name.
    pub content_type: Option<String>,
}

/// An upload in progress. [`write`](Self::write) the content in order, then call [`finish`](Self::finish).
///
/// A few megabytes are buffered at a time. An upload that is dropped before it is finished leaves no trace in the
/// content; the garbage collector removes its stored parts.
pub struct FileUpload {
    platform: Platform,
    actor: Actor,
    by: UserId,
    of: ContentVersion,
    /// The content to add the file to. An error is returned only by `finish`, because the request may be a retry of one
    /// that succeeded.
    target: Result<AppendTarget>,
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
    /// Starts the upload of a file into the live content of a space, or into a change request.
    ///
    /// Permissions and the state of the content are checked before any byte is accepted, and again when the upload is
    /// finished.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role; `Conflict` if live content is locked, or the change request is merged or
    /// archived; `Invalid` naming `name` or `contentType`.
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
    #[boxed]
    pub async fn upload_file(self, new: NewUpload) -> Result<FileUpload> {
        let (platform, actor) = (self.caller.platform, self.caller.actor());
        let of = self.of.to_content_version();
        let by = actor.require_user()?.clone();
        let name = new.name.to_string();
        check_file_name(&name).map_err(|why| Error::invalid("name", why))?;
        let content_type = content_type(&name, new.content_type.as_deref())?;
        let target = match platform.append_target(&actor, &of).await {
            Err(error) if !platform.is_idempotent() => return Err(error),
            target => target,
        };
        let objects = &platform.inner.objects;
        let place = target.as_ref().ok().map(|target| (objects.clone(), target.space().domain.clone()));
        let writer = FileWriter::new(place, &content_type);
        Ok(FileUpload { platform: platform.clone(), actor, by, of, target, name, content_type, writer })
    }
}

/// Returns the media type of an upload. It is derived from the name if none or only a generic one is declared.
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
    /// Maximum size of a file in bytes.
    pub const MAX_BYTES: u64 = MAX_FILE_BYTES;

    /// Appends a chunk of any length. The future completes when more can be accepted.
    ///
    /// # Errors
    /// `TooLarge` for a file of more than [`MAX_BYTES`](Self::MAX_BYTES); errors of the store. The upload cannot
    /// continue after an error.
    ///
    /// # Cancel safety
    /// Dropping the future may lose bytes. Drop the upload as well.
    #[boxed('a)]
    pub async fn write<'a>(&'a mut self, bytes: Bytes) -> Result<()> {
        if self.writer.size() + bytes.len() as u64 > MAX_FILE_BYTES {
            let what = format!("the file must be at most {MAX_FILE_BYTES} bytes");
            return Err(Error::new(ErrorKind::TooLarge, what));
        }
        self.writer.write(bytes).await
    }

    /// Adds the uploaded file to the content, as one revision.
    ///
    /// # Errors
    /// Those of [`upload_file`](ContentHandle::upload_file), checked again; `Conflict` for an upload that took longer
    /// than [`WRITE_WINDOW`](crate::platform::WRITE_WINDOW); errors of the store.
    #[boxed('static)]
    pub async fn finish(self) -> Result<RevisionFile> {
        let Self { platform, actor, by, of, target, name, content_type, writer } = self;
        // The request fingerprint also covers the content hash, which is known only now.
        let blob = writer.blob();
        let platform =
            &platform.with_fingerprint_parts(&[name.as_bytes(), content_type.as_bytes(), blob.as_bytes()]);
        let actor = &actor;
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
                let target = target?;
                let bearer = Bearer::for_member(actor)?;
                let entry = writer.finish().await?.into_entry(name, content_type, None);
                let file: FileId = platform.id();
                let edits = [Edit::PutFile { file: file.clone(), entry }];
                let space = target.space();
                let append = Append { actor, by: &by, of: &of, before: &target, edits: &edits, run: None };
                let show = |_, root| -> BoxFuture<'_, Result<RevisionFile>> {
                    let (view, file, bearer) = (platform.content().view(&space.domain, root), &file, &bearer);
                    Box::pin(async move {
                        let entry = view.file(file).await?;
                        let entry = entry.ok_or_else(|| Error::internal("an uploaded file is missing"))?;
                        platform.file_view(space, bearer, file.clone(), entry, ContentOptions::default())
                    })
                };
                platform.append(append, show).await
            });
        done.await
    }
}
