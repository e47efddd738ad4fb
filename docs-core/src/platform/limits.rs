//! The limits of the platform in one list, for whoever shows them. Each number stands where it is checked.

use std::time::Duration;

use chrono::TimeDelta;

/// A limit of the platform that no schema shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The name of what is limited.
    pub name: &'static str,
    /// The most there may be, or the time that it lasts.
    pub most: Amount,
}

/// The number of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Amount {
    /// So many.
    Count(u64),
    /// So many bytes.
    Bytes(u64),
    /// So long.
    Time(Duration),
}

/// Limits of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitGroup {
    /// The name of the kind.
    pub name: &'static str,
    /// The limits.
    pub limits: &'static [Limit],
}

/// The limits of the platform by kind, as the handbook shows them. Those of single fields are in their schemas.
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
            limit("Changes in one content update", Amount::Count(super::content_edit::MAX_CHANGES as u64)),
            limit("Files in one `insert_files`", Amount::Count(super::content_edit::MAX_FILES as u64)),
            limit(
                "Files fetched from a `url` in one content update",
                Amount::Count(super::content_edit::MAX_FETCHES as u64),
            ),
            limit("A file sent as `base64`", Amount::Bytes(super::content_edit::plan::MAX_INLINE as u64)),
            limit(
                "A file fetched from a `url`, or imported",
                Amount::Bytes(crate::content::gitsync::MAX_FILE_BYTES),
            ),
            limit(
                "`Idempotency-Key`, in visible ASCII characters",
                Amount::Count(super::idempotency::IdempotencyKey::MAX as u64),
            ),
            limit(
                "An answer that is kept for a repeated request",
                Amount::Bytes(super::idempotency::MAX_ANSWER as u64),
            ),
            limit(
                "Addresses in one invitation to an organization",
                Amount::Count(super::invites::MAX_EMAILS as u64),
            ),
            limit(
                "Users and teams in one invitation to a space or a collection",
                Amount::Count(super::permissions::MAX_INVITED as u64),
            ),
            limit(
                "Changes of the members of a team at once",
                Amount::Count(super::teams::MAX_MEMBER_CHANGES as u64),
            ),
            limit("Members asked for a review at once", Amount::Count(super::reviews::MAX_USERS as u64)),
        ],
    },
    LimitGroup {
        name: "Content",
        limits: &[
            limit(
                "Markdown of a page or of a reusable content, front matter not counted",
                Amount::Bytes(crate::model::MAX_PAGE_BYTES as u64),
            ),
            limit("Pages of a Git import", Amount::Count(crate::content::gitsync::MAX_PAGES as u64)),
            limit("Pages of an import from the web", Amount::Count(super::import::gather::MAX_PAGES as u64)),
            limit("Files of an import from the web", Amount::Count(super::import::gather::MAX_FILES as u64)),
            limit("Pages of an imported archive", Amount::Count(super::import::folder::MAX_PAGES as u64)),
            limit("Files of an imported archive", Amount::Count(super::import::folder::MAX_FILES as u64)),
            limit("Characters of a variable", Amount::Count(crate::model::MAX_VARIABLE_TEXT as u64)),
            limit(
                "Characters of an expression",
                Amount::Count(crate::content::expression::MAX_LENGTH as u64),
            ),
            limit("Reviewers of one change request", Amount::Count(super::reviews::MAX_REVIEWERS as u64)),
            limit(
                "Jobs of one kind that a space keeps",
                Amount::Count(crate::store::jobs::MAX_LISTED as u64),
            ),
            limit("Pages of a book as PDF", Amount::Count(super::pdf::MAX_PAGES as u64)),
        ],
    },
    LimitGroup {
        name: "Organizations",
        limits: &[
            limit("Things directly in a collection", Amount::Count(super::tree::MAX_CHILDREN)),
            limit("Collections in each other", Amount::Count(super::access::resolver::MAX_DEPTH as u64)),
            limit(
                "Teams that one space or collection is granted to",
                Amount::Count(super::access::resolver::MAX_TEAM_GRANTS as u64),
            ),
            limit("Email domains of an organization", Amount::Count(super::orgs::MAX_DOMAINS as u64)),
            limit("SAML providers of an organization", Amount::Count(super::saml::MAX_PROVIDERS as u64)),
        ],
    },
    LimitGroup {
        name: "Sites",
        limits: &[
            limit("Spaces of a new site", Amount::Count(super::sites::MAX_FIRST_SPACES as u64)),
            limit("Spaces of a site", Amount::Count(super::sites::outline::MAX_SPACES as u64)),
            limit("Sections of a site", Amount::Count(super::sites::outline::MAX_SECTIONS as u64)),
            limit("Groups of sections of a site", Amount::Count(super::sites::outline::MAX_GROUPS as u64)),
            limit(
                "Groups of sections in each other",
                Amount::Count(super::sites::outline::MAX_GROUP_DEPTH as u64),
            ),
            limit(
                "Redirects of a site",
                Amount::Count(super::site_settings::redirects::MAX_REDIRECTS as u64),
            ),
            limit(
                "Share links of a site",
                Amount::Count(super::site_settings::share_links::MAX_LINKS as u64),
            ),
            limit(
                "Look of a site, or of a space on it",
                Amount::Bytes(super::site_settings::customization::MAX_BYTES as u64),
            ),
            limit("Adaptive schema", Amount::Bytes(crate::model::MAX_CLAIM_SCHEMA as u64)),
            limit("Claims of an adaptive schema", Amount::Count(crate::model::MAX_CLAIMS as u64)),
            limit("Levels of an adaptive schema", Amount::Count(crate::model::MAX_CLAIM_LEVELS as u64)),
            limit("Characters of the name of a claim", Amount::Count(crate::model::MAX_CLAIM_NAME as u64)),
            limit(
                "Characters of the description of a claim",
                Amount::Count(crate::model::MAX_CLAIM_DESCRIPTION as u64),
            ),
            limit("Values of a claim with `enum`", Amount::Count(crate::model::MAX_CLAIM_VALUES as u64)),
            limit("Characters of one of these values", Amount::Count(crate::model::MAX_CLAIM_VALUE as u64)),
            limit("Token of a visitor", Amount::Bytes(super::visitors::jwt::MAX_TOKEN as u64)),
            limit(
                "Claims that a visitor makes without a signature",
                Amount::Bytes(super::visitors::resolve::MAX_UNSIGNED as u64),
            ),
        ],
    },
    LimitGroup {
        name: "Windows",
        limits: &[
            limit("Time to restore a deleted space", time(super::spaces::RESTORE_WINDOW)),
            limit("An invitation by mail", time(super::invites::INVITE_WINDOW)),
            limit(
                "The answer to a request with an `Idempotency-Key`",
                time(super::idempotency::IDEMPOTENCY_WINDOW),
            ),
            limit("The address of a PDF file", Amount::Time(super::pdf::PDF_WINDOW)),
            limit(
                "A PDF file that was made, for the next who asks for it",
                Amount::Time(super::pdf::PDF_KEPT),
            ),
            limit("A token to read a site", time(super::visitors::pass::CONTENT_TOKEN_WINDOW)),
            limit("A token that vouches for a member", time(super::visitors::member::MEMBER_TOKEN_WINDOW)),
            limit("An entry of the audit log", time(super::audit::AUDIT_RETENTION)),
            limit("A job that has ended", time(super::jobs::JOBS_KEPT)),
            limit(
                "A write, from the first object that it stores to its commit",
                time(super::collect::WRITE_WINDOW),
            ),
            limit("Between two collections of objects", time(super::collect::COLLECT_EVERY)),
            limit(
                "A collection, from its first read to the last object that it removes",
                time(super::collect::COLLECT_WINDOW),
            ),
            limit("An object that nothing names, since it was last stored", time(super::collect::UNTOUCHED)),
            limit("The note that a space was copied", time(super::collect::COPY_NOTES_KEPT)),
            limit("The clocks of servers on one store, apart", time(super::collect::CLOCKS_APART)),
        ],
    },
];

const fn time(most: TimeDelta) -> Amount {
    Amount::Time(Duration::from_secs(most.num_seconds().unsigned_abs()))
}

const fn limit(name: &'static str, most: Amount) -> Limit {
    Limit { name, most }
}
