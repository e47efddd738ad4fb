//! Methods of values.

mod array;
mod pattern;
mod text;

pub(super) use self::pattern::matches;
use std::mem::{Discriminant, discriminant};

use super::{
    EvalError,
    eval::{Eval, Machine},
    number,
    value::Value,
};

const BIG: [&str; 2] = ["toString", "valueOf"];
const NUMBER: [&str; 3] = ["toFixed", "toString", "valueOf"];
const PLAIN: [&str; 2] = ["toString", "valueOf"];
const OBJECT: [&str; 3] = ["hasOwnProperty", "toString", "valueOf"];
const REGEX: [&str; 4] = ["exec", "test", "toString", "valueOf"];

/// A method, identified by the type of its value and its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Method {
    of: Discriminant<Value>,
    pub(super) name: &'static str,
}

/// Returns the method of a value with a name.
pub(super) fn of(value: &Value, name: &str) -> Option<Method> {
    let all: &[&'static str] = match value {
        Value::Undefined | Value::Null => &[],
        Value::Boolean(_) | Value::Function(_) => &PLAIN,
        Value::Number(_) => &NUMBER,
        Value::BigInt(_) => &BIG,
        Value::Text(_) => &text::METHODS,
        Value::Array(_) => &array::METHODS,
        Value::Object(_) => &OBJECT,
        Value::Regex(_) => &REGEX,
    };
    let name = all.iter().find(|known| **known == name)?;
    Some(Method { of: discriminant(value), name })
}

/// Calls a method found by [`of`].
pub(super) fn call(
    machine: &mut Machine<'_>,
    this: &Value,
    method: Method,
    arguments: &[Value],
) -> Eval<Value> {
    // The cost of the lookup and of creating the result.
    machine.charge(3)?;
    if method.of != discriminant(this) {
        return Err(EvalError::wrong("a method is called of a value that it does not belong to"));
    }
    match (this, method.name) {
        (this, "valueOf") => Ok(this.clone()),
        (Value::Text(text), method) => text::call(machine, text, method, arguments),
        (Value::Array(items), method) => array::call(machine, items, method, arguments),
        (Value::Object(object), "hasOwnProperty") => {
            let key = machine.text(arg(arguments, 0))?;
            Ok(Value::Boolean(machine.own(object, &key)?.is_some()))
        }
        (Value::Regex(regex), "test") => {
            let text = machine.text(arg(arguments, 0))?;
            matches(machine, regex, &text).map(Value::Boolean)
        }
        (Value::Regex(regex), "exec") => {
            let text = machine.text(arg(arguments, 0))?;
            pattern::first(machine, regex, &text)
        }
        (Value::Number(value), "toFixed") => {
            let places = integer(machine, arguments, 0, 0.0)?;
            if !(0.0..=100.0).contains(&places) {
                return Err(EvalError::wrong("`toFixed` takes 0 to 100 digits"));
            }
            machine.text_value(number::fixed(*value, places as u8))
        }
        (Value::Number(value), "toString") => {
            let base = base(machine, arguments)?;
            machine.text_value(number::in_base(*value, base))
        }
        (Value::BigInt(value), "toString") => {
            let base = base(machine, arguments)?;
            machine.text_value(number::big_in_base(*value, base))
        }
        (this, "toString") => machine.text(this).map(Value::Text),
        _ => Ok(Value::Undefined),
    }
}

fn arg(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(&Value::Undefined)
}

/// Converts an argument to an integer.
fn integer(machine: &mut Machine<'_>, arguments: &[Value], at: usize, missing: f64) -> Eval<f64> {
    match arg(arguments, at) {
        Value::Undefined => Ok(missing),
        value => machine.number(value).map(number::whole),
    }
}

/// Returns the first of `places` where `what` begins in `text`. Charges for the compared elements.
fn find<T: PartialEq>(
    machine: &mut Machine<'_>,
    (text, what): (&[T], &[T]),
    places: impl Iterator<Item = usize>,
) -> Eval<Option<usize>> {
    let mut compared = 0;
    for at in places {
        let rest = text.get(at..).unwrap_or_default();
        let same = rest.iter().zip(what).take_while(|(a, b)| a == b).count();
        compared += 1 + same;
        machine.charge(compared / 16)?;
        compared %= 16;
        if same == what.len() {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Parses the base argument of `toString`.
fn base(machine: &mut Machine<'_>, arguments: &[Value]) -> Eval<u32> {
    let base = integer(machine, arguments, 0, 10.0)?;
    if !(2.0..=36.0).contains(&base) {
        return Err(EvalError::wrong("`toString` takes a base of 2 to 36"));
    }
    machine.charge(70)?;
    Ok(base as u32)
}

/// Converts an index argument to a position; negative indices count from the end.
fn place(
    machine: &mut Machine<'_>,
    arguments: &[Value],
    at: usize,
    length: usize,
    missing: usize,
) -> Eval<usize> {
    let place = integer(machine, arguments, at, missing as f64)?;
    let length = length as f64;
    let place = if place < 0.0 { (length + place).max(0.0) } else { place.min(length) };
    Ok(place as usize)
}

/// Returns the index argument of `at`, or `None` if it is out of range.
fn at_index(machine: &mut Machine<'_>, arguments: &[Value], length: usize) -> Eval<Option<usize>> {
    let index = integer(machine, arguments, 0, 0.0)?;
    let index = if index < 0.0 { length as f64 + index } else { index };
    Ok((index >= 0.0 && index < length as f64).then_some(index as usize))
}
