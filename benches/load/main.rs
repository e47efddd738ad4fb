//! Load driver: sends a mix of reads and writes over many connections to a server process on the loopback interface.
//!
//! Starts the server, fills it with spaces, keeps every connection busy for a fixed time, and prints a table with
//! requests, failures and latencies per operation, the CPU time of the server, and the memory of its process tree.
//! Exits with an error if any response was unexpected.
//!
//! ```console
//! cargo build --release -p docs-server
//! cargo run --release -p docs-benches --bin load -- --server target/release/docs-server
//! ```

mod client;
mod operations;
mod report;
mod server;

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Parser;
use docs_benches::Outcome;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    client::Client,
    operations::{Fixture, Random, Worker},
    report::{MemorySamples, Samples},
    server::ServerProcess,
};

/// Keeps a server busy with mixed requests and reports latency, failures and memory.
#[derive(Parser, Clone, Debug)]
#[command(name = "load")]
struct Options {
    /// Program to start.
    #[arg(long, value_name = "PATH", default_value = "target/release/docs-server")]
    server: PathBuf,
    /// Store of the server, as for its own `--store`.
    #[arg(long, default_value = "memory")]
    store: String,
    /// Further flag for the server; may be repeated.
    #[arg(long = "server-flag", value_name = "FLAG", allow_hyphen_values = true)]
    server_flags: Vec<String>,
    /// Connections that send one request after the other.
    #[arg(long, default_value_t = 200)]
    connections: usize,
    /// Seconds of load.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Share of requests that write, in percent.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=100))]
    writes: u64,
    /// Spaces that are created before the load begins.
    #[arg(long, default_value_t = 20)]
    spaces: usize,
    /// Seed of the order of requests.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::parse()).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} requests failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the load and prints the table. Returns the number of failed requests.
async fn run(options: Options) -> Outcome<u64> {
    let server = ServerProcess::start(&options.server, &options.store, &options.server_flags).await?;
    let mut client = Client::connect(server.address, server::TOKEN).await?;
    let fixture = Arc::new(Fixture::create(&mut client, options.spaces).await?);
    let idle = server.memory()?;
    let cpu_before = server.cpu_time()?;
    let begun = Instant::now();
    let until = begun + Duration::from_secs(options.seconds);
    let mut workers = JoinSet::new();
    for number in 0..options.connections {
        let random = Random::new(options.seed.wrapping_mul(1 << 20).wrapping_add(number as u64));
        let worker = Worker::new(Arc::clone(&fixture), random, options.writes);
        let address = server.address;
        workers.spawn(async move { worker.run(address, until).await });
    }
    let mut memory = MemorySamples::new(idle);
    let mut every_second = tokio::time::interval(Duration::from_secs(1));
    let mut samples = Samples::default();
    loop {
        tokio::select! {
            _ = every_second.tick() => memory.add(server.memory()?),
            ended = workers.join_next() => match ended {
                Some(worker) => samples.merge(worker?),
                None => break,
            },
        }
    }
    let cpu = server.cpu_time()?.saturating_sub(cpu_before);
    report::print(&mut samples, &memory, begun.elapsed(), cpu);
    Ok(samples.failures())
}
