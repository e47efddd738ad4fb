//! The context paths that an expression reads, and a check that they may control visibility.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    rc::Rc,
    sync::Arc,
};

use serde_json::Value as Json;

use super::{
    ast::{FunctionNode, LogicalOp, MemberKey, Node, NodeId, Program, Property, SequenceItem, UnaryOp},
    context_path::ReadPath,
};

/// The claims defined by the adaptive schema of a site, without descriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(ClaimObject);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    /// All values are enumerated: the claim is a boolean, or a string with `enum`.
    Known,
    /// The values are not enumerated.
    Free,
    /// Nested claims.
    Object(ClaimObject),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ClaimObject {
    named: BTreeMap<String, Claim>,
    /// `true` if the schema restricts other claims to enumerated values, that is, to booleans.
    others_known: bool,
}

impl Claims {
    /// Parses a JSON Schema of claims. Undefined claims are not enumerated.
    #[must_use]
    pub fn from_schema(schema: &Json) -> Self {
        match claim(schema, MAX_CLAIM_DEPTH) {
            Claim::Object(claims) => Self(claims),
            Claim::Known | Claim::Free => Self::default(),
        }
    }

    /// Returns `true` if the value at a path may control visibility.
    pub(super) fn can_control_visibility(&self, path: &ReadPath) -> bool {
        let mut names = path.names();
        match names.next() {
            Some("visitor") => match names.next() {
                None => self.0.is_known(),
                Some("claims") => self.0.is_enumerated(names),
                // A visitor has no members except claims.
                Some(_) => true,
            },
            // These are variables and unknown names.
            _ => true,
        }
    }
}

/// Maximum depth to which claims are parsed. The values of deeper claims are treated as not enumerated.
const MAX_CLAIM_DEPTH: usize = 64;

fn claim(schema: &Json, room: usize) -> Claim {
    let Some(below) = room.checked_sub(1) else { return Claim::Free };
    match schema.get("type").and_then(Json::as_str) {
        Some("boolean") => Claim::Known,
        Some("string") if schema.get("enum").is_some_and(Json::is_array) => Claim::Known,
        Some("object") => match schema.get("properties").and_then(Json::as_object) {
            None => Claim::Free,
            Some(properties) => Claim::Object(ClaimObject {
                named: properties.iter().map(|(name, schema)| (name.clone(), claim(schema, below))).collect(),
                others_known: schema
                    .get("additionalProperties")
                    .is_some_and(|others| claim(others, below) == Claim::Known),
            }),
        },
        _ => Claim::Free,
    }
}

impl ClaimObject {
    fn is_enumerated<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        let mut claims = self;
        loop {
            match names.next().map(|name| claims.named.get(name)) {
                None => return claims.is_known(),
                Some(Some(Claim::Known)) => return true,
                Some(Some(Claim::Object(below))) => claims = below,
                Some(None) => return claims.others_known,
                Some(Some(Claim::Free)) => return false,
            }
        }
    }

    /// Returns `true` if all claims are enumerated. If an object has no named claims, its other claims must be
    /// enumerated.
    fn is_known(&self) -> bool {
        let named = self.named.values().all(|claim| match claim {
            Claim::Known => true,
            Claim::Free => false,
            Claim::Object(below) => below.named.is_empty() || below.is_known(),
        });
        named && (self.others_known || !self.named.is_empty())
    }
}

/// Paths that are objects in every context.
const ROOTS: [&[&str]; 7] = [
    &["visitor"],
    &["visitor", "claims"],
    &["visitor", "claims", "unsigned"],
    &["space"],
    &["space", "vars"],
    &["page"],
    &["page", "vars"],
];

/// The parameters of the functions that enclose a node.
type BoundNames = Option<Rc<ScopeFrame>>;

struct ScopeFrame {
    names: HashSet<Arc<str>>,
    above: BoundNames,
}

/// The use of a node's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueUse {
    Value,
    /// Only the truthiness of the value is used.
    Truth,
}

/// Returns all paths that an expression reads.
pub(super) fn collect_paths(program: &Program) -> BTreeSet<ReadPath> {
    let mut reader =
        PathReader { program, paths: BTreeSet::new(), open: vec![(program.root, None, ValueUse::Value)] };
    while let Some((id, bound, wanted)) = reader.open.pop() {
        reader.node(id, &bound, wanted);
    }
    reader.paths
}

struct PathReader<'p> {
    program: &'p Program,
    paths: BTreeSet<ReadPath>,
    /// Pending nodes. A list is used rather than recursion, so that long chains do not use the stack.
    open: Vec<(NodeId, BoundNames, ValueUse)>,
}

