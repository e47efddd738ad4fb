//! Tables, as grids and cards.

use std::collections::HashMap;

use docs_core::model::{
    Block, BlockKind, CardSize, CellAlign, CellValue, ContentRef, Fragment, TableColumn, TableColumnKind,
    TableData, TableRecord, TableView, VerticalAlign,
};
use maud::{Markup, html};

use super::{NodePosition, Renderer, figure::Dimensions};
use crate::html::{Html, escaped_length};

/// The maximum width of a column, in pixels.
const MAX_COLUMN: f64 = 2_000.0;
/// The maximum number of stars in a rating.
const MAX_STARS: f64 = 20.0;

impl Renderer<'_> {
    /// Writes a table as a grid or as cards.
    pub(super) fn write_table(&self, html: &mut Html, block: &Block, data: &TableData, at: NodePosition) {
        let TableView::Grid { columns, column_widths, hide_header, .. } = &data.view else {
            html.markup(&self.cards(block, data, at));
            return;
        };
        let is_full = data.full_width == Some(true);
        let columns = visible_columns(data, columns);
        let width = |column: &TableColumn| {
            let width = column_widths.as_ref()?.get(&column.id)?;
            // The value is clamped, so the cast does not truncate.
            Some(width.clamp(1.0, MAX_COLUMN) as u32)
        };
        html.tags(if is_full { "<div class=\"table full\"" } else { "<div class=\"table\"" });
        html.tags(" tabindex=\"0\"><table>");
        if column_widths.is_some() {
            let widths = columns.iter().map(|column| width(column));
            html.markup(&html! { colgroup { @for width in widths { col width=[width]; } } });
        }
        if !*hide_header {
            html.tags("<thead><tr>");
            for column in &columns {
                html.tags("<th scope=\"col\" class=\"").tags(cell_class(column)).tags("\">");
                html.text(&column.title).tags("</th>");
            }
            html.tags("</tr></thead>");
        }
        html.tags("<tbody>");
        let texts = block.named_fragments();
        for (_, row) in data.rows() {
            html.tags("<tr>");
            for column in &columns {
                html.tags("<td class=\"").tags(cell_class(column)).tags("\">");
                self.write_cell(html, &texts, row, column, at);
                html.tags("</td>");
            }
            html.tags("</tr>");
        }
        html.tags("</tbody></table></div>");
    }

    fn write_cell(
        &self,
        html: &mut Html,
        texts: &HashMap<&str, &Fragment>,
        row: &TableRecord,
        column: &TableColumn,
        at: NodePosition,
    ) {
        let fragment = match row.values.get(&column.id) {
            Some(CellValue::Text(name)) => texts.get(name.as_str()).copied(),
            _ => None,
        };
        match fragment.map(|fragment| fragment.nodes.as_slice()) {
            None => html.markup(&self.cell(row, column)),
            Some([only]) if matches!(only.kind, BlockKind::Paragraph { .. }) && only.meta.is_none() => {
                self.write_inlines(html, &only.nodes, at);
            }
            Some(blocks) => self.write_blocks(html, blocks, at),
        }
    }

    fn cards(&self, block: &Block, data: &TableData, at: NodePosition) -> Markup {
        let TableView::Cards { card_size, columns, target_definition, cover_definition, .. } = &data.view
        else {
            return Markup::default();
        };
        let TableView::Cards { cover_definition_dark, hide_column_title, .. } = &data.view else {
            return Markup::default();
        };
        let columns = visible_columns(data, columns);
        let texts = block.named_fragments();
        let class = match (card_size, data.full_width == Some(true)) {
            (CardSize::Medium, false) => "cards medium",
            (CardSize::Medium, true) => "cards medium full",
            (CardSize::Large, false) => "cards large",
            (CardSize::Large, true) => "cards large full",
        };
        html! {
            div class=(class) {
                @for (_, row) in data.rows() {
                    @let value = |column: &Option<String>| column.as_ref().and_then(|column| row.values.get(column));
                    @let target = value(target_definition).and_then(cell_reference);
                    @let cover = value(cover_definition).and_then(cell_image);
                    @let dark = value(cover_definition_dark).and_then(cell_image);
                    div.card-box {
                        @if let Some(cover) = &cover {
                            @let class = value(cover_definition).map_or("cover-picture", cover_class);
                            div.cover { (self.pictures(cover, dark.as_ref(), "", class, Dimensions::default())) }
                        }
                        div.card-body {
                            @for column in &columns {
                                @let is_titled = hide_column_title != &Some(true) && !column.title.is_empty();
                                @let cell = Html::build_markup(|html| self.write_cell(html, &texts, row, column, at));
                                @if !cell.0.is_empty() {
                                    div.card-cell {
                                        @if is_titled { span.column-title { (column.title) } }
                                        (cell)
                                    }
                                }
                            }
                        }
                        @if let Some(target) = target {
                            @let to = self.target(&target);
                            @if let Some(href) = &to.href {
                                a.card-cover-link href=(href) rel=[to.is_outside.then_some("noopener")]
                                    aria-label=(to.name.as_deref().unwrap_or(self.words.open)) {}
                            }
                        }
                    }
                }
            }
        }
    }

    /// Renders the content of a non-text cell.
    fn cell(&self, row: &TableRecord, column: &TableColumn) -> Markup {
        let Some(value) = row.values.get(&column.id) else { return Markup::default() };
        match (value, &column.kind) {
            (CellValue::Empty(()) | CellValue::Text(_), _) => Markup::default(),
            (CellValue::Number(stars), TableColumnKind::Rating { max }) => {
                // The value is clamped, so the cast does not truncate.
                let max = max.clamp(0.0, MAX_STARS) as usize;
                let on = stars.clamp(0.0, max as f64) as usize;
                html! {
                    span.rating role="img" aria-label={ (stars) " / " (max) } {
                        ("★".repeat(on)) ("☆".repeat(max - on))
                    }
                }
            }
            (CellValue::Number(number), _) => html! { (number) },
            (CellValue::Checked(checked), _) => html! { input type="checkbox" disabled checked[*checked]; },
            (CellValue::Ids(ids), kind) => self.ids(ids, kind),
            (CellValue::Reference(target), TableColumnKind::Image) | (CellValue::Image { target, .. }, _) => {
                self.pictures(target, None, "", "in-text", Dimensions::default())
            }
            (CellValue::Reference(target), _) => {
                let to = self.target(target);
                self.link(&to, None, html! { (to.name.as_deref().unwrap_or("…")) })
            }
        }
    }

    /// Renders the content of a cell with options, files or users.
    fn ids(&self, ids: &[String], kind: &TableColumnKind) -> Markup {
        html! {
            @for id in ids {
                @match kind {
                    TableColumnKind::Select { options, .. } => {
                        @if let Some(option) = options.iter().find(|option| option.value == *id)
                            && self.counter.try_count_resolved(escaped_length(&option.label))
                        {
                            span class={ "choice " (color_style(&option.color)) } { (option.label) } " "
                        }
                    }
                    TableColumnKind::Files => {
                        @if let Ok(file) = id.parse() {
                            @let to = self.target(&ContentRef::File { file });
                            (self.link(&to, None, html! { (to.name.as_deref().unwrap_or("…")) })) " "
                        }
                    }
                    // Users must not be revealed to visitors.
                    _ => {}
                }
            }
        }
    }
}

