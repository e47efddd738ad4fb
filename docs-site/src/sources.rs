//! The sources of a page that change independently of the site record.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{model::SpaceId, platform::EntityTag};

use crate::address::Addresses;

/// The data that a page was rendered from, apart from its text and the customization of its space.
#[derive(Debug)]
pub(crate) enum Basis {
    /// The site record.
    Site,
    /// The site record, and these versions of these sources.
    Sources(Arc<Sources>, Arc<Versions>),
    /// Other data, so the page must not be cached.
    Other,
}

impl Basis {
    /// Determines the basis of a page from its URL resolver, and from the slugs and ETag of the specifications that it
    /// shows.
    pub(crate) fn new(addresses: &Addresses, (slugs, specs): (BTreeSet<String>, Option<EntityTag>)) -> Self {
        if addresses.is_passing {
            return Self::Other;
        }
        // The key of the page covers the computed pages of its own space.
        let computed = addresses.computed.iter().filter(|(space, _)| *space != addresses.space);
        let (spaces, tags) = computed.cloned().unzip();
        let sources = Sources { specs: slugs.into_iter().collect(), spaces };
        match sources.is_empty() {
            true => Self::Site,
            false => Self::Sources(Arc::new(sources), Arc::new(Versions { specs, spaces: tags })),
        }
    }
}

/// The sources of a page: OpenAPI specifications, and other spaces with computed pages.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The slugs of the specifications shown on the page, sorted. They may not exist.
    pub(crate) specs: Vec<String>,
    /// The other spaces with computed pages whose page trees the page uses.
    pub(crate) spaces: Vec<SpaceId>,
}

impl Sources {
    pub(crate) const fn is_empty(&self) -> bool {
        self.specs.is_empty() && self.spaces.is_empty()
    }

    /// Returns the approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.specs.iter().map(|slug| 32 + slug.len()).sum::<usize>() + 64 * self.spaces.len()
    }
}

/// The versions of the sources of a page.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Versions {
    /// The common ETag of all specifications, or `None` without specifications.
    pub(crate) specs: Option<EntityTag>,
    /// The ETag of the computed pages of each space.
    pub(crate) spaces: Vec<EntityTag>,
}

impl Versions {
    /// Returns the approximate memory in bytes.
    pub(crate) const fn weight(&self) -> usize {
        128 + 96 * self.spaces.len()
    }
}
