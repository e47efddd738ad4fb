//! State of the text shaper.

use parley::{FontFamilyName, LayoutContext};

/// Font families in fallback order.
#[derive(Clone, Debug)]
pub(super) struct Families {
    pub(super) text: Vec<FontFamilyName<'static>>,
    pub(super) code: Vec<FontFamilyName<'static>>,
}

/// Index of a style in its chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Brush(pub(super) u32);

pub(super) struct ShaperState {
    pub(super) context: LayoutContext<Brush>,
}

impl ShaperState {
    pub(super) fn new() -> Self {
        Self { context: LayoutContext::new() }
    }
}
