//! Method arguments.

use crate::{
    EvalError,
    machine::{Eval, Machine},
    number,
    value::Value,
};

pub(super) fn arg(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(&Value::Undefined)
}

/// Converts an argument to an integer.
pub(super) fn integer(machine: &mut Machine<'_>, arguments: &[Value], at: usize, missing: f64) -> Eval<f64> {
    match arg(arguments, at) {
        Value::Undefined => Ok(missing),
        value => machine.number(value).map(number::truncate_number),
    }
}

/// Returns the first position in `places` at which `what` occurs in `text`. Charges for the compared elements.
pub(super) fn find<T: PartialEq>(
    machine: &mut Machine<'_>,
    text: &[T],
    what: &[T],
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
pub(super) fn base(machine: &mut Machine<'_>, arguments: &[Value]) -> Eval<u32> {
    let base = integer(machine, arguments, 0, 10.0)?;
    if !(2.0..=36.0).contains(&base) {
        return Err(EvalError::wrong_value("`toString` requires a base from 2 to 36"));
    }
    machine.charge(70)?;
    Ok(base as u32)
}

/// Converts an index argument to a position. A negative index counts from the end.
pub(super) fn place(
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

/// Returns the position that the index argument of `at` denotes, or `None` if it is out of range.
pub(super) fn at_index(machine: &mut Machine<'_>, arguments: &[Value], length: usize) -> Eval<Option<usize>> {
    let index = integer(machine, arguments, 0, 0.0)?;
    let index = if index < 0.0 { length as f64 + index } else { index };
    Ok((index >= 0.0 && index < length as f64).then_some(index as usize))
}
