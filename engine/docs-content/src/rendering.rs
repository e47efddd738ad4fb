//! Rendering of conflicting bodies.

/// The rendering of a conflicting body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rendering {
    /// With all sides between conflict markers, for editors.
    Markers,
    /// With the side of the change request and no markers, for readers.
    Request,
}
