//! Steps whose work grows with the pages of a space.

use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

use super::*;

#[test]
fn a_long_step_lets_the_tasks_of_its_thread_continue() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let content = content();
    let step = async move {
        let (sender, receiver) = mpsc::channel();
        // The only thread of the runtime executes the step, which waits for this task.
        tokio::spawn(async move { sender.send(()).expect("a receiver") });
        let receiver = Mutex::new(receiver);
        let wait =
            |_: &_| Ok(receiver.lock().expect("a receiver").recv_timeout(Duration::from_secs(60)).is_ok());
        content.session(DOMAIN).run_long(wait).await
    };
    let has_received = runtime.block_on(async { tokio::spawn(step).await.expect("no panic") });
    assert!(has_received.expect("the step succeeds"));
}
