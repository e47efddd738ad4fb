//! Maintenance of the store: `docs-server admin verify`, `rebuild` and `collect`.

use clap::Subcommand;
use docs_core::{
    Platform,
    platform::{CollectMode, CollectionStats},
};

use super::queries::AdminResult;
use crate::ServerError;

/// A maintenance command for a store.
#[derive(Subcommand, Debug)]
pub(crate) enum StoreCommand {
    /// Recomputes every index row, unique value and counter from the records, and prints the differences. Exits with 0
    /// if there are none.
    Verify,
    /// Rebuilds every index row, unique value and counter from the records. Fails while a server uses the store, so
    /// stop all servers first. An interrupted rebuild continues on the next run.
    Rebuild,
    /// Deletes content that no revision references, and files of interrupted uploads in `--blobs`. Servers do the same
    /// daily and can keep running.
    Collect {
        /// Only counts the objects and files to delete.
        #[arg(long)]
        dry_run: bool,
    },
}

impl StoreCommand {
    pub(crate) async fn run(&self, platform: &Platform) -> AdminResult<()> {
        match self {
            Self::Verify => verify(platform).await,
            Self::Rebuild => {
                platform.as_platform().rebuild().await?;
                println!("all rows were rebuilt");
                Ok(())
            }
            Self::Collect { dry_run } => {
                let mode = if *dry_run { CollectMode::DryRun } else { CollectMode::Remove };
                show(&platform.as_platform().collect(mode).await?, mode);
                Ok(())
            }
        }
    }
}

async fn verify(platform: &Platform) -> AdminResult<()> {
    let drift = platform.as_platform().verify().await?;
    for key in &drift.missing {
        println!("missing\t{key}");
    }
    for key in &drift.stray {
        println!("stray\t{key}");
    }
    for (key, stored, counted) in &drift.counters {
        println!("counter\t{key}\t{stored} instead of {counted}");
    }
    if drift.is_none() {
        println!("all rows match the records");
        return Ok(());
    }
    let number = drift.missing.len() + drift.stray.len() + drift.counters.len();
    Err(ServerError::from_error(format!(
        "{number} rows differ from the records; stop all servers and run `docs-server admin rebuild`"
    )))
}

fn show(collected: &CollectionStats, mode: CollectMode) {
    let done = match mode {
        CollectMode::DryRun => "would be removed",
        CollectMode::Remove => "removed",
    };
    println!("storage areas\t{}", collected.domains);
    println!("revisions read\t{}", collected.roots);
    println!("objects {done}\t{}", collected.objects);
    println!("incomplete uploads {done}\t{}", collected.leftovers);
}
