//! Printing of blocks as Markdown.

mod blocks;
mod figures;
mod indentation;
mod inlines;
mod lists;
mod printer;
mod tables;
mod tagged;

pub(super) use self::{
    blocks::{block_alone, document, is_alike, parse_detached, print_checked, readable, unchecked},
    inlines::{Labels, Notation, rich, split_outer_marks, title, write as write_inlines},
    printer::{Printer, VerbatimMode},
    tables::{cell, rule},
    tagged::opening,
};
