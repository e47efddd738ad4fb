//! The direction of a value.

/// The direction of a value. Schemas by direction can differ: a field with a default is optional in a
/// request and always present in a response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From the client; parsed.
    Request,
    /// To the client; serialized.
    Response,
}
