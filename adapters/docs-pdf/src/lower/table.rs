//! Lowering of tables and cards.

use std::collections::{BTreeMap, HashMap};

use docs_model::{
    Block, CardSize, CellAlign, CellValue, ContentRef, FileId, Fragment, TableColumn, TableColumnKind,
    TableData, TableRecord, TableView, UserId,
};

use super::{BookLowering, LowerContext, inline::plain, text};
use crate::{
    layout_tree::{ShownCard, ShownPart, ShownParts, ShownTag, Style},
    termination::LayoutResult,
    text::Breaker,
};

/// Maximum number of table columns. A wider table is rendered as a list of rows.
const MAX_TABLE_COLUMNS: usize = 20;
/// Width of a table in 9-point characters.
const TABLE_CHARS: f64 = 96.0;

impl BookLowering<'_> {
    /// Lowers a table, or cards.
    pub(super) fn table(
        &mut self,
        block: &Block,
        table: &TableData,
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let columns: Vec<&TableColumn> =
            table.view.columns().iter().filter_map(|id| table.definition.get(id)).collect();
        self.count(columns.len())?;
        match &table.view {
            TableView::Cards { .. } => self.cards(block, table, &columns, at),
            TableView::Grid { .. } if columns.len() > MAX_TABLE_COLUMNS => {
                self.table_as_lines(block, table, &columns, at)
            }
            TableView::Grid { column_widths, hide_header, .. } => {
                let weights = weights(block, table, &columns, column_widths.as_ref());
                let all: f64 = weights.iter().sum::<f64>().max(1.0);
                let size = font_size(columns.len());
                let room = LowerContext { width: LowerContext::fitting(at, size), ..at };
                let (mut rows, texts) = (Vec::new(), block.named_fragments());
                for (_, row) in table.rows() {
                    let mut cells = Vec::with_capacity(columns.len());
                    for (column, weight) in columns.iter().zip(&weights) {
                        cells.push(self.cell(&texts, row, column, room.part(weight / all))?);
                    }
                    rows.push(cells);
                }
                let mut head = Vec::new();
                if !hide_header && columns.iter().any(|column| !column.title.trim().is_empty()) {
                    for (column, weight) in columns.iter().zip(&weights) {
                        let mut breaker = Breaker::new(room.part(weight / all).width * 9 / 10);
                        head.push(vec![text(breaker.run(&self.one_line(&column.title)?))]);
                    }
                }
                let aligns = columns.iter().map(|column| side(column)).collect();
                Ok(ShownTag::Table { widths: weights, aligns, head, rows, size }.into())
            }
        }
    }

    /// Lowers a table with too many columns: each row is rendered as one line per column.
    fn table_as_lines(
        &mut self,
        block: &Block,
        table: &TableData,
        columns: &[&TableColumn],
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let (mut rows, texts) = (Vec::new(), block.named_fragments());
        for (_, row) in table.rows() {
            for column in columns {
                let value = self.cell(&texts, row, column, at.part(0.7))?;
                let v = Breaker::new(24).run(&self.one_line(&column.title)?);
                rows.push(vec![
                    vec![ShownTag::Styled(Style { v, bold: true, ..Style::default() }).into()],
                    value,
                ]);
            }
        }
        let (widths, aligns) = (vec![0.3, 0.7], vec!["start", "start"]);
        Ok(ShownTag::Table { widths, aligns, head: Vec::new(), rows, size: 9.0 }.into())
    }

    fn cards(
        &mut self,
        block: &Block,
        table: &TableData,
        columns: &[&TableColumn],
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let TableView::Cards { card_size, target_definition, cover_definition, hide_column_title, .. } =
            &table.view
        else {
            return Ok(ShownPart::Parts(Vec::new()));
        };
        let across: u8 = if *card_size == CardSize::Medium { 3 } else { 2 };
        let special =
            |id: &String| Some(id) == target_definition.as_ref() || Some(id) == cover_definition.as_ref();
        let (mut items, texts) = (Vec::new(), block.named_fragments());
        for (_, row) in table.rows() {
            let value = |id: &Option<String>| id.as_ref().and_then(|id| row.values.get(id));
            let cover = value(cover_definition).and_then(reference).and_then(|target| self.cover(target));
            let target = value(target_definition).and_then(reference).cloned();
            let mut c = Vec::new();
            for column in columns.iter().filter(|column| !special(&column.id)) {
                let shown = self.cell(&texts, row, column, at.part(1.0 / f64::from(across)))?;
                if shown.is_empty() {
                    continue;
                }
                if *hide_column_title != Some(true) && !column.title.trim().is_empty() {
                    let v = Breaker::new(20).run(&self.one_line(&column.title)?);
                    c.push(
                        ShownTag::Par {
                            c: vec![
                                ShownTag::Styled(Style { v, fg: Some("grey"), ..Style::default() }).into(),
                            ],
                            align: "start",
                        }
                        .into(),
                    );
                }
                c.extend(shown);
            }
            if let Some(target) = target {
                let name = Breaker::new(20).run(&self.name(&target)?);
                let way = self.link(&target, vec![text(format!("→ {name}"))])?;
                c.push(ShownTag::Par { c: vec![way], align: "start" }.into());
            }
            items.push(ShownCard { cover, c });
        }
        Ok(ShownTag::Cards { across: across.into(), items }.into())
    }

    fn cover(&self, target: &ContentRef) -> Option<ShownPart> {
        let picture = self.pictures.get(target)?;
        let (w, h) = (picture.width, picture.height);
        Some(ShownTag::Glyph { file: picture.file, w, h, alt: String::new(), line: false }.into())
    }

    fn cell(
        &mut self,
        texts: &HashMap<&str, &Fragment>,
        row: &TableRecord,
        column: &TableColumn,
        at: LowerContext,
    ) -> LayoutResult<ShownParts> {
        self.count(1)?;
        let Some(value) = row.values.get(&column.id) else { return Ok(Vec::new()) };
        let mut breaker = Breaker::new(at.width);
        let mut line = |text: &str| -> LayoutResult<ShownParts> {
            Ok(vec![super::text(breaker.run(&self.one_line(text)?))])
        };
        Ok(match (value, &column.kind) {
            (CellValue::Text(name), TableColumnKind::Text { .. }) => match texts.get(name.as_str()) {
                Some(fragment) => self.blocks(&fragment.nodes, at)?,
                None => line(name)?,
            },
            (CellValue::Text(id), TableColumnKind::Select { options, .. }) => line(&choice(options, id))?,
            (CellValue::Text(name), _) => line(name)?,
            (CellValue::Number(stars), TableColumnKind::Rating { max }) => line(&rating(*stars, *max))?,
            (CellValue::Number(number), _) => line(&number.to_string())?,
            (CellValue::Checked(on), _) => vec![ShownTag::Check { on: *on }.into()],
            (CellValue::Ids(ids), TableColumnKind::Select { options, .. }) => {
                let names: Vec<String> = ids.iter().map(|id| choice(options, id)).collect();
                line(&names.join(", "))?
            }
            (CellValue::Ids(ids), kind) => {
                let mut out = Vec::new();
                for (at, id) in ids.iter().enumerate() {
                    self.count(1)?;
                    let target = reference_from_id(kind, id);
                    let name = match &target {
                        Some(target) => self.name(target)?,
                        None => self.one_line(id)?,
                    };
                    if at > 0 {
                        out.push(text(", "));
                    }
                    let c = vec![text(breaker.run(&name))];
                    out.push(match target {
                        Some(target) => self.link(&target, c)?,
                        None => ShownPart::Parts(c),
                    });
                }
                out
            }
            (CellValue::Reference(target) | CellValue::Image { target, .. }, kind) => {
                if matches!(kind, TableColumnKind::Image | TableColumnKind::Files)
                    && let Some(cover) = self.cover(target)
                {
                    return Ok(vec![cover]);
                }
                let c = vec![text(breaker.run(&self.name(target)?))];
                vec![self.link(target, c)?]
            }
            (CellValue::Empty(()), _) => Vec::new(),
        })
    }
}

