//! References of a document, with the conditions that they are subject to.

use std::collections::HashMap;

use docs_markup::document;
use docs_model::{Block, BlockKind, CellValue, ContentRef, Document, Inline, Leaf, MarkKind, Node, TextNode};

use super::{
    LinkTarget,
    refer::{reference, references_in_text},
};
use crate::evaluate::{UndecidedConditions, plain};

/// The files and reusable content blocks that a document references, each with the conditions of its references.
///
/// It depends only on the document, so one result serves all visitors. It has about the size of the conditions and
/// references of the document. Blocks that [`evaluate_for_visitor`](crate::evaluate_for_visitor) omits for every
/// visitor are not included.
///
/// # Example
/// ```
/// use docs_content::{ConditionalTargets, LinkTarget};
/// # use docs_markup::document::parse;
/// let page = parse("{% if visitor.claims.beta %}\n![](/files/f1)\n{% endif %}\n");
/// let (targets, file) = (ConditionalTargets::new(&page), LinkTarget::File("f1".parse().unwrap()));
/// assert!(targets.shows(&file, |condition| condition == "visitor.claims.beta"));
/// assert!(!targets.shows(&file, |_| false));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConditionalTargets {
    /// The conditions that contain references. A condition is after the one that contains it.
    conditions: Vec<ContainingCondition>,
    /// The innermost condition of each reference, or `None` outside of conditions.
    targets: HashMap<LinkTarget, Vec<Option<usize>>>,
}

#[derive(Clone, Debug)]
struct ContainingCondition {
    expression: Box<str>,
    outer: Option<usize>,
}

impl ConditionalTargets {
    /// Collects the references of a document.
    #[must_use]
    pub fn new(document: &Document) -> Self {
        let mut collector = Collector::default();
        collector.blocks(&document.nodes);
        collector.found
    }

    /// Returns `true` if a reference to the target is outside of conditions, or if `holds` returns `true` for each
    /// condition around it.
    pub fn shows(&self, target: &LinkTarget, mut holds: impl FnMut(&str) -> bool) -> bool {
        let references = self.targets.get(target).map(Vec::as_slice).unwrap_or_default();
        references.iter().any(|innermost| {
            let within = std::iter::successors(*innermost, |at| self.conditions.get(*at)?.outer);
            let mut within: Vec<usize> = within.collect();
            // Content of a condition that is not met is not evaluated.
            within.reverse();
            within.into_iter().all(|at| self.conditions.get(at).is_some_and(|of| holds(&of.expression)))
        })
    }

    /// Returns the total length of the conditions in bytes.
    #[must_use]
    pub fn condition_bytes(&self) -> usize {
        self.conditions.iter().map(|condition| condition.expression.len()).sum()
    }

    /// Returns about the number of allocated bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let references: usize = self.targets.values().map(|of| 96 + 16 * of.len()).sum();
        self.condition_bytes() + 32 * self.conditions.len() + references
    }
}

/// Walks a document like its evaluation for a visitor.
#[derive(Default)]
struct Collector<'d> {
    found: ConditionalTargets,
    /// The conditions around the current block, each with its index if it contains a reference.
    open: Vec<(&'d str, Option<usize>)>,
}

impl<'d> Collector<'d> {
    fn blocks(&mut self, blocks: &'d [Block]) {
        let mut undecided = UndecidedConditions::default();
        for block in blocks {
            self.block(block, &mut undecided);
        }
    }

    fn nodes(&mut self, nodes: &'d [Node]) {
        let mut undecided = UndecidedConditions::default();
        for node in nodes {
            match node {
                Node::Block(block) => self.block(block, &mut undecided),
                Node::Inline(inline) => self.inline(inline),
                Node::Text(text) => self.text(text),
            }
        }
    }

    fn block(&mut self, block: &'d Block, undecided: &mut UndecidedConditions) {
        if undecided.is_undecided(block) {
            return;
        }
        if let BlockKind::If { expression } = &block.kind {
            self.open.push((expression, None));
            self.nodes(&block.nodes);
            self.open.pop();
            return;
        }
        if document::is_verbatim(block) {
            references_in_text(&plain(&block.nodes), &mut |reference, _| self.add(&reference));
        }
        // The notation can contain a link that the tree does not, such as the label of a card.
        if let Some(spelling) = &block.spelling {
            references_in_text(spelling, &mut |reference, _| self.add(&reference));
        }
        block.kind.targets().for_each(|target| self.add(target));
        self.data(&block.kind);
        self.nodes(&block.nodes);
        for fragment in block.fragments() {
            self.blocks(&fragment.nodes);
        }
    }

