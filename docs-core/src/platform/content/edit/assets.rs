//! Changes to content other than pages: deleted files, variables and reusable content blocks.

use super::{
    body, links,
    plan::{EditPlan, Edits},
    warnings::EditWarnings,
};
use crate::{
    Error, Result,
    content::{Edit, NewBody, Rendering, ReusablePatch, View},
    model::{
        ContentEdit, DeleteFilesChange, DocumentInput, FileId, InsertReusableContentChange, ReusableId,
        UpdateReusableContentChange, UpdateVariablesChange,
    },
};

/// The field that identifies a reusable content block.
const REUSABLE: &str = "reusableContent";

impl EditPlan {
    /// Adds the edits of a change that concerns no page. `id` identifies the inserted reusable content block.
    pub(super) async fn push_assets(
        &self,
        view: &View,
        at: usize,
        change: &ContentEdit,
        id: Option<&ReusableId>,
        edits: &mut Edits,
    ) -> Result<()> {
        match change {
            ContentEdit::DeleteFiles(delete) => {
                for (n, file) in parse_file_ids(delete)?.into_iter().enumerate() {
                    edits.push_field(at, format!("files[{n}]"), Edit::DeleteFile { file });
                }
            }
            ContentEdit::UpdateVariables(update) => edits.push(at, variables(update)?),
            ContentEdit::InsertReusableContent(insert) => {
                let id = id.ok_or_else(|| Error::internal("an insert without an id"))?;
                let edit = self.insert_reusable(view, insert, id, edits.warnings.within(at)).await?;
                edits.push(at, edit);
            }
            ContentEdit::UpdateReusableContent(update) => {
                let edit = self.update_reusable(view, update, edits.warnings.within(at)).await?;
                edits.push_field(at, REUSABLE.to_owned(), edit);
            }
            ContentEdit::DeleteReusableContent(delete) => {
                let reusable = reusable_id(&delete.reusable_content)?;
                edits.push_field(at, REUSABLE.to_owned(), Edit::DeleteReusable { reusable });
            }
            ContentEdit::UpdatePage(_)
            | ContentEdit::InsertPage(_)
            | ContentEdit::DeletePage(_)
            | ContentEdit::RevertPage(_)
            | ContentEdit::InsertFiles(_) => {}
        }
        Ok(())
    }

    async fn insert_reusable(
        &self,
        view: &View,
        insert: &InsertReusableContentChange,
        id: &ReusableId,
        warnings: &mut EditWarnings,
    ) -> Result<Edit> {
        let body = self.reusable_body(view, &insert.document, "", warnings).await?;
        let fields = ReusablePatch {
            title: Some(insert.title.to_string()),
            body: Some(body),
            ..ReusablePatch::default()
        };
        Ok(Edit::PutReusable { reusable: id.clone(), fields })
    }

    async fn update_reusable(
        &self,
        view: &View,
        update: &UpdateReusableContentChange,
        warnings: &mut EditWarnings,
    ) -> Result<Edit> {
        let reusable = reusable_id(&update.reusable_content)?;
        let entry = view.reusable(&reusable).await?.ok_or_else(unknown_reusable)?;
        let body = match &update.document {
            None => None,
            Some(document) => {
                let old = view.text(&entry.body, Rendering::Request).await?;
                Some(self.reusable_body(view, document, &old, warnings).await?)
            }
        };
        let title = update.title.as_ref().map(ToString::to_string);
        let fields = ReusablePatch { title, body, ..ReusablePatch::default() };
        Ok(Edit::PutReusable { reusable, fields })
    }

    /// Builds the text of a reusable content block. It has no front matter, so the whole document is text.
    async fn reusable_body(
        &self,
        view: &View,
        document: &DocumentInput,
        old: &str,
        warnings: &mut EditWarnings,
    ) -> Result<NewBody> {
        let text = body::text(document, old)?;
        warnings.add_from_text(&text, old);
        links::resolve(&text, old, &self.names, view, "", warnings).await.map(NewBody::Text)
    }
}

fn parse_file_ids(delete: &DeleteFilesChange) -> Result<Vec<FileId>> {
    let (has, most) = (delete.files.len(), DeleteFilesChange::MAX_FILES);
    if !(1..=most).contains(&has) {
        return Err(Error::invalid("files", format_args!("must be 1 to {most} files, has {has}")));
    }
    let ids = delete.files.iter().enumerate();
    ids.map(|(n, id)| id.parse().map_err(|_| Error::invalid(&format!("files[{n}]"), "no such file")))
        .collect()
}

fn variables(update: &UpdateVariablesChange) -> Result<Edit> {
    if update.variables.is_empty() {
        return Err(Error::invalid("variables", "must have at least one variable"));
    }
    Ok(Edit::SetVariables { variables: update.variables.clone() })
}

fn reusable_id(id: &str) -> Result<ReusableId> {
    id.parse().map_err(|_| unknown_reusable())
}

fn unknown_reusable() -> Error {
    Error::invalid(REUSABLE, "no such reusable content")
}
