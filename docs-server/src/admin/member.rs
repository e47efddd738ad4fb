//! `docs-server admin member`.

use clap::Subcommand;
use docs_core::{
    Platform,
    model::{OrgId, Role},
};

use super::queries::{AdminResult, find_user};
use crate::ServerError;

#[derive(Subcommand, Debug)]
pub(crate) enum MemberCommand {
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

impl MemberCommand {
    pub(super) async fn run(&self, platform: &Platform) -> AdminResult<()> {
        let Self::Add { org, user: email, role } = self;
        let org: OrgId = org.parse().map_err(|why| ServerError::for_flag("--org", why))?;
        let role = role.as_deref().map(parse_role).transpose()?;
        let user = find_user(platform, email).await?;
        platform.as_platform().org(&org).member(&user).put(role).await?;
        Ok(())
    }
}

fn parse_role(name: &str) -> AdminResult<Role> {
    name.parse().map_err(|_| {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
        ServerError::for_flag(
            "--role",
            format_args!("`{name}` is not a role; use one of {}", names.join(", ")),
        )
    })
}
