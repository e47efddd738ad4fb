//! First start on a new store: creates an organization, its administrator, a space, and a published site.

use std::fmt;

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        CreateSite, CreateSpace, ImportGitRepository, OrgId, Patch, SiteId, SitePointer, SiteSpacesInput,
        SiteTitle, SpaceId, SpaceTitle, UpdateOrganization,
    },
    platform::{NewUser, SetUp},
    store::PageRequest,
};

use crate::{Secret, ServerConfig, ServerError};

/// Import URL of the embedded handbook. It requires no network access.
pub const HANDBOOK_URL: &str = "file:///handbook";
/// The ref used for imports from sources that are not Git repositories.
pub const MAIN_REF: &str = "refs/heads/main";

/// The organization of a new store, with its administrator.
#[derive(Clone)]
pub struct FirstStart {
    /// Token of the administrator. The store contains only its hash.
    pub token: String,
    pub org: OrgId,
    pub admin: Actor,
}

/// Omits the token.
impl fmt::Debug for FirstStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstStart")
            .field("org", &self.org)
            .field("admin", &self.admin)
            .finish_non_exhaustive()
    }
}

/// The administrator that the first start creates.
#[derive(Clone, Debug)]
pub struct FirstAdmin {
    pub user: NewUser,
    /// The token of the administrator. Generated at random if absent.
    pub token: Option<Secret>,
}

impl FirstAdmin {
    /// Returns the administrator of a configuration.
    ///
    /// # Errors
    /// [`ServerError::Flag`] for an invalid name or e-mail address.
    pub fn from_config(config: &ServerConfig) -> Result<Self, ServerError> {
        let name = config.admin_name.as_deref().unwrap_or("Administrator");
        let email = config.admin_email.as_deref().unwrap_or("admin@docs.example");
        let user = NewUser {
            display_name: name.parse().map_err(|why| ServerError::for_flag("--admin-name", why))?,
            email: email.parse().map_err(|why| ServerError::for_flag("--admin-email", why))?,
        };
        Ok(Self { user, token: config.token.clone() })
    }
}

/// A published site with its space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CreatedSite {
    /// The organization that the site and the space belong to.
    pub org: OrgId,
    pub space: SpaceId,
    pub site: SiteId,
    /// The public URL of the site.
    pub url: String,
}

/// Creates the first organization and its administrator. Returns `None` if the store has an organization.
///
/// # Errors
/// [`ServerError::Flag`] for an invalid e-mail address, and the errors of the platform.
pub async fn first_start(platform: &Platform, admin: &FirstAdmin) -> Result<Option<FirstStart>, ServerError> {
    let new = SetUp {
        administrator: admin.user.clone(),
        organization: "Documentation".parse().map_err(ServerError::from_error)?,
        token: admin.token.as_ref().map(|token| token.reveal().to_owned()),
    };
    let done = match platform.as_platform().set_up(new).await {
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
        Err(error) if error.kind() == ErrorKind::Invalid => {
            return Err(ServerError::for_flag("--admin-email", error));
        }
        done => done?,
    };
    let (token, admin) = (done.token.secret, Actor::User(done.administrator));
    Ok(Some(FirstStart { token, org: done.organization, admin }))
}

/// Creates a space and publishes it as a site, which becomes the default content of the organization.
///
/// # Errors
/// Returns the errors of the platform.
pub async fn create_site(
    platform: &Platform,
    first: &FirstStart,
    title: &str,
) -> Result<CreatedSite, ServerError> {
    let FirstStart { org, admin, .. } = first;
    let space = CreateSpace { title: SpaceTitle::from_truncated(title), ..CreateSpace::default() };
    let space = platform.as_actor(admin).org(org).spaces().create(space).await?.id;
    let spaces = Some(SiteSpacesInput::Existing(vec![space.to_string()]));
    let site = CreateSite { title: SiteTitle::from_truncated(title), spaces, ..CreateSite::default() };
    let site = platform.as_actor(admin).org(org).sites().create(site).await?.id;
    let shown = platform.as_actor(admin).org(org).site(&site).publish().await?;
    let url = shown
        .urls
        .published
        .ok_or_else(|| ServerError::from_error("a published site must have an address"))?;
    let begins = SitePointer { kind: Default::default(), site: site.clone() };
    let change = UpdateOrganization { default_content: Patch::Set(begins), ..UpdateOrganization::default() };
    platform.as_actor(admin).org(org).update(change).await?;
    Ok(CreatedSite { org: org.clone(), space, site, url })
}

/// Starts importing a repository into a space.
///
/// # Errors
/// Returns an error if the URL is invalid, and the errors of the platform.
pub async fn import(
    platform: &Platform,
    first: &FirstStart,
    space: &SpaceId,
    url: &str,
) -> Result<(), ServerError> {
    let import = ImportGitRepository {
        url: url.parse().map_err(|why| ServerError::for_flag("--import", why))?,
        reference: MAIN_REF.parse().map_err(ServerError::from_error)?,
        repo_cache_id: None,
        repo_tree_url: None,
        repo_commit_url: None,
        repo_project_directory: None,
        timestamp: None,
        force: None,
        standalone: None,
        git_info: None,
    };
    platform.as_actor(&first.admin).space(space).import_git(import).await?;
    Ok(())
}

/// Checks that the import into a space succeeded.
///
/// # Errors
/// Returns the error message of the job, and the errors of the platform.
pub async fn check_import(
    platform: &Platform,
    first: &FirstStart,
    space: &SpaceId,
) -> Result<(), ServerError> {
    let jobs = platform.as_actor(&first.admin).space(space).list_jobs(&PageRequest::default()).await?;
    match jobs.items.iter().find_map(|job| job.error.clone()) {
        Some(why) => Err(ServerError::from_error(why)),
        None => Ok(()),
    }
}
