//! Conversions and operators with JavaScript semantics: strings, numbers, equality, ordering and arithmetic.

use std::{cmp::Ordering, sync::Arc};

use super::{
    EvalError, MAX_TEXT,
    ast::{BinaryOp, Node},
    machine::{Eval, Machine},
    number,
    value::{Function, FunctionKind, Value},
};

impl Machine<'_> {
    /// Converts a value to a string.
    pub(super) fn text(&mut self, value: &Value) -> Eval<Arc<str>> {
        if let Value::Text(text) = value {
            return Ok(text.clone());
        }
        let mut out = String::new();
        self.write(value, &mut out)?;
        self.charge_text(out.len())?;
        Ok(out.into())
    }

    fn write(&mut self, value: &Value, out: &mut String) -> Eval<()> {
        self.charge(1)?;
        match value {
            Value::Undefined => out.push_str("undefined"),
            Value::Null => out.push_str("null"),
            Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(value) => out.push_str(&number::write(*value)),
            Value::BigInt(value) => out.push_str(&value.to_string()),
            Value::Text(text) => {
                self.charge_text(text.len())?;
                out.push_str(text);
            }
            Value::Array(array) => self.join(array.items(), ",", out)?,
            Value::Object(_) => out.push_str("[object Object]"),
            Value::Function(function) => out.push_str(&source(function)),
            Value::Regex(regex) => out.push_str(&regex.to_string()),
        }
        if out.len() > MAX_TEXT { Err(EvalError::TextTooLong) } else { Ok(()) }
    }

    /// Appends the items with a separator between them. `null` and `undefined` are appended as empty strings.
    pub(super) fn join(&mut self, items: &[Value], between: &str, out: &mut String) -> Eval<()> {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                out.push_str(between);
            }
            if item.is_nullish() {
                self.charge(1 + between.len() / 16)?;
            } else {
                self.charge(between.len() / 16)?;
                self.write(item, out)?;
            }
            if out.len() > MAX_TEXT {
                return Err(EvalError::TextTooLong);
            }
        }
        Ok(())
    }

    /// Converts a value to a number.
    pub(super) fn number(&mut self, value: &Value) -> Eval<f64> {
        Ok(match value {
            Value::Undefined => f64::NAN,
            Value::Null => 0.0,
            Value::Boolean(value) => f64::from(u8::from(*value)),
            Value::Number(number) => *number,
            Value::BigInt(_) => {
                return Err(EvalError::wrong_value("a big integer cannot be used as a number"));
            }
            Value::Text(text) => {
                self.charge(text.len() / 16)?;
                number::parse(text)
            }
            Value::Array(_) | Value::Object(_) | Value::Function(_) | Value::Regex(_) => {
                number::parse(&self.text(value)?)
            }
        })
    }

    /// Converts a value to a number or a big integer.
    pub(super) fn numeric(&mut self, value: &Value) -> Eval<Value> {
        match value {
            Value::BigInt(big) => Ok(Value::BigInt(*big)),
            value => self.number(value).map(Value::Number),
        }
    }

    /// Converts an object to a string. Other values are unchanged.
    fn primitive(&mut self, value: &Value) -> Eval<Value> {
        if value.is_object() { self.text(value).map(Value::Text) } else { Ok(value.clone()) }
    }

    /// Compares two values like `===`. Strings of equal length are charged by their length.
    pub(super) fn is_same(&mut self, a: &Value, b: &Value) -> Eval<bool> {
        if let (Value::Text(a), Value::Text(b)) = (a, b)
            && a.len() == b.len()
        {
            self.charge(a.len() / 16)?;
        }
        Ok(a.is_same(b))
    }

    pub(super) fn loosely_equal(&mut self, a: &Value, b: &Value) -> Eval<bool> {
        if a.is_nullish() || b.is_nullish() {
            return Ok(a.is_nullish() && b.is_nullish());
        }
        if a.is_object() && b.is_object() {
            return Ok(a.is_same(b));
        }
        let (a, b) = (self.primitive(a)?, self.primitive(b)?);
        Ok(match (&a, &b) {
            (Value::Text(a), Value::Text(b)) => {
                self.charge(a.len().min(b.len()) / 16)?;
                a == b
            }
            (Value::BigInt(a), Value::BigInt(b)) => a == b,
            (Value::BigInt(big), other) | (other, Value::BigInt(big)) => {
                number::compare_big(*big, self.number(other)?) == Some(Ordering::Equal)
            }
            _ => self.number(&a)? == self.number(&b)?,
        })
    }

    /// Returns `Some(true)` if `a` is less than `b`, or `None` if the values cannot be compared.
    pub(super) fn less(&mut self, a: &Value, b: &Value) -> Eval<Option<bool>> {
        let (a, b) = (self.primitive(a)?, self.primitive(b)?);
        let order = match (&a, &b) {
            (Value::Text(a), Value::Text(b)) => {
                self.charge(a.len().min(b.len()) / 16)?;
                Some(order(a, b))
            }
            (Value::BigInt(a), Value::BigInt(b)) => Some(a.cmp(b)),
            (Value::BigInt(a), b) => number::compare_big(*a, self.number(b)?),
            (a, Value::BigInt(b)) => number::compare_big(*b, self.number(a)?).map(Ordering::reverse),
            (a, b) => self.number(a)?.partial_cmp(&self.number(b)?),
        };
        Ok(order.map(Ordering::is_lt))
    }

    pub(super) fn add(&mut self, a: &Value, b: &Value) -> Eval<Value> {
        let (a, b) = (self.primitive(a)?, self.primitive(b)?);
        if matches!(a, Value::Text(_)) || matches!(b, Value::Text(_)) {
            let (a, b) = (self.text(&a)?, self.text(&b)?);
            if a.len() + b.len() > MAX_TEXT {
                return Err(EvalError::TextTooLong);
            }
            self.charge(1)?;
            return self.text_value([&*a, &*b].concat());
        }
        self.arithmetic(BinaryOp::Add, &a, &b)
    }

    pub(super) fn arithmetic(&mut self, operator: BinaryOp, a: &Value, b: &Value) -> Eval<Value> {
        let (a, b) = match (self.numeric(a)?, self.numeric(b)?) {
            (Value::BigInt(a), Value::BigInt(b)) => return big_int_arithmetic(operator, a, b),
            (Value::Number(a), Value::Number(b)) => (a, b),
            _ => return Err(EvalError::wrong_value("a big integer cannot be mixed with a number")),
        };
        let bits = |number: f64| number::to_i32(number);
        let shift = bits(b) as u32 & 31;
        Ok(Value::Number(match operator {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            BinaryOp::Remainder => a % b,
            BinaryOp::Power => number::power(a, b),
            BinaryOp::ShiftLeft => f64::from(bits(a) << shift),
            BinaryOp::ShiftRight => f64::from(bits(a) >> shift),
            BinaryOp::ShiftRightZero => f64::from(bits(a) as u32 >> shift),
            BinaryOp::BitAnd => f64::from(bits(a) & bits(b)),
            BinaryOp::BitOr => f64::from(bits(a) | bits(b)),
            BinaryOp::BitXor => f64::from(bits(a) ^ bits(b)),
            _ => f64::NAN,
        }))
    }
}

