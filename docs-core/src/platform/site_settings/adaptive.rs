//! What is known of the visitors of a site.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    BoxFuture, Error, Result,
    content::expression::Claims,
    model::{
        AdaptiveJsonSchema, AdaptiveSchemaObject, OrgId, SiteAdaptiveSchema, SiteId, TemplateConditions,
        Timestamp, UpdateAdaptiveSchema,
    },
    platform::{Actor, Platform, access},
    policy::SiteAction,
    store::{Operation, Tx, records::AdaptiveRecord},
};

impl Platform {
    /// What is known of the visitors of a site (SPEC 4.11).
    ///
    /// # Errors
    /// `NotFound`, also while nothing was set.
    pub fn get_adaptive_schema<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<SiteAdaptiveSchema>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::View).await?;
            let record = schema(&tx, site).await?.ok_or_else(|| Error::not_found("adaptive schema"))?;
            Ok(view(&record))
        })
    }

    /// Sets what is known of the visitors of a site (SPEC 4.11).
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`.
    pub fn set_adaptive_schema<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
        new: UpdateAdaptiveSchema,
    ) -> BoxFuture<'a, Result<SiteAdaptiveSchema>> {
        Box::pin(async move {
            let operation = Set {
                actor: actor.clone(),
                org: org.clone(),
                site: site.clone(),
                schema: new.json_schema,
                now: self.now(),
            };
            Ok(view(&*self.write(actor, &operation).await?))
        })
    }

    /// Conditions that are ready to use, one for each value that a claim is known to have (SPEC 4.11); none while
    /// nothing is known.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn template_conditions<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<TemplateConditions>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::View).await?;
            let record = schema(&tx, site).await?;
            let items = record.map(|record| record.schema.template_conditions()).unwrap_or_default();
            Ok(TemplateConditions { items })
        })
    }

    /// What conditions on a site may decide by: the claims of which the schema knows all values.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn site_claims<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        site: &'a SiteId,
    ) -> BoxFuture<'a, Result<Claims>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::site(&tx, actor, (org, site), SiteAction::View).await?;
            claims(&tx, site).await
        })
    }
}

/// What is known of the claims of a site's visitors; of a site without a schema nothing is.
pub(in crate::platform) async fn claims(tx: &Tx, site: &SiteId) -> Result<Claims> {
    let record = schema(tx, site).await?;
    Ok(record.map(|record| Claims::from_schema(record.schema.as_json())).unwrap_or_default())
}

/// The schema of a site's visitors.
async fn schema(tx: &Tx, site: &SiteId) -> Result<Option<Arc<AdaptiveRecord>>> {
    Ok(tx.get(&AdaptiveRecord::at(site)).await?)
}

fn view(record: &AdaptiveRecord) -> SiteAdaptiveSchema {
    SiteAdaptiveSchema {
        object: AdaptiveSchemaObject::Is,
        json_schema: record.schema.clone(),
        updated_at: record.updated_at,
    }
}

struct Set {
    actor: Actor,
    org: OrgId,
    site: SiteId,
    schema: AdaptiveJsonSchema,
    now: Timestamp,
}

#[async_trait]
impl Operation for Set {
    type Out = Arc<AdaptiveRecord>;
    const NAME: &'static str = "adaptive_schema_set";

    async fn apply(&self, tx: &mut Tx) -> Result<Arc<AdaptiveRecord>> {
        access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let old = schema(tx, &self.site).await?;
        let new =
            AdaptiveRecord { site: self.site.clone(), schema: self.schema.clone(), updated_at: self.now };
        match old {
            None => Ok(tx.create(new)),
            Some(old) if old.schema == new.schema => Ok(old),
            Some(old) => Ok(tx.put(&*old, new)?),
        }
    }
}
