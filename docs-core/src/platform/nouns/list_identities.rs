//! List identities, which bind a cursor to its list. Tags must never change; see [`ListIdentity`].

use std::collections::BTreeSet;

use super::filters::{
    AuditEventFilter, AuditFilter, CommentQuery, ContentKind, ImportRunFilter, OrgRequestFilter, Reach,
    RedirectFilter, RequestFilter, SiteFilter, SiteFindingFilter, SitePermissionFilter, TeamFilter,
};
use crate::{
    content::LinkTarget,
    model::{
        BrokenContext, ChangeRequestOrder, LinkStatus, ListOrder, MemberRole, OrgId, PageId,
        PermissionTarget, Role, SiteFindingId, SiteFindingOrder, SiteId, SpaceId, UserId,
    },
    store::ListIdentity,
};

/// The list tags. They must be distinct.
pub(in crate::platform) mod tag {
    macro_rules! tags {
        ($($name:ident = $tag:literal),* $(,)?) => {
            $(pub(in crate::platform) const $name: &str = $tag;)*
            #[cfg(test)]
            pub(in crate::platform) const ALL: &[&str] = &[$($tag),*];
        };
    }

    tags! {
        AGENT_FEEDBACK = "agent-feedback",
        ALL_ORGANIZATIONS = "all-organizations",
        API_TOKENS = "api-tokens",
        AUDIT_EVENTS = "audit-events",
        AUDIT_LOG = "audit-log",
        CHANGE_REQUESTS = "change-requests",
        CHANGE_REQUEST_LINKS = "change-request-links",
        COLLECTIONS = "collections",
        COMMENTERS = "commenters",
        COMMENTS = "comments",
        COMMENT_REPLIES = "comment-replies",
        DELETED_SPACES = "deleted-spaces",
        EMAIL_INVITES = "email-invites",
        FILES = "files",
        FILE_BACKLINKS = "file-backlinks",
        GLOSSARY_TERMS = "glossary-terms",
        IMPORT_RUNS = "import-runs",
        JOBS = "jobs",
        LINKS = "links",
        LINK_INVITES = "link-invites",
        MEMBERS = "members",
        MEMBERS_WITH_ROLE = "members-with-role",
        OPENAPI_SPECS = "openapi-specs",
        OPENAPI_SPEC_VERSIONS = "openapi-spec-versions",
        ORGANIZATIONS = "organizations",
        ORG_CHANGE_REQUESTS = "organization-change-requests",
        PAGE_BACKLINKS = "page-backlinks",
        PAGE_LINKS = "page-links",
        REDIRECTS = "redirects",
        REQUESTED_REVIEWERS = "requested-reviewers",
        REUSABLE_BACKLINKS = "reusable-backlinks",
        REVIEWS = "reviews",
        REVISIONS = "revisions",
        SAML_PROVIDERS = "saml-providers",
        SEARCH_OF_ORG = "search-of-organization",
        SEARCH_OF_SITE = "search-of-site",
        SEARCH_OF_SPACE = "search-of-space",
        SECTIONS = "sections",
        SECTION_GROUPS = "section-groups",
        SHARE_LINKS = "share-links",
        SITES = "sites",
        SITE_FINDINGS = "site-findings",
        SITE_FINDING_CHANGE_REQUESTS = "site-finding-change-requests",
        SITE_FINDING_PAGES = "site-finding-pages",
        SITE_FINDING_QUESTIONS = "site-finding-questions",
        SITE_FINDING_RECORDS = "site-finding-records",
        SITE_PERMISSIONS = "site-permissions",
        SITE_SPACES = "site-spaces",
        SPACES = "spaces",
        SPACES_OF_MEMBER = "spaces-of-member",
        TEAMS = "teams",
        TEAMS_OF_MEMBER = "teams-of-member",
        TEAM_GRANTS = "team-grants",
        TEAM_MEMBERS = "team-members",
        TRANSLATIONS = "translations",
        USERS = "users",
        USER_GRANTS = "user-grants",
    }
}

