//! The direction in which a value is sent.

/// The direction in which a value is sent. Schemas by direction can differ: a field with a default is optional in a
/// request and always present in a response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From the client; parsed.
    Request,
    /// To the client; serialized.
    Response,
}
