//! Member list with role filter and search, ordered by join time or last visit.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Result,
    model::{BoundedText, ListOrder, Member, MemberRole, MemberSort, OrgId, UserId},
    platform::{
        access,
        nouns::{Members, list_identities},
    },
    policy::OrgAction,
    store::{
        CursorFingerprint, Intersection, Key, KeyBuf, MAX_SCANNED, Page, PageRequest, Tx, checked_limit,
        grams::GramQuery, id_of, intersection, open_row_cursor, records::MemberRecord, seal_cursor,
    },
};

/// Number of members compared per read of a search.
const MEMBER_BATCH: usize = 64;

/// Filter and order for a list of members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// Only members with this role.
    pub role: Option<MemberRole>,
    /// Only members whose name or e-mail address contains this text, ignoring case. A text shorter than three
    /// characters must be the prefix of a word.
    pub search: Option<BoundedText<0, 512>>,
    /// Sort key.
    pub sort: MemberSort,
    /// Sort direction.
    pub order: ListOrder,
}

impl<'p> Members<'p> {
    /// Lists the members of an organization, by default in descending order of join time.
    ///
    /// The cost of the first page does not depend on the size of the organization. If a search finds few matches among
    /// many members, a page may be short or empty and still have a `next` cursor.
    ///
    /// # Errors
    /// `Forbidden` for guests.
    #[boxed]
    pub async fn list(self, filter: &'p MemberFilter, page: &'p PageRequest) -> Result<Page<Member>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
        let walk = MemberList::new(org, filter);
        let found = walk.page(&tx, page).await?;
        let items = platform.member_views(&tx, &found.items).await?;
        let count = match walk.count {
            Some(counter) => u64::try_from(tx.number(&counter).await?).ok(),
            None => None,
        };
        Ok(Page { items, next: found.next, count })
    }
}

/// A filtered list of members.
struct MemberList<'a> {
    org: &'a OrgId,
    /// Key ranges whose intersection is the list.
    prefixes: Vec<KeyBuf>,
    wanted: Option<GramQuery>,
    order: ListOrder,
    fingerprint: CursorFingerprint,
    /// The counter that holds the length of the list.
    count: Option<Key>,
}

impl<'a> MemberList<'a> {
    fn new(org: &'a OrgId, filter: &MemberFilter) -> Self {
        let wanted = filter.search.as_deref().and_then(GramQuery::new);
        let mut prefixes = vec![match (filter.sort, filter.role) {
            (MemberSort::JoinedAt, None) => MemberRecord::by_org(org),
            (MemberSort::JoinedAt, Some(role)) => MemberRecord::by_role(org, role),
            (MemberSort::LastSeenAt, None) => MemberRecord::by_last_visit(org),
            (MemberSort::LastSeenAt, Some(role)) => MemberRecord::by_role_and_visit(org, role),
            (MemberSort::Name, None) => MemberRecord::by_name(org),
            (MemberSort::Name, Some(role)) => MemberRecord::by_role_and_name(org, role),
        }];
        let searched = wanted.as_ref().map(GramQuery::as_str);
        let fingerprint = list_identities::members(searched, filter.order)
            .with_part("rows", prefixes[0].as_str())
            .fingerprint();
        let is_whole = wanted.is_none() && filter.sort != MemberSort::LastSeenAt;
        // Text n-grams are indexed in join order. For any other order, each member is compared.
        if let (Some(wanted), MemberSort::JoinedAt) = (&wanted, filter.sort) {
            if filter.role.is_none() {
                prefixes.clear();
            }
            prefixes.extend(wanted.grams().iter().map(|gram| MemberRecord::by_gram(org, gram)));
        }
        let count = is_whole.then(|| MemberRecord::count_in(org, filter.role));
        Self { org, prefixes, wanted, order: filter.order, fingerprint, count }
    }

    async fn page(&self, tx: &Tx, request: &PageRequest) -> Result<Page<Arc<MemberRecord>>> {
        let limit = checked_limit(request)?;
        let after = request.page.as_ref().map(|page| open_row_cursor(page, self.fingerprint)).transpose()?;
        let mut items: Vec<Arc<MemberRecord>> = Vec::new();
        let mut intersection = Intersection::new(&self.prefixes, self.order, after.as_deref(), MAX_SCANNED);
        // The last examined position.
        let mut last = after;
        let mut rest = if limit == 0 { RemainingRows::None } else { RemainingRows::Unknown };
        while rest == RemainingRows::Unknown {
            let mut positions = Vec::new();
            // One more item than the page holds, to detect a next page. With a search, some rows do not match.
            let wanted = (limit - items.len() + 1).max(self.wanted.as_ref().map_or(0, |_| MEMBER_BATCH));
            while rest == RemainingRows::Unknown && positions.len() < wanted {
                match intersection.next(tx).await? {
                    intersection::IntersectionStep::Hit(position) => positions.push(position),
                    intersection::IntersectionStep::OutOfBudget(passed) => {
                        rest = RemainingRows::After(passed);
                    }
                    intersection::IntersectionStep::End => rest = RemainingRows::None,
                }
            }
            for (position, member) in positions.iter().zip(self.members(tx, &positions).await?) {
                let fits = member.filter(|member| self.wanted.as_ref().is_none_or(|w| member.matches(w)));
                if fits.is_some() && items.len() == limit {
                    rest = RemainingRows::After(last.clone());
                    break;
                }
                items.extend(fits);
                last = Some(position.clone());
            }
        }
        let next = match rest {
            RemainingRows::After(Some(position)) => Some(seal_cursor(&position, self.fingerprint)),
            _ => None,
        };
        Ok(Page { items, next, count: None })
    }

    async fn members(&self, tx: &Tx, positions: &[String]) -> Result<Vec<Option<Arc<MemberRecord>>>> {
        let mut keys = Vec::with_capacity(positions.len());
        for position in positions {
            let user: UserId = id_of(position)?;
            keys.push(MemberRecord::key_for(self.org, &user));
        }
        Ok(tx.get_many(&keys).await?)
    }
}

/// Indicates if more rows follow a page.
#[derive(PartialEq, Eq)]
enum RemainingRows {
    Unknown,
    After(Option<String>),
    None,
}
