//! The audit log in the form of events: one actor, one action and one target.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::{
        AuditEvent, AuditEventAction, AuditEventActionObject, AuditEventActions, AuditEventActor,
        AuditEventActorType, AuditEventDetails, AuditEventObject, AuditEventPayload, AuditEventSource,
        AuditEventTarget, AuditEventUrls, AuditId, OrgId, id_text, id_uuid,
    },
    platform::{
        access,
        host::audit::entries,
        kernel::platform::Platform,
        nouns::{
            OrgHandle,
            filters::{AuditEventFilter, AuditFilter},
            list_identities,
        },
    },
    policy::OrgAction,
    store::{Key, Page, PageRequest, Tx, key, records::AuditRecord},
};

/// The id of the platform as an actor.
const PLATFORM: &str = "platform";
/// The version of the schema of [`AuditEventPayload`].
const PAYLOAD_VERSION: u32 = 1;

/// The names of the types of targets, by record kind.
const TARGETS: &[(&str, &str)] = &[
    ("adap", "adaptive_schema"),
    ("afb", "agent_feedback"),
    ("aud", "audit_event"),
    ("cmr", "comment_reply"),
    ("cmt", "comment"),
    ("col", "collection"),
    ("crq", "change_request"),
    ("cust", "site_customization"),
    ("gls", "glossary"),
    ("grt", "permission"),
    ("idm", "idempotent_request"),
    ("ive", "invite"),
    ("ivl", "link_invite"),
    ("job", "job"),
    ("mem", "member"),
    ("oas", "openapi_spec"),
    ("oav", "openapi_spec_version"),
    ("org", "organization"),
    ("rev", "revision"),
    ("rqr", "reviewer"),
    ("rvw", "review"),
    ("sauth", "publishing_auth"),
    ("sec", "site_section"),
    ("sfd", "site_findings"),
    ("sgr", "site_section_group"),
    ("shl", "share_link"),
    ("site", "site"),
    ("slk", "site_external_link"),
    ("sma", "saml_assertion"),
    ("sml", "saml_provider"),
    ("smr", "saml_login"),
    ("spc", "space"),
    ("srd", "redirect"),
    ("ssp", "site_space"),
    ("tea", "team"),
    ("tmm", "team_member"),
    ("tok", "token"),
    ("trm", "translation_memory"),
    ("trn", "translation"),
    ("upl", "upload"),
    ("usr", "user"),
];

