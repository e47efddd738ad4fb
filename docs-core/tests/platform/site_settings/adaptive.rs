//! Adaptive content: accepted schemas of visitor claims, and the derived conditions.

use docs_core::{
    ErrorKind,
    content::expression::{Claims, Context, Expression},
    model::{AdaptiveJsonSchema, UpdateAdaptiveSchema},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Published, kind, published};
use crate::support::World;

fn schema_of(claims: Value) -> Value {
    json!({ "type": "object", "properties": claims, "additionalProperties": false })
}

fn claim(kind: &str) -> Value {
    json!({ "type": kind, "description": "What for" })
}

fn closed(claims: Value) -> Value {
    json!({ "type": "object", "description": "", "properties": claims, "additionalProperties": false })
}

fn unsigned(claims: Value) -> Value {
    let mut unsigned = closed(claims);
    unsigned["description"] = "Unsigned claims of the site visitor.".into();
    unsigned
}

fn choice(values: Value) -> Value {
    json!({ "type": "string", "enum": values, "description": "" })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "description": "", "items": items })
}

/// Returns claims with this many nesting levels.
fn nested(levels: usize) -> Value {
    (1..levels).fold(
        schema_of(json!({ "a": claim("boolean") }))["properties"].clone(),
        |inner, _| json!({ "a": closed(inner) }),
    )
}

fn many(n: usize) -> Value {
    (0..n).map(|n| (format!("c{n}"), claim("boolean"))).collect::<Map<_, _>>().into()
}

pub(super) async fn set(w: &World, one: &Published) {
    let json_schema =
        AdaptiveJsonSchema::new(schema_of(json!({ "beta": claim("boolean") }))).expect("a schema");
    let new = UpdateAdaptiveSchema { json_schema };
    w.as_admin().org(&w.org).site(&one.site).set_adaptive_schema(new).await.expect("set");
}

#[test]
fn valid_claims_schema_is_accepted() {
    let draft = "http://json-schema.org/draft-07/schema#";
    for right in [
        schema_of(json!({})),
        json!({ "$schema": draft, "type": "object", "properties": {}, "additionalProperties": false }),
        schema_of(json!({ "a": claim("boolean"), "b": claim("string"), "c": claim("number") })),
        schema_of(json!({ "plan": choice(json!(["free", "pro", "", "\"'\\`${}"])) })),
        schema_of(json!({ "plan": choice((0..100).map(|n| n.to_string()).collect()) })),
        schema_of(json!({ "plan": choice(json!(["x".repeat(128)])) })),
        schema_of(
            json!({ "tags": list(claim("string")), "n": list(claim("number")), "b": list(claim("boolean")) }),
        ),
        schema_of(json!({ "tags": list(choice(json!(["a"]))) })),
        schema_of(json!({ "org": closed(json!({ "name": claim("string"), "unsigned": claim("boolean") })) })),
        schema_of(json!({ "unsigned": unsigned(json!({ "beta": claim("boolean") })) })),
        schema_of(json!({ "unsigned": unsigned(json!({})), "x": claim("number") })),
        schema_of(nested(5)),
        schema_of(many(200)),
        schema_of(json!({ "my claim": claim("boolean"), "ä": claim("boolean"), "1": claim("boolean") })),
        schema_of(json!({ "x".repeat(64): claim("boolean") })),
        schema_of(json!({ "a": { "type": "boolean", "description": "x".repeat(512) } })),
    ] {
        AdaptiveJsonSchema::new(right.clone()).unwrap_or_else(|error| panic!("{right}: {error}"));
    }
}