    /// Adds the references in HTML that the tree keeps as text.
    fn text(&mut self, text: &TextNode) {
        let is_code = |leaf: &&Leaf| leaf.marks.iter().any(|mark| mark.kind == MarkKind::Code);
        let shown = text.leaves.iter().filter(|leaf| !is_code(leaf));
        if shown.clone().any(|leaf| leaf.text.contains('<')) {
            let shown: String = shown.map(|leaf| leaf.text.as_str()).collect();
            references_in_text(&shown, &mut |reference, _| self.add(&reference));
        }
    }

    fn inline(&mut self, inline: &'d Inline) {
        inline.kind.targets().for_each(|target| self.add(target));
        self.nodes(&inline.nodes);
        for fragment in inline.fragments() {
            self.blocks(&fragment.nodes);
        }
    }

    /// Adds the references in the data of a block that [`BlockKind::targets`] does not return.
    fn data(&mut self, kind: &BlockKind) {
        match kind {
            BlockKind::Embed { url, .. } => self.destination(url),
            BlockKind::Integration(data) => {
                let props = data.props.values().filter_map(serde_json::Value::as_str);
                data.url.as_deref().into_iter().chain(props).for_each(|text| self.destination(text));
            }
            BlockKind::Table(table) => {
                let values = table.records.values().flat_map(|record| record.values.values());
                values.for_each(|value| match value {
                    CellValue::Reference(target) | CellValue::Image { target, .. } => self.add(target),
                    CellValue::Ids(ids) => {
                        let files = ids.iter().filter_map(|id| id.parse().ok());
                        files.for_each(|file| self.add(&ContentRef::File { file }));
                    }
                    _ => {}
                });
            }
            _ => {}
        }
    }

    /// Adds a destination as in stored text.
    fn destination(&mut self, text: &str) {
        if let Some(target) = reference(text) {
            self.add(&target);
        }
    }

    fn add(&mut self, target: &ContentRef) {
        let target = match target {
            ContentRef::File { file } => LinkTarget::File(file.clone()),
            ContentRef::ReusableContent { reusable_content, space: None } => {
                LinkTarget::Reusable(reusable_content.clone())
            }
            // A destination that is not in its exact notation.
            ContentRef::Url { url } => match reference(url) {
                Some(ContentRef::Url { .. }) | None => return,
                Some(known) => return self.add(&known),
            },
            _ => return,
        };
        let innermost = self.innermost();
        let references = self.found.targets.entry(target).or_default();
        if references.last() != Some(&innermost) {
            references.push(innermost);
        }
    }