pub(in crate::platform) fn teams(filter: &TeamFilter) -> ListIdentity {
    ListIdentity::new(tag::TEAMS).filter("owner", &filter.owner).filter("title", &filter.title)
}

pub(in crate::platform) fn member_teams(title: Option<&str>) -> ListIdentity {
    ListIdentity::new(tag::TEAMS_OF_MEMBER).filter("title", title)
}

pub(in crate::platform) fn sites(filter: &SiteFilter) -> ListIdentity {
    ListIdentity::new(tag::SITES)
        .filter("space", &filter.space)
        .filter("title", &filter.title)
        .filter("published", filter.published.map(yes_or_no))
        .filter("type", filter.types.iter().map(|kind| kind.as_str()))
}

pub(in crate::platform) fn site_findings(site: &SiteId, filter: &SiteFindingFilter) -> ListIdentity {
    ListIdentity::new(tag::SITE_FINDINGS)
        .with_part("site", site)
        .filter("status", filter.status.map(|status| status.as_str()))
        .filter("type", filter.types.iter().map(|kind| kind.as_str()))
        .filter("severity", filter.severity.map(|severity| severity.as_str()))
        .filter("change-requests", filter.has_change_requests.map(yes_or_no))
        .filter("topic", &filter.topic)
        .filter("question", &filter.question)
        .filter("source", filter.sources.iter().map(|source| source.as_str()))
        .filter("after", filter.updated_after.map(|after| after.to_string()))
        .filter("before", filter.updated_before.map(|before| before.to_string()))
        .filter("order", (filter.order != SiteFindingOrder::UpdatedAt).then(|| filter.order.as_str()))
}

/// A list of a finding: its pages, questions, records or change requests, by the tag of the list.
pub(in crate::platform) fn of_site_finding(
    tag: &str,
    site: &SiteId,
    finding: &SiteFindingId,
) -> ListIdentity {
    ListIdentity::new(tag).with_part("site", site).with_part("finding", finding)
}

pub(in crate::platform) fn glossary_terms(org: &OrgId, order: Option<&str>) -> ListIdentity {
    ListIdentity::new(tag::GLOSSARY_TERMS).with_part("organization", org).filter("language", order)
}

/// Redirects. The order is part of the key prefix of the rows, so it needs no filter here.
pub(in crate::platform) fn redirects(filter: &RedirectFilter) -> ListIdentity {
    ListIdentity::new(tag::REDIRECTS)
        .filter("search", &filter.search)
        .filter("draft", filter.draft.then_some("yes"))
}

pub(in crate::platform) fn share_links(search: Option<&str>) -> ListIdentity {
    ListIdentity::new(tag::SHARE_LINKS).filter("search", search)
}

pub(in crate::platform) fn site_spaces(site: &SiteId, default: Option<bool>) -> ListIdentity {
    ListIdentity::new(tag::SITE_SPACES).with_part("site", site).filter("default", default.map(yes_or_no))
}

pub(in crate::platform) fn sections(site: &SiteId) -> ListIdentity {
    ListIdentity::new(tag::SECTIONS).with_part("site", site)
}

pub(in crate::platform) fn section_groups(site: &SiteId) -> ListIdentity {
    ListIdentity::new(tag::SECTION_GROUPS).with_part("site", site)
}

pub(in crate::platform) fn member_spaces(user: &UserId) -> ListIdentity {
    ListIdentity::new(tag::SPACES_OF_MEMBER).with_part("user", user)
}

/// Spaces or collections in tree order.
pub(in crate::platform) fn tree(wanted: ContentKind, reach: Reach) -> ListIdentity {
    let list = ListIdentity::new(match wanted {
        ContentKind::Spaces => tag::SPACES,
        ContentKind::Collections => tag::COLLECTIONS,
    });
    match reach {
        Reach::Direct => list,
        Reach::Nested => list.with_part("reach", "nested"),
    }
}

