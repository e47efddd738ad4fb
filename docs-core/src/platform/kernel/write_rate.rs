//! Rates of writes that anyone can cause, limited per key in the memory of one server.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};

/// The length of a window.
const RATE_WINDOW: TimeDelta = TimeDelta::minutes(1);
/// Number of windows above which expired windows without omitted writes are dropped.
const MAX_WINDOWS: usize = 1_000;

/// The permitted and omitted writes of the current minute, by key.
#[derive(Debug)]
pub(in crate::platform) struct WriteRate<K>(Mutex<HashMap<K, Window>>);

impl<K> Default for WriteRate<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    until: DateTime<Utc>,
    permitted: u32,
    /// Writes omitted since the last permitted one.
    omitted: u64,
}

impl Window {
    fn is_open(&self, now: DateTime<Utc>) -> bool {
        // A window that ends in the far future was opened before the clock was set back.
        now < self.until && self.until - now <= RATE_WINDOW
    }
}

impl<K: Hash + Eq + Clone> WriteRate<K> {
    /// Returns the number of writes omitted before this one, or `None` if this one is to be omitted as well, because
    /// `most` writes were permitted in this window.
    pub(in crate::platform) fn admit(&self, key: &K, most: u32, now: DateTime<Utc>) -> Option<u64> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_WINDOWS {
            windows.retain(|_, window| window.is_open(now) || window.omitted > 0);
        }
        let window = windows.entry(key.clone()).or_default();
        if !window.is_open(now) {
            *window = Window { until: now + RATE_WINDOW, permitted: 0, ..*window };
        }
        if window.permitted >= most {
            window.omitted += 1;
            return None;
        }
        window.permitted += 1;
        Some(std::mem::take(&mut window.omitted))
    }
}
