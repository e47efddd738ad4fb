//! Request fields of other servers that the platform rejects, because ignoring them would lose data.

use serde::{Deserialize, Deserializer, de::Error as _, de::IgnoredAny};

/// A field that must be absent or `null`: `Option<Unsupported>`, or `Unsupported` with a function that names the
/// replacement of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsupported;

impl<'de> Deserialize<'de> for Unsupported {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("is not supported; omit the field"))
    }
}

/// Declares functions for `deserialize_with` that reject a field and name its replacement.
macro_rules! rejected {
    ($($name:ident = $remedy:literal;)*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<Unsupported, D::Error> {
            match Option::<IgnoredAny>::deserialize(from)? {
                None => Ok(Unsupported),
                Some(_) => Err(D::Error::custom(concat!("is not supported; ", $remedy))),
            }
        }
    )*};
}

rejected! {
    reject_request_template = "create the change request, then apply the template to it with `changeRequestId`";
    reject_computed_source = "create the space, then add a page that is computed from the source";
}
