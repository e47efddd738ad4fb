//! Layout of the layout tree on sheets: [`Setter`].

mod code;
mod contents;
mod figures;
mod flow;
mod footer;
mod headings;
mod inline;
mod layout_area;
mod lists;
mod notes;
mod panels;
mod paragraph;
mod setter;
mod shaper;
mod table;

pub(crate) use contents::Front;
pub(crate) use footer::number_sheets;
pub(crate) use setter::{LinkDestination, Setter};
