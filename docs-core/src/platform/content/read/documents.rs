//! Documents: the content of pages and reusable content blocks, addressed by permanent id.
//!
//! A document id is the hash of the text, sealed for its space. All objects of an organization are in one store, so an
//! unsealed hash would give access to other spaces, to nodes of the content map, and to files. Only the platform issues
//! sealed ids, and it returns them only to readers of content with this document. Reading a document by id needs no
//! index of the space, costs one lookup, and covers old revisions, change requests and both sides of a conflict.

use std::sync::Arc;

use docs_macros::boxed;

use super::{ReadableRevision, answer_size::AnswerSize, page_steps::StepMeter, snapshot::ContentSnapshot};
use crate::{
    Error, Result,
    content::{
        Body, ContentError, Evaluated, LinkTarget, Rendering, SharedDocument, Term, Terms,
        document::{fill_empty_blocks, into_reading_view},
        document_allowance,
        expression::Allowance,
        run_in_place,
    },
    model::{Document, PageId, ReusableId, SpaceId, Variables},
    platform::{
        kernel::{
            answer_memory::{AnswerMemory, UnlimitedMemory},
            json_answer::JsonAnswer,
            platform::Platform,
            tenant_queue::WorkPermit,
        },
        nouns::{ContentHandle, SpaceHandle},
        publishing::visitors::ContentReader,
    },
    store::Hash,
};

/// The form of the document of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentOptions {
    /// The evaluation of conditions and expressions. Disabled by default.
    pub evaluated: Evaluated,
    /// `true` replaces the blocks of reusable content by their content.
    pub dereferenced: bool,
}

impl From<Evaluated> for DocumentOptions {
    fn from(evaluated: Evaluated) -> Self {
        Self { evaluated, dereferenced: false }
    }
}

/// A document as seen by one reader.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShownDocument {
    /// The document, shared between readers who see the same content.
    pub document: Arc<Document>,
    /// The id of its text, as in `documentId` of pages. `None` if the document depends on more than the text.
    pub id: Option<String>,
    /// The permission to work with a large document. Hold it until the result is complete, because it bounds the number
    /// of large documents in memory.
    pub permit: Option<Arc<WorkPermit>>,
}

