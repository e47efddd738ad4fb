//! The evaluator, with limits on steps, depth and size.

use std::{collections::BTreeMap, sync::Arc};

use smallvec::{SmallVec, smallvec};

use super::{
    EvalError,
    ast::{BinaryOp, FunctionNode, LogicalOp, MemberKey, Node, NodeId, Property, SequenceItem, UnaryOp},
    limits::{BYTES_A_STEP, MAX_ITEMS, MAX_TEXT},
    machine::{Eval, Machine},
    methods, number,
    value::{Bindings, Function, FunctionKind, ObjectValue, Scope, Value, comparisons},
};

/// Maximum recursion depth of the evaluator. Both nesting in the source and function calls count.
const MAX_RECURSION: u32 = 64;

/// Names of inaccessible members. In JavaScript they expose the prototype chain.
const BLOCKED_MEMBERS: [&str; 3] = ["constructor", "prototype", "__proto__"];

/// The arguments of a call. Callbacks rarely take more than an item, its index and the array.
pub(super) type Arguments = SmallVec<[Value; 4]>;

/// The scope of a node: the parameters of its enclosing functions.
pub(super) type ScopeRef<'s> = Option<&'s Arc<Scope>>;

impl Machine<'_> {
    /// Evaluates a node.
    pub(super) fn eval(&mut self, id: NodeId, names: ScopeRef<'_>) -> Eval<Value> {
        if self.depth == MAX_RECURSION {
            return Err(EvalError::TooDeep);
        }
        self.depth += 1;
        let value = self.chain(id, names);
        self.depth -= 1;
        value
    }

    /// Evaluates a chain in a loop, starting at its innermost node.
    fn chain(&mut self, id: NodeId, names: ScopeRef<'_>) -> Eval<Value> {
        let mut path: SmallVec<[NodeId; 8]> = SmallVec::new();
        let mut at = id;
        while let Some(first) = self.program.first(at) {
            path.push(at);
            at = first;
        }
        self.charge(1 + path.len())?;
        let mut value = self.leaf(at, names)?;
        while let Some(at) = path.pop() {
            value = self.link(at, value, names)?;
        }
        Ok(value)
    }

    /// Evaluates a node of a chain, given the value of the preceding node.
    fn link(&mut self, id: NodeId, first: Value, names: ScopeRef<'_>) -> Eval<Value> {
        match &self.program.nodes[id] {
            Node::Binary(operator, _, second) => {
                let second = self.eval(*second, names)?;
                self.binary(*operator, &first, &second)
            }
            Node::Logical(operator, _, second) => {
                let decided = match operator {
                    LogicalOp::And => !first.is_truthy(),
                    LogicalOp::Or => first.is_truthy(),
                    LogicalOp::Nullish => !first.is_nullish(),
                };
                if decided { Ok(first) } else { self.eval(*second, names) }
            }
            Node::Conditional(_, yes, no) => self.eval(if first.is_truthy() { *yes } else { *no }, names),
            Node::Member(_, key) => self.member(&first, key, names),
            Node::Call(callee, arguments) => match &self.program.nodes[*callee] {
                Node::Member(_, key) => self.call_member(&first, key, arguments, names),
                _ if first.is_nullish() => Ok(Value::Undefined),
                _ => {
                    let arguments = self.items(arguments, names)?;
                    self.call(&first, arguments.into())
                }
            },
            _ => Ok(first),
        }
    }

    /// Evaluates a node that does not continue a chain.
    fn leaf(&mut self, id: NodeId, names: ScopeRef<'_>) -> Eval<Value> {
        match &self.program.nodes[id] {
            Node::Literal(literal) => Ok(Value::from_literal(literal)),
            Node::Name(name) => self.name(name, names),
            Node::Template(text, values) => self.template(text, values, names),
            Node::Array(items) => {
                let items = self.items(items, names)?;
                self.array(items)
            }
            Node::Object(members) => self.object_literal(members, names),
            Node::Unary(operator, operand) => self.unary(*operator, *operand, names),
            Node::Update { by, prefix, of } => {
                let old = self.eval(*of, names)?;
                let old = self.numeric(&old)?;
                match (&old, prefix) {
                    (_, false) => Ok(old),
                    (Value::BigInt(big), true) => {
                        big.checked_add(i128::from(*by)).map(Value::BigInt).ok_or(EvalError::NumberTooBig)
                    }
                    (old, true) => Ok(Value::Number(self.number(old)? + f64::from(*by))),
                }
            }
            Node::Sequence(all) => {
                let mut last = Value::Undefined;
                for id in all {
                    last = self.eval(*id, names)?;
                }
                Ok(last)
            }
            Node::Function(_) => {
                let kind =
                    FunctionKind::Written { program: self.program.clone(), node: id, scope: names.cloned() };
                Ok(Value::Function(Function(kind).into()))
            }
            // These nodes begin chains, which `chain` evaluates.
            Node::Binary(..)
            | Node::Logical(..)
            | Node::Conditional(..)
            | Node::Member(..)
            | Node::Call(..) => Ok(Value::Undefined),
        }
    }

    fn name(&mut self, name: &str, names: ScopeRef<'_>) -> Eval<Value> {
        let (known, cost) = names.map_or((None, 0), |names| names.get(name));
        self.charge(cost)?;
        Ok(known.or_else(|| self.context.get(name)).cloned().unwrap_or(Value::Undefined))
    }

    fn template(&mut self, text: &str, values: &[(NodeId, Arc<str>)], names: ScopeRef<'_>) -> Eval<Value> {
        let mut all = text.to_owned();
        for (value, after) in values {
            let value = self.eval(*value, names)?;
            all.push_str(&self.text(&value)?);
            all.push_str(after);
            if all.len() > MAX_TEXT {
                return Err(EvalError::TextTooLong);
            }
        }
        self.text_value(all)
    }

    fn items(&mut self, items: &[SequenceItem], names: ScopeRef<'_>) -> Eval<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SequenceItem::One(id) => values.push(self.eval(*id, names)?),
                SequenceItem::Hole => values.push(Value::Undefined),
                SequenceItem::Spread(id) => match self.eval(*id, names)? {
                    Value::Array(array) => {
                        self.charge(array.items().len())?;
                        values.extend_from_slice(array.items());
                    }
                    Value::Text(text) => {
                        // One character more than the limit suffices to exceed it.
                        let characters = text.chars().take(MAX_ITEMS + 1);
                        self.charge(characters.clone().count())?;
                        values.extend(characters.map(|c| Value::from(&*c.encode_utf8(&mut [0; 4]))));
                    }
                    _ => return Err(EvalError::wrong_value("`...` requires an array or a string")),
                },
            }
            if values.len() > MAX_ITEMS {
                return Err(EvalError::TooManyItems);
            }
        }
        Ok(values)
    }

    fn object_literal(&mut self, members: &[Property], names: ScopeRef<'_>) -> Eval<Value> {
        let mut object = BTreeMap::new();
        for member in members {
            match member {
                Property::One(key, value) => {
                    let key = self.key(key, names)?;
                    let value = self.eval(*value, names)?;
                    if !BLOCKED_MEMBERS.contains(&&*key) {
                        self.charge_name(&key, object.len())?;
                        object.insert(key, value);
                    }
                }
                Property::Spread(id) => match self.eval(*id, names)? {
                    Value::Object(other) => {
                        self.charge(other.members().count())?;
                        for (name, value) in other.shared() {
                            self.charge_name(&name, object.len())?;
                            object.insert(name, value);
                        }
                    }
                    Value::Array(array) => {
                        let numbered = array.items().iter().enumerate();
                        self.charge(array.items().len())?;
                        object.extend(numbered.map(|(n, value)| (n.to_string().into(), value.clone())));
                    }
                    Value::Text(text) => {
                        self.charge(text.len())?;
                        let units = text.encode_utf16().enumerate();
                        object.extend(units.map(|(n, unit)| (n.to_string().into(), Value::from_unit(unit))));
                    }
                    _ => {}
                },
            }
        }
        self.object(object)
    }

    fn key(&mut self, key: &MemberKey, names: ScopeRef<'_>) -> Eval<Arc<str>> {
        match key {
            MemberKey::Name(name) => Ok(name.clone()),
            MemberKey::Computed(id) => {
                let value = self.eval(*id, names)?;
                self.text(&value)
            }
        }
    }

    /// Returns a member of a value. Members of `undefined` and `null` are `undefined`.
    fn member(&mut self, object: &Value, key: &MemberKey, names: ScopeRef<'_>) -> Eval<Value> {
        if object.is_nullish() {
            return Ok(Value::Undefined);
        }
        let key = self.key(key, names)?;
        self.get(object, &key)
    }

    pub(super) fn get(&mut self, object: &Value, key: &str) -> Eval<Value> {
        if BLOCKED_MEMBERS.contains(&key) {
            return Ok(Value::Undefined);
        }
        let own = match object {
            Value::Object(object) => self.own_member(object, key)?,
            Value::Array(array) if key == "length" => Some(Value::Number(array.items().len() as f64)),
            Value::Array(array) => index(key).and_then(|index| array.items().get(index).cloned()),
            Value::Text(text) => self.text_member(text, key)?,
            Value::Function(function) if key == "length" => self.arity(function),
            _ => None,
        };
        Ok(own.unwrap_or_else(|| {
            let method = methods::find_method(object, key);
            method.map_or(Value::Undefined, |method| {
                Value::Function(Function(FunctionKind::Method(method)).into())
            })
        }))
    }

    /// Returns an own member of an object.
    pub(super) fn own_member(&mut self, object: &ObjectValue, name: &str) -> Eval<Option<Value>> {
        self.charge(object.compared(name) / BYTES_A_STEP)?;
        Ok(object.get(name).cloned())
    }

    /// Charges for inserting `name` into a map of `among` names.
    fn charge_name(&mut self, name: &str, among: usize) -> Eval<()> {
        self.charge(name.len() * comparisons(among) / BYTES_A_STEP)
    }

    fn text_member(&mut self, text: &str, key: &str) -> Eval<Option<Value>> {
        if key == "length" {
            self.charge(text.len() / BYTES_A_STEP)?;
            return Ok(Some(Value::Number(text.encode_utf16().count() as f64)));
        }
        let Some(index) = index(key) else { return Ok(None) };
        self.charge(text.len() / BYTES_A_STEP)?;
        let unit = text.encode_utf16().nth(index);
        Ok(unit.map(Value::from_unit))
    }

    fn arity(&self, function: &Function) -> Option<Value> {
        let FunctionKind::Written { program, node, .. } = &function.0 else { return None };
        let Node::Function(function) = &program.nodes[*node] else { return None };
        let plain = |parameter: &&super::ast::Parameter| !parameter.rest && parameter.default.is_none();
        Some(Value::Number(function.parameters.iter().take_while(plain).count() as f64))
    }

    fn call_member(
        &mut self,
        object: &Value,
        key: &MemberKey,
        arguments: &[SequenceItem],
        names: ScopeRef<'_>,
    ) -> Eval<Value> {
        if object.is_nullish() {
            return Ok(Value::Undefined);
        }
        let key = self.key(key, names)?;
        let member = self.get(object, &key)?;
        if member.is_nullish() {
            return Ok(Value::Undefined);
        }
        let arguments = self.items(arguments, names)?;
        match &member {
            Value::Function(function) => match function.0 {
                FunctionKind::Method(method) => methods::call(self, object, method, &arguments),
                FunctionKind::Written { .. } => self.call(&member, arguments.into()),
            },
            _ => Err(EvalError::wrong_value("the called value is not a function")),
        }
    }

    /// Calls a function defined in the expression.
    pub(super) fn call(&mut self, function: &Value, arguments: Arguments) -> Eval<Value> {
        let Value::Function(called) = function else {
            return Err(EvalError::wrong_value("the called value is not a function"));
        };
        let FunctionKind::Written { program, node, scope } = &called.0 else {
            return Err(EvalError::wrong_value("a method must be called on a value"));
        };
        // Contexts contain no functions, so all functions belong to this expression.
        let Node::Function(written) = &self.program.nodes[*node] else {
            return Err(EvalError::wrong_value("the called value is not a function"));
        };
        debug_assert!(Arc::ptr_eq(program, self.program), "a function belongs to its expression");
        // All parameters are bound, also those without an argument.
        self.charge(1 + arguments.len().max(written.parameters.len()))?;
        let scope = self.bind_parameters(function, written, scope.as_ref(), arguments)?;
        written.body.map_or(Ok(Value::Undefined), |body| self.eval(body, Some(&scope)))
    }

    /// Creates the scope of a function call.
    fn bind_parameters(
        &mut self,
        function: &Value,
        written: &FunctionNode,
        above: Option<&Arc<Scope>>,
        arguments: Arguments,
    ) -> Eval<Arc<Scope>> {
        let scope = |names, above: Option<Arc<Scope>>| {
            Scope::new(names, above).map(Arc::new).ok_or(EvalError::TooDeep)
        };
        let mut above = above.cloned();
        if let Some(name) = &written.name {
            above = Some(scope(smallvec![(name.clone(), function.clone())], above)?);
        }
        let mut arguments = arguments.into_iter();
        let mut names = Bindings::with_capacity(written.parameters.len());
        for parameter in &written.parameters {
            let value = if parameter.rest {
                let rest = arguments.by_ref().collect();
                self.array(rest)?
            } else {
                arguments.next().unwrap_or(Value::Undefined)
            };
            let value = match (value, parameter.default) {
                (Value::Undefined, Some(default)) => {
                    // A default value can use the preceding parameters.
                    self.charge(names.len())?;
                    let before = scope(names.clone(), above.clone())?;
                    self.eval(default, Some(&before))?
                }
                (value, _) => value,
            };
            names.push((parameter.name.clone(), value));
        }
        scope(names, above)
    }

    fn unary(&mut self, operator: UnaryOp, operand: NodeId, names: ScopeRef<'_>) -> Eval<Value> {
        let value = self.eval(operand, names)?;
        Ok(match operator {
            UnaryOp::Not => Value::Boolean(!value.is_truthy()),
            UnaryOp::Void => Value::Undefined,
            UnaryOp::Delete => Value::Boolean(true),
            UnaryOp::TypeOf => value.type_name().into(),
            UnaryOp::Plus if matches!(value, Value::BigInt(_)) => {
                return Err(EvalError::wrong_value("`+` cannot convert a big integer to a number"));
            }
            UnaryOp::Plus => Value::Number(self.number(&value)?),
            UnaryOp::Minus => match self.numeric(&value)? {
                Value::BigInt(big) => Value::BigInt(big.checked_neg().ok_or(EvalError::NumberTooBig)?),
                value => Value::Number(-self.number(&value)?),
            },
            UnaryOp::BitNot => match self.numeric(&value)? {
                Value::BigInt(big) => Value::BigInt(!big),
                value => Value::Number(f64::from(!number::to_i32(self.number(&value)?))),
            },
        })
    }

    fn binary(&mut self, operator: BinaryOp, a: &Value, b: &Value) -> Eval<Value> {
        use BinaryOp as Op;
        Ok(Value::Boolean(match operator {
            Op::Same => self.is_same(a, b)?,
            Op::NotSame => !self.is_same(a, b)?,
            Op::Equal => self.loosely_equal(a, b)?,
            Op::NotEqual => !self.loosely_equal(a, b)?,
            Op::Less => self.less(a, b)? == Some(true),
            Op::Greater => self.less(b, a)? == Some(true),
            Op::LessEqual => self.less(b, a)? == Some(false),
            Op::GreaterEqual => self.less(a, b)? == Some(false),
            Op::In => self.is_in(a, b)?,
            Op::InstanceOf => {
                return Err(EvalError::wrong_value(
                    "the right side of `instanceof` must be a class, and \
                                             expressions have none",
                ));
            }
            Op::Matches => match b {
                Value::Regex(regex) => {
                    let text = self.text(a)?;
                    methods::matches(self, regex, &text)?
                }
                _ => {
                    return Err(EvalError::wrong_value(
                        "the right side of `=~` must be a regular expression",
                    ));
                }
            },
            Op::Add => return self.add(a, b),
            _ => return self.arithmetic(operator, a, b),
        }))
    }

    fn is_in(&mut self, what: &Value, whole: &Value) -> Eval<bool> {
        match whole {
            Value::Array(array) => {
                self.charge(array.items().len())?;
                for item in array.items() {
                    if self.is_same(item, what)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Text(text) => {
                let what = self.text(what)?;
                self.charge(text.len() / BYTES_A_STEP)?;
                Ok(text.contains(&*what))
            }
            Value::Object(object) => {
                let key = self.text(what)?;
                Ok(self.own_member(object, &key)?.is_some())
            }
            _ => {
                Err(EvalError::wrong_value("the right side of `in` must be an array, a string or an object"))
            }
        }
    }
}

/// Parses a canonical array index, for example `1` but not `01`.
fn index(key: &str) -> Option<usize> {
    let plain = key == "0" || key.starts_with(|c: char| c.is_ascii_digit() && c != '0');
    if plain { key.parse().ok() } else { None }
}
