//! Rendering of conflicting bodies.

/// The rendering of a conflicting body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rendering {
    /// All sides between conflict markers, for editors.
    Markers,
    /// The side of the change request without markers, for readers.
    Request,
}
