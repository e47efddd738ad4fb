//! `docs-server admin …`: administration of the store of a server, without the HTTP API.

mod audit;
mod member;
mod queries;
mod store;
mod token;

use clap::Subcommand;
use docs_core::platform::NewUser;

use self::{
    audit::Audit,
    member::Member,
    queries::{Outcome, each, user},
    store::StoreTask,
    token::Token,
};
use crate::{ServerConfig, ServerError, StoreUrl, adapters, store_url::Users};

/// The subcommands of `admin`.
#[derive(Subcommand, Debug)]
pub(crate) enum Admin {
    /// Manages the tokens of users.
    #[command(subcommand)]
    Token(Token),
    /// Manages users.
    #[command(subcommand)]
    User(User),
    /// Manages organizations.
    #[command(subcommand)]
    Org(Org),
    /// Manages the members of organizations.
    #[command(subcommand)]
    Member(Member),
    /// Reads the audit log.
    #[command(subcommand)]
    Audit(Audit),
    #[command(flatten)]
    Store(StoreTask),
}

#[derive(Subcommand, Debug)]
pub(crate) enum User {
    /// Creates a user and prints its id.
    Create {
        /// E-mail address, unique among all users.
        #[arg(long)]
        email: String,
        /// Display name.
        #[arg(long)]
        name: String,
    },
    /// Lists users: id, e-mail address, name.
    List,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Org {
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

impl Admin {
    /// Runs the command on the store of a server, and prints its result.
    pub(crate) async fn run(&self, config: &ServerConfig) -> Outcome<()> {
        match &config.store {
            StoreUrl::Memory => {
                let why = "must be the database of the server; `memory` has no data";
                return Err(ServerError::flag("--store", why));
            }
            // Other commands are useless on a new database. The path is probably mistyped.
            StoreUrl::Sqlite(path) if !matches!(self, Self::User(User::Create { .. })) && !path.exists() => {
                let why = format!(
                    "the file `{}` does not exist; it is created when a server starts or a user is created",
                    path.display()
                );
                return Err(ServerError::flag("--store", why));
            }
            _ => {}
        }
        let users = match self {
            Self::Store(StoreTask::Rebuild) => Users::One,
            _ => Users::Any,
        };
        let platform = adapters::bare(config, users).await?;
        // Only `verify` and `rebuild` accept a store with another layout.
        if !matches!(self, Self::Store(StoreTask::Verify | StoreTask::Rebuild)) {
            platform.check_layout().await.map_err(|why| ServerError::flag("--store", why))?;
        }
        match self {
            Self::Store(task) => task.run(&platform).await,
            Self::Token(token) => token.run(&platform).await,
            Self::Member(member) => member.run(&platform).await,
            Self::Audit(audit) => audit.run(&platform).await,
            Self::User(User::List) => {
                let list = async |page| platform.as_platform().users().list(&page).await;
                each(list, |user| {
                    println!("{}\t{}\t{}", user.id, user.email.unwrap_or_default(), user.display_name);
                })
                .await
            }
            Self::Org(Org::List) => {
                let list = async |page| platform.as_platform().orgs().list(&page).await;
                each(list, |org| println!("{}\t{}\t{}", org.id, org.created_at, org.title)).await
            }
            Self::User(User::Create { email, name }) => {
                let new = NewUser {
                    display_name: name.parse().map_err(|why| ServerError::flag("--name", why))?,
                    email: email.parse().map_err(|why| ServerError::flag("--email", why))?,
                };
                println!("{}", platform.as_platform().users().create(new).await?.id);
                Ok(())
            }
            Self::Org(Org::Create { title, admin }) => {
                let title = title.parse().map_err(|why| ServerError::flag("--title", why))?;
                let admin = user(&platform, admin).await?;
                println!("{}", platform.as_platform().orgs().create(title, &admin).await?.id);
                Ok(())
            }
        }
    }
}
