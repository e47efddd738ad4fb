//! The paths of the values in a context.

use std::{fmt, sync::Arc};

/// A context path, for example `visitor.claims.plan`. It includes its whole subtree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadPath(pub(super) Vec<Arc<str>>);

impl ReadPath {
    /// Returns the names, from the outermost to the innermost.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}

impl fmt::Display for ReadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, name) in self.names().enumerate() {
            if n > 0 {
                f.write_str(".")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}
