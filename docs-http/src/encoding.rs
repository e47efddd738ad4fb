//! Gzip compression of responses.
//!
//! Text of at least [`MIN_COMPRESSED_BYTES`] is compressed; images, videos and archives already are. A compressed
//! response is another representation of the same state, so it has its own ETag, derived from the original one (RFC
//! 9110, 8.8.3.3).

use std::io::{self, Write as _};

use bytes::Bytes;
use docs_core::platform::{EntityTag, compression_turn};
use flate2::{Compression, write::GzEncoder};
use poem::http::{HeaderMap, header};
use tokio::runtime::Handle;

/// Minimum size in bytes of a response to compress. Smaller ones fit into a network packet anyway.
pub(crate) const MIN_COMPRESSED_BYTES: usize = 1024;
/// Maximum size in bytes to compress on the connection's task. Larger bodies would block other tasks.
const MAX_INLINE_COMPRESSION: usize = 64 * 1024;
/// ETag suffix of a compressed response.
const TAG_SUFFIX: &str = "-gzip";
/// Compression level that achieves most of the possible compression in a fraction of the time.
const COMPRESSION_LEVEL: Compression = Compression::new(4);

/// The name of the encoding.
pub(crate) const GZIP: &str = "gzip";

/// The content encoding to use for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptedEncoding {
    Plain,
    Gzip,
}

impl AcceptedEncoding {
    /// Determines the encoding from the request headers.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let (mut gzip, mut identity, mut others) = (None, None, None);
        for element in lines.flat_map(|line| line.split(',')) {
            let (coding, weight) = element.split_once(';').unwrap_or((element, ""));
            let weight = weight_of(weight);
            match coding.trim().to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "identity" => identity = Some(weight),
                "*" => others = Some(weight),
                _ => {}
            }
        }
        let gzip = gzip.or(others).unwrap_or(0);
        if gzip > 0 && gzip >= identity.unwrap_or(0) { Self::Gzip } else { Self::Plain }
    }

    pub(crate) fn is_gzip(self) -> bool {
        self == Self::Gzip
    }
}

/// Returns the quality value of an element in thousandths, or 0 if it is malformed.
fn weight_of(parameters: &str) -> u16 {
    let Some((name, value)) = parameters.split_once('=') else {
        return if parameters.trim().is_empty() { 1000 } else { 0 };
    };
    let weight = value.trim().parse::<f32>().ok().filter(|_| name.trim().eq_ignore_ascii_case("q"));
    let weight = weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0);
    // The value is within 0 to 1000, so the cast is exact.
    (weight * 1000.0) as u16
}

/// Returns the ETag of the compressed form of a response.
pub(crate) fn encoded_tag(plain: &EntityTag) -> EntityTag {
    EntityTag::new(format!("{plain}{TAG_SUFFIX}"))
}

/// Returns the ETag of the uncompressed form, given that of either form.
pub(crate) fn plain_tag(text: &str) -> EntityTag {
    EntityTag::new(text.strip_suffix(TAG_SUFFIX).unwrap_or(text))
}

/// Returns `true` if responses of a media type are worth compressing.
pub(crate) fn is_compressible(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let known = ["application/json", "application/javascript", "application/xml", "image/svg+xml"];
    essence.starts_with("text/")
        || known.contains(&essence.as_str())
        || (essence.starts_with("application/") && (essence.ends_with("+json") || essence.ends_with("+xml")))
}

/// Returns the owner of a response for [`compression_turn`]: the kind and the id of the resource in the path.
pub(crate) fn response_owner(path: &str) -> &str {
    let path = path.trim_start_matches('/');
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(end, _)| end);
    path.get(..end).unwrap_or_default()
}

