//! Tests that evaluation terminates for all inputs.

use proptest::prelude::*;
use serde_json::json;

use super::{context, value};
use crate::*;

#[test]
fn fifty_levels_are_allowed_and_one_more_is_refused() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("!", "1", ""),
        ("- ", "1", ""),
        ("f(", "1", ")"),
        ("a[", "1", "]"),
        ("`${", "1", "}`"),
        ("x => ", "1", ""),
        ("1 ? 1 : ", "1", ""),
        ("2 ** ", "1", ""),
        ("({a:", "1", "})"),
    ] {
        let nested = |levels: usize| format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
        // An object needs parentheses, which are a nesting level too.
        let most = if open == "({a:" { MAX_EXPRESSION_DEPTH / 2 } else { MAX_EXPRESSION_DEPTH };
        Expression::parse(&nested(most)).unwrap();
        let error = Expression::parse(&nested(most + 1)).unwrap_err().to_string();
        assert!(error.contains("exceeds the limit of 50"), "{open}: {error}");
    }
}

#[test]
fn expressions_of_maximum_length_fit_a_1_mib_stack() {
    let run = || {
        for part in [
            "(", "[", "!", "-", "a=>", "f(", "`${", "{", "a?b:", "2**", "new ", "typeof ", "({a:", "/(",
            "a??",
        ] {
            let _ = value(&part.repeat(MAX_LENGTH / part.len()));
        }
        // Chains are not nested, so all of these are valid.
        for (first, part) in
            [("1", "+1"), ("a", ".a"), ("a", "()"), ("a", "[0]"), ("1", "||1"), ("1", ",1"), ("1", "-1")]
        {
            let source = format!("{first}{}", part.repeat((MAX_LENGTH - 1) / part.len()));
            let expression = Expression::parse(&source).unwrap();
            expression.evaluate(&context()).unwrap();
            let _ = expression.reads();
        }
        for source in [
            "(f => f(f))(f => f(f))",
            "(function f(n) { return f(n + 1) })(0)",
            "[1].map(function f(x) { return [x].map(f) })",
            "'x'.replace('x', function f(x) { return x.replace('x', f) })",
        ] {
            assert_eq!(value(source), "failed: values or calls are nested too deeply", "{source}");
        }
    };
    // Half the usual stack size of a thread, in an unoptimized build.
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_text_of_1024_characters_is_read_and_one_of_1025_refused() {
    let text = |length: usize| format!("'{}'", "ä".repeat(length - 2));
    assert!(Expression::parse(&text(1024)).is_ok());
    let error = Expression::parse(&text(1025)).unwrap_err();
    assert_eq!(error.position(), 1025);
    assert!(error.to_string().contains("1024"), "{error}");
}

#[test]
fn unbounded_growth_fails_with_a_limit_error() {
    let thousand = "'1234567890'.repeat(100).split('')";
    for (source, error) in [
        ("'x'.repeat(100001)", EvalError::TextTooLong),
        ("'x'.padStart(1e9)", EvalError::TextTooLong),
        ("'x'.repeat(1 / 0)", EvalError::Wrong("`repeat` requires a non-negative number".into())),
        ("'x'.repeat(60000).concat('x'.repeat(60000))", EvalError::TextTooLong),
        ("'x'.repeat(60000) + 'x'.repeat(60000)", EvalError::TextTooLong),
        ("`${'x'.repeat(60000)}${'x'.repeat(60000)}`", EvalError::TextTooLong),
        ("'x'.repeat(1000).replaceAll('x', 'y'.repeat(1000))", EvalError::TextTooLong),
        ("'x'.repeat(10001).split('')", EvalError::TooManyItems),
        ("'xy'.repeat(50000).split('y')", EvalError::TooManyItems),
        ("[...'x'.repeat(10001)]", EvalError::TooManyItems),
        (&format!("{thousand}.map(x => {thousand})"), EvalError::Steps),
        (&format!("{thousand}.flatMap(x => [1,2,3,4,5,6,7,8,9,0,1])"), EvalError::TooManyItems),
        (&format!("{thousand}.reduce((a, x) => [a], 1)"), EvalError::TooDeep),
        (&format!("{thousand}.reduce((a, x) => ({{ a }}), 1)"), EvalError::TooDeep),
        (&format!("{thousand}.reduce((f, x) => () => f, 1)"), EvalError::TooDeep),
        (&format!("{thousand}.slice(0, 60).reduce((a, x) => [a, a], 1) + ''"), EvalError::Steps),
        (&format!("{thousand}.slice(0, 60).reduce((a, x) => [a, a], []).flat(1e9)"), EvalError::Steps),
        ("/(a*)*b/.test('a'.repeat(50))", EvalError::Steps),
        ("/(a|aa)+$/.test('a'.repeat(50) + 'b')", EvalError::Steps),
    ] {
        let found = Expression::parse(source).unwrap().evaluate(&context());
        assert_eq!(found.map(|value| value.type_name()), Err(error), "{source}");
    }
}

#[test]
fn nested_regex_repetitions_are_rejected_unless_empty() {
    let nested = |inner: &str| format!("/{}{inner}{}/.test('')", "(?:".repeat(20), "){1000}".repeat(20));
    assert_eq!(value(&nested("")), "true");
    let refused = value(&nested("a"));
    assert!(refused.ends_with("is a regular expression with too many repetitions"), "{refused}");
}

#[test]
fn lists_of_ten_thousand_items_are_supported() {
    let all = "'x'.repeat(10000).split('')";
    assert_eq!(value(&format!("{all}.every(x => x == 'x')")), "true");
    assert_eq!(value(&format!("{all}.length")), "10000");
    assert_eq!(value("[...'x'.repeat(10000)].length"), "10000");
    // Parts beyond the limit do not count.
    assert_eq!(value("'x'.repeat(50000).split('', 2)"), r#"["x", "x"]"#);
}

#[test]
fn expressions_that_share_a_budget_stop_together() {
    let expression = Expression::parse("'x'.repeat(1000).split('').map(x => x + 1).length").unwrap();
    let mut budget = Budget(16_000);
    assert!(expression.evaluate_within(&context(), &mut budget).is_ok());
    assert!(budget.0 > 0 && budget.0 < 16_000);
    assert_eq!(expression.evaluate_within(&context(), &mut budget).err(), Some(EvalError::Steps));
    assert_eq!(budget.0, 0);
}

#[test]
fn repeated_long_text_operations_exceed_the_step_budget() {
    // Two strings that differ only in the last of 100,000 characters, and 4,096 copies of the first.
    let long = |what: &str| {
        let many = format!("{}[t]{}", "d(".repeat(12), ")".repeat(12));
        let many = format!("(d => {many})(a => a.concat(a))");
        format!("((t, w) => (a => {what})({many}))('x'.repeat(99999) + 'y', 'x'.repeat(99999) + 'z')")
    };
    for what in [
        "[a.includes(w), a.includes(w)]",
        "a.indexOf(w)",
        "a.lastIndexOf(w)",
        "w in a",
        "a.filter(x => x === w)",
        "a.filter(x => x !== w)",
        "a.filter(x => x == w)",
        "a.filter(x => x < w)",
        "a.concat([w]).sort()",
        "a.map(x => ({ [x]: 1, [w]: 2 }))",
        "(o => a.map(x => o[w]))({ [t]: 1 })",
        "(o => a.map(x => o.hasOwnProperty(w)))({ [t]: 1 })",
        "(o => a.filter(x => w in o))({ [t]: 1 })",
        "(o => a.map(x => ({ ...o })))({ [t]: 1, [w]: 2 })",
        "a.map(x => `${x}`)",
        "a.map(x => ''.includes(x))",
        "a.map(x => x.split('', 1))",
        "a.map(x => x.startsWith(w))",
        "t.includes('x'.repeat(50000) + 'y')",
        "t.lastIndexOf('x'.repeat(50000) + 'z')",
        "t.split('x'.repeat(50000) + 'z')",
        "t.replaceAll('x'.repeat(50000) + 'z', '')",
    ] {
        let source = long(what);
        let found = Expression::parse(&source).unwrap().evaluate(&context());
        assert_eq!(found.map(|value| value.type_name()), Err(EvalError::Steps), "{what}");
    }
    // Comparing strings of different lengths has no additional cost.
    assert_eq!(
        value(&long("[a.includes(w.slice(1)), a.includes('z'), a.includes(t)]")),
        "[false, false, true]"
    );
}

/// Returns the number of steps taken by an expression that matches a string against a pattern.
fn steps(text: &str, pattern: &str) -> usize {
    steps_of(text, &format!("visitor.claims.unsigned.text =~ {pattern}"))
}

/// Returns the number of steps taken by an expression that reads a string.
fn steps_of(text: &str, source: &str) -> usize {
    let expression = Expression::parse(source).unwrap();
    let context = Context::default().with_visitor(&json!({}), &json!({ "text": text }));
    let mut budget = Budget(MAX_STEPS);
    let _ = expression.evaluate_within(&context, &mut budget);
    (MAX_STEPS - budget.0) as usize
}

#[test]
fn number_formatting_cost_is_independent_of_digits() {
    let steps = |number: f64| {
        let expression = Expression::parse("visitor.claims.list.map(x => x + '').length").unwrap();
        let context = Context::default().with_visitor(&json!({ "list": vec![number; 1_000] }), &json!({}));
        let mut budget = Budget(MAX_STEPS);
        assert!(expression.evaluate_within(&context, &mut budget).is_ok());
        MAX_STEPS - budget.0
    };
    // The cost of formatting a number does not depend on its number of digits.
    assert!(steps(-1.315_217_626_854_673_5e262) <= steps(1.0) + 1_000 * 2);
}

#[test]
fn regex_comparisons_and_saved_positions_cost_steps() {
    // A back-reference is charged for the compared characters.
    let twice = "x".repeat(1_800);
    assert!(steps(&twice, r"/^(x{900})\1/") >= 1_800);
    // A lookahead and a restart are charged for the saved positions.
    let groups = "()".repeat(400);
    assert!(steps("xxxxxxxxxx", &format!("/(?:(?=x)x)*$|{groups}/")) >= 10 * 800 / 8);
    assert!(steps(&"x".repeat(100), &format!("/y|z{groups}/")) >= 100 * 800 / 8);
    // The same applies to each iteration that clears its groups, and to the ranges of a class.
    assert!(steps("xxxxxxxxxx", &format!("/^(?:x|{groups})*$/")) >= 10 * 800 / 8);
    let ranges: String = (0..400).map(|n| char::from_u32(0x4e00 + 2 * n).unwrap()).collect();
    assert!(steps(&"x".repeat(100), &format!("/[{ranges}]/")) >= 100 * 400 / 8);
    // Each group is charged for the length of its match.
    let nested = format!("{}.*{}", "(".repeat(25), ")".repeat(25));
    let source = format!("visitor.claims.unsigned.text.match(/{nested}/).length");
    let context = Context::default().with_visitor(&json!({}), &json!({ "text": "x".repeat(10_000) }));
    let mut budget = Budget(MAX_STEPS);
    assert!(Expression::parse(&source).unwrap().evaluate_within(&context, &mut budget).is_ok());
    assert!((MAX_STEPS - budget.0) as usize >= 25 * 10_000 / 16);
}

#[test]
fn parameters_and_their_scopes_cost_steps() {
    let names: Vec<String> = (0..400).map(|n| char::from_u32(0x4e00 + n).unwrap().to_string()).collect();
    let calls = |parameters: &str, body: &str| {
        steps_of("12345", &format!("[...visitor.claims.unsigned.text].map(({parameters})=>{body}).length"))
    };
    let all = names.join(",");
    let bound = calls(&all, "0");
    // All parameters are bound, also those without an argument.
    assert!(bound >= 5 * 400, "{bound}");
    // The default value of a parameter is evaluated in a scope with the preceding parameters.
    let defaults = format!("{},{}", names[..300].join(","), names[300..320].join("=0,") + "=0");
    let with_defaults = calls(&defaults, "0");
    assert!(with_defaults >= 5 * 20 * 300, "{with_defaults}");
    // A lookup compares the names of the scope, and the bytes of names of equal length.
    let looked_up = calls(&all, &vec![names[0].as_str(); 50].join("+"));
    let bytes = 400 * names[0].len() / 16;
    assert!(looked_up >= bound + 5 * 50 * (400 / 16 + bytes), "{looked_up}");
}

#[test]
fn case_folding_and_class_predicates_cost_steps() {
    let text = "ä".repeat(100);
    assert!(steps(&text, "/ö/i") >= steps(&text, "/ö/") + 100 * 2);
    assert!(steps(&text, "/[ö]/i") >= steps(&text, "/[ö]/") + 100 * 2);
    let (lower, upper) = ("ä".repeat(50), "Ä".repeat(50));
    let (same, other) =
        (steps(&lower.repeat(2), r"/^(ä{50})\1$/i"), steps(&(lower + &upper), r"/^(ä{50})\1$/i"));
    assert!(other >= same + 50 * 2, "{other} {same}");
    for predicate in [r"\d", r"\D"] {
        let text = if predicate == r"\d" { "x" } else { "1" };
        let pattern = format!("/[{}]/", predicate.repeat(400));
        assert!(steps(&text.repeat(100), &pattern) >= 100 * 400 / 8, "{predicate}");
    }
}

#[test]
fn parsing_costs_the_length_and_the_regex_instructions() {
    let cost = |source: &str| {
        let mut budget = Budget(MAX_STEPS);
        let parsed = Expression::parse_within(source, &mut budget);
        let cost = MAX_STEPS - budget.0;
        // An expression that was parsed before has the same cost.
        if let Some(parsed) = parsed {
            let mut budget = Budget(MAX_STEPS);
            assert!(budget.charge_parsed(&parsed));
            assert_eq!(MAX_STEPS - budget.0, cost, "{source}");
        }
        cost as usize
    };
    assert_eq!(cost("1 + 1"), 5);
    assert_eq!(cost("1 + +"), 5, "an invalid expression has a cost too");
    assert!(cost("[/.{999}/, /.{999}/]") >= 2 * 999 / 4);
    assert!(cost("[/.{999}/, /.{999}/ 1]") >= 2 * 999 / 4, "also an invalid one");
    let compiled = steps_of("", "'x'.match('.{999}')");
    assert!(compiled >= 999 / 4, "{compiled}");
    let mut budget = Budget(4);
    assert!(Expression::parse_within("1 + 1", &mut budget).is_none());
    assert_eq!(budget.0, 0);
    assert_eq!(inline_within("1 + 1", &context(), &mut Budget(4)), "{{1 + 1}}");
    assert!(!condition_within("1 + 1", &context(), &mut Budget(4)));
    let parsed = Expression::parse("1 + 1").unwrap();
    assert!(!Budget(4).charge_parsed(&parsed));
}

#[test]
fn regex_repetitions_of_an_expression_are_bounded() {
    let list = |regex: &str, count: usize| format!("[{}].length", vec![regex; count].join(","));
    assert_eq!(value(&list("/.{999}/", 9)), "9");
    let rejected = value(&list("/.{999}/", 11));
    assert!(rejected.ends_with("is a regular expression with too many repetitions"), "{rejected}");
    // Each iteration of a repetition visits the empty groups again, although they result in no instruction.
    let rejected = value(&format!("/(?:{}){{0,500}}/", "(?:)".repeat(50)));
    assert!(rejected.ends_with("is a regular expression with too many repetitions"), "{rejected}");
}

#[test]
fn context_nested_too_deep_is_cut_off() {
    let mut json = serde_json::json!(1);
    for _ in 0..500 {
        json = serde_json::json!([json]);
    }
    let context = Context::empty().with_value("a", &json);
    assert_eq!(inline("a[0][0].length + `${a}`", &context), "1");
}

/// Fragments of random expressions.
const PIECES: [&str; 60] = [
    "visitor",
    ".claims",
    ".plan",
    ".tags",
    "space.vars.limit",
    "missing",
    "1",
    "0",
    "-1.5e3",
    "10n",
    "'a'",
    "\"b\"",
    "`c`",
    "`${",
    "}`",
    "true",
    "null",
    "undefined",
    "/a+/g",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "({",
    "})",
    ",",
    ";",
    ":",
    "?",
    "?.",
    "??",
    "||",
    "&&",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "==",
    "===",
    "<",
    ">=",
    "in ",
    "=~",
    "!",
    "~",
    "typeof ",
    "x => ",
    "(x, y) => ",
    ".map(",
    ".reduce(",
    ".repeat(",
    ".split('')",
    ".replace(",
    "...",
    "new ",
    "function f(x) { return ",
];

proptest! {
    #[test]
    fn random_token_sequences_stay_within_the_step_budget(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 1..40),
    ) {
        let source = pieces.concat();
        match Expression::parse(&source) {
            Err(error) => prop_assert!((1..=source.chars().count() + 1).contains(&error.position())),
            Ok(expression) => {
                let mut budget = Budget(MAX_STEPS);
                let value = expression.evaluate_within(&context(), &mut budget);
                prop_assert!(budget.0 > 0 || value.is_err());
                let _ = expression.reads();
                prop_assert_eq!(expression.to_string(), source);
            }
        }
    }

    #[test]
    fn arbitrary_text_never_panics(source in "\\PC{0,60}") {
        let _ = value(&source);
        let _ = inline(&source, &context());
        let _ = condition(&source, &context());
    }

    #[test]
    fn number_formatting_round_trips(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO) {
        let written = inline(&format!("{number:e}"), &context());
        prop_assert_eq!(written.parse::<f64>().unwrap(), number);
        prop_assert_eq!(inline(&format!("+'{written}'"), &context()), written);
    }

    #[test]
    fn calculations_agree_with_floating_point(a in -1e6..1e6_f64, b in -1e6..1e6_f64, c in 1..1000_i32) {
        let source = format!("({a} + {b}) * {c} - {a} / {c} % {c}");
        let expected = (a + b) * f64::from(c) - a / f64::from(c) % f64::from(c);
        let Ok(Value::Number(found)) = Expression::parse(&source).unwrap().evaluate(&context()) else {
            return Err(TestCaseError::fail("no number"));
        };
        prop_assert_eq!(found, expected);
    }
}
