//! The platform of a server: its store and the adapters of the enabled features.

use std::{sync::Arc, time::Duration};

use docs_core::{
    Platform,
    platform::{Builder, SiteHosts, load_or_create_sealing_key},
    ports::{Metrics, RandomIds, SealingKey, SystemClock},
    store::Blobs,
};

pub(crate) use self::first_import::FirstImport;
use crate::{
    ServerConfig, ServerError, StoreUrl, config::files_origin, search_index, store_url::StoreAccess,
};

mod first_import;
#[cfg(feature = "git")]
mod git;
#[cfg(not(all(
    feature = "blobs",
    feature = "git",
    feature = "pdf",
    feature = "translate",
    feature = "web"
)))]
mod missing_feature;
pub(crate) mod worker;

#[cfg(feature = "git")]
pub use git::handbook;

/// Builds the platform for a configuration. Also returns the content to create on the first start, if any.
pub(crate) async fn platform(
    config: &ServerConfig,
    base: &str,
    metrics: Arc<dyn Metrics>,
) -> Result<(Platform, Option<FirstImport>), ServerError> {
    let blobs = open_blobs(config.blobs.as_deref())?;
    let (store, objects) = config.store.open(blobs).await?;
    let key = match &config.secret {
        Some(secret) => SealingKey::from_secret(secret.reveal()),
        None => load_or_create_sealing_key(&store, &SystemClock, &RandomIds).await?,
    };
    let builder = Platform::builder(store, objects).secrets(key).metrics(metrics);
    let builder = add_addresses(builder, config, base)?;
    let builder = builder.site_hosts(SiteHosts::from_rules(config.site_hosts.iter().cloned()));
    let builder = match config.job_lease {
        Some(seconds) => builder.job_lease(Duration::from_secs(seconds.get().into())),
        None => builder,
    };
    let builder = match config.organizations_per_user {
        Some(most) => builder.organizations_per_user(most),
        None => builder,
    };
    let builder = builder.search(search_index::open(config)?);
    let builder = add_web(worker::add_worker_adapters(builder, config)?, config)?;
    let builder = add_saml(add_translator(builder, config)?);
    let (builder, first) = add_git(builder, config).await?;
    let platform = builder.build();
    platform.check_layout().await.map_err(|why| ServerError::for_flag("--store", why))?;
    Ok((platform, first))
}

/// Builds a platform over a store for the `admin` commands. The blob store is its only adapter.
pub(crate) async fn admin_platform(
    config: &ServerConfig,
    users: StoreAccess,
) -> Result<Platform, ServerError> {
    let (store, objects) = config.store.open_for(users, open_blobs(config.blobs.as_deref())?).await?;
    Ok(Platform::builder(store, objects).build())
}

/// Builds the platform for `export`, which reads content as visitors do. It has the server's base URL and secrets.
pub(crate) async fn export_platform(config: &ServerConfig) -> Result<Platform, ServerError> {
    let base = base_url_of_database(config)?;
    let (store, objects) = config.store.open(open_blobs(config.blobs.as_deref())?).await?;
    let key = match &config.secret {
        Some(secret) => SealingKey::from_secret(secret.reveal()),
        None => load_or_create_sealing_key(&store, &SystemClock, &RandomIds).await?,
    };
    build_for_database(Platform::builder(store, objects).secrets(key), config, &base).await
}

/// Builds the platform for `import`, which converts documents and fetches their images as the server does.
pub(crate) async fn import_platform(config: &ServerConfig) -> Result<Platform, ServerError> {
    let base = base_url_of_database(config)?;
    let (store, objects) = config.store.open(open_blobs(config.blobs.as_deref())?).await?;
    let builder = Platform::builder(store, objects);
    let builder = add_web(worker::add_worker_adapters(builder, config)?, config)?;
    build_for_database(builder, config, &base).await
}

/// Returns the base URL for a command that uses the database of a server. Rejects a store in memory.
fn base_url_of_database(config: &ServerConfig) -> Result<String, ServerError> {
    if config.store == StoreUrl::Memory {
        let why = "must be the database of the server; `memory` has no data";
        return Err(ServerError::for_flag("--store", why));
    }
    Ok(config.given_base_url()?.unwrap_or_else(|| format!("http://{}", config.bind)))
}

/// Builds the platform of a command, and checks the layout of the database.
async fn build_for_database(
    builder: Builder,
    config: &ServerConfig,
    base: &str,
) -> Result<Platform, ServerError> {
    let platform = add_addresses(builder, config, base)?.build();
    platform.check_layout().await.map_err(|why| ServerError::for_flag("--store", why))?;
    Ok(platform)
}

/// Sets the base URL for URLs in responses, and the files origin.
fn add_addresses(builder: Builder, config: &ServerConfig, base: &str) -> Result<Builder, ServerError> {
    let builder = builder.base_url(base);
    let Some(origin) = &config.files_origin else { return Ok(builder) };
    let refused = |why: &str| ServerError::for_flag("--files-origin", why);
    let origin = files_origin(origin).map_err(|why| refused(&why))?;
    let is_below = base.strip_prefix(&origin).is_some_and(|path| path.is_empty() || path.starts_with('/'));
    if is_below {
        return Err(refused("must have another origin than --base-url"));
    }
    if base.starts_with("https:") && !origin.starts_with("https:") {
        return Err(refused("must begin with https, because --base-url does"));
    }
    Ok(builder.files_origin(&origin))
}

