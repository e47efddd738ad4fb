//! `docs-server admin token`.

use clap::{Args, Subcommand};
use docs_core::{Platform, platform::NewToken};

use super::queries::{AdminResult, find_user, for_each_item, parse_time, printable};
use crate::ServerError;

#[derive(Subcommand, Debug)]
pub(crate) enum TokenCommand {
    /// Creates a token and prints it. The store keeps only its hash, so it cannot be printed again.
    Create {
        #[command(flatten)]
        of: TokenOwner,
        /// Purpose of the token, at most 50 characters.
        #[arg(long, default_value = "")]
        label: String,
        /// Expiry time, such as 2030-12-31T00:00:00Z; never when absent.
        #[arg(long)]
        expires: Option<String>,
    },
    /// Lists tokens: id, creation time, expiry time, label.
    List {
        #[command(flatten)]
        of: TokenOwner,
    },
    Revoke {
        #[command(flatten)]
        of: TokenOwner,
        /// Id of the token, as printed by `token list`.
        id: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct TokenOwner {
    /// E-mail address of the user.
    #[arg(long, value_name = "EMAIL")]
    user: String,
}

impl TokenCommand {
    pub(super) async fn run(&self, platform: &Platform) -> AdminResult<()> {
        match self {
            Self::Create { of, label, expires } => {
                let label = label.parse().map_err(|why| ServerError::for_flag("--label", why))?;
                let expires_at = expires.as_deref().map(|text| parse_time("--expires", text)).transpose()?;
                let new = NewToken { label, secret: None, expires_at };
                let user = find_user(platform, &of.user).await?;
                let token = platform.as_platform().user(&user).issue_token(new).await?;
                eprintln!("token {} of {}, not shown again:", token.id, of.user);
                println!("{}", token.secret);
            }
            Self::List { of } => {
                let user = find_user(platform, &of.user).await?;
                let list = async |page| platform.as_platform().user(&user).list_tokens(&page).await;
                for_each_item(list, |token| {
                    let end = token.expires_at.map_or_else(|| "never".to_owned(), |end| end.to_string());
                    println!("{}\t{}\t{end}\t{}", token.id, token.created_at, printable(&token.label));
                })
                .await?;
            }
            Self::Revoke { of, id } => {
                let user = find_user(platform, &of.user).await?;
                let id = id.parse().map_err(|why| ServerError::from_error(format!("the token: {why}")))?;
                platform.as_platform().user(&user).revoke_token(&id).await?;
            }
        }
        Ok(())
    }
}
