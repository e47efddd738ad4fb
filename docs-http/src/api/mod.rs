//! The operations of the HTTP API, one file per resource. Each handler calls one operation of the platform.

#![expect(clippy::too_many_arguments, reason = "one argument a parameter of the operation")]

mod audit;
mod change_requests;
mod collections;
mod comments;
mod content;
mod git;
mod git_sync;
mod imports;
mod invites;
mod jobs;
mod links;
mod members;
mod openapi_specs;
mod orgs;
mod pdf;
mod permissions;
mod platform_info;
mod reviews;
mod revisions;
mod saml;
mod search;
mod site_settings;
mod site_structure;
mod sites;
mod spaces;
mod teams;
mod translations;
mod uploads;
mod urls;
mod users;

use std::sync::LazyLock;

use docs_core::{
    Actor, Platform,
    model::NotAnId,
    platform::{Caller, Visitor},
};
use poem_openapi::Tags;

use crate::wire::error::ApiError;

/// The authenticated caller.
type Auth = crate::auth::Signed<Actor>;
/// The caller of an operation that reads published content; anonymous without a token.
type Reader = crate::auth::MaybeSigned<Actor>;

/// The sender of a request.
trait AsCaller {
    /// Returns the platform as seen by the sender.
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p>;
}

impl AsCaller for Auth {
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p> {
        platform.as_actor(&self.0)
    }
}

impl AsCaller for Reader {
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p> {
        static ANYBODY: LazyLock<Visitor> = LazyLock::new(Visitor::anonymous);
        match &self.0 {
            Some(actor) => platform.as_actor(actor),
            None => platform.as_visitor(&ANYBODY),
        }
    }
}

/// The operations of the API.
pub type Api = (
    (platform_info::PlatformInfo, users::Users),
    (orgs::Orgs, members::Members, invites::Invites, audit::AuditLog),
    (spaces::Spaces, jobs::Jobs),
    collections::Collections,
    (content::Content, uploads::Uploads),
    (links::Links, revisions::Revisions),
    imports::Imports,
    change_requests::ChangeRequests,
    reviews::Reviews,
    comments::Comments,
    (git::Git, git_sync::GitSync),
    search::Search,
    pdf::Pdf,
    (sites::Sites, site_structure::Structure, site_settings::SiteSettings, urls::Urls),
    (teams::Teams, permissions::Permissions, saml::Saml),
    (translations::Translations, openapi_specs::OpenApiSpecs),
);

/// Creates all operations for a platform.
pub(crate) fn api(platform: &Platform) -> Api {
    (
        (platform_info::PlatformInfo, users::Users(platform.clone())),
        (
            orgs::Orgs(platform.clone()),
            members::Members(platform.clone()),
            invites::Invites(platform.clone()),
            audit::AuditLog(platform.clone()),
        ),
        (spaces::Spaces(platform.clone()), jobs::Jobs(platform.clone())),
        collections::Collections(platform.clone()),
        (content::content(platform), uploads::Uploads(platform.clone())),
        (links::Links(platform.clone()), revisions::Revisions(platform.clone())),
        imports::Imports(platform.clone()),
        change_requests::ChangeRequests(platform.clone()),
        reviews::Reviews(platform.clone()),
        comments::comments(platform),
        (git::Git(platform.clone()), git_sync::GitSync(platform.clone())),
        search::Search(platform.clone()),
        pdf::Pdf(platform.clone()),
        (
            sites::Sites(platform.clone()),
            site_structure::Structure(platform.clone()),
            site_settings::SiteSettings(platform.clone()),
            urls::Urls(platform.clone()),
        ),
        (teams::Teams(platform.clone()), permissions::permissions(platform), saml::Saml(platform.clone())),
        (translations::Translations(platform.clone()), openapi_specs::OpenApiSpecs(platform.clone())),
    )
}

/// The group of an operation in the OpenAPI document.
#[derive(Tags)]
enum Tag {
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
    /// Full-text search.
    Search,
    /// Spaces published to an audience.
    Sites,
}

/// Parses an id of a path. Invalid text cannot be the id of any resource, so the result is 404 as for an unknown id.
fn id<T: std::str::FromStr<Err = NotAnId>>(text: &str, noun: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| docs_core::Error::not_found(noun).into())
}