impl PathReader<'_> {
    fn node(&mut self, id: NodeId, bound: &BoundNames, wanted: ValueUse) {
        let mut open = |id: NodeId, wanted: ValueUse| self.open.push((id, bound.clone(), wanted));
        match &self.program.nodes[id] {
            Node::Literal(_) => {}
            Node::Name(_) | Node::Member(..) => self.path(id, bound, wanted),
            Node::Template(_, values) => values.iter().for_each(|(value, _)| open(*value, ValueUse::Value)),
            Node::Array(items) => self.items(items, bound),
            Node::Object(members) => {
                for member in members {
                    match member {
                        Property::One(key, value) => {
                            if let MemberKey::Computed(key) = key {
                                open(*key, ValueUse::Value);
                            }
                            open(*value, ValueUse::Value);
                        }
                        Property::Spread(value) => open(*value, ValueUse::Value),
                    }
                }
            }
            Node::Unary(UnaryOp::Not, operand) => open(*operand, ValueUse::Truth),
            Node::Unary(_, operand) | Node::Update { of: operand, .. } => open(*operand, ValueUse::Value),
            Node::Binary(_, first, second) => {
                open(*first, ValueUse::Value);
                open(*second, ValueUse::Value);
            }
            // `&&` returns its first operand only if the operand is falsy, but roots are never falsy.
            Node::Logical(operator, first, second) => {
                open(*first, if *operator == LogicalOp::And { ValueUse::Truth } else { wanted });
                open(*second, wanted);
            }
            Node::Conditional(test, yes, no) => {
                open(*test, ValueUse::Truth);
                open(*yes, wanted);
                open(*no, wanted);
            }
            Node::Sequence(all) => all.iter().for_each(|id| open(*id, ValueUse::Value)),
            Node::Call(callee, arguments) => {
                match &self.program.nodes[*callee] {
                    // A method name is not part of a path: the expression reads the value on which the method is
                    // called.
                    Node::Member(object, key) => {
                        open(*object, ValueUse::Value);
                        if let MemberKey::Computed(key) = key {
                            open(*key, ValueUse::Value);
                        }
                    }
                    _ => open(*callee, ValueUse::Value),
                }
                self.items(arguments, bound);
            }
            Node::Function(function) => self.function(function, bound),
        }
    }

    fn items(&mut self, items: &[SequenceItem], bound: &BoundNames) {
        for item in items {
            match item {
                SequenceItem::One(id) | SequenceItem::Spread(id) => {
                    self.open.push((*id, bound.clone(), ValueUse::Value));
                }
                SequenceItem::Hole => {}
            }
        }
    }

    fn function(&mut self, function: &FunctionNode, above: &BoundNames) {
        let names = function.parameters.iter().map(|parameter| parameter.name.clone());
        let names: HashSet<Arc<str>> = names.chain(function.name.clone()).collect();
        let bound = Some(Rc::new(ScopeFrame { names, above: above.clone() }));
        // A default value may read a name that a later parameter shadows. It is counted as a read to be on the safe
        // side.
        for default in function.parameters.iter().filter_map(|parameter| parameter.default) {
            self.open.push((default, above.clone(), ValueUse::Value));
        }
        self.open.extend(function.body.map(|body| (body, bound, ValueUse::Value)));
    }

    /// Records the path of a name and its member accesses, up to the first computed one.
    fn path(&mut self, id: NodeId, bound: &BoundNames, wanted: ValueUse) {
        let mut keys: Vec<Option<Arc<str>>> = Vec::new();
        let mut at = id;
        while let Node::Member(object, key) = &self.program.nodes[at] {
            keys.push(match key {
                MemberKey::Name(name) => Some(name.clone()),
                MemberKey::Computed(key) => {
                    self.open.push((*key, bound.clone(), ValueUse::Value));
                    None
                }
            });
            at = *object;
        }
        let Node::Name(name) = &self.program.nodes[at] else {
            self.open.push((at, bound.clone(), ValueUse::Value));
            return;
        };
        if is_bound(bound, name) {
            return;
        }
        let known = keys.into_iter().rev().map_while(|key| key);
        let path: Vec<Arc<str>> = std::iter::once(name.clone()).chain(known).collect();

        let is_root = ROOTS.iter().any(|root| root.iter().copied().eq(path.iter().map(|name| &**name)));
        if !(wanted == ValueUse::Truth && is_root && self.is_plain(id)) {
            self.paths.insert(ReadPath(path));
        }
    }

    /// Returns `true` if none of the member accesses is computed.
    fn is_plain(&self, mut id: NodeId) -> bool {
        while let Node::Member(object, key) = &self.program.nodes[id] {
            if matches!(key, MemberKey::Computed(_)) {
                return false;
            }
            id = *object;
        }
        true
    }
}

fn is_bound(bound: &BoundNames, name: &str) -> bool {
    let mut frame = bound.as_ref();
    while let Some(at) = frame {
        if at.names.contains(name) {
            return true;
        }
        frame = at.above.as_ref();
    }
    false
}
