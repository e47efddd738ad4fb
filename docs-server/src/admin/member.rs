//! `docs-server admin member`.

use clap::Subcommand;
use docs_core::{
    Platform,
    model::{OrgId, Role},
};

use super::queries::{Outcome, user};
use crate::ServerError;

#[derive(Subcommand, Debug)]
pub(crate) enum Member {
    /// Adds a user to an organization, or changes the role of a member.
    Add {
        /// Id of the organization, as printed by `org list`.
        #[arg(long, value_name = "ID")]
        org: String,
        /// E-mail address of the user.
        #[arg(long, value_name = "EMAIL")]
        user: String,
        /// Role of the member, such as `edit`; a guest when absent.
        #[arg(long)]
        role: Option<String>,
    },
}

impl Member {
    pub(super) async fn run(&self, platform: &Platform) -> Outcome<()> {
        let Self::Add { org, user: email, role } = self;
        let org: OrgId = org.parse().map_err(|why| ServerError::flag("--org", why))?;
        let role = role.as_deref().map(named).transpose()?;
        let user = user(platform, email).await?;
        platform.as_platform().org(&org).member(&user).put(role).await?;
        Ok(())
    }
}

fn named(name: &str) -> Outcome<Role> {
    name.parse().map_err(|_| {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
        ServerError::flag("--role", format_args!("`{name}` is not a role; use one of {}", names.join(", ")))
    })
}