/// Compares two strings by UTF-16 code units. This is the byte order, except that characters outside the BMP precede
/// those from U+E000 to U+FFFF.
fn order(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(a, b)| a != b) {
        None => a.len().cmp(&b.len()),
        Some((0xee | 0xef, 0xf0..)) => Ordering::Greater,
        Some((0xf0.., 0xee | 0xef)) => Ordering::Less,
        Some((a, b)) => a.cmp(&b),
    }
}

fn big_int_arithmetic(operator: BinaryOp, a: i128, b: i128) -> Eval<Value> {
    let count = || u32::try_from(b).ok();
    let result = match operator {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => {
            return Err(EvalError::wrong_value("a big integer cannot be divided by zero"));
        }
        BinaryOp::Divide => a.checked_div(b),
        BinaryOp::Remainder => a.checked_rem(b),
        BinaryOp::Power => count().and_then(|count| a.checked_pow(count)),
        BinaryOp::ShiftLeft => count()
            .filter(|count| *count < 127)
            .and_then(|count| 1_i128.checked_shl(count))
            .and_then(|factor| a.checked_mul(factor)),
        BinaryOp::ShiftRight => count().map(|count| a >> count.min(127)),
        BinaryOp::ShiftRightZero => {
            return Err(EvalError::wrong_value("`>>>` does not support big integers"));
        }
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitOr => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
        _ => None,
    };
    result.map(Value::BigInt).ok_or(EvalError::NumberTooBig)
}

/// Returns the source of a function.
fn source(function: &Function) -> String {
    match &function.0 {
        FunctionKind::Method(method) => format!("function {}() {{ [native code] }}", method.name),
        FunctionKind::Written { program, node, .. } => match &program.nodes[*node] {
            Node::Function(written) => program.source[written.span.clone()].to_owned(),
            _ => String::new(),
        },
    }
}
