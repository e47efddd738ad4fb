//! The structure of a site: sections, section groups, and spaces.

mod duplicate;
mod external_links;
mod fill;
pub(super) mod groups;
pub(super) mod mount;
pub(super) mod moves;
pub(super) mod order;
mod part_space;
pub(super) mod paths;
pub(in crate::platform) mod places;
pub(super) mod sections;

pub(in crate::platform) use self::part_space::PartSpace;
