//! The list of all guarantees of the suite.

/// Generates a test for each guarantee of the [conformance suite](crate::conformance) for a store.
///
/// The argument is an expression that creates a [`Factory`](crate::conformance::Factory); it is evaluated once per
/// test. It may `return` from the test if there is nothing to test against, for example no configured server. The tests
/// are defined in the calling module and named after the guarantees.
#[macro_export]
macro_rules! suite {
    ($factory:expr) => {
        $crate::suite_despite_faults!($factory);
        $crate::suite_tests! { $factory;
            counters: adds_commute_without_conflict;
            isolation: read_mode_never_conflicts;
            progress:
                disjoint_writers_mostly_one_attempt,
                expired_txn_is_conflict_or_unavailable,
                hot_key_all_finish_within_attempt_cap;
        }
    };
}

/// The part of [`suite!`](crate::suite) that also applies to a store whose calls fail randomly.
///
/// Such a store may return [`Conflict`](crate::StoreError::Conflict) or [`Unavailable`](crate::StoreError::Unavailable)
/// without applying anything, and may repeat feed items.
#[macro_export]
macro_rules! suite_despite_faults {
    ($factory:expr) => {
        $crate::suite_tests! { $factory;
            basics:
                batch_limit,
                delete_missing_ok,
                delete_then_get,
                duplicate_key_in_batch_is_misuse,
                get_keeps_request_order_and_duplicates,
                get_missing_is_none,
                key_and_value_limits,
                key_order_is_byte_order,
                many_scans_one_snapshot,
                nul_is_misuse,
                put_get_roundtrip_every_kind,
                scan_empty_range,
                scan_half_open,
                scan_limit_zero_one_thousand,
                scan_reverse,
                value_live_equals_json,
                write_in_read_mode_is_misuse;
            atomicity:
                aborted_txn_leaves_no_feed,
                all_or_nothing_on_conflict,
                all_or_nothing_on_exists,
                cancelled_future_rolls_back,
                drop_mid_scan_releases_everything,
                drop_rolls_back,
                kill_during_commit_is_all_or_nothing,
                pipelined_failure_is_not_success,
                survives_reopen;
            isolation:
                absent_key_read_conflicts,
                bank_total_constant,
                begin_sees_acknowledged_commits,
                commit_order_replay,
                limit_cut_scan_depends_on_prefix_only,
                list_append_serializable,
                no_dirty_read,
                no_lost_update,
                no_read_skew,
                no_write_skew,
                phantom_delete,
                phantom_in_empty_range,
                phantom_insert_in_scanned_range,
                snapshot_stable_during_txn,
                three_txn_cycle;
            version:
                a_version_names_what_is_read,
                a_version_stays_while_nothing_is_written,
                each_change_is_another_version;
            counters:
                add_from_nothing,
                only_counters_are_added_to,
                add_then_read_in_new_txn,
                counter_exact_after_storm,
                create_after_delete,
                create_names_the_key,
                create_race_one_winner,
                fold_preserves_sum,
                read_counter_then_write_conflicts_with_add;
            progress: reader_latency_under_writer_bounded;
            feed:
                feed_atomic_with_batch,
                feed_changed_wakes,
                feed_foreign_position_is_misuse,
                feed_no_gap_under_concurrency,
                feed_per_key_order,
                feed_resume_from_any_pos,
                feed_trim_keeps_newer,
                feed_trimmed_items_are_no_news;
            objects:
                obj_acknowledged_is_no_leftover,
                obj_corrupt_bytes_detected,
                obj_delete_respects_touch,
                obj_domains_are_listed,
                obj_domains_isolated,
                obj_get_order,
                obj_list_pages_in_hash_order,
                obj_put_idempotent,
                obj_stream_large,
                obj_touch_on_reput,
                obj_wrong_hash_is_misuse;
            shared_machinery:
                cursor_no_dup_no_skip_under_churn,
                cursor_wrong_list_rejected,
                index_rows_match_recompute,
                nul_refused_everywhere,
                residual_scan_bounded;
        }
    };
}

/// Generates tests for the given guarantees. Shared by [`suite!`](crate::suite) and
/// [`suite_despite_faults!`](crate::suite_despite_faults).
#[doc(hidden)]
#[macro_export]
macro_rules! suite_tests {
    ($factory:expr; $($group:ident: $($name:ident),+;)+) => {
        $crate::suite_tests! { @each $factory; $($($group $name)+)+ }
    };
    (@each $factory:expr; $($group:ident $name:ident)+) => { $(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            let factory = $factory;
            $crate::conformance::run($crate::conformance::$group::$name(&factory)).await;
        }
    )+ };
}

#[cfg(test)]
mod tests {
    /// Returns the names of a group's guarantees, which are its public functions.
    fn guarantees(source: &str) -> impl Iterator<Item = &str> {
        source.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next())
    }

    #[test]
    fn every_guarantee_is_in_the_suite_once() {
        let groups = [
            include_str!("basics.rs"),
            include_str!("atomicity.rs"),
            include_str!("isolation.rs"),
            include_str!("counters.rs"),
            include_str!("progress.rs"),
            include_str!("version.rs"),
            include_str!("feed.rs"),
            include_str!("objects.rs"),
            include_str!("shared_machinery.rs"),
        ];
        let words: Vec<&str> =
            include_str!("suite.rs").split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for name in groups.into_iter().flat_map(guarantees) {
            assert_eq!(words.iter().filter(|word| **word == name).count(), 1, "{name}");
        }
    }
}
