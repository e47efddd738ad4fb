//! All operations of the API.

use docs_core::Platform;

use super::{
    agent_feedback, audit, change_requests, collections, comments, computed, content, git, git_sync,
    import_runs, imports, integrations, invites, jobs, links, members, meta_links, openapi_specs, orgs, pdf,
    permissions, platform_info, reviews, revisions, saml, search, site_findings, site_settings,
    site_structure, sites, spaces, storage, teams, translations, uploads, urls, users,
};

/// All operations of the API.
pub type Api = (
    (platform_info::PlatformInfo, users::Users, integrations::Integrations),
    (orgs::Orgs, members::Members, invites::Invites, audit::AuditLog),
    (spaces::Spaces, jobs::Jobs),
    collections::Collections,
    (content::Content, computed::ComputedContent, uploads::Uploads),
    (links::ContentLinks, meta_links::MetaLinks, revisions::Revisions),
    (imports::Imports, import_runs::ImportRuns, storage::Storage),
    change_requests::ChangeRequests,
    reviews::Reviews,
    comments::Comments,
    (git::Git, git_sync::GitSync, git_sync::GitInstallations),
    search::Search,
    pdf::Pdf,
    (
        (sites::Sites, site_findings::SiteFindings, agent_feedback::AgentFeedback),
        site_structure::Structure,
        site_settings::SiteSettings,
        (urls::Urls, urls::SpaceEmbeds),
    ),
    (teams::Teams, permissions::Permissions, saml::Saml),
    (translations::Translations, openapi_specs::OpenApiSpecs),
);

/// Creates the operations for a platform.
pub(crate) fn api(platform: &Platform) -> Api {
    (
        (
            platform_info::PlatformInfo,
            users::Users(platform.clone()),
            integrations::Integrations(platform.clone()),
        ),
        (
            orgs::Orgs(platform.clone()),
            members::Members(platform.clone()),
            invites::Invites(platform.clone()),
            audit::AuditLog(platform.clone()),
        ),
        (spaces::Spaces(platform.clone()), jobs::Jobs(platform.clone())),
        collections::Collections(platform.clone()),
        (
            content::content(platform),
            computed::ComputedContent(platform.clone()),
            uploads::Uploads(platform.clone()),
        ),
        (
            links::ContentLinks(platform.clone()),
            meta_links::MetaLinks(platform.clone()),
            revisions::Revisions(platform.clone()),
        ),
        (
            imports::Imports(platform.clone()),
            import_runs::ImportRuns(platform.clone()),
            storage::Storage(platform.clone()),
        ),
        change_requests::ChangeRequests(platform.clone()),
        reviews::Reviews(platform.clone()),
        comments::comments(platform),
        (
            git::Git(platform.clone()),
            git_sync::GitSync(platform.clone()),
            git_sync::GitInstallations(platform.clone()),
        ),
        search::Search(platform.clone()),
        pdf::Pdf(platform.clone()),
        (
            (
                sites::Sites(platform.clone()),
                site_findings::SiteFindings(platform.clone()),
                agent_feedback::AgentFeedback(platform.clone()),
            ),
            site_structure::Structure(platform.clone()),
            site_settings::SiteSettings(platform.clone()),
            (urls::Urls(platform.clone()), urls::SpaceEmbeds(platform.clone())),
        ),
        (teams::Teams(platform.clone()), permissions::permissions(platform), saml::Saml(platform.clone())),
        (translations::Translations(platform.clone()), openapi_specs::OpenApiSpecs(platform.clone())),
    )
}
