//! Wire format for both directions: frames with a tag, a length and bytes.
//!
//! Structured values are sent as JSON. Files are sent as raw bytes, which avoids copies on both sides.

use std::io::{self, BufReader, BufWriter, Read, Write};

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
};

/// Maximum size of a JSON frame from a worker, in bytes.
const MAX_JSON: u64 = 64 << 20;
/// Approximate size in bytes of the chunks of a value sent to a worker.
const PART_BYTES: usize = 64 << 10;
/// Maximum number of value chunks buffered for a worker.
const MAX_BUFFERED_PARTS: usize = 4;
/// Maximum size in bytes of the chunks of a forwarded file.
const FILE_PART: usize = 64 << 10;
/// Size of a frame header (tag and length) in bytes.
const HEADER: usize = 9;

/// The type of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrameKind {
    /// A JSON value, or its last chunk.
    Json = 1,
    /// The bytes of a file.
    File = 2,
    /// A file that no longer exists.
    NoFile = 3,
    /// A chunk of a JSON value, followed by more chunks.
    JsonPart = 4,
}

impl FrameKind {
    const fn header(self, length: usize) -> [u8; HEADER] {
        let [a, b, c, d, e, f, g, h] = (length as u64).to_le_bytes();
        [self as u8, a, b, c, d, e, f, g, h]
    }

    fn from_header(header: [u8; HEADER]) -> Option<(Self, u64)> {
        let [tag, length @ ..] = header;
        let tag = match tag {
            1 => Self::Json,
            2 => Self::File,
            3 => Self::NoFile,
            4 => Self::JsonPart,
            _ => return None,
        };
        Some((tag, u64::from_le_bytes(length)))
    }
}

/// The error of reading a frame.
#[derive(Debug)]
pub(crate) enum FrameError {
    /// The other side exited or closed its output.
    Ended,
    /// The frame exceeds the remaining size limit of the answer.
    TooLong,
    /// The frame is invalid or has an unexpected tag.
    Malformed(String),
    /// The receiver of the frame was dropped.
    Unwanted,
}

/// Reads the frames of an untrusted worker's answer, up to a total size.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    input: R,
    /// Remaining size limit of the answer in bytes.
    left: u64,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) const fn new(input: R, limit: u64) -> Self {
        Self { input, left: limit }
    }

    /// Reads the next frame, which must be JSON.
    pub(crate) async fn json<T: DeserializeOwned + Send + 'static>(&mut self) -> Result<T, FrameError> {
        let bytes = self.frame(FrameKind::Json, MAX_JSON).await?;
        let read = tokio::task::spawn_blocking(move || serde_json::from_slice(&bytes)).await;
        let read = read.map_err(|error| FrameError::Malformed(error.to_string()))?;
        read.map_err(|error| FrameError::Malformed(error.to_string()))
    }

    /// Reads the next frame, which must be a file.
    pub(crate) async fn file(&mut self) -> Result<Bytes, FrameError> {
        self.frame(FrameKind::File, u64::MAX).await.map(Bytes::from)
    }

    /// Reads the next frame, which must be a file, and forwards it in chunks as it arrives.
    pub(crate) async fn file_into(&mut self, parts: &mpsc::Sender<Bytes>) -> Result<(), FrameError> {
        let mut left = self.header(FrameKind::File, u64::MAX).await?;
        while left > 0 {
            let mut part = BytesMut::with_capacity(left.min(FILE_PART));
            let read = self.input.read_buf(&mut (&mut part).limit(left.min(FILE_PART))).await;
            let read = read.map_err(|_| FrameError::Ended)?;
            if read == 0 {
                return Err(FrameError::Ended);
            }
            left -= read;
            parts.send(part.freeze()).await.map_err(|_| FrameError::Unwanted)?;
        }
        Ok(())
    }

    async fn frame(&mut self, expected: FrameKind, limit: u64) -> Result<Vec<u8>, FrameError> {
        let length = self.header(expected, limit).await?;
        // The length is only reserved. Memory is committed when bytes arrive.
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| FrameError::TooLong)?;
        while bytes.len() < length {
            let missing = length - bytes.len();
            let read = self.input.read_buf(&mut (&mut bytes).limit(missing)).await;
            if read.map_err(|_| FrameError::Ended)? == 0 {
                return Err(FrameError::Ended);
            }
        }
        Ok(bytes)
    }

    /// Reads the header of the next frame and returns the frame length. The frame must have the expected tag and fit
    /// into the remaining size limit of the answer.
    async fn header(&mut self, expected: FrameKind, limit: u64) -> Result<usize, FrameError> {
        let mut header = [0; HEADER];
        self.input.read_exact(&mut header).await.map_err(|_| FrameError::Ended)?;
        let (tag, length) = FrameKind::from_header(header)
            .ok_or_else(|| FrameError::Malformed("the frame has an unknown type".to_owned()))?;
        if tag != expected {
            return Err(FrameError::Malformed(format!("{tag:?} instead of {expected:?}")));
        }
        if length > limit {
            return Err(FrameError::TooLong);
        }
        self.left = self.left.checked_sub(length).ok_or(FrameError::TooLong)?;
        usize::try_from(length).map_err(|_| FrameError::TooLong)
    }
}

