//! String methods that accept a regular expression or a string.

use std::sync::Arc;

use smallvec::smallvec;

use super::arguments::{arg, find};
use crate::{
    EvalError, MAX_ITEMS, MAX_TEXT,
    machine::{Eval, Machine},
    regex::{MAX_COMPILER_VISITS, Regex, RegexMatch, VISITS_A_STEP},
    value::Value,
};

/// Returns `true` if the regular expression matches anywhere in the string.
pub(crate) fn matches(machine: &mut Machine<'_>, regex: &Regex, text: &str) -> Eval<bool> {
    let characters = characters(machine, text)?;
    Ok(regex.find(&characters, 0, &mut machine.left)?.is_some())
}

/// Returns the first match as an array with the whole match and its groups, or `null`.
pub(super) fn first(machine: &mut Machine<'_>, regex: &Regex, text: &str) -> Eval<Value> {
    let characters = characters(machine, text)?;
    match regex.find(&characters, 0, &mut machine.left)? {
        None => Ok(Value::Null),
        Some(found) => {
            let groups = groups(machine, &characters, &found)?;
            machine.array(groups)
        }
    }
}

pub(super) fn call(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, args: &[Value]) -> Eval<Value> {
    match (method, arg(args, 0)) {
        ("match", Value::Regex(regex)) if regex.is_global() => {
            let characters = characters(machine, text)?;
            let all = find_matches(machine, regex, &characters)?;
            if all.is_empty() {
                return Ok(Value::Null);
            }
            let found = all.iter().map(|found| slice(&characters, found.whole_range())).collect();
            machine.array(found)
        }
        ("match", Value::Regex(regex)) => first(machine, regex, text),
        ("search", Value::Regex(regex)) => {
            let characters = characters(machine, text)?;
            let found = regex.find(&characters, 0, &mut machine.left)?;
            Ok(Value::Number(found.map_or(-1.0, |found| {
                characters[..found.whole_range().0].iter().map(|c| c.len_utf16()).sum::<usize>() as f64
            })))
        }
        ("match" | "search", other) => {
            let source = match other {
                Value::Undefined => "".into(),
                other => machine.text(other)?,
            };
            machine.charge(source.len())?;
            let mut visits = MAX_COMPILER_VISITS;
            let regex = Regex::new(&source, "", &mut visits);
            machine.charge((MAX_COMPILER_VISITS - visits) / VISITS_A_STEP)?;
            let regex = regex.map_err(EvalError::wrong_value)?;
            call(machine, text, method, &[Value::Regex(regex.into())])
        }
        ("split", separator) => split(machine, text, separator, arg(args, 1)),
        (_, Value::Regex(regex)) => {
            if method == "replaceAll" && !regex.is_global() {
                return Err(EvalError::wrong_value(
                    "`replaceAll` requires a regular expression with the flag `g`",
                ));
            }
            let characters = characters(machine, text)?;
            let places = if regex.is_global() {
                find_matches(machine, regex, &characters)?
            } else {
                regex.find(&characters, 0, &mut machine.left)?.into_iter().collect()
            };
            replace(
                machine,
                &PatternMatches { text, characters, found: places, names: regex.groups() },
                arg(args, 1),
            )
        }
        (_, what) => {
            let what = machine.text(what)?;
            let characters = characters(machine, text)?;
            let what = self::characters(machine, &what)?;
            let most = if method == "replace" { 1 } else { usize::MAX };
            let places = find_plain(machine, &characters, &what, most)?;
            replace(machine, &PatternMatches { text, characters, found: places, names: &[] }, arg(args, 1))
        }
    }
}

fn characters(machine: &mut Machine<'_>, text: &str) -> Eval<Vec<char>> {
    machine.charge(text.len() / 16)?;
    Ok(text.chars().collect())
}

