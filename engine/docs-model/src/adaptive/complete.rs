//! Defaults for the optional parts of an adaptive schema.

use serde_json::{Map, Value as Json};

use super::rules::{MAX_CLAIM_LEVELS, UNSIGNED, UNSIGNED_CLAIMS};

/// Fills in the optional parts of a schema: descriptions, and everything except `type` in `unsigned`.
///
/// Leaves existing values unchanged, even invalid ones, which [`check`](super::check) rejects afterwards.
pub(super) fn complete(schema: &mut Json) {
    let Some(claims) = claims_of(schema) else { return };
    if let Some(Json::Object(unsigned)) = claims.get_mut(UNSIGNED_CLAIMS) {
        or_insert(unsigned, "description", || UNSIGNED.into());
        if unsigned.get("type").is_some_and(|kind| kind == "object") {
            or_insert(unsigned, "properties", || Json::Object(Map::new()));
            or_insert(unsigned, "additionalProperties", || false.into());
        }
    }
    claims.values_mut().for_each(|claim| describe(claim, MAX_CLAIM_LEVELS));
}

/// Fills in the missing descriptions of a claim and its nested claims.
fn describe(claim: &mut Json, room: usize) {
    let Some(below) = room.checked_sub(1) else { return };
    if let Some(claims) = claims_of(claim) {
        claims.values_mut().for_each(|claim| describe(claim, below));
    }
    let Json::Object(fields) = claim else { return };
    or_insert(fields, "description", || "".into());
    if let Some(Json::Object(items)) = fields.get_mut("items") {
        or_insert(items, "description", || "".into());
    }
}

fn claims_of(schema: &mut Json) -> Option<&mut Map<String, Json>> {
    schema.get_mut("properties").and_then(Json::as_object_mut)
}

fn or_insert(fields: &mut Map<String, Json>, name: &str, value: impl FnOnce() -> Json) {
    if !fields.contains_key(name) {
        fields.insert(name.to_owned(), value());
    }
}
