//! `docs-server admin …`: administration of a server's store, without the HTTP API.

mod audit;
mod member;
mod queries;
mod store;
mod token;

use clap::Subcommand;
use docs_core::{Platform, model::UpdateUser, platform::NewUser};

use self::{
    audit::AuditCommand,
    member::MemberCommand,
    queries::{AdminResult, find_user, for_each_item, printable},
    store::StoreCommand,
    token::TokenCommand,
};
use crate::{ServerConfig, ServerError, StoreUrl, adapters, store_url::StoreAccess};

/// The subcommands of `admin`.
#[derive(Subcommand, Debug)]
pub(crate) enum AdminCommand {
    /// Manages the tokens of users.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Manages users.
    #[command(subcommand)]
    User(UserCommand),
    /// Manages organizations.
    #[command(subcommand)]
    Org(OrgCommand),
    /// Manages the members of organizations.
    #[command(subcommand)]
    Member(MemberCommand),
    /// Reads the audit log.
    #[command(subcommand)]
    Audit(AuditCommand),
    #[command(flatten)]
    Store(StoreCommand),
}

#[derive(Subcommand, Debug)]
pub(crate) enum UserCommand {
    /// Creates a user and prints its id.
    Create {
        /// E-mail address, unique among all users.
        #[arg(long)]
        email: String,
        /// Display name.
        #[arg(long)]
        name: String,
    },
    /// Changes the display name of a user.
    Rename {
        /// E-mail address of the user.
        #[arg(long)]
        email: String,
        /// New display name.
        #[arg(long)]
        name: String,
    },
    /// Lists users: id, e-mail address, name.
    List,
}

#[derive(Subcommand, Debug)]
pub(crate) enum OrgCommand {
    /// Creates an organization and prints its id.
    Create {
        /// Title of the organization.
        #[arg(long)]
        title: String,
        /// E-mail address of its first administrator.
        #[arg(long, value_name = "EMAIL")]
        admin: String,
    },
    /// Lists organizations: id, creation time, title.
    List,
}

impl AdminCommand {
    /// Runs the command on a server's store, and prints its result.
    pub(crate) async fn run(&self, config: &ServerConfig) -> AdminResult<()> {
        match &config.store {
            StoreUrl::Memory => {
                let why = "must be the database of the server; `memory` has no data";
                return Err(ServerError::for_flag("--store", why));
            }
            // Other commands are useless on a new database, so the path is probably mistyped.
            StoreUrl::Sqlite(path)
                if !matches!(self, Self::User(UserCommand::Create { .. })) && !path.exists() =>
            {
                let why = format!(
                    "the file `{}` does not exist; it is created when a server starts or a user is created",
                    path.display()
                );
                return Err(ServerError::for_flag("--store", why));
            }
            _ => {}
        }
        let users = match self {
            Self::Store(StoreCommand::Rebuild) => StoreAccess::One,
            _ => StoreAccess::Any,
        };
        let platform = adapters::admin_platform(config, users).await?;
        // Only `verify` and `rebuild` accept a store with another layout version.
        if !matches!(self, Self::Store(StoreCommand::Verify | StoreCommand::Rebuild)) {
            platform.check_layout().await.map_err(|why| ServerError::for_flag("--store", why))?;
        }
        match self {
            Self::Store(task) => task.run(&platform).await,
            Self::Token(token) => token.run(&platform).await,
            Self::Member(member) => member.run(&platform).await,
            Self::Audit(audit) => audit.run(&platform).await,
            Self::User(user) => user.run(&platform).await,
            Self::Org(OrgCommand::List) => {
                let list = async |page| platform.as_platform().orgs().list(&page).await;
                for_each_item(list, |org| {
                    println!("{}\t{}\t{}", org.id, org.created_at, printable(&org.title));
                })
                .await
            }
            Self::Org(OrgCommand::Create { title, admin }) => {
                let title = title.parse().map_err(|why| ServerError::for_flag("--title", why))?;
                let admin = find_user(&platform, admin).await?;
                println!("{}", platform.as_platform().orgs().create(title, &admin).await?.id);
                Ok(())
            }
        }
    }
}

impl UserCommand {
    async fn run(&self, platform: &Platform) -> AdminResult<()> {
        match self {
            Self::List => {
                let list = async |page| platform.as_platform().users().list(&page).await;
                for_each_item(list, |user| {
                    let email = user.email.unwrap_or_default();
                    println!("{}\t{email}\t{}", user.id, printable(&user.display_name));
                })
                .await
            }
            Self::Create { email, name } => {
                let new = NewUser {
                    display_name: name.parse().map_err(|why| ServerError::for_flag("--name", why))?,
                    email: email.parse().map_err(|why| ServerError::for_flag("--email", why))?,
                };
                println!("{}", platform.as_platform().users().create(new).await?.id);
                Ok(())
            }
            Self::Rename { email, name } => {
                let name = name.parse().map_err(|why| ServerError::for_flag("--name", why))?;
                let user = find_user(platform, email).await?;
                let change = UpdateUser { display_name: Some(name), ..UpdateUser::default() };
                platform.as_platform().user(&user).update(change).await?;
                Ok(())
            }
        }
    }
}
