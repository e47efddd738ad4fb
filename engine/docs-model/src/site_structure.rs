//! What a site consists of: sections, groups of them, and spaces; and how it is changed.

use std::{fmt, str::FromStr};

use docs_expression::{Expression, ExpressionError};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    BoundedText, Icon, Patch, SectionGroupId, SectionId, SitePath, SiteSpace, SiteTitle, list::constants,
    patch::given,
};

constants! {
    /// `site-section`.
    SectionObject = "site-section",
    /// `site-section-group`.
    SectionGroupObject = "site-section-group",
}

/// Title of a group of sections.
pub type SectionGroupTitle = BoundedText<1, 100>;
/// Description of a section.
pub type SectionDescription = BoundedText<0, 256>;

/// An expression that decides who sees something, read once.
///
/// For visitors it holds only where all that it reads may decide that ([`Expression::is_deterministic`]): variables,
/// and the claims of which the site's adaptive schema knows all values, booleans and texts with an `enum`. One that
/// reads a free text, a number or a claim that the schema does not name hides what it stands at, whatever it says of
/// them. Members see everything.
///
/// ```
/// use docs_model::Condition;
/// assert!("visitor.claims.plan == 'pro'".parse::<Condition>().is_ok());
/// let error = "visitor.".parse::<Condition>().unwrap_err();
/// assert!(error.to_string().starts_with("character 9 "), "{error}");
/// ```
#[derive(Clone)]
pub struct Condition(Expression);

impl Condition {
    /// The text, as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.source()
    }

    /// The expression, to evaluate.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.0
    }
}

impl FromStr for Condition {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse(text).map(Self)
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Condition {}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = BoundedText::<1, 1024>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Condition {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Condition".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BoundedText::<1, 1024>::json_schema(generator)
    }
}

/// A section of a site: one or more spaces under one heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSection {
    /// Always `site-section`.
    pub object: SectionObject,
    /// The id.
    pub id: SectionId,
    /// The title.
    pub title: SiteTitle,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<SectionDescription>,
    /// Whether it is what a visitor of the site sees first.
    pub default: bool,
    /// Its path on the site.
    pub path: SitePath,
    /// An expression that decides who sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The group it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_group: Option<SectionGroupId>,
    /// The name of its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// Its spaces, in order.
    pub site_spaces: Vec<SiteSpace>,
    /// Addresses of the section.
    pub urls: SiteSectionUrls,
}

/// Addresses of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteSectionUrls {
    /// The section in this API.
    pub location: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// Sections and other groups under one heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSectionGroup {
    /// Always `site-section-group`.
    pub object: SectionGroupObject,
    /// The id.
    pub id: SectionGroupId,
    /// The title.
    pub title: SectionGroupTitle,
    /// The name of its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// The group it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_group: Option<SectionGroupId>,
    /// The sections that are directly in it, in order; `children` says more.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub sections: Vec<SiteSection>,
    /// The sections and groups that are directly in it, in order.
    pub children: Vec<SectionOrGroup>,
}

/// A section, or a group of sections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SectionOrGroup {
    /// A section.
    Section(Box<SiteSection>),
    /// A group.
    Group(Box<SiteSectionGroup>),
}

/// What a site consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "structure", rename_all = "camelCase")]
pub enum SiteStructure {
    /// Sections, and groups of them.
    Sections(Vec<SectionOrGroup>),
    /// Spaces, without sections.
    SiteSpaces(Vec<SiteSpace>),
}

/// A part of what a site consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SiteStructureItem {
    /// A space on the site.
    SiteSpace(Box<SiteSpace>),
    /// A section.
    Section(Box<SiteSection>),
    /// A group.
    Group(Box<SiteSectionGroup>),
}

/// A change of a site space; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSiteSpace {
    /// One segment of a path, unique in the section, or on a site without sections.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub path: Option<SitePath>,
    /// An expression that decides who sees it, or `null` for everybody.
    #[serde(default)]
    pub condition: Patch<Condition>,
    /// The space to show there.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: Option<String>,
}

/// A section to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddSection {
    /// Its first space.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: String,
    /// The title; that of the space when absent or `null`.
    pub title: Option<SiteTitle>,
    /// The name of an icon.
    pub icon: Option<Icon>,
}

/// A change of a section; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSection {
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    /// One segment of a path, unique on the site.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub path: Option<SitePath>,
    /// Which of its spaces to show first.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_space: Option<String>,
    /// An expression that decides who sees it, or `null` for everybody.
    #[serde(default)]
    pub condition: Patch<Condition>,
    /// The name of an icon, or `null` for none.
    #[serde(default)]
    pub icon: Patch<Icon>,
    /// What it is about, or `null` for nothing.
    #[serde(default)]
    pub description: Patch<SectionDescription>,
}

/// A group of sections to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AddSectionGroup {
    /// The title.
    pub title: SectionGroupTitle,
    /// The name of an icon.
    pub icon: Option<Icon>,
    /// Sections to move into it, in this order.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(extend("uniqueItems" = true)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub sections: Option<Vec<String>>,
    /// The group to add it to; the site itself when absent.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
}

/// A change of a group of sections; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateSectionGroup {
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SectionGroupTitle>,
    /// The name of an icon, or `null` for none.
    #[serde(default)]
    pub icon: Patch<Icon>,
}

/// A section to move into a group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddSectionToGroup {
    /// The section.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub section_id: String,
}

/// Where something is moved to: `before` or `after` something else.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}Move"))]
pub struct MoveBeside<T> {
    /// Beside what it is put.
    pub position: BesidePosition<T>,
}

/// Beside what something is put: `before` or `after`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::given(&[("before", "object"), ("after", "object")]))))]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}Position"))]
pub struct BesidePosition<T> {
    /// What it is put before.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub before: Option<T>,
    /// What it is put after.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub after: Option<T>,
}

/// A site space beside which another is put.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SiteSpacePointer {
    /// A site space.
    #[serde(rename = "site-space", rename_all = "camelCase")]
    SiteSpace {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_space: String,
    },
}

/// A section beside which another is put.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SectionPointer {
    /// A section.
    #[serde(rename = "site-section", rename_all = "camelCase")]
    Section {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_section: String,
    },
}

/// A section or a group beside which a group is put.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SectionGroupPointer {
    /// A section.
    #[serde(rename = "site-section")]
    Section {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A group.
    #[serde(rename = "site-section-group")]
    Group {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
}

/// A part of what a site consists of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type")]
pub enum SiteStructurePointer {
    /// A site space.
    #[serde(rename = "site-space")]
    SiteSpace {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A section.
    #[serde(rename = "site-section")]
    Section {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
    /// A group.
    #[serde(rename = "site-section-group")]
    Group {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        id: String,
    },
}

/// That both what is moved and what it is put beside are of these types.
#[cfg(feature = "schema")]
fn both_of(types: &[&str]) -> serde_json::Value {
    let part = serde_json::json!({
        "properties": { "type": { "type": "string", "enum": types }, "id": { "type": "string" } },
    });
    serde_json::json!({ "properties": {
        "item": part, "position": { "properties": { "before": part, "after": part } },
    } })
}

/// What to put beside what.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    both_of(&["site-space"]), both_of(&["site-section", "site-section-group"]),
])))]
pub struct SortStructure {
    /// What is moved.
    pub item: SiteStructurePointer,
    /// Beside what it is put: a site space beside a site space, sections and groups beside each other.
    pub position: BesidePosition<SiteStructurePointer>,
}
