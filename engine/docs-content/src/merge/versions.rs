//! The three versions of a value in a merge.

/// Three versions of a value: the common ancestor and both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreeWay<T> {
    /// The version in the common ancestor.
    pub base: T,
    /// The version in main content.
    pub ours: T,
    /// The version in the change request.
    pub theirs: T,
}

/// The side whose value is the merge result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WinningSide {
    /// Both sides have the same value.
    Equal,
    Ours,
    Theirs,
    /// The sides changed the value differently.
    Conflict,
}

impl<T: PartialEq> ThreeWay<T> {
    /// Applies the three-way merge rule: a changed version takes precedence over an unchanged one.
    pub(super) fn winning_side(&self) -> WinningSide {
        if self.ours == self.theirs {
            WinningSide::Equal
        } else if self.ours == self.base {
            WinningSide::Theirs
        } else if self.theirs == self.base {
            WinningSide::Ours
        } else {
            WinningSide::Conflict
        }
    }
}

impl<T> ThreeWay<T> {
    pub(super) const fn as_ref(&self) -> ThreeWay<&T> {
        ThreeWay { base: &self.base, ours: &self.ours, theirs: &self.theirs }
    }

    pub(super) fn map<U>(self, mut each: impl FnMut(T) -> U) -> ThreeWay<U> {
        ThreeWay { base: each(self.base), ours: each(self.ours), theirs: each(self.theirs) }
    }

    pub(super) fn try_map<U, E>(self, mut each: impl FnMut(T) -> Result<U, E>) -> Result<ThreeWay<U>, E> {
        Ok(ThreeWay { base: each(self.base)?, ours: each(self.ours)?, theirs: each(self.theirs)? })
    }

    pub(super) fn into_array(self) -> [T; 3] {
        [self.base, self.ours, self.theirs]
    }
}
