//! Lifetime and number of worker processes.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use docs_ports::Converter as _;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use tokio::sync::Semaphore;

use super::*;

#[tokio::test]
async fn dropped_job_ends_its_worker_process() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    // First while the book is being sent, and then while the worker is running.
    for permits in [0, 1] {
        let (asked, open) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(permits)));
        let gate = Gate { asked: Arc::clone(&asked), open: Arc::clone(&open) };
        tokio::select! {
            answer = render(&pool, book_with("sleep", gate)) => panic!("it does not end: {answer:?}"),
            asked = asked.acquire() => asked.expect("open").forget(),
        }
        pool.wait_until_idle().await;
        all_is_well(&pool).await;
    }
}

#[tokio::test]
async fn dropping_a_waiting_job_leaves_nothing_behind() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let (asked, open) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let gate = || Gate { asked: Arc::clone(&asked), open: Arc::clone(&open) };
    let first = render(&pool, book_with("a", gate()));
    let second = render(&pool, book_with("b", gate()));
    let driver = async {
        asked.acquire_many(2).await.expect("open").forget();
        let third = pool.convert(document("third"));
        // The future is polled once and finds no free permit.
        tokio::select! {
            biased;
            page = third => panic!("both places are taken: {page:?}"),
            () = std::future::ready(()) => {}
        }
        open.add_permits(2);
    };
    let (first, second, ()) = tokio::join!(first, second, driver);
    assert_eq!((first.expect("a").as_str(), second.expect("b").as_str()), ("%PDF a", "%PDF b"));
    all_is_well(&pool).await;
}

/// Records the number of processes when one of them requests its image.
struct Counting {
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl ImageSource for Counting {
    async fn load(&self) -> Result<Option<Bytes>, PdfError> {
        self.most.fetch_max(children().len(), Ordering::SeqCst);
        // Let other tasks run.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        self.most.fetch_max(children().len(), Ordering::SeqCst);
        Ok(Some(Bytes::from_static(b"picture")))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn process_count_never_exceeds_the_limit() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let most = Arc::new(AtomicUsize::new(0));
    let jobs = (0..12).map(|number| {
        let (pool, most) = (pool.clone(), Arc::clone(&most));
        let title = ["right", "abort", "large answer"][number % 3];
        tokio::spawn(async move { render(&pool, book_with(title, Counting { most })).await.is_ok() })
    });
    let mut right = 0;
    for job in jobs.collect::<Vec<_>>() {
        right += usize::from(job.await.expect("it does not panic"));
    }
    assert_eq!(right, 4);
    assert_eq!(most.load(Ordering::SeqCst), 2);
    pool.wait_until_idle().await;
    all_is_well(&pool).await;
}

#[tokio::test]
async fn worker_process_ends_when_its_server_is_killed() {
    let _alone = alone().await;
    let mut server = Command::new(PROGRAM)
        .arg("server")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut told = String::new();
    BufReader::new(server.stdout.take().expect("its output")).read_line(&mut told).expect("a line");
    assert_eq!(told, "begun\n");
    let workers = children_of(server.id());
    let [worker] = workers[..] else { panic!("one worker, not {workers:?}") };
    let worker = pidfd_open(Pid::from_raw(worker).expect("an id"), PidfdFlags::empty()).expect("a worker");
    server.kill().expect("it is killed");
    server.wait().expect("it is waited for");
    let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
    let mut ended = [PollFd::new(&worker, PollFlags::IN)];
    assert_eq!(poll(&mut ended, Some(&patience)).expect("it is heard of"), 1, "the worker lives on");
}

#[tokio::test]
async fn current_program_is_the_running_executable() {
    let program = Program::current().expect("this program");
    assert_eq!(program.path(), std::env::current_exe().expect("this program"));
}
