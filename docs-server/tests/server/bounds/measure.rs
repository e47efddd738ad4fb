//! Measures the cost of inputs at their limits. Each input is sent to a separate server process, and the operating
//! system reports memory and CPU time of the server and its workers.

#![expect(
    clippy::future_not_send,
    reason = "the async closures of the cases are not `Send`; one task awaits them"
)]

mod cases;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::Client,
    process::{Process, TOKEN, program},
};

use super::bounds;
use cases::{Case, Prepared, cases};

/// Sampling interval for the worker processes of a server.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Clock ticks per second in `/proc/PID/stat` on Linux.
const TICKS: u64 = 100;

pub(crate) struct Measured {
    /// Memory of the server and its workers in bytes, in excess of the idle server.
    pub(crate) memory: u64,
    /// CPU time of all processes, in milliseconds.
    pub(crate) cpu_ms: u64,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/bounds/measured.json")
}

fn read() -> Value {
    let text = fs::read_to_string(data()).expect("the measurements");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the recorded measurements, keyed by name.
pub(crate) fn measured() -> BTreeMap<String, Measured> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let figures =
        |value: &Value| Measured { memory: number(&value["memory"]), cpu_ms: number(&value["cpuMs"]) };
    let read = read();
    let inputs = read["inputs"].as_object().expect("measurements").iter();
    inputs.map(|(name, value)| (name.clone(), figures(value))).collect()
}

/// Returns `true` if the measured program was an optimized build.
pub(crate) fn is_optimized() -> bool {
    read()["isOptimized"] == true
}

#[test]
fn every_measurement_is_of_a_row_and_in_the_repository() {
    let mut names: Vec<&str> = cases().map(|(name, _)| *name).collect();
    let mut used: Vec<&str> = bounds().filter_map(|bound| bound.measurement).collect();
    let figures = measured();
    names.sort_unstable();
    used.sort_unstable();
    used.dedup();
    assert_eq!(names, used);
    assert_eq!(names, figures.keys().collect::<Vec<_>>(), "measure again with DOCS_BOUNDS=write");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_at_their_bounds_are_measured_on_demand() {
    let Some(wanted) = std::env::var_os("DOCS_BOUNDS") else {
        println!("nothing is measured without DOCS_BOUNDS");
        return;
    };
    let wanted = wanted.to_string_lossy();
    let mut figures = BTreeMap::new();
    for (name, case) in cases() {
        if wanted != "write" && !wanted.split(',').any(|part| name.contains(part)) {
            continue;
        }
        println!("{name}");
        let begun = std::time::Instant::now();
        let measured = measure(case).await;
        let (memory, wall) = (measured.memory / 1_000_000, begun.elapsed());
        println!("{name}: {memory} MB, {} ms, {wall:.1?} with its preparation", measured.cpu_ms);
        figures.insert(*name, json!({ "memory": measured.memory, "cpuMs": measured.cpu_ms }));
    }
    if wanted == "write" {
        let program = std::env::var("DOCS_BOUNDS_PROGRAM").unwrap_or_default();
        let is_optimized = program.contains("release") || (program.is_empty() && !cfg!(debug_assertions));
        let written = json!({ "inputs": figures, "isOptimized": is_optimized });
        let text = serde_json::to_string_pretty(&written).expect("JSON");
        fs::write(data(), text + "\n").expect("the measurements can be written");
    }
}

async fn measure(case: &Case) -> Measured {
    let folder = TempDir::new().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let mut command = std::env::var_os("DOCS_BOUNDS_PROGRAM").map_or_else(program, Command::new);
    command.args(["--token", TOKEN, "--bind", "127.0.0.1:0", "--store", &store, "--outbound", "files"]);
    command.env("RUST_LOG", "warn");
    // Only the inputs for proxies and rate limits reach these limits.
    command.args(["--trusted-proxies", "127.0.0.9", "--rate-limit", "1000000"]);
    let server = Process::run(&mut command).await;
    let prepared = Prepared::new(Client::new(&server.base, TOKEN), case).await;
    let pid = server.child.id();
    let looks = Looks::begin(pid);
    let before = Usage::of(pid);
    // Reset the peak. If the system does not permit that, the peak includes the startup of the server.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
    prepared.send(case).await;
    let after = Usage::of(pid);
    let most = looks.end().await.max(after.peak);
    Measured {
        memory: most.saturating_sub(before.memory),
        cpu_ms: (after.ticks - before.ticks) * 1_000 / TICKS,
    }
}

struct Usage {
    memory: u64,
    peak: u64,
    /// CPU time, including that of finished child processes.
    ticks: u64,
}

impl Usage {
    fn of(pid: u32) -> Self {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("Linux");
        let (_, fields) = stat.rsplit_once(") ").expect("fields after the name");
        let times = fields.split(' ').skip(11).take(4);
        let ticks = times.map(|field| field.parse::<u64>().expect("a number")).sum();
        Self { memory: memory(pid, "VmRSS:"), peak: memory(pid, "VmHWM:"), ticks }
    }
}

/// Returns a line of `/proc/PID/status` in bytes, or zero if the process has ended.
fn memory(pid: u32, line: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|text| text.strip_prefix(line)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
}

/// Samples a server and its workers in the background, and records the peak of their total memory. This peak is lower
/// than the sum of the individual peaks, because a server and its worker do not hold a document at the same time.
struct Looks {
    most: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Looks {
    fn begin(pid: u32) -> Self {
        let (most, ends) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let task = tokio::spawn({
            let (most, ends) = (most.clone(), ends.clone());
            async move {
                let mut looks = tokio::time::interval(LOOK_EVERY);
                while !ends.load(Ordering::Relaxed) {
                    looks.tick().await;
                    let workers: u64 = children(pid).iter().map(|child| memory(*child, "VmRSS:")).sum();
                    let now = memory(pid, "VmRSS:") + workers;
                    most.fetch_max(now, Ordering::Relaxed);
                }
            }
        });
        Self { most, ends, task }
    }

    async fn end(self) -> u64 {
        self.ends.store(true, Ordering::Relaxed);
        self.task.await.expect("the looks end");
        self.most.load(Ordering::Relaxed)
    }
}

/// Returns the child processes of all threads of a process.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
