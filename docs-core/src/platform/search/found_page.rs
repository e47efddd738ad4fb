//! The audience of a search, and the pages that it finds.

use std::sync::Arc;

use crate::{
    model::SearchAncestor,
    platform::{content::openapi_specs::SpecAudience, publishing::visitors::VisitorClaims},
    store::Hash,
};

/// The audience of the results.
#[derive(Clone, Debug)]
pub(super) enum Audience {
    /// Editors of the content, who see all of it.
    Members,
    /// Anonymous site visitors, who see no content that depends on claims.
    Public(SpecAudience),
    /// A site visitor with claims.
    Visitor(Arc<VisitorClaims>, SpecAudience),
}

impl Audience {
    pub(super) const fn of_specs(&self) -> SpecAudience {
        match self {
            Self::Members => SpecAudience::Restricted,
            Self::Public(specs) | Self::Visitor(_, specs) => *specs,
        }
    }
}

/// A visible page among the hits.
pub(super) struct FoundPage {
    pub(super) title: String,
    pub(super) description: String,
    /// The pages above it, the top page first.
    pub(super) ancestors: Vec<SearchAncestor>,
    pub(super) path: String,
    /// The hash of its current text.
    pub(super) text: Hash,
}
