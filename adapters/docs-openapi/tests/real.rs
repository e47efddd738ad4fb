//! Manual check of external documents: `DOCS_SPECS=folder cargo test --release -p docs-openapi --test real --
//! --nocapture` reads every file of a folder and prints the result. Without the variable, the test does nothing.

use std::{path::PathBuf, time::Instant};

use docs_openapi::read;
use docs_ports::{SpecFile, SpecFiles};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

#[test]
fn documents_of_a_given_folder_are_read_and_summarized() {
    let Some(folder) = std::env::var_os("DOCS_SPECS") else { return };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        let bytes = bytes::Bytes::from(std::fs::read(path).expect("a file"));
        let size = bytes.len();
        let entry = SpecFile {
            location: format!("https://specs.example/{}", path.display()),
            bytes,
            ..SpecFile::default()
        };
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage_as_mb();
        let began = Instant::now();
        let spec = read(&SpecFiles { entry, others: Vec::new() });
        let (took, peak) = (began.elapsed(), ALLOCATOR.peak_usage_as_mb() - before);
        let name = path.file_name().expect("a name").to_string_lossy();
        match spec {
            Err(error) => println!("{name}: {size} bytes: {error}"),
            Ok(spec) => {
                let outline = &spec.outline;
                println!(
                    "{name}: {size} bytes, {}, {} tags, {} operations, {} webhooks, {} schemas, {} problems, {} \
                     missing, {took:?}, {peak} MB",
                    outline.openapi,
                    outline.tags.len(),
                    outline.operations.len(),
                    outline.webhooks.len(),
                    outline.schemas.len(),
                    spec.problems.len(),
                    spec.missing.len(),
                );
                for problem in spec.problems.iter().take(4) {
                    println!("    {:?} {} {}", problem.line, problem.pointer, problem.message);
                }
            }
        }
    }
}
