//! Layout of the content tree on sheets: [`Setter`].

mod code;
mod contents;
mod figures;
mod flow;
mod foot;
mod headings;
mod inline;
mod lists;
mod notes;
mod panels;
mod paragraph;
mod room;
mod setter;
mod shaper;
mod table;

pub(crate) use contents::Front;
pub(crate) use foot::number_sheets;
pub(crate) use setter::{Setter, Target};
