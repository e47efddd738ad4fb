//! `docs-server admin …`: administration of the store of a server, without the HTTP API.

mod audit;
mod member;
mod store;
mod token;

use clap::Subcommand;
use docs_core::{
    Platform,
    model::{Timestamp, UserId},
    platform::NewUser,
    store::{Page, PageRequest},
};

use self::{audit::Audit, member::Member, store::StoreTask, token::Token};
use crate::{ServerConfig, ServerError, StoreUrl, adapters, store_url::Users};

type Outcome<T> = Result<T, ServerError>;

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
                let why = "`memory` ends with this command; name the database of the server";
                return Err(ServerError::flag("--store", why));
            }
            // Other commands are useless on a new database. The path is probably mistyped.
            StoreUrl::Sqlite(path) if !matches!(self, Self::User(User::Create { .. })) && !path.exists() => {
                let why = format!(
                    "there is no file `{}`; it is made when a server starts or a user is created",
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

/// Calls `show` for every item of a list, page by page.
async fn each<T>(
    mut list: impl AsyncFnMut(PageRequest) -> docs_core::Result<Page<T>>,
    mut show: impl FnMut(T),
) -> Outcome<()> {
    let mut page = PageRequest::default();
    loop {
        let found = list(page.clone()).await?;
        found.items.into_iter().for_each(&mut show);
        page.page = found.next;
        if page.page.is_none() {
            return Ok(());
        }
    }
}

fn time(flag: &'static str, text: &str) -> Outcome<Timestamp> {
    let wrong =
        |_| ServerError::flag(flag, format_args!("`{text}` is no time; write it like 2030-12-31T00:00:00Z"));
    serde_json::from_value(text.into()).map_err(wrong)
}

async fn user(platform: &Platform, email: &str) -> Outcome<UserId> {
    let found = platform.as_platform().users().by_email(email).await;
    Ok(found.map_err(|why| ServerError::other(format!("{email}: {why}")))?.id)
}
