//! `docs-server admin audit`.

use clap::Subcommand;
use docs_core::{Platform, platform::AuditFilter, store::PageRequest};

use super::queries::{AdminResult, find_user, parse_time};
use crate::ServerError;

#[derive(Subcommand, Debug)]
pub(crate) enum AuditCommand {
    /// Lists changes, newest first: time, operation, id of the user or `-`, number of changed records, their keys, and
    /// details of some operations.
    List {
        /// Only changes in the organization with this id.
        #[arg(long, value_name = "ID")]
        org: Option<String>,
        /// Only changes by the user with this e-mail address.
        #[arg(long, value_name = "EMAIL")]
        user: Option<String>,
        /// Only changes at or after this time, such as 2030-12-31T00:00:00Z.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only changes before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only changes by the operation with this name, such as `space_create`.
        #[arg(long, value_name = "NAME")]
        operation: Option<String>,
        /// Maximum number of changes to print.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
}

impl AuditCommand {
    pub(super) async fn run(&self, platform: &Platform) -> AdminResult<()> {
        let Self::List { org, user: email, since, until, operation, limit } = self;
        let organization = org.as_deref().map(str::parse).transpose();
        let mut filter = AuditFilter {
            organization: organization.map_err(|why| ServerError::for_flag("--org", why))?,
            operation: operation.clone(),
            since: since.as_deref().map(|text| parse_time("--since", text)).transpose()?,
            until: until.as_deref().map(|text| parse_time("--until", text)).transpose()?,
            ..AuditFilter::default()
        };
        if let Some(email) = email {
            filter.user = Some(find_user(platform, email).await?);
        }
        let (mut left, mut page) = (*limit, PageRequest::default());
        while left > 0 {
            let found = platform.as_platform().audit_log(&filter, &page).await?;
            for entry in found.items.iter().take(left) {
                let by = entry.user.as_ref().map_or("-", |user| user.as_str());
                let keys: Vec<String> =
                    entry.records.iter().map(|key| key.escape_debug().to_string()).collect();
                let detail = entry.detail.as_deref().map(|detail| format!("\t{}", detail.escape_debug()));
                let (keys, detail) = (keys.join(" "), detail.unwrap_or_default());
                println!("{}\t{}\t{by}\t{}\t{keys}{detail}", entry.at, entry.operation, entry.changed);
            }
            left = left.saturating_sub(found.items.len());
            page.page = found.next;
            if page.page.is_none() {
                break;
            }
        }
        Ok(())
    }
}