fn slice(characters: &[char], (from, to): (usize, usize)) -> Value {
    if let [character] = &characters[from..to] {
        return Value::from(&*character.encode_utf8(&mut [0; 4]));
    }
    Value::from(characters[from..to].iter().collect::<String>())
}

/// Returns the whole match and the groups. Each group may be as long as the whole match and is charged by its length.
fn groups(machine: &mut Machine<'_>, characters: &[char], found: &RegexMatch) -> Eval<Vec<Value>> {
    let within = found.groups.iter().skip(1);
    let length: usize = within.clone().flatten().map(|(from, to)| to - from).sum();
    machine.charge(within.len() + length / 16)?;
    let value = |range: &Option<_>| range.map_or(Value::Undefined, |range| slice(characters, range));
    Ok(found.groups.iter().map(value).collect())
}

/// Returns all non-overlapping matches.
fn find_matches(machine: &mut Machine<'_>, regex: &Regex, text: &[char]) -> Eval<Vec<RegexMatch>> {
    let mut places = Vec::new();
    let mut at = 0;
    while at <= text.len() {
        machine.charge(1)?;
        let Some(found) = regex.find(text, at, &mut machine.left)? else { break };
        let (from, to) = found.whole_range();
        at = if to == from { to + 1 } else { to };
        places.push(found);
    }
    Ok(places)
}

/// Returns at most `most` non-overlapping occurrences of a substring.
fn find_plain(machine: &mut Machine<'_>, text: &[char], what: &[char], most: usize) -> Eval<Vec<RegexMatch>> {
    let mut places = Vec::new();
    let mut at = 0;
    let Some(last) = text.len().checked_sub(what.len()) else { return Ok(places) };
    while places.len() < most
        && let Some(from) = find(machine, text, what, at..=last)?
    {
        machine.charge(1)?;
        places.push(RegexMatch { groups: smallvec![Some((from, from + what.len()))] });
        at = from + what.len().max(1);
    }
    Ok(places)
}

/// The matches to replace.
struct PatternMatches<'p> {
    text: &'p Arc<str>,
    characters: Vec<char>,
    found: Vec<RegexMatch>,
    names: &'p [Option<String>],
}

fn replace(machine: &mut Machine<'_>, places: &PatternMatches<'_>, with: &Value) -> Eval<Value> {
    let text = &places.characters[..];
    let pattern = match with {
        Value::Function(_) => None,
        with => Some(machine.text(with)?),
    };
    let mut out = String::new();
    let mut copied = 0;
    for found in &places.found {
        let (from, to) = found.whole_range();
        out.extend(&text[copied..from]);
        copied = to;
        match &pattern {
            Some(pattern) => expand(machine, pattern, text, found, places.names, &mut out)?,
            None => {
                let arguments = arguments(machine, places, found)?;
                let replaced = machine.call(with, arguments.into())?;
                out.push_str(&machine.text(&replaced)?);
            }
        }
        if out.len() > MAX_TEXT {
            return Err(EvalError::TextTooLong);
        }
    }
    out.extend(&text[copied..]);
    machine.text_value(out)
}

/// Returns the arguments of a replacement function: match, groups, position, string, and the named groups, if any.
fn arguments(machine: &mut Machine<'_>, places: &PatternMatches<'_>, found: &RegexMatch) -> Eval<Vec<Value>> {
    let mut arguments = groups(machine, &places.characters, found)?;
    let (from, _) = found.whole_range();
    machine.charge(from / 16)?;
    let before = places.characters[..from].iter().map(|c| c.len_utf16()).sum::<usize>();
    arguments.push(Value::Number(before as f64));
    arguments.push(Value::Text(places.text.clone()));
    if places.names.iter().any(Option::is_some) {
        let named = places.names.iter().zip(&arguments);
        let named = named.filter_map(|(name, group)| Some((name.as_deref()?.into(), group.clone())));
        let named = machine.object(named.collect())?;
        arguments.push(named);
    }
    Ok(arguments)
}