pub(in crate::platform) fn members(searched: Option<&str>, order: ListOrder) -> ListIdentity {
    let list = ListIdentity::new(tag::MEMBERS).filter("search", searched);
    match order {
        ListOrder::Asc => list.with_part("order", "ascending"),
        ListOrder::Desc => list.with_part("order", "descending"),
    }
}

pub(in crate::platform) fn members_with_role(target: &PermissionTarget, role: Option<Role>) -> ListIdentity {
    let list = ListIdentity::new(tag::MEMBERS_WITH_ROLE);
    let list = match target {
        PermissionTarget::Collection(id) => list.with_part("collection", id),
        PermissionTarget::Space(id) => list.with_part("space", id),
        PermissionTarget::Site(id) => list.with_part("site", id),
    };
    list.filter("role", role.map(Role::as_str))
}

pub(in crate::platform) fn site_permissions(site: &SiteId, filter: &SitePermissionFilter) -> ListIdentity {
    let list = ListIdentity::new(tag::SITE_PERMISSIONS).with_part("site", site);
    list.filter("role", filter.role.map(MemberRole::as_str))
        .filter("search", filter.search.as_deref())
        .filter("team", &filter.team)
}

pub(in crate::platform) fn audit_log(filter: &AuditFilter) -> ListIdentity {
    ListIdentity::new(tag::AUDIT_LOG)
        .filter("organization", &filter.organization)
        .filter("user", &filter.user)
        .filter("subject", &filter.subject)
        .filter("operation", &filter.operation)
        .filter("since", filter.since.map(|since| since.to_string()))
        .filter("until", filter.until.map(|until| until.to_string()))
}

pub(in crate::platform) fn audit_events(filter: &AuditEventFilter) -> ListIdentity {
    ListIdentity::new(tag::AUDIT_EVENTS)
        .filter("action", &filter.action)
        .filter("actor", &filter.actor)
        .filter("target", &filter.target)
        .filter("since", filter.since.map(|since| since.to_string()))
        .filter("until", filter.until.map(|until| until.to_string()))
}

pub(in crate::platform) fn change_requests(filter: &RequestFilter) -> ListIdentity {
    ListIdentity::new(tag::CHANGE_REQUESTS)
        .filter("status", filter.status.map(|status| status.as_str()))
        .filter("contributor", &filter.contributor)
        .filter("creator", &filter.creator)
        .filter("requested-reviewer", &filter.requested_reviewer)
        .filter("topic", &filter.topic)
        .filter("order", (filter.order != ChangeRequestOrder::CreatedAt).then(|| filter.order.as_str()))
}

pub(in crate::platform) fn import_runs(filter: &ImportRunFilter) -> ListIdentity {
    ListIdentity::new(tag::IMPORT_RUNS)
        .filter("space", &filter.space)
        .filter("change-request", &filter.change_request)
        .filter("site", &filter.site)
        .filter("status", filter.status.map(|status| status.as_str()))
}

pub(in crate::platform) fn org_change_requests(filter: &OrgRequestFilter) -> ListIdentity {
    ListIdentity::new(tag::ORG_CHANGE_REQUESTS)
        .filter("status", filter.statuses.iter().map(|status| status.as_str()))
        .filter("contributor", &filter.contributor)
        .filter("creator", &filter.creator)
        .filter("requested-reviewer", &filter.requested_reviewer)
        .filter("site", &filter.site)
        .filter("space", &filter.space)
        .filter("topic", &filter.topic)
        .filter("order", (filter.order != ChangeRequestOrder::CreatedAt).then(|| filter.order.as_str()))
}

pub(in crate::platform) fn reviews(outdated: Option<bool>) -> ListIdentity {
    ListIdentity::new(tag::REVIEWS).filter("outdated", outdated.map(yes_or_no))
}

