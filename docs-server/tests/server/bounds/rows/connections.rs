//! Client connections, before a request is read.

use super::{Beyond, Input, bound};

pub(super) const INPUTS: &[Input] = &[Input {
    name: "Connections",
    bounds: &[
        bound(
            "Concurrent connections",
            "docs-server/src/serve/config.rs::MAX_CONNECTIONS",
            Beyond::Closed,
            "docs-server/tests/server/connections/limits.rs::unfinished_connections_make_room_for_others",
        ).measured("connections"),
        bound(
            "Share of the connections of one address: one in",
            "docs-server/src/serve/config.rs::ADDRESS_SHARE",
            Beyond::Closed,
            "docs-server/tests/server/connections/limits.rs::an_address_has_a_share_of_the_connections",
        ).within("connections"),
        bound(
            "Bytes of a request head",
            "docs-server/src/serve/config.rs::MAX_HEAD_BYTES",
            Beyond::HeadTooLarge,
            "docs-server/tests/server/connections/heads.rs::large_heads_are_refused",
        ).measured("heads of all connections"),
        bound(
            "Time to send a request head",
            "docs-server/src/serve/config.rs::HEAD_TIMEOUT",
            Beyond::Closed,
            "docs-server/tests/server/connections/heads.rs::a_head_sent_byte_by_byte_is_closed",
        ).within("heads of all connections"),
        bound(
            "Time of a connection without requests",
            "docs-server/src/serve/config.rs::IDLE_TIMEOUT",
            Beyond::Closed,
            "docs-server/tests/server/connections/heads.rs::a_connection_is_kept_until_it_is_idle_for_long",
        ).within("connections"),
        bound(
            "Concurrent streams of an HTTP/2 connection",
            "docs-server/src/serve/config.rs::MAX_STREAMS",
            Beyond::Queued,
            "docs-server/tests/server/connections/http2.rs::streams_of_a_connection_are_bounded",
        ).measured("streams of proxies"),
        bound(
            "Streams of an HTTP/2 connection that are reset before the server accepts them",
            "docs-server/src/serve/exchange.rs::MAX_RESETS",
            Beyond::Closed,
            "docs-server/tests/server/connections/http2.rs::streams_that_are_reset_at_once_end_the_connection",
        ).measured("streams that are reset"),
        bound(
            "Bytes that an HTTP/2 connection sends without progress of a request",
            "docs-server/src/serve/connection.rs::MAX_BYTES_WITHOUT_PROGRESS",
            Beyond::Closed,
            "docs-server/tests/server/connections/http2.rs::frames_without_progress_end_the_connection",
        ).within("streams of proxies"),
        bound(
            "Time without progress of a response that uses the memory that others wait for",
            "docs-server/src/serve/config.rs::STALLED",
            Beyond::Closed,
            "docs-server/tests/server/connections/responses.rs::a_stalled_response_ends_where_others_of_its_address_wait",
        ).within("unread responses"),
        bound(
            "Bytes of unread responses of all clients",
            "docs-server/src/serve/config.rs::RESPONSE_BYTES",
            Beyond::Queued,
            "docs-server/tests/server/connections/responses.rs::requests_of_a_client_that_does_not_read_wait",
        ).measured("unread responses"),
        bound(
            "Requests of addresses without unread responses that are admitted beyond these bytes",
            "docs-server/src/serve/memory.rs::RESERVED_REQUESTS",
            Beyond::Queued,
            "docs-server/src/serve/memory.rs::addresses_without_responses_have_reserved_places",
        ).within("unread responses"),
        bound(
            "Bytes of a request body without a user token",
            "docs-http/src/wire/budget.rs::DEFAULT",
            Beyond::TooLarge,
            "docs-server/tests/server/connections/bodies.rs::anonymous_bodies_are_kilobytes",
        ).measured("bodies without a token"),
        bound(
            "Bytes of all request bodies in memory",
            "docs-http/src/wire/budget.rs::DEFAULT_BYTES",
            Beyond::Unavailable,
            "docs-http/src/wire/budget.rs::bodies_over_the_budget_are_refused_until_others_end",
        ).measured("bodies of all requests"),
        bound(
            "Time in which a request body in memory that others wait for grows by 24 KiB",
            "docs-http/src/wire/budget.rs::STALLED",
            Beyond::TimedOut,
            "docs-http/src/wire/budget.rs::stalled_bodies_of_the_largest_holder_end_first",
        ).within("bodies of all requests"),
        bound(
            "Time in which a request body arrives before it counts as slow, while others wait for memory",
            "docs-http/src/wire/budget.rs::SLOW",
            Beyond::TimedOut,
            "docs-http/src/wire/budget.rs::slow_bodies_of_many_holders_leave_a_half_to_others",
        ).within("bodies of all requests"),
        bound(
            "Time that a request body waits for memory",
            "docs-http/src/wire/shares.rs::BUDGET_WAIT",
            Beyond::Unavailable,
            "docs-http/src/wire/budget.rs::bodies_over_the_budget_are_refused_until_others_end",
        ).within("bodies of all requests"),
        bound(
            "Longest waits that fast parts of a transfer save up for slow ones",
            "docs-server/src/serve/pace.rs::MAX_STALLS",
            Beyond::Closed,
            "docs-server/src/serve/pace.rs::a_burst_saves_up_no_time_for_later",
        ).within("bodies of all requests"),
    ],
}];
