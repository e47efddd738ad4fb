//! The writer thread. It runs batches one after another, each in one transaction.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use docs_model::feed::FeedPos;
use docs_ports::{SearchError, search::IndexChange};
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::{
    batch,
    failure::{Failure, IndexResult},
    folder::{Folder, OpenError},
    generation::{Current, OpenedIndex},
};

type ReplySender<T> = oneshot::Sender<Result<T, SearchError>>;

/// A task of the writer thread.
pub(crate) enum Task {
    Apply { changes: Vec<IndexChange>, position: Option<FeedPos>, answer: ReplySender<()> },
    Position(ReplySender<Option<FeedPos>>),
    Clear(ReplySender<()>),
}

/// Handle of the writer thread. Dropping it ends the thread.
pub(crate) struct IndexWriter {
    tasks: Mutex<Option<Sender<Task>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl IndexWriter {
    pub(crate) fn start(folder: Folder) -> Result<(Arc<Current>, Self), OpenError> {
        let work = WriterThread::open(folder)?;
        let current = Arc::clone(&work.current);
        let (tasks, asked) = channel();
        let thread = thread::Builder::new()
            .name("search index".to_owned())
            .spawn(move || work.run(&asked))
            .map_err(|error| OpenError::Start(error.to_string()))?;
        Ok((current, Self { tasks: Mutex::new(Some(tasks)), thread: Mutex::new(Some(thread)) }))
    }

    /// Runs a task after all earlier ones.
    pub(crate) async fn ask<T>(&self, task: impl FnOnce(ReplySender<T>) -> Task) -> Result<T, SearchError> {
        let (answer, answered) = oneshot::channel();
        let gone = || SearchError::Unavailable("the writer thread has ended".to_owned());
        {
            let tasks = self.tasks.lock();
            tasks.as_ref().and_then(|tasks| tasks.send(task(answer)).ok()).ok_or_else(gone)?;
        }
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for IndexWriter {
    fn drop(&mut self) {
        drop(self.tasks.lock().take());
        // The folder remains in use until the thread has ended. The thread finishes at most one batch.
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("search index writer thread panicked");
        }
    }
}

struct WriterThread {
    // Closed before the folder is unlocked.
    conn: Option<Connection>,
    current: Arc<Current>,
    /// Feed position of the last commit.
    position: Option<FeedPos>,
    folder: Folder,
}

impl WriterThread {
    fn open(folder: Folder) -> Result<Self, OpenError> {
        let OpenedIndex { conn, generation, position } = folder.open()?;
        Ok(Self { conn: Some(conn), current: Arc::new(Current::new(generation)), position, folder })
    }

    fn run(mut self, asked: &Receiver<Task>) {
        // Sending fails if the caller no longer waits for the reply.
        while let Ok(task) = asked.recv() {
            match task {
                Task::Apply { changes, position, answer } => {
                    drop(answer.send(self.apply(changes, position)));
                }
                Task::Position(answer) => {
                    let position = self.connection().map(drop).map(|()| self.position.clone());
                    drop(answer.send(position));
                }
                Task::Clear(answer) => drop(answer.send(self.clear())),
            }
        }
        // Closing the last connection checkpoints the WAL.
        self.current.get().end();
    }

    /// Returns the connection, which is reopened after a failure. A damaged index has no connection.
    fn connection(&mut self) -> Result<&mut Connection, SearchError> {
        if let Some(damage) = self.current.get().damage() {
            return Err(SearchError::Damaged(damage));
        }
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.reopen()?,
        };
        Ok(self.conn.insert(conn))
    }

    fn reopen(&mut self) -> IndexResult<Connection> {
        let OpenedIndex { conn, generation, position } = OpenedIndex::open(&self.folder.file)?;
        self.current.replace(generation);
        self.position = position;
        Ok(conn)
    }

    /// Applies and commits a batch, or leaves the index unchanged.
    fn apply(&mut self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        let conn = self.connection()?;
        match commit_batch(conn, changes, position.as_ref()) {
            Ok(written) => {
                self.current.get().apply_commit(written.put, &written.gone);
                self.position = position.or_else(|| self.position.take());
                Ok(())
            }
            Err(failure) => {
                tracing::error!(%failure, "failed to write batch to search index");
                if failure.is_damage() {
                    self.current.get().note_damage(&failure);
                }
                // The state of the connection is unknown, so reopen it from the file.
                self.conn = None;
                Err(failure.into())
            }
        }
    }

    /// Rebuilds the file.
    fn clear(&mut self) -> Result<(), SearchError> {
        self.current.get().end();
        self.conn = None;
        let removed = self.folder.file.remove();
        removed.map_err(|error| SearchError::Unavailable(format!("failed to remove the file: {error}")))?;
        self.conn = Some(self.reopen()?);
        Ok(())
    }
}

fn commit_batch(
    conn: &mut Connection,
    changes: Vec<IndexChange>,
    position: Option<&FeedPos>,
) -> Result<batch::ColumnChanges, Failure> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let written = batch::write(&transaction, changes, position)?;
    transaction.commit()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use docs_model::hash::Hash;
    use docs_ports::search::{PageDocument, Query, Scope, SearchQuery, Section};

