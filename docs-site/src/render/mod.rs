//! Rendering of documents from the block tree to HTML. Text in a page is never interpreted as HTML: unsupported content
//! is shown as written.

#[cfg(test)]
mod allow_list;
mod anchors;
mod api;
mod block;
mod code;
mod counter;
mod figure;
#[cfg(test)]
mod hostile;
mod inline;
mod math;
mod outline;
mod placeholder;
mod plain;
mod position;
mod prerendered;
mod renderer;
mod table;

use self::position::NodePosition;
pub(crate) use self::{
    counter::{Counter, MAX_RESOLVED_BYTES},
    outline::Outline,
    prerendered::{PrerenderedPage, RenderOptions},
    renderer::Renderer,
};
