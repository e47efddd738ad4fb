//! The queue for compressing large responses.

use std::sync::LazyLock;

use crate::{
    Result,
    platform::kernel::tenant_queue::{TenantQueue, WorkPermit},
};

/// Maximum number of large responses that a process compresses concurrently.
const MAX_CONCURRENT_COMPRESSIONS: usize = 4;
/// Maximum number of large responses of one owner that are compressed concurrently.
const MAX_OWNER_COMPRESSIONS: usize = 2;

/// The queue is shared by all servers of a process, because they share its blocking threads.
static QUEUE: LazyLock<TenantQueue> =
    LazyLock::new(|| TenantQueue::new(MAX_CONCURRENT_COMPRESSIONS, MAX_OWNER_COMPRESSIONS));

/// Waits for permission to compress a large response. `owner` identifies the organization of the response, or a part of
/// it.
///
/// # Errors
/// Never fails in practice: the queue is never closed.
pub async fn compression_turn(owner: &str) -> Result<WorkPermit> {
    QUEUE.acquire(owner).await
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn compressions_of_one_owner_leave_half_to_others() {
        let mut permits = Vec::new();
        for _ in 0..MAX_OWNER_COMPRESSIONS {
            permits.push(compression_turn("busy").await.expect("a permit"));
        }
        let mut waiting = pin!(compression_turn("busy"));
        assert!(poll!(&mut waiting).is_pending());
        compression_turn("other").await.expect("a permit");
        permits.pop();
        waiting.await.expect("a permit");
    }
}
