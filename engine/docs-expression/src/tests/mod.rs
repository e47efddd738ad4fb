//! Tests of the values, errors, limits and reads of expressions.

mod javascript;
mod limits;
mod table;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::*;

/// Returns the context where the tables are evaluated.
fn context() -> Context {
    let variables = |json| serde_json::from_value::<BTreeMap<String, Json>>(json).unwrap();
    let claims =
        json!({ "plan": "pro", "beta": true, "seats": 12, "tags": ["x", "yy"], "address": {}, "none": null });
    Context::empty()
        .with_visitor(&claims, &json!({ "flag": false }))
        .with_space(&variables(json!({ "version": "2.4", "limit": 50 })))
        .with_page(&variables(json!({ "on": true })))
}

fn value(source: &str) -> String {
    match Expression::parse(source) {
        Err(error) => format!("refused: {error}"),
        Ok(expression) => match expression.evaluate(&context()) {
            Err(error) => format!("failed: {error}"),
            Ok(value) => format!("{value:?}"),
        },
    }
}

fn compare(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(source, expected)| (source, value(source), expected))
        .filter(|(_, found, expected)| found != *expected)
        .map(|(source, found, expected)| format!("{source}\n    is {found}\n    not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn evaluation_matches_javascript() {
    assert!(table::JAVASCRIPT.len() > 300);
    compare(table::JAVASCRIPT);
}

#[test]
fn documented_differences_from_javascript_hold() {
    compare(table::DIFFERENCES);
}

#[test]
fn invalid_operations_return_an_error() {
    for source in [
        "'a' in missing",
        "'a' in null",
        "'a' in 5",
        "1 instanceof Date",
        "'a' =~ 'a'",
        "5()",
        "'a'()",
        "({ a: 1 }).a()",
        "(x => x)(...5)",
        "[1].map(5)",
        "[].reduce((a, b) => a)",
        "1n + 1",
        "+1n",
        "1n / 0n",
        "2n ** 200n",
        "1n >>> 0n",
        "'a'.repeat(-1)",
        "(1).toFixed(101)",
        "(1).toString(99)",
        "['a'].map('b'.concat)",
        "'a'.includes(/a/)",
        "'a'.match('(')",
        "'a'.replaceAll(/a/, '')",
    ] {
        let found = value(source);
        assert!(found.starts_with("failed: "), "{source}: {found}");
    }
}

#[test]
fn syntax_errors_report_their_position() {
    let mut wrong = Vec::new();
    for (source, position) in table::REFUSED {
        let found = Expression::parse(source).map_err(|error| error.position());
        if found != Err(*position) {
            wrong.push(format!("{source}: {found:?}, not {position}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parse_errors_state_the_position_and_the_problem() {
    let message = |source: &str| Expression::parse(source).unwrap_err().to_string();
    assert_eq!(message("a = 1"), "character 3 is an assignment, which is not supported; compare with `==`");
    assert_eq!(message("a b"), "character 3 is an unexpected `b`");
    assert_eq!(message("(a"), "character 1 is not closed");
}

#[test]
fn blank_condition_is_true_and_invalid_condition_is_false() {
    let context = context();
    for (text, holds) in [
        ("", true),
        (" \n\u{a0}", true),
        ("visitor.claims.beta", true),
        ("visitor.claims.missing", false),
        ("'false'", true),
        ("0", false),
        ("[]", true),
        ("visitor.claims.plan in missing", false),
        ("visitor.claims.", false),
        ("// only a comment", false),
    ] {
        assert_eq!(condition(text, &context), holds, "{text}");
    }
}

#[test]
fn inline_values_are_formatted_and_errors_show_the_source() {
    let context = context();
    for (text, shown) in [
        ("visitor.claims.plan", "pro"),
        ("space.vars.limit / 3", "16.666666666666668"),
        ("visitor.claims.beta", "true"),
        ("12n", "12"),
        ("null", ""),
        ("missing", ""),
        ("visitor.claims", ""),
        ("visitor.claims.tags", ""),
        ("x => x", ""),
        ("1 +", "{{1 +}}"),
        (" 'a' in 5 ", "{{ 'a' in 5 }}"),
        ("", "{{}}"),
    ] {
        assert_eq!(inline(text, &context), shown, "{text}");
    }
}

#[test]
fn reads_returns_the_paths_of_an_expression() {
    let reads = |source: &str| {
        let expression = Expression::parse(source).unwrap();
        expression.reads().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for (source, paths) in [
        ("1 + 2", ""),
        ("visitor.claims.plan == 'pro' || space.vars.x", "space.vars.x visitor.claims.plan"),
        ("visitor['claims'].plan", "visitor.claims.plan"),
        ("visitor.claims[page.vars.which]", "page.vars.which visitor.claims"),
        ("visitor.claims[page.vars.which].deep", "page.vars.which visitor.claims"),
        ("visitor.claims.tags.includes('x')", "visitor.claims.tags"),
        ("visitor.claims.plan.length", "visitor.claims.plan.length"),
        ("visitor && visitor.claims && visitor.claims.x", "visitor.claims.x"),
        ("!visitor || visitor?.claims.x", "visitor.claims.x"),
        ("visitor ? 1 : 2", ""),
        ("visitor.claims.x ? 1 : 2", "visitor.claims.x"),
        ("visitor[x] && 1", "visitor x"),
        ("(visitor || space).x", "space visitor"),
        ("[visitor].map(v => v.claims.secret)", "visitor"),
        ("[1].map(visitor => visitor.claims.x)", ""),
        ("[1].map((x, y = visitor.claims.z) => x + y)", "visitor.claims.z"),
        ("(function visitor(n) { return visitor })(1)", ""),
        ("`a${space.vars.a}b${[page.vars.b]}`", "page.vars.b space.vars.a"),
        ("({ [a]: b, ...c, d })", "a b c d"),
        ("typeof visitor.claims.x", "visitor.claims.x"),
        ("'x' in visitor.claims", "visitor.claims"),
        ("f(...g, h)", "f g h"),
        ("new Date(visitor.claims.x)", ""),
        ("(0, visitor.claims).x", "visitor.claims"),
    ] {
        assert_eq!(reads(source), paths, "{source}");
    }
}

#[test]
fn only_variables_and_enumerable_claims_are_deterministic() {
    let claims = Claims::from_schema(&json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "beta": { "type": "boolean", "description": "" },
            "plan": { "type": "string", "enum": ["free", "pro"], "description": "" },
            "name": { "type": "string", "description": "" },
            "seats": { "type": "number", "description": "" },
            "tags": { "type": "array", "items": { "type": "boolean", "description": "" }, "description": "" },
            "team": { "type": "object", "properties": { "lead": { "type": "boolean" } } },
            "unsigned": { "type": "object", "properties": {
                "flag": { "type": "boolean" }, "country": { "type": "string" },
            } },
        },
    }));
    for (source, decides) in [
        ("true", true),
        ("space.vars.a == page.vars.b", true),
        ("unknown", true),
        ("visitor.claims.beta && visitor.claims.plan == 'pro'", true),
        ("visitor.claims.plan.startsWith('p')", true),
        ("visitor.claims.team.lead", true),
        ("visitor.claims.team", true),
        ("visitor.claims.unsigned.flag", true),
        ("visitor && visitor.claims && visitor.claims.beta", true),
        ("visitor.name", true),
        ("visitor.claims.name", false),
        ("visitor.claims.beta && visitor.claims.seats > 1", false),
        ("visitor.claims.tags.includes(true)", false),
        ("visitor.claims.undeclared", false),
        ("visitor.claims.unsigned.country", false),
        ("visitor.claims.unsigned.undeclared", false),
        ("visitor.claims[page.vars.which]", false),
        ("[visitor].some(v => v.claims.name)", false),
        ("'beta' in visitor.claims", false),
    ] {
        let expression = Expression::parse(source).unwrap();
        assert_eq!(expression.is_deterministic(&claims), decides, "{source}");
    }
    let open = Claims::from_schema(&json!({ "type": "object", "properties": {
        "unsigned": { "type": "object", "properties": { "country": { "type": "string" } },
            "additionalProperties": { "type": "boolean" } },
    } }));
    for (source, decides) in [
        ("visitor.claims.unsigned.beta", true),
        ("visitor.claims.unsigned.country", false),
        ("visitor.claims.unsigned", false),
        ("visitor.claims.beta", false),
    ] {
        assert_eq!(Expression::parse(source).unwrap().is_deterministic(&open), decides, "{source}");
    }
    let nothing_known = Expression::parse("visitor.claims.beta").unwrap();
    assert!(!nothing_known.is_deterministic(&Claims::default()));
}

#[test]
fn merge_rules_read_change_request_reviews_and_actor() {
    let context = Context::empty()
        .with_value(
            "changeRequest",
            &json!({ "subject": "Fix", "outdated": false, "createdBy": { "id": "u1" } }),
        )
        .with_value("reviews", &json!([{ "status": "approved", "reviewer": { "id": "u2" } }]))
        .with_value("actor", &json!({ "id": "u2" }));
    let rule = "!changeRequest.outdated && reviews.some(r => r.status == 'approved' && \
                r.reviewer.id != changeRequest.createdBy.id)";
    assert!(condition(rule, &context));
    assert!(!condition("visitor", &context));
}

#[test]
fn expression_display_returns_its_source() {
    let expression: Expression = " a /* b */ ; ".parse().unwrap();
    assert_eq!(expression.to_string(), " a /* b */ ; ");
    assert_eq!(expression, expression.clone());
}
