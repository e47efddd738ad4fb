//! All limits of the platform in one list, for presentation. Each value is defined where it is enforced.

use std::time::Duration;

use chrono::TimeDelta;

use crate::{
    content::{MAX_MOVED, MAX_VALUE_BYTES, directives, expression, gitsync, markdown},
    model::{self, InsertFilesChange, RequestReviewers, UpdateContent},
    platform::{
        access::{self, resolver},
        content::{change_requests, edit, links::broken, openapi_specs, reviews},
        exchange::{git, import, pdf, translations},
        host::{cache_budget, collect, site_findings::statuses, tidy},
        jobs,
        kernel::{audit_log, idempotency, import_memory, request, write_window},
        library::{follow, head, permissions, tree},
        people::{email_invites, orgs, saml, teams},
        publishing::{outline, resolve, visitors},
        sites::{agent_feedback, settings, site},
    },
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
    Time(Duration),
}

/// A group of related limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitGroup {
    pub name: &'static str,
    pub limits: &'static [Limit],
}

/// The limits of the platform, by group, as listed in the handbook. Limits of single fields are in their schemas.
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
            count("Files fetched from a `url` in one content update", edit::MAX_FETCHES),
            bytes("A file sent as `base64`", edit::plan::MAX_INLINE_BYTES as u64),
            bytes("A file uploaded, fetched from a `url`, or imported", model::MAX_FILE_BYTES),
            count("`Idempotency-Key`, in visible ASCII characters", request::IdempotencyKey::MAX),
            bytes("A response that is stored for replay", idempotency::MAX_ANSWER_BYTES as u64),
            count("Addresses in one invitation to an organization", email_invites::MAX_EMAILS),
            count("Users and teams in one invitation to a space or a collection", permissions::MAX_INVITED),
            count("Team members changed in one request", teams::MAX_MEMBER_CHANGES),
            bytes("A delivery to a webhook", git::MAX_DELIVERY),
            count("Members asked for a review in one request", RequestReviewers::MAX_USERS),
        ],
    },
    LimitGroup {
        name: "Content",
        limits: &[
            bytes(
                "Markdown of a page or reusable content, without front matter",
                model::MAX_PAGE_BYTES as u64,
            ),
            count("Resolved links of a page", markdown::MAX_LINKS),
            count("Redirects of moved pages in a space", MAX_MOVED as usize),
            count("Pages of a space, of all kinds", model::MAX_SPACE_PAGES),
            count("Files of a space", model::MAX_SPACE_FILES),
            count("Reusable contents of a space", model::MAX_REUSABLES),
            bytes("Fields of all pages of a space, without texts", model::MAX_RECORD_BYTES),
            count("Direct child pages of a page, or pages at the top level", model::MAX_SIBLINGS),
            count("Levels of the page tree", model::MAX_PAGE_LEVELS),
            bytes("Path of a page within its space", model::MAX_PATH_BYTES as u64),
            count("Characters of the title of a page", model::MAX_TITLE),
            count("Characters of the description of a page", model::MAX_DESCRIPTION),
            count(
                "Pages of a space that are generated from OpenAPI specifications",
                model::MAX_COMPUTED_PAGES,
            ),
            count("Insertion points of generated pages in a space", model::MAX_COMPUTED_PLACES),
            count("Entries of a table of contents", gitsync::MAX_ITEMS),
            bytes("A table of contents", gitsync::MAX_SUMMARY_BYTES),
            bytes("A configuration of mdBook or HonKit", gitsync::MAX_BOOK_BYTES),
            count("Directives of a page, with those of its included files", directives::MAX_INCLUDES),
            count("Levels of included files", directives::MAX_INCLUDE_DEPTH),
            bytes("A page with the results of its directives", directives::MAX_EXPANDED_BYTES as u64),
            bytes("Front matter of a page", markdown::MAX_FRONT_MATTER_BYTES as u64),
            bytes("Memory of all imports of a server together", import_memory::IMPORT_MEMORY),
            bytes("Memory of all caches of a server together", cache_budget::CACHE_MEMORY),
            count("Pages of a Git import or export", gitsync::MAX_PAGES),
            count("Pages of an import from the web", import::gather::MAX_PAGES),
            count("Files of an import from the web", import::gather::MAX_FILES),
            count("Pages of an imported archive", import::folder::MAX_PAGES),
            count("Files of an imported archive", import::folder::MAX_FILES),
            count("Characters of a variable", model::MAX_VARIABLE_TEXT),
            count("Characters of an expression", expression::MAX_LENGTH),
            bytes("Values of the expressions of a page", MAX_VALUE_BYTES as u64),
            count("Reviewers of one change request", reviews::MAX_REVIEWERS as usize),
            bytes(
                "Description of a change request, as Markdown",
                change_requests::MAX_DESCRIPTION_BYTES as u64,
            ),
            count("Listed jobs of one kind per space", crate::store::jobs::MAX_LISTED as usize),
            count("Pages of a space in a PDF file", pdf::MAX_PAGES),
            bytes("A translated sentence or paragraph", translations::MAX_SEGMENT_BYTES as u64),
            count("Translations of a space", follow::translations::MAX_TRANSLATIONS as usize),
            bytes("Instructions of a translation, as Markdown", translations::MAX_INSTRUCTION_BYTES as u64),
            bytes("Glossary of an organization, as JSON", translations::MAX_GLOSSARY_BYTES as u64),
        ],
    },
    LimitGroup {
        name: "Organizations",
        limits: &[
            count("Spaces and collections directly in a collection", tree::MAX_CHILDREN as usize),
            count("Nesting of collections", resolver::MAX_COLLECTION_DEPTH),
            count("Teams with a role on one space or collection", resolver::MAX_TEAM_GRANTS as usize),
            count("Email domains of an organization", orgs::MAX_DOMAINS),
            count("Organizations that a user can create", orgs::ORGANIZATIONS_PER_USER as usize),
            count("SAML providers of an organization", access::MAX_PROVIDERS as usize),
            count(
                "Recorded refusals of unsigned responses per minute and SAML provider",
                saml::MAX_UNSIGNED_REFUSALS as usize,
            ),
            count(
                "Unfinished jobs of one kind per organization",
                crate::store::jobs::MAX_UNFINISHED as usize,
            ),
            count(
                "Uploads of a user to the storage of an organization within 24 hours",
                import::stored::MAX_UPLOADS as usize,
            ),
            count("Files of an import run", model::StartImportRun::MAX_FILES),
            count("OpenAPI specifications of an organization", openapi_specs::MAX_SPECS as usize),
            count("Versions of an OpenAPI specification", openapi_specs::process::MAX_VERSIONS as usize),
            bytes("All files of an OpenAPI specification", crate::ports::MAX_SPEC_BYTES as u64),
            bytes("An OpenAPI specification sent as `text`", model::MAX_SPEC_TEXT as u64),
            count("Files referenced by an OpenAPI specification", openapi_specs::fetch::MAX_FILES),
            count("Operations, webhooks and schemas shown on a page", openapi_specs::MAX_SHOWN_SUBJECTS),
            count("Reported problems of an OpenAPI specification", crate::ports::MAX_SPEC_PROBLEMS),
        ],
    },
    LimitGroup {
        name: "Sites",
        limits: &[
            count("Spaces of a new site", site::MAX_FIRST_SPACES),
            count("Spaces of a site", outline::MAX_SPACES),
            count("Sections of a site", outline::MAX_SECTIONS),
            count("Section groups of a site", outline::MAX_GROUPS),
            count("External links of a site", outline::MAX_EXTERNAL_LINKS),
            count("Nesting of section groups", outline::MAX_GROUP_DEPTH),
            count("Redirects of a site", settings::redirects::MAX_REDIRECTS as usize),
            count("Stored feedback of AI agents about a site", agent_feedback::MAX_FEEDBACK as usize),
            count(
                "Feedback of AI agents about a site per minute and server",
                agent_feedback::MAX_FEEDBACK_PER_MINUTE as usize,
            ),
            count("Share links of a site", settings::share_links::MAX_LINKS as usize),
            count("Links that the findings of a site examine", broken::MAX_EXAMINED_LINKS),
            count("Uses of reusable content that the findings of a site examine", broken::MAX_EXAMINED_USES),
            count("Findings of a site that are done or canceled", statuses::MAX_STORED_STATUSES),
            bytes("Customization of a site, or of a space on it", settings::customization::MAX_BYTES as u64),
            bytes("Adaptive schema", model::MAX_CLAIM_SCHEMA as u64),
            count("Claims of an adaptive schema", model::MAX_CLAIMS),
            count("Levels of an adaptive schema", model::MAX_CLAIM_LEVELS),
            count("Characters of a claim name", model::MAX_CLAIM_NAME),
            count("Characters of the description of a claim", model::MAX_CLAIM_DESCRIPTION),
            count("Values of a claim with `enum`", model::MAX_CLAIM_VALUES),
            count("Characters of a value of a claim with `enum`", model::MAX_CLAIM_VALUE),
            bytes("Visitor token", visitors::jwt::MAX_TOKEN as u64),
            bytes("Unsigned claims of a visitor, and claims of a preview", resolve::MAX_CLAIMS_BYTES as u64),
            bytes("Claims in the address of a file", visitors::MAX_SEALED_CLAIMS as u64),
        ],
    },
    LimitGroup {
        name: "Windows",
        limits: &[
            window("Time to restore a deleted space", head::RESTORE_WINDOW),
            window("Validity of an e-mail invitation", email_invites::INVITE_WINDOW),
            window("Validity of the preview URL of a site", visitors::preview::PREVIEW_WINDOW),
            window(
                "Retention of the response to a request with an `Idempotency-Key`",
                idempotency::IDEMPOTENCY_WINDOW,
            ),
            limit("Validity of the address of a PDF file", Amount::Time(pdf::PDF_WINDOW)),
            limit("Retention of a PDF file for later requests", Amount::Time(pdf::PDF_REUSE_WINDOW)),
            window("Validity of the URL of an upload", import::stored::UPLOAD_WINDOW),
            window("Retention of an upload for import runs", import::stored::UPLOAD_RETENTION),
            window(
                "Interval between two fetches of an OpenAPI specification",
                openapi_specs::process::FETCH_INTERVAL,
            ),
            window(
                "Time to fetch an OpenAPI specification with all its files",
                openapi_specs::fetch::FETCH_WINDOW,
            ),
            window("Validity of a token to read a site", visitors::content_token::CONTENT_TOKEN_WINDOW),
            window("Validity of a visitor token for a member", visitors::member::MEMBER_TOKEN_WINDOW),
            window(
                "Difference between the clocks of a site's sign-in and the server",
                visitors::jwt::CLOCK_LEEWAY,
            ),
            window("Time to sign in at a SAML provider", saml::SAML_LOGIN_WINDOW),
            window("Validity of a single sign-on session", saml::SESSION_WINDOW),
            window("Retention of an audit log entry", audit_log::AUDIT_RETENTION),
            window("Retention of a finished job", tidy::JOB_RETENTION),
            window(
                "Time in which a running job may end after its server is stopped",
                jobs::run::JOB_STOP_WINDOW,
            ),
            window(
                "Duration of a write, from its first stored object to its commit",
                write_window::WRITE_WINDOW,
            ),
            window("Interval between two garbage collections", collect::COLLECT_INTERVAL),
            window(
                "Duration of a garbage collection, from its first read to its last deletion",
                write_window::COLLECT_WINDOW,
            ),
            window(
                "Retention of an unreferenced object after it was last stored",
                write_window::OBJECT_GRACE_PERIOD,
            ),
            window("Retention of the record that a space was copied", write_window::COPY_NOTE_RETENTION),
            window("Difference between the clocks of servers on one store", write_window::MAX_CLOCK_SKEW),
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