impl<'p> SpaceHandle<'p> {
    /// Reads a document by id: `documentId` of a page or `document` of a reusable content block. The text behind an id
    /// never changes.
    ///
    /// # Errors
    /// `NotFound`, also for the id of a document in another space.
    #[boxed]
    pub async fn get_document(self, id: &'p str) -> Result<Document> {
        Ok(self.document_in_turn(id, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_document`](Self::get_document). Few large responses are in memory at the same time.
    /// Before a large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`, also for the id of a document in another space; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_document_json(self, id: &'p str, memory: &'p dyn AnswerMemory) -> Result<JsonAnswer> {
        let (document, turn) = self.document_in_turn(id, memory).await?;
        JsonAnswer::offload_in_turn(document, turn).await
    }

    async fn document_in_turn(
        self,
        id: &str,
        memory: &dyn AnswerMemory,
    ) -> Result<(Document, Option<WorkPermit>)> {
        let content = self.content().snapshot().await?;
        let (document, turn) = content.document_with(id, &mut document_allowance(), Some(memory)).await?;
        Ok((content.at.answered(document), turn))
    }
}

impl ContentSnapshot {
    /// Reads a document of the space by id, like [`get_document`](SpaceHandle::get_document), but not in the form of
    /// a response. Its conditions are charged to a budget shared by all documents of an answer. For a visitor, they
    /// read the variables of a page of this content.
    ///
    /// # Errors
    /// `NotFound`, also for the id of a document in another space.
    #[boxed('s)]
    pub async fn document<'s>(&'s self, id: &'s str, allowance: &'s mut Allowance) -> Result<Document> {
        self.document_with(id, allowance, None).await.map(|(document, _)| Arc::unwrap_or_clone(document))
    }

    /// Reads a document like [`document`](Self::document). With `memory`, it is for a response: memory is reserved for
    /// a large one.
    async fn document_with(
        &self,
        id: &str,
        allowance: &mut Allowance,
        memory: Option<&dyn AnswerMemory>,
    ) -> Result<(Arc<Document>, Option<WorkPermit>)> {
        let space = self.at.space();
        let (body, expansions) = self.platform.parse_document_id(&space.id, id)?;
        let variables = self.read_variables(&body).await?;
        let content = self.platform.content();
        let text = content.reader_text(&space.domain, &body, expansions, Rendering::Request).await;
        let text = text.map_err(|error| match error {
            ContentError::NotFound(_) => Error::not_found("document"),
            other => other.into(),
        })?;
        let turn = match memory {
            Some(memory) => self.platform.document_turn(&self.at, text.len(), memory).await?,
            None => None,
        };
        let document = self.at.view.document_of(&text).await;
        let document = self.filter.document_within(document, &variables, Evaluated::No, allowance).await?;
        Ok((document, turn))
    }

    /// Returns the variables of the page on which the visitor sees this document. Fails if no visible page or reusable
    /// content block currently has this document, even if the visitor knows its id. Members, and the visitors of
    /// previews, can read every document whose id they know.
    async fn read_variables(&self, body: &Body) -> Result<Variables> {
        if !self.filter.hides() {
            return Ok(Variables::new());
        }
        let tree = self.tree().await?;
        let shown = self.filter.visible_pages(tree).await?;
        let mut seen =
            tree.pages().iter().zip(shown.iter()).filter(|(_, shown)| **shown).map(|(page, _)| page);
        if let Some(page) = seen.find(|page| page.entry.body == *body) {
            return Ok(page.entry.variables.value());
        }
        // A preview also returns the ids of documents in change requests and former revisions.
        if self.at.bearer.user().is_some() {
            return Ok(Variables::new());
        }
        let reusables = self.at.view.reusables(None, usize::MAX).await?;
        for (id, _) in reusables.iter().filter(|(_, entry)| entry.body == *body) {
            if self.filter.sees(LinkTarget::Reusable(id.clone())).await? {
                return Ok(Variables::new());
            }
        }
        Err(Error::not_found("document"))
    }
}

impl<'p> ContentHandle<'p> {
    /// Reads the document of a page.
    ///
    /// # Errors
    /// `NotFound`, also if the page has no content.
    #[boxed]
    pub async fn get_page_document(self, page: &'p PageId, shown: DocumentOptions) -> Result<Document> {
        Ok(self.page_document_in_turn(page, shown, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_page_document`](Self::get_page_document). Few large responses are in memory at the
    /// same time. Before a large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`, also if the page has no content; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_page_document_json(
        self,
        page: &'p PageId,
        shown: DocumentOptions,
        memory: &'p dyn AnswerMemory,
    ) -> Result<JsonAnswer> {
        let (document, turn) = self.page_document_in_turn(page, shown, memory).await?;
        JsonAnswer::offload_in_turn(document, turn).await
    }

    async fn page_document_in_turn(
        self,
        page: &PageId,
        shown: DocumentOptions,
        memory: &dyn AnswerMemory,
    ) -> Result<(Document, Option<Arc<WorkPermit>>)> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let found = platform.page_document_with(&at, page, shown.evaluated, memory).await?;
        let found = found.ok_or_else(|| Error::not_found("document"))?;
        let document = match shown.dereferenced {
            true => {
                let filter = at.content_filter().await?;
                let meter = &mut StepMeter::default();
                at.expand_includes(&filter, found.document, shown.evaluated, meter).await?
            }
            false => found.document,
        };
        Ok((at.answered(document), found.permit))
    }

    /// Reads the document of a page, shared between readers who see the same content. Returns `None` for a page without
    /// content.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn find_page_document(
        self,
        page: &'p PageId,
        evaluated: Evaluated,
    ) -> Result<Option<ShownDocument>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        platform.page_document(&at, page, evaluated).await
    }

    /// Reads the document of a reusable content block.
    ///
    /// # Errors
    /// `NotFound`, also if it has no content.
    #[boxed]
    pub async fn get_reusable_document(
        self,
        reusable: &'p ReusableId,
        evaluated: Evaluated,
    ) -> Result<Document> {
        Ok(self.reusable_document_in_turn(reusable, evaluated, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_reusable_document`](Self::get_reusable_document). Few large responses are in memory at
    /// the same time. Before a large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`, also if it has no content; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_reusable_document_json(
        self,
        reusable: &'p ReusableId,
        evaluated: Evaluated,
        memory: &'p dyn AnswerMemory,
    ) -> Result<JsonAnswer> {
        let (document, turn) = self.reusable_document_in_turn(reusable, evaluated, memory).await?;
        JsonAnswer::offload_in_turn(document, turn).await
    }

    async fn reusable_document_in_turn(
        self,
        reusable: &ReusableId,
        evaluated: Evaluated,
        memory: &dyn AnswerMemory,
    ) -> Result<(Document, Option<WorkPermit>)> {
        let content = self.snapshot().await?;
        let entry = content.at.reusable(&content.filter, reusable).await?;
        let turn = content.platform.body_turn(&content.at, &entry.body, memory).await?;
        let document = content.document_of(&entry, evaluated, &mut document_allowance()).await?;
        Ok((content.at.answered(document), turn))
    }
}

impl ReadableRevision {
    /// Returns the document of a response, in which each list item and hint has a block. Visitors cannot edit it, so
    /// they get its [reading view], without comments, definitions and tags.
    ///
    /// [reading view]: crate::content::document::reading_view
    pub(super) fn answered(&self, document: Arc<Document>) -> Document {
        let is_visitor = matches!(self.reader, ContentReader::Visitor(_));
        run_in_place(|| {
            let mut document = Arc::unwrap_or_clone(document);
            if is_visitor {
                document = into_reading_view(document);
            }
            fill_empty_blocks(&mut document);
            document
        })
    }
}

impl Platform {
    /// Returns the document of a page as its reader sees it, or `None` for a page without content.
    pub(in crate::platform) async fn page_document(
        &self,
        at: &ReadableRevision,
        page: &PageId,
        evaluated: Evaluated,
    ) -> Result<Option<ShownDocument>> {
        self.page_document_with(at, page, evaluated, &UnlimitedMemory).await
    }

    /// Returns the document of a page like [`page_document`](Self::page_document), for a response, for which memory is
    /// reserved if it is large.
    async fn page_document_with(
        &self,
        at: &ReadableRevision,
        page: &PageId,
        evaluated: Evaluated,
        memory: &dyn AnswerMemory,
    ) -> Result<Option<ShownDocument>> {
        let Some(entry) = at.view.page(page).await? else {
            let made = self.generated_document(at, page).await?;
            return Ok(made.map(|made| ShownDocument { document: Arc::new(made), id: None, permit: None }));
        };
        let filter = at.content_filter().await?;
        filter.require(page, &entry).await?;
        if entry.body.is_empty() {
            return Ok(None);
        }
        let permit = self.body_turn(at, &entry.body, memory).await?;
        let document = at.view.reader_document(&entry).await?;
        let id = match document.is_same_for_all() {
            true => self.document_id(&at.space().id, &entry.body, entry.expansions)?,
            false => None,
        };
        let document = filter.document(document, &entry.variables.value(), evaluated).await?;
        Ok(Some(ShownDocument { document, id, permit: permit.map(Arc::new) }))
    }

    /// Waits until a response with the document of a body may be built.
    async fn body_turn(
        &self,
        at: &ReadableRevision,
        body: &Body,
        memory: &dyn AnswerMemory,
    ) -> Result<Option<WorkPermit>> {
        let text = at.view.text(body, Rendering::Request).await?.len();
        self.document_turn(at, text, memory).await
    }

    /// Waits until a response with the document of a text of a number of bytes may be built.
    async fn document_turn(
        &self,
        at: &ReadableRevision,
        text: usize,
        memory: &dyn AnswerMemory,
    ) -> Result<Option<WorkPermit>> {
        self.answer_turn(at.space(), AnswerSize::from_document(text), memory).await
    }

    /// Returns the permanent id of a document, or `None` for an empty body. Documents with equal text and equal results
    /// of directives in the same space have the same id.
    pub(in crate::platform) fn document_id(
        &self,
        space: &SpaceId,
        body: &Body,
        expansions: Option<Hash>,
    ) -> Result<Option<String>> {
        if body.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> =
            body.terms().into_iter().map(|term| term.map_or_else(String::new, |t| t.to_string())).collect();
        let expansions = expansions.map(|hash| format!("{EXPANSIONS}{hash}")).unwrap_or_default();
        self.seal_deterministic(&purpose(space), &(names.join("!") + &expansions)).map(Some)
    }

    /// Parses a document id into its body and the results of its directives.
    fn parse_document_id(&self, space: &SpaceId, id: &str) -> Result<(Body, Option<Hash>)> {
        let missing = || Error::not_found("document");
        let names = self.secrets().open(&purpose(space), id).map_err(|_| missing())?;
        let (names, expansions) = match names.split_once(EXPANSIONS) {
            Some((names, hash)) => (names, Some(hash.parse().map_err(|_| missing())?)),
            None => (names.as_str(), None),
        };
        let terms: Vec<Term> = names
            .split('!')
            .map(|name| (!name.is_empty()).then(|| name.parse::<Hash>()).transpose())
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| missing())?;
        let body = match terms.as_slice() {
            [one] => Body::of(*one),
            _ => Terms::try_from(terms).map(Body::Conflict).map_err(|_| missing())?,
        };
        Ok((body, expansions))
    }
}

impl ReadableRevision {
    /// Returns the document of a body.
    ///
    /// # Errors
    /// `NotFound` for an empty body.
    pub(super) async fn document(&self, body: &Body) -> Result<SharedDocument> {
        if body.is_empty() {
            return Err(Error::not_found("document"));
        }
        Ok(self.view.document(body, Rendering::Request).await?)
    }
}

/// The separator before the hash of expansions in a document id.
const EXPANSIONS: char = '~';

/// The sealing purpose of document ids. It binds an id to its space and distinguishes it from file URLs.
fn purpose(space: &SpaceId) -> String {
    format!("document of {space}")
}
