//! Array methods. Arrays are immutable: methods that sort or reverse return a new array.

use std::sync::Arc;

use smallvec::smallvec;

use super::arguments::{arg, at_index, integer, place};
use crate::{
    EvalError, MAX_ITEMS,
    machine::{Eval, Machine},
    value::{Array, Value},
};

pub(super) const METHODS: [&str; 27] = [
    "at",
    "concat",
    "every",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "lastIndexOf",
    "map",
    "reduce",
    "reduceRight",
    "reverse",
    "slice",
    "some",
    "sort",
    "toReversed",
    "toSorted",
    "toString",
    "valueOf",
    "with",
];

pub(super) fn call(
    machine: &mut Machine<'_>,
    array: &Arc<Array>,
    method: &str,
    args: &[Value],
) -> Eval<Value> {
    let items = array.items();
    machine.charge(items.len() / 8)?;
    match method {
        "at" => Ok(at_index(machine, args, items.len())?.map_or(Value::Undefined, |at| items[at].clone())),
        "slice" => {
            let from = place(machine, args, 0, items.len(), 0)?;
            let to = place(machine, args, 1, items.len(), items.len())?;
            machine.array(items.get(from..to).unwrap_or_default().to_vec())
        }
        "with" => with(machine, items.to_vec(), args),
        "reverse" | "toReversed" => machine.array(items.iter().rev().cloned().collect()),
        "sort" | "toSorted" => {
            let sorted = sort(machine, items.to_vec(), arg(args, 0))?;
            machine.array(sorted)
        }
        "join" | "toString" => {
            let between: Arc<str> = match arg(args, 0) {
                between if method == "join" && !matches!(between, Value::Undefined) => {
                    machine.text(between)?
                }
                _ => ",".into(),
            };
            let mut out = String::new();
            machine.join(items, &between, &mut out)?;
            machine.text_value(out)
        }
        "concat" => {
            let mut all = items.to_vec();
            for arg in args {
                match arg {
                    Value::Array(more) => all.extend_from_slice(more.items()),
                    value => all.push(value.clone()),
                }
                if all.len() > MAX_ITEMS {
                    return Err(EvalError::TooManyItems);
                }
            }
            machine.array(all)
        }
        "flat" => {
            let depth = integer(machine, args, 0, 1.0)?;
            let mut all = Vec::new();
            flatten(machine, items, depth, &mut all)?;
            machine.array(all)
        }
        "includes" | "indexOf" | "lastIndexOf" => search(machine, items, method, args),
        "reduce" | "reduceRight" => reduce(machine, array, method, args),
        _ => call_for_each(machine, array, method, args),
    }
}

fn with(machine: &mut Machine<'_>, mut items: Vec<Value>, args: &[Value]) -> Eval<Value> {
    let at = at_index(machine, args, items.len())?;
    match at.and_then(|at| items.get_mut(at)) {
        None => return Err(EvalError::wrong_value("`with` requires the index of an item")),
        Some(item) => *item = arg(args, 1).clone(),
    }
    machine.array(items)
}

fn search(machine: &mut Machine<'_>, items: &[Value], method: &str, args: &[Value]) -> Eval<Value> {
    let what = arg(args, 0);
    // The start index of an empty array is not evaluated.
    if items.is_empty() {
        return Ok(if method == "includes" { false.into() } else { (-1.0).into() });
    }
    machine.charge(items.len())?;
    let number = |at: Option<usize>| Value::Number(at.map_or(-1.0, |at| at as f64));
    if method == "lastIndexOf" {
        let from = match args.get(1) {
            None => f64::INFINITY,
            Some(_) => integer(machine, args, 1, 0.0)?,
        };
        let length = items.len() as f64;
        let end = if from < 0.0 { length + from + 1.0 } else { (from + 1.0).min(length) }.max(0.0) as usize;
        for at in (0..end).rev() {
            if machine.is_same(&items[at], what)? {
                return Ok(number(Some(at)));
            }
        }
        return Ok(number(None));
    }
    let from = place(machine, args, 1, items.len(), 0)?;
    let includes = method == "includes";
    let nan = |value: &Value| matches!(value, Value::Number(number) if number.is_nan());
    for (at, item) in items.iter().enumerate().skip(from) {
        if machine.is_same(item, what)? || includes && nan(item) && nan(what) {
            return Ok(if includes { true.into() } else { number(Some(at)) });
        }
    }
    Ok(if includes { false.into() } else { number(None) })
}

