//! The files of a specification, after parsing.

use std::sync::Arc;

use docs_ports::{SpecFile, SpecFormat};

use crate::node::JsonNode;

pub(crate) struct ParsedFile<'a> {
    pub(crate) file: &'a SpecFile,
    pub(crate) format: SpecFormat,
    pub(crate) root: Arc<JsonNode>,
}
