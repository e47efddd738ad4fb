//! The thread that writes: one batch after the other, each one commit.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
};

use docs_model::feed::FeedPos;
use docs_ports::{SearchError, search::IndexChange};
use parking_lot::Mutex;
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyError, schema::Schema};
use tokio::sync::oneshot;

use crate::{
    OpenError, failed,
    index::{Fields, Note, Opened},
    lookup::Lookup,
};

/// Memory for words on their way to a segment: Tantivy wants at least 15 MB.
const MEMORY: usize = 32 * 1024 * 1024;

type Answer<T> = oneshot::Sender<Result<T, SearchError>>;

/// What the thread does.
pub(crate) enum Task {
    Apply { changes: Vec<IndexChange>, position: Option<FeedPos>, answer: Answer<()> },
    Position(Answer<Option<FeedPos>>),
    Clear(Answer<()>),
}

/// The way to the thread, which ends when this is dropped.
pub(crate) struct Writer {
    tasks: Mutex<Option<Sender<Task>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(opened: Opened) -> Result<(Lookup, Self), OpenError> {
        let Opened { index, fields, note, place } = opened;
        let cannot = |error: TantivyError| match error {
            TantivyError::LockFailure(..) => OpenError::InUse { place: place.clone() },
            other => OpenError::Start(other.to_string()),
        };
        let writer = index.writer_with_num_threads(1, MEMORY).map_err(cannot)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(cannot)?;
        let lookup = Lookup::new(reader, fields.clone());
        let work = Work {
            writer,
            reader: lookup.reader().clone(),
            schema: index.schema(),
            fields,
            position: note.position(),
        };
        let (tasks, asked) = channel();
        let thread = thread::Builder::new()
            .name("search index".to_owned())
            .spawn(move || work.run(&asked))
            .map_err(|error| OpenError::Start(error.to_string()))?;
        Ok((lookup, Self { tasks: Mutex::new(Some(tasks)), thread: Mutex::new(Some(thread)) }))
    }

    /// Has something done after all that was asked for before.
    pub(crate) async fn ask<T>(&self, task: impl FnOnce(Answer<T>) -> Task) -> Result<T, SearchError> {
        let (answer, answered) = oneshot::channel();
        let gone = || SearchError::Unavailable("its thread has ended".to_owned());
        {
            let tasks = self.tasks.lock();
            tasks.as_ref().and_then(|tasks| tasks.send(task(answer)).ok()).ok_or_else(gone)?;
        }
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.tasks.lock().take());
        // Until it has ended, the folder is in use. It has one batch to finish at most.
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the search index panicked");
        }
    }
}

struct Work {
    writer: IndexWriter,
    reader: IndexReader,
    schema: Schema,
    fields: Fields,
    /// That of the last commit.
    position: Option<FeedPos>,
}

impl Work {
    fn run(mut self, asked: &Receiver<Task>) {
        // Whoever asked may have gone meanwhile.
        while let Ok(task) = asked.recv() {
            match task {
                Task::Apply { changes, position, answer } => {
                    let position = position.or_else(|| self.position.clone());
                    drop(answer.send(self.commit(position, |work| work.write(&changes))));
                }
                Task::Position(answer) => drop(answer.send(Ok(self.position.clone()))),
                Task::Clear(answer) => {
                    let cleared = self.commit(None, |work| work.writer.delete_all_documents().map(drop));
                    drop(answer.send(cleared));
                }
            }
        }
    }

    /// Writes and commits, or leaves everything as it was.
    fn commit(
        &mut self,
        position: Option<FeedPos>,
        write: impl FnOnce(&mut Self) -> tantivy::Result<()>,
    ) -> Result<(), SearchError> {
        let done = self.committed(position.as_ref(), write);
        let Err(error) = done else {
            self.position = position;
            return Ok(());
        };
        tracing::error!(%error, "a batch was not written to the search index");
        // What was written of the batch must not come with the next commit.
        if let Err(error) = self.writer.rollback() {
            tracing::error!(%error, "the search index cannot go back to its last commit");
        }
        Err(failed(&error))
    }

    fn committed(
        &mut self,
        position: Option<&FeedPos>,
        write: impl FnOnce(&mut Self) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        write(self)?;
        let note = serde_json::to_string(&Note::at(position))
            .map_err(|error| TantivyError::InvalidArgument(error.to_string()))?;
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&note);
        prepared.commit()?;
        self.reader.reload()
    }

    fn write(&self, changes: &[IndexChange]) -> tantivy::Result<()> {
        for change in changes {
            match change {
                IndexChange::PutPage(page) => {
                    let term = self.fields.page_term(page.space.as_str(), page.page.as_str());
                    self.writer.delete_term(term);
                    self.writer.add_document(self.fields.page_document(&self.schema, page)?)?;
                }
                IndexChange::DropPage(space, page) => {
                    self.writer.delete_term(self.fields.page_term(space.as_str(), page.as_str()));
                }
                IndexChange::PutSpace(space) => {
                    self.writer.delete_term(self.fields.noted_term(space.space.as_str()));
                    self.writer.add_document(self.fields.note_document(space)?)?;
                }
                IndexChange::DropSpace(space) => {
                    self.writer.delete_term(self.fields.space_term(space.as_str()));
                }
            }
        }
        Ok(())
    }
}
