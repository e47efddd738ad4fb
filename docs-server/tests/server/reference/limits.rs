//! Tables of limits: field limits come from the schemas, others from constants in the code.

use std::{collections::BTreeSet, time::Duration};

use docs_core::{
    platform::{Amount, LIMITS},
    store::{DEFAULT_LIMIT, MAX_LIMIT},
};
use docs_http::wire::{
    budget::{AnonymousBodyLimit, BodyBudget},
    payload::BodyLimit,
};
use docs_server::{ConnectionConfig, Pace};
use serde_json::Value;

use super::{Table, code};

const PAGE: &str = "limits.md";

pub(super) fn tables(document: &Value) -> Vec<Table> {
    let mut tables = vec![lists(), fields(document)];
    tables.push(connections());
    for group in LIMITS {
        let mut rows: Vec<_> =
            group.limits.iter().map(|limit| vec![limit.name.to_owned(), amount(limit.most)]).collect();
        rows.extend(server_limits(group.name));
        tables.push(Table::new(PAGE, group.name, &["Limit", "Value"], &rows));
    }
    tables
}

/// Default limits of the server, which are not defined in the platform.
fn server_limits(group: &str) -> Vec<Vec<String>> {
    let row = |what: &str, most| vec![what.to_owned(), amount(most)];
    let pdf = docs_pdf::Limits::default();
    match group {
        "Requests" => vec![row("Request body", Amount::Bytes(BodyLimit::DEFAULT.0 as u64))],
        "Content" => vec![
            row("An imported archive, compressed", Amount::Bytes(docs_convert::MAX_PACKED_BYTES as u64)),
            row("Size of a PDF file", Amount::Bytes(pdf.bytes as u64)),
            row("Time to typeset a PDF file", Amount::Time(pdf.time)),
        ],
        _ => Vec::new(),
    }
}

fn connections() -> Table {
    let config = ConnectionConfig::default();
    let count = |count: u32| Amount::Count(count.into());
    let rate = |pace: Pace| format!("{} per second", size(pace.bytes_per_second.into()));
    let rows = [
        ("Connections of a server (`--max-connections`)", amount(count(ConnectionConfig::MAX_CONNECTIONS))),
        (
            "Connections of an address, except trusted proxies (`--max-connections-per-address`)",
            amount(count(ConnectionConfig::MAX_CONNECTIONS / ConnectionConfig::ADDRESS_SHARE)),
        ),
        ("Concurrent requests of an HTTP/2 connection", amount(count(config.max_streams))),
        ("Time for a request head", amount(Amount::Time(config.head_timeout))),
        ("Size of a request head", amount(Amount::Bytes(ConnectionConfig::MAX_HEAD_BYTES as u64))),
        ("Idle time of a connection", amount(Amount::Time(config.idle_timeout))),
        ("Wait for the next bytes of a request body", amount(Amount::Time(config.request_pace.stall))),
        ("Minimum rate of a request body that takes longer", rate(config.request_pace)),
        ("Wait for a client to read more of a response", amount(Amount::Time(config.response_pace.stall))),
        ("Minimum rate of a response that takes longer", rate(config.response_pace)),
        (
            "Wait for a client to read, where others wait for the memory of its response",
            amount(Amount::Time(ConnectionConfig::STALLED)),
        ),
        ("Unread responses of all clients together", amount(Amount::Bytes(config.response_bytes as u64))),
        ("Request body without a user token", amount(Amount::Bytes(AnonymousBodyLimit::DEFAULT.0 as u64))),
        ("All request bodies in memory", amount(Amount::Bytes(BodyBudget::DEFAULT_BYTES as u64))),
        (
            "Wait for the next KiB of a request body, where others wait for its memory",
            amount(Amount::Time(BodyBudget::STALLED)),
        ),
        (
            "Time after which a request body counts as slow, where others wait for its memory",
            amount(Amount::Time(BodyBudget::SLOW)),
        ),
    ];
    let rows = rows.map(|(what, most)| vec![what.to_owned(), most]);
    Table::new(PAGE, "Connections", &["Limit", "Value"], &rows)
}