    use super::*;

    fn put(name: &str, text: &str) -> IndexChange {
        IndexChange::PutPage(Box::new(PageDocument {
            organization: "org".parse().expect("an id"),
            space: "s".parse().expect("an id"),
            page: name.parse().expect("an id"),
            title: "Alpha".to_owned(),
            description: None,
            text: Hash::compute(text.as_bytes()),
            sections: vec![Section { anchor: None, heading: None, text: text.to_owned() }],
        }))
    }

    fn found(work: &WriterThread, text: &str) -> usize {
        let scope = Scope::Organization("org".parse().expect("an id"));
        let query =
            SearchQuery { query: Query::parse(text), scope, after: None, limit: 100, tenant: "org".into() };
        work.current.get().read(|snapshot| snapshot.find_pages(&query)).expect("found").len()
    }

    fn limit(work: &mut WriterThread, pages: i64) {
        let conn = work.connection().expect("a connection");
        conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).expect("it is set");
    }

    #[test]
    fn batch_on_a_full_disk_leaves_the_index_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut work = WriterThread::open(Folder::take(folder.path()).expect("a folder")).expect("an index");
        let at = |n: u64| Some(FeedPos(n.to_string().into()));
        work.apply(vec![put("a", "before")], at(1)).expect("applied");
        limit(&mut work, 40);
        let words = |n: usize| (0..3_000).map(|word| format!("w{n}x{word} ")).collect::<String>();
        let large = || {
            let pages = (0..20).map(|n| put(&format!("p{n}"), &words(n)));
            [put("a", "after")].into_iter().chain(pages).collect()
        };
        let refused = work.apply(large(), at(2));
        assert!(
            matches!(&refused, Err(SearchError::Unavailable(why)) if why.contains("full")),
            "{refused:?}"
        );
        assert_eq!((found(&work, "before"), found(&work, "after"), found(&work, "alpha")), (1, 0, 1));
        work.connection().expect("it is opened again");
        assert_eq!(work.position, at(1));
        // A small batch still fits. The large one fits once the limit is raised.
        limit(&mut work, 40);
        work.apply(vec![put("b", "small")], at(2)).expect("applied");
        limit(&mut work, 100_000);
        work.apply(large(), at(3)).expect("applied");
        assert_eq!((found(&work, "before"), found(&work, "after"), found(&work, "alpha")), (0, 1, 22));
        assert_eq!(work.position, at(3));
    }

    #[test]
    fn open_snapshot_is_isolated_from_later_commits() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut work = WriterThread::open(Folder::take(folder.path()).expect("a folder")).expect("an index");
        work.apply(vec![put("a", "before"), put("b", "before")], None).expect("applied");
        let scope = Scope::Organization("org".parse().expect("an id"));
        let query = SearchQuery {
            query: Query::parse("before"),
            scope,
            after: None,
            limit: 100,
            tenant: "org".into(),
        };
        let before = work.current.get().read(|snapshot| {
            assert_eq!(snapshot.spaces(None, 1)?, Vec::new());
            let space = "s".parse().expect("an id");
            work.apply(vec![IndexChange::DropSpace(space), put("c", "before")], None).expect("applied");
            snapshot.find_pages(&query)
        });
        let names = |hits: Vec<docs_ports::search::PageHit>| {
            let mut names: Vec<_> = hits.into_iter().map(|hit| hit.page.to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(names(before.expect("found")), ["a", "b"]);
        let after = work.current.get().read(|snapshot| snapshot.find_pages(&query));
        assert_eq!(names(after.expect("found")), ["c"]);
    }

    #[test]
    fn search_never_mixes_a_cleared_index_with_the_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut work = WriterThread::open(Folder::take(folder.path()).expect("a folder")).expect("an index");
        work.apply(vec![put("a", "before")], None).expect("applied");
        let old = work.current.get();
        work.clear().expect("cleared");
        work.apply(vec![put("b", "after")], None).expect("applied");
        let read = old.read(|snapshot| snapshot.spaces(None, 1));
        assert!(matches!(read, Err(Failure::Replaced)), "{read:?}");
        assert_eq!((found(&work, "before"), found(&work, "after")), (0, 1));
        work.connection().expect("what happens to the old one is no damage of the new one");
    }
}
