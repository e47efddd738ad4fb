//! Requests to the API, uploads, comments and the records of an organization.

use super::{Beyond, Input, bound};

pub(super) const INPUTS: &[Input] = &[
    Input {
        name: "Requests of the API",
        bounds: &[
            bound(
                "Bytes of a body",
                "docs-http/src/wire/payload.rs::DEFAULT",
                Beyond::TooLarge,
                "docs-http/tests/http/errors.rs::a_body_that_is_not_json_or_too_large_is_refused",
            )
            .measured("a body of JSON"),
            bound(
                "Nesting of JSON in a parsed field",
                "serde_json = 127",
                Beyond::Refused,
                "docs-http/tests/http/bounds.rs::json_nested_deeper_than_its_bound_is_refused",
            )
            .measured("JSON in JSON"),
            bound(
                "Entries of a list per response",
                "engine/docs-store/src/pagination.rs::MAX_LIMIT",
                Beyond::Refused,
                "docs-http/tests/http/list_limits.rs::a_list_takes_a_limit_of_0_to_1000",
            ),
            bound(
                "Rows scanned by a filter per response",
                "engine/docs-store/src/pagination.rs::MAX_SCANNED",
                Beyond::Parts,
                "docs-core/tests/platform/lists.rs::selective_filter_reads_a_bounded_number_of_rows",
            ),
            bound(
                "Bytes of the position in a cursor",
                "engine/docs-store/src/pagination.rs::MAX_CURSOR_POSITION",
                Beyond::Refused,
                "docs-core/tests/platform/members.rs::a_cursor_that_is_longer_than_any_position_is_refused",
            ),
            bound(
                "Characters of an id",
                "engine/docs-model/src/id.rs::MAX_ID",
                Beyond::NotFound,
                "engine/docs-model/tests/model/names.rs::an_id_is_1_to_64_plain_characters",
            ),
            bound(
                "Characters of an `Idempotency-Key`",
                "docs-core/src/platform/kernel/idempotency.rs::MAX",
                Beyond::Refused,
                "docs-core/src/platform/kernel/idempotency.rs::a_key_has_1_to_255_visible_ascii_characters",
            ),
            bound(
                "Bytes of a response that is stored for replay",
                "docs-core/src/platform/kernel/idempotency.rs::MAX_ANSWER",
                Beyond::LeftOut,
                "docs-core/src/platform/kernel/idempotency.rs::responses_larger_than_the_bound_are_not_stored",
            ),
            bound(
                "Characters of an accepted `X-Request-Id`",
                "docs-http/src/middleware.rs::MOST_OF_ID",
                Beyond::LeftOut,
                "docs-http/tests/http/errors.rs::a_request_has_an_id_and_its_answer_is_not_kept",
            ),
            bound(
                "Unknown fields listed in a response",
                "docs-http/src/ignored.rs::MOST_NAMES",
                Beyond::LeftOut,
                "docs-http/src/ignored.rs::what_is_told_is_bounded",
            ),
            bound(
                "Characters of the name of an unknown field",
                "docs-http/src/ignored.rs::MOST_OF_NAME",
                Beyond::Truncated,
                "docs-http/src/ignored.rs::what_is_told_is_bounded",
            ),
            bound(
                "Characters of input quoted in an error",
                "docs-http/src/wire/fault.rs::MOST_REPEATED",
                Beyond::Truncated,
                "docs-http/src/wire/fault.rs::long_input_is_not_repeated",
            ),
            bound(
                "Addresses in a `Forwarded` header",
                "docs-http/src/trusted_proxies.rs::MAX_HOPS",
                Beyond::LeftOut,
                "docs-http/tests/http/rate.rs::client_address_header_requires_a_trusted_proxy",
            ),
            bound(
                "Clients counted per shard of the rate limiter",
                "docs-http/src/rate.rs::MOST_IN_SHARD",
                Beyond::TooMany,
                "docs-http/src/rate.rs::a_table_is_bounded_and_makes_room_when_a_window_is_over",
            ),
        ],
    },
    Input {
        name: "Uploaded files",
        bounds: &[
            bound(
                "Bytes of a file, from any source",
                "engine/docs-model/src/file_size.rs::MAX_FILE_BYTES",
                Beyond::TooLarge,
                "docs-http/tests/http/uploads.rs::a_file_has_at_most_100_mb_however_it_is_announced",
            )
            .measured("an uploaded file"),
            bound(
                "Bytes of a file within a content edit",
                "docs-core/src/platform/content/edit/plan.rs::MAX_INLINE",
                Beyond::Refused,
                "docs-http/tests/http/limits.rs::a_file_in_a_request_has_at_most_a_million_bytes",
            ),
            bound(
                "Bytes before the first part of a form, and of the head of a part",
                "docs-http/src/wire/form.rs::MAX_HEAD",
                Beyond::Refused,
                "docs-http/src/wire/form.rs::what_is_no_form_is_refused_and_never_held",
            ),
            bound(
                "Characters of the boundary of a form",
                "docs-http/src/wire/form.rs::MAX_BOUNDARY",
                Beyond::Refused,
                "docs-http/src/wire/form.rs::a_boundary_is_read_as_the_standard_says",
            ),
            bound(
                "Bytes of a form in addition to the file",
                "docs-http/src/wire/upload.rs::FORM_OVERHEAD",
                Beyond::TooLarge,
                "docs-http/tests/http/uploads.rs::what_is_no_upload_is_refused_and_changes_nothing",
            ),
            bound(
                "Characters of a media type",
                "engine/docs-model/src/media_type.rs::MAX",
                Beyond::Refused,
                "docs-http/tests/http/file_types.rs::tricky_media_types_are_refused_on_every_way_in",
            ),
            bound(
                "Characters of a file name, including its number",
                "engine/docs-content/src/file_name.rs::MAX_NAME",
                Beyond::Truncated,
                "engine/docs-content/src/file_name.rs::a_number_stands_before_the_extension",
            ),
            bound(
                "Characters of a file extension after the number",
                "engine/docs-content/src/file_name.rs::MAX_EXTENSION",
                Beyond::Truncated,
                "engine/docs-content/src/file_name.rs::a_number_stands_before_the_extension",
            ),
        ],
    },
    Input {
        name: "Comments and reviews",
        bounds: &[
            bound(
                "Emoji added or removed per request",
                "engine/docs-model/src/comment.rs::MAX_REACTIONS",
                Beyond::Refused,
                "docs-http/tests/http/comments.rs::reactions_are_a_set_with_an_end",
            ),
            bound(
                "Reactions to a comment",
                "docs-core/src/records/comment.rs::MAX_REACTIONS",
                Beyond::Conflict,
                "docs-http/tests/http/comments.rs::reactions_are_a_set_with_an_end",
            ),
            bound(
                "Different emoji on a comment",
                "docs-core/src/records/comment.rs::MAX_EMOJI",
                Beyond::Conflict,
                "docs-http/tests/http/comments.rs::reactions_are_a_set_with_an_end",
            ),
            bound(
                "Members asked for a review per request",
                "engine/docs-model/src/review.rs::MAX_USERS",
                Beyond::Refused,
                "docs-http/tests/http/limits.rs::text_at_its_limit_is_taken_and_beyond_it_refused",
            ),
            bound(
                "Reviewers of a change request",
                "docs-core/src/platform/content/reviews.rs::MAX_REVIEWERS",
                Beyond::Conflict,
                "docs-core/tests/platform/reviews.rs::a_change_request_waits_for_a_bounded_number_of_reviewers",
            ),
            bound(
                "Contributors listed in a change request",
                "docs-core/src/records/content.rs::MAX_CONTRIBUTORS",
                Beyond::LeftOut,
                "docs-core/tests/platform/reviews.rs::contributors_are_counted_by_what_they_did",
            ),
        ],
    },
    Input {
        name: "Organizations, people and collections",
        bounds: &[
            bound(
                "Addresses in one invitation",
                "docs-core/src/platform/people/invites.rs::MAX_EMAILS",
                Beyond::Refused,
                "docs-http/tests/http/people.rs::people_are_invited_by_address",
            ),
            bound(
                "Bytes of an e-mail address",
                "docs-core/src/platform/people/users.rs::MAX_EMAIL",
                Beyond::Refused,
                "docs-core/src/platform/people/users.rs::addresses_longer_than_the_bound_are_refused",
            ),
            bound(
                "Users and teams granted a role per request",
                "docs-core/src/platform/library/permissions.rs::MAX_INVITED",
                Beyond::Refused,
                "docs-http/tests/http/teams.rs::a_name_of_somebody_who_is_not_there_is_refused_at_its_field",
            ),
            bound(
                "Team members changed per request",
                "docs-core/src/platform/people/teams.rs::MAX_MEMBER_CHANGES",
                Beyond::Refused,
                "docs-core/tests/platform/teams.rs::a_request_changes_at_most_300_members",
            ),
            bound(
                "Teams with a role on the same content",
                "docs-core/src/platform/access/resolver.rs::MAX_TEAM_GRANTS",
                Beyond::Conflict,
                "docs-core/tests/platform/permissions.rs::at_most_100_teams_have_a_role_on_the_same_content",
            ),
            bound(
                "E-mail domains of an organization",
                "docs-core/src/platform/people/orgs.rs::MAX_DOMAINS",
                Beyond::Refused,
                "docs-http/tests/http/limits.rs::text_at_its_limit_is_taken_and_beyond_it_refused",
            ),
            bound(
                "Spaces and collections directly in a collection",
                "docs-core/src/platform/library/tree.rs::MAX_CHILDREN",
                Beyond::Conflict,
                "docs-core/tests/platform/collections.rs::full_collection_is_deleted_with_all_children",
            ),
            bound(
                "Nesting of collections",
                "docs-core/src/platform/access/resolver.rs::MAX_DEPTH",
                Beyond::Conflict,
                "docs-core/tests/platform/collections.rs::collections_lie_at_most_ten_deep",
            ),
            bound(
                "Spaces and collections transferred per request",
                "docs-core/src/platform/library/tree/transfer.rs::MAX_PARTS",
                Beyond::Conflict,
                "docs-core/tests/platform/collections.rs::collection_with_too_many_descendants_is_not_transferred",
            ),
            bound(
                "Listed jobs of one kind per space",
                "engine/docs-store/src/jobs.rs::MAX_LISTED",
                Beyond::Evicted,
                "docs-core/tests/platform/job_states.rs::oldest_finished_jobs_beyond_the_limit_are_evicted",
            ),
            bound(
                "Bytes of a job log",
                "engine/docs-store/src/jobs/record.rs::MAX_LOG",
                Beyond::Truncated,
                "docs-core/tests/platform/jobs.rs::what_keeps_failing_is_given_up_and_a_long_log_still_fits",
            ),
            bound(
                "Bytes of a line of a job log",
                "engine/docs-store/src/jobs/record.rs::MAX_LINE",
                Beyond::Truncated,
                "docs-core/tests/platform/jobs.rs::what_keeps_failing_is_given_up_and_a_long_log_still_fits",
            ),
        ],
    },
    Input {
        name: "SAML responses and sign-in",
        bounds: &[
            bound(
                "Bytes of the form with a response",
                "docs-http/src/saml.rs::MAX_FORM",
                Beyond::TooLarge,
                "docs-http/tests/http/saml_pages.rs::who_is_not_let_in_is_told_why_and_nothing_is_made",
            ),
            bound(
                "Bytes of a response as XML",
                "adapters/docs-saml/src/lib.rs::MAX_RESPONSE_BYTES",
                Beyond::Refused,
                "adapters/docs-saml/tests/saml/hostile.rs::what_is_too_large_is_refused_by_its_size",
            ),
            bound(
                "Elements",
                "adapters/docs-saml/src/scan.rs::MAX_ELEMENTS",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Nesting of elements",
                "adapters/docs-saml/src/scan.rs::MAX_DEPTH",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Attributes of an element",
                "adapters/docs-saml/src/scan.rs::MAX_ATTRIBUTES",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Equals signs, including those in text",
                "adapters/docs-saml/src/scan.rs::MAX_EQUALS",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Namespace declarations",
                "adapters/docs-saml/src/scan.rs::MAX_NAMESPACES",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Namespace declarations in scope of an element",
                "adapters/docs-saml/src/scan.rs::MAX_IN_SCOPE",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Bytes of a namespace declaration",
                "adapters/docs-saml/src/scan.rs::MAX_DECLARATION",
                Beyond::Refused,
                "adapters/docs-saml/src/scan.rs::elements_and_texts_pass_up_to_the_limits",
            ),
            bound(
                "Prefixes of an exclusive canonical form",
                "adapters/docs-saml/src/signature.rs::MAX_PREFIXES",
                Beyond::Refused,
                "adapters/docs-saml/tests/saml/hostile.rs::the_costliest_that_is_allowed_is_made_canonical_and_more_is_not_looked_at",
            ),
            bound(
                "Nodes of the tree",
                "adapters/docs-saml/src/xml.rs::MAX_NODES",
                Beyond::Refused,
                "adapters/docs-saml/tests/saml/hostile.rs::what_is_too_large_is_refused_by_its_size",
            ),
            bound(
                "Time of validity",
                "adapters/docs-saml/src/lib.rs::MAX_VALIDITY_SECONDS",
                Beyond::Refused,
                "adapters/docs-saml/tests/saml/untrue.rs::what_is_valid_for_more_than_a_day_is_refused_and_a_session_may_last",
            ),
            bound(
                "Concurrent sign-ins of a browser",
                "docs-core/src/platform/people/saml/login.rs::MAX_ON_THE_WAY",
                Beyond::Evicted,
                "docs-http/tests/http/saml_pages.rs::subresources_start_no_login_and_oldest_logins_are_evicted",
            ),
            bound(
                "Sign-in cookies per provider",
                "docs-http/src/saml.rs::MAX_COOKIES",
                Beyond::Evicted,
                "docs-http/tests/http/saml_pages.rs::subresources_start_no_login_and_oldest_logins_are_evicted",
            ),
            bound(
                "Requests per minute from an address to the SAML pages",
                "docs-http/src/saml.rs::PER_MINUTE",
                Beyond::TooMany,
                "docs-http/tests/http/saml_pages.rs::an_address_knocks_so_often_a_minute_and_is_told_on_a_page",
            ),
            bound(
                "Recorded refusals of unsigned responses per minute",
                "docs-core/src/platform/people/saml/refusal.rs::MOST_UNSIGNED",
                Beyond::LeftOut,
                "docs-core/tests/platform/saml/refusals.rs::refusal_reason_is_cut_and_needs_an_active_provider",
            ),
            bound(
                "Characters of the reason of a refusal",
                "docs-core/src/platform/people/saml/refusal.rs::MAX_REASON",
                Beyond::Truncated,
                "docs-core/tests/platform/saml/refusals.rs::refusal_reason_is_cut_and_needs_an_active_provider",
            ),
            bound(
                "Characters of a display name",
                "docs-core/src/platform/people/saml/session.rs::MAX_NAME",
                Beyond::Truncated,
                "docs-core/src/platform/people/saml/session.rs::names_longer_than_the_bound_are_cut",
            ),
            bound(
                "SAML providers of an organization",
                "docs-core/src/platform/people/saml.rs::MAX_PROVIDERS",
                Beyond::Conflict,
                "docs-http/tests/http/bounds.rs::providers_and_specifications_are_bounded",
            ),
        ],
    },
];
