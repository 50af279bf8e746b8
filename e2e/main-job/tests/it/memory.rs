//! Who asks for too much is refused, and the memory that it took on the way goes back to the machine.

use std::time::{Duration, Instant};

use e2e_main_job::{Client, Shop};
use svc_testing::on_both_databases;

use crate::changes::database;

/// There and back again, so that it is too much by the third turn.
const TOO_MUCH: &str = "/odata/v1/Products?$top=100&$expand=orderLines($expand=product($expand=\
                        orderLines($expand=order,product)))";

/// What may stay, in MB. The C library's own allocator keeps more than 200.
const STAYS: f64 = 80.0;

/// How long that may take; the allocator waits for ten seconds whether it is needed again.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the program has of the machine's memory, in MB.
fn resident(shop: &Shop) -> f64 {
    let metrics = shop.send("GET", "/metrics", None).text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    line.expect("the memory").parse::<f64>().expect("a number") / 1_048_576.0
}

/// Asks for too much.
fn refused(client: &Client) {
    let answer = client.send("GET", TOO_MUCH, None).expect("the program answers");
    assert_eq!(answer.status, 400, "{}", answer.text);
}

on_both_databases! {
    async fn what_refused_requests_took_is_given_back(backend) {
        let mut shop = Shop::prepare(database(backend).await, &[]).with("Sample:Data", "true");
        shop.start_again();
        let before = resident(&shop);
        let client = shop.client();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10).for_each(|_| refused(client)));
            }
        });
        let deadline = Instant::now() + PATIENCE;
        while resident(&shop) - before > STAYS {
            assert!(Instant::now() < deadline, "{} MB stay", resident(&shop) - before);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}
