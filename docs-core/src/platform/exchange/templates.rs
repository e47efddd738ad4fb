//! Templates: initial pages for a space.

use docs_macros::boxed;

use crate::{
    Error, Result,
    content::{
        gitsync::RepoPath,
        markdown::{Resolution, rewrite_links},
        templates,
    },
    model::{ApplySpaceTemplate, ContentRef, SpaceTemplateParams, web_url},
    platform::{
        content::edit::append::Append,
        exchange::import::{ImportItems, folder::Folder},
        kernel::{content_version::ContentVersion, request::Right, write::ready_answer},
        nouns::SpaceHandle,
    },
    policy::SpaceAction,
};

impl<'p> SpaceHandle<'p> {
    /// Adds the pages of a template to the live content of a space or to a change request, as one revision.
    ///
    /// The pages are added at the end of the top level. Existing pages are unchanged.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for an unknown template; `Forbidden` without the `edit` role; `Conflict` if live content is
    /// locked, and for a merged or archived change request.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the template either completely applied or not applied.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{ApplySpaceTemplate, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let request = ApplySpaceTemplate { id: "handbook".parse()?, params: None, change_request_id: None };
    /// me.space(space).apply_template(request).await?;
    /// println!("{}", me.space(space).get().await?.revision);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn apply_template(self, request: ApplySpaceTemplate) -> Result<()> {
        let (platform, ref actor, space) = self.parts();
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let by = actor.require_user()?.clone();
            let of = match &request.change_request_id {
                Some(name) => ContentVersion::request(space.clone(), name),
                None => ContentVersion::space(space.clone()),
            };
            let target = platform.append_target(actor, &of).await?;
            let template = templates::find(&request.id).ok_or_else(|| Error::not_found("template"))?;
            let params = request.params.unwrap_or_default();
            let mut folder = Folder::new("the template");
            for (path, text) in template.files {
                let path = RepoPath::new(path).map_err(Error::internal)?;
                folder.put(path, fill_in(text, &params).into());
            }
            let mut gathered = ImportItems::default();
            folder.add_to(platform, &target.space().domain, &mut gathered).await?;
            let edits = &gathered.edits;
            let append = Append { actor, by: &by, of: &of, before: &target, edits, run: None };
            platform.append(append, |_, _| ready_answer(Ok(()))).await
        });
        done.await
    }
}

/// Replaces links to `/refs/NAME` with the targets in the request. Links without a target become plain text.
fn fill_in(text: &str, params: &SpaceTemplateParams) -> String {
    let new = rewrite_links(text, |site| match site.destination.strip_prefix("/refs/") {
        None => Resolution::Keep,
        Some(name) => {
            let given = params.content_refs.as_ref().and_then(|refs| refs.get(name));
            given.and_then(destination).map_or(Resolution::Plain, Resolution::To)
        }
    });
    new.into_owned()
}

/// Returns the link destination of a reference, or `None` if Markdown cannot link to it.
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
