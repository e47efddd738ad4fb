//! Parsers for the syntaxes within Markdown: tags, HTML, and character references.
//!
//! | module | content |
//! |---|---|
//! | [`tag`] | `{% name attribute="value" %}` |
//! | [`html`] | HTML elements and comments |
//! | [`entity`] | `&amp;` and other character references |
//! | [`emitter`] | a token emitter for tokenizing HTML as the standard defines |
//!
//! Documents, links, the Git format and conversion only use these parsers, so that text has the same meaning in all of
//! them. Positions are byte offsets into the parsed text. Every parser takes linear time for any input and is not
//! recursive.

pub mod emitter;
pub mod entity;
pub mod html;
pub mod tag;
pub(crate) mod yaml;
