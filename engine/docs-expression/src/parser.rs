//! The parser: precedence climbing over ECMAScript expressions.

mod function_literals;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use super::{
    ExpressionError, MAX_EXPRESSION_DEPTH, MAX_LENGTH,
    ast::{BinaryOp, Literal, LogicalOp, MemberKey, Node, NodeId, Program, Property, SequenceItem, UnaryOp},
    lexer, number,
    regex::{MAX_COMPILER_VISITS, Regex, VISITS_A_STEP},
    token::{Token, TokenKind},
};

/// Reserved words. They cannot be identifiers.
const RESERVED: [&str; 36] = [
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "null",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
];

/// Assignment operators.
const ASSIGNMENTS: [&str; 16] =
    ["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="];

type ParseResult<T> = Result<T, ExpressionError>;

/// Parses an expression. Charges `steps` for its length and its regular expressions, also if it is invalid. Returns
/// `None` if the length exceeds the steps.
pub(super) fn parse_within(source: &str, steps: &mut u32) -> Option<ParseResult<Program>> {
    let length = u32::try_from(source.len()).unwrap_or(u32::MAX);
    let Some(left) = steps.checked_sub(length) else {
        *steps = 0;
        return None;
    };
    let mut visits = MAX_COMPILER_VISITS;
    let parsed = parse_counted(source, &mut visits);
    let compiled = (MAX_COMPILER_VISITS - visits) / VISITS_A_STEP;
    *steps = left.saturating_sub(u32::try_from(compiled).unwrap_or(u32::MAX));
    Some(parsed)
}

/// Parses an expression.
pub(super) fn parse(source: &str) -> ParseResult<Program> {
    parse_counted(source, &mut { MAX_COMPILER_VISITS })
}

/// Parses an expression, and deducts the visits of the compiler of regular expressions from `visits`.
fn parse_counted(source: &str, visits: &mut usize) -> ParseResult<Program> {
    let before = *visits;
    let length = source.chars().count();
    if length > MAX_LENGTH {
        let at = source.char_indices().nth(MAX_LENGTH).map_or(source.len(), |(at, _)| at);
        let message = format!("exceeds the limit of {MAX_LENGTH} characters; the expression has {length}");
        return Err(ExpressionError::new(source, at, message));
    }
    let tokens = lexer::tokens(source)?;
    let (nodes, grouped, optional) = (Vec::new(), Vec::new(), Vec::new());
    let mut parser = Parser { source, tokens, at: 0, nodes, grouped, optional, depth: 0, visits };
    let root = parser.statement()?;
    let parse_cost = source.len() + (before - *parser.visits) / VISITS_A_STEP;
    let reads = OnceLock::new();
    Ok(Program { source: source.into(), nodes: parser.nodes, root, parse_cost, reads })
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    nodes: Vec<Node>,
    /// Parenthesized nodes.
    grouped: Vec<NodeId>,
    /// Chains that contain `?.`.
    optional: Vec<NodeId>,
    depth: usize,
    /// The remaining visits of the compiler of regular expressions.
    visits: &'s mut usize,
}

