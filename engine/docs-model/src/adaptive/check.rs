//! Validation of adaptive schemas.

use serde_json::{Map, Value as Json};

use super::rules::{
    MAX_CLAIM_DESCRIPTION, MAX_CLAIM_LEVELS, MAX_CLAIM_NAME, MAX_CLAIM_SCHEMA, MAX_CLAIM_VALUE,
    MAX_CLAIM_VALUES, MAX_CLAIMS, SchemaFault, UNSIGNED, UNSIGNED_CLAIMS,
};

type CheckResult<T = ()> = Result<T, SchemaFault>;

/// Claim names that expressions cannot access.
const UNREADABLE_NAMES: [&str; 3] = ["constructor", "prototype", "__proto__"];

/// The nesting level of an object of claims.
#[derive(Clone, Copy)]
struct ClaimLevel {
    /// The number of remaining levels, including this one.
    room: usize,
    kind: LevelKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LevelKind {
    /// The outermost level, the only one where `unsigned` is special.
    Top,
    /// The level of the unsigned claims.
    Unsigned,
    Inner,
}

pub(super) fn schema(schema: &Json) -> CheckResult {
    if schema.to_string().len() > MAX_CLAIM_SCHEMA {
        return Err(fault("", format!("must be at most {MAX_CLAIM_SCHEMA} bytes as JSON")));
    }
    let fields = object("", schema)?;
    reject_unknown_fields("", fields, &["$schema", "type", "properties", "additionalProperties"])?;
    if let Some(draft) = fields.get("$schema") {
        let wanted = "http://json-schema.org/draft-07/schema#";
        if draft != wanted {
            return Err(fault("$schema", format!("must be `{wanted}`")));
        }
    }
    if word("", fields, "type")? != "object" {
        return Err(fault("type", "must be `object`"));
    }
    let mut left = MAX_CLAIMS;
    claims("", fields, ClaimLevel { room: MAX_CLAIM_LEVELS, kind: LevelKind::Top }, &mut left)
}

/// Validates the `properties` and `additionalProperties` of an object. `left` is the remaining claim budget of the
/// schema.
fn claims(path: &str, fields: &Map<String, Json>, level: ClaimLevel, left: &mut usize) -> CheckResult {
    let others = join(path, "additionalProperties");
    match fields.get("additionalProperties") {
        None => return Err(fault(others, "is required, and must be `false`")),
        Some(Json::Bool(false)) => {}
        Some(booleans) if level.kind == LevelKind::Unsigned => check_booleans(&others, booleans)?,
        Some(_) => return Err(fault(others, "must be `false`")),
    }
    let path = join(path, "properties");
    let properties = fields.get("properties").ok_or_else(|| fault(path.clone(), "is required"))?;
    for (name, claim) in object(&path, properties)? {
        let at = join(&path, name);
        check_name(&at, name)?;
        *left = left.checked_sub(1).ok_or_else(|| {
            fault(at.clone(), format!("exceeds the limit of {MAX_CLAIMS} claims of a schema"))
        })?;
        let is_unsigned = level.kind == LevelKind::Top && name == UNSIGNED_CLAIMS;
        let kind = if is_unsigned { LevelKind::Unsigned } else { LevelKind::Inner };
        check_claim(&at, claim, ClaimLevel { kind, ..level }, left)?;
        if is_unsigned {
            if claim.get("type").is_none_or(|kind| kind != "object") {
                return Err(fault(join(&at, "type"), "must be `object`"));
            }
            if claim.get("description").is_none_or(|text| text != UNSIGNED) {
                return Err(fault(join(&at, "description"), format!("must be `{UNSIGNED}`")));
            }
        }
    }
    Ok(())
}

/// Validates the `additionalProperties` of `unsigned`, which may permit boolean claims only.
fn check_booleans(path: &str, claims: &Json) -> CheckResult {
    let wanted = "must be `false`, or `{ \"type\": \"boolean\" }`";
    let fields = claims.as_object().ok_or_else(|| fault(path, wanted))?;
    reject_unknown_fields(path, fields, &["type", "description"])?;
    if word(path, fields, "type")? != "boolean" {
        return Err(fault(join(path, "type"), "must be `boolean`"));
    }
    if fields.contains_key("description") { describe(path, fields) } else { Ok(()) }
}

fn check_name(at: &str, name: &str) -> CheckResult {
    let count = name.chars().count();
    if count == 0 || count > MAX_CLAIM_NAME {
        return Err(fault(at, format!("must have a name of 1 to {MAX_CLAIM_NAME} characters, has {count}")));
    }
    if name.chars().any(char::is_control) {
        return Err(fault(at, "must have a name without control characters"));
    }
    if UNREADABLE_NAMES.contains(&name) {
        return Err(fault(at, "must have a name that expressions can read; use another name"));
    }
    Ok(())
}

/// Validates a claim. `level.kind` describes the claims nested in it; `level.room` counts from its parent object.
fn check_claim(path: &str, claim: &Json, level: ClaimLevel, left: &mut usize) -> CheckResult {
    let fields = object(path, claim)?;
    match word(path, fields, "type")? {
        "object" => {
            reject_unknown_fields(
                path,
                fields,
                &["type", "description", "properties", "additionalProperties"],
            )?;
            describe(path, fields)?;
            let Some(room) = level.room.checked_sub(1).filter(|room| *room > 0) else {
                return Err(fault(path, format!("must be nested at most {MAX_CLAIM_LEVELS} levels deep")));
            };
            claims(path, fields, ClaimLevel { room, ..level }, left)
        }
        "array" => {
            reject_unknown_fields(path, fields, &["type", "description", "items"])?;
            describe(path, fields)?;
            let path = join(path, "items");
            let items = fields.get("items").ok_or_else(|| fault(path.clone(), "is required"))?;
            let fields = object(&path, items)?;
            match word(&path, fields, "type")? {
                "array" | "object" => {
                    Err(fault(join(&path, "type"), "must be `boolean`, `string` or `number`"))
                }
                kind => primitive(&path, fields, kind),
            }
        }
        kind => primitive(path, fields, kind),
    }
}

fn primitive(path: &str, fields: &Map<String, Json>, kind: &str) -> CheckResult {
    match kind {
        "boolean" | "number" => reject_unknown_fields(path, fields, &["type", "description"])?,
        "string" => {
            reject_unknown_fields(path, fields, &["type", "enum", "description"])?;
            if let Some(values) = fields.get("enum") {
                check_values(&join(path, "enum"), values)?;
            }
        }
        _ => {
            return Err(fault(
                join(path, "type"),
                "must be `boolean`, `string`, `number`, `array` or `object`",
            ));
        }
    }
    describe(path, fields)
}

fn check_values(path: &str, values: &Json) -> CheckResult {
    let Json::Array(values) = values else { return Err(fault(path, "must be a list of strings")) };
    if values.is_empty() || values.len() > MAX_CLAIM_VALUES {
        return Err(fault(path, format!("must have 1 to {MAX_CLAIM_VALUES} values, has {}", values.len())));
    }
    for (at, value) in values.iter().enumerate() {
        let place = format!("{path}[{at}]");
        let Json::String(text) = value else { return Err(fault(place, "must be a string")) };
        let count = text.chars().count();
        if count > MAX_CLAIM_VALUE {
            let message = format!("must be at most {MAX_CLAIM_VALUE} characters, has {count}");
            return Err(fault(place, message));
        }
        if text.chars().any(char::is_control) {
            return Err(fault(place, "must not contain control characters"));
        }
        if values[..at].contains(value) {
            return Err(fault(place, "is a duplicate"));
        }
    }
    Ok(())
}

fn describe(path: &str, fields: &Map<String, Json>) -> CheckResult {
    let count = word(path, fields, "description")?.chars().count();
    if count > MAX_CLAIM_DESCRIPTION {
        let message = format!("must be at most {MAX_CLAIM_DESCRIPTION} characters, has {count}");
        return Err(fault(join(path, "description"), message));
    }
    Ok(())
}

fn object<'j>(path: &str, json: &'j Json) -> CheckResult<&'j Map<String, Json>> {
    json.as_object().ok_or_else(|| fault(path, "must be an object"))
}

/// Returns a required string field.
fn word<'j>(path: &str, fields: &'j Map<String, Json>, name: &str) -> CheckResult<&'j str> {
    let at = || join(path, name);
    let value = fields.get(name).ok_or_else(|| fault(at(), "is required"))?;
    value.as_str().ok_or_else(|| fault(at(), "must be a string"))
}

/// Rejects fields other than `known`.
fn reject_unknown_fields(path: &str, fields: &Map<String, Json>, known: &[&str]) -> CheckResult {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(other) => {
            let known = known.join("`, `");
            Err(fault(join(path, other), format!("is not allowed; use `{known}`")))
        }
        None => Ok(()),
    }
}

fn fault(path: impl Into<String>, message: impl Into<String>) -> SchemaFault {
    SchemaFault { path: path.into(), message: message.into() }
}

/// Appends a property name to a path. A name that is not an identifier is written as `["name"]` with JSON escaping.
fn join(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-$".contains(&b));
    match (path, plain) {
        ("", true) => name.to_owned(),
        (path, true) => format!("{path}.{name}"),
        (path, false) => format!("{path}[{}]", Json::from(name)),
    }
}
