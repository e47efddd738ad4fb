//! Printing of blocks as Markdown.

mod blocks;
mod html;
mod indentation;
mod inlines;
mod lists;
mod printer;
mod tables;
mod tagged;

pub(super) use self::{
    blocks::{alone, block_alone, checked, document, is_alike, readable, unchecked},
    inlines::{Labels, Mode, rich, title, write as write_inlines},
    printer::{Printer, Raw},
    tables::{cell, rule},
    tagged::opening,
};
