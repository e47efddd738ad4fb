//! Computes roles on content from grants, default levels and ancestor collections.

use crate::model::{DefaultLevel, Role};

/// An actor's grants on one level of the content tree: the content itself, or an ancestor collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The default level of the content.
    pub level: DefaultLevel,
    /// `true` if the actor created the content.
    pub is_creator: bool,
    /// The role granted to the actor directly.
    pub member: Option<Role>,
    /// The highest role granted to one of the actor's teams.
    pub team: Option<Role>,
}

/// Returns an actor's role on content, or `None` if the content is hidden from the actor.
///
/// `layers` contains the content itself, followed by its ancestors, innermost first. `org` is the role in the
/// organization, or `None` for a guest. Administrators of the organization have all rights. A direct grant takes
/// precedence over the highest team grant, and a team grant over the default level.
///
/// ```
/// use docs_core::{model::{DefaultLevel, Role}, policy::{Layer, effective_role}};
/// let inherits = Layer::default();
/// assert_eq!(effective_role(Some(Role::Edit), &[inherits]), Some(Role::Edit));
/// let granted = Layer { member: Some(Role::Comment), ..inherits };
/// assert_eq!(effective_role(None, &[inherits, granted]), Some(Role::Comment));
/// let reset = Layer { level: DefaultLevel::Role(Role::Read), ..inherits };
/// assert_eq!(effective_role(Some(Role::Create), &[reset]), Some(Role::Read));
/// ```
#[must_use]
pub fn effective_role(org: Option<Role>, layers: &[Layer]) -> Option<Role> {
    if org == Some(Role::Admin) {
        return org;
    }
    match layers.split_first() {
        None => org,
        Some((own, _)) => own.member.or(own.team).or_else(|| inherited_role(org, layers)),
    }
}

/// Returns the role that an actor without a direct grant on the content has through its default level.
#[must_use]
pub fn inherited_role(org: Option<Role>, layers: &[Layer]) -> Option<Role> {
    if org == Some(Role::Admin) {
        return org;
    }
    let Some((own, above)) = layers.split_first() else { return org };
    match own.level {
        DefaultLevel::Inherit => effective_role(org, above),
        // A level replaces the role of members, whether higher or lower. Guests have no organization role, so a level
        // applies to them only if a grant on an ancestor gives them access.
        DefaultLevel::Role(role) => org.or_else(|| effective_role(org, above)).map(|_| role),
        // `Nobody` does not apply to the creator of the content.
        DefaultLevel::Nobody if own.is_creator => effective_role(org, above),
        DefaultLevel::Nobody => None,
    }
}

/// Resolves the default level of content to a role: that of the innermost level other than `Inherit`, or else the role
/// in the organization. Returns `None` if that level hides the content.
///
/// Grants are ignored, because they are specific to an actor, whereas a level applies to all members.
///
/// ```
/// use docs_core::{model::{DefaultLevel, Role}, policy::{Layer, resolved_level}};
/// let inherits = Layer { member: Some(Role::Create), ..Layer::default() };
/// let says = Layer { level: DefaultLevel::Role(Role::Comment), ..inherits };
/// assert_eq!(resolved_level(Some(Role::Admin), &[inherits, says]), Some(Role::Comment));
/// assert_eq!(resolved_level(Some(Role::Edit), &[inherits]), Some(Role::Edit));
/// ```
#[must_use]
pub fn resolved_level(org: Option<Role>, layers: &[Layer]) -> Option<Role> {
    match layers.iter().map(|layer| layer.level).find(|level| *level != DefaultLevel::Inherit) {
        None | Some(DefaultLevel::Inherit) => org,
        Some(DefaultLevel::Role(role)) => Some(role),
        Some(DefaultLevel::Nobody) => None,
    }
}
