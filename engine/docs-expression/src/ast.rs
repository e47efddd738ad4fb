//! What an expression is once it is read: nodes in one list, each after those it is made of.

use std::sync::Arc;

use super::value::Value;

/// The place of a node in [`Program::nodes`].
pub(super) type NodeId = usize;

/// An expression that was read.
pub(super) struct Program {
    /// The text as it was given.
    pub(super) source: Box<str>,
    /// Its nodes. A list instead of boxes: dropping a long chain needs no stack.
    pub(super) nodes: Vec<Node>,
    /// The node that is the whole expression.
    pub(super) root: NodeId,
}

/// A part of an expression.
pub(super) enum Node {
    /// A literal.
    Literal(Value),
    /// A name.
    Name(Arc<str>),
    /// A template: text, and values each with the text after it.
    Template(Arc<str>, Vec<(NodeId, Arc<str>)>),
    /// An array.
    Array(Vec<Item>),
    /// An object.
    Object(Vec<Property>),
    /// An operator before its operand.
    Unary(UnaryOp, NodeId),
    /// `++` or `--`, which store nothing.
    Update {
        /// What is added.
        by: i8,
        /// Whether the new value is the result, and not the old one.
        prefix: bool,
        /// What it is applied to.
        of: NodeId,
    },
    /// An operator between its operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// An operator that may not need its second operand.
    Logical(LogicalOp, NodeId, NodeId),
    /// `test ? yes : no`.
    Conditional(NodeId, NodeId, NodeId),
    /// Several expressions, the last of which is the result.
    Sequence(Vec<NodeId>),
    /// A member of an object.
    Member(NodeId, MemberKey),
    /// A call.
    Call(NodeId, Vec<Item>),
    /// A function.
    Function(FunctionNode),
}

/// The name of a member.
pub(super) enum MemberKey {
    /// Known.
    Name(Arc<str>),
    /// The value of an expression.
    Computed(NodeId),
}

/// An element of an array, or an argument.
pub(super) enum Item {
    /// One value.
    One(NodeId),
    /// All values of an array.
    Spread(NodeId),
    /// Nothing between two commas.
    Hole,
}

/// A member of an object literal.
pub(super) enum Property {
    /// One member.
    One(MemberKey, NodeId),
    /// All members of an object.
    Spread(NodeId),
}

/// A function.
pub(super) struct FunctionNode {
    /// Its own name, known within it.
    pub(super) name: Option<Arc<str>>,
    /// Its parameters.
    pub(super) parameters: Vec<Parameter>,
    /// What it answers; `undefined` when absent.
    pub(super) body: Option<NodeId>,
    /// Where its text is in the source, in bytes.
    pub(super) span: std::ops::Range<usize>,
}

/// A parameter of a function.
pub(super) struct Parameter {
    /// Its name.
    pub(super) name: Arc<str>,
    /// Its value when none is given.
    pub(super) default: Option<NodeId>,
    /// Whether it takes all arguments that are left.
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
    /// The node that is evaluated before this one, where chains of them can be as long as the text allows: following
    /// it is a loop, so that only nesting needs stack.
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