    /// Returns the index of the innermost condition around the current block.
    fn innermost(&mut self) -> Option<usize> {
        let mut outer = None;
        for (expression, index) in &mut self.open {
            outer = Some(*index.get_or_insert_with(|| {
                self.found.conditions.push(ContainingCondition { expression: (*expression).into(), outer });
                self.found.conditions.len() - 1
            }));
        }
        outer
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use docs_expression::{Claims, Context, condition};
    use docs_markup::document::{parse, update_blocks};

    use super::*;
    use crate::evaluate::{Evaluated, evaluate_for_visitor};

    /// Returns the files and reusable content blocks in the text that a visitor reads.
    fn in_shown_text(document: &Document) -> BTreeSet<LinkTarget> {
        let shown = evaluate_for_visitor(document, Evaluated::No, &Context::default(), &Claims::default());
        let mut found = BTreeSet::new();
        references_in_text(&update_blocks("", &shown), &mut |reference, _| match reference {
            ContentRef::File { file } => drop(found.insert(LinkTarget::File(file))),
            ContentRef::ReusableContent { reusable_content, space: None } => {
                found.insert(LinkTarget::Reusable(reusable_content));
            }
            _ => {}
        });
        found
    }

    #[test]
    fn shown_targets_are_those_of_the_text_that_a_visitor_reads() {
        let syntaxes = [
            "![](/files/f1)",
            "[a](/files/f1) and [b][c]\n\n[c]: /files/f2",
            "[a](/files/f1?raw=true) and [b]( </files/f2/> )",
            "<figure><img src=\"/files/f1\" alt=\"\"><figcaption><p>[a](/files/f2)</p></figcaption></figure>",
            "<picture><source srcset=\"/files/f1\" media=\"(prefers-color-scheme: dark)\">\
             <img src=\"/files/f2\" alt=\"\"></picture>",
            "Text <img src=\"/files/f1\" alt=\"\" data-size=\"line\"> and <a href=\"/files/f2\">a</a>",
            "<a href=\"/files/f1\" class=\"button primary\">a</a>",
            "{% file src=\"/files/f1\" %}",
            "{% embed url=\"/files/f1\" %}",
            "{% swagger src=\"/files/f1\" path=\"/a\" method=\"get\" %}\nA.\n{% endswagger %}",
            "{% content-ref url=\"/files/f1\" %}\n[a](/files/f2)\n{% endcontent-ref %}",
            "{% include \"/reusable-content/r1\" %}",
            "{% @mermaid/diagram url=\"/files/f1\" src=\"/files/f2\" %}",
            "{% tabs %}\n{% tab title=\"a\" %}\n![](/files/f1)\n{% endtab %}\n{% endtabs %}",
            "{% hint style=\"info\" %}\n![](/files/f1)\n{% endhint %}",
            "> ![](/files/f1)\n>\n> * [a](/files/f2)",
            "| a | b |\n| - | - |\n| [x](/files/f1) | ![](/files/f2) |",
            "<table data-view=\"cards\"><thead><tr><th></th><th data-hidden data-card-cover data-type=\"files\">\
             </th></tr></thead><tbody><tr><td>a</td><td><a href=\"/files/f1\">f1</a></td></tr></tbody></table>",
            "<details><summary>a</summary>\n\n![](/files/f1)\n\n</details>",
            "Note[^1].\n\n[^1]: [a](/files/f1)",
            "Note.<a href=\"#user-content-fn-1\" data-footnote-ref>a</a> <video src=\"/files/f1\"></video>",
            "`/files/f1` and\n\n```\n![](/files/f2)\n```",
            "# [a](/files/f1)\n\n<h2 align=\"center\">![](/files/f2)</h2>",
        ];
        for syntax in syntaxes {
            for (open, close) in [
                ("", ""),
                ("{% if true %}\n", "\n{% endif %}"),
                ("{% if false %}\n", "\n{% endif %}"),
                ("{% if true %}\n{% if 1 > 2 %}\n", "\n{% endif %}\n{% endif %}"),
                ("{% if 2 > 1 %}\n{% if true %}\n", "\n{% endif %}\n{% endif %}"),
                ("{% if (( %}\n", "\n{% endif %}"),
            ] {
                let document = parse(&format!("Start.\n\n{open}{syntax}{close}\n\nEnd.\n"));
                let found = ConditionalTargets::new(&document);
                let holds = |text: &str| condition(text, &Context::default());
                let shown: BTreeSet<LinkTarget> =
                    found.targets.keys().filter(|target| found.shows(target, holds)).cloned().collect();
                assert_eq!(shown, in_shown_text(&document), "{open}{syntax}");
            }
        }
    }

    #[test]
    fn conditions_without_references_are_not_stored() {
        let other = "{% if visitor.claims.other %}\nText.\n{% endif %}\n\n".repeat(50);
        let text =
            format!("{other}{{% if a %}}\n{{% if b %}}\n![](/files/f1)\n{{% endif %}}\n{{% endif %}}\n");
        let found = ConditionalTargets::new(&parse(&text));
        assert_eq!((found.conditions.len(), found.condition_bytes()), (2, 2));
        let file = LinkTarget::File("f1".parse().expect("an id"));
        let mut asked = Vec::new();
        assert!(!found.shows(&file, |text| {
            asked.push(text.to_owned());
            text == "b"
        }));
        assert_eq!(asked, ["a"], "the outer condition is first");
        assert!(found.shows(&file, |_| true));
    }
}
