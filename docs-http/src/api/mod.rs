//! The operations over HTTP: one file a noun, each handler a call of one operation of the platform.

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

/// Who asks.
type Auth = crate::auth::Signed<Actor>;
/// Who reads what is published: without a token, anybody.
type Reader = crate::auth::MaybeSigned<Actor>;

/// What tells who sent a request.
trait AsCaller {
    /// The platform as they may use it.
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

/// All operations.
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

/// All operations on a platform.
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

/// What an operation is about.
#[derive(Tags)]
enum Tag {
    /// The service as a whole.
    Service,
    /// The user whose token it is.
    Users,
    /// Organizations and their settings.
    Organizations,
    /// Members who are granted content together.
    Teams,
    /// Who may do what with spaces and collections.
    Permissions,
    /// How members sign in through a provider of their own.
    SingleSignOn,
    /// Containers of pages and files.
    Spaces,
    /// Folders of spaces.
    Collections,
    /// Pages and files, live, in a change request or in any revision.
    Content,
    /// Changes in the making.
    ChangeRequests,
    /// Spaces whose content follows another in another language.
    Translations,
    /// What people say of content.
    Comments,
    /// Specifications of APIs that content shows.
    OpenApi,
    /// Import of repositories, export to them, and both in step.
    Git,
    /// Pages by what they say.
    Search,
    /// Spaces published to an audience.
    Sites,
}

/// An id of the path. Text that can be no id names nothing, so it is answered like an unknown one.
fn id<T: std::str::FromStr<Err = NotAnId>>(text: &str, noun: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| docs_core::Error::not_found(noun).into())
}