fn lists() -> Table {
    let row =
        ["`limit` of a list".to_owned(), "0".to_owned(), MAX_LIMIT.to_string(), DEFAULT_LIMIT.to_string()];
    Table::new(PAGE, "Lists", &["Parameter", "Minimum", "Maximum", "Default"], &[row.to_vec()])
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Count(count) => grouped(count),
        Amount::Bytes(bytes) => size(bytes),
        Amount::Time(time) => duration(time),
        other => panic!("{other:?} has no unit"),
    }
}

/// Formats a number with commas between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

/// Formats a number of bytes in the largest unit that represents it as a whole number.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1_000, "kB"), (1, "bytes")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit)).expect("bytes");
    format!("{} {name}", grouped(bytes / unit))
}

pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(24 * 3_600, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds")];
    let is_many = |unit: u64| seconds.is_multiple_of(unit) && seconds / unit > 1;
    let (unit, name) = units.into_iter().find(|(unit, _)| is_many(*unit)).unwrap_or((1, "seconds"));
    format!("{} {name}", seconds / unit)
}

/// Returns the request fields that have a limit, from their schemas.
fn fields(document: &Value) -> Table {
    let paths = document["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|of| of.as_object().expect("operations").values());
    let bodies = operations.filter_map(|operation| operation["requestBody"]["content"].as_object());
    let mut found = Fields { document, seen: BTreeSet::new(), rows: BTreeSet::new() };
    for schema in bodies.flat_map(|content| content.values()).map(|body| &body["schema"]) {
        found.visit(schema, "");
    }
    let rows: Vec<Vec<String>> = found.rows.into_iter().collect();
    Table::new(PAGE, "Fields of requests", &["Field", "Minimum", "Maximum", "Unit"], &rows)
}

/// Traverses schemas and collects their limits.
struct Fields<'a> {
    document: &'a Value,
    seen: BTreeSet<&'a str>,
    rows: BTreeSet<Vec<String>>,
}

impl<'a> Fields<'a> {
    fn visit(&mut self, schema: &'a Value, at: &str) {
        if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
            if self.seen.insert(name) {
                self.visit(&self.document["components"]["schemas"][name], name);
            }
            return;
        }
        for (least, most, of) in
            [("minLength", "maxLength", "characters"), ("minItems", "maxItems", "entries")]
        {
            let number = |name: &str| schema[name].as_u64().map(grouped).unwrap_or_default();
            if schema.get(least).or(schema.get(most)).is_some() {
                self.rows.insert(vec![code(at), number(least), number(most), of.to_owned()]);
            }
        }
        for alternatives in ["allOf", "oneOf", "anyOf"].map(|name| schema[name].as_array()) {
            alternatives.into_iter().flatten().for_each(|schema| self.visit(schema, at));
        }
        if let Some(items) = schema.get("items") {
            self.visit(items, &format!("{at}[]"));
        }
        let fields = || schema["properties"].as_object().into_iter().flatten();
        // The schema of a map with fixed keys lists each key with the same schema.
        let is_map = schema["additionalProperties"] == false
            && fields().zip(fields().skip(1)).all(|((_, one), (_, next))| one == next);
        for (name, property) in fields() {
            let name = if is_map { "*" } else { name };
            self.visit(property, &format!("{at}.{name}"));
        }
    }
}

#[test]
fn amounts_use_whole_units() {
    let amounts = [
        Amount::Count(10_000),
        Amount::Count(50),
        Amount::Bytes(128 << 10),
        Amount::Bytes(100_000_000),
        Amount::Bytes(1_500),
        Amount::Time(Duration::from_secs(30 * 86_400)),
        Amount::Time(Duration::from_secs(86_400)),
        Amount::Time(Duration::from_secs(3_600)),
        Amount::Time(Duration::from_secs(90)),
    ]
    .map(amount);
    assert_eq!(
        amounts,
        [
            "10,000",
            "50",
            "128 KiB",
            "100 MB",
            "1,500 bytes",
            "30 days",
            "24 hours",
            "60 minutes",
            "90 seconds"
        ]
    );
}
