//! Templates: pages to begin with.

use super::{
    Actor, Platform,
    content::ContentOf,
    import::{Gathered, append::Append, folder::Folder},
};
use crate::{
    BoxFuture, Error, Result,
    content::{
        gitsync::RepoPath,
        markdown::{Resolution, rewrite_links},
        templates,
    },
    model::{ApplySpaceTemplate, ContentRef, SpaceId, SpaceTemplateParams, web_url},
};

impl Platform {
    /// Adds the pages of a template to the live content of a space, as one revision (SPEC 4.7).
    ///
    /// They become the last ones at the top level; nothing that is there changes.
    ///
    /// # Errors
    /// `NotFound`, also for a template there is none of; `Forbidden` without the role `edit`; `Conflict` where live
    /// content is locked.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the template applied as a whole or not at all.
    pub fn apply_template<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        request: ApplySpaceTemplate,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.once(actor, async move {
            let by = actor.require_user()?.clone();
            let of = ContentOf::space(space.clone());
            let target = self.append_target(actor, &of).await?;
            let template = templates::find(&request.id).ok_or_else(|| Error::not_found("template"))?;
            let params = request.params.unwrap_or_default();
            let mut folder = Folder::new("the template");
            for (path, text) in template.files {
                let path = RepoPath::new(path).map_err(Error::internal)?;
                folder.put(path, filled_in(text, &params).into());
            }
            let mut gathered = Gathered::default();
            folder.add_to(self, &target.space().domain, &mut gathered).await?;
            let append = Append { actor, by: &by, of: &of, before: &target, edits: &gathered.edits };
            self.append(append, drop).await
        }))
    }
}

/// A text whose links to `/refs/NAME` lead where the request says; those it says nothing of become plain text.
fn filled_in(text: &str, params: &SpaceTemplateParams) -> String {
    let new = rewrite_links(text, |site| match site.destination.strip_prefix("/refs/") {
        None => Resolution::Keep,
        Some(name) => {
            let given = params.content_refs.as_ref().and_then(|refs| refs.get(name));
            given.and_then(destination).map_or(Resolution::Plain, Resolution::To)
        }
    });
    new.into_owned()
}

/// A reference as a link has it; `None` for what a link of Markdown cannot lead to.
fn destination(reference: &ContentRef) -> Option<String> {
    match reference {
        ContentRef::Url { url } => web_url(url).map(|_| url.clone()),
        ContentRef::File { file } => Some(format!("/files/{file}")),
        ContentRef::Page { page, space: None } => Some(format!("/pages/{page}")),
        ContentRef::Anchor { anchor, page: Some(page), space: None } => {
            Some(format!("/pages/{page}#{anchor}"))
        }
        _ => None,
    }
}
