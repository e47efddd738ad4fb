//! Reads of an index, which see one commit.

use docs_model::SpaceId;
use docs_ports::search::{IndexedSpace, PageDocument, PageHit, SearchQuery};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, Term, schema::IndexRecordOption};

use crate::{documents::parse_stored, failure::IndexResult, schema::Fields, select::select};

/// A consistent view of one commit.
pub(crate) struct Snapshot {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
}

impl Snapshot {
    pub(crate) fn find_pages(&self, query: &SearchQuery) -> IndexResult<Vec<PageHit>> {
        let hits = select(&self.searcher, &self.fields, query)?.into_iter().map(|selected| {
            let page: PageDocument = self.stored(selected.at)?;
            Ok(PageHit::new(selected.rank, &query.query, &page))
        });
        hits.collect()
    }

    /// Returns the metadata of spaces, in request order.
    pub(crate) fn indexed(&self, spaces: &[SpaceId]) -> IndexResult<Vec<Option<IndexedSpace>>> {
        let note = |space: &SpaceId| {
            let term = Term::from_field_text(self.fields.note, space.as_str());
            self.with_term(&term)?.first().map(|at| self.stored(*at)).transpose()
        };
        spaces.iter().map(note).collect()
    }

    /// Lists spaces that have metadata, ordered by id.
    pub(crate) fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> IndexResult<Vec<SpaceId>> {
        let mut found = Vec::new();
        for segment in self.searcher.segment_readers() {
            let reader = segment.inverted_index(self.fields.note)?;
            let range = reader.terms().range();
            let range = match after {
                Some(after) => range.gt(after.as_str()),
                None => range,
            };
            let mut stream = range.into_stream()?;
            let mut left = limit;
            while left > 0
                && let Some((id, info)) = stream.next()
            {
                let mut postings = reader.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                while postings.doc() != TERMINATED && segment.is_deleted(postings.doc()) {
                    postings.advance();
                }
                if postings.doc() == TERMINATED {
                    continue;
                }
                found.extend(std::str::from_utf8(id).ok().and_then(|id| id.parse::<SpaceId>().ok()));
                left -= 1;
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the documents of a space, ordered by page id.
    pub(crate) fn documents(&self, space: &SpaceId) -> IndexResult<Vec<PageDocument>> {
        let pages = self.with_term(&Term::from_field_text(self.fields.space, space.as_str()))?;
        let pages = pages.into_iter().map(|at| self.stored(at));
        let mut pages: Vec<PageDocument> = pages.collect::<IndexResult<_>>()?;
        pages.sort_unstable_by(|a, b| a.page.cmp(&b.page));
        Ok(pages)
    }

    /// Returns the documents that contain a term.
    fn with_term(&self, term: &Term) -> IndexResult<Vec<DocAddress>> {
        let mut found = Vec::new();
        for (ord, segment) in (0..).zip(self.searcher.segment_readers()) {
            let reader = segment.inverted_index(term.field())?;
            let Some(mut postings) = reader.read_postings(term, IndexRecordOption::Basic)? else { continue };
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc()) {
                    found.push(DocAddress::new(ord, postings.doc()));
                }
                postings.advance();
            }
        }
        Ok(found)
    }

    fn stored<T: serde::de::DeserializeOwned>(&self, at: DocAddress) -> IndexResult<T> {
        let document: TantivyDocument = self.searcher.doc(at)?;
        parse_stored(&self.fields, &document)
    }
}
