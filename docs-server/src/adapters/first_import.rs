//! The content of a new platform.

/// The space and the site that the first start on a new store creates.
pub(crate) struct FirstImport {
    /// Title of the space and of the site.
    pub(crate) title: String,
    /// The repository to import. Without one, the space stays empty.
    pub(crate) source: Option<FirstImportSource>,
}

pub(crate) struct FirstImportSource {
    pub(crate) url: String,
    /// `true` if the repository is local, so that startup can wait for the import.
    pub(crate) is_at_hand: bool,
}
