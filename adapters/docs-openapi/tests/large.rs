//! Memory of a large specification. This test has its own binary, so that nothing else is measured. The bench `specs`
//! measures the time.

use std::fmt::Write as _;

use bytes::Bytes;
use docs_openapi::read;
use docs_ports::{SpecFile, SpecFiles};
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Generates a large specification of at least this many bytes.
fn likeness(bytes: usize) -> String {
    let mut text =
        String::from("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Large\",\"version\":\"1\"},\"paths\":{");
    let mut n = 0;
    while text.len() < bytes {
        let comma = if n == 0 { "" } else { "," };
        write!(text, "{comma}\"/things/{n}/{{id}}\":{{\"get\":").expect("written");
        let operation = json!({
            "operationId": format!("get{n}"),
            "tags": [format!("tag{}", n % 40)],
            "summary": format!("Gets thing {n}"),
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "responses": { "200": { "description": "A thing", "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Thing" },
            } } } },
        });
        write!(text, "{operation}}}").expect("written");
        n += 1;
    }
    text.push_str("},\"components\":{\"schemas\":{\"Thing\":{\"type\":\"object\"}}}}");
    text
}

#[test]
fn large_specification_is_read_in_bounded_memory() {
    for text in [likeness(5_000_000), format!("# YAML\n{}", likeness(5_000_000))] {
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage_as_mb();
        let bytes = text.len();
        let entry = SpecFile { bytes: Bytes::from(text), ..SpecFile::default() };
        let spec = read(&SpecFiles { entry, others: Vec::new() }).expect("read");
        let peak = ALLOCATOR.peak_usage_as_mb() - before;
        assert_eq!(spec.problems, []);
        assert_eq!(spec.outline.tags.len(), 40);
        println!("{} operations: {peak} MB", spec.outline.operations.len());
        // 20 bytes of memory per byte of input.
        assert!(peak * 1_048_576.0 < 20.0 * bytes as f32, "{peak} MB");
    }
}
