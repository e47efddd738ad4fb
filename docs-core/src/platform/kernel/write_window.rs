//! Time windows for writes that store objects, so that the garbage collector does not delete those objects.

use chrono::TimeDelta;

use crate::{
    Error, Result,
    model::Timestamp,
    platform::kernel::platform::Platform,
    store::{KeyBuf, Tx, Value, records::SpaceRecord},
};

/// Maximum time between the first stored object of a write and its commit.
pub const WRITE_WINDOW: TimeDelta = TimeDelta::hours(24);

/// Maximum time between the first read of a collection and its last removal.
pub const COLLECT_WINDOW: TimeDelta = TimeDelta::hours(24);

/// Maximum clock skew between servers on one store, and maximum duration of a commit.
pub const MAX_CLOCK_SKEW: TimeDelta = TimeDelta::hours(1);

/// Minimum time an object must remain untouched before it is removed.
pub const OBJECT_GRACE_PERIOD: TimeDelta = TimeDelta::hours(72);

/// Retention period of copy notes. It exceeds the duration of any collection that needs them.
pub(in crate::platform) const COPY_NOTE_RETENTION: TimeDelta = TimeDelta::hours(72);

/// Key class of the copy notes.
pub(in crate::platform) const COPY_NOTES: &str = "copied";

const _: () = assert!(
    OBJECT_GRACE_PERIOD.num_seconds()
        > WRITE_WINDOW.num_seconds() + COLLECT_WINDOW.num_seconds() + 2 * MAX_CLOCK_SKEW.num_seconds()
        && COPY_NOTE_RETENTION.num_seconds()
            > COLLECT_WINDOW.num_seconds() + 2 * MAX_CLOCK_SKEW.num_seconds()
);

/// The start of a write that stores objects before they are referenced.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) struct WriteWindow(pub(in crate::platform) Timestamp);

impl WriteWindow {
    /// Creates the window of a write that stores its first object at or after this time.
    pub(in crate::platform) const fn from_start(time: Timestamp) -> Self {
        Self(time)
    }
}

impl Platform {
    /// Starts a write window. Call it before the first object is stored.
    pub(in crate::platform) fn begin_write_window(&self) -> WriteWindow {
        WriteWindow(self.now())
    }

    /// Rejects a write if its objects may be collected before a revision references them. Call it right before the
    /// commit.
    ///
    /// # Errors
    /// `Conflict`.
    pub(in crate::platform) fn check_write_window(&self, since: WriteWindow) -> Result<()> {
        if self.clock().now() - since.0.time() <= WRITE_WINDOW {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "the write exceeded its limit of {} hours; try again",
            WRITE_WINDOW.num_hours()
        )))
    }
}

/// Records that a space was copied, in the transaction of the copy.
pub(in crate::platform) fn note_copy(tx: &mut Tx, copy: &SpaceRecord) {
    let note = KeyBuf::new(COPY_NOTES).part(&copy.domain).time(copy.created_at.time()).part(copy.id.as_str());
    tx.put_value(note.key(), Value::Unit);
}
