//! Intersection of ordered lists, by leapfrog.
//!
//! The rows of each list lie below a prefix and go on alike: `prefix!position`. Whatever list stands furthest ahead
//! says where all others have to go on, so the cost is that of the rarest list, not that of the longest.

use std::collections::VecDeque;

use docs_model::ListOrder;

use super::{Key, KeyBuf, Scan, StoreResult, Tx, key};

/// Rows that are read of a list at once.
const INTERSECTION_CHUNK: u32 = 64;

/// The positions that are in all of several lists, in order.
#[derive(Debug)]
pub struct Intersection {
    lists: Vec<List>,
    rev: bool,
    /// Rows that may still be read.
    budget: usize,
    /// The furthest position that is decided.
    passed: Option<String>,
}

/// One of the lists, with the rows of it that are at hand.
#[derive(Debug)]
struct List {
    prefix: String,
    from: Key,
    to: Key,
    rows: VecDeque<String>,
    is_read: bool,
}

/// One step of an intersection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A position that all lists have.
    Hit(String),
    /// As many rows were read as the budget has; going on behind this position finds the rest.
    OutOfBudget(Option<String>),
    /// There is no more.
    End,
}

impl Intersection {
    /// A walk in an order over what the lists below these prefixes have in common, strictly after a position, that
    /// reads no more than about so many rows.
    #[must_use]
    pub fn new(prefixes: &[KeyBuf], order: ListOrder, after: Option<&str>, budget: usize) -> Self {
        let rev = order == ListOrder::Desc;
        let list = |prefix: &KeyBuf| {
            let (mut from, mut to) = prefix.below();
            let at = after.map(|position| -> Key { format!("{from}{position}").into() });
            let prefix = from.to_string();
            match at {
                Some(at) if rev => to = at,
                Some(at) => from = key::after(&at),
                None => {}
            }
            List { prefix, from, to, rows: VecDeque::new(), is_read: false }
        };
        let passed = after.map(str::to_owned);
        Self { lists: prefixes.iter().map(list).collect(), rev, budget, passed }
    }

    /// The next position that all lists have.
    ///
    /// # Errors
    /// The store's.
    pub async fn next(&mut self, tx: &Tx) -> StoreResult<Step> {
        loop {
            match self.fill(tx).await? {
                Filled::Yes => {}
                Filled::OutOfBudget => return Ok(Step::OutOfBudget(self.passed.clone())),
                Filled::End => return Ok(Step::End),
            }
            let heads = self.lists.iter().filter_map(|list| list.rows.front());
            let furthest = if self.rev { heads.min() } else { heads.max() };
            let Some(furthest) = furthest.cloned() else { return Ok(Step::End) };
            if self.lists.iter().all(|list| list.rows.front() == Some(&furthest)) {
                for list in &mut self.lists {
                    list.rows.pop_front();
                }
                self.passed = Some(furthest.clone());
                return Ok(Step::Hit(furthest));
            }
            self.leap(&furthest);
        }
    }

    /// Lets every list that is behind a position go on there.
    fn leap(&mut self, to: &str) {
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
                    list.to = list.to.clone().min(key::after(&at));
                } else {
                    list.from = list.from.clone().max(at.into());
                }
            }
        }
        self.passed = passed;
    }

    /// Reads on in every list of which nothing is at hand.
    async fn fill(&mut self, tx: &Tx) -> StoreResult<Filled> {
        if self.lists.is_empty() || self.lists.iter().any(|list| list.rows.is_empty() && list.is_read) {
            return Ok(Filled::End);
        }
        let mut empty: Vec<&mut List> = self.lists.iter_mut().filter(|list| list.rows.is_empty()).collect();
        if empty.is_empty() {
            return Ok(Filled::Yes);
        }
        if self.budget == 0 {
            return Ok(Filled::OutOfBudget);
        }
        let scan = |list: &&mut List| Scan {
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
                    list.from = key::after(last);
                }
            }
            let start = list.prefix.len();
            list.rows.extend(rows.iter().filter_map(|(row, _)| row.get(start..)).map(str::to_owned));
        }
        let is_over = empty.iter().any(|list| list.rows.is_empty());
        Ok(if is_over { Filled::End } else { Filled::Yes })
    }
}

enum Filled {
    Yes,
    OutOfBudget,
    End,
}
