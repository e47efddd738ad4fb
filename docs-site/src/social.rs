//! URLs of accounts on social platforms.

use docs_core::model::{SocialAccount, SocialPlatform};
use percent_encoding::utf8_percent_encode;

use crate::encode::SEGMENT;

/// Returns the name of a platform.
pub(crate) const fn name(platform: SocialPlatform) -> &'static str {
    match platform {
        SocialPlatform::Twitter => "X",
        SocialPlatform::Instagram => "Instagram",
        SocialPlatform::Facebook => "Facebook",
        SocialPlatform::LinkedIn => "LinkedIn",
        SocialPlatform::GitHub => "GitHub",
        SocialPlatform::Discord => "Discord",
        SocialPlatform::Slack => "Slack",
        SocialPlatform::YouTube => "YouTube",
        SocialPlatform::TikTok => "TikTok",
        SocialPlatform::Reddit => "Reddit",
        SocialPlatform::Bluesky => "Bluesky",
        SocialPlatform::Mastodon => "Mastodon",
        SocialPlatform::Threads => "Threads",
        SocialPlatform::Medium => "Medium",
    }
}

/// Returns the URL of an account, or `None` if the handle does not identify one.
pub(crate) fn url(account: &SocialAccount) -> Option<String> {
    let handle = account.handle.as_str().trim().trim_matches('/');
    let handle = handle.strip_prefix('@').unwrap_or(handle);
    if handle.is_empty() {
        return None;
    }
    let path: Vec<String> =
        handle.split('/').map(|segment| utf8_percent_encode(segment, SEGMENT).to_string()).collect();
    let path = path.join("/");
    Some(match account.platform {
        SocialPlatform::Twitter => format!("https://x.com/{path}"),
        SocialPlatform::Instagram => format!("https://www.instagram.com/{path}"),
        SocialPlatform::Facebook => format!("https://www.facebook.com/{path}"),
        // Handles of people and companies have different paths.
        SocialPlatform::LinkedIn if path.contains('/') => format!("https://www.linkedin.com/{path}"),
        SocialPlatform::LinkedIn => format!("https://www.linkedin.com/company/{path}"),
        SocialPlatform::GitHub => format!("https://github.com/{path}"),
        SocialPlatform::Discord => format!("https://discord.com/invite/{path}"),
        SocialPlatform::Slack => format!("https://{}.slack.com/", host_label(handle)?),
        SocialPlatform::YouTube => format!("https://www.youtube.com/@{path}"),
        SocialPlatform::TikTok => format!("https://www.tiktok.com/@{path}"),
        SocialPlatform::Reddit if path.contains('/') => format!("https://www.reddit.com/{path}"),
        SocialPlatform::Reddit => format!("https://www.reddit.com/r/{path}"),
        SocialPlatform::Bluesky => format!("https://bsky.app/profile/{path}"),
        SocialPlatform::Mastodon => match handle.split_once('@') {
            Some((user, host)) if host.split('.').all(|label| host_label(label).is_some()) => {
                format!("https://{host}/@{}", utf8_percent_encode(user, SEGMENT))
            }
            Some(_) => return None,
            None => format!("https://mastodon.social/@{path}"),
        },
        SocialPlatform::Threads => format!("https://www.threads.net/@{path}"),
        SocialPlatform::Medium => format!("https://medium.com/@{path}"),
    })
}

/// Returns a text that is a label of a host name.
fn host_label(text: &str) -> Option<&str> {
    let is_valid = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_valid && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_never_leave_their_platform() {
        for (platform, handle, expected) in [
            ("twitter", "@ada", Some("https://x.com/ada")),
            ("twitter", "a?b#c d", Some("https://x.com/a%3Fb%23c%20d")),
            ("linkedin", "in/ada", Some("https://www.linkedin.com/in/ada")),
            ("linkedin", "engines", Some("https://www.linkedin.com/company/engines")),
            ("slack", "engines", Some("https://engines.slack.com/")),
            ("slack", "evil.example/", None),
            ("mastodon", "ada@engines.example", Some("https://engines.example/@ada")),
            ("mastodon", "@ada@engines.example", Some("https://engines.example/@ada")),
            ("mastodon", "ada", Some("https://mastodon.social/@ada")),
            ("mastodon", "ada@evil.example/x", None),
            ("medium", "@", None),
        ] {
            let account = serde_json::json!({ "platform": platform, "handle": handle,
                "display": { "footer": true, "header": false } });
            let account: SocialAccount = serde_json::from_value(account).expect("an account");
            assert_eq!(url(&account).as_deref(), expected, "{platform} {handle}");
        }
    }
}
