//! Intersection of ordered lists by leapfrog join.
//!
//! The rows of each list have keys of the form `prefix!position`. All lists continue at the position of the list that
//! is furthest ahead, so the cost depends on the rarest list and not on the longest.

use std::collections::VecDeque;

use docs_model::ListOrder;

use super::{Key, KeyBuf, Scan, StoreResult, Tx, key};

/// Number of rows read per scan of a list.
const INTERSECTION_CHUNK: u32 = 64;

/// An iterator over the positions that all of several lists contain, in order.
#[derive(Debug)]
pub struct Intersection {
    lists: Vec<BufferedList>,
    rev: bool,
    /// Remaining number of rows that may be read.
    budget: usize,
    /// The furthest position that has been processed.
    passed: Option<String>,
}

/// A list and its buffered rows.
#[derive(Debug)]
struct BufferedList {
    prefix: String,
    from: Key,
    to: Key,
    rows: VecDeque<String>,
    is_read: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntersectionStep {
    /// A position that all lists contain.
    Hit(String),
    /// The row budget is exhausted. To get the remaining hits, resume after this position.
    OutOfBudget(Option<String>),
    /// No more positions.
    End,
}

impl Intersection {
    /// Intersects the lists under `prefixes` in `order`, starting after a position. Reads approximately `budget` rows
    /// at most.
    #[must_use]
    pub fn new(prefixes: &[KeyBuf], order: ListOrder, after: Option<&str>, budget: usize) -> Self {
        let rev = order == ListOrder::Desc;
        let list = |prefix: &KeyBuf| {
            let (mut from, mut to) = prefix.prefix_range();
            let at = after.map(|position| -> Key { format!("{from}{position}").into() });
            let prefix = from.to_string();
            match at {
                Some(at) if rev => to = at,
                Some(at) => from = key::successor(&at),
                None => {}
            }
            BufferedList { prefix, from, to, rows: VecDeque::new(), is_read: false }
        };
        let passed = after.map(str::to_owned);
        Self { lists: prefixes.iter().map(list).collect(), rev, budget, passed }
    }

    /// Returns the next position that all lists contain.
    ///
    /// # Errors
    /// Any error of the store.
    pub async fn next(&mut self, tx: &Tx) -> StoreResult<IntersectionStep> {
        loop {
            match self.fill(tx).await? {
                FillOutcome::Yes => {}
                FillOutcome::OutOfBudget => return Ok(IntersectionStep::OutOfBudget(self.passed.clone())),
                FillOutcome::End => return Ok(IntersectionStep::End),
            }
            let heads = self.lists.iter().filter_map(|list| list.rows.front());
            let furthest = if self.rev { heads.min() } else { heads.max() };
            let Some(furthest) = furthest.cloned() else { return Ok(IntersectionStep::End) };
            if self.lists.iter().all(|list| list.rows.front() == Some(&furthest)) {
                for list in &mut self.lists {
                    list.rows.pop_front();
                }
                self.passed = Some(furthest.clone());
                return Ok(IntersectionStep::Hit(furthest));
            }
            self.seek(&furthest);
        }
    }

    /// Advances every list that is before the given position to that position.
    fn seek(&mut self, to: &str) {
        let (rev, mut passed) = (self.rev, self.passed.take());
        let is_before = |a: &str, b: &str| if rev { a > b } else { a < b };
        for list in &mut self.lists {
            while let Some(row) = list.rows.pop_front_if(|row| is_before(row, to)) {
                if passed.as_ref().is_none_or(|passed| is_before(passed, &row)) {
                    passed = Some(row);
                }
            }
            if list.rows.is_empty() {
                let at = format!("{}{to}", list.prefix);
                if rev {
                    list.to = list.to.clone().min(key::successor(&at));
                } else {
                    list.from = list.from.clone().max(at.into());
                }
            }
        }
        self.passed = passed;
    }

    /// Reads more rows for every list whose buffer is empty.
    async fn fill(&mut self, tx: &Tx) -> StoreResult<FillOutcome> {
        if self.lists.is_empty() || self.lists.iter().any(|list| list.rows.is_empty() && list.is_read) {
            return Ok(FillOutcome::End);
        }
        let mut empty: Vec<&mut BufferedList> =
            self.lists.iter_mut().filter(|list| list.rows.is_empty()).collect();
        if empty.is_empty() {
            return Ok(FillOutcome::Yes);
        }
        if self.budget == 0 {
            return Ok(FillOutcome::OutOfBudget);
        }
        let scan = |list: &&mut BufferedList| Scan {
            from: Key::clone(&list.from),
            to: Key::clone(&list.to),
            rev: self.rev,
            limit: INTERSECTION_CHUNK,
        };
        let scans: Vec<Scan> = empty.iter().map(scan).collect();
        for (list, rows) in empty.iter_mut().zip(tx.scan_many(&scans).await?) {
            self.budget = self.budget.saturating_sub(rows.len());
            list.is_read = rows.len() < INTERSECTION_CHUNK as usize;
            if let Some((last, _)) = rows.last() {
                if self.rev {
                    list.to = Key::clone(last);
                } else {
                    list.from = key::successor(last);
                }
            }
            let start = list.prefix.len();
            list.rows.extend(rows.iter().filter_map(|(row, _)| row.get(start..)).map(str::to_owned));
        }
        let is_over = empty.iter().any(|list| list.rows.is_empty());
        Ok(if is_over { FillOutcome::End } else { FillOutcome::Yes })
    }
}

enum FillOutcome {
    Yes,
    OutOfBudget,
    End,
}
