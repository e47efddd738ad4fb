//! Limits for adaptive schemas, and the validation error.

use std::fmt;

/// The required `description` of the `unsigned` claim.
pub const UNSIGNED: &str = "Unsigned claims of the site visitor.";
/// The name of the claim that contains unsigned claims.
pub(super) const UNSIGNED_CLAIMS: &str = "unsigned";
/// Maximum nesting depth of claims.
pub const MAX_CLAIM_LEVELS: usize = 5;
/// Maximum number of claims in a schema, counting all levels.
pub const MAX_CLAIMS: usize = 200;
/// Maximum length of a claim name, in characters.
pub const MAX_CLAIM_NAME: usize = 64;
/// Maximum length of a claim description, in characters.
pub const MAX_CLAIM_DESCRIPTION: usize = 512;
/// Maximum number of values of an `enum`.
pub const MAX_CLAIM_VALUES: usize = 100;
/// Maximum length of an `enum` value, in characters.
pub const MAX_CLAIM_VALUE: usize = 128;
/// Maximum size of a schema as JSON, in bytes.
pub const MAX_CLAIM_SCHEMA: usize = 64 * 1024;

/// The error of [`AdaptiveJsonSchema::new`](crate::AdaptiveJsonSchema::new): the path of the invalid value and the
/// violated rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaFault {
    pub(super) path: String,
    pub(super) message: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for SchemaFault {}
