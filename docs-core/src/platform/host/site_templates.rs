//! New spaces of sites, with the content of templates.

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::{AddSection, AddSiteSpace, ApplySpaceTemplate, SiteSection, SiteSpace, SiteTitle},
    platform::{
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{Sections, SiteHandle, SiteRef, SiteSpaces},
        sites::structure::PartSpace,
    },
};

/// The template of an empty site, and the title of its space.
const SITE_TEMPLATE: &str = "product-docs";
const SITE_SPACE_TITLE: &str = "Documentation";

impl<'p> SiteHandle<'p> {
    /// Fills an empty site with a space whose pages are a template for the documentation of a product.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Forbidden` without the permission to manage the site, or without the `create` role; `Conflict` if
    /// the site has spaces, sections, groups or links.
    #[boxed]
    pub async fn apply_template(self) -> Result<()> {
        let (platform, ref actor, of, _) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let id = SITE_TEMPLATE.parse().map_err(Error::internal)?;
            let template = ApplySpaceTemplate { id, params: None, change_request_id: None };
            let title: SiteTitle = SITE_SPACE_TITLE.parse().map_err(Error::internal)?;
            platform.require_empty_site(actor, of).await?;
            let space = platform.part_space(actor, of, None, Some(&title), Some(template)).await?;
            platform.fill_site(actor, of, &space).await
        });
        done.await
    }
}

impl<'p> SiteSpaces<'p> {
    /// Adds a space to a site, at the end of a section. The first space of a section, or of a site without sections,
    /// becomes its default. If no section is given, the default section is used. If no space is given, one is
    /// created.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the permission to manage the site and the space, or without the `create` role for a new
    /// space; `Invalid` for an unknown space, section or template; `Conflict` if the site is full.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Result, model::{AddSiteSpace, OrgId, SiteId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, space: &SpaceId) -> Result<()> {
    /// let add = AddSiteSpace { space_id: Some(space.to_string()), ..Default::default() };
    /// let added = me.org(org).site(site).spaces().create(add).await?;
    /// println!("{} is at /{}", added.title, added.path);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, add: AddSiteSpace) -> Result<SiteSpace> {
        let (platform, ref actor, of, _) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let (id, title) = (add.space_id.as_deref(), add.title.as_ref());
            let space = platform.part_space(actor, of, id, title, add.template.clone()).await?;
            platform.add_site_space(actor, of, &add, &space).await
        });
        done.await
    }
}

impl<'p> Sections<'p> {
    /// Adds a section with its first space at the end of a site or of a group. If no space is given, one is
    /// created.
    ///
    /// If the site has no sections, its existing spaces move into a default section with the title of the site. No URL
    /// changes.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the permission to manage the site and the space, or without the `create` role for a new
    /// space; `Invalid` for an unknown space, group or template; `Conflict` if the site is full.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{AddSection, OrgId, SiteId, SpaceId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, space: &SpaceId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let (space_id, title) = (Some(space.to_string()), Some("Reference".parse()?));
    /// let add = AddSection { space_id, title, ..AddSection::default() };
    /// let section = me.org(org).site(site).sections().create(add).await?;
    /// println!("/{} {}", section.path, section.title);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, add: AddSection) -> Result<SiteSection> {
        let (platform, ref actor, of, _) = self.parts();
        let done = platform.idempotent(actor, Right::for_site(of), async move {
            let (id, title) = (add.space_id.as_deref(), add.title.as_ref());
            let space = platform.part_space(actor, of, id, title, add.template.clone()).await?;
            platform.add_section(actor, of, add, space).await
        });
        done.await
    }
}

impl Platform {
    /// Returns the space that a request selects by `spaceId`. Without an id, it is a new space with this title and the
    /// content of the template.
    async fn part_space(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        id: Option<&str>,
        title: Option<&SiteTitle>,
        template: Option<ApplySpaceTemplate>,
    ) -> Result<PartSpace> {
        if let Some(id) = id {
            if template.is_some() {
                return Err(Error::invalid("template", "must be omitted unless `spaceId` is null"));
            }
            return id
                .parse()
                .map(PartSpace::Existing)
                .map_err(|_| Error::invalid("spaceId", "no such space"));
        }
        let domain = self.part_space_domain(actor, of).await?;
        let storing = self.begin_write_window();
        let root = self.initial_content(&domain, template).await?;
        self.new_part_space(actor, of.org, title, domain, root, storing)
    }
}
