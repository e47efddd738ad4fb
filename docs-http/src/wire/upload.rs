//! Uploaded files: raw bytes, or a form with one file. They are streamed and never buffered as a whole.

use bytes::Bytes;
use docs_core::model::ImportContent;
use poem::{
    Request, RequestBody,
    http::{HeaderMap, HeaderName, StatusCode, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry},
};

use super::{
    chunks::{Chunks, announced_length},
    error::ApiError,
    fault,
    form::{Form, FormPart, boundary},
    payload::Strict,
};

/// Name of the form field with the file.
const FIELD: &str = "file";
/// Maximum number of bytes of a form in addition to the file, including other fields.
const FORM_OVERHEAD: u64 = 64 * 1024;
const FORM: &str = "multipart/form-data";

/// An uploaded file: a body of any media type, which is that of the file, or `multipart/form-data` with the file in a
/// field named `file`. Other fields are ignored.
///
/// # Errors
///
/// 413 for a length over the file size limit; 415 for another form encoding, or for a content encoding; 400 for a form
/// without a boundary.
pub(crate) struct FileBody {
    chunks: Chunks,
    kind: UploadFormat,
}

enum UploadFormat {
    Bytes { content_type: Option<String> },
    Form { boundary: String },
}

/// A file being read, with its metadata.
pub(crate) struct UploadedFile {
    /// The file name, `None` for raw bytes.
    pub(crate) name: Option<String>,
    pub(crate) content_type: Option<String>,
    source: FileSource,
}

enum FileSource {
    Bytes(Chunks),
    Form(FileForm),
}

/// A form with a file. Other fields are ignored, as are unknown JSON fields.
struct FileForm {
    form: Form,
    /// Number of bytes that ignored fields may still use.
    room: u64,
}

impl FileForm {
    /// Returns the next part named like the file field, skipping other parts.
    async fn next_file(&mut self) -> Result<Option<FormPart>, ApiError> {
        while let Some(part) = self.form.next_part().await? {
            if part.name == FIELD {
                return Ok(Some(part));
            }
            while let Some(bytes) = self.form.next_bytes().await? {
                self.room = self.room.checked_sub(bytes.len() as u64).ok_or_else(|| {
                    ApiError::invalid(format!(
                        "the form: fields other than `file` must be at most {FORM_OVERHEAD} bytes together"
                    ))
                })?;
            }
        }
        Ok(None)
    }
}

impl FileBody {
    /// Opens the file. Form parts before it are skipped.
    ///
    /// # Errors
    ///
    /// 400 for a malformed form, a form without a file, or too many bytes before the file.
    pub(crate) async fn open(self) -> Result<UploadedFile, ApiError> {
        let boundary = match self.kind {
            UploadFormat::Bytes { content_type } => {
                return Ok(UploadedFile { name: None, content_type, source: FileSource::Bytes(self.chunks) });
            }
            UploadFormat::Form { boundary } => boundary,
        };
        let mut form = FileForm { form: Form::new(self.chunks, &boundary), room: FORM_OVERHEAD };
        let part = form.next_file().await?.ok_or_else(single_file_error)?;
        let content_type = part.content_type;
        Ok(UploadedFile { name: part.file_name, content_type, source: FileSource::Form(form) })
    }
}

impl UploadedFile {
    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    ///
    /// 400 for a truncated body, a form with a second file, or too many bytes after the file.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let form = match &mut self.source {
            FileSource::Bytes(chunks) => return chunks.next().await,
            FileSource::Form(form) => form,
        };
        if let Some(bytes) = form.form.next_bytes().await? {
            return Ok(Some(bytes));
        }
        match form.next_file().await? {
            None => Ok(None),
            Some(_) => Err(single_file_error()),
        }
    }
}

fn single_file_error() -> ApiError {
    ApiError::invalid("the form: must have one field `file` with the file")
}

impl<'a> ApiExtractor<'a> for FileBody {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(_: &mut Registry) {}

    fn request_meta() -> Option<MetaRequest> {
        let binary = || MetaSchema::new_with_format("string", "binary");
        let file = MetaSchema { description: Some("The file."), ..binary() };
        let form = MetaSchema {
            properties: vec![(FIELD, MetaSchemaRef::Inline(Box::new(file)))],
            required: vec![FIELD],
            ..MetaSchema::new("object")
        };
        let media = |content_type, schema| MetaMediaType {
            content_type,
            schema: MetaSchemaRef::Inline(Box::new(schema)),
        };
        Some(MetaRequest {
            description: Some("The bytes of the file with its media type, or a form with one file"),
            content: vec![media("*/*", binary()), media(FORM, form)],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let kind = upload_format(request.headers())?;
        let most = docs_core::platform::FileUpload::MAX_BYTES;
        let allowed = match kind {
            UploadFormat::Bytes { .. } => most,
            UploadFormat::Form { .. } => most + FORM_OVERHEAD,
        };
        if announced_length(request).is_some_and(|length| length > allowed) {
            let what = format!("the file must be at most {most} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, what).into());
        }
        let body = body.take().map_err(ApiError::internal)?;
        Ok(Self { chunks: Chunks::new(body), kind })
    }
}

/// Returns `true` if the body of a request is a form.
pub(crate) fn is_form(request: &Request) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(FORM)
}

/// Content to import: a JSON request with an address, or a form with the file.
///
/// # Errors
///
/// Those of [`Strict`] for JSON and those of [`FileBody`] for a form.
pub(crate) enum ImportBody {
    Request(ImportContent),
    File(FileBody),
}

impl<'a> ApiExtractor<'a> for ImportBody {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        Strict::<ImportContent>::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let mut request = Strict::<ImportContent>::request_meta()?;
        let forms = FileBody::request_meta()?.content;
        request.content.extend(forms.into_iter().filter(|media| media.content_type == FORM));
        Some(MetaRequest {
            description: Some("The address of a document, or a form with a document or archive"),
            ..request
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        if is_form(request) {
            return FileBody::from_request(request, body, options).await.map(Self::File);
        }
        let Strict(import) = Strict::from_request(request, body, options).await?;
        Ok(Self::Request(import))
    }
}

fn upload_format(headers: &HeaderMap) -> Result<UploadFormat, ApiError> {
    let unsupported = |message: String| ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    if let Some(coding) = text(headers, &header::CONTENT_ENCODING)?
        && !coding.trim().eq_ignore_ascii_case("identity")
    {
        let coding = fault::plain_message(&coding);
        return Err(unsupported(format!("Content-Encoding: must be `identity`, is `{coding}`")));
    }
    let Some(content_type) = text(headers, &header::CONTENT_TYPE)? else {
        return Ok(UploadFormat::Bytes { content_type: None });
    };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == FORM {
        let boundary = boundary(&content_type)
            .ok_or_else(|| ApiError::invalid("Content-Type: must contain the boundary of the form"))?;
        return Ok(UploadFormat::Form { boundary });
    }
    if essence.starts_with("multipart/") {
        let shown = fault::plain_message(&content_type);
        return Err(unsupported(format!(
            "Content-Type: must be `{FORM}` or the type of a file, is `{shown}`"
        )));
    }
    Ok(UploadFormat::Bytes { content_type: Some(content_type) })
}

/// Returns the text of a header that may occur at most once.
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    let wrong = || ApiError::invalid(format!("{name}: must be given once, as plain text"));
    text.map(|text| Some(text.to_owned())).ok_or_else(wrong)
}
