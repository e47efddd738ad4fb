//! Tests of published sites as accessed by users, browsers and machines.

#[path = "site/accessible.rs"]
mod accessible;
#[path = "site/agents.rs"]
mod agents;
#[path = "site/blocks.rs"]
mod blocks;
#[path = "site/browser.rs"]
mod browser;
#[path = "site/chromium.rs"]
mod chromium;
#[path = "site/comparisons.rs"]
mod comparisons;
#[path = "site/condition_budgets.rs"]
mod condition_budgets;
#[path = "site/details.rs"]
mod details;
#[path = "site/doors.rs"]
mod doors;
#[path = "site/drawn.rs"]
mod drawn;
#[path = "site/exports.rs"]
mod exports;
#[path = "site/hidden.rs"]
mod hidden;
#[path = "site/hostile.rs"]
mod hostile;
#[path = "site/large.rs"]
mod large;
#[path = "site/layout.rs"]
mod layout;
#[path = "site/leaks.rs"]
mod leaks;
#[path = "site/log.rs"]
mod log;
#[path = "site/machines.rs"]
mod machines;
#[path = "site/markup.rs"]
mod markup;
#[path = "site/moments.rs"]
mod moments;
#[path = "site/other_spaces.rs"]
mod other_spaces;
#[path = "site/page_files.rs"]
mod page_files;
#[path = "site/pages.rs"]
mod pages;
#[path = "site/payloads.rs"]
mod payloads;
#[path = "site/previews.rs"]
mod previews;
#[path = "site/redirects.rs"]
mod redirects;
#[path = "site/settings.rs"]
mod settings;
#[path = "site/site_previews.rs"]
mod site_previews;
#[path = "site/spec_fields.rs"]
mod spec_fields;
#[path = "site/spec_operations.rs"]
mod spec_operations;
#[path = "site/specs.rs"]
mod specs;
#[path = "site/table.rs"]
mod table;
#[path = "site/world.rs"]
mod world;
