//! Published sites as people, browsers and machines meet them.

#[path = "site/blocks.rs"]
mod blocks;
#[path = "site/doors.rs"]
mod doors;
#[path = "site/hostile.rs"]
mod hostile;
#[path = "site/leaks.rs"]
mod leaks;
#[path = "site/machines.rs"]
mod machines;
#[path = "site/pages.rs"]
mod pages;
#[path = "site/specs.rs"]
mod specs;
#[path = "site/world.rs"]
mod world;
