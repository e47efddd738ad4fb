//! The writer thread. It runs batches one after another, each in one commit.

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
use tantivy::{IndexWriter as EngineWriter, Term};
use tokio::sync::oneshot;

use crate::{
    current::{Current, Generation},
    documents::{note_document, page_document, page_key},
    failure::{Failure, IndexResult},
    folder::{Folder, OpenError, OpenedIndex, payload},
    schema::Fields,
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
    writer: Option<EngineWriter>,
    current: Arc<Current>,
    /// Feed position of the last commit.
    position: Option<FeedPos>,
    folder: Folder,
}

impl WriterThread {
    fn open(folder: Folder) -> Result<Self, OpenError> {
        let OpenedIndex { writer, reader, position } = folder.open_or_rebuild()?;
        let current = Arc::new(Current::new(Generation::new(reader, folder.fields)));
        Ok(Self { writer: Some(writer), current, position, folder })
    }

    fn run(mut self, asked: &Receiver<Task>) {
        // Sending fails if the caller no longer waits for the reply.
        while let Ok(task) = asked.recv() {
            match task {
                Task::Apply { changes, position, answer } => {
                    drop(answer.send(self.apply(&changes, position)));
                }
                Task::Position(answer) => {
                    let position = self.writer().map(drop).map(|()| self.position.clone());
                    drop(answer.send(position));
                }
                Task::Clear(answer) => drop(answer.send(self.clear())),
            }
        }
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.wait_merging_threads()
        {
            tracing::warn!(%error, "failed to merge segments of the search index");
        }
        self.current.get().end();
    }

    /// Returns the writer, which is reopened after a failure. A damaged index has no writer.
    fn writer(&mut self) -> Result<&mut EngineWriter, SearchError> {
        if let Some(damage) = self.current.get().damage() {
            return Err(SearchError::Damaged(damage));
        }
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.reopen()?,
        };
        Ok(self.writer.insert(writer))
    }

    fn reopen(&mut self) -> IndexResult<EngineWriter> {
        let OpenedIndex { writer, reader, position } = self.folder.open()?;
        self.current.replace(Generation::new(reader, self.folder.fields));
        self.position = position;
        Ok(writer)
    }

    /// Applies and commits a batch, or leaves the index unchanged.
    fn apply(&mut self, changes: &[IndexChange], position: Option<FeedPos>) -> Result<(), SearchError> {
        let fields = self.folder.fields;
        let position = position.or_else(|| self.position.clone());
        let writer = self.writer()?;
        let committed = commit_batch(writer, &fields, changes, position.as_ref());
        match committed.and_then(|()| self.current.get().reload()) {
            Ok(()) => {
                self.position = position;
                Ok(())
            }
            Err(failure) => {
                tracing::error!(%failure, "failed to write batch to search index");
                if failure.is_damage() {
                    self.current.get().note_damage(&failure);
                }
                // The state of the writer is unknown, so reopen it from the folder.
                self.writer = None;
                Err(failure.into())
            }
        }
    }

    /// Removes all files and creates an empty index.
    fn clear(&mut self) -> Result<(), SearchError> {
        self.current.get().end();
        self.writer = None;
        let removed = self.folder.remove();
        removed.map_err(|error| SearchError::Unavailable(format!("failed to remove the files: {error}")))?;
        self.writer = Some(self.reopen()?);
        Ok(())
    }
}

fn commit_batch(
    writer: &mut EngineWriter,
    fields: &Fields,
    changes: &[IndexChange],
    position: Option<&FeedPos>,
) -> Result<(), Failure> {
    for change in changes {
        match change {
            IndexChange::PutPage(page) => {
                let key = page_key(&page.space, page.page.as_str());
                writer.delete_term(Term::from_field_text(fields.page, &key));
                writer.add_document(page_document(fields, page))?;
            }
            IndexChange::DropPage(space, page) => {
                let key = page_key(space, page.as_str());
                writer.delete_term(Term::from_field_text(fields.page, &key));
            }
            IndexChange::PutSpace(note) => {
                writer.delete_term(Term::from_field_text(fields.note, note.space.as_str()));
                writer.add_document(note_document(fields, note)?)?;
            }
            IndexChange::DropSpace(space) => {
                writer.delete_term(Term::from_field_text(fields.note, space.as_str()));
                writer.delete_term(Term::from_field_text(fields.space, space.as_str()));
            }
        }
    }
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&payload(position));
    commit.commit()?;
    Ok(())
}
