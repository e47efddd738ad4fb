//! The search index in memory runs the conformance suite of search indexes, and so does one that fails when told to.

use docs_memstore::{FaultSearch, MemSearch};

docs_ports::search_suite!(MemSearch::new());

mod that_fails_on_demand {
    use super::{FaultSearch, MemSearch};

    docs_ports::search_suite!(FaultSearch::new(MemSearch::new()));
}
