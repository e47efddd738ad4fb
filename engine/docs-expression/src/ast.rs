//! The syntax tree of an expression: a list of nodes where operands precede the nodes that use them.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use super::{context_path::ReadPath, regex::Regex};

/// The index of a node in [`Program::nodes`].
pub(super) type NodeId = usize;

/// A parsed expression.
pub(super) struct Program {
    /// The source text.
    pub(super) source: Box<str>,
    /// The nodes. They are in a list rather than in boxes, so that dropping a long chain does not recurse.
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    /// The cost of parsing the expression in steps.
    pub(super) parse_cost: usize,
    /// The context paths that the expression reads, once they are requested.
    pub(super) reads: OnceLock<BTreeSet<ReadPath>>,
}

/// A node of the syntax tree.
pub(super) enum Node {
    Literal(Literal),
    /// An identifier.
    Name(Arc<str>),
    /// A template literal: its leading text, followed by pairs of a value and the text after it.
    Template(Arc<str>, Vec<(NodeId, Arc<str>)>),
    Array(Vec<SequenceItem>),
    Object(Vec<Property>),
    /// A prefix operator and its operand.
    Unary(UnaryOp, NodeId),
    /// `++` or `--`. The result is returned but not stored.
    Update {
        /// The increment: 1 or -1.
        by: i8,
        /// `true` for the prefix form, which returns the new value. The postfix form returns the old value.
        prefix: bool,
        /// The operand.
        of: NodeId,
    },
    /// A binary operator that evaluates both operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// A logical operator. It may skip its second operand.
    Logical(LogicalOp, NodeId, NodeId),
    /// `test ? yes : no`.
    Conditional(NodeId, NodeId, NodeId),
    /// Comma-separated expressions. The result is that of the last expression.
    Sequence(Vec<NodeId>),
    /// A member access.
    Member(NodeId, MemberKey),
    Call(NodeId, Vec<SequenceItem>),
    Function(FunctionNode),
}

/// A literal, or a keyword that stands for a value.
pub(super) enum Literal {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    BigInt(i128),
    Text(Arc<str>),
    Regex(Arc<Regex>),
}

/// The key of a member access.
pub(super) enum MemberKey {
    /// A name in the source.
    Name(Arc<str>),
    Computed(NodeId),
}

/// An element of an array literal, or an argument of a call.
pub(super) enum SequenceItem {
    /// A single value.
    One(NodeId),
    /// The elements of an array.
    Spread(NodeId),
    /// An omitted element between two commas.
    Hole,
}

/// A property of an object literal.
pub(super) enum Property {
    /// A single property.
    One(MemberKey, NodeId),
    /// All properties of another object.
    Spread(NodeId),
}

pub(super) struct FunctionNode {
    /// The name of the function, which is in scope within its body.
    pub(super) name: Option<Arc<str>>,
    pub(super) parameters: Vec<Parameter>,
    /// The returned expression, or `None` for `undefined`.
    pub(super) body: Option<NodeId>,
    /// The byte range of the function in the source.
    pub(super) span: std::ops::Range<usize>,
}

pub(super) struct Parameter {
    pub(super) name: Arc<str>,
    pub(super) default: Option<NodeId>,
    /// `true` for a rest parameter, which receives all remaining arguments.
    pub(super) rest: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnaryOp {
    Minus,
    Plus,
    Not,
    BitNot,
    TypeOf,
    Void,
    Delete,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LogicalOp {
    And,
    Or,
    Nullish,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    ShiftRightZero,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Same,
    NotSame,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    InstanceOf,
    Matches,
}

impl Program {
    /// Returns the operand that is evaluated before the given node and can itself begin a chain of any length.
    /// Evaluation follows such chains in a loop, so that only nesting uses the stack.
    pub(super) fn first(&self, id: NodeId) -> Option<NodeId> {
        match &self.nodes[id] {
            Node::Binary(_, first, _)
            | Node::Logical(_, first, _)
            | Node::Conditional(first, _, _)
            | Node::Member(first, _) => Some(*first),
            Node::Call(callee, _) => match &self.nodes[*callee] {
                Node::Member(object, _) => Some(*object),
                _ => Some(*callee),
            },
            _ => None,
        }
    }
}