#[test]
fn abbreviated_claims_schema_is_completed() {
    let bare = |kind: &str| json!({ "type": kind });
    let described = |kind: &str| json!({ "type": kind, "description": "" });
    let open = json!({ "type": "object", "additionalProperties": { "type": "boolean" } });
    let mut completed_open = unsigned(json!({}));
    completed_open["additionalProperties"] = bare("boolean");
    for (given, completed) in [
        (json!({ "beta": bare("boolean") }), json!({ "beta": described("boolean") })),
        (json!({ "unsigned": bare("object") }), json!({ "unsigned": unsigned(json!({})) })),
        (
            json!({ "unsigned": { "type": "object", "properties": { "beta": bare("boolean") } } }),
            json!({ "unsigned": unsigned(json!({ "beta": described("boolean") })) }),
        ),
        (
            json!({ "unsigned": open, "beta": bare("boolean") }),
            json!({ "unsigned": completed_open, "beta": described("boolean") }),
        ),
        (
            json!({ "tags": { "type": "array", "items": bare("string") } }),
            json!({ "tags": list(described("string")) }),
        ),
        (
            json!({ "a": { "type": "object", "properties": { "b": bare("number") }, "additionalProperties": false } }),
            json!({ "a": closed(json!({ "b": described("number") })) }),
        ),
    ] {
        let schema =
            AdaptiveJsonSchema::new(schema_of(given.clone())).unwrap_or_else(|e| panic!("{given}: {e}"));
        assert_eq!(*schema.as_json(), schema_of(completed), "{given}");
    }
}

