//! String methods. As in JavaScript, positions count UTF-16 code units. Unpaired surrogates become U+FFFD.

use std::sync::Arc;

use super::{
    arguments::{arg, at_index, find, integer, place},
    pattern,
};
use crate::{
    EvalError, MAX_TEXT,
    characters::is_blank,
    machine::{Eval, Machine},
    value::Value,
};

pub(super) const METHODS: [&str; 33] = [
    "at",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "concat",
    "endsWith",
    "includes",
    "indexOf",
    "lastIndexOf",
    "match",
    "padEnd",
    "padStart",
    "repeat",
    "replace",
    "replaceAll",
    "search",
    "slice",
    "split",
    "startsWith",
    "substr",
    "substring",
    "toLocaleLowerCase",
    "toLocaleUpperCase",
    "toLowerCase",
    "toString",
    "toUpperCase",
    "trim",
    "trimEnd",
    "trimLeft",
    "trimRight",
    "trimStart",
    "valueOf",
    "localeCompare",
];

pub(super) fn call(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, args: &[Value]) -> Eval<Value> {
    machine.charge(text.len() / 16)?;
    match method {
        "toString" => Ok(Value::Text(text.clone())),
        "toLowerCase" | "toLocaleLowerCase" => machine.text_value(text.to_lowercase()),
        "toUpperCase" | "toLocaleUpperCase" => machine.text_value(text.to_uppercase()),
        "trim" => machine.text_value(text.trim_matches(is_blank)),
        "trimStart" | "trimLeft" => machine.text_value(text.trim_start_matches(is_blank)),
        "trimEnd" | "trimRight" => machine.text_value(text.trim_end_matches(is_blank)),
        "concat" => {
            let mut all = text.to_string();
            for arg in args {
                all.push_str(&machine.text(arg)?);
                machine.charge_text(all.len())?;
            }
            machine.text_value(all)
        }
        "localeCompare" => {
            let other = machine.text(arg(args, 0))?;
            Ok(Value::Number(f64::from(text.cmp(&other) as i8)))
        }
        "repeat" => repeat(machine, text, args),
        "padStart" | "padEnd" => pad(machine, text, method, args),
        "match" | "search" | "replace" | "replaceAll" | "split" => pattern::call(machine, text, method, args),
        "startsWith" | "endsWith" | "includes" | "indexOf" | "lastIndexOf" => {
            search(machine, text, method, args)
        }
        _ => part(machine, text, method, args),
    }
}

fn repeat(machine: &mut Machine<'_>, text: &str, args: &[Value]) -> Eval<Value> {
    let count = integer(machine, args, 0, 0.0)?;
    if count < 0.0 || count.is_infinite() {
        return Err(EvalError::wrong_value("`repeat` requires a non-negative number"));
    }
    if count * text.len() as f64 > MAX_TEXT as f64 {
        return Err(EvalError::TextTooLong);
    }
    // Repeating an empty string results in an empty string.
    let count = if text.is_empty() { 0 } else { count as usize };
    machine.text_value(text.repeat(count))
}

fn pad(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, args: &[Value]) -> Eval<Value> {
    let wanted = integer(machine, args, 0, 0.0)?;
    let filler: Arc<str> = match arg(args, 1) {
        Value::Undefined => " ".into(),
        filler => machine.text(filler)?,
    };
    let length = text.encode_utf16().count();
    if wanted <= length as f64 || filler.is_empty() {
        return Ok(Value::Text(text.clone()));
    }
    if wanted > MAX_TEXT as f64 {
        return Err(EvalError::TextTooLong);
    }
    let missing = wanted as usize - length;
    machine.charge(missing / 16)?;
    let filler: Vec<u16> = filler.encode_utf16().take(missing).collect();
    let padding: Vec<u16> = filler.iter().copied().cycle().take(missing).collect();
    let padding = String::from_utf16_lossy(&padding);
    machine.text_value(if method == "padStart" {
        format!("{padding}{text}")
    } else {
        format!("{text}{padding}")
    })
}

