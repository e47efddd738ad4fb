//! The structure of a site (sections, section groups, site spaces) and changes to it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ApplySpaceTemplate, BoundedText, Condition, ExternalLinkId, Icon, LocalizedText, LocalizedTitle, Patch,
    SectionGroupId, SectionId, SitePath, SiteSpace, SiteTitle, Unsupported, Url, condition, list::constants,
    patch::deserialize_non_null,
};

constants! {
    /// `site-section`.
    SectionObject = "site-section",
    /// `site-section-group`.
    SectionGroupObject = "site-section-group",
    /// `site-external-link`.
    ExternalLinkObject = "site-external-link",
}

/// The title of a section group.
pub type SectionGroupTitle = BoundedText<1, 100>;
/// The description of a section.
pub type SectionDescription = BoundedText<0, 256>;
/// The variants of a description by language.
pub type LocalizedDescription = LocalizedText<256>;

/// A section of a site: one or more spaces under a common title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSection {
    /// Always `site-section`.
    pub object: SectionObject,
    pub id: SectionId,
    pub title: SiteTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedTitle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<SectionDescription>,
    /// The description by language; in other languages, `description` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_description: LocalizedDescription,
    /// `true` if the section is a draft, which visitors cannot see, like everything in it.
    #[serde(default)]
    pub draft: bool,
    /// `true` if this is the default section of the site.
    pub default: bool,
    /// The path on the site.
    pub path: SitePath,
    /// A condition; only visitors who meet it see the section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The group that contains the section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_group: Option<SectionGroupId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// The spaces of the section in display order.
    pub site_spaces: Vec<SiteSpace>,
    pub urls: SiteSectionUrls,
}

/// URLs of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteSectionUrls {
    /// The section in this API.
    pub location: String,
    /// The published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// A group of sections and other groups under a common title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSectionGroup {
    /// Always `site-section-group`.
    pub object: SectionGroupObject,
    pub id: SectionGroupId,
    pub title: SectionGroupTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedTitle,
    /// `true` if the group is a draft, which visitors cannot see, like everything in it.
    #[serde(default)]
    pub draft: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// The parent group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_group: Option<SectionGroupId>,
    /// The sections directly in the group, in display order. Deprecated in favor of `children`, which also contains
    /// groups.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub sections: Vec<SiteSection>,
    /// The sections, groups and external links directly in the group, in display order.
    pub children: Vec<SiteStructureNode>,
}

/// A link to another website in the structure of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteExternalLink {
    /// Always `site-external-link`.
    pub object: ExternalLinkObject,
    pub id: ExternalLinkId,
    pub title: SiteTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedTitle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<SectionDescription>,
    /// The description by language; in other languages, `description` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_description: LocalizedDescription,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// The destination.
    pub url: Url,
    /// The group that contains the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_group: Option<SectionGroupId>,
    /// `true` if the link is a draft, which visitors cannot see.
    pub draft: bool,
    /// A condition; only visitors who meet it see the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Always empty. Front ends without support for external links read it, as of a section.
    #[serde(default)]
    pub site_spaces: Vec<SiteSpace>,
    /// Always empty. Front ends without support for external links read it, as of a group.
    #[serde(default)]
    pub children: Vec<SiteStructureNode>,
}

/// A section, a section group or an external link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SiteStructureNode {
    /// A section.
    Section(Box<SiteSection>),
    /// A group.
    Group(Box<SiteSectionGroup>),
    /// An external link.
    Link(Box<SiteExternalLink>),
}

/// The structure of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "structure", rename_all = "camelCase")]
pub enum SiteStructure {
    /// Sections, section groups and external links.
    Sections(Vec<SiteStructureNode>),
    /// Site spaces without sections.
    SiteSpaces(Vec<SiteSpace>),
}

/// An item in the structure of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SiteStructureItem {
    /// A site space.
    SiteSpace(Box<SiteSpace>),
    /// A section.
    Section(Box<SiteSection>),
    /// A group.
    Group(Box<SiteSectionGroup>),
    /// An external link.
    Link(Box<SiteExternalLink>),
}