/// The operations that the audit log records, with a description for people.
const ACTIONS: &[(&str, &str)] = &[
    ("adaptive_schema_set", "Set the visitor schema of a site"),
    ("change_request_create", "Create a change request"),
    ("change_request_edit", "Edit the content of a change request"),
    ("change_request_merge", "Merge a change request"),
    ("change_request_pull", "Update a change request from its space"),
    ("change_request_update", "Change a change request"),
    ("collection_create", "Create a collection"),
    ("collection_delete", "Delete a collection"),
    ("collection_update", "Change a collection"),
    ("comment_delete", "Delete a comment"),
    ("comment_post", "Post a comment"),
    ("comment_replies_purge", "Remove the replies of a deleted comment"),
    ("comment_reply_delete", "Delete a reply"),
    ("comment_reply_post", "Post a reply"),
    ("comment_reply_update", "Change a reply"),
    ("comment_update", "Change a comment"),
    ("content_append", "Change the content of a space"),
    ("content_move", "Move a space or a collection"),
    ("content_transfer", "Transfer a space or a collection"),
    ("git_conflict", "Open a change request for a Git conflict"),
    ("git_conflict_renewed", "Update the change request of a Git conflict"),
    ("git_conflict_settled", "Settle a Git conflict"),
    ("git_export", "Start an export to Git"),
    ("git_exported", "Export a space to Git"),
    ("git_import", "Start an import from Git"),
    ("git_imported", "Import a space from Git"),
    ("git_legacy_installation_removed", "Remove a legacy Git installation"),
    ("git_sync_change", "Change Git Sync of a space"),
    ("git_sync_remove", "Remove Git Sync from a space"),
    ("git_sync_run", "Run Git Sync"),
    ("git_united", "Merge changes from Git"),
    ("glossary_update", "Change the glossary"),
    ("grants_purge", "Remove the grants of deleted content"),
    ("import_cancel", "Cancel an import"),
    ("import_start", "Start an import"),
    ("invite", "Invite people by e-mail"),
    ("invite_join", "Join by an invite"),
    ("invite_redeem", "Join by an e-mail invitation"),
    ("link_invite_create", "Create an invite link"),
    ("link_invite_delete", "Delete an invite"),
    ("link_invite_update", "Change an invite link"),
    ("member_clear", "Remove the grants of a former member"),
    ("member_join", "Join an organization by its e-mail domain"),
    ("member_join_by_domain", "Join by an e-mail domain"),
    ("member_put", "Add a member"),
    ("member_remove", "Remove a member"),
    ("member_set", "Change a member"),
    ("member_unask", "Withdraw the review requests of a former member"),
    ("openapi_spec_delete", "Delete an OpenAPI specification"),
    ("openapi_spec_purge", "Remove the versions of a deleted OpenAPI specification"),
    ("openapi_spec_put", "Create or replace an OpenAPI specification"),
    ("openapi_spec_update", "Change an OpenAPI specification"),
    ("org_account_update", "Change the account of an organization"),
    ("org_create", "Create an organization"),
    ("org_found", "Create an organization as a user"),
    ("org_update", "Change an organization"),
    ("permission_change", "Change a role"),
    ("permissions_give", "Grant roles"),
    ("publishing_auth_change", "Change visitor authentication of a site"),
    ("redirect_change", "Change or delete a redirect of a site"),
    ("redirect_create", "Create a redirect of a site"),
    ("redirects_change", "Change several redirects of a site"),
    ("review_submit", "Submit a review"),
    ("reviewer_unask", "Withdraw a review request"),
    ("reviewers_ask", "Request reviews"),
    ("saml_login", "Sign in by single sign-on"),
    ("saml_login_refuse", "Reject a single sign-on"),
    ("saml_logout", "Sign out of single sign-on"),
    ("saml_provider_create", "Create a SAML provider"),
    ("saml_provider_delete", "Delete a SAML provider"),
    ("saml_provider_update", "Change a SAML provider"),
    ("set_up", "Set up the platform"),
    ("share_link_change", "Change or delete a share link"),
    ("share_link_create", "Create a share link"),
    ("site_create", "Create a site"),
    ("site_customization_set", "Set the customization of a site"),
    ("site_delete", "Delete a site"),
    ("site_external_link_add", "Add an external link to a site"),
    ("site_external_link_delete", "Delete an external link of a site"),
    ("site_external_link_update", "Change an external link of a site"),
    ("site_fill", "Fill a site with a template"),
    ("site_findings_update", "Change the status of a finding of a site"),
    ("site_hostname_set", "Set the host name of a site"),
    ("site_publish", "Publish or unpublish a site"),
    ("site_section_add", "Add a section to a site"),
    ("site_section_delete", "Delete a section of a site"),
    ("site_section_group_add", "Add a section group to a site"),
    ("site_section_group_delete", "Delete a section group of a site"),
    ("site_section_group_gather", "Move a section into a group"),
    ("site_section_group_release", "Move a section out of a group"),
    ("site_section_group_update", "Change a section group of a site"),
    ("site_section_update", "Change a section of a site"),
    ("site_space_add", "Add a space to a site"),
    ("site_space_customization_override", "Override the customization for a space"),
    ("site_space_delete", "Remove a space from a site"),
    ("site_space_duplicate", "Duplicate a space on a site"),
    ("site_space_update", "Change a space on a site"),
    ("site_structure_sort", "Sort the structure of a site"),
    ("site_update", "Change a site"),
    ("space_create", "Create a space"),
    ("space_delete", "Delete a space"),
    ("space_duplicate", "Duplicate a space"),
    ("space_purge", "Delete a space permanently"),
    ("space_restore", "Restore a space"),
    ("space_rollback", "Roll a space back to a revision"),
    ("space_trash_mark", "Hide or show the grants of a deleted or restored space"),
    ("space_update", "Change a space"),
    ("storage_upload_create", "Request a URL to upload a file"),
    ("storage_upload_store", "Upload a file"),
    ("team_create", "Create a team"),
    ("team_delete", "Delete a team"),
    ("team_member_put", "Add a member to a team"),
    ("team_member_remove", "Remove a member from a team"),
    ("team_members_update", "Change the members of a team"),
    ("team_purge", "Remove the rows of a deleted team"),
    ("team_update", "Change a team"),
    ("token_create", "Create an API token"),
    ("token_revoke", "Revoke an API token"),
    ("translation_create", "Create a translation"),
    ("translation_delete", "Delete a translation"),
    ("translation_result", "Store the result of a translation"),
    ("translation_run", "Run a translation"),
    ("translation_update", "Change a translation"),
    ("user_create", "Create a user"),
    ("user_update", "Change a user"),
];

