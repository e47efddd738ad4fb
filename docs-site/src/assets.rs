//! What pages load that is the same for all sites. Names hold the hash of the bytes, so that clients keep them for
//! good.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::{answer::encode, cache::Tagged};

/// The style sheet and the script.
static ASSETS: LazyLock<[Asset; 2]> = LazyLock::new(|| {
    [
        Asset::new("site", "css", include_str!("../assets/site.css")),
        Asset::new("site", "js", include_str!("../assets/site.js")),
    ]
});

/// The segment below a site that everything stands below which is no page.
pub(crate) const OWN: &str = "~site";

/// The name below that segment of the endpoint for agents.
pub(crate) const MCP: &str = "mcp";

/// Something that pages load.
#[derive(Debug)]
pub(crate) struct Asset {
    /// The last segment of its address.
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    pub(crate) body: Tagged,
    /// The body as gzip has it.
    pub(crate) encoded: Option<Bytes>,
}

impl Asset {
    fn new(stem: &str, extension: &'static str, text: &'static str) -> Self {
        let body = Tagged::new(text.as_bytes());
        let media_type =
            if extension == "css" { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        Self { name: hashed(stem, extension, &body), media_type, encoded: encode(&body.bytes), body }
    }

    /// The style sheet of all sites.
    pub(crate) fn style_sheet() -> &'static Self {
        &ASSETS[0]
    }

    /// The script of all sites.
    pub(crate) fn script() -> &'static Self {
        &ASSETS[1]
    }

    /// The one of a name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.name == name)
    }
}

/// A name that holds the hash of what it names.
pub(crate) fn hashed(stem: &str, extension: &str, body: &Tagged) -> String {
    format!("{stem}.{}.{extension}", &body.tag[..16])
}