/// Sends a value to a worker in chunks. The complete JSON, which can be much larger than the pages it describes, is
/// never in memory.
pub(crate) async fn send_json<T>(output: &mut (impl AsyncWrite + Unpin), value: T) -> io::Result<()>
where
    T: Serialize + Send + 'static,
{
    let (sender, mut parts) = mpsc::channel(MAX_BUFFERED_PARTS);
    // Serializing a long page takes a while. If the receiver is dropped, sending the next chunk fails, which ends the
    // task.
    let writing = tokio::task::spawn_blocking(move || {
        let mut writer = BufWriter::with_capacity(PART_BYTES, ChannelWriter(sender));
        serde_json::to_writer(&mut writer, &value)?;
        writer.flush()
    });
    while let Some(part) = parts.recv().await {
        output.write_all(&FrameKind::JsonPart.header(part.len())).await?;
        output.write_all(&part).await?;
    }
    writing.await??;
    output.write_all(&FrameKind::Json.header(0)).await
}

/// A writer that sends all written data to a channel.
struct ChannelWriter(mpsc::Sender<Vec<u8>>);

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.blocking_send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends a file to a worker.
pub(crate) async fn send_file(
    output: &mut (impl AsyncWrite + Unpin),
    file: Option<&Bytes>,
) -> io::Result<()> {
    match file {
        None => output.write_all(&FrameKind::NoFile.header(0)).await,
        Some(file) => {
            output.write_all(&FrameKind::File.header(file.len())).await?;
            output.write_all(file).await
        }
    }
}

/// Receives a value from the server. Its JSON, which can be many times as large, is never in memory as a whole.
pub(crate) fn receive_json<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let parts = JsonParts { input, left: 0, is_last: false };
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::with_capacity(PART_BYTES, parts));
    // The server is trusted, and its parsers already limit the depth of documents.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads the JSON of a value from its frames.
struct JsonParts<R> {
    input: R,
    /// Remaining bytes of the current frame.
    left: u64,
    /// `true` if the current frame is the last one.
    is_last: bool,
}

impl<R: Read> Read for JsonParts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            if self.is_last {
                return Ok(0);
            }
            let (tag, length) = receive_header(&mut self.input, &[FrameKind::JsonPart, FrameKind::Json])?;
            (self.left, self.is_last) = (length, tag == FrameKind::Json);
        }
        let read = (&mut self.input).take(self.left).read(buffer)?;
        self.left -= read as u64;
        if read == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }
}

/// Receives a file from the server. Returns `None` if the file no longer exists.
pub(crate) fn receive_file(input: &mut impl Read) -> io::Result<Option<Bytes>> {
    let (tag, length) = receive_header(input, &[FrameKind::File, FrameKind::NoFile])?;
    let mut file = Vec::new();
    // Reserve the exact length at once. Growing the buffer while reading may take twice the memory.
    let more = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?;
    file.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
    if input.take(length).read_to_end(&mut file)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((tag == FrameKind::File).then(|| file.into()))
}

