//! Estimation of the layout size of a formula before it is laid out.

use ratex_parser::{
    ParseNode,
    parse_node::{ArrayTag, ProofBranch},
};

/// Cost, in boxes, of an element that may be drawn as a path, which takes several kilobytes.
const PATH_COST: usize = 16;
/// Cost, in boxes, of an element drawn as a path with several parts. A brace takes 50 KB during layout.
const COMPOUND_PATH_COST: usize = 64;

/// Nodes still to be counted, each with the number of times it is laid out.
#[derive(Default)]
struct PendingNodes<'a> {
    parts: Vec<(&'a ParseNode, usize)>,
    proofs: Vec<(&'a ProofBranch, usize)>,
}

/// Returns `true` if laying out a formula takes at most `most` boxes.
pub(super) fn is_within(nodes: &[ParseNode], most: usize) -> bool {
    let mut rest = PendingNodes::default();
    rest.push_all(nodes, 1);
    let mut boxes = 0_usize;
    loop {
        let own = if let Some((node, times)) = rest.parts.pop() {
            rest.push_children(node, times);
            own_boxes(node).saturating_mul(times)
        } else if let Some((branch, times)) = rest.proofs.pop() {
            rest.push_proof(branch, times);
            PATH_COST.saturating_mul(times)
        } else {
            return true;
        };
        boxes = boxes.saturating_add(own);
        if boxes > most {
            return false;
        }
    }
}

/// Returns the number of boxes of a node, excluding its children.
fn own_boxes(node: &ParseNode) -> usize {
    use ParseNode as N;
    match node {
        N::Verb { body, .. } => 1 + body.chars().count(),
        N::MathOrd { text, .. } | N::TextOrd { text, .. } | N::Atom { text, .. } => text.chars().count(),
        N::Op { name, .. } => 1 + name.as_deref().unwrap_or_default().chars().count(),
        // Missing cells of a row are laid out nevertheless.
        N::Array { body, hlines_before_row, cols, .. } => {
            let columns = body.iter().map(Vec::len).max().unwrap_or_default();
            let lines: usize = hlines_before_row.iter().map(Vec::len).sum();
            1 + columns * body.len() + lines + cols.as_ref().map_or(0, Vec::len)
        }
        N::Accent { is_stretchy: Some(true), .. }
        | N::AccentUnder { .. }
        | N::CdArrow { .. }
        | N::Enclose { .. }
        | N::HorizBrace { .. }
        | N::XArrow { .. } => COMPOUND_PATH_COST,
        N::Accent { .. }
        | N::DelimSizing { .. }
        | N::GenFrac { .. }
        | N::LeftRight { .. }
        | N::Middle { .. }
        | N::Sqrt { .. } => PATH_COST,
        _ => 1,
    }
    .max(1)
}

impl<'a> PendingNodes<'a> {
    fn push_all(&mut self, nodes: &'a [ParseNode], times: usize) {
        self.parts.extend(nodes.iter().map(|node| (node, times)));
    }

    fn push_some(&mut self, nodes: [Option<&'a ParseNode>; 3], times: usize) {
        self.parts.extend(nodes.into_iter().flatten().map(|node| (node, times)));
    }

    fn push_proof(&mut self, branch: &'a ProofBranch, times: usize) {
        self.push_all(&branch.conclusion, times);
        for label in [&branch.left_label, &branch.right_label].into_iter().flatten() {
            self.push_all(label, times);
        }
        self.proofs.extend(branch.premises.iter().map(|premise| (premise, times)));
    }

    /// Adds the children of a node.
    #[expect(clippy::too_many_lines, reason = "a flat table from node kinds to their contents")]
    fn push_children(&mut self, node: &'a ParseNode, times: usize) {
        use ParseNode as N;
        match node {
            N::OrdGroup { body, .. }
            | N::Op { body: Some(body), .. }
            | N::OperatorName { body, .. }
            | N::Text { body, .. }
            | N::Color { body, .. }
            | N::Styling { body, .. }
            | N::Sizing { body, .. }
            | N::LeftRight { body, .. }
            | N::Phantom { body, .. }
            | N::MClass { body, .. }
            | N::Href { body, .. }
            | N::HBox { body, .. }
            | N::Html { body, .. } => self.push_all(body, times),
            // Poor man's bold: the body is laid out twice with a small offset.
            N::Pmb { body, .. } => self.push_all(body, times.saturating_mul(2)),
            N::SupSub { base, sup, sub, .. } => {
                self.push_some([base.as_deref(), sup.as_deref(), sub.as_deref()], times);
            }
            N::GenFrac { numer, denom, .. } => self.push_some([Some(numer), Some(denom), None], times),
            N::Sqrt { body, index: other, .. } | N::XArrow { body, below: other, .. } => {
                self.push_some([Some(body), other.as_deref(), None], times);
            }
            N::CdArrow { label_above, label_below, .. } => {
                self.push_some([label_above.as_deref(), label_below.as_deref(), None], times);
            }
            N::Accent { base: body, .. }
            | N::AccentUnder { base: body, .. }
            | N::HorizBrace { base: body, .. }
            | N::Font { body, .. }
            | N::Overline { body, .. }
            | N::Underline { body, .. }
            | N::VPhantom { body, .. }
            | N::Smash { body, .. }
            | N::Enclose { body, .. }
            | N::Lap { body, .. }
            | N::RaiseBox { body, .. }
            | N::VCenter { body, .. }
            | N::CdLabel { label: body, .. }
            | N::CdLabelParent { fragment: body, .. } => self.push_some([Some(body), None, None], times),
            N::Array { body, tags, .. } => {
                for row in body {
                    self.push_all(row, times);
                }
                for tag in tags.iter().flatten() {
                    if let ArrayTag::Explicit(nodes) = tag {
                        self.push_all(nodes, times);
                    }
                }
            }
            N::MathChoice { display, text, script, scriptscript, .. } => {
                for nodes in [display, text, script, scriptscript] {
                    self.push_all(nodes, times);
                }
            }
            N::Tag { body, tag, .. } => {
                self.push_all(body, times);
                self.push_all(tag, times);
            }
            N::HtmlMathMl { html, mathml, .. } => {
                self.push_all(html, times);
                self.push_all(mathml, times);
            }
            N::ProofTree { tree, .. } => self.proofs.push((tree, times)),
            N::Atom { .. }
            | N::MathOrd { .. }
            | N::TextOrd { .. }
            | N::OpToken { .. }
            | N::AccentToken { .. }
            | N::SpacingNode { .. }
            | N::Op { body: None, .. }
            | N::ColorToken { .. }
            | N::Size { .. }
            | N::DelimSizing { .. }
            | N::LeftRightRight { .. }
            | N::Middle { .. }
            | N::Rule { .. }
            | N::Kern { .. }
            | N::Environment { .. }
            | N::Cr { .. }
            | N::Infix { .. }
            | N::Internal { .. }
            | N::Verb { .. }
            | N::Url { .. }
            | N::Raw { .. }
            | N::NoNumber { .. }
            | N::IncludeGraphics { .. } => {}
        }
    }
}