/// Comments. The status is part of the key prefix of the rows, so it needs no filter here.
pub(in crate::platform) fn comments(query: &CommentQuery) -> ListIdentity {
    ListIdentity::new(tag::COMMENTS)
        .filter("target-page", &query.target_page)
        .filter("author", &query.authors)
}

pub(in crate::platform) fn links(status: Option<LinkStatus>) -> ListIdentity {
    ListIdentity::new(tag::LINKS).filter("status", status.map(LinkStatus::as_str))
}

pub(in crate::platform) fn page_links(page: &PageId, status: Option<LinkStatus>) -> ListIdentity {
    let list = ListIdentity::new(tag::PAGE_LINKS).with_part("page", page);
    list.filter("status", status.map(LinkStatus::as_str))
}

pub(in crate::platform) fn backlinks(target: &LinkTarget) -> ListIdentity {
    match target {
        LinkTarget::Page(id) => ListIdentity::new(tag::PAGE_BACKLINKS).with_part("page", id),
        LinkTarget::File(id) => ListIdentity::new(tag::FILE_BACKLINKS).with_part("file", id),
        LinkTarget::Reusable(id) => {
            ListIdentity::new(tag::REUSABLE_BACKLINKS).with_part("reusable-content", id)
        }
    }
}

pub(in crate::platform) fn request_links(
    status: Option<LinkStatus>,
    broken: Option<BrokenContext>,
) -> ListIdentity {
    ListIdentity::new(tag::CHANGE_REQUEST_LINKS)
        .filter("status", status.map(LinkStatus::as_str))
        .filter("broken-context", broken.map(BrokenContext::as_str))
}

pub(in crate::platform) fn space_search(space: &SpaceId) -> ListIdentity {
    ListIdentity::new(tag::SEARCH_OF_SPACE).with_part("space", space)
}

pub(in crate::platform) fn org_search(org: &OrgId) -> ListIdentity {
    ListIdentity::new(tag::SEARCH_OF_ORG).with_part("organization", org)
}

pub(in crate::platform) fn site_search(site: &SiteId, spaces: &BTreeSet<SpaceId>) -> ListIdentity {
    ListIdentity::new(tag::SEARCH_OF_SITE).with_part("site", site).filter("space", spaces)
}

const fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::DateTime;

    use super::*;
    use crate::{
        model::{
            ChangeRequestStatus, SiteFindingSeverity, SiteFindingSource, SiteFindingStatus, SiteFindingType,
            SiteType, Timestamp,
        },
        store::CursorFingerprint,
    };

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> T {
        name.parse().expect("an id")
    }

    fn team_filters() -> Vec<ListIdentity> {
        let (owner, title) = (Some("ada".to_owned()), Some("ada".to_owned()));
        vec![
            teams(&TeamFilter::default()),
            teams(&TeamFilter { owner: owner.clone(), title: None }),
            teams(&TeamFilter { owner: None, title: title.clone() }),
            teams(&TeamFilter { owner, title }),
            member_teams(None),
            member_teams(Some("ada")),
        ]
    }

    fn site_filters() -> Vec<ListIdentity> {
        let types = vec![SiteType::Basic, SiteType::LegacyPremium];
        let (site, space) = (id("sites"), id::<SpaceId>("spaces"));
        vec![
            sites(&SiteFilter::default()),
            sites(&SiteFilter { space: Some("a".to_owned()), ..SiteFilter::default() }),
            sites(&SiteFilter { title: Some("a".to_owned()), ..SiteFilter::default() }),
            sites(&SiteFilter { published: Some(true), ..SiteFilter::default() }),
            sites(&SiteFilter { published: Some(false), ..SiteFilter::default() }),
            sites(&SiteFilter { types, ..SiteFilter::default() }),
            site_spaces(&site, None),
            site_spaces(&site, Some(true)),
            site_spaces(&site, Some(false)),
            sections(&site),
            section_groups(&site),
            redirects(&RedirectFilter::default()),
            redirects(&RedirectFilter { search: Some("a".to_owned()), ..RedirectFilter::default() }),
            redirects(&RedirectFilter { draft: true, ..RedirectFilter::default() }),
            share_links(None),
            share_links(Some("a")),
            glossary_terms(&id("organizations"), None),
            glossary_terms(&id("organizations"), Some("de")),
            site_search(&site, &BTreeSet::from([space.clone()])),
            site_search(&site, &BTreeSet::new()),
            space_search(&space),
            org_search(&id("organizations")),
        ]
    }

    fn finding_filters() -> Vec<ListIdentity> {
        let (site, then) = (id("sites"), Some(Timestamp::new(DateTime::UNIX_EPOCH)));
        let name = Some("ada".to_owned());
        let of = |filter: SiteFindingFilter| site_findings(&site, &filter);
        let none = SiteFindingFilter::default;
        vec![
            of(none()),
            of(SiteFindingFilter { status: Some(SiteFindingStatus::Done), ..none() }),
            of(SiteFindingFilter { types: vec![SiteFindingType::Other], ..none() }),
            of(SiteFindingFilter { severity: Some(SiteFindingSeverity::High), ..none() }),
            of(SiteFindingFilter { has_change_requests: Some(true), ..none() }),
            of(SiteFindingFilter { topic: name.clone(), ..none() }),
            of(SiteFindingFilter { question: name, ..none() }),
            of(SiteFindingFilter {
                sources: SiteFindingSource::new("questions").into_iter().collect(),
                ..none()
            }),
            of(SiteFindingFilter { updated_after: then, ..none() }),
            of(SiteFindingFilter { updated_before: then, ..none() }),
            of(SiteFindingFilter { order: SiteFindingOrder::Severity, ..none() }),
            of_site_finding(tag::SITE_FINDING_PAGES, &site, &id("finding")),
        ]
    }

    fn people_filters() -> Vec<ListIdentity> {
        let (user, space) = (id::<UserId>("ada"), PermissionTarget::Space(id("same")));
        let then = Some(Timestamp::new(DateTime::UNIX_EPOCH));
        let (site, role, team) = (id("same"), Some(MemberRole::from(None)), Some("ada".to_owned()));
        let search = Some("ada".parse().expect("a text"));
        vec![
            member_spaces(&user),
            members(None, ListOrder::Asc),
            members(None, ListOrder::Desc),
            members(Some("ada"), ListOrder::Asc),
            members_with_role(&space, None),
            members_with_role(&space, Some(Role::Edit)),
            members_with_role(&PermissionTarget::Collection(id("same")), None),
            members_with_role(&PermissionTarget::Site(id("same")), None),
            site_permissions(&site, &SitePermissionFilter::default()),
            site_permissions(&site, &SitePermissionFilter { role, ..SitePermissionFilter::default() }),
            site_permissions(&site, &SitePermissionFilter { search, ..SitePermissionFilter::default() }),
            site_permissions(&site, &SitePermissionFilter { team, ..SitePermissionFilter::default() }),
            audit_log(&AuditFilter::default()),
            audit_log(&AuditFilter { organization: Some(id("ada")), ..AuditFilter::default() }),
            audit_log(&AuditFilter { user: Some(user), ..AuditFilter::default() }),
            audit_log(&AuditFilter { subject: Some("ada".into()), ..AuditFilter::default() }),
            audit_log(&AuditFilter { operation: Some("ada".to_owned()), ..AuditFilter::default() }),
            audit_log(&AuditFilter { since: then, ..AuditFilter::default() }),
            audit_log(&AuditFilter { until: then, ..AuditFilter::default() }),
        ]
    }

    fn audit_event_filters() -> Vec<ListIdentity> {
        let (name, then) = (Some("ada".to_owned()), Some(Timestamp::new(DateTime::UNIX_EPOCH)));
        vec![
            audit_events(&AuditEventFilter::default()),
            audit_events(&AuditEventFilter { action: name.clone(), ..AuditEventFilter::default() }),
            audit_events(&AuditEventFilter { actor: name.clone(), ..AuditEventFilter::default() }),
            audit_events(&AuditEventFilter { target: name, ..AuditEventFilter::default() }),
            audit_events(&AuditEventFilter { since: then, ..AuditEventFilter::default() }),
            audit_events(&AuditEventFilter { until: then, ..AuditEventFilter::default() }),
        ]
    }

    fn content_filters() -> Vec<ListIdentity> {
        let (name, page) = (Some("ada".to_owned()), id::<PageId>("page"));
        let open = Some(ChangeRequestStatus::Open);
        vec![
            change_requests(&RequestFilter::default()),
            change_requests(&RequestFilter { status: open, ..RequestFilter::default() }),
            change_requests(&RequestFilter { contributor: name.clone(), ..RequestFilter::default() }),
            change_requests(&RequestFilter { creator: name.clone(), ..RequestFilter::default() }),
            change_requests(&RequestFilter { requested_reviewer: name.clone(), ..RequestFilter::default() }),
            change_requests(&RequestFilter { topic: name.clone(), ..RequestFilter::default() }),
            change_requests(&RequestFilter {
                order: ChangeRequestOrder::UpdatedAt,
                ..RequestFilter::default()
            }),
            org_change_requests(&OrgRequestFilter::default()),
            org_change_requests(&OrgRequestFilter { space: name.clone(), ..OrgRequestFilter::default() }),
            org_change_requests(&OrgRequestFilter {
                order: ChangeRequestOrder::UpdatedAt,
                ..OrgRequestFilter::default()
            }),
            import_runs(&ImportRunFilter::default()),
            import_runs(&ImportRunFilter { space: name.clone(), ..ImportRunFilter::default() }),
            reviews(None),
            reviews(Some(true)),
            reviews(Some(false)),
            comments(&CommentQuery::default()),
            comments(&CommentQuery { target_page: name.clone(), ..CommentQuery::default() }),
            comments(&CommentQuery { authors: name.into_iter().collect(), ..CommentQuery::default() }),
            links(None),
            links(Some(LinkStatus::Broken)),
            page_links(&page, None),
            page_links(&page, Some(LinkStatus::InApp)),
            backlinks(&LinkTarget::Page(page)),
            backlinks(&LinkTarget::File(id("page"))),
            request_links(Some(LinkStatus::Broken), None),
            request_links(Some(LinkStatus::Broken), Some(BrokenContext::Space)),
            tree(ContentKind::Spaces, Reach::Direct),
            tree(ContentKind::Spaces, Reach::Nested),
            tree(ContentKind::Collections, Reach::Direct),
        ]
    }

    fn all() -> Vec<ListIdentity> {
        let mut all: Vec<ListIdentity> = tag::ALL.iter().map(|tag| ListIdentity::new(tag)).collect();
        // Lists without filters are identified by their tag alone.
        let bare = [
            team_filters(),
            site_filters(),
            finding_filters(),
            people_filters(),
            audit_event_filters(),
            content_filters(),
        ]
        .concat();
        all.extend(
            bare.into_iter()
                .filter(|identity| !tag::ALL.iter().any(|tag| *identity == ListIdentity::new(tag))),
        );
        all
    }

    #[test]
    fn cursor_fingerprints_are_unique_per_list_and_filter() {
        let all = all();
        let different: BTreeSet<[u8; 8]> =
            all.iter().map(|identity| *identity.fingerprint().as_bytes()).collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn cursor_fingerprints_are_stable() {
        let hex = |fingerprint: CursorFingerprint| data_encoding::HEXLOWER.encode(fingerprint.as_bytes());
        let line = |list: &ListIdentity| format!("{} {}", hex(list.fingerprint()), list.as_str());
        let now: Vec<String> = all().iter().map(line).collect();
        let known: Vec<&str> = include_str!("fingerprints.txt").lines().collect();
        assert_eq!(
            now, known,
            "a tag or a filter is written in another way: clients' cursors would be refused"
        );
    }
}
