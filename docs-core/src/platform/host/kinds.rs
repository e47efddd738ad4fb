//! All kinds of background jobs.

use crate::platform::{
    content::{comments, openapi_specs},
    exchange::{git, import, pdf, translations},
    host::collect,
    jobs::Kind,
    library::{
        collections, follow,
        spaces::{self, operations},
    },
    people::{joining, members, teams},
    sites::settings,
};

/// All kinds of jobs.
pub(in crate::platform) const JOB_KINDS: &[Kind] = &[
    Kind::of::<operations::PurgeSpace>(),
    Kind::of::<spaces::MarkTrash>(),
    Kind::of::<members::ClearMember>(),
    Kind::of::<joining::RedeemInvites>(),
    Kind::of::<git::ImportPayload>(),
    Kind::of::<git::ExportPayload>(),
    Kind::of::<follow::git::SyncRun>(),
    Kind::of::<follow::git::RepositoryLook>(),
    Kind::of::<import::ImportRun>(),
    Kind::of::<pdf::PdfWork>(),
    Kind::of::<openapi_specs::process::ProcessSpec>(),
    Kind::of::<openapi_specs::PurgeSpec>(),
    Kind::of::<collections::PurgeGrants>(),
    Kind::of::<comments::PurgeReplies>(),
    Kind::of::<teams::PurgeTeam>(),
    Kind::of::<settings::PurgeSettings>(),
    Kind::of::<settings::PurgeRedirects>(),
    Kind::of::<collect::CollectObjects>(),
    Kind::of::<follow::translations::TranslateSpace>(),
    Kind::of::<translations::FollowGlossary>(),
    Kind::of::<follow::translations::PurgeTranslation>(),
];