type Wrong = Vec<(Value, &'static str)>;

fn of(claim: Value) -> Value {
    schema_of(json!({ "plan": claim }))
}

#[test]
fn invalid_claims_schema_is_rejected_with_its_path() {
    for (wrong, place) in [wrong_outside(), wrong_claims(), wrong_values(), wrong_inside()].concat() {
        let told = AdaptiveJsonSchema::new(wrong.clone()).expect_err(&wrong.to_string()).to_string();
        assert!(told.starts_with(place), "{wrong}\n  says `{told}`\n  not  `{place}`");
    }
}

fn wrong_outside() -> Wrong {
    let with = |field: &str, value: Value| {
        let mut schema = schema_of(json!({}));
        schema[field] = value;
        schema
    };
    vec![
        (json!(null), "must be an object"),
        (json!([]), "must be an object"),
        (json!({}), "type: is required"),
        (
            json!({ "type": "object", "properties": {} }),
            "additionalProperties: is required, and must be `false`",
        ),
        (json!({ "type": "object", "additionalProperties": false }), "properties: is required"),
        (with("type", json!("array")), "type: must be `object`"),
        (with("type", json!(["object"])), "type: must be a string"),
        (with("additionalProperties", json!(true)), "additionalProperties: must be `false`"),
        (with("additionalProperties", json!({})), "additionalProperties: must be `false`"),
        (with("properties", json!([])), "properties: must be an object"),
        (with("required", json!(["plan"])), "required: is not allowed"),
        (with("$schema", json!("https://json-schema.org/draft/2020-12/schema")), "$schema: must be"),
    ]
}

fn wrong_claims() -> Wrong {
    vec![
        (of(json!("string")), "properties.plan: must be an object"),
        (of(json!({ "description": "" })), "properties.plan.type: is required"),
        (of(claim("text")), "properties.plan.type: must be `boolean`"),
        (of(claim("integer")), "properties.plan.type: must be `boolean`"),
        (of(claim("null")), "properties.plan.type: must be `boolean`"),
        (
            of(json!({ "type": "boolean", "description": null })),
            "properties.plan.description: must be a string",
        ),
        (
            of(json!({ "type": "boolean", "description": "x".repeat(513) })),
            "properties.plan.description: must be at most 512",
        ),
        (
            of(json!({ "type": "boolean", "description": "", "default": true })),
            "properties.plan.default: is not allowed",
        ),
        (
            of(json!({ "type": "boolean", "description": "", "enum": [true] })),
            "properties.plan.enum: is not allowed",
        ),
        (
            of(json!({ "type": "number", "description": "", "minimum": 1 })),
            "properties.plan.minimum: is not allowed",
        ),
    ]
}

fn wrong_values() -> Wrong {
    vec![
        (of(choice(json!("pro"))), "properties.plan.enum: must be a list"),
        (of(choice(json!([]))), "properties.plan.enum: must have 1 to 100"),
        (of(choice((0..101).map(|n| n.to_string()).collect())), "properties.plan.enum: must have 1 to 100"),
        (of(choice(json!(["a", 1]))), "properties.plan.enum[1]: must be a string"),
        (of(choice(json!(["a", "b", "a"]))), "properties.plan.enum[2]: is a duplicate"),
        (of(choice(json!(["x".repeat(129)]))), "properties.plan.enum[0]: must be at most 128"),
        (of(choice(json!(["a\nb"]))), "properties.plan.enum[0]: must not contain control"),
        (of(json!({ "type": "array", "description": "" })), "properties.plan.items: is required"),
        (of(list(json!([claim("string")]))), "properties.plan.items: must be an object"),
        (
            of(list(list(claim("string")))),
            "properties.plan.items.type: must be `boolean`, `string` or `number`",
        ),
        (of(list(closed(json!({})))), "properties.plan.items.type: must be `boolean`, `string` or `number`"),
    ]
}

fn wrong_inside() -> Wrong {
    let without = |field: &str| {
        let mut schema = closed(json!({}));
        schema.as_object_mut().expect("fields").remove(field);
        schema
    };
    let others = |others: Value| {
        let mut unsigned = unsigned(json!({}));
        unsigned["additionalProperties"] = others;
        schema_of(json!({ "unsigned": unsigned }))
    };
    let mut foreign = unsigned(json!({}));
    foreign["description"] = "Unsigned claims".into();
    let large = choice((0..100).map(|n| format!("{n:0>128}")).collect());
    let all = (0..9).map(|n| (format!("c{n}"), large.clone())).collect::<Map<_, _>>();
    vec![
        (of(without("properties")), "properties.plan.properties: is required"),
        (of(without("additionalProperties")), "properties.plan.additionalProperties: is required"),
        (others(json!(true)), "properties.unsigned.additionalProperties: must be `false`, or"),
        (
            others(json!({ "type": "string" })),
            "properties.unsigned.additionalProperties.type: must be `boolean`",
        ),
        (
            others(json!({ "type": "boolean", "default": true })),
            "properties.unsigned.additionalProperties.default: is not allowed",
        ),
        (of(closed(json!({ "a": claim("date") }))), "properties.plan.properties.a.type: must be"),
        (
            schema_of(json!({ "unsigned": foreign })),
            "properties.unsigned.description: must be `Unsigned claims of the",
        ),
        (schema_of(json!({ "unsigned": claim("boolean") })), "properties.unsigned.type: must be `object`"),
        (
            schema_of(nested(6)),
            "properties.a.properties.a.properties.a.properties.a.properties.a: must be nested",
        ),
        (schema_of(many(201)), "properties.c99: exceeds the limit of 200 claims of a schema"),
        (schema_of(json!({ "": claim("boolean") })), "properties[\"\"]: must have a name of 1 to 64"),
        (schema_of(json!({ "x".repeat(65): claim("boolean") })), "properties.xxxxx"),
        (
            schema_of(json!({ "a\tb": claim("boolean") })),
            "properties[\"a\\tb\"]: must have a name without control",
        ),
        (
            schema_of(json!({ "__proto__": claim("boolean") })),
            "properties.__proto__: must have a name that expressions can read",
        ),
        (
            schema_of(json!({ "constructor": claim("boolean") })),
            "properties.constructor: must have a name that expressions can read",
        ),
        (schema_of(all.into()), "must be at most 65536 bytes"),
    ]
}

/// Generates a schema of claims up to a nesting depth.
fn claims(depth: u32) -> BoxedStrategy<Value> {
    let name = prop_oneof![4 => "[a-z][a-zA-Z0-9_]{0,6}", 1 => "[a-zäß🚀 \"'\\\\`$.\\[\u{2028}-]{1,6}"];
    let value = prop_oneof![3 => "[a-z]{0,6}", 1 => "[a-z \"'\\\\`${}\u{2028}🚀]{0,8}"];
    let values = prop::collection::btree_set(value, 1..4);
    let leaf = prop_oneof![
        3 => Just(claim("boolean")),
        3 => values.prop_map(|values| choice(values.into_iter().collect())),
        1 => Just(claim("string")),
        1 => Just(claim("number")),
        1 => Just(list(claim("string"))),
    ];
    let one = if depth == 0 {
        leaf.boxed()
    } else {
        prop_oneof![3 => leaf, 1 => claims(depth - 1).prop_map(closed)].boxed()
    };
    let named = prop::collection::btree_map(name, one, 0..5);
    named.prop_map(|claims| Value::Object(claims.into_iter().collect())).boxed()
}

/// Returns the values that template conditions use, with their paths.
fn known(claims: &Value, path: &[String]) -> Vec<(Vec<String>, Value)> {
    let mut found = Vec::new();
    for (name, claim) in claims.as_object().expect("claims") {
        let path = [path, std::slice::from_ref(name)].concat();
        match claim["type"].as_str() {
            Some("boolean") => found.push((path, json!(true))),
            Some("string") => {
                let values = claim["enum"].as_array().into_iter().flatten();
                found.extend(values.map(|value| (path.clone(), value.clone())));
            }
            Some("object") => found.extend(known(&claim["properties"], &path)),
            _ => {}
        }
    }
    found
}

/// Returns the claims of a visitor with a single value.
fn visitor(path: &[String], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, name| json!({ name: inner }))
}

