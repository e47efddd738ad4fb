//! Number parsing and formatting with JavaScript semantics.

use super::{characters::is_blank, token::TokenKind};

/// Parses the number literal at the start of the source. Also returns its length in bytes.
pub(super) fn literal(text: &str) -> Result<(TokenKind, usize), &'static str> {
    let bytes = text.as_bytes();
    let radix = match bytes.get(..2) {
        Some(b"0x" | b"0X") => 16,
        Some(b"0o" | b"0O") => 8,
        Some(b"0b" | b"0B") => 2,
        _ => return decimal(text),
    };
    let length = digits(&bytes[2..], radix)?;
    let body: String = text[2..2 + length].chars().filter(|c| *c != '_').collect();
    if bytes.get(2 + length) == Some(&b'n') {
        let big = i128::from_str_radix(&body, radix).map_err(|_| TOO_BIG)?;
        return Ok((TokenKind::BigInt(big), length + 3));
    }
    Ok((TokenKind::Number(integer(&body, radix)), length + 2))
}

/// Converts a whole string to a number, or to `NaN` if it is not numeric.
pub(super) fn parse(text: &str) -> f64 {
    let text = text.trim_matches(is_blank);
    let radix = match text.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => {
            return match text {
                "" => 0.0,
                "Infinity" | "+Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                _ if text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b)) => {
                    text.parse().unwrap_or(f64::NAN)
                }
                _ => f64::NAN,
            };
        }
    };
    let body = &text[2..];
    let right = !body.is_empty() && body.chars().all(|c| c.is_digit(radix));
    if right { integer(body, radix) } else { f64::NAN }
}

/// Formats a number as the shortest string that parses to the same number.
pub(super) fn write(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// Formats a number with `places` (at most 100) decimal places. Ties are rounded away from zero.
pub(super) fn fixed(number: f64, places: u8) -> String {
    ryu_js::Buffer::new().format_to_fixed(number, places).to_owned()
}

/// Formats a number in a base from 2 to 36.
pub(super) fn in_base(number: f64, base: u32) -> String {
    if base == 10 || !number.is_finite() {
        return write(number);
    }
    let digit = |value: f64| char::from_digit(value as u32, base).unwrap_or('0');
    let base_f = f64::from(base);
    let value = number.abs();
    let mut whole = value.floor();
    let mut fraction = value - whole;
    let mut after = Vec::new();
    // Half the distance to the next number. Digits below it are not significant.
    let mut delta = ((value.next_up() - value) / 2.0).max(f64::from_bits(1));
    while fraction >= delta {
        fraction *= base_f;
        delta *= base_f;
        let next = fraction.floor();
        after.push(next);
        fraction -= next;
        if (fraction > 0.5 || (fraction == 0.5 && next % 2.0 == 1.0)) && fraction + delta > 1.0 {
            loop {
                match after.pop() {
                    None => {
                        whole += 1.0;
                        break;
                    }
                    Some(last) if last + 1.0 < base_f => {
                        after.push(last + 1.0);
                        break;
                    }
                    Some(_) => {}
                }
            }
            break;
        }
    }
    let mut before = Vec::new();
    // Digits beyond 2^53 are not significant. As in JavaScript engines, all but one of them are written as zeros.
    while whole / base_f >= 9_007_199_254_740_992.0 {
        whole /= base_f;
        before.push('0');
    }
    loop {
        let last = whole % base_f;
        before.push(digit(last));
        whole = (whole - last) / base_f;
        if whole <= 0.0 {
            break;
        }
    }
    let mut text = if number < 0.0 { "-".to_owned() } else { String::new() };
    text.extend(before.into_iter().rev());
    if !after.is_empty() {
        text.push('.');
        text.extend(after.into_iter().map(digit));
    }
    text
}

/// Formats a big integer in a base from 2 to 36.
pub(super) fn big_in_base(number: i128, base: u32) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        digits.push(char::from_digit((rest % u128::from(base)) as u32, base).unwrap_or('0'));
        rest /= u128::from(base);
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.into_iter().rev().collect()
}

/// Converts a number to the 32-bit integer on which bitwise operators work.
pub(super) fn to_i32(number: f64) -> i32 {
    if !number.is_finite() {
        return 0;
    }
    number.trunc().rem_euclid(4_294_967_296.0) as u32 as i32
}

/// Removes the fraction of a number. `NaN` becomes 0.
pub(super) fn truncate_number(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.trunc() }
}

/// Computes a power, including the cases where JavaScript differs from IEEE 754.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// Compares a big integer with a number. Returns `None` for `NaN`.
pub(super) fn compare_big(big: i128, number: f64) -> Option<std::cmp::Ordering> {
    if number.is_nan() {
        return None;
    }
    if number >= 1.7e38 {
        return Some(std::cmp::Ordering::Less);
    }
    if number <= -1.7e38 {
        return Some(std::cmp::Ordering::Greater);
    }
    let floor = number.floor();
    Some(big.cmp(&(floor as i128)).then(if number > floor {
        std::cmp::Ordering::Less
    } else {
        std::cmp::Ordering::Equal
    }))
}

const TOO_BIG: &str = "exceeds the range of big integers";

fn decimal(text: &str) -> Result<(TokenKind, usize), &'static str> {
    let bytes = text.as_bytes();
    let run = |from: usize| match bytes.get(from) {
        Some(b) if b.is_ascii_digit() => digits(&bytes[from..], 10),
        _ => Ok(0),
    };
    let mut at = run(0)?;
    let whole = &text[..at];
    if bytes.get(at) == Some(&b'n') {
        if whole.len() > 1 && whole.starts_with('0') {
            return Err("begins with 0, which a big integer does not allow");
        }
        let big = whole.replace('_', "").parse().map_err(|_| TOO_BIG)?;
        return Ok((TokenKind::BigInt(big), at + 1));
    }
    if whole.len() > 1 && whole.starts_with('0') {
        if whole.contains('_') {
            return Err("begins with 0 and contains `_`");
        }
        if whole.bytes().all(|b| b < b'8') {
            return Ok((TokenKind::Number(integer(whole, 8)), at));
        }
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        at += run(at)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = run(at + 1 + sign)?;
        if exponent == 0 {
            return Err("has an exponent without digits");
        }
        at += 1 + sign + exponent;
    }
    let number = text[..at].replace('_', "").parse().map_err(|_| "is not a number")?;
    Ok((TokenKind::Number(number), at))
}

/// Returns the length of a run of digits, where `_` may separate digits.
fn digits(bytes: &[u8], radix: u32) -> Result<usize, &'static str> {
    let is_digit = |at: usize| bytes.get(at).is_some_and(|b| char::from(*b).is_digit(radix));
    let mut at = 0;
    while is_digit(at) || (bytes.get(at) == Some(&b'_') && at > 0) {
        if bytes[at] == b'_' && !(is_digit(at - 1) && is_digit(at + 1)) {
            return Err("has a `_` that is not between digits");
        }
        at += 1;
    }
    if at == 0 { Err("is a number prefix without digits") } else { Ok(at) }
}

fn integer(digits: &str, radix: u32) -> f64 {
    u128::from_str_radix(digits, radix).map_or_else(
        |_| {
            let step =
                |sum: f64, c: char| sum * f64::from(radix) + f64::from(c.to_digit(radix).unwrap_or_default());
            digits.chars().fold(0.0, step)
        },
        |number| number as f64,
    )
}