impl Parser<'_> {
    fn statement(&mut self) -> ParseResult<NodeId> {
        match &self.token().kind {
            TokenKind::End => return Err(self.error("is the end; an expression is required")),
            TokenKind::Sign("{") => {
                return Err(self.error("begins a block; put an object in parentheses: `({ a: 1 })`"));
            }
            TokenKind::Name(name) if &**name == "function" => {
                return Err(self.error("begins a declaration; put the function in parentheses"));
            }
            _ => {}
        }
        let root = self.sequence()?;
        self.eat(";");
        match &self.token().kind {
            TokenKind::End => Ok(root),
            TokenKind::Sign(";") => Err(self.error("begins a second statement; use one expression")),
            _ => Err(self.unexpected()),
        }
    }

    fn token(&self) -> &Token {
        // The last token is `End` and is never consumed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn error(&self, message: impl Into<Cow<'static, str>>) -> ExpressionError {
        ExpressionError::new(self.source, self.token().at, message)
    }

    fn unexpected(&self) -> ExpressionError {
        let token = self.token();
        match &token.kind {
            TokenKind::End => self.error("is the unexpected end"),
            TokenKind::Sign(sign) if ASSIGNMENTS.contains(sign) => {
                self.error("is an assignment, which is not supported; compare with `==`")
            }
            _ => {
                let text: String = self.source[token.at..token.end].chars().take(20).collect();
                self.error(format!("is an unexpected `{text}`"))
            }
        }
    }

    fn is_at_sign(&self, sign: &str) -> bool {
        matches!(self.token().kind, TokenKind::Sign(found) if found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Name(name) if &**name == word)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_at_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> ParseResult<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn literal(&mut self, value: Literal) -> NodeId {
        self.push(Node::Literal(value))
    }

    /// Runs a step one nesting level deeper.
    fn with_nesting<T>(&mut self, step: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth == MAX_EXPRESSION_DEPTH {
            return Err(self.error(format!("exceeds the limit of {MAX_EXPRESSION_DEPTH} nested levels")));
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    fn sequence(&mut self) -> ParseResult<NodeId> {
        let first = self.assignment()?;
        if !self.is_at_sign(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat(",") {
            all.push(self.assignment()?);
        }
        Ok(self.push(Node::Sequence(all)))
    }

    fn assignment(&mut self) -> ParseResult<NodeId> {
        if self.at_arrow() {
            return self.arrow();
        }
        let test = self.binary(0)?;
        if ASSIGNMENTS.into_iter().any(|sign| self.is_at_sign(sign)) {
            return Err(self.unexpected());
        }
        if !self.eat("?") {
            return Ok(test);
        }
        let yes = self.with_nesting(Self::assignment)?;
        self.expect(":")?;
        let no = self.with_nesting(Self::assignment)?;
        Ok(self.push(Node::Conditional(test, yes, no)))
    }

    /// Parses operators whose binding power is at least `least`.
    fn binary(&mut self, least: u8) -> ParseResult<NodeId> {
        let mut left = self.unary()?;
        while let Some((operator, binding)) = self.operator()
            && binding >= least
        {
            if operator == Operator::Binary(BinaryOp::Power) && self.is_bare_unary(left) {
                return Err(self.error("is a power of an operator expression; use parentheses"));
            }
            self.at += 1;
            let right = match operator {
                Operator::Binary(BinaryOp::Power) => self.with_nesting(|parser| parser.binary(binding))?,
                _ => self.binary(binding + 1)?,
            };
            left = match operator {
                Operator::Binary(operator) => self.push(Node::Binary(operator, left, right)),
                Operator::Logical(operator) => {
                    if self.mixes_nullish(operator, left) || self.mixes_nullish(operator, right) {
                        return Err(self.error("mixes `??` with `&&` or `||`; use parentheses"));
                    }
                    self.push(Node::Logical(operator, left, right))
                }
            };
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        match &self.token().kind {
            TokenKind::Name(name) if &**name == "in" => Some((Operator::Binary(BinaryOp::In), 8)),
            TokenKind::Name(name) if &**name == "instanceof" => {
                Some((Operator::Binary(BinaryOp::InstanceOf), 8))
            }
            TokenKind::Sign(sign) => operator(sign),
            _ => None,
        }
    }

    fn is_bare_unary(&self, id: NodeId) -> bool {
        matches!(self.nodes[id], Node::Unary(..)) && !self.grouped.contains(&id)
    }

    fn mixes_nullish(&self, operator: LogicalOp, id: NodeId) -> bool {
        let nullish = operator == LogicalOp::Nullish;
        matches!(self.nodes[id], Node::Logical(inner, ..) if (inner == LogicalOp::Nullish) != nullish)
            && !self.grouped.contains(&id)
    }

    fn unary(&mut self) -> ParseResult<NodeId> {
        let operator = match &self.token().kind {
            TokenKind::Sign("-") => UnaryOp::Minus,
            TokenKind::Sign("+") => UnaryOp::Plus,
            TokenKind::Sign("!") => UnaryOp::Not,
            TokenKind::Sign("~") => UnaryOp::BitNot,
            TokenKind::Sign("++") => return self.prefix(1),
            TokenKind::Sign("--") => return self.prefix(-1),
            TokenKind::Name(name) => match &**name {
                "typeof" => UnaryOp::TypeOf,
                "void" => UnaryOp::Void,
                "delete" => UnaryOp::Delete,
                _ => return self.postfix(),
            },
            _ => return self.postfix(),
        };
        self.at += 1;
        let operand = self.with_nesting(Self::unary)?;
        Ok(self.push(Node::Unary(operator, operand)))
    }

    fn prefix(&mut self, by: i8) -> ParseResult<NodeId> {
        self.at += 1;
        let of = self.with_nesting(Self::unary)?;
        self.check_place(of)?;
        Ok(self.push(Node::Update { by, prefix: true, of }))
    }

    fn postfix(&mut self) -> ParseResult<NodeId> {
        let of = self.chain()?;
        let by = match &self.token().kind {
            TokenKind::Sign("++") if !self.token().newline => 1,
            TokenKind::Sign("--") if !self.token().newline => -1,
            _ => return Ok(of),
        };
        self.check_place(of)?;
        self.at += 1;
        Ok(self.push(Node::Update { by, prefix: false, of }))
    }

    fn check_place(&self, of: NodeId) -> ParseResult<()> {
        match self.nodes[of] {
            Node::Name(_) | Node::Member(..) if !self.optional.contains(&of) => Ok(()),
            _ => Err(self.error("is `++` or `--` on a value that is not a name or a member")),
        }
    }

    /// Parses an operand and its member accesses and calls.
    fn chain(&mut self) -> ParseResult<NodeId> {
        let operand = if self.is_word("new") { self.new_object()? } else { self.operand()? };
        self.links(operand, ChainLinks::All)
    }

    fn links(&mut self, mut value: NodeId, links: ChainLinks) -> ParseResult<NodeId> {
        let mut is_optional = false;
        loop {
            value = match &self.token().kind {
                TokenKind::Sign(".") => {
                    self.at += 1;
                    let name = self.member_name()?;
                    self.push(Node::Member(value, MemberKey::Name(name)))
                }
                // Members and calls of `undefined` are `undefined`, so `?.` is equivalent to `.`.
                TokenKind::Sign("?.") if links == ChainLinks::All => {
                    self.at += 1;
                    is_optional = true;
                    match &self.token().kind {
                        TokenKind::Sign("(" | "[") => continue,
                        TokenKind::Template { .. } => return Err(self.unexpected()),
                        _ => {
                            let name = self.member_name()?;
                            self.push(Node::Member(value, MemberKey::Name(name)))
                        }
                    }
                }
                TokenKind::Sign("[") => {
                    self.at += 1;
                    let key = self.with_nesting(Self::sequence)?;
                    self.expect("]")?;
                    let key = self.member_key(key);
                    self.push(Node::Member(value, key))
                }
                TokenKind::Sign("(") if links == ChainLinks::All => {
                    let arguments = self.items("(", ")")?;
                    self.push(Node::Call(value, arguments))
                }
                TokenKind::Template { opens: true, .. } => {
                    return Err(self.error("is a tagged template, which is not supported"));
                }
                _ => break,
            };
        }
        self.optional.extend(is_optional.then_some(value));
        Ok(value)
    }

    fn member_name(&mut self) -> ParseResult<Arc<str>> {
        match &self.token().kind {
            TokenKind::Name(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn member_key(&self, key: NodeId) -> MemberKey {
        match &self.nodes[key] {
            Node::Literal(Literal::Text(text)) => MemberKey::Name(text.clone()),
            Node::Literal(Literal::Number(value)) => MemberKey::Name(number::write(*value).into()),
            _ => MemberKey::Computed(key),
        }
    }

    /// Parses `new`. The result is always `undefined`, because there are no classes.
    fn new_object(&mut self) -> ParseResult<NodeId> {
        self.at += 1;
        if self.is_at_sign(".") {
            return Err(self.unexpected());
        }
        let class = if self.is_word("new") { self.with_nesting(Self::new_object)? } else { self.operand()? };
        self.links(class, ChainLinks::Members)?;
        if self.is_at_sign("?.") {
            return Err(self.unexpected());
        }
        if self.is_at_sign("(") {
            self.items("(", ")")?;
        }
        Ok(self.literal(Literal::Undefined))
    }

    fn operand(&mut self) -> ParseResult<NodeId> {
        let token = self.token().clone();
        let node = match token.kind {
            TokenKind::Number(number) => Node::Literal(Literal::Number(number)),
            TokenKind::BigInt(number) => Node::Literal(Literal::BigInt(number)),
            TokenKind::Text(text) => Node::Literal(Literal::Text(text)),
            TokenKind::Regex { body, flags } => {
                let regex = Regex::new(&body, &flags, self.visits).map_err(|problem| self.error(problem))?;
                Node::Literal(Literal::Regex(regex.into()))
            }
            TokenKind::Template { text, opens: true, more } => return self.template(text, more),
            TokenKind::Name(name) => return self.name(&name),
            TokenKind::Sign("(") => {
                self.at += 1;
                let inner = self.with_nesting(Self::sequence)?;
                self.expect(")")?;
                self.grouped.push(inner);
                return Ok(inner);
            }
            TokenKind::Sign("[") => Node::Array(self.items("[", "]")?),
            TokenKind::Sign("{") => return self.object(),
            _ => return Err(self.unexpected()),
        };
        // Arrays and objects have already consumed their brackets.
        self.at += usize::from(matches!(node, Node::Literal(_)));
        Ok(self.push(node))
    }

    fn name(&mut self, name: &Arc<str>) -> ParseResult<NodeId> {
        let value = match &**name {
            "true" => Literal::Boolean(true),
            "false" => Literal::Boolean(false),
            "null" => Literal::Null,
            "this" => Literal::Undefined,
            "function" => return self.function(),
            "async" if self.is_async_function() => {
                return Err(self.error("begins an async function, which is not supported"));
            }
            word if RESERVED.contains(&word) => {
                return Err(self.error(format!("is an unexpected `{word}`")));
            }
            _ => {
                self.at += 1;
                return Ok(self.push(Node::Name(name.clone())));
            }
        };
        self.at += 1;
        Ok(self.literal(value))
    }

    fn is_async_function(&self) -> bool {
        let next = &self.tokens[self.at + 1];
        let arrow_after =
            |at: usize| matches!(self.tokens.get(at), Some(Token { kind: TokenKind::Sign("=>"), .. }));
        !next.newline
            && match &next.kind {
                TokenKind::Name(name) => &**name == "function" || arrow_after(self.at + 2),
                TokenKind::Sign("(") => arrow_after(next.closes + 1),
                _ => false,
            }
    }

    fn template(&mut self, text: Arc<str>, mut more: bool) -> ParseResult<NodeId> {
        self.at += 1;
        let mut values = Vec::new();
        while more {
            let value = self.with_nesting(Self::sequence)?;
            match self.token().kind.clone() {
                TokenKind::Template { text, opens: false, more: next } => {
                    values.push((value, text));
                    more = next;
                    self.at += 1;
                }
                _ => return Err(self.unexpected()),
            }
        }
        Ok(self.push(Node::Template(text, values)))
    }

    /// Parses the elements of an array literal or the arguments of a call.
    fn items(&mut self, open: &str, close: &str) -> ParseResult<Vec<SequenceItem>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if close == "]" && self.eat(",") {
                items.push(SequenceItem::Hole);
                continue;
            }
            items.push(if self.eat("...") {
                SequenceItem::Spread(self.with_nesting(Self::assignment)?)
            } else {
                SequenceItem::One(self.with_nesting(Self::assignment)?)
            });
            if !self.is_at_sign(close) {
                self.expect(",")?;
            }
        }
        Ok(items)
    }

    fn object(&mut self) -> ParseResult<NodeId> {
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.eat("}") {
            members.push(self.property()?);
            if !self.is_at_sign("}") {
                self.expect(",")?;
            }
        }
        Ok(self.push(Node::Object(members)))
    }

    fn property(&mut self) -> ParseResult<Property> {
        if self.eat("...") {
            return Ok(Property::Spread(self.with_nesting(Self::assignment)?));
        }
        let token = self.token().clone();
        let key = match &token.kind {
            TokenKind::Name(name) | TokenKind::Text(name) => MemberKey::Name(name.clone()),
            TokenKind::Number(value) => MemberKey::Name(number::write(*value).into()),
            TokenKind::BigInt(value) => MemberKey::Name(value.to_string().into()),
            TokenKind::Sign("[") => {
                self.at += 1;
                let key = self.with_nesting(Self::assignment)?;
                if !self.is_at_sign("]") {
                    return Err(self.unexpected());
                }
                self.member_key(key)
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if self.eat(":") {
            return Ok(Property::One(key, self.with_nesting(Self::assignment)?));
        }
        match (&token.kind, key) {
            (TokenKind::Name(name), MemberKey::Name(_))
                if !RESERVED.contains(&&**name) && (self.is_at_sign(",") || self.is_at_sign("}")) =>
            {
                let value = self.push(Node::Name(name.clone()));
                Ok(Property::One(MemberKey::Name(name.clone()), value))
            }
            (TokenKind::Name(_), _) if self.is_at_sign("(") => {
                Err(self.error("begins a method, which is not supported; write `name: () => value`"))
            }
            _ => Err(self.unexpected()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChainLinks {
    /// Member accesses and calls.
    All,
    /// Member accesses only, because parentheses contain the arguments of `new`.
    Members,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Binary(BinaryOp),
    Logical(LogicalOp),
}

fn operator(sign: &str) -> Option<(Operator, u8)> {
    use Operator::{Binary, Logical};
    Some(match sign {
        "??" => (Logical(LogicalOp::Nullish), 1),
        "||" => (Logical(LogicalOp::Or), 2),
        "&&" => (Logical(LogicalOp::And), 3),
        "|" => (Binary(BinaryOp::BitOr), 4),
        "^" => (Binary(BinaryOp::BitXor), 5),
        "&" => (Binary(BinaryOp::BitAnd), 6),
        "==" => (Binary(BinaryOp::Equal), 7),
        "!=" => (Binary(BinaryOp::NotEqual), 7),
        "===" => (Binary(BinaryOp::Same), 7),
        "!==" => (Binary(BinaryOp::NotSame), 7),
        "=~" => (Binary(BinaryOp::Matches), 7),
        "<" => (Binary(BinaryOp::Less), 8),
        "<=" => (Binary(BinaryOp::LessEqual), 8),
        ">" => (Binary(BinaryOp::Greater), 8),
        ">=" => (Binary(BinaryOp::GreaterEqual), 8),
        "<<" => (Binary(BinaryOp::ShiftLeft), 9),
        ">>" => (Binary(BinaryOp::ShiftRight), 9),
        ">>>" => (Binary(BinaryOp::ShiftRightZero), 9),
        "+" => (Binary(BinaryOp::Add), 10),
        "-" => (Binary(BinaryOp::Subtract), 10),
        "*" => (Binary(BinaryOp::Multiply), 11),
        "/" => (Binary(BinaryOp::Divide), 11),
        "%" => (Binary(BinaryOp::Remainder), 11),
        "**" => (Binary(BinaryOp::Power), 12),
        _ => return None,
    })
}
