//! The small syntaxes within Markdown, one reader each: tags, HTML, and character references.
//!
//! | module | what it reads |
//! |---|---|
//! | [`tag`] | `{% name attribute="value" %}` |
//! | [`html`] | elements and comments of HTML |
//! | [`entity`] | `&amp;` and the other names of characters |
//! | [`emitter`] | nothing itself: what tokens are made of HTML as the standard says |
//!
//! Documents, links, the Git format and conversion read with these and with nothing else, so that a text means the same
//! to all of them. Places are bytes of the text that was read. Work grows with the bytes of a text and no faster,
//! whatever it holds, and nothing recurses.

pub mod emitter;
pub mod entity;
pub mod html;
pub mod tag;
