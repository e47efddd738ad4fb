//! Rendering of documents from the block tree to HTML. Text of a page is never interpreted as HTML:
//! unsupported content is shown as it was written.

mod api;
mod block;
mod code;
mod counter;
mod drawn;
mod figure;
mod gap;
mod inline;
mod math;
mod plain;
mod position;
mod renderer;
mod table;

use self::position::At;
pub(crate) use self::{
    counter::Counter,
    drawn::{Drawn, Manner},
    plain::outline,
    renderer::Renderer,
};
