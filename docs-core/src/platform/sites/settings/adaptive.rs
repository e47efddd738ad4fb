//! The visitor claims schema of a site.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    content::expression::Claims,
    model::{
        AdaptiveJsonSchema, AdaptiveSchemaObject, OrgId, SiteAdaptiveSchema, SiteId, TemplateConditions,
        Timestamp, UpdateAdaptiveSchema,
    },
    platform::{
        access,
        kernel::actor::Actor,
        nouns::{SiteHandle, SiteRef},
    },
    policy::SiteAction,
    store::{Tx, records::AdaptiveRecord},
};

impl<'p> SiteHandle<'p> {
    /// Reads the visitor claims schema of a site.
    ///
    /// # Errors
    ///
    /// `NotFound`, also if no schema is set.
    #[boxed]
    pub async fn get_adaptive_schema(self) -> Result<SiteAdaptiveSchema> {
        let (platform, ref actor, at, _) = self.parts();
        let tx = platform.read().await?;
        read_schema(&tx, actor, at).await
    }

    /// Sets the visitor claims schema of a site.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::model::{AdaptiveJsonSchema, OrgId, SiteId, UpdateAdaptiveSchema};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let claims = serde_json::json!({ "beta": { "type": "boolean", "description": "Tries new features" } });
    /// let schema = serde_json::json!({ "type": "object", "properties": claims, "additionalProperties": false });
    /// let new = UpdateAdaptiveSchema { json_schema: AdaptiveJsonSchema::new(schema)? };
    /// println!("{}", me.org(org).site(site).set_adaptive_schema(new).await?.updated_at);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn set_adaptive_schema(self, new: UpdateAdaptiveSchema) -> Result<SiteAdaptiveSchema> {
        let Self { caller, at: at @ SiteRef { org, site }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let operation = set_adaptive_schema(actor, org, site, &new.json_schema, platform.now());
        let set = platform.change(actor, &operation, |seen| Box::pin(read_schema(seen.tx, actor, at)));
        Ok(view(&*set.await?))
    }

    /// Lists predefined conditions, one for each known value of a claim. The list is empty without a schema.
    #[boxed]
    pub async fn template_conditions(self) -> Result<TemplateConditions> {
        let Self { caller, at: at @ SiteRef { site, .. }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::View).await?;
        let record = schema(&tx, site).await?;
        let items = record.map(|record| record.schema.template_conditions()).unwrap_or_default();
        Ok(TemplateConditions { items })
    }

    /// Returns the claims that conditions on a site can use: those whose values are enumerated in the schema.
    #[boxed]
    pub async fn known_claims(self) -> Result<Claims> {
        let Self { caller, at: at @ SiteRef { site, .. }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        access::require_site(&tx, actor, at, SiteAction::View).await?;
        claims(&tx, site).await
    }
}

/// Returns the known visitor claims of a site. Empty without a schema.
pub(in crate::platform) async fn claims(tx: &Tx, site: &SiteId) -> Result<Claims> {
    let record = schema(tx, site).await?;
    Ok(record.map(|record| Claims::from_schema(record.schema.as_json())).unwrap_or_default())
}

async fn schema(tx: &Tx, site: &SiteId) -> Result<Option<Arc<AdaptiveRecord>>> {
    Ok(tx.get(&AdaptiveRecord::key_for(site)).await?)
}

/// Returns the visitor claims schema of a site, as of the transaction.
async fn read_schema(tx: &Tx, actor: &Actor, at: SiteRef<'_>) -> Result<SiteAdaptiveSchema> {
    access::require_site(tx, actor, at, SiteAction::View).await?;
    let record = schema(tx, at.site).await?.ok_or_else(|| Error::not_found("adaptive schema"))?;
    Ok(view(&record))
}

fn view(record: &AdaptiveRecord) -> SiteAdaptiveSchema {
    SiteAdaptiveSchema {
        object: AdaptiveSchemaObject::Is,
        json_schema: record.schema.clone(),
        updated_at: record.updated_at,
    }
}

#[operation("adaptive_schema_set")]
async fn set_adaptive_schema(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    json_schema: &AdaptiveJsonSchema,
    now: Timestamp,
) -> Result<Arc<AdaptiveRecord>> {
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old = schema(tx, site).await?;
    let new = AdaptiveRecord { site: site.clone(), schema: json_schema.clone(), updated_at: now };
    match old {
        None => Ok(tx.create(new)),
        Some(old) if old.schema == new.schema => Ok(old),
        Some(old) => Ok(tx.put(&*old, new)?),
    }
}