/// Receives the header of a frame with one of the expected tags. Returns its tag and length.
fn receive_header(input: &mut impl Read, expected: &[FrameKind]) -> io::Result<(FrameKind, u64)> {
    let mut header = [0; HEADER];
    input.read_exact(&mut header)?;
    FrameKind::from_header(header).filter(|(tag, _)| expected.contains(tag)).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("expected a frame of {expected:?}"))
    })
}

/// Sends a value to the server.
pub(crate) fn answer_json(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_vec(value)?;
    output.write_all(&FrameKind::Json.header(json.len()))?;
    output.write_all(&json)
}

/// Sends a file to the server.
pub(crate) fn answer_file(output: &mut impl Write, file: &[u8]) -> io::Result<()> {
    output.write_all(&FrameKind::File.header(file.len()))?;
    output.write_all(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8], limit: u64) -> Result<Bytes, FrameError> {
        FrameReader::new(bytes, limit).file().await
    }

    #[tokio::test]
    async fn worker_decodes_frames_of_the_server() {
        let long = vec!["a text of some length"; 50_000];
        let mut written = Vec::new();
        send_file(&mut written, Some(&Bytes::from_static(b"file"))).await.unwrap();
        send_json(&mut written, long.clone()).await.unwrap();
        send_json(&mut written, "value").await.unwrap();
        send_file(&mut written, None).await.unwrap();
        let mut input = &written[..];
        assert_eq!(receive_file(&mut input).unwrap().unwrap(), "file");
        assert_eq!(receive_json::<Vec<String>>(&mut input).unwrap(), long);
        assert_eq!(receive_json::<String>(&mut input).unwrap(), "value");
        assert!(receive_file(&mut input).unwrap().is_none());
        assert!(receive_file(&mut input).is_err());
    }

    #[tokio::test]
    async fn server_decodes_frames_of_the_worker() {
        let mut written = Vec::new();
        answer_file(&mut written, b"file").unwrap();
        answer_json(&mut written, &"value").unwrap();
        answer_file(&mut written, b"file").unwrap();
        let mut reader = FrameReader::new(&written[..], 100);
        assert_eq!(reader.file().await.unwrap(), "file");
        assert_eq!(reader.json::<String>().await.unwrap(), "value");
        assert!(matches!(reader.json::<String>().await, Err(FrameError::Malformed(_))));
    }

    #[tokio::test]
    async fn sending_a_large_value_fails_if_the_reader_is_closed() {
        let (mut server, worker) = tokio::io::duplex(1024);
        drop(worker);
        let endless = vec!["a text of some length"; 500_000];
        assert!(send_json(&mut server, endless).await.is_err());
    }

    #[tokio::test]
    async fn frames_beyond_the_answer_limit_are_rejected_unread() {
        let mut written = Vec::new();
        answer_file(&mut written, &[7; 100]).unwrap();
        assert!(matches!(read(&written, 99).await, Err(FrameError::TooLong)));
        assert_eq!(read(&written, 100).await.unwrap().len(), 100);
        let claims = FrameKind::File.header(usize::MAX);
        assert!(matches!(read(&claims, u64::MAX).await, Err(FrameError::TooLong)));
    }

    #[tokio::test]
    async fn truncated_frame_is_the_end_and_noise_is_malformed() {
        let mut written = Vec::new();
        answer_file(&mut written, &[7; 100]).unwrap();
        assert!(matches!(read(&written[..50], 100).await, Err(FrameError::Ended)));
        assert!(matches!(read(&written[..5], 100).await, Err(FrameError::Ended)));
        assert!(matches!(read(b"running 12 tests", 100).await, Err(FrameError::Malformed(_))));
        assert!(receive_file(&mut &written[..50]).is_err());
        let mut written = Vec::new();
        send_json(&mut written, vec!["a text of some length"; 50_000]).await.unwrap();
        for end in [0, 5, 1_000, written.len() - HEADER, written.len() - 1] {
            assert!(receive_json::<Vec<String>>(&mut &written[..end]).is_err(), "{end}");
        }
    }
}
