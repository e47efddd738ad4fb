//! Blocks in HTML notation.

use docs_model::{Block, BlockKind};

use super::{
    escape,
    figures::{aligned_block, drawing, images, pre},
    html::{self, Html},
    print,
    reader::BlockReader,
    rich,
    simple_blocks::paragraph,
    spelling, tables,
};

/// Converts HTML to a block. Returns `None` for unknown HTML.
pub(super) fn block(reader: &mut BlockReader<'_>, tree: &[Html<'_>], source: &str) -> Option<Block> {
    let elements = html::elements(tree)?;
    let [first, ..] = elements.as_slice() else { return None };
    let mut block = match (first.name(), elements.len()) {
        ("table", 1) => return tables::html(reader, first),
        ("figure", _) => images(reader, &elements, &[])?,
        ("div", 1) => images(reader, &first.elements()?, &first.open.attributes)?,
        ("picture", 1) => return picture_paragraph(reader, tree, source),
        ("img", 1) if first.open.get("class") == Some("gitbook-drawing") => drawing(&first.open)?,
        ("img", 1) => return picture_paragraph(reader, tree, source),
        ("p", 1) if first.open.has_only(&[]) => {
            let nodes = rich::inlines(&first.children, &mut reader.rules())?;
            Block { spelling: Some("<p>".to_owned()), ..paragraph(nodes) }
        }
        ("p", 1) => aligned_block(reader, first, None)?,
        ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", 1) => {
            let level = first.name()[1..].parse().ok()?;
            aligned_block(reader, first, Some(level))?
        }
        ("pre", 1) => pre(reader, first)?,
        _ => return None,
    };
    let bare = spelling::bare_block(&block);
    let usual = print::block_alone(&bare);
    if usual.is_some_and(|usual| escape::is_alike(&usual, source)) {
        block = Block { spelling: block.spelling.take().filter(|own| own == "<p>"), ..bare };
    } else if matches!(block.kind, BlockKind::Images { .. } | BlockKind::Drawing { .. }) {
        block = Block { spelling: Some(source.to_owned()), ..bare };
    } else if matches!(block.kind, BlockKind::Code { .. }) {
        block.spelling = Some("<pre".to_owned());
    }
    Some(block)
}

/// Parses a picture on a separate line as text. In Markdown, it is an HTML block.
fn picture_paragraph(reader: &mut BlockReader<'_>, tree: &[Html<'_>], source: &str) -> Option<Block> {
    rich::inlines(tree, &mut reader.rules())?;
    let nodes = reader.text(source, super::escape::InlineContext::Line)?;
    Some(paragraph(nodes))
}
