//! The spaces whose index is out of date, in turns of their organizations.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    model::{OrgId, SpaceId},
    store::FeedPos,
};

/// Maximum number of unfinished parts of the feed that are recorded separately.
const MAX_FEED_PARTS: usize = 100;

/// The spaces to index. `W` is the work for a space.
pub(super) struct IndexQueue<W> {
    /// The organizations with spaces to index, in the order of their turns.
    turns: VecDeque<OrgId>,
    orgs: BTreeMap<OrgId, OrgSpaces<W>>,
    /// The parts of the feed with unfinished spaces, the oldest first.
    feed: VecDeque<FeedPart>,
}

/// The spaces of an organization.
struct OrgSpaces<W> {
    /// Spaces whose changes are not determined yet, in the order of their changes.
    waiting: VecDeque<SpaceId>,
    /// The spaces in `waiting`.
    known: BTreeSet<SpaceId>,
    /// The work that has begun or comes next.
    begun: VecDeque<(SpaceId, W)>,
}

/// A part of the feed that was read.
struct FeedPart {
    /// The position of its end.
    end: Option<FeedPos>,
    /// The spaces that are not indexed yet.
    open: BTreeSet<SpaceId>,
}

impl<W> Default for IndexQueue<W> {
    fn default() -> Self {
        Self { turns: VecDeque::new(), orgs: BTreeMap::new(), feed: VecDeque::new() }
    }
}

impl<W> Default for OrgSpaces<W> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), known: BTreeSet::new(), begun: VecDeque::new() }
    }
}

impl<W> IndexQueue<W> {
    pub(super) fn is_empty(&self) -> bool {
        self.orgs.is_empty()
    }

    /// Adds spaces of a part of the feed that ends at a position. A space that waits already keeps its place; one that
    /// has begun is indexed once more afterwards.
    pub(super) fn add(&mut self, spaces: impl IntoIterator<Item = (OrgId, SpaceId)>, end: Option<FeedPos>) {
        let mut open = BTreeSet::new();
        for (org, space) in spaces {
            let own = self.orgs.entry(org.clone()).or_default();
            if own.waiting.is_empty() && own.begun.is_empty() {
                self.turns.push_back(org);
            }
            if own.known.insert(space.clone()) {
                own.waiting.push_back(space.clone());
            }
            open.insert(space);
        }
        let is_full = self.feed.len() >= MAX_FEED_PARTS;
        match self.feed.back_mut().filter(|_| is_full) {
            Some(last) => {
                last.end = end;
                last.open.extend(open);
            }
            None => self.feed.push_back(FeedPart { end, open }),
        }
    }

    /// Returns the organization whose turn is next.
    pub(super) fn next_org(&self) -> Option<&OrgId> {
        self.turns.front()
    }

    /// Removes up to `most` waiting spaces of an organization.
    pub(super) fn take_waiting(&mut self, org: &OrgId, most: usize) -> Vec<SpaceId> {
        let Some(own) = self.orgs.get_mut(org) else { return Vec::new() };
        let taken: Vec<SpaceId> = own.waiting.drain(..most.min(own.waiting.len())).collect();
        for space in &taken {
            own.known.remove(space);
        }
        taken
    }

    /// Adds the work for a space of an organization.
    pub(super) fn begin(&mut self, org: &OrgId, space: SpaceId, work: W) {
        if let Some(own) = self.orgs.get_mut(org) {
            own.begun.push_back((space, work));
        }
    }

    /// Returns the first work of an organization.
    pub(super) fn work(&mut self, org: &OrgId) -> Option<&mut W> {
        self.orgs.get_mut(org)?.begun.front_mut().map(|(_, work)| work)
    }

    /// Removes the first work of an organization. Returns `true` if its space waits again.
    pub(super) fn finish(&mut self, org: &OrgId) -> bool {
        let Some(own) = self.orgs.get_mut(org) else { return false };
        let Some((space, _)) = own.begun.pop_front() else { return false };
        let waits_again = own.known.contains(&space);
        if !waits_again {
            self.close(&space);
        }
        waits_again
    }

    /// Removes a space that no longer exists.
    pub(super) fn remove(&mut self, space: &SpaceId) {
        for own in self.orgs.values_mut() {
            own.begun.retain(|(begun, _)| begun != space);
            if own.known.remove(space) {
                own.waiting.retain(|waiting| waiting != space);
            }
        }
        self.close(space);
    }

