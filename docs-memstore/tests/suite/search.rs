//! The search index in memory runs the conformance suite of search indexes.

use docs_memstore::MemSearch;

docs_ports::search_suite!(MemSearch::new());
