//! All kinds of background jobs.

use crate::platform::{
    content::{comments, openapi_specs},
    exchange::{git, import, pdf, translations},
    host::collect,
    jobs::JobHandler,
    library::{
        collections, follow,
        spaces::{self, operations},
    },
    people::{joining, members, teams, users},
    sites::settings,
};

/// All kinds of jobs.
pub(in crate::platform) const JOB_KINDS: &[JobHandler] = &[
    JobHandler::new::<operations::PurgeSpace>(),
    JobHandler::new::<spaces::MarkTrash>(),
    JobHandler::new::<members::ClearMember>(),
    JobHandler::new::<joining::RedeemInvites>(),
    JobHandler::new::<git::ImportPayload>(),
    JobHandler::new::<git::ExportPayload>(),
    JobHandler::new::<follow::git::SyncRun>(),
    JobHandler::new::<follow::git::RepositoryPoll>(),
    JobHandler::new::<import::ImportRun>(),
    JobHandler::new::<pdf::PdfWork>(),
    JobHandler::new::<openapi_specs::process::ProcessSpec>(),
    JobHandler::new::<openapi_specs::PurgeSpec>(),
    JobHandler::new::<collections::PurgeGrants>(),
    JobHandler::new::<comments::PurgeReplies>(),
    JobHandler::new::<teams::PurgeTeam>(),
    JobHandler::new::<users::update::FollowName>(),
    JobHandler::new::<settings::PurgeSettings>(),
    JobHandler::new::<settings::PurgeRedirects>(),
    JobHandler::new::<collect::CollectObjects>(),
    JobHandler::new::<follow::translations::TranslateSpace>(),
    JobHandler::new::<translations::FollowGlossary>(),
    JobHandler::new::<follow::translations::PurgeTranslation>(),
];
