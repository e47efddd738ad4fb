//! How roles on content come about: grants by name, levels, and what lies above.

use crate::model::{DefaultLevel, Role};

/// What somebody holds on content: the content itself, or a collection it lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The level of the content.
    pub level: DefaultLevel,
    /// Whether it is who created it.
    pub is_creator: bool,
    /// The role they were given by name.
    pub member: Option<Role>,
    /// The highest role that was given to a team they are in.
    pub team: Option<Role>,
}

/// The role that somebody has on content; `None` hides it.
///
/// `layers` begin with the content itself and go outwards, to the organization, whose role is `org` (`None` for a
/// guest). Administrators of the organization have all rights. A role that was given by name counts before the highest
/// of those that were given to teams, and that before what the level gives.
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

/// The role that the level of content gives somebody who was not given one on it by name.
#[must_use]
pub fn inherited_role(org: Option<Role>, layers: &[Layer]) -> Option<Role> {
    if org == Some(Role::Admin) {
        return org;
    }
    let Some((own, above)) = layers.split_first() else { return org };
    match own.level {
        DefaultLevel::Inherit => effective_role(org, above),
        // A level resets members, up or down. Guests are nobody's members: it holds for them where they were added.
        DefaultLevel::Role(role) => org.or_else(|| effective_role(org, above)).map(|_| role),
        // What a creator hides stays in the creator's own hands.
        DefaultLevel::Nobody if own.is_creator => effective_role(org, above),
        DefaultLevel::Nobody => None,
    }
}

/// The role that the level of content comes down to: that of the first level on the way out that says one; where all
/// inherit, the role in the organization. `None` where that level hides the content.
///
/// Roles by name have no part in it: they are the reader's own, and a level is everybody's.
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
