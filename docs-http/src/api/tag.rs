//! Groups of operations in the OpenAPI document.

use poem_openapi::Tags;

/// The group of an operation in the OpenAPI document.
#[derive(Tags)]
pub(super) enum ApiTag {
    /// The service as a whole.
    Service,
    /// The user of the token.
    Users,
    /// Organizations and their settings.
    Organizations,
    /// Groups of members that receive roles on content.
    Teams,
    /// Roles of users and teams on spaces and collections.
    Permissions,
    /// Sign-in of members through SAML providers.
    SingleSignOn,
    /// Containers of pages and files.
    Spaces,
    /// Folders of spaces.
    Collections,
    /// Pages and files of spaces, change requests and revisions.
    Content,
    /// Proposed changes of content.
    ChangeRequests,
    /// Spaces whose content follows another space in another language.
    Translations,
    /// Comments on content.
    Comments,
    /// OpenAPI specifications that content can refer to.
    OpenApi,
    /// Import from, export to and synchronization with Git repositories.
    Git,
    /// Lists of integrations, which are empty.
    Integrations,
    /// Full-text search.
    Search,
    /// Spaces published to an audience.
    Sites,
}
