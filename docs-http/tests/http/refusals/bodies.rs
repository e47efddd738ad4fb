//! A valid body of each operation that takes one.

use serde_json::{Value, json};

use super::World;
use crate::{
    agent_feedback, fixtures::body_of_discussion, import_runs, openapi_specs, site_settings, storage_uploads,
    structure, teams, translations,
};

impl World {
    /// Returns a valid body of the operation.
    pub(super) fn body(&self, id: &str) -> Value {
        let known = self.body_of_people(id).or_else(|| self.body_of_content(id));
        let known = known.or_else(|| body_of_discussion(id, &self.names)).or_else(|| self.body_of_sites(id));
        known.unwrap_or_else(|| panic!("`{id}` takes a body: give one here that it accepts"))
    }

    /// Bodies about organizations, people and permissions.
    fn body_of_people(&self, id: &str) -> Option<Value> {
        Some(match id {
            "updateOrganizationById" => json!({ "title": "Renamed", "emailDomains": ["new.example"] }),
            "createOrganization" => json!({ "title": "New" }),
            "updateUserById" => json!({ "displayName": "Ada L", "photoURL": "https://example.com/ada.png" }),
            "updateMemberInOrganizationById" => json!({ "role": "edit" }),
            "inviteUsersToOrganization" => {
                json!({ "emails": ["new@example.com"], "role": "read", "sso": false })
            }
            "createOrganizationInvite" | "updateOrganizationInviteById" => json!({ "role": "read" }),
            "createOrganizationTeam" => json!({ "title": "New", "members": [self.names["userId"]] }),
            "updateTeamInOrganizationById" => json!({ "title": "Renamed" }),
            "updateMembersInOrganizationTeam" => json!({
                "add": [self.names["userId"]], "memberships": { &self.names["userId"]: { "role": "owner" } },
                "remove": ["nobody"],
            }),
            "addMemberToOrganizationTeamById" => json!({ "role": "owner" }),
            "inviteToSpace" | "inviteToCollection" | "inviteToSite" => json!({
                "role": "edit", "users": [self.names["userId"]], "teams": [self.names["teamId"]],
            }),
            "updateUserPermissionInSpace"
            | "updateUserPermissionInCollection"
            | "updateUserPermissionInSite"
            | "updateTeamPermissionInSite"
            | "updateTeamPermissionInSpace"
            | "updateTeamPermissionInCollection" => json!({ "role": "edit" }),
            "createOrganizationSAMLProvider" | "updateOrganizationSAMLProvider" => json!({
                "label": "New", "ssoURL": "https://idp.example/", "entityID": "idp",
                "certificate": teams::CERTIFICATE, "defaultTeam": self.names["teamId"], "defaultRole": "edit",
            }),
            _ => return None,
        })
    }

    /// Bodies about spaces, collections and change requests.
    fn body_of_content(&self, id: &str) -> Option<Value> {
        Some(match id {
            "createSpace" => json!({ "title": "New" }),
            "createCollection" => json!({ "title": "New" }),
            "createOpenAPISpec" => json!({ "slug": "new", "source": { "text": openapi_specs::PETS } }),
            "createOrUpdateOpenAPISpecBySlug" => {
                json!({ "source": { "url": "https://web.example/openapi.json" } })
            }
            "updateOpenAPISpecBySlug" => json!({ "visibility": "public" }),
            "updateCollectionById" => {
                json!({ "title": "Renamed", "description": "What for", "defaultLevel": "create" })
            }
            "moveSpace" => json!({ "parent": null, "position": {
                "after": { "type": "collection", "collection": self.names["collectionId"] },
            } }),
            "moveCollection" => json!({ "parent": null, "position": {
                "before": { "type": "space", "space": self.names["spaceId"] },
            } }),
            "transferSpace" | "transferCollection" => json!({ "organization": self.s.other_org }),
            "updateSpaceById" => json!({ "title": "Renamed", "defaultLevel": "create", "editMode": "live" }),
            "createChangeRequest" => json!({ "subject": "New" }),
            "createTranslation" => json!({
                "source": { "space": self.names["spaceId"], "language": "en" }, "language": "fr",
                "instructions": translations::instructions("Be formal."),
            }),
            "updateTranslation" => json!({ "instructions": translations::instructions("Be formal.") }),
            "setGlossary" => json!({ "entries": [{
                "term": "space", "translations": { "de": "Bereich" }, "keep": true, "caseSensitive": true,
                "note": "of pages",
            }] }),
            "updateGlossaryEntries" => json!({ "operations": [
                { "type": "insert", "translations": { "en": "site", "de": "Website" } },
                { "type": "update", "id": self.names["glossaryEntryId"], "translations": { "en": "team", "de": "Team" } },
            ] }),
            "updateChangeRequestById" => json!({ "subject": "Renamed", "status": "open" }),
            "updateChangeRequestContent" => json!({ "changes": [
                { "operation": "delete_page", "page": self.names["pageId"] },
            ] }),
            "importGitRepository" => json!({ "url": "https://git.example/new", "ref": "refs/heads/new" }),
            "exportToGitRepository" => json!({
                "url": "https://git.example/new", "ref": "refs/heads/new", "commitMessage": "Explain the limits",
            }),
            "setSpaceGitSync" => json!({
                "url": "https://git.example/new", "ref": "refs/heads/new", "direction": "export", "schedule": 60,
            }),
            "importContent"
            | "importContentInChangeRequest"
            | "importContentInPageById"
            | "importContentInChangeRequestPageById" => {
                json!({ "url": "https://web.example/start", "source": "html" })
            }
            "getComputedDocument" | "getComputedRevision" => openapi_specs::computed(id, "pets"),
            "startImportRun" => import_runs::request(&self.names),
            "generateStorageUploadURL" => storage_uploads::file("guide.md", 9),
            "applyTemplateToSpace" => json!({ "id": "blank" }),
            "uploadFile" | "uploadFileInChangeRequestById" => json!("a file"),
            _ => return None,
        })
    }

    /// Bodies about sites and their parts.
    fn body_of_sites(&self, id: &str) -> Option<Value> {
        Some(match id {
            "createSite" => json!({ "title": "New", "spaces": [self.names["spaceId"]] }),
            "updateSiteById" => json!({ "title": "Renamed", "basename": "renamed" }),
            "searchSiteContent" => json!({ "query": "page", "mode": "all" }),
            "trackEventsInSiteById" => site_settings::events(),
            "updateSiteFindingById" => json!({ "status": "done" }),
            "submitAgentFeedbackToSite" | "submitSiteAgentFeedback" => agent_feedback::body(id)?,
            "updateSiteCustomizationById"
            | "overrideSiteSpaceCustomizationById"
            | "createSiteShareLink"
            | "updateSiteShareLinkById"
            | "updateSitePublishingAuthById"
            | "createSiteRedirect"
            | "updateSiteRedirectById"
            | "updateSiteAdaptiveSchema" => {
                site_settings::body(id, &self.names["siteSpaceId"], &self.names["pageId"])
            }
            "bulkUpsertSiteRedirects" => json!({ "redirects": [{
                "source": "/bulk",
                "destination": { "kind": "site-space", "siteSpaceId": self.names["siteSpaceId"] },
            }] }),
            "resolvePublishedContentByUrl" => json!({ "url": self.published() }),
            other => return structure::body(other, &self.names),
        })
    }
}
