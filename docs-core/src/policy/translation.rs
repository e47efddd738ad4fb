//! Permissions on translations.

use super::{OrgAccess, OrgAction, SpaceAccess, SpaceAction};
use crate::{Error, Result, model::TranslationPermissions};

/// An actor's access to the two spaces of a translation. A deleted space is treated as missing.
#[derive(Clone, Debug, Default)]
pub struct TranslatedSpaces {
    pub source: Option<SpaceAccess>,
    /// `true` if the source space exists, regardless of its visibility to the actor.
    pub source_is_there: bool,
    /// The access to the target space, which contains the translated content.
    pub target: Option<SpaceAccess>,
}

/// Proof that an actor may see a translation, and whether they may edit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslationAccess {
    may_edit: bool,
}

impl OrgAccess {
    /// Creates the access to a translation. An actor with access to one of its spaces may view the translation. An
    /// actor who may create content and manages the source space may edit the translation. If the source space is
    /// deleted, the target space takes its role. Administrators may do both.
    ///
    /// # Errors
    /// `NotFound` if the translation is hidden from the actor.
    pub fn translation(&self, spaces: &TranslatedSpaces) -> Result<TranslationAccess> {
        let is_admin = self.may(OrgAction::Administrate);
        let (source, target) = (spaces.source.as_ref(), spaces.target.as_ref());
        if !is_admin && source.is_none() && target.is_none() {
            return Err(Error::not_found("translation"));
        }
        let managed = if spaces.source_is_there { source } else { target };
        let manages = managed.is_some_and(|space| space.may(SpaceAction::Manage));
        Ok(TranslationAccess { may_edit: is_admin || (manages && self.may(OrgAction::CreateContent)) })
    }
}

impl TranslationAccess {
    /// Checks that the actor may edit, run and delete the translation.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_edit(self) -> Result<()> {
        if self.may_edit {
            return Ok(());
        }
        Err(Error::forbidden("this needs the role `create` in the organization and on the source space"))
    }

    /// Returns the actor's permissions on the translation.
    #[must_use]
    pub const fn permissions(self) -> TranslationPermissions {
        TranslationPermissions { view: true, edit: self.may_edit }
    }
}
