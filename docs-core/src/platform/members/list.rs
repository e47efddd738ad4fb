//! The list of members: by role, by what is searched for, by the time of joining or of the last visit.

use std::sync::Arc;

use super::super::access;
use crate::{
    BoxFuture, Result,
    model::{BoundedText, ListOrder, Member, MemberRole, MemberSort, OrgId, UserId},
    platform::{list_identities, nouns::Members},
    policy::OrgAction,
    store::{
        CursorFingerprint, Intersection, Key, KeyBuf, MAX_SCANNED, Page, PageRequest, Tx, checked_limit,
        grams::Wanted, id_of, intersection, open_row_cursor, records::MemberRecord, seal_cursor,
    },
};

/// Members that a search compares at once.
const MEMBERS_AT_ONCE: usize = 64;

/// Which members are listed, and in what order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// Only those with this role.
    pub role: Option<MemberRole>,
    /// Only those whose name or e-mail address contains this, whatever the case. One or two characters have to begin
    /// a word of it.
    pub search: Option<BoundedText<0, 512>>,
    /// What they are listed by.
    pub sort: MemberSort,
    /// Which way.
    pub order: ListOrder,
}

impl<'p> Members<'p> {
    /// Lists the members of an organization, those who joined last first where nothing else is asked for.
    ///
    /// The first page costs the same whatever the size of the organization. A page may be short, or empty, and have a
    /// `next`: where a search has to compare many members to find few.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{OrgId, Role};
    /// # use docs_core::platform::{Caller, MemberFilter};
    /// # use docs_core::store::PageRequest;
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let admins = MemberFilter { role: Some(Role::Admin.into()), ..Default::default() };
    /// for member in me.org(org).members().list(&admins, &PageRequest::default()).await?.items {
    ///     println!("{}", member.user.display_name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(
        self,
        filter: &'p MemberFilter,
        page: &'p PageRequest,
    ) -> BoxFuture<'p, Result<Page<Member>>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
            let walk = Walk::new(org, filter);
            let found = walk.page(&tx, page).await?;
            let items = platform.member_views(&tx, &found.items).await?;
            let count = match walk.count {
                Some(counter) => u64::try_from(tx.number(&counter).await?).ok(),
                None => None,
            };
            Ok(Page { items, next: found.next, count })
        })
    }
}

/// A list of members under a filter.
struct Walk<'a> {
    org: &'a OrgId,
    /// Who is in all of these may be in the list.
    prefixes: Vec<KeyBuf>,
    wanted: Option<Wanted>,
    order: ListOrder,
    fingerprint: CursorFingerprint,
    /// The counter that says how long the list is.
    count: Option<Key>,
}

impl<'a> Walk<'a> {
    fn new(org: &'a OrgId, filter: &MemberFilter) -> Self {
        let wanted = filter.search.as_deref().and_then(Wanted::new);
        let mut prefixes = vec![match (filter.sort, filter.role) {
            (MemberSort::JoinedAt, None) => MemberRecord::of_org(org),
            (MemberSort::JoinedAt, Some(role)) => MemberRecord::in_role(org, role),
            (MemberSort::LastSeenAt, None) => MemberRecord::seen(org),
            (MemberSort::LastSeenAt, Some(role)) => MemberRecord::seen_in_role(org, role),
        }];
        let searched = wanted.as_ref().map(Wanted::as_str);
        let fingerprint =
            list_identities::members(searched, filter.order).with("rows", prefixes[0].as_str()).fingerprint();
        let is_whole = wanted.is_none() && filter.sort == MemberSort::JoinedAt;
        // Pieces lie in the order of joining: a list in another order is compared one by one.
        if let (Some(wanted), MemberSort::JoinedAt) = (&wanted, filter.sort) {
            if filter.role.is_none() {
                prefixes.clear();
            }
            prefixes.extend(wanted.grams().iter().map(|gram| MemberRecord::with_gram(org, gram)));
        }
        let count = is_whole.then(|| MemberRecord::count_in(org, filter.role));
        Self { org, prefixes, wanted, order: filter.order, fingerprint, count }
    }

    async fn page(&self, tx: &Tx, request: &PageRequest) -> Result<Page<Arc<MemberRecord>>> {
        let limit = checked_limit(request)?;
        let after = request.page.as_ref().map(|page| open_row_cursor(page, self.fingerprint)).transpose()?;
        let mut items: Vec<Arc<MemberRecord>> = Vec::new();
        let mut intersection = Intersection::new(&self.prefixes, self.order, after.as_deref(), MAX_SCANNED);
        // The last position that was looked at.
        let mut last = after;
        let mut rest = if limit == 0 { Rest::None } else { Rest::Unknown };
        while rest == Rest::Unknown {
            let mut positions = Vec::new();
            // One more than fits tells whether there is a page after this one; of a search, some do not match.
            let wanted = (limit - items.len() + 1).max(self.wanted.as_ref().map_or(0, |_| MEMBERS_AT_ONCE));
            while rest == Rest::Unknown && positions.len() < wanted {
                match intersection.next(tx).await? {
                    intersection::Step::Hit(position) => positions.push(position),
                    intersection::Step::OutOfBudget(passed) => rest = Rest::Behind(passed),
                    intersection::Step::End => rest = Rest::None,
                }
            }
            for (position, member) in positions.iter().zip(self.members(tx, &positions).await?) {
                let fits = member.filter(|member| self.wanted.as_ref().is_none_or(|w| member.matches(w)));
                if fits.is_some() && items.len() == limit {
                    rest = Rest::Behind(last.clone());
                    break;
                }
                items.extend(fits);
                last = Some(position.clone());
            }
        }
        let next = match rest {
            Rest::Behind(Some(position)) => Some(seal_cursor(&position, self.fingerprint)),
            _ => None,
        };
        Ok(Page { items, next, count: None })
    }

    async fn members(&self, tx: &Tx, positions: &[String]) -> Result<Vec<Option<Arc<MemberRecord>>>> {
        let mut keys = Vec::with_capacity(positions.len());
        for position in positions {
            let user: UserId = id_of(position)?;
            keys.push(MemberRecord::at(self.org, &user));
        }
        Ok(tx.get_many(&keys).await?)
    }
}

/// What is known of what comes after a page.
#[derive(PartialEq, Eq)]
enum Rest {
    Unknown,
    Behind(Option<String>),
    None,
}