/// A partial update of a site space. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSiteSpace {
    /// The path segment, unique within the section, or within the site if it has no sections.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub path: Option<SitePath>,
    /// A condition; only visitors who meet it see the space. `null` or an empty string shows it to everyone.
    #[serde(default, deserialize_with = "condition::deserialize_patch")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<condition::ConditionText>"))]
    pub condition: Patch<Condition>,
    /// The id of the space to publish in place of the current one.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: Option<String>,
    /// `true` omits the space from the navigation of the site. Its pages can be read at their URLs.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub hidden: Option<bool>,
    /// `true` makes the space a draft, which visitors cannot see; `false` makes it live.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// The title on the site; `null` restores the title of the space.
    #[serde(default)]
    pub title: Patch<SiteTitle>,
    /// Not supported: a space opens at its first page.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "()"))]
    pub page_id: Option<Unsupported>,
}

/// The duplication of a space on a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DuplicateSiteSpace {
    /// `true` makes the copy and its new section drafts, which visitors cannot see. Defaults to `false`.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
}

/// A section to add to a site.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["spaceId"])))]
#[serde(rename_all = "camelCase")]
pub struct AddSection {
    /// The id of the first space of the section; `null` creates a new, empty space with the title of the section.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: Option<String>,
    /// The template for the content of the new space, if `spaceId` is `null`.
    #[serde(default)]
    pub template: Option<ApplySpaceTemplate>,
    /// The title; the title of the space by default.
    pub title: Option<SiteTitle>,
    pub icon: Option<Icon>,
    /// `true` creates a draft, which visitors cannot see.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// The id of the group to create the section in; the top level of the site by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub site_section_group_id: Option<String>,
    /// Not supported: a space opens at its first page.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "()"))]
    pub page_id: Option<Unsupported>,
}

/// A partial update of a section. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSection {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    /// A path segment, unique on the site.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub path: Option<SitePath>,
    /// The site space of the section to show by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_space: Option<String>,
    /// A condition; only visitors who meet it see the section. `null` or an empty string shows it to everyone.
    #[serde(default, deserialize_with = "condition::deserialize_patch")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<condition::ConditionText>"))]
    pub condition: Patch<Condition>,
    /// The name of an icon; `null` removes it.
    #[serde(default)]
    pub icon: Patch<Icon>,
    /// The description; `null` removes it.
    #[serde(default)]
    pub description: Patch<SectionDescription>,
    /// The title by language, which replaces all current ones.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub localized_title: Option<LocalizedTitle>,
    /// The description by language, which replaces all current ones.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub localized_description: Option<LocalizedDescription>,
    /// `true` makes the section a draft, which visitors cannot see; `false` makes it live.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// The id of the group to move the section into, as its last child; `null` moves it to the top level of the site.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub site_section_group_id: Patch<String>,
}

/// A section group to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AddSectionGroup {
    pub title: SectionGroupTitle,
    pub icon: Option<Icon>,
    /// The ids of sections to move into the group, in display order.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(extend("uniqueItems" = true)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub sections: Option<Vec<String>>,
    /// The id of the parent group; the top level of the site by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
    /// `true` creates a draft, which visitors cannot see.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
}

/// A partial update of a section group. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSectionGroup {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SectionGroupTitle>,
    /// The name of an icon; `null` removes it.
    #[serde(default)]
    pub icon: Patch<Icon>,
    /// The title by language, which replaces all current ones.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub localized_title: Option<LocalizedTitle>,
    /// `true` makes the group a draft, which visitors cannot see; `false` makes it live.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// The id of the group to move the group into, as its last child; `null` moves it to the top level of the site.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent_section_group_id: Patch<String>,
}

/// An external link to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddExternalLink {
    pub title: SiteTitle,
    /// The title by language.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub localized_title: Option<LocalizedTitle>,
    pub description: Option<SectionDescription>,
    /// The description by language.
    pub localized_description: Option<LocalizedDescription>,
    /// The name of an icon.
    pub icon: Option<Icon>,
    /// The destination.
    pub url: Url,
    /// The id of the section group to create the link in; the top level of the site by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
    /// `true` creates a draft, which visitors cannot see.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// A condition; only visitors who meet it see the link. `null` or an empty string shows it to everyone.
    #[serde(default, deserialize_with = "condition::deserialize_patch")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<condition::ConditionText>"))]
    pub condition: Patch<Condition>,
}

