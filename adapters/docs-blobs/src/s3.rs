//! S3 buckets.

use std::time::Duration;

use object_store::{
    ClientOptions, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    client::{HttpClient, HttpConnector},
    path::Path,
};
use reqwest::Client;
use rustls::ClientConfig;
use url::Url;

const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Only brief failures are retried. Longer outages are reported to the caller, who can retry later.
const RETRIES: usize = 2;
const RETRY_FOR: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Parses a URL into the bucket and the prefix of all object names.
pub(crate) fn parse(text: &str) -> Result<(String, Option<Path>), String> {
    const FORM: &str = "must be s3://BUCKET or s3://BUCKET/PREFIX";
    let url = Url::parse(text).map_err(|_| FORM.to_owned())?;
    let bucket = url.host_str().filter(|_| url.scheme() == "s3").ok_or(FORM)?;
    if !url.username().is_empty() || url.port().is_some() || url.query().is_some() || url.fragment().is_some()
    {
        return Err(format!("{FORM}; credentials and the endpoint come from the environment"));
    }
    let prefix = Path::from_url_path(url.path()).map_err(|error| error.to_string())?;
    Ok((bucket.to_owned(), Some(prefix).filter(|prefix| !prefix.as_ref().is_empty())))
}

/// Opens a bucket with configuration from the environment.
pub(crate) fn open_bucket(bucket: &str) -> Result<AmazonS3, String> {
    let tls = docs_web::tls_config().map_err(|error| error.to_string())?;
    let builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_http_connector(Connector(tls))
        .with_retry(RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() });
    builder.build().map_err(|error| error.to_string())
}

/// A connector that uses this crate's TLS configuration, because a library must not set a process-wide default.
#[derive(Debug)]
struct Connector(ClientConfig);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = Client::builder()
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .tls_backend_preconfigured(self.0.clone())
            .build()
            .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })?;
        Ok(HttpClient::new(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_url_parses_into_name_and_prefix() {
        assert_eq!(parse("s3://docs"), Ok(("docs".to_owned(), None)));
        assert_eq!(parse("s3://docs/"), Ok(("docs".to_owned(), None)));
        assert_eq!(parse("s3://docs/a/b/"), Ok(("docs".to_owned(), Some("a/b".into()))));
        for wrong in [
            "docs",
            "https://docs",
            "s3://",
            "s3:///a",
            "s3://key:secret@docs",
            "s3://docs?x=1",
            "s3://docs:9000",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