/// Returns the class of an option's color, or an empty string for an unknown color.
fn color_style(color: &str) -> &'static str {
    const COLORS: [(&str, &str); 10] = [
        ("blue", "bg-blue"),
        ("green", "bg-green"),
        ("red", "bg-red"),
        ("orange", "bg-orange"),
        ("yellow", "bg-yellow"),
        ("purple", "bg-purple"),
        ("violet", "bg-violet"),
        ("pink", "bg-pink"),
        ("cyan", "bg-cyan"),
        ("teal", "bg-green"),
    ];
    COLORS.iter().find(|(name, _)| color.eq_ignore_ascii_case(name)).map_or("", |(_, class)| class)
}

/// Returns the columns that a view shows, in the order of the view.
fn visible_columns<'t>(data: &'t TableData, columns: &[String]) -> Vec<&'t TableColumn> {
    columns.iter().filter_map(|id| data.definition.get(id)).collect()
}

/// Returns the class of the cells of a column.
fn cell_class(column: &TableColumn) -> &'static str {
    match &column.kind {
        TableColumnKind::Text { text_alignment, vertical_alignment } => {
            match (text_alignment, vertical_alignment) {
                (CellAlign::Left, None | Some(VerticalAlign::Top)) => "",
                (CellAlign::Left, _) => "at-middle",
                (CellAlign::Center, _) => "centered",
                (CellAlign::Right, _) => "at-end",
            }
        }
        TableColumnKind::Number | TableColumnKind::Rating { .. } => "at-end",
        TableColumnKind::Checkbox => "centered",
        TableColumnKind::Files
        | TableColumnKind::Users { .. }
        | TableColumnKind::Select { .. }
        | TableColumnKind::ContentRef
        | TableColumnKind::Image => "",
    }
}

fn cell_reference(value: &CellValue) -> Option<ContentRef> {
    match value {
        CellValue::Reference(target) => Some(target.clone()),
        _ => None,
    }
}

/// Returns the classes of the cover of a card. By default, it is cropped.
fn cover_class(value: &CellValue) -> &'static str {
    match value {
        CellValue::Image { object_fit: Some(fit), .. } if fit == "contain" => "cover-picture contained",
        CellValue::Image { object_fit: Some(fit), .. } if fit == "fill" => "cover-picture filled",
        _ => "cover-picture",
    }
}

/// Returns the image that a cell value references, or the first image of its files.
fn cell_image(value: &CellValue) -> Option<ContentRef> {
    match value {
        CellValue::Reference(target) | CellValue::Image { target, .. } => Some(target.clone()),
        CellValue::Ids(ids) => Some(ContentRef::File { file: ids.first()?.parse().ok()? }),
        _ => None,
    }
}