/// A partial update of an external link. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateExternalLink {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    /// The title by language, which replaces all current ones; `null` removes them.
    #[serde(default)]
    pub localized_title: Patch<LocalizedTitle>,
    /// The description; `null` removes it.
    #[serde(default)]
    pub description: Patch<SectionDescription>,
    /// The description by language, which replaces all current ones; `null` removes them.
    #[serde(default)]
    pub localized_description: Patch<LocalizedDescription>,
    /// The name of an icon; `null` removes it.
    #[serde(default)]
    pub icon: Patch<Icon>,
    /// The destination.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub url: Option<Url>,
    /// The id of the section group to move the link into, as its last child; `null` moves it to the top level of the
    /// site.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Patch<String>,
    /// `true` makes the link a draft, which visitors cannot see; `false` makes it live.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// A condition; only visitors who meet it see the link. `null` or an empty string shows it to everyone.
    #[serde(default, deserialize_with = "condition::deserialize_patch")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<condition::ConditionText>"))]
    pub condition: Patch<Condition>,
}

/// A section to move into a group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddSectionToGroup {
    /// The id of the section.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub section_id: String,
}

/// A move to a position relative to a sibling.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}Move"))]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct MoveBeside<T> {
    /// The position; the last one by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub position: Option<BesidePosition<T>>,
}

impl<T> Default for MoveBeside<T> {
    fn default() -> Self {
        Self { position: None }
    }
}

/// A position relative to a sibling: either `before` or `after`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::one_of_required(&[("before", "object"), ("after", "object")]))))]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}Position"))]
pub struct BesidePosition<T> {
    /// The sibling that follows.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub before: Option<T>,
    /// The sibling that precedes.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub after: Option<T>,
}

/// A site space to which a position is relative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SiteSpacePointer {
    /// A site space.
    #[serde(rename = "site-space", rename_all = "camelCase")]
    SiteSpace {
        /// The id of the site space.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_space: String,
    },
}

/// A section to which a position is relative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SectionPointer {
    /// A section.
    #[serde(rename = "site-section", rename_all = "camelCase")]
    Section {
        /// The id of the section.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_section: String,
    },
}

/// A section or a section group to which a position is relative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SectionGroupPointer {
    /// A section.
    #[serde(rename = "site-section")]
    Section {
        /// The id of the section.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A group.
    #[serde(rename = "site-section-group")]
    Group {
        /// The id of the group.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
}

/// A pointer to an item in the structure of a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SiteStructurePointer {
    /// A site space.
    #[serde(rename = "site-space")]
    SiteSpace {
        /// The id of the site space.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A section.
    #[serde(rename = "site-section")]
    Section {
        /// The id of the section.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A group.
    #[serde(rename = "site-section-group")]
    Group {
        /// The id of the group.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// An external link.
    #[serde(rename = "site-external-link")]
    Link {
        /// The id of the link.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
}

/// Returns a schema that restricts the moved item and its sibling to these types.
#[cfg(feature = "schema")]
fn both_item_types(types: &[&str]) -> serde_json::Value {
    let part = serde_json::json!({
        "properties": { "type": { "type": "string", "enum": types }, "id": { "type": "string" } },
    });
    serde_json::json!({ "properties": {
        "item": part, "position": { "properties": { "before": part, "after": part } },
    } })
}

/// A move within the structure of a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    both_item_types(&["site-space"]), both_item_types(&["site-section", "site-section-group", "site-external-link"]),
])))]
pub struct SortStructure {
    /// The item to move.
    pub item: SiteStructurePointer,
    /// The new position. Site spaces can only be placed next to site spaces, and sections, groups and external links
    /// only next to each other.
    pub position: BesidePosition<SiteStructurePointer>,
}
