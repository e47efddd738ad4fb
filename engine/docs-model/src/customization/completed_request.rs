//! Completes the customization of a request with the current one.

use super::{Customization, Enabled, GitLinks, PageAction, PageActionItems, PageActions};

impl Customization {
    /// Returns `true` if the site offers a page action.
    #[must_use]
    pub fn offers(&self, action: PageAction) -> bool {
        self.page_actions.items.as_ref().is_some_and(|items| items.contains(&action))
    }

    /// Completes the customization of a request with the current one: the fields that a request may omit, and the page
    /// actions, which a request may contain in two forms. If both are present, the one that differs from the current
    /// actions counts, and the list if both differ.
    #[must_use]
    pub fn completed(mut self, current: &Self) -> Self {
        let localized = self.localized_title.or_else(|| current.localized_title.clone());
        self.localized_title = localized.filter(|variants| !variants.is_empty());
        let known = current.page_actions.items.as_deref().unwrap_or_default();
        let switches = [
            (PageAction::ExternalAi, self.page_actions.external_ai),
            (PageAction::Markdown, self.page_actions.markdown),
            (PageAction::Mcp, self.page_actions.mcp),
            (PageAction::Git, self.git.map(|git| git.show_edit_link)),
            (PageAction::Pdf, self.pdf.map(|pdf| pdf.enabled)),
        ];
        let items = match &self.page_actions.items {
            Some(items) if **items != *known => items.to_vec(),
            _ => switched(known, &switches),
        };
        let has = |action| items.contains(&action);
        self.pdf = Some(Enabled { enabled: has(PageAction::Pdf) });
        self.git = Some(GitLinks { show_edit_link: has(PageAction::Git) });
        self.page_actions = PageActions {
            external_ai: Some(has(PageAction::ExternalAi)),
            markdown: Some(has(PageAction::Markdown)),
            mcp: Some(has(PageAction::Mcp)),
            items: PageActionItems::new(items).ok(),
        };
        self
    }
}

/// Returns a list of actions after switching some of them on or off. New ones are added at the end.
fn switched(known: &[PageAction], switches: &[(PageAction, Option<bool>)]) -> Vec<PageAction> {
    let is = |action: &PageAction, wanted| {
        switches.iter().any(|(of, is_on)| of == action && *is_on == Some(wanted))
    };
    let mut items: Vec<PageAction> = known.iter().copied().filter(|action| !is(action, false)).collect();
    let new = switches.iter().filter(|(action, is_on)| *is_on == Some(true) && !known.contains(action));
    items.extend(new.map(|(action, _)| *action));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the customization of a request with these fields instead of the default page actions.
    fn request(fields: serde_json::Value) -> Customization {
        let mut look = serde_json::to_value(Customization::default()).expect("JSON");
        let object = look.as_object_mut().expect("an object");
        object.remove("pdf");
        object.remove("git");
        object.insert("pageActions".to_owned(), serde_json::json!({}));
        object.extend(fields.as_object().expect("fields").clone());
        serde_json::from_value(look).expect("a customization")
    }

    #[test]
    fn either_form_of_page_actions_sets_both() {
        use serde_json::json;
        let usual = ["external-ai", "markdown", "mcp", "pdf"];
        for (fields, items) in [
            (json!({}), &usual[..]),
            (json!({ "pageActions": { "items": [] } }), &[]),
            (json!({ "pageActions": { "items": ["git", "markdown"] } }), &["git", "markdown"]),
            (json!({ "pageActions": { "markdown": false } }), &["external-ai", "mcp", "pdf"]),
            (
                json!({ "git": { "showEditLink": true }, "pdf": { "enabled": false } }),
                &["external-ai", "markdown", "mcp", "git"],
            ),
            // The list is unchanged, so the other form counts.
            (json!({ "pageActions": { "items": usual, "mcp": false } }), &["external-ai", "markdown", "pdf"]),
            // The list differs.
            (json!({ "pageActions": { "items": ["mcp"], "mcp": false } }), &["mcp"]),
            (json!({ "pageActions": { "items": ["mcp"], "markdown": true } }), &["mcp"]),
        ] {
            let look = request(fields.clone()).completed(&Customization::default());
            let shown = serde_json::to_value(&look).expect("JSON");
            assert_eq!(shown["pageActions"]["items"], json!(items), "{fields}");
            let has = |action: &str| json!(items.contains(&action));
            assert_eq!(shown["pageActions"]["externalAI"], has("external-ai"), "{fields}");
            assert_eq!(shown["pageActions"]["markdown"], has("markdown"), "{fields}");
            assert_eq!(shown["pageActions"]["mcp"], has("mcp"), "{fields}");
            assert_eq!(shown["pdf"]["enabled"], has("pdf"), "{fields}");
            assert_eq!(shown["git"]["showEditLink"], has("git"), "{fields}");
            assert_eq!(look.clone().completed(&Customization::default()), look, "complete already");
        }
        assert_eq!(Customization::default().completed(&Customization::default()), Customization::default());
    }
}
