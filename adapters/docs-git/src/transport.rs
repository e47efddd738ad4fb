//! Custom transports for libgit2.

use std::{cell::RefCell, sync::OnceLock};

use docs_ports::GitError;
use git2::{
    Error, Remote,
    transport::{Service, SmartSubtransport, SmartSubtransportStream, Transport},
};

use crate::bridge::NetworkHandle;

/// The URL that libgit2 uses for all repositories over HTTP.
pub(crate) const WEB_URL: &str = "docs-http://remote/";

/// Registers the transport with libgit2 and limits its memory, once per process.
///
/// # Errors
/// If libgit2 fails, which happens only when it is out of memory.
pub(crate) fn register() -> Result<(), GitError> {
    static REGISTRATION: OnceLock<Result<(), String>> = OnceLock::new();
    REGISTRATION
        .get_or_init(|| {
            bound_memory().and_then(|()| register_transport()).map_err(|error| error.message().to_owned())
        })
        .clone()
        .map_err(|message| {
            GitError::Broken(format!("failed to register a transport with libgit2: {message}"))
        })
}

/// Runs libgit2 with a connection, which all transports that it creates in this thread use.
pub(crate) fn with_network<T>(line: NetworkHandle, run: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT_CONNECTION.with_borrow_mut(Option::take);
        }
    }
    CURRENT_CONNECTION.with_borrow_mut(|current| *current = Some(line));
    let _reset = Reset;
    run()
}

thread_local! {
    /// The connection of the fetch in this thread. libgit2 creates a transport in the thread that connects.
    static CURRENT_CONNECTION: RefCell<Option<NetworkHandle>> = const { RefCell::new(None) };
}

#[expect(unsafe_code, reason = "libgit2 registers transports in an unlocked list of the process")]
fn register_transport() -> Result<(), Error> {
    // SAFETY: `register` must not run concurrently with another registration or with the creation of a transport. Only
    // a `GitClient` creates transports, it exists only after this function has returned, and `OnceLock` runs the
    // function in one thread only. The documentation of `GitClient::new` requires embedding applications that use
    // libgit2 directly to create their client first.
    unsafe { git2::transport::register("docs-http", web) }
}

/// Maximum size in bytes of a mapped window of a pack, and of all windows together. By default, libgit2 maps whole
/// repositories, which counts as memory of the server.
const MAX_WINDOW_BYTES: usize = 8 << 20;
const MAX_MAPPED_BYTES: usize = 32 << 20;

/// Maximum size in bytes of the object cache of libgit2 for folders and commits.
const MAX_OBJECT_CACHE: isize = 16 << 20;

#[expect(unsafe_code, reason = "libgit2 options are unlocked globals of the process")]
fn bound_memory() -> Result<(), Error> {
    // The ids of fetched objects were computed from their bytes on arrival. Repositories on disk are under the control
    // of users with write access to the disk, and Git itself does not hash their objects on read either. Damage is
    // detected by the zlib checksums.
    git2::opts::strict_hash_verification(false);
    // SAFETY: As for the transports, no fetch or push has begun, and `OnceLock` runs the function in one thread only.
    // Embedding applications that use libgit2 directly must create their client first.
    unsafe {
        git2::opts::set_mwindow_size(MAX_WINDOW_BYTES)?;
        git2::opts::set_mwindow_mapped_limit(MAX_MAPPED_BYTES)?;
        git2::opts::set_cache_max_size(MAX_OBJECT_CACHE)
    }
}

fn web(remote: &Remote<'_>) -> Result<Transport, Error> {
    Transport::smart(remote, true, Web(current()?))
}

fn current() -> Result<NetworkHandle, Error> {
    CURRENT_CONNECTION
        .with_borrow(Clone::clone)
        .ok_or_else(|| Error::from_str("this URL scheme is internal to a fetch"))
}

struct Web(NetworkHandle);

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

fn read_only() -> Error {
    Error::from_str("libgit2 is used for reading only")
}
