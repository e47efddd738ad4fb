//! The transports that libgit2 gets instead of its own.

use std::{cell::RefCell, io, sync::OnceLock};

use docs_ports::GitError;
use git2::{
    Error, Remote,
    transport::{Service, SmartSubtransport, SmartSubtransportStream, Transport},
};

use crate::line::Line;

/// The URL under which libgit2 knows every repository over HTTP.
pub(crate) const WEB_URL: &str = "docs-http://remote/";

/// The URL under which libgit2 knows every repository of a daemon.
pub(crate) const DAEMON_URL: &str = "docs-git://remote/";

/// Makes the transports known to libgit2 and bounds its memory, once in the life of the process.
///
/// # Errors
/// When libgit2 refuses, which it does when it has no memory.
pub(crate) fn register() -> Result<(), GitError> {
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    DONE.get_or_init(|| {
        bound_memory().and_then(|()| register_both()).map_err(|error| error.message().to_owned())
    })
    .clone()
    .map_err(|message| GitError::Broken(format!("libgit2 takes no transport: {message}")))
}

/// Runs libgit2 with a line: the transports that it makes in this thread meanwhile use it.
pub(crate) fn with_line<T>(line: Line, run: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.with_borrow_mut(Option::take);
        }
    }
    CURRENT.with_borrow_mut(|current| *current = Some(line));
    let _reset = Reset;
    run()
}

thread_local! {
    /// The line of the fetch that runs in this thread. libgit2 makes a transport in the thread that connects.
    static CURRENT: RefCell<Option<Line>> = const { RefCell::new(None) };
}

#[expect(unsafe_code, reason = "libgit2 keeps transports in a list of the process that it does not lock")]
fn register_both() -> Result<(), Error> {
    // SAFETY: `register` must not run at the same time as another registration or as the making of a transport. Ours
    // are made by a `GitClient` only, which exists after this has returned, and `OnceLock` lets one thread in. A host
    // that uses libgit2 itself is told to make its client first, see `GitClient::new`.
    unsafe {
        git2::transport::register("docs-http", web)?;
        git2::transport::register("docs-git", daemon)
    }
}

/// Most bytes of a pack that are in memory in one piece, and of all packs together. By itself libgit2 maps all of a
/// repository, which then counts as memory of the server.
const WINDOW: usize = 8 << 20;
const WINDOWS: usize = 32 << 20;

/// Most bytes of the folders and commits that libgit2 keeps for the next time somebody reads them.
const KEPT: isize = 16 << 20;

#[expect(unsafe_code, reason = "the options of libgit2 are numbers of the process that it does not lock")]
fn bound_memory() -> Result<(), Error> {
    // What was fetched got its ids from its bytes while it arrived. What lies on a disk of this machine is what who may
    // write there has put there; Git's own programs read it unhashed as well. Damage is found by the checksums of zlib.
    git2::opts::strict_hash_verification(false);
    // SAFETY: as for the transports: no fetch and no push of ours has begun, and `OnceLock` lets one thread in. A host
    // that uses libgit2 itself is told to make its client first.
    unsafe {
        git2::opts::set_mwindow_size(WINDOW)?;
        git2::opts::set_mwindow_mapped_limit(WINDOWS)?;
        git2::opts::set_cache_max_size(KEPT)
    }
}

fn web(remote: &Remote<'_>) -> Result<Transport, Error> {
    Transport::smart(remote, true, Web(current()?))
}

fn daemon(remote: &Remote<'_>) -> Result<Transport, Error> {
    Transport::smart(remote, false, Daemon(current()?))
}

fn current() -> Result<Line, Error> {
    CURRENT
        .with_borrow(Clone::clone)
        .ok_or_else(|| Error::from_str("this kind of URL is for use inside of a fetch only"))
}

struct Web(Line);

impl SmartSubtransport for Web {
    fn action(&self, _url: &str, action: Service) -> Result<Box<dyn SmartSubtransportStream>, Error> {
        match action {
            Service::UploadPackLs => Ok(Box::new(self.0.refs())),
            Service::UploadPack => Ok(Box::new(self.0.exchange())),
            Service::ReceivePackLs | Service::ReceivePack => Err(read_only()),
        }
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

struct Daemon(Line);

impl SmartSubtransport for Daemon {
    fn action(&self, _url: &str, action: Service) -> Result<Box<dyn SmartSubtransportStream>, Error> {
        match action {
            // The connection stays; libgit2 asks for one stream and uses it for everything.
            Service::UploadPackLs | Service::UploadPack => {
                Ok(Box::new(self.0.open().map_err(|error| closed(&error))?))
            }
            Service::ReceivePackLs | Service::ReceivePack => Err(read_only()),
        }
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn read_only() -> Error {
    Error::from_str("libgit2 writes to no repository")
}

fn closed(error: &io::Error) -> Error {
    Error::from_str(&error.to_string())
}
