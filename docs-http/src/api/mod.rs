//! Operations of the HTTP API, one file per resource. Each handler calls one platform operation. This module imports
//! the types that most handlers use.

#![expect(clippy::too_many_arguments, reason = "one argument a parameter of the operation")]

mod agent_feedback;
mod audit;
mod caller;
mod change_requests;
mod collections;
mod comments;
mod computed;
mod content;
mod git;
mod git_sync;
mod import_runs;
mod imports;
mod integrations;
mod invites;
mod jobs;
mod links;
mod members;
mod meta_links;
mod openapi_specs;
mod operations;
mod orgs;
mod path;
mod pdf;
mod permissions;
mod platform_info;
mod reviews;
mod revisions;
mod saml;
mod search;
mod site_findings;
mod site_settings;
mod site_structure;
mod sites;
mod spaces;
mod storage;
mod tag;
mod teams;
mod translations;
mod uploads;
mod urls;
mod users;

pub use self::operations::Api;
pub(crate) use self::operations::api;
use self::{
    caller::{AsCaller, Auth, MaybeAuth},
    path::{AuditEventText, Deleted, OrgMember, Path, TeamRole, UserRole},
    tag::ApiTag,
};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    preference::{Preferred, ReturnPreference},
    wire::{
        error::ApiResult,
        params::{PageQuery, Query, RequiredQuery},
        payload::{Optional, Strict},
        reply::{Conditional, Created, Empty, EmptyOk, NoContent, Reply, StartedJob},
    },
};
