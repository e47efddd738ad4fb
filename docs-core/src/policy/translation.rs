//! Who may do what with translations.

use super::{OrgAccess, OrgAction, SpaceAccess, SpaceAction};
use crate::{Error, Result, model::TranslationPermissions};

/// What an actor sees of the spaces of a translation; deleted ones are none.
#[derive(Clone, Debug, Default)]
pub struct TranslatedSpaces {
    /// The access to the space that is translated.
    pub source: Option<SpaceAccess>,
    /// Whether the space that is translated is there, seen or not.
    pub source_is_there: bool,
    /// The access to the space that holds the translated content.
    pub target: Option<SpaceAccess>,
}

/// Proof that an actor may see a translation, and whether they may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslationAccess {
    may_edit: bool,
}

impl OrgAccess {
    /// The access to a translation: whoever sees one of its spaces sees it, and whoever creates content and manages
    /// what is translated (the result, once the original is deleted) changes it. Administrators do both.
    ///
    /// # Errors
    /// `NotFound` where the actor may not see it.
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
    /// Demands the right to change, run and delete the translation.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_edit(self) -> Result<()> {
        if self.may_edit {
            return Ok(());
        }
        Err(Error::forbidden(
            "this needs the role `create` in the organization and on the space that is translated",
        ))
    }

    /// What the actor may do.
    #[must_use]
    pub const fn permissions(self) -> TranslationPermissions {
        TranslationPermissions { view: true, edit: self.may_edit }
    }
}