    /// Marks a space as indexed.
    pub(super) fn close(&mut self, space: &SpaceId) {
        for part in &mut self.feed {
            part.open.remove(space);
        }
    }

    /// Ends the turn of the organization whose turn is next.
    pub(super) fn end_turn(&mut self) {
        let Some(org) = self.turns.pop_front() else { return };
        match self.orgs.get(&org).is_some_and(|own| !own.waiting.is_empty() || !own.begun.is_empty()) {
            true => self.turns.push_back(org),
            false => drop(self.orgs.remove(&org)),
        }
    }

    /// Removes the oldest parts of the feed that are indexed completely, and returns the end of the last one.
    pub(super) fn take_finished(&mut self) -> Option<Option<FeedPos>> {
        let mut end = None;
        while self.feed.front().is_some_and(|part| part.open.is_empty()) {
            end = self.feed.pop_front().map(|part| part.end);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<T: std::str::FromStr>(name: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        name.parse().expect("an id")
    }

    fn position(name: &str) -> Option<FeedPos> {
        Some(FeedPos(name.into()))
    }

    fn spaces(of: &[(&str, &str)]) -> Vec<(OrgId, SpaceId)> {
        of.iter().map(|(org, space)| (id(org), id(space))).collect()
    }

    /// Indexes a space in each turn, and returns them with the positions that are reached.
    fn run(queue: &mut IndexQueue<()>) -> Vec<(String, Option<FeedPos>)> {
        let mut done = Vec::new();
        while let Some(org) = queue.next_org().cloned() {
            for space in queue.take_waiting(&org, 1) {
                queue.begin(&org, space.clone(), ());
                assert!(queue.work(&org).is_some() && !queue.finish(&org));
                done.push((space.to_string(), queue.take_finished().flatten()));
            }
            queue.end_turn();
        }
        assert!(queue.is_empty());
        done
    }

    #[test]
    fn organizations_take_turns_and_the_position_follows() {
        let mut queue = IndexQueue::default();
        queue.add(spaces(&[("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1")]), position("1"));
        queue.add(spaces(&[("c", "c1"), ("a", "a2")]), position("2"));
        let done = run(&mut queue);
        let order: Vec<&str> = done.iter().map(|(space, _)| space.as_str()).collect();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "a3"]);
        let reached: Vec<&Option<FeedPos>> = done.iter().map(|(_, end)| end).collect();
        assert_eq!(reached, [&None, &None, &None, &None, &position("2")]);
    }

    #[test]
    fn a_space_that_changes_during_its_work_stays_unfinished() {
        let mut queue = IndexQueue::default();
        let (org, space) = (id("a"), id("a1"));
        queue.add(spaces(&[("a", "a1")]), position("1"));
        assert_eq!(queue.take_waiting(&org, 9), [space]);
        queue.begin(&org, id("a1"), ());
        queue.add(spaces(&[("a", "a1")]), position("2"));
        assert!(queue.finish(&org), "it waits again");
        assert_eq!(queue.take_finished(), None);
        queue.end_turn();
        assert_eq!(run(&mut queue), [("a1".to_owned(), position("2"))]);
    }

    #[test]
    fn removed_spaces_are_finished() {
        let mut queue = IndexQueue::default();
        queue.add(spaces(&[("a", "a1"), ("a", "a2")]), position("1"));
        assert_eq!(queue.take_waiting(&id("a"), 1).len(), 1);
        queue.begin(&id("a"), id("a1"), ());
        queue.remove(&id("a1"));
        queue.remove(&id("a2"));
        assert_eq!(queue.take_finished(), Some(position("1")));
        assert!(queue.work(&id("a")).is_none());
        queue.end_turn();
        assert!(queue.is_empty());
    }

    #[test]
    fn the_number_of_recorded_parts_is_bounded() {
        let mut queue = IndexQueue::<()>::default();
        for part in 0..3 * MAX_FEED_PARTS {
            let space = format!("a{part}");
            queue.add(spaces(&[("a", &space)]), position(&part.to_string()));
        }
        assert_eq!(queue.feed.len(), MAX_FEED_PARTS);
        assert_eq!(
            run(&mut queue).last().expect("a space").1,
            position(&(3 * MAX_FEED_PARTS - 1).to_string())
        );
    }
}