impl<'p> OrgHandle<'p> {
    /// Reads the audit log of the organization as events, newest first.
    ///
    /// The target of an event is the changed record that the action is about. With several filters, a page may be
    /// shorter than its limit even though a next page exists.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn audit_events(
        self,
        filter: &'p AuditEventFilter,
        page: &'p PageRequest,
    ) -> Result<Page<AuditEvent>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::Administrate)?;
        let log = AuditFilter {
            organization: Some(org.clone()),
            operation: filter.action.clone(),
            since: filter.since,
            until: filter.until,
            ..AuditFilter::default()
        };
        let identity = list_identities::audit_events(filter);
        let found = entries(&tx, &log, identity, page, |entry| matches(filter, entry)).await?;
        let items: Result<_> = found.items.iter().map(|entry| platform.audit_event(org, entry)).collect();
        Ok(Page { items: items?, next: found.next, count: found.count })
    }

    /// Reads an entry of the audit log as an event with all recorded details.
    ///
    /// # Errors
    /// `NotFound` for an entry of another organization; `Forbidden` unless the actor is an administrator of the
    /// organization.
    #[boxed]
    pub async fn audit_event(self, id: &'p str) -> Result<AuditEventDetails> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::Administrate)?;
        let entry = find(&tx, id).await?.filter(|entry| entry.organizations.contains(org));
        let entry = entry.ok_or_else(|| Error::not_found("audit event"))?;
        Ok(AuditEventDetails {
            event: platform.audit_event(org, &entry)?,
            schema_version: PAYLOAD_VERSION,
            payload: AuditEventPayload {
                detail: entry.detail.clone(),
                organizations: entry.organizations.clone(),
                records: entry.records.clone(),
                changed: entry.changed,
            },
        })
    }

    /// Lists the actions that audit events can have.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn audit_event_actions(self) -> Result<AuditEventActions> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::Administrate)?;
        let object = AuditEventActionObject::Is;
        let items = ACTIONS.iter().map(|(id, label)| AuditEventAction {
            object,
            id: (*id).to_owned(),
            label: (*label).to_owned(),
        });
        Ok(AuditEventActions { items: items.collect() })
    }
}

impl Platform {
    fn audit_event(&self, org: &OrgId, entry: &AuditRecord) -> Result<AuditEvent> {
        let id = id_uuid(entry.id.as_str()).ok_or_else(|| Error::internal("an audit id is no UUID"))?;
        let id = id.to_string();
        let urls = AuditEventUrls { location: self.urls().audit_event(org, &id) };
        let source = match entry.user {
            Some(_) => AuditEventSource::Api,
            None => AuditEventSource::Workflow,
        };
        Ok(AuditEvent {
            object: AuditEventObject::Is,
            id,
            occurred_at: entry.at,
            action: entry.operation.clone(),
            actor: actor(entry),
            source,
            target: target(entry)?,
            urls,
        })
    }
}

fn actor(entry: &AuditRecord) -> AuditEventActor {
    match &entry.user {
        Some(user) => AuditEventActor { kind: AuditEventActorType::User, id: user.to_string() },
        None => AuditEventActor { kind: AuditEventActorType::System, id: PLATFORM.to_owned() },
    }
}

/// Returns the changed record that the action is about: the one whose type is the longest prefix of the action, or else
/// the first one.
fn target(entry: &AuditRecord) -> Result<AuditEventTarget> {
    let about =
        |record: &Key| kind_name(record).filter(|kind| entry.operation.starts_with(kind)).map(str::len);
    let record = entry.records.iter().rev().max_by_key(|record| about(record));
    let record = record.ok_or_else(|| Error::internal("an audit entry names no record"))?;
    let kind = kind_name(record).ok_or_else(|| Error::internal("an audit entry names an unknown record"))?;
    Ok(AuditEventTarget { kind: kind.to_owned(), id: key::last_segment(record) })
}

fn kind_name(record: &Key) -> Option<&'static str> {
    let kind = key::segments(record).into_iter().next()?;
    let at = TARGETS.binary_search_by_key(&kind.as_str(), |(kind, _)| kind).ok()?;
    Some(TARGETS[at].1)
}

fn matches(filter: &AuditEventFilter, entry: &AuditRecord) -> bool {
    let by = filter.actor.as_ref().is_none_or(|wanted| actor(entry).id == *wanted);
    by && filter.target.as_ref().is_none_or(|wanted| target(entry).is_ok_and(|target| target.id == *wanted))
}

/// Returns the entry whose event has this id.
async fn find(tx: &Tx, id: &str) -> Result<Option<Arc<AuditRecord>>> {
    let Ok(id) = id.parse::<uuid::Uuid>() else { return Ok(None) };
    let id: AuditId = id_text(id).parse().map_err(Error::internal)?;
    let rows = tx.scan_prefix(&AuditRecord::by_id(&id), 1).await?;
    let Some((row, _)) = rows.first() else { return Ok(None) };
    let entry = AuditRecord::by_time().part(&key::last_segment(row)).part(id.as_str()).key();
    Ok(tx.get(&entry).await?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::KINDS;

    #[test]
    fn every_record_kind_has_a_target_type() {
        assert!(TARGETS.is_sorted());
        let kinds: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(TARGETS.iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>(), kinds);
    }
}