fn flatten(machine: &mut Machine<'_>, items: &[Value], depth: f64, all: &mut Vec<Value>) -> Eval<()> {
    machine.charge(items.len())?;
    for item in items {
        match item {
            Value::Array(inner) if depth >= 1.0 => flatten(machine, inner.items(), depth - 1.0, all)?,
            item => all.push(item.clone()),
        }
        if all.len() > MAX_ITEMS {
            return Err(EvalError::TooManyItems);
        }
    }
    Ok(())
}

fn function(args: &[Value]) -> Eval<&Value> {
    match arg(args, 0) {
        function @ Value::Function(_) => Ok(function),
        _ => Err(EvalError::wrong_value("a function like `x => x.name` is required")),
    }
}

fn reduce(machine: &mut Machine<'_>, array: &Arc<Array>, method: &str, args: &[Value]) -> Eval<Value> {
    let function = function(args)?;
    let mut rest: Vec<(usize, &Value)> = array.items().iter().enumerate().collect();
    // Items are popped from the end.
    if method == "reduce" {
        rest.reverse();
    }
    let mut sum = match args.get(1) {
        Some(start) => start.clone(),
        None => match rest.pop() {
            Some((_, first)) => first.clone(),
            None => {
                return Err(EvalError::wrong_value("`reduce` of an empty array requires an initial value"));
            }
        },
    };
    while let Some((at, item)) = rest.pop() {
        let arguments = smallvec![sum, item.clone(), Value::Number(at as f64), Value::Array(array.clone())];
        sum = machine.call(function, arguments)?;
    }
    Ok(sum)
}

/// Calls a method that applies a function to each item.
fn call_for_each(machine: &mut Machine<'_>, array: &Arc<Array>, method: &str, args: &[Value]) -> Eval<Value> {
    let function = function(args)?;
    let items = array.items();
    let mut answers = Vec::new();
    let backwards = method.starts_with("findLast");
    for step in 0..items.len() {
        let at = if backwards { items.len() - 1 - step } else { step };
        let item = &items[at];
        let answer = machine
            .call(function, smallvec![item.clone(), Value::Number(at as f64), Value::Array(array.clone())])?;
        match (method, answer.is_truthy()) {
            ("every", false) => return Ok(Value::Boolean(false)),
            ("some", true) => return Ok(Value::Boolean(true)),
            ("find" | "findLast", true) => return Ok(item.clone()),
            ("findIndex" | "findLastIndex", true) => return Ok(Value::Number(at as f64)),
            ("filter", true) => answers.push(item.clone()),
            ("map", _) => answers.push(answer),
            ("flatMap", _) => flatten(machine, &[answer], 1.0, &mut answers)?,
            _ => {}
        }
    }
    match method {
        "map" | "filter" | "flatMap" => machine.array(answers),
        "every" => Ok(Value::Boolean(true)),
        "some" => Ok(Value::Boolean(false)),
        "findIndex" | "findLastIndex" => Ok(Value::Number(-1.0)),
        _ => Ok(Value::Undefined),
    }
}

/// Sorts items with a merge sort, which is stable and tolerates inconsistent comparison functions.
fn sort(machine: &mut Machine<'_>, items: Vec<Value>, by: &Value) -> Eval<Vec<Value>> {
    if !matches!(by, Value::Undefined | Value::Function(_)) {
        return Err(EvalError::wrong_value("`sort` requires a function"));
    }
    let (nothing, mut runs): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| matches!(item, Value::Undefined));
    let mut width = 1;
    while width < runs.len() {
        let mut merged = Vec::with_capacity(runs.len());
        for pair in runs.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(machine, left, right, by, &mut merged)?;
        }
        runs = merged;
        width *= 2;
    }
    runs.extend(nothing);
    Ok(runs)
}

fn merge(
    machine: &mut Machine<'_>,
    mut left: &[Value],
    mut right: &[Value],
    by: &Value,
    merged: &mut Vec<Value>,
) -> Eval<()> {
    while let (Some((a, left_rest)), Some((b, right_rest))) = (left.split_first(), right.split_first()) {
        machine.charge(2)?;
        let right_first = match by {
            Value::Undefined => {
                let (a, b) = (machine.text(a)?, machine.text(b)?);
                machine.less(&Value::Text(b), &Value::Text(a))? == Some(true)
            }
            by => {
                let order = machine.call(by, smallvec![a.clone(), b.clone()])?;
                machine.number(&order)? > 0.0
            }
        };
        if right_first {
            merged.push(b.clone());
            right = right_rest;
        } else {
            merged.push(a.clone());
            left = left_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}
