//! Git repositories, their files, and deliveries of their hosts.

use super::{Beyond, Input, bound};

pub(super) const INPUTS: &[Input] = &[
    Input {
        name: "Git repositories",
        bounds: &[
            bound(
                "Bytes received, of an unpacked commit, and of one push, each",
                "adapters/docs-git/src/limits.rs::total_bytes",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::files_that_are_too_large_together_are_refused",
            ).measured("files of a repository"),
            bound(
                "Files and folders of a commit, and files of one push, each",
                "adapters/docs-git/src/limits.rs::entries",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::the_number_of_entries_has_a_limit",
            ).measured("entries of a repository"),
            bound(
                "Time of a fetch, and of each half of a push",
                "adapters/docs-git/src/limits.rs::time",
                Beyond::Fails,
                "adapters/docs-git/tests/it/web.rs::a_server_that_says_nothing_is_given_up",
            ).within("files of a repository"),
            bound(
                "Time to read the head of a branch",
                "adapters/docs-git/src/limits.rs::look",
                Beyond::Fails,
                "adapters/docs-git/tests/it/resolve.rs::a_host_that_says_nothing_keeps_no_look_waiting_for_long",
            ).within("files of a repository"),
            bound(
                "Time without progress of a host",
                "adapters/docs-git/src/limits.rs::idle",
                Beyond::Fails,
                "adapters/docs-git/tests/it/web.rs::a_server_that_says_nothing_is_given_up",
            ).within("files of a repository"),
            bound(
                "Objects of a pack",
                "adapters/docs-git/src/scan.rs::MAX_OBJECTS",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::a_pack_that_lies_of_itself_is_damaged",
            ).within("entries of a repository"),
            bound(
                "Deltas in a chain of a pack",
                "adapters/docs-git/src/scan.rs::MAX_CHAIN",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::chains_of_deltas_have_a_limit",
            ).within("entries of a repository"),
            bound(
                "Bytes of all objects of a pack, uncompressed",
                "adapters/docs-git/src/limits.rs::unpacked_bytes",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::unpacked_objects_have_a_limit_in_total",
            ).within("files of a repository"),
            bound(
                "Bytes of all objects of a pack, uncompressed, each with the bases of its deltas",
                "adapters/docs-git/src/limits.rs::chain_bytes",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::unpacked_objects_have_a_limit_in_total",
            ).within("files of a repository"),
            bound(
                "Bytes of all folders of a commit",
                "adapters/docs-git/src/checkout.rs::MAX_FOLDER_BYTES",
                Beyond::Fails,
                "adapters/docs-git/src/checkout.rs::folders_have_a_limit_in_total",
            ).within("entries of a repository"),
            bound(
                "Bytes of the reference advertisement",
                "adapters/docs-git/src/limits.rs::total_bytes",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::the_reference_advertisement_has_a_limit",
            ).within("entries of a repository"),
            bound(
                "Bytes of a line of the reference advertisement",
                "adapters/docs-git/src/packet.rs::MAX_LINE",
                Beyond::Fails,
                "adapters/docs-git/src/scan/offer.rs::lines_of_an_advertisement_have_a_limit",
            ).within("entries of a repository"),
            bound(
                "Bytes of a request to a host",
                "adapters/docs-git/src/line.rs::MAX_REQUEST",
                Beyond::Fails,
                "adapters/docs-git/src/line.rs::requests_larger_than_the_bound_fail",
            ).within("an export to a repository"),
            bound(
                "Bytes of a path in a repository",
                "adapters/docs-git/src/listing.rs::MAX_PATH",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::folders_lie_as_deep_in_each_other_as_a_path_is_long",
            ).within("entries of a repository"),
            bound(
                "Bytes of the target of a symbolic link",
                "adapters/docs-git/src/listing.rs::MAX_LINK",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::symbolic_links_longer_than_the_bound_are_refused",
            ).within("entries of a repository"),
            bound(
                "Length of a chain of tags",
                "adapters/docs-git/src/objects.rs::MAX_TAGS",
                Beyond::Fails,
                "adapters/docs-git/tests/it/hostile.rs::a_ref_that_leads_to_something_large_is_not_followed",
            ).within("entries of a repository"),
            bound(
                "Length of a chain of symbolic references",
                "adapters/docs-git/src/disk.rs::MAX_SYMBOLIC",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::what_leads_out_of_the_folder_is_refused",
            ).within("entries of a repository"),
            bound(
                "Object folders of a repository on a disk",
                "adapters/docs-git/src/disk.rs::MAX_ALTERNATES",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::what_leads_out_of_the_folder_is_refused",
            ).within("entries of a repository"),
            bound(
                "Levels of files in an object folder",
                "adapters/docs-git/src/disk.rs::MAX_DEPTH",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::folders_in_folders_without_end_are_stopped",
            ).within("entries of a repository"),
            bound(
                "Bytes of a file that lists other object folders",
                "adapters/docs-git/src/disk.rs::MAX_LINKS",
                Beyond::Fails,
                "adapters/docs-git/tests/it/disk.rs::what_leads_out_of_the_folder_is_refused",
            ).within("entries of a repository"),
            bound(
                "HTTP redirects",
                "adapters/docs-git/src/web.rs::MAX_REDIRECTS",
                Beyond::Fails,
                "adapters/docs-git/tests/it/web.rs::redirects_that_lead_elsewhere_are_refused",
            ).within("files of a repository"),
            bound(
                "Bytes of a response to a push",
                "adapters/docs-git/src/push/web.rs::MAX_ANSWER",
                Beyond::Fails,
                "adapters/docs-git/tests/it/push_faults.rs::an_answer_to_a_push_larger_than_the_bound_fails",
            ).within("an export to a repository"),
            bound(
                "Bytes of a text message from a host",
                "adapters/docs-git/src/push/answers.rs::MAX_TEXT",
                Beyond::Truncated,
                "adapters/docs-git/src/push/answers.rs::what_hooks_say_is_bounded",
            ).within("an export to a repository"),
            bound(
                "Characters of the reason for a rejected push",
                "engine/docs-ports/src/git/error.rs::MAX_REJECTION",
                Beyond::Truncated,
                "engine/docs-ports/src/git.rs::the_words_of_a_host_are_one_line_of_a_bounded_length",
            ).within("an export to a repository"),
            bound(
                "Bytes of a pushed path",
                "engine/docs-ports/src/git/push.rs::MAX_PUSH_PATH",
                Beyond::Fails,
                "adapters/docs-git/tests/it/push.rs::the_files_of_a_push_are_bounded",
            ).within("an export to a repository"),
            bound(
                "Folders of a pushed path",
                "engine/docs-ports/src/git/push.rs::MAX_PUSH_DEPTH",
                Beyond::Fails,
                "adapters/docs-git/tests/it/push.rs::the_files_of_a_push_are_bounded",
            ).within("an export to a repository"),
        ],
    },
    Input {
        name: "Files of a Git import",
        bounds: &[
            bound(
                "Pages",
                "engine/docs-markup/src/gitsync/plan.rs::MAX_PAGES",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/plan/tests.rs::the_number_of_pages_is_limited",
            ).measured("pages of a repository"),
            bound(
                "Bytes of a page file",
                "docs-core/src/platform/exchange/git/import/read.rs::MAX_PAGE_FILE_BYTES",
                Beyond::Reported,
                "docs-core/tests/bounds/main.rs::oversized_repository_page_is_reported_and_emptied",
            ).within("pages of a repository"),
            bound(
                "Bytes of all pages and reusable contents",
                "docs-core/src/platform/exchange/git/import/read.rs::MAX_TEXT_BYTES",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/plan/tests.rs::texts_and_files_are_summed",
            ).measured("pages of a repository"),
            bound(
                "Bytes of all files",
                "docs-core/src/platform/exchange/git/import/read.rs::MAX_FILES_BYTES",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/plan/tests.rs::texts_and_files_are_summed",
            ).measured("files of a repository"),
            bound(
                "Bytes of `SUMMARY.md`",
                "engine/docs-markup/src/gitsync/summary.rs::MAX_SUMMARY_BYTES",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/summary/tests.rs::the_size_is_limited",
            ).measured("settings of a repository"),
            bound(
                "Entries of `SUMMARY.md`",
                "engine/docs-markup/src/gitsync/summary.rs::MAX_ITEMS",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/summary/tests.rs::the_number_of_items_is_limited",
            ).measured("entries of SUMMARY.md"),
            bound(
                "Levels of `SUMMARY.md`",
                "engine/docs-markup/src/gitsync/summary.rs::MAX_DEPTH",
                Beyond::Flattened,
                "engine/docs-markup/src/gitsync/summary/tests.rs::hostile_nesting_ends_at_the_limit",
            ).measured("levels of SUMMARY.md"),
            bound(
                "Bytes of an entry of `SUMMARY.md`",
                "engine/docs-markup/src/gitsync/summary.rs::MAX_ITEM_BYTES",
                Beyond::Truncated,
                "engine/docs-markup/src/gitsync/summary/tests.rs::items_longer_than_the_bound_are_cut_with_a_warning",
            ).within("settings of a repository"),
            bound(
                "Bytes of `.gitbook.yaml` and of a file of variables",
                "engine/docs-markup/src/gitsync/config.rs::MAX_CONFIG_BYTES",
                Beyond::Fails,
                "engine/docs-markup/src/gitsync/config.rs::the_size_is_limited",
            ).measured("settings of a repository"),
            bound(
                "Nodes of such a file, with aliases resolved",
                "engine/docs-markup/src/syntax/yaml.rs::MAX_NODES",
                Beyond::Fails,
                "engine/docs-markup/src/syntax/yaml.rs::a_bomb_is_refused",
            ).within("settings of a repository"),
            bound(
                "Bytes of the texts of such a file, with aliases resolved",
                "engine/docs-markup/src/syntax/yaml.rs::MAX_TEXT_BYTES",
                Beyond::Fails,
                "engine/docs-markup/src/syntax/yaml.rs::a_text_that_is_repeated_by_aliases_counts_each_time",
            ).within("settings of a repository"),
            bound(
                "Symbolic links followed for a path",
                "engine/docs-markup/src/gitsync/tree.rs::MAX_LINKS",
                Beyond::Reported,
                "engine/docs-markup/src/gitsync/tree.rs::endless_paths_take_no_time",
            ).within("settings of a repository"),
            bound(
                "Bytes of a path with symbolic links",
                "engine/docs-markup/src/gitsync/tree.rs::MAX_LINKED_PATH",
                Beyond::Reported,
                "engine/docs-markup/src/gitsync/tree.rs::endless_paths_take_no_time",
            ).within("settings of a repository"),
            bound(
                "Warnings of an import",
                "engine/docs-markup/src/gitsync/report.rs::MAX_WARNINGS",
                Beyond::LeftOut,
                "engine/docs-markup/src/gitsync/report.rs::warnings_have_an_end",
            ).within("jobs of a space"),
            bound(
                "Characters of a commit message",
                "docs-core/src/platform/exchange/git/sync.rs::MAX_MESSAGE",
                Beyond::Truncated,
                "docs-core/src/platform/exchange/git/sync.rs::messages_longer_than_the_bound_are_cut",
            ).measured("an export to a repository"),
        ],
    },
    Input {
        name: "Deliveries to webhooks",
        bounds: &[
            bound(
                "Bytes",
                "docs-core/src/platform/exchange/git/setting/webhook.rs::MAX_DELIVERY",
                Beyond::TooLarge,
                "docs-http/tests/http/git_sync.rs::unauthenticated_or_too_long_is_rejected_before_its_body",
            ).measured("a delivery to a webhook"),
            bound(
                "Bytes of the branch and of the commit, each",
                "docs-core/src/platform/exchange/git/setting/webhook/push.rs::MAX_VALUE",
                Beyond::LeftOut,
                "docs-core/src/platform/exchange/git/setting/webhook/push.rs::long_branches_are_not_stored",
            ).within("a delivery to a webhook"),
        ],
    },
];