#[cfg(feature = "blobs")]
fn open_blobs(place: Option<&str>) -> Result<Option<Arc<dyn Blobs>>, ServerError> {
    let Some(place) = place else { return Ok(None) };
    let blobs: docs_blobs::ObjectBlobs =
        place.parse().map_err(|why| ServerError::for_flag("--blobs", why))?;
    Ok(Some(Arc::new(blobs)))
}

#[cfg(not(feature = "blobs"))]
fn open_blobs(place: Option<&str>) -> Result<Option<Arc<dyn Blobs>>, ServerError> {
    missing_feature::refuse(place.is_some(), "--blobs", "blobs").map(|()| None)
}

#[cfg(feature = "web")]
fn add_web(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    use docs_web::{Outbound, WebClient};
    let outbound = match config.outbound {
        crate::OutboundPolicy::Public => Outbound::Public,
        crate::OutboundPolicy::Private => Outbound::Private,
        crate::OutboundPolicy::Files => Outbound::Files,
    };
    Ok(builder.web(Arc::new(WebClient::new(outbound).map_err(ServerError::from_error)?)))
}

#[cfg(not(feature = "web"))]
fn add_web(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    // With the `git` feature, the flag also applies to Git imports.
    let is_asked = config.outbound != crate::OutboundPolicy::Public && !cfg!(feature = "git");
    missing_feature::refuse(is_asked, "--outbound", "web").map(|()| builder)
}

/// Adds the configured translator.
#[cfg(feature = "translate")]
fn add_translator(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    use docs_translate::{ApiKey, ChatTranslator, LibreTranslate};
    let without = |flag: &'static str, given: bool| match given {
        true => Err(ServerError::for_flag(
            flag,
            "is not supported by the pseudo-translator; select another one \
                                             with --translator",
        )),
        false => Ok(()),
    };
    let key = config.translator_key.as_ref().map(|key| ApiKey::new(key.reveal()));
    let url = || {
        let missing = "is required by the translator";
        config.translator_url.as_deref().ok_or_else(|| ServerError::for_flag("--translator-url", missing))
    };
    let wrong = |error| ServerError::for_flag("--translator-url", error);
    Ok(match config.translator {
        crate::TranslatorKind::Pseudo => {
            without("--translator-url", config.translator_url.is_some())?;
            without("--translator-key", config.translator_key.is_some())?;
            without("--translator-model", config.translator_model.is_some())?;
            builder
        }
        crate::TranslatorKind::Openai => {
            let missing = "is required by the translator";
            let model = config.translator_model.as_deref();
            let model = model.ok_or_else(|| ServerError::for_flag("--translator-model", missing))?;
            builder.translator(Arc::new(ChatTranslator::new(url()?, key, model).map_err(wrong)?))
        }
        crate::TranslatorKind::Libretranslate => {
            if config.translator_model.is_some() {
                return Err(ServerError::for_flag(
                    "--translator-model",
                    "is not supported by LibreTranslate",
                ));
            }
            builder.translator(Arc::new(LibreTranslate::new(url()?, key).map_err(wrong)?))
        }
    })
}

#[cfg(not(feature = "translate"))]
fn add_translator(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    missing_feature::refuse(config.translator != crate::TranslatorKind::Pseudo, "--translator", "translate")?;
    missing_feature::refuse(config.translator_url.is_some(), "--translator-url", "translate")?;
    missing_feature::refuse(config.translator_key.is_some(), "--translator-key", "translate")?;
    missing_feature::refuse(config.translator_model.is_some(), "--translator-model", "translate")
        .map(|()| builder)
}

/// Adds the adapter that reads and writes SAML messages. `--saml` decides whether the sign-in pages are mounted.
#[cfg(feature = "saml")]
fn add_saml(builder: Builder) -> Builder {
    builder.saml(Arc::new(docs_saml::XmlSaml))
}

#[cfg(not(feature = "saml"))]
fn add_saml(builder: Builder) -> Builder {
    builder
}

/// Adds the Git client. Also returns the content to create on the first start.
#[cfg(feature = "git")]
async fn add_git(
    builder: Builder,
    config: &ServerConfig,
) -> Result<(Builder, Option<FirstImport>), ServerError> {
    let (remote, first) = git::open_remote(config).await?;
    Ok((builder.git(remote), first))
}

/// Without the `git` feature, nothing can be imported and the first space stays empty.
#[cfg(not(feature = "git"))]
async fn add_git(
    builder: Builder,
    config: &ServerConfig,
) -> Result<(Builder, Option<FirstImport>), ServerError> {
    let is_imported = matches!(config.import, Some(crate::ImportSource::From(_)));
    missing_feature::refuse(is_imported, "--import", "git")?;
    missing_feature::refuse(config.git_cache.is_some(), "--git-cache", "git")?;
    missing_feature::refuse(config.git_cache_size.is_some(), "--git-cache-size", "git")?;
    let first = FirstImport { title: "Documentation".to_owned(), source: None };
    Ok((builder, config.import.is_none().then_some(first)))
}
