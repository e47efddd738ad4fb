//! The work of translations on texts, apart from requests to the translator.

use tokio::sync::Mutex as AsyncMutex;

use crate::{content::run_in_place, platform::kernel::platform::Platform};

/// Held by the translation that parses or prints a text.
#[derive(Default)]
struct TranslationTurn(AsyncMutex<()>);

impl Platform {
    /// Runs work on a text of a translation, for one translation of the platform at a time, so that several leave
    /// processors to requests. The other tasks of the thread move to another one.
    pub(super) async fn run_translation_work<T>(&self, work: impl FnOnce() -> T) -> T {
        let turn = self.inner.memory.get_or_default::<TranslationTurn>();
        let _turn = turn.0.lock().await;
        run_in_place(work)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        time::Duration,
    };

    use docs_memstore::{MemObjects, MemStore};
    use futures_util::FutureExt as _;

    use super::*;

    fn platform() -> Platform {
        Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_on_texts_leaves_the_thread_to_other_tasks() {
        let platform = platform();
        let work = tokio::spawn(async move {
            let (other, done) = mpsc::channel();
            tokio::spawn(async move { other.send(()) });
            platform.run_translation_work(move || done.recv_timeout(Duration::from_secs(60))).await
        });
        assert!(work.await.expect("no panic").is_ok(), "the other task runs meanwhile");
    }

    #[tokio::test]
    async fn one_translation_at_a_time_works_on_texts() {
        let platform = platform();
        let mut first = Box::pin(async {
            let turn = platform.inner.memory.get_or_default::<TranslationTurn>();
            let _turn = turn.0.lock().await;
            std::future::pending::<()>().await;
        });
        assert!((&mut first).now_or_never().is_none());
        assert!(platform.run_translation_work(|| ()).now_or_never().is_none(), "the first one is working");
        drop(first);
        platform.run_translation_work(|| ()).now_or_never().expect("its turn");
    }
}
