//! Methods of values.

mod arguments;
mod array;
mod pattern;
mod text;

use std::mem::discriminant;

use self::arguments::{arg, base, integer};
pub(super) use self::pattern::matches;
use super::{
    EvalError,
    machine::{Eval, Machine},
    number,
    value::{Method, Value},
};

const BIG_INT_METHODS: [&str; 2] = ["toString", "valueOf"];
const NUMBER_METHODS: [&str; 3] = ["toFixed", "toString", "valueOf"];
const COMMON_METHODS: [&str; 2] = ["toString", "valueOf"];
const OBJECT_METHODS: [&str; 3] = ["hasOwnProperty", "toString", "valueOf"];
const REGEX_METHODS: [&str; 4] = ["exec", "test", "toString", "valueOf"];

/// Returns the method of a value that has the given name.
pub(super) fn find_method(value: &Value, name: &str) -> Option<Method> {
    let all: &[&'static str] = match value {
        Value::Undefined | Value::Null => &[],
        Value::Boolean(_) | Value::Function(_) => &COMMON_METHODS,
        Value::Number(_) => &NUMBER_METHODS,
        Value::BigInt(_) => &BIG_INT_METHODS,
        Value::Text(_) => &text::METHODS,
        Value::Array(_) => &array::METHODS,
        Value::Object(_) => &OBJECT_METHODS,
        Value::Regex(_) => &REGEX_METHODS,
    };
    let name = all.iter().find(|known| **known == name)?;
    Some(Method { of: discriminant(value), name })
}

/// Calls a method returned by [`find_method`].
pub(super) fn call(
    machine: &mut Machine<'_>,
    this: &Value,
    method: Method,
    arguments: &[Value],
) -> Eval<Value> {
    // Charge for the lookup and for creating the result.
    machine.charge(3)?;
    if method.of != discriminant(this) {
        return Err(EvalError::wrong_value("the value does not have this method"));
    }
    match (this, method.name) {
        (this, "valueOf") => Ok(this.clone()),
        (Value::Text(text), method) => text::call(machine, text, method, arguments),
        (Value::Array(items), method) => array::call(machine, items, method, arguments),
        (Value::Object(object), "hasOwnProperty") => {
            let key = machine.text(arg(arguments, 0))?;
            Ok(Value::Boolean(machine.own_member(object, &key)?.is_some()))
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
                return Err(EvalError::wrong_value("`toFixed` requires 0 to 100 digits"));
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