impl LowerContext {
    /// Returns the number of characters of this font size that fit into a line.
    fn fitting(self, size: f64) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the number of characters is below 200"
        )]
        let width = (self.width as f64 * TABLE_CHARS / super::LINE_CHARS as f64 * 9.0 / size) as usize;
        width
    }
}

/// Returns the font size for a table with this number of columns.
const fn font_size(columns: usize) -> f64 {
    match columns {
        0..=5 => 9.0,
        6..=7 => 8.0,
        8..=10 => 7.0,
        _ => 6.0,
    }
}

/// Returns the column widths in characters. Requested widths are used if there are any. Otherwise, each column gets
/// space for its words, and the remaining space is distributed to columns with long text.
fn weights(
    block: &Block,
    table: &TableData,
    columns: &[&TableColumn],
    wished: Option<&BTreeMap<String, f64>>,
) -> Vec<f64> {
    let wish = |column: &&TableColumn| {
        let width = wished.and_then(|widths| widths.get(&column.id))?;
        (width.is_finite() && *width > 0.0).then(|| (width / 8.0).clamp(6.0, 100.0))
    };
    if let Some(wishes) = columns.iter().map(wish).collect::<Option<Vec<f64>>>() {
        return wishes;
    }
    let texts = block.named_fragments();
    let room = TABLE_CHARS * 9.0 / font_size(columns.len());
    let least = |wants: &[ColumnDemand]| wants.iter().map(|want| want.least).sum::<f64>();
    let wants = |longest| {
        columns.iter().map(|column| ColumnDemand::measure(table, column, (&texts, longest))).collect()
    };
    // Reserve space for longer words if enough remains for the other columns.
    let mut chosen: Vec<ColumnDemand> = wants(6);
    for longest in [10, 14, 20, 28] {
        let larger: Vec<ColumnDemand> = wants(longest);
        if least(&larger) <= room * 0.8 {
            chosen = larger;
        }
    }
    let wants = chosen;
    let more: f64 = wants.iter().map(|want| want.more).sum();
    let left = (room - least(&wants)).max(0.0);
    wants.iter().map(|want| want.least + if more > 0.0 { left * want.more / more } else { 0.0 }).collect()
}

