//! Programs that are not workers, or broken ones.

use std::{
    io::{Read as _, Write as _},
    process::ExitCode,
};

const JSON: u8 = 1;
const FILE: u8 = 2;

/// Runs an impostor by name.
pub(crate) fn run(part: &str) -> ExitCode {
    let played = match part {
        "ends" => Ok(()),
        "silent" => park(),
        "noise" => write(b"a program that is no worker and says so at some length\n"),
        "another version" => frame(JSON, b"{\"protocol\":4000000}").and_then(|()| park()),
        "garbage" => ready().and_then(|()| write(&[0xff; 1_000])).and_then(|()| park()),
        "garbage as JSON" => ready().and_then(|()| frame(JSON, b"{{{{")).and_then(|()| park()),
        "another answer" => ready()
            .and_then(|()| frame(JSON, b"{\"Unpacked\":{\"paths\":[],\"warnings\":[]}}"))
            .and_then(|()| park()),
        "half a frame" => ready().and_then(|()| header(JSON, 1_000)).and_then(|()| write(b"\"Rend")),
        "half a frame, and waits" => ready().and_then(|()| header(JSON, 1_000)).and_then(|()| park()),
        "half a file" => rendered().and_then(|()| header(FILE, 1_000)).and_then(|()| write(b"%PDF")),
        "too large a frame" => rendered().and_then(|()| header(FILE, 1 << 40)).and_then(|()| flood()),
        "too large an outline" => ready().and_then(|()| header(JSON, 1 << 30)).and_then(|()| flood()),
        "too many files" => too_many_files(),
        "deaf" => ready().and_then(|()| park()),
        "deaf, and answers" => rendered().and_then(|()| frame(FILE, b"%PDF")).and_then(|()| park()),
        _ => Err(std::io::Error::other("no such part")),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn park() -> std::io::Result<()> {
    loop {
        std::thread::park();
    }
}

fn write(bytes: &[u8]) -> std::io::Result<()> {
    let mut output = std::io::stdout();
    output.write_all(bytes)?;
    output.flush()
}

fn header(tag: u8, length: u64) -> std::io::Result<()> {
    write(&[&[tag], &length.to_le_bytes()[..]].concat())
}

fn frame(tag: u8, bytes: &[u8]) -> std::io::Result<()> {
    header(tag, bytes.len() as u64)?;
    write(bytes)
}

/// Reads the limits, and confirms them with the server's protocol version.
fn ready() -> std::io::Result<()> {
    let mut header = [0; 9];
    std::io::stdin().read_exact(&mut header)?;
    let [_, length @ ..] = header;
    let bounds = std::io::stdin().lock().take(u64::from_le_bytes(length));
    let bounds: serde_json::Value = serde_json::from_reader(bounds)?;
    frame(JSON, format!("{{\"protocol\":{}}}", bounds["protocol"]).as_bytes())
}

fn rendered() -> std::io::Result<()> {
    ready()?;
    frame(JSON, b"\"Rendered\"")
}

fn flood() -> std::io::Result<()> {
    loop {
        write(&[b'x'; 65_536])?;
    }
}

fn too_many_files() -> std::io::Result<()> {
    ready()?;
    let names = vec!["\"a\""; 10_000].join(",");
    frame(JSON, format!("{{\"Unpacked\":{{\"paths\":[{names}],\"warnings\":[]}}}}").as_bytes())?;
    loop {
        frame(FILE, &[b'x'; 65_536])?;
    }
}
