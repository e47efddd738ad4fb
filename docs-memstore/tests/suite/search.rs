//! The conformance suite of search indexes, on the in-memory index and on its fault-injecting wrapper.

use docs_memstore::{FaultSearch, MemSearch};

docs_ports::search_suite!(MemSearch::new());

mod that_fails_on_demand {
    use super::{FaultSearch, MemSearch};

    docs_ports::search_suite!(FaultSearch::new(MemSearch::new()));
}
