//! The list of members: by role, by what is searched for, by the time of joining or of the last visit.

use std::sync::Arc;

use super::super::{Actor, Platform, access};
use crate::{
    BoxFuture, Result,
    model::{ListOrder, Member, MemberRole, MemberSort, OrgId, Text, UserId},
    policy::OrgAction,
    store::{
        Key, KeyBuf, MAX_SCANNED, Meeting, Met, Page, PageRequest, Tx, checked_limit, cursor_fingerprint,
        grams::Wanted, id_of, open_row_cursor, records::MemberRecord, seal_cursor,
    },
};

/// Members that a search compares at once.
const COMPARED: usize = 64;

/// Which members are listed, and in what order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// Only those with this role.
    pub role: Option<MemberRole>,
    /// Only those whose name or e-mail address contains this, whatever the case. One or two characters have to begin
    /// a word of it.
    pub search: Option<Text<0, 512>>,
    /// What they are listed by.
    pub sort: MemberSort,
    /// Which way.
    pub order: ListOrder,
}

impl Platform {
    /// Lists the members of an organization (SPEC 4.10), those who joined last first where nothing else is asked for.
    ///
    /// The first page costs the same whatever the size of the organization. A page may be short, or empty, and have a
    /// `next`: where a search has to compare many members to find few.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests; `Invalid` for a wrong page or limit.
    pub fn list_members<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        filter: &'a MemberFilter,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Member>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
            let walk = Walk::new(org, filter);
            let found = walk.page(&tx, page).await?;
            let items = self.member_views(&tx, &found.items).await?;
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
    rev: bool,
    fingerprint: [u8; 8],
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
        let rev = filter.order == ListOrder::Desc;
        let searched = wanted.as_ref().map_or("", Wanted::as_str);
        let fingerprint = cursor_fingerprint(&[prefixes[0].as_str(), "members", searched], rev);
        let is_whole = wanted.is_none() && filter.sort == MemberSort::JoinedAt;
        // Pieces lie in the order of joining: a list in another order is compared one by one.
        if let (Some(wanted), MemberSort::JoinedAt) = (&wanted, filter.sort) {
            if filter.role.is_none() {
                prefixes.clear();
            }
            prefixes.extend(wanted.grams().iter().map(|gram| MemberRecord::with_gram(org, gram)));
        }
        let count = is_whole.then(|| MemberRecord::count_in(org, filter.role));
        Self { org, prefixes, wanted, rev, fingerprint, count }
    }

    async fn page(&self, tx: &Tx, request: &PageRequest) -> Result<Page<Arc<MemberRecord>>> {
        let limit = checked_limit(request)?;
        let after = request.page.as_ref().map(|page| open_row_cursor(page, self.fingerprint)).transpose()?;
        let mut items: Vec<Arc<MemberRecord>> = Vec::new();
        let mut meeting = Meeting::new(&self.prefixes, self.rev, after.as_deref(), MAX_SCANNED);
        // The last position that was looked at.
        let mut last = after;
        let mut rest = if limit == 0 { Rest::None } else { Rest::Unknown };
        while rest == Rest::Unknown {
            let mut positions = Vec::new();
            // One more than fits tells whether there is a page after this one; of a search, some do not match.
            let wanted = (limit - items.len() + 1).max(self.wanted.as_ref().map_or(0, |_| COMPARED));
            while rest == Rest::Unknown && positions.len() < wanted {
                match meeting.next(tx).await? {
                    Met::At(position) => positions.push(position),
                    Met::Tired(passed) => rest = Rest::Behind(passed),
                    Met::End => rest = Rest::None,
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