fn holds(condition: &str, claims: &Value) -> bool {
    let mut signed = claims.clone();
    let unsigned = signed.as_object_mut().expect("claims").remove("unsigned").unwrap_or(json!({}));
    let expression = Expression::parse(condition).unwrap_or_else(|error| panic!("`{condition}`: {error}"));
    let context = Context::default().with_visitor(&signed, &unsigned);
    expression.evaluate(&context).expect("a value").is_truthy()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// There is one condition per value. It holds for exactly the visitors with that value.
    #[test]
    fn template_conditions_hold_exactly_for_their_claim(signed in claims(2), free in claims(1)) {
        let mut all = signed;
        all["unsigned"] = unsigned(free);
        let schema = AdaptiveJsonSchema::new(schema_of(all.clone())).expect("a schema");
        let conditions = schema.template_conditions();
        let known = known(&all, &[]);
        prop_assert_eq!(conditions.len(), known.len());
        let claims = Claims::from_schema(schema.as_json());
        for (n, template) in conditions.iter().enumerate() {
            prop_assert!(!template.description.is_empty());
            prop_assert!(Expression::parse(&template.condition).expect("parses").is_deterministic(&claims));
            prop_assert!(!holds(&template.condition, &json!({})), "nobody is known");
            for (m, (path, value)) in known.iter().enumerate() {
                let is = holds(&template.condition, &visitor(path, value));
                prop_assert_eq!(is, n == m, "{} for {:?} = {}", template.condition, path, value);
                let opposite = if value.is_boolean() { json!(false) } else { json!("another value") };
                prop_assert!(!holds(&template.condition, &visitor(path, &opposite)));
            }
        }
    }
}

#[test]
fn longest_template_condition_parses() {
    let name = "\"".repeat(64);
    let inner = json!({ &name: choice(json!(["\\".repeat(128)])) });
    let deep = (1..5).fold(inner, |inner, _| json!({ &name: closed(inner) }));
    let schema = AdaptiveJsonSchema::new(schema_of(deep)).expect("a schema");
    let conditions = schema.template_conditions();
    assert_eq!(conditions.len(), 1);
    Expression::parse(&conditions[0].condition).expect("parses");
}

#[tokio::test]
async fn known_claims_follow_from_the_schema() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let of = (&w.org, &one.site);
    assert_eq!(kind(p.as_actor(me).org(of.0).site(of.1).get_adaptive_schema().await), ErrorKind::NotFound);
    assert_eq!(p.as_actor(me).org(of.0).site(of.1).known_claims().await.expect("asked"), Claims::default());
    set(&w, &one).await;
    let claims = p.as_actor(me).org(of.0).site(of.1).known_claims().await.expect("asked");
    let decides = |condition: &str| Expression::parse(condition).expect("parses").is_deterministic(&claims);
    assert!(decides("visitor.claims.beta") && !decides("visitor.claims.name == 'Ada'"));
    let first = p.as_actor(me).org(of.0).site(of.1).get_adaptive_schema().await.expect("the schema");
    w.clock.advance(std::time::Duration::from_millis(1));
    set(&w, &one).await;
    let same = p.as_actor(me).org(of.0).site(of.1).get_adaptive_schema().await.expect("the schema");
    assert_eq!(same.updated_at, first.updated_at, "what does not change anything is no update");
}
