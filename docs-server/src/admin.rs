//! `docs-server admin …`: what an operator does to the store of a server, beside the HTTP API.

mod token;

use clap::Subcommand;
use docs_core::{Actor, Platform, model::UserId, platform::NewUser};

use self::token::Token;
use crate::{ServerError, StoreUrl, adapters};

type Outcome<T> = Result<T, ServerError>;

/// What is managed.
#[derive(Subcommand, Debug)]
pub(crate) enum Admin {
    /// Tokens of users.
    #[command(subcommand)]
    Token(Token),
    /// Users.
    #[command(subcommand)]
    User(User),
    /// Organizations.
    #[command(subcommand)]
    Org(Org),
}

#[derive(Subcommand, Debug)]
pub(crate) enum User {
    /// Makes a user and prints the id.
    Create {
        /// E-mail address, which no other user has.
        #[arg(long)]
        email: String,
        /// The name shown to others.
        #[arg(long)]
        name: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum Org {
    /// Makes an organization and prints its id.
    Create {
        /// The title.
        #[arg(long)]
        title: String,
        /// E-mail address of its first administrator.
        #[arg(long, value_name = "EMAIL")]
        admin: String,
    },
}

impl Admin {
    /// Does it in a store, and prints what came of it.
    pub(crate) async fn run(&self, store: &StoreUrl) -> Outcome<()> {
        if *store == StoreUrl::Memory {
            let why = "`memory` ends with this command; name the database of the server";
            return Err(ServerError::flag("--store", why));
        }
        let platform = adapters::bare(store).await?;
        match self {
            Self::Token(token) => token.run(&platform).await,
            Self::User(User::Create { email, name }) => {
                let new = NewUser {
                    display_name: name.parse().map_err(|why| ServerError::flag("--name", why))?,
                    email: email.parse().map_err(|why| ServerError::flag("--email", why))?,
                };
                println!("{}", platform.create_user(&Actor::Platform, new).await?.id);
                Ok(())
            }
            Self::Org(Org::Create { title, admin }) => {
                let title = title.parse().map_err(|why| ServerError::flag("--title", why))?;
                let admin = user(&platform, admin).await?;
                println!("{}", platform.create_org(&Actor::Platform, title, &admin).await?.id);
                Ok(())
            }
        }
    }
}

async fn user(platform: &Platform, email: &str) -> Outcome<UserId> {
    let found = platform.user_by_email(&Actor::Platform, email).await;
    Ok(found.map_err(|why| ServerError::other(format!("{email}: {why}")))?.id)
}
