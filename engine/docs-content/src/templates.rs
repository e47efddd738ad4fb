//! Templates: the initial pages of a space, represented like the files of a small repository.

#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The identifier of the template in requests.
    pub id: &'static str,
    /// The purpose of the template, as a sentence.
    pub summary: &'static str,
    /// The path and text of each file. One of them is a `SUMMARY.md`.
    ///
    /// Links to `/refs/NAME` are resolved by the code that applies the template.
    pub files: &'static [(&'static str, &'static str)],
}

/// Includes the files of a template at compile time.
macro_rules! files {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("templates/", $folder, "/", $path)))),+]
    };
}

pub const TEMPLATES: [Template; 5] = [
    Template { id: "blank", summary: "One empty page.", files: files!("blank": "SUMMARY.md", "README.md") },
    Template {
        id: "product-docs",
        summary: "Documentation of a product: first steps, guides, help.",
        files: files!("product-docs":
            "SUMMARY.md",
            "README.md",
            "get-started/quick-start.md",
            "get-started/installation.md",
            "guides/first-project.md",
            "guides/invite-your-team.md",
            "help/troubleshooting.md",
            "help/faq.md",
        ),
    },
    Template {
        id: "api-reference",
        summary: "Documentation of an API: authentication, lists, errors, limits, and a page for each resource.",
        files: files!("api-reference":
            "SUMMARY.md",
            "README.md",
            "guides/authentication.md",
            "guides/pagination.md",
            "guides/errors.md",
            "guides/limits.md",
            "reference/items.md",
        ),
    },
    Template {
        id: "changelog",
        summary: "Release notes with a page for each version.",
        files: files!("changelog":
            "SUMMARY.md",
            "README.md",
            "versions.md",
            "releases/1.1.md",
            "releases/1.0.md",
        ),
    },
    Template {
        id: "handbook",
        summary: "How a team works: the first week, communication, meetings, decisions.",
        files: files!("handbook":
            "SUMMARY.md",
            "README.md",
            "first-week.md",
            "working-together/communication.md",
            "working-together/meetings.md",
            "working-together/time-off.md",
            "decisions/README.md",
            "decisions/template.md",
        ),
    },
];

/// Returns the template with the given id.
///
/// ```
/// use docs_content::templates;
/// assert!(templates::find("blank").is_some_and(|template| template.files.len() == 2));
/// assert!(templates::find("Blank").is_none());
/// ```
#[must_use]
pub fn find(id: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.id == id)
}
