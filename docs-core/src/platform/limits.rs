//! The limits of the platform in one list for presentation. Each value is defined where it is enforced.

use std::time::Duration;

use chrono::TimeDelta;

use super::{
    access::resolver, audit, collect, content_edit, git, idempotency, import, invites, jobs, openapi_specs,
    orgs, pdf, permissions, reviews, saml, site_settings, sites, sites::outline, spaces, teams, translations,
    tree, visitors,
};
use crate::{
    content::{MAX_MOVED, expression, gitsync, markdown},
    model::{self, InsertFilesChange, RequestReviewers, UpdateContent},
};

/// A limit that is not part of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The name of the limited resource.
    pub name: &'static str,
    /// The maximum number, size or duration.
    pub most: Amount,
}

/// The value of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Amount {
    /// A number of items.
    Count(u64),
    /// A size in bytes.
    Bytes(u64),
    /// A duration.
    Time(Duration),
}

/// A group of related limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitGroup {
    pub name: &'static str,
    pub limits: &'static [Limit],
}

/// The limits of the platform by group, as listed in the handbook. Limits of single fields are in their schemas.
///
/// # Example
/// ```
/// use docs_core::platform::{Amount, LIMITS};
/// let sections = LIMITS.iter().flat_map(|group| group.limits).find(|limit| limit.name == "Sections of a site");
/// assert!(matches!(sections.expect("a limit").most, Amount::Count(_)));
/// ```
pub const LIMITS: &[LimitGroup] = &[
    LimitGroup {
        name: "Requests",
        limits: &[
            count("Changes in one content update", UpdateContent::MAX_CHANGES),
            count("Files in one `insert_files`", InsertFilesChange::MAX_FILES),
            count("Files fetched from a `url` in one content update", content_edit::MAX_FETCHES),
            bytes("A file sent as `base64`", content_edit::plan::MAX_INLINE as u64),
            bytes("A file uploaded, fetched from a `url`, or imported", model::MAX_FILE_BYTES),
            count("`Idempotency-Key`, in visible ASCII characters", idempotency::IdempotencyKey::MAX),
            bytes("An answer that is kept for a repeated request", idempotency::MAX_ANSWER as u64),
            count("Addresses in one invitation to an organization", invites::MAX_EMAILS),
            count("Users and teams in one invitation to a space or a collection", permissions::MAX_INVITED),
            count("Changes of the members of a team at once", teams::MAX_MEMBER_CHANGES),
            bytes("A delivery to a webhook", git::MAX_DELIVERY),
            count("Members asked for a review at once", RequestReviewers::MAX_USERS),
        ],
    },
    LimitGroup {
        name: "Content",
        limits: &[
            bytes(
                "Markdown of a page or of a reusable content, front matter not counted",
                model::MAX_PAGE_BYTES as u64,
            ),
            count("Links of a page that are followed", markdown::MAX_LINKS),
            count("Places that pages of a space have left, from which old paths lead on", MAX_MOVED as usize),
            count("Pages of a space, of every kind", model::MAX_SPACE_PAGES),
            count("Files of a space", model::MAX_SPACE_FILES),
            count("Reusable contents of a space", model::MAX_REUSABLES),
            count("Pages directly below one page, or at the top level", model::MAX_SIBLINGS),
            count("Levels of pages", model::MAX_PAGE_LEVELS),
            bytes("Path of a page within its space", model::MAX_PATH_BYTES as u64),
            count("Characters of the title of a page", model::MAX_TITLE),
            count("Pages of a space that are made of OpenAPI specifications", model::MAX_COMPUTED_PAGES),
            count("Places of a space in which such pages are made", model::MAX_COMPUTED_PLACES),
            count("Entries of a table of contents", gitsync::MAX_ITEMS),
            bytes("A table of contents", gitsync::MAX_SUMMARY_BYTES),
            bytes("Front matter of a page", markdown::MAX_FRONT_MATTER_BYTES as u64),
            bytes("Memory of all imports of a server together", import::memory::IMPORT_MEMORY),
            count("Pages of a Git import or export", gitsync::MAX_PAGES),
            count("Pages of an import from the web", import::gather::MAX_PAGES),
            count("Files of an import from the web", import::gather::MAX_FILES),
            count("Pages of an imported archive", import::folder::MAX_PAGES),
            count("Files of an imported archive", import::folder::MAX_FILES),
            count("Characters of a variable", model::MAX_VARIABLE_TEXT),
            count("Characters of an expression", expression::MAX_LENGTH),
            count("Reviewers of one change request", reviews::MAX_REVIEWERS as usize),
            count("Jobs of one kind that a space keeps", crate::store::jobs::MAX_LISTED as usize),
            count("Pages of a book as PDF", pdf::MAX_PAGES),
            bytes("A sentence or paragraph that is translated", translations::MAX_SEGMENT_BYTES as u64),
            count("Translations of a space", translations::MAX_TRANSLATIONS as usize),
            bytes("Instructions of a translation, as Markdown", translations::MAX_INSTRUCTION_BYTES as u64),
            bytes("Glossary of an organization, as JSON", translations::MAX_GLOSSARY_BYTES as u64),
        ],
    },
    LimitGroup {
        name: "Organizations",
        limits: &[
            count("Things directly in a collection", tree::MAX_CHILDREN as usize),
            count("Collections in each other", resolver::MAX_DEPTH),
            count("Teams that one space or collection is granted to", resolver::MAX_TEAM_GRANTS as usize),
            count("Email domains of an organization", orgs::MAX_DOMAINS),
            count("SAML providers of an organization", saml::MAX_PROVIDERS as usize),
            count(
                "Refusals in a minute that are noted of a SAML provider, of what it has not signed",
                saml::MOST_UNSIGNED as usize,
            ),
            count("OpenAPI specifications of an organization", openapi_specs::MAX_SPECS as usize),
            count("Versions of an OpenAPI specification", openapi_specs::MAX_VERSIONS as usize),
            bytes("All files of an OpenAPI specification", crate::ports::MAX_SPEC_BYTES as u64),
            bytes("An OpenAPI specification sent as `text`", model::MAX_SPEC_TEXT as u64),
            count("Files that an OpenAPI specification refers to", openapi_specs::fetch::MAX_FILES),
            count("Operations, webhooks and schemas that a page shows", openapi_specs::MAX_SHOWN),
            count("Problems told of an OpenAPI specification", crate::ports::MAX_SPEC_PROBLEMS),
        ],
    },
    LimitGroup {
        name: "Sites",
        limits: &[
            count("Spaces of a new site", sites::MAX_FIRST_SPACES),
            count("Spaces of a site", outline::MAX_SPACES),
            count("Sections of a site", outline::MAX_SECTIONS),
            count("Groups of sections of a site", outline::MAX_GROUPS),
            count("Groups of sections in each other", outline::MAX_GROUP_DEPTH),
            count("Redirects of a site", site_settings::redirects::MAX_REDIRECTS as usize),
            count("Share links of a site", site_settings::share_links::MAX_LINKS as usize),
            bytes("Look of a site, or of a space on it", site_settings::customization::MAX_BYTES as u64),
            bytes("Adaptive schema", model::MAX_CLAIM_SCHEMA as u64),
            count("Claims of an adaptive schema", model::MAX_CLAIMS),
            count("Levels of an adaptive schema", model::MAX_CLAIM_LEVELS),
            count("Characters of the name of a claim", model::MAX_CLAIM_NAME),
            count("Characters of the description of a claim", model::MAX_CLAIM_DESCRIPTION),
            count("Values of a claim with `enum`", model::MAX_CLAIM_VALUES),
            count("Characters of one of these values", model::MAX_CLAIM_VALUE),
            bytes("Token of a visitor", visitors::jwt::MAX_TOKEN as u64),
            bytes("Claims that a visitor makes without a signature", visitors::resolve::MAX_UNSIGNED as u64),
            bytes("Claims in the address of a file", visitors::MAX_SEALED_CLAIMS as u64),
        ],
    },
    LimitGroup {
        name: "Windows",
        limits: &[
            window("Time to restore a deleted space", spaces::RESTORE_WINDOW),
            window("An invitation by mail", invites::INVITE_WINDOW),
            window("The answer to a request with an `Idempotency-Key`", idempotency::IDEMPOTENCY_WINDOW),
            limit("The address of a PDF file", Amount::Time(pdf::PDF_WINDOW)),
            limit("A PDF file that was made, for the next who asks for it", Amount::Time(pdf::PDF_KEPT)),
            window("Between two fetches of an OpenAPI specification", openapi_specs::process::FETCH_EVERY),
            window("A fetch of an OpenAPI specification, all its files", openapi_specs::fetch::FETCH_WINDOW),
            window("A token to read a site", visitors::pass::CONTENT_TOKEN_WINDOW),
            window("A token that vouches for a member", visitors::member::MEMBER_TOKEN_WINDOW),
            window(
                "Between the clock of a site's sign-in and the clock of the server",
                visitors::jwt::CLOCK_LEEWAY,
            ),
            window("Signing in at a SAML provider", saml::SAML_LOGIN_WINDOW),
            window("A session of single sign-on", saml::SESSION_WINDOW),
            window("An entry of the audit log", audit::AUDIT_RETENTION),
            window("A job that has ended", jobs::JOBS_KEPT),
            window("A write, from the first object that it stores to its commit", collect::WRITE_WINDOW),
            window("Between two collections of objects", collect::COLLECT_EVERY),
            window(
                "A collection, from its first read to the last object that it removes",
                collect::COLLECT_WINDOW,
            ),
            window("An object that nothing names, since it was last stored", collect::UNTOUCHED),
            window("The note that a space was copied", collect::COPY_NOTES_KEPT),
            window("The clocks of servers on one store, apart", collect::CLOCKS_APART),
        ],
    },
];

const fn count(name: &'static str, most: usize) -> Limit {
    limit(name, Amount::Count(most as u64))
}

const fn bytes(name: &'static str, most: u64) -> Limit {
    limit(name, Amount::Bytes(most))
}

const fn window(name: &'static str, long: TimeDelta) -> Limit {
    limit(name, Amount::Time(Duration::from_secs(long.num_seconds().unsigned_abs())))
}

const fn limit(name: &'static str, most: Amount) -> Limit {
    Limit { name, most }
}