/// Number of characters that a column needs so that its words are not broken, and number of additional characters that
/// it can use.
struct ColumnDemand {
    least: f64,
    more: f64,
}

impl ColumnDemand {
    /// Measures the columns, assuming words of at most `fits` characters.
    fn measure(
        table: &TableData,
        column: &TableColumn,
        (texts, fits): (&HashMap<&str, &Fragment>, usize),
    ) -> Self {
        let values = table.records.values().filter_map(|row| row.values.get(&column.id));
        let (mut longest, mut most, mut all, mut rows) = (word(&column.title) + 1, 0, 0, 1);
        for value in values {
            let (text, long) = extent(value, &column.kind, texts);
            longest = longest.max(long);
            most = most.max(text);
            all += text;
            rows += 1;
        }
        // A column with one long text and many short ones does not need the width of the long one.
        let usual = (most + 2 * (all / rows)) / 2;
        let number = |count: usize| f64::from(u32::try_from(count.min(400)).unwrap_or(400));
        let least = number(longest.clamp(3, fits)) + 3.0;
        Self { least, more: (number(usual.max(column.title.chars().count()).clamp(1, 120)) - least).max(0.5) }
    }
}

/// Returns the text length of a cell, and the length of its longest word.
fn extent(value: &CellValue, kind: &TableColumnKind, texts: &HashMap<&str, &Fragment>) -> (usize, usize) {
    match (value, kind) {
        (CellValue::Text(name), TableColumnKind::Text { .. }) => {
            let blocks = texts.get(name.as_str()).map_or(&[][..], |fragment| &fragment.nodes);
            let all = blocks.iter().map(|block| plain(&block.nodes));
            // Characters of code are wider, and it is not yet known which words are code.
            all.fold((0, 0), |(text, long), said| {
                (text.max(said.chars().count()), long.max(word(&said) * 9 / 8))
            })
        }
        (CellValue::Text(text), _) => (text.chars().count(), word(text)),
        // Stars are wide.
        (CellValue::Number(_), TableColumnKind::Rating { .. }) => (14, 14),
        (CellValue::Number(number), _) => (number.to_string().len(), number.to_string().len()),
        (CellValue::Checked(_) | CellValue::Empty(()), _) => (1, 1),
        (CellValue::Ids(ids), _) => (ids.len() * 12, 10),
        (CellValue::Reference(_), _) => (20, 10),
        (CellValue::Image { .. }, _) => (12, 12),
    }
}

fn word(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0)
}

const fn side(column: &TableColumn) -> &'static str {
    match &column.kind {
        TableColumnKind::Text { text_alignment: CellAlign::Center, .. } => "center",
        TableColumnKind::Text { text_alignment: CellAlign::Right, .. } | TableColumnKind::Number => "end",
        _ => "start",
    }
}

const fn reference(value: &CellValue) -> Option<&ContentRef> {
    match value {
        CellValue::Reference(target) | CellValue::Image { target, .. } => Some(target),
        _ => None,
    }
}

/// Returns the reference that an id in a column of this kind denotes.
fn reference_from_id(kind: &TableColumnKind, id: &str) -> Option<ContentRef> {
    match kind {
        TableColumnKind::Files => Some(ContentRef::File { file: id.parse::<FileId>().ok()? }),
        TableColumnKind::Users { .. } => Some(ContentRef::User { user: id.parse::<UserId>().ok()? }),
        _ => None,
    }
}

fn choice(options: &[docs_model::SelectOption], id: &str) -> String {
    options.iter().find(|option| option.value == id).map_or(id, |option| &option.label).to_owned()
}

fn rating(stars: f64, max: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is from 0 to 20")]
    let whole = |number: f64| number.clamp(0.0, 20.0).round() as usize;
    let (stars, max) = (whole(stars), whole(max));
    format!("{}{}", "★".repeat(stars), "☆".repeat(max.saturating_sub(stars)))
}
