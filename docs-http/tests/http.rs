//! Tests of the HTTP layer, with a small API over model types and with the platform's API.

#[path = "http/accounts.rs"]
mod accounts;
#[path = "http/addresses.rs"]
mod addresses;
#[path = "http/agent_feedback.rs"]
mod agent_feedback;
#[path = "http/audit.rs"]
mod audit;
#[path = "http/body_limits.rs"]
mod body_limits;
#[path = "http/bounds.rs"]
mod bounds;
#[path = "http/bulk_redirects.rs"]
mod bulk_redirects;
#[path = "http/change_requests.rs"]
mod change_requests;
#[path = "http/client_operations.rs"]
mod client_operations;
#[path = "http/clients.rs"]
mod clients;
#[path = "http/collections.rs"]
mod collections;
#[path = "http/comments.rs"]
mod comments;
#[path = "http/conditions.rs"]
mod conditions;
#[path = "http/content_by_url.rs"]
mod content_by_url;
#[path = "http/contract.rs"]
mod contract;
#[path = "http/cors.rs"]
mod cors;
#[path = "http/counts.rs"]
mod counts;
#[path = "http/document.rs"]
mod document;
#[path = "http/edits.rs"]
mod edits;
#[path = "http/encoding.rs"]
mod encoding;
#[path = "http/errors.rs"]
mod errors;
#[path = "http/examples.rs"]
mod examples;
#[path = "http/external_links.rs"]
mod external_links;
#[path = "http/file_types.rs"]
mod file_types;
#[path = "http/files.rs"]
mod files;
#[path = "http/files_origin.rs"]
mod files_origin;
#[path = "http/fixtures.rs"]
mod fixtures;
#[path = "http/flags.rs"]
mod flags;
#[path = "http/front_ends.rs"]
mod front_ends;
#[path = "http/git.rs"]
mod git;
#[path = "http/git_fields.rs"]
mod git_fields;
#[path = "http/git_sync.rs"]
mod git_sync;
#[path = "http/history.rs"]
mod history;
#[path = "http/hosts.rs"]
mod hosts;
#[path = "http/idempotency.rs"]
mod idempotency;
#[path = "http/ignored.rs"]
mod ignored;
#[path = "http/import_runs.rs"]
mod import_runs;
#[path = "http/imports.rs"]
mod imports;
#[path = "http/jobs.rs"]
mod jobs;
#[path = "http/kept.rs"]
mod kept;
#[path = "http/limits.rs"]
mod limits;
#[path = "http/links.rs"]
mod links;
#[path = "http/lint.rs"]
mod lint;
#[path = "http/list_limits.rs"]
mod list_limits;
#[path = "http/lists.rs"]
mod lists;
#[path = "http/matrix.rs"]
mod matrix;
#[path = "http/meta.rs"]
mod meta;
#[path = "http/meta_links.rs"]
mod meta_links;
#[path = "http/metrics.rs"]
mod metrics;
#[path = "http/newer_documents.rs"]
mod newer_documents;
#[path = "http/nulls.rs"]
mod nulls;
#[path = "http/openapi_specs.rs"]
mod openapi_specs;
#[path = "http/pdf.rs"]
mod pdf;
#[path = "http/people.rs"]
mod people;
#[path = "http/platform.rs"]
mod platform;
#[path = "http/prepared.rs"]
mod prepared;
#[path = "http/previews.rs"]
mod previews;
#[path = "http/published_clients.rs"]
mod published_clients;
#[path = "http/rate.rs"]
mod rate;
#[path = "http/readiness.rs"]
mod readiness;
#[path = "http/references.rs"]
mod references;
#[path = "http/refusals.rs"]
mod refusals;
#[path = "http/response_memory.rs"]
mod response_memory;
#[path = "http/revisions.rs"]
mod revisions;
#[path = "http/rewind.rs"]
mod rewind;
#[path = "http/round_trips.rs"]
mod round_trips;
#[path = "http/saml_pages.rs"]
mod saml_pages;
#[path = "http/saml_refused.rs"]
mod saml_refused;
#[path = "http/schema_refusals.rs"]
mod schema_refusals;
#[path = "http/search.rs"]
mod search;
#[path = "http/server.rs"]
mod server;
#[path = "http/sign_in.rs"]
mod sign_in;
#[path = "http/site_findings.rs"]
mod site_findings;
#[path = "http/site_forms.rs"]
mod site_forms;
#[path = "http/site_settings.rs"]
mod site_settings;
#[path = "http/site_space_copies.rs"]
mod site_space_copies;
#[path = "http/site_templates.rs"]
mod site_templates;
#[path = "http/slow_bodies.rs"]
mod slow_bodies;
#[path = "http/states.rs"]
mod states;
#[path = "http/storage_uploads.rs"]
mod storage_uploads;
#[path = "http/story.rs"]
mod story;
#[path = "http/structure.rs"]
mod structure;
#[path = "http/teams.rs"]
mod teams;
#[path = "http/toy.rs"]
mod toy;
#[path = "http/translations.rs"]
mod translations;
#[path = "http/tricks.rs"]
mod tricks;
#[path = "http/uploads.rs"]
mod uploads;
#[path = "http/visitors.rs"]
mod visitors;
#[path = "http/writes.rs"]
mod writes;
