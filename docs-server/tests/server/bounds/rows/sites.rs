//! Sites: their settings, their visitors, and what a page shows.

use super::{Beyond, Input, bound};

pub(super) const INPUTS: &[Input] = &[
    Input {
        name: "Settings of a site",
        bounds: &[
            bound(
                "Spaces of a new site",
                "docs-core/src/platform/sites/site.rs::MAX_FIRST_SPACES",
                Beyond::Refused,
                "docs-http/tests/http/limits.rs::the_spaces_of_a_new_site_are_a_list_or_one_of_two_words",
            ),
            bound(
                "Spaces",
                "docs-core/src/platform/publishing/outline.rs::MAX_SPACES",
                Beyond::Conflict,
                "docs-core/tests/platform/structure/rules.rs::a_site_has_at_most_so_many_sections_groups_and_spaces",
            ),
            bound(
                "Sections",
                "docs-core/src/platform/publishing/outline.rs::MAX_SECTIONS",
                Beyond::Conflict,
                "docs-core/tests/platform/structure/rules.rs::a_site_has_at_most_so_many_sections_groups_and_spaces",
            ),
            bound(
                "Section groups",
                "docs-core/src/platform/publishing/outline.rs::MAX_GROUPS",
                Beyond::Conflict,
                "docs-core/tests/platform/structure/rules.rs::a_site_has_at_most_so_many_sections_groups_and_spaces",
            ),
            bound(
                "Nesting of section groups",
                "docs-core/src/platform/publishing/outline.rs::MAX_GROUP_DEPTH",
                Beyond::Conflict,
                "docs-core/tests/platform/structure/rules.rs::a_site_has_at_most_so_many_sections_groups_and_spaces",
            ),
            bound(
                "Characters of a path derived from a title",
                "docs-core/src/platform/sites/structure/paths.rs::MAX_NAME_CHARS",
                Beyond::Truncated,
                "docs-core/tests/platform/structure/rules.rs::paths_are_made_from_titles_and_stay_when_those_change",
            ),
            bound(
                "Redirects",
                "docs-core/src/platform/sites/settings/redirects.rs::MAX_REDIRECTS",
                Beyond::Conflict,
                "docs-core/tests/platform/site_settings/redirects.rs::a_site_has_a_bounded_number_of_redirects",
            ),
            bound(
                "Share links",
                "docs-core/src/platform/sites/settings/share_links.rs::MAX_LINKS",
                Beyond::Conflict,
                "docs-core/tests/platform/site_settings/secrets.rs::a_site_has_at_most_100_share_links",
            ),
            bound(
                "Characters of the key of a share link",
                "docs-core/src/platform/sites/settings/share_links.rs::MAX_KEY",
                Beyond::NotFound,
                "docs-core/src/platform/sites/settings/share_links.rs::keys_longer_than_the_bound_are_not_looked_up",
            ),
            bound(
                "Bytes of the customization of a site or of a space on it",
                "docs-core/src/platform/sites/settings/customization.rs::MAX_BYTES",
                Beyond::Refused,
                "docs-http/tests/http/site_settings.rs::a_customization_is_held_to_its_limits",
            ),
            bound(
                "Segments of the address of a site",
                "docs-core/src/platform/publishing/resolve.rs::MAX_MOUNT",
                Beyond::NotFound,
                "docs-core/tests/platform/visitors/paths.rs::an_address_that_is_longer_than_any_site_has_is_of_no_site",
            ),
        ],
    },
    Input {
        name: "Adaptive schemas",
        bounds: &[
            bound(
                "Bytes",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_SCHEMA",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Claims",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIMS",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Levels",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_LEVELS",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Characters of a claim name",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_NAME",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Characters of a description",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_DESCRIPTION",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Values of an `enum`",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_VALUES",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
            bound(
                "Characters of a value of an `enum`",
                "engine/docs-model/src/adaptive.rs::MAX_CLAIM_VALUE",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::a_schema_of_claims_is_held_to_its_bounds",
            ),
        ],
    },
    Input {
        name: "Tokens and claims of visitors",
        bounds: &[
            bound(
                "Bytes of a token (JWT)",
                "docs-core/src/platform/publishing/visitors/jwt.rs::MAX_TOKEN",
                Beyond::Refused,
                "docs-core/src/platform/publishing/visitors/jwt.rs::what_is_no_valid_token_of_the_one_algorithm_is_refused",
            ),
            bound(
                "Bytes of unsigned claims in an API request",
                "docs-core/src/platform/publishing/resolve.rs::MAX_UNSIGNED",
                Beyond::Refused,
                "docs-core/src/platform/publishing/resolve.rs::unsigned_claims_larger_than_the_bound_are_refused",
            ),
            bound(
                "Bytes of unsigned claims in an address or a cookie of a site",
                "docs-site/src/claims.rs::MAX_CLAIMS",
                Beyond::LeftOut,
                "docs-site/src/claims.rs::url_claims_override_cookies_and_malformed_ones_are_ignored",
            ),
            bound(
                "Names in the path of such a claim",
                "docs-site/src/claims.rs::MAX_PATH",
                Beyond::LeftOut,
                "docs-site/src/claims.rs::url_claims_override_cookies_and_malformed_ones_are_ignored",
            ),
            bound(
                "Bytes of claims in the address of a file",
                "docs-core/src/platform/publishing/visitors/file_bearer.rs::MAX_SEALED_CLAIMS",
                Beyond::LeftOut,
                "docs-core/tests/platform/visitors/taken_back.rs::file_of_a_visitor_with_claims_follows_conditions",
            ),
            bound(
                "Bytes of a content token",
                "docs-core/src/platform/publishing/visitors/pass.rs::MAX_CONTENT_TOKEN",
                Beyond::Refused,
                "docs-core/tests/platform/visitors/doors.rs::content_tokens_longer_than_the_bound_are_refused",
            ),
            bound(
                "Bytes of a token in a cookie or a parameter",
                "docs-site/src/request.rs::MAX_TOKEN",
                Beyond::LeftOut,
                "docs-site/src/request.rs::tokens_longer_than_the_bound_are_left_out",
            ),
        ],
    },
    Input {
        name: "Requests to sites",
        bounds: &[
            bound(
                "Bytes of a form",
                "docs-site/src/sent.rs::MAX_FORM",
                Beyond::TooLarge,
                "docs-site/src/sent.rs::bodies_larger_than_their_bounds_are_not_taken",
            ),
            bound(
                "Bytes of a message from an agent",
                "docs-site/src/machine/mcp.rs::MAX_MESSAGE",
                Beyond::TooLarge,
                "docs-site/src/sent.rs::bodies_larger_than_their_bounds_are_not_taken",
            ),
            bound(
                "Bytes of a response to an agent",
                "docs-site/src/machine/mcp.rs::MAX_ANSWER",
                Beyond::Fails,
                "docs-site/src/machine/mcp.rs::responses_larger_than_the_bound_fail",
            ),
        ],
    },
    Input {
        name: "Pages of a site",
        bounds: &[
            bound(
                "Entries of a complete page tree",
                "docs-site/src/page/tree.rs::MAX_WHOLE",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::pages_of_a_wide_space_have_a_bounded_size",
            ),
            bound(
                "Bytes of a complete page tree",
                "docs-site/src/page/tree.rs::MAX_WHOLE_BYTES",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::titles_of_the_largest_size_do_not_make_a_large_page",
            ),
            bound(
                "Entries per level of a partial page tree",
                "docs-site/src/page/tree.rs::MAX_SIBLINGS",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::pages_of_a_wide_space_have_a_bounded_size",
            ),
            bound(
                "Bytes of a partial page tree",
                "docs-site/src/page/tree.rs::MAX_PART_BYTES",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::titles_of_the_largest_size_do_not_make_a_large_page",
            ),
            bound(
                "Bytes of a page tree before groups are collapsed",
                "docs-site/src/page/tree.rs::MAX_GROUP_BYTES",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::pages_of_a_wide_space_have_a_bounded_size",
            ),
            bound(
                "Entries per part of the list of all pages",
                "docs-site/src/page/listing.rs::MAX_ENTRIES",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::all_pages_of_a_large_space_are_reached_by_links",
            ),
            bound(
                "Child pages shown on a page without content",
                "docs-site/src/page/around.rs::MAX_CARDS",
                Beyond::LeftOut,
                "docs-site/tests/site/large.rs::a_page_without_content_shows_a_bounded_number_of_cards",
            ),
            bound(
                "Characters of a text in navigation",
                "docs-site/src/page/parts.rs::MAX_BRIEF",
                Beyond::Truncated,
                "docs-site/tests/site/large.rs::titles_of_the_largest_size_do_not_make_a_large_page",
            ),
            bound(
                "Page trees built at the same time",
                "docs-site/src/frames.rs::MAX_BUILDS",
                Beyond::Queued,
                "docs-site/src/frames.rs::concurrent_requests_build_a_tree_once",
            ),
            bound(
                "Levels of a complete page tree",
                "docs-site/src/page/tree.rs::MAX_DEPTH",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::a_deep_page_shows_the_way_to_it_in_a_bounded_navigation",
            ),
            bound(
                "Nesting of blocks and elements",
                "docs-site/src/render/mod.rs::MAX_DEPTH",
                Beyond::Text,
                "docs-site/tests/site/blocks.rs::what_is_too_deep_is_shown_as_text_and_nothing_overflows",
            ),
            bound(
                "Loaded reusable contents",
                "docs-site/src/gather.rs::MAX_REUSED",
                Beyond::LeftOut,
                "docs-site/tests/site/large.rs::a_page_loads_a_bounded_number_of_reusable_contents",
            ),
            bound(
                "Shown reusable contents, counting each use",
                "docs-site/src/render/mod.rs::MAX_REUSES",
                Beyond::LeftOut,
                "docs-site/src/render/mod.rs::reusable_contents_beyond_the_bound_are_left_out",
            )
            .measured("reusable contents"),
            bound(
                "Bytes of memory of reusable contents",
                "docs-site/src/gather.rs::MAX_REUSED_MEMORY",
                Beyond::LeftOut,
                "docs-site/src/gather.rs::reusable_contents_beyond_their_memory_are_not_loaded",
            ),
            bound(
                "Bytes of shown reusable contents",
                "docs-site/src/render/mod.rs::MAX_REUSED_BYTES",
                Beyond::LeftOut,
                "docs-site/tests/site/large.rs::one_reusable_content_used_many_times_makes_no_huge_page",
            ),
            bound(
                "Bytes of shown operations and schemas",
                "docs-site/src/render/mod.rs::MAX_DESCRIBED_BYTES",
                Beyond::LeftOut,
                "docs-site/src/render/mod.rs::subjects_of_specifications_beyond_their_bytes_are_left_out",
            ),
            bound(
                "Nesting of reusable contents",
                "docs-site/src/render/mod.rs::MAX_REUSE_DEPTH",
                Beyond::LeftOut,
                "docs-site/tests/site/large.rs::reusable_contents_in_each_other_are_bounded",
            ),
            bound(
                "Other spaces that a page links to",
                "docs-site/src/gather.rs::MAX_SPACES",
                Beyond::LeftOut,
                "docs-site/src/gather.rs::spaces_beyond_the_bound_are_left_out",
            ),
            bound(
                "Shown operations and schemas, counting each use",
                "docs-site/src/render/mod.rs::MAX_DESCRIBED",
                Beyond::LeftOut,
                "docs-site/tests/site/specs.rs::a_description_shows_no_specification_not_even_its_own",
            ),
            bound(
                "Characters of a line of an example request",
                "docs-site/src/render/api.rs::MAX_LINE",
                Beyond::Truncated,
                "docs-site/src/render/api.rs::lines_of_a_request_longer_than_the_bound_are_cut",
            ),
            bound(
                "Headings of the outline",
                "docs-site/src/render/plain.rs::MAX_HEADINGS",
                Beyond::LeftOut,
                "docs-site/src/render/plain.rs::headings_beyond_the_bound_are_left_out",
            )
            .measured("headings"),
            bound(
                "Bytes of highlighted code",
                "docs-site/src/render/code/lexer.rs::MAX_CODE",
                Beyond::Text,
                "docs-site/src/render/code/tests.rs::code_that_is_meant_to_take_long_does_not",
            )
            .measured("code"),
            bound(
                "Elements of a formula",
                "docs-site/src/render/math/mod.rs::MAX_ELEMENTS",
                Beyond::Text,
                "docs-site/src/render/math/mod.rs::formulas_that_are_meant_to_do_harm_are_their_source",
            ),
            bound(
                "Bytes of all formulas of a page",
                "docs-site/src/render/math/mod.rs::MAX_PAGE_BYTES",
                Beyond::Text,
                "docs-site/src/render/math/mod.rs::what_a_page_has_no_room_for_is_its_source",
            )
            .measured("formulas"),
            bound(
                "Elements of all formulas of a page",
                "docs-site/src/render/math/mod.rs::MAX_PAGE_ELEMENTS",
                Beyond::Text,
                "docs-site/src/render/math/mod.rs::what_a_page_has_no_room_for_is_its_source",
            ),
            bound(
                "Variants searched for a page",
                "docs-site/src/page/mod.rs::MAX_VARIANTS",
                Beyond::LeftOut,
                "docs-site/tests/site/pages.rs::a_page_is_looked_up_in_a_bounded_number_of_variants",
            ),
            bound(
                "Pages shown in search results",
                "docs-site/src/page/search.rs::MAX_FOUND",
                Beyond::LeftOut,
                "docs-site/tests/site/pages.rs::a_search_shows_a_bounded_number_of_pages_and_places",
            ),
            bound(
                "Matches per page shown in search results",
                "docs-site/src/page/search.rs::MAX_PLACES",
                Beyond::LeftOut,
                "docs-site/tests/site/pages.rs::a_search_shows_a_bounded_number_of_pages_and_places",
            ),
            bound(
                "Changes listed in a preview",
                "docs-site/src/page/compare.rs::MAX_CHANGES",
                Beyond::LeftOut,
                "docs-site/tests/site/previews.rs::changes_of_a_preview_beyond_the_bound_are_counted",
            ),
            bound(
                "Bytes of a text compared by word in a preview",
                "docs-site/src/page/compare.rs::MAX_TEXT",
                Beyond::Text,
                "docs-site/src/page/compare.rs::texts_longer_than_the_bound_are_not_compared",
            ),
            bound(
                "Characters of a changed field in a preview",
                "docs-site/src/page/compare.rs::MAX_VALUE",
                Beyond::Truncated,
                "docs-site/src/page/compare.rs::values_of_fields_longer_than_the_bound_are_cut",
            ),
        ],
    },
    Input {
        name: "Lists of a site for machines",
        bounds: &[
            bound(
                "Pages of `llms.txt` and of each of its parts",
                "docs-site/src/machine/llms.rs::MAX_LISTED",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::lists_for_machines_come_in_parts",
            ),
            bound(
                "Bytes of `llms.txt` and of each of its parts",
                "docs-site/src/machine/llms.rs::MAX_LIST_BYTES",
                Beyond::Parts,
                "docs-site/tests/site/large.rs::lists_for_machines_come_in_parts",
            ),
            bound(
                "Addresses per site map",
                "docs-site/src/machine/robots.rs::MAX_URLS",
                Beyond::Parts,
                "docs-site/src/machine/robots.rs::a_map_of_more_addresses_than_it_may_have_names_its_parts",
            ),
            bound(
                "Pages of `rss.xml`",
                "docs-site/src/machine/feed.rs::MAX_ITEMS",
                Beyond::LeftOut,
                "docs-site/tests/site/machines.rs::a_feed_has_a_bounded_number_of_pages",
            ),
        ],
    },
];
