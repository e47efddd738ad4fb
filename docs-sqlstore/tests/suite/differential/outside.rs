//! External systems shared by all platforms: one Git repository and one web server.

use docs_core::{model::JobState, ports::GitError};
use docs_memstore::{MemGit, MemRepository, MemWeb};

use super::program::Dice;

const FILES: &[(&str, &[&str])] = &[
    (
        "README.md",
        &["# Welcome\n\nHello.\n", "# Welcome\n\nHello again.\n\n{% include \".gitbook/includes/a.md\" %}\n"],
    ),
    (
        "SUMMARY.md",
        &[
            "* [Welcome](README.md)\n* [Guides](guides/README.md)\n  * [First](guides/first.md)\n",
            "* [A\0](README.md)\n* [B](nul.md)\n* [C](gone\0.md)\n",
            "* [Welcome](README.md)\n\n## Part\n\n* [First](guides/first.md)\n* [Out](https://x.org)\n* [Gone](gone.md)\n",
        ],
    ),
    ("guides/README.md", &["# Guides\n", "---\ndescription: All of them\nhidden: true\n---\n\n# Guides\n"]),
    (
        "guides/first.md",
        &["# First\n\n![](../img/a.svg) [up](README.md)\n", "# 1st\n\nother\n", "---\nbroken: [\n---\n"],
    ),
    ("nul.md", &["# A\0B\n\nNUL \0 in it.\n"]),
    ("img/a.svg", &["<svg/>", "<svg width=\"3\"/>"]),
    (".gitbook/includes/a.md", &["---\ntitle: A part\n---\n\nShared ß.\n"]),
    (".gitbook/vars.yaml", &["version: 1.50\nname: ß\n", "big: 1e400\n"]),
    (
        ".gitbook.yaml",
        &[
            "root: ./\n",
            "root: ../x\n",
            "root: \"../a\\0b\"\n",
            "root: ./guides/\nstructure:\n  readme: first.md\n",
        ],
    ),
];

/// The initial repository.
pub(super) fn repository() -> MemGit {
    let repository = MemGit::new();
    let (path, texts) = FILES[0];
    repository.put(path, texts[0]);
    repository
}

/// Changes a file, or the behaviour of the host.
pub(super) fn change(repository: &MemGit, dice: &mut Dice) {
    repository.edit(|content| {
        content.failure = None;
        match dice.below(20) {
            0 => content.failure = Some(GitError::Unreachable("timeout".to_owned())),
            7 => content.failure = Some(GitError::Broken("a\0b".to_owned())),
            1 => content.failure = Some(GitError::NoRef("refs/heads/main".to_owned())),
            2 => drop(content.links.insert("guides/link.md".to_owned(), "first.md".to_owned())),
            3 => content.links.clear(),
            8 => content.message = format!("A commit\n\nß {}\0\u{1b}", "long ".repeat(dice.below(2) * 2_000)),
            4..=6 => {
                let (path, _) = *dice.of(FILES);
                content.files.remove(path);
            }
            _ => {
                let (path, texts) = *dice.of(FILES);
                content.files.insert(path.to_owned(), (*dice.of(texts)).into());
            }
        }
    });
}

/// Returns repositories with content that cannot be stored unchanged, each with the expected state of its import job.
pub(super) fn odd() -> [(MemGit, JobState); 3] {
    let odd = |change: &dyn Fn(&mut MemRepository)| {
        let repository = repository();
        repository.edit(change);
        repository
    };
    // Exceeds the record size limit of a store in JSON form.
    let link = |n: usize| format!("* [{n}]({}{n}.md)\n", "\u{1}".repeat(900));
    let summary: String = (0..200).map(link).collect();
    [
        (odd(&|content| content.message = "a\0b".to_owned()), JobState::Done),
        (odd(&|content| content.failure = Some(GitError::Broken("a\0b".to_owned()))), JobState::Failed),
        (
            odd(&|content| drop(content.files.insert("SUMMARY.md".to_owned(), summary.clone().into()))),
            JobState::Done,
        ),
    ]
}

/// A web server with one image.
pub(super) fn web() -> MemWeb {
    let web = MemWeb::new();
    web.put("https://web.example/pic.svg", "image/svg+xml", "<svg id=\"p\"/>");
    web
}
