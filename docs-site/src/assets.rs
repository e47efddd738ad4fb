//! Static assets shared by all sites. File names contain a content hash, so clients cache them indefinitely.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::{response::gzip, tagged_bytes::TaggedBytes};

static ASSETS: LazyLock<[Asset; 2]> = LazyLock::new(|| {
    [
        Asset::new("site", "css", include_str!("../assets/site.css")),
        Asset::new("site", "js", include_str!("../assets/site.js")),
    ]
});

/// The path segment below a site for everything other than pages.
pub(crate) const SITE_SEGMENT: &str = "~site";

/// The name of the MCP endpoint below [`SITE_SEGMENT`].
pub(crate) const MCP: &str = "mcp";

/// A static file that pages load.
#[derive(Debug)]
pub(crate) struct Asset {
    /// The last segment of the asset's URL.
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    pub(crate) body: TaggedBytes,
    /// The gzip-compressed body.
    pub(crate) encoded: Option<Bytes>,
}

impl Asset {
    fn new(stem: &str, extension: &'static str, text: &'static str) -> Self {
        let body = TaggedBytes::new(text.as_bytes());
        let media_type =
            if extension == "css" { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        Self { name: hashed_name(stem, extension, &body), media_type, encoded: gzip(&body.bytes), body }
    }

    pub(crate) fn style_sheet() -> &'static Self {
        &ASSETS[0]
    }

    pub(crate) fn script() -> &'static Self {
        &ASSETS[1]
    }

    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.name == name)
    }
}

/// Returns a file name that contains the content hash.
pub(crate) fn hashed_name(stem: &str, extension: &str, body: &TaggedBytes) -> String {
    format!("{stem}.{}.{extension}", &body.tag[..16])
}
