//! Templates: initial pages for a space, and new spaces.

use docs_macros::boxed;

use crate::{
    Error, Result,
    content::{
        Edit,
        gitsync::RepoPath,
        markdown::{Resolution, rewrite_links},
        templates::{self, Template},
    },
    model::{ApplySpaceTemplate, ContentRef, CreateSpace, Space, SpaceTemplateParams, web_url},
    platform::{
        content::edit::append::Append,
        exchange::import::{ImportItems, folder::Folder},
        kernel::{content_version::ContentVersion, platform::Platform, request::Right, write::ready_answer},
        nouns::{SpaceHandle, Spaces},
    },
    policy::SpaceAction,
    store::Hash,
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
            let edits = &platform.template_edits(&target.space().domain, template, request.params).await?;
            let append = Append { actor, by: &by, of: &of, before: &target, edits, run: None };
            platform.append(append, |_, _| ready_answer(Ok(()))).await
        });
        done.await
    }
}

impl<'p> Spaces<'p> {
    /// Creates a space as the last child of its parent, with the content of a template or with empty content.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the parent; `Invalid` for an unknown collection or template; `Conflict`
    /// if the collection is full.
    ///
    /// # Example
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, model::CreateSpace, platform::NewUser};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?;
    /// # let org = platform.as_platform().orgs().create("Engines".parse()?, &ada.id).await?.id;
    /// let new = CreateSpace { title: Some("Manual".parse()?), ..Default::default() };
    /// let space = platform.as_user(&ada.id).org(&org).spaces().create(new).await?;
    /// assert_eq!(&*space.title, "Manual");
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateSpace) -> Result<Space> {
        let (platform, ref actor, org) = self.parts();
        let done = platform.idempotent(
            actor,
            Right::CreateIn(org.clone(), new.parent.as_deref().map(Into::into)),
            async move {
                let domain = platform.new_space_domain(actor, org, &new).await?;
                let storing = platform.begin_write_window();
                let root = platform.initial_content(&domain, new.template.clone()).await?;
                let record = platform.new_space(actor, org, &new, domain, root)?;
                platform.create_space(actor, &new, &record, storing).await
            },
        );
        done.await
    }
}

impl Platform {
    /// Stores the content of a new space in a storage domain: that of a template, or no pages.
    ///
    /// # Errors
    ///
    /// `Invalid` for an unknown template, and for the change request of a space that does not exist yet.
    pub(in crate::platform) async fn initial_content(
        &self,
        domain: &str,
        request: Option<ApplySpaceTemplate>,
    ) -> Result<Hash> {
        let root = self.content().empty_root(domain).await?;
        let Some(request) = request else { return Ok(root) };
        if request.change_request_id.is_some() {
            return Err(Error::invalid("template.changeRequestId", "must be omitted for a new space"));
        }
        let unknown = || {
            let known = templates::TEMPLATES.map(|template| template.id).join(", ");
            Error::invalid("template.id", format_args!("must be one of {known}"))
        };
        let template = templates::find(&request.id).ok_or_else(unknown)?;
        let edits = self.template_edits(domain, template, request.params).await?;
        Ok(self.content().edit(domain, root, self.now().time(), &edits).await?.root)
    }

    /// Returns the edits that add the pages of a template to content in a storage domain.
    async fn template_edits(
        &self,
        domain: &str,
        template: &Template,
        params: Option<SpaceTemplateParams>,
    ) -> Result<Vec<Edit>> {
        let params = params.unwrap_or_default();
        let mut folder = Folder::new("the template");
        for (path, text) in template.files {
            let path = RepoPath::new(path).map_err(Error::internal)?;
            folder.put(path, fill_in(text, &params).into());
        }
        let mut gathered = ImportItems::default();
        folder.add_to(self, domain, &mut gathered).await?;
        Ok(gathered.edits)
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