/// Compresses bytes. Returns `None` if the result is not smaller. Large bytes wait for the turn of their owner.
pub(crate) async fn compress(bytes: Bytes, owner: &str) -> Option<Bytes> {
    let length = bytes.len();
    let encoded = match Handle::try_current() {
        Ok(runtime) if length > MAX_INLINE_COMPRESSION => {
            let turn = compression_turn(owner).await.ok()?;
            let work = move || {
                let encoded = gzip(&bytes);
                // The turn ends with the work, also if the request is cancelled.
                drop(turn);
                encoded
            };
            runtime.spawn_blocking(work).await.unwrap_or_else(|stop| Err(io::Error::other(stop)))
        }
        _ => gzip(&bytes),
    };
    match encoded {
        Ok(encoded) => (encoded.len() < length).then(|| encoded.into()),
        Err(error) => {
            tracing::warn!(error = ?error, "send response without compression");
            None
        }
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), COMPRESSION_LEVEL);
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    #[test]
    fn accept_encoding_selects_gzip_or_plain() {
        for (lines, taken) in [
            (&[][..], AcceptedEncoding::Plain),
            (&["gzip"], AcceptedEncoding::Gzip),
            (&["GZIP"], AcceptedEncoding::Gzip),
            (&["x-gzip"], AcceptedEncoding::Gzip),
            (&["deflate, gzip, br"], AcceptedEncoding::Gzip),
            (&["br", "gzip;q=0.5"], AcceptedEncoding::Gzip),
            (&["br"], AcceptedEncoding::Plain),
            (&["*"], AcceptedEncoding::Gzip),
            (&["*;q=0"], AcceptedEncoding::Plain),
            (&["gzip;q=0, *"], AcceptedEncoding::Plain),
            (&["gzip;q=0"], AcceptedEncoding::Plain),
            (&["gzip; q=0.000"], AcceptedEncoding::Plain),
            (&["gzip;q=0.001"], AcceptedEncoding::Gzip),
            (&["gzip;q=0.5, identity"], AcceptedEncoding::Plain),
            (&["gzip, identity;q=0.5"], AcceptedEncoding::Gzip),
            (&["identity"], AcceptedEncoding::Plain),
            (&["gzip;q=two"], AcceptedEncoding::Plain),
            (&["gzip;q=-1"], AcceptedEncoding::Plain),
            (&["gzip;level=3"], AcceptedEncoding::Plain),
            (&[""], AcceptedEncoding::Plain),
            (&[",;=, ;q"], AcceptedEncoding::Plain),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
            }
            assert_eq!(AcceptedEncoding::from_headers(&headers), taken, "{lines:?}");
        }
    }

    #[test]
    fn text_is_compressible_and_compressed_formats_are_not() {
        for text in [
            "application/json",
            "text/plain; version=0.0.4; charset=utf-8",
            "Text/HTML",
            "image/svg+xml",
            "application/ld+json",
        ] {
            assert!(is_compressible(text), "{text}");
        }
        for other in
            ["image/png", "application/zip", "application/pdf", "video/mp4", "font/woff2", "", "json"]
        {
            assert!(!is_compressible(other), "{other}");
        }
    }

    #[test]
    fn responses_of_a_resource_have_one_owner() {
        for (path, owner) in [
            ("/v1/spaces/abc/content/pages", "v1/spaces/abc"),
            ("/v1/spaces/abc", "v1/spaces/abc"),
            ("/v1/orgs", "v1/orgs"),
            ("/healthz", "healthz"),
            ("/", ""),
        ] {
            assert_eq!(response_owner(path), owner, "{path}");
        }
    }

    #[tokio::test]
    async fn compression_round_trips_and_skips_random_data() {
        for length in [MIN_COMPRESSED_BYTES, MAX_INLINE_COMPRESSION, MAX_INLINE_COMPRESSION + 1, 1_000_000] {
            let bytes: Vec<u8> = b"{\"title\":\"Start\"},".iter().copied().cycle().take(length).collect();
            let encoded = compress(bytes.clone().into(), "org").await.expect("smaller");
            assert!(encoded.len() < length / 2, "{length}: {}", encoded.len());
            let mut decoded = Vec::new();
            io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&encoded[..]), &mut decoded)
                .expect("gzip");
            assert_eq!(decoded, bytes);
        }
        let noise: Vec<u8> = (0..200_u32).flat_map(|n| *blake3::hash(&n.to_be_bytes()).as_bytes()).collect();
        assert_eq!(compress(noise.into(), "org").await, None, "it would get larger");
    }
}