/// Appends a replacement, expanding `$1` and the other placeholders.
fn expand(
    machine: &mut Machine<'_>,
    pattern: &str,
    text: &[char],
    found: &RegexMatch,
    names: &[Option<String>],
    out: &mut String,
) -> Eval<()> {
    machine.charge(1 + pattern.len() / 16)?;
    let (from, to) = found.whole_range();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let mut push = |range: (usize, usize)| out.extend(&text[range.0..range.1]);
        let group = |n: usize| found.groups.get(n).filter(|_| n > 0);
        let digit =
            |at: usize| after.as_bytes().get(at).filter(|b| b.is_ascii_digit()).map(|b| usize::from(b - 48));
        let two = digit(0).zip(digit(1)).map(|(a, b)| a * 10 + b).filter(|n| group(*n).is_some());
        let one = digit(0).filter(|n| group(*n).is_some());
        let named = after.strip_prefix('<').filter(|_| names.iter().any(Option::is_some));
        machine.charge(named.map_or(0, str::len) / 16)?;
        let taken = match after.bytes().next() {
            Some(b'$') => {
                out.push('$');
                1
            }
            Some(sign @ (b'&' | b'`' | b'\'')) => {
                push(match sign {
                    b'&' => (from, to),
                    b'`' => (0, from),
                    _ => (to, text.len()),
                });
                1
            }
            Some(b'0'..=b'9') if two.or(one).is_some() => {
                let n = two.or(one).unwrap_or_default();
                group(n).copied().flatten().into_iter().for_each(push);
                if two.is_some() { 2 } else { 1 }
            }
            _ => match named.and_then(|named| named.split_once('>')) {
                Some((name, _)) => {
                    let n = names.iter().position(|known| known.as_deref() == Some(name));
                    n.and_then(|n| found.groups[n]).into_iter().for_each(push);
                    name.len() + 2
                }
                None => {
                    out.push('$');
                    0
                }
            },
        };
        if out.len() > MAX_TEXT {
            return Err(EvalError::TextTooLong);
        }
        machine.charge(out.len() / 64)?;
        rest = &after[taken..];
    }
    out.push_str(rest);
    Ok(())
}

fn split(machine: &mut Machine<'_>, text: &Arc<str>, separator: &Value, limit: &Value) -> Eval<Value> {
    let most = match limit {
        Value::Undefined => usize::MAX,
        limit => {
            let limit = machine.number(limit)?;
            crate::number::to_i32(limit) as u32 as usize
        }
    };
    if most == 0 {
        return machine.array(Vec::new());
    }
    let characters = characters(machine, text)?;
    let places = match separator {
        Value::Undefined => return machine.array(vec![Value::Text(text.clone())]),
        Value::Regex(regex) => find_matches(machine, &regex.without_sticky(), &characters)?,
        separator => {
            let separator = machine.text(separator)?;
            let separator = self::characters(machine, &separator)?;
            // Request two more matches, because matches at both ends may not separate anything.
            find_plain(machine, &characters, &separator, most.min(MAX_ITEMS) + 2)?
        }
    };
    let mut parts = Vec::new();
    let mut from = 0;
    for found in &places {
        let (start, end) = found.whole_range();
        // An empty match separates two characters, but not a character from the start or end.
        if start == end && (start == from || start == characters.len()) {
            continue;
        }
        parts.push(slice(&characters, (from, start)));
        if found.groups.len() > 1 {
            parts.extend(groups(machine, &characters, found)?.into_iter().skip(1));
        }
        from = end;
        if parts.len() >= most {
            break;
        }
        if parts.len() > MAX_ITEMS {
            return Err(EvalError::TooManyItems);
        }
    }
    let empty = characters.is_empty() && places.iter().any(|found| found.whole_range() == (0, 0));
    if !empty {
        parts.push(slice(&characters, (from, characters.len())));
    }
    parts.truncate(most);
    machine.array(parts)
}