fn search(machine: &mut Machine<'_>, text: &str, method: &str, args: &[Value]) -> Eval<Value> {
    if matches!(arg(args, 0), Value::Regex(_)) && matches!(method, "startsWith" | "endsWith" | "includes") {
        return Err(EvalError::wrong_value("a string is required, not a regular expression"));
    }
    let what = machine.text(arg(args, 0))?;
    machine.charge(what.len() / 16)?;
    let units: Vec<u16> = text.encode_utf16().collect();
    let what: Vec<u16> = what.encode_utf16().collect();
    let length = units.len();
    let clamp = |at: f64| at.clamp(0.0, length as f64) as usize;
    let last = length.checked_sub(what.len());
    Ok(match method {
        "endsWith" => {
            let end = clamp(integer(machine, args, 1, length as f64)?);
            Value::Boolean(units[..end].ends_with(&what))
        }
        "startsWith" => {
            let start = clamp(integer(machine, args, 1, 0.0)?);
            Value::Boolean(units[start..].starts_with(&what))
        }
        "lastIndexOf" => {
            let given = machine.number(arg(args, 1))?;
            let from = if given.is_nan() { length } else { clamp(given) };
            let places = last.into_iter().flat_map(|last| (0..=last.min(from)).rev());
            let at = find(machine, &units, &what, places)?;
            Value::Number(at.map_or(-1.0, |at| at as f64))
        }
        _ => {
            let from = clamp(integer(machine, args, 1, 0.0)?);
            let at = find(machine, &units, &what, last.into_iter().flat_map(|last| from..=last))?;
            if method == "includes" {
                Value::Boolean(at.is_some())
            } else {
                Value::Number(at.map_or(-1.0, |at| at as f64))
            }
        }
    })
}

/// Calls a method that returns a substring.
fn part(machine: &mut Machine<'_>, text: &str, method: &str, args: &[Value]) -> Eval<Value> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let length = units.len();
    let clamp = |at: f64| at.clamp(0.0, length as f64) as usize;
    let range = match method {
        "slice" => {
            let start = place(machine, args, 0, length, 0)?;
            start..place(machine, args, 1, length, length)?
        }
        "substring" => {
            let start = clamp(integer(machine, args, 0, 0.0)?);
            let end = clamp(integer(machine, args, 1, length as f64)?);
            start.min(end)..start.max(end)
        }
        "substr" => {
            let start = place(machine, args, 0, length, 0)?;
            let count = clamp(integer(machine, args, 1, length as f64)?);
            start..(start + count).min(length)
        }
        "at" => match at_index(machine, args, length)? {
            None => return Ok(Value::Undefined),
            Some(at) => at..at + 1,
        },
        "charAt" => {
            let at = integer(machine, args, 0, 0.0)?;
            if at < 0.0 || at >= length as f64 { 0..0 } else { at as usize..at as usize + 1 }
        }
        "charCodeAt" | "codePointAt" => return code(machine, &units, method, args),
        _ => return Ok(Value::Undefined),
    };
    let part = units.get(range).unwrap_or_default();
    machine.text_value(String::from_utf16_lossy(part))
}

fn code(machine: &mut Machine<'_>, units: &[u16], method: &str, args: &[Value]) -> Eval<Value> {
    let at = integer(machine, args, 0, 0.0)?;
    let from = if at < 0.0 { None } else { units.get(at as usize..) };
    let Some((first, rest)) = from.and_then(<[u16]>::split_first) else {
        return Ok(if method == "charCodeAt" { Value::Number(f64::NAN) } else { Value::Undefined });
    };
    let pair = [*first, rest.first().copied().unwrap_or_default()];
    let point = char::decode_utf16(pair).next().and_then(Result::ok);
    Ok(Value::Number(match point {
        Some(point) if method == "codePointAt" => f64::from(point as u32),
        _ => f64::from(*first),
    }))
}
