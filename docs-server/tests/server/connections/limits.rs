//! Maximum number of connections: of the server, per address, and due to the limit of open files.

use docs_server::{ConnectionConfig, ServerConfig};

use super::{GET, Raw, Running, patient};
use crate::process::Process;

/// Opens connections that send only part of a head.
async fn halves(server: &Running, count: usize, address: u8) -> Vec<Raw> {
    let mut halves = Vec::new();
    for _ in 0..count {
        let mut half = server.connect_from(address).await;
        half.try_send(b"GET / HTTP/1.1\r\n").await;
        halves.push(half);
    }
    halves
}

#[tokio::test]
async fn unfinished_connections_make_room_for_others() {
    let config = ConnectionConfig {
        max_connections: 8.try_into().ok(),
        max_connections_per_address: 8.try_into().ok(),
        ..patient()
    };
    let server = Running::with(config).await;
    let mut good = server.connect_from(2).await;
    good.send(GET).await;
    assert_eq!(good.status().await, 200);
    let mut attack = halves(&server, 40, 3).await;
    for _ in 0..10 {
        server.answers(1).await;
    }
    attack[0].closed().await;
    good.send(GET).await;
    assert_eq!(good.status().await, 200, "an idle connection of an address with few is kept");
}

#[tokio::test]
async fn an_address_has_a_share_of_the_connections() {
    let config = ConnectionConfig {
        max_connections: 100.try_into().ok(),
        max_connections_per_address: 4.try_into().ok(),
        ..patient()
    };
    let trusted_proxies = "127.0.0.9".parse().ok();
    let server =
        Running::configured(ServerConfig { connections: config, trusted_proxies, ..ServerConfig::default() })
            .await;
    let mut attack = halves(&server, 12, 2).await;
    for half in &mut attack[..8] {
        half.closed().await;
    }
    server.answers(2).await;
    server.answers(1).await;
    let mut proxied = halves(&server, 12, 9).await;
    for half in &mut proxied {
        half.send(b"host: a\r\n\r\n").await;
        assert!(half.status().await < 500, "proxies have no share");
    }
}

/// Returns the CPU time of a process, in hundredths of a second.
fn processor_time(process: &Process) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.child.id())).ok()?;
    let fields: Vec<_> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

#[tokio::test]
async fn few_descriptors_are_enough_for_many_unfinished_heads() {
    for descriptors in [48, 256] {
        let server = Process::limited(descriptors).await;
        let address = server.base.trim_start_matches("http://").parse().expect("an address");
        let mut attack = Vec::new();
        for number in 0..600_u32 {
            let mut half = Raw::connect(address, 2 + u8::try_from(number % 50).expect("small")).await;
            half.try_send(b"GET / HTTP/1.1\r\n").await;
            attack.push(half);
        }
        let before = processor_time(&server);
        for _ in 0..20 {
            let mut client = Raw::connect(address, 1).await;
            client.send(GET).await;
            assert_eq!(client.status().await, 200, "{descriptors} descriptors");
        }
        if let (Some(before), Some(after)) = (before, processor_time(&server)) {
            assert!(after - before < 200, "accepting does not spin: {} hundredths", after - before);
        }
    }
}
