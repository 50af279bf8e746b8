//! The short way from the fan-out to the dispatcher, on which deliveries have no rows at first.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_testing::{Backend, on_both_databases};

use crate::fixture::{World, path, until};
use crate::hanging::Hanging;

/// A running shop with an endpoint that keeps it waiting.
async fn beside(backend: Backend, hanging: &Hanging) -> (World, Json) {
    let world = World::running(backend, &[hanging.port()], |builder| {
        builder.setting("Svc:Webhooks:Timeout", "00:00:20")
    })
    .await;
    let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
    (world, endpoint)
}

/// Waits until the log's newest delivery stands so.
async fn until_newest(world: &World, status: &str, attempts: u32) {
    until(async || {
        let log = world.log().await;
        let is_so = |one: &Json| one["status"] == status && one["attempts"] == attempts;
        if log.first().is_some_and(is_so) { Ok(()) } else { Err(format!("the log is {log:#?}")) }
    })
    .await;
}

/// Puts the deliveries that are there back into a hand-over that ends at a time.
async fn as_handed_over(world: &World, until_us: i64) {
    let database = world.shop.app().service::<svc_database::Database>().unwrap();
    let sql = "SELECT id, endpoint_id, message_id, organisation_id FROM webhooks_deliveries \
               ORDER BY id";
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    let id = |row: usize, column| -> sea_orm::prelude::Uuid {
        rows[row].try_get_by_index(column).unwrap()
    };
    let messages: Vec<Json> = (0..rows.len())
        .map(|row| json!({"id": id(row, 2), "organisation": id(row, 3), "to": [[0, id(row, 0)]]}))
        .collect();
    let content = json!({"endpoints": [id(0, 1)], "messages": messages}).to_string();
    let sql =
        "INSERT INTO webhooks_hand_overs (id, until_us, count, deliveries) VALUES (?, ?, ?, ?)";
    let count = i32::try_from(rows.len()).unwrap();
    let values = [id(0, 2).into(), until_us.into(), count.into(), content.into()];
    database.execute(database.statement(sql, values)).await.unwrap();
}

async fn execute(world: &World, sql: &str) {
    let database = world.shop.app().service::<svc_database::Database>().unwrap();
    database.execute(database.statement(sql, [])).await.unwrap();
}

/// Only PostgreSQL can go away and come back.
#[tokio::test]
async fn what_was_sent_is_recorded_when_the_database_is_back() {
    let hanging = Hanging::start().await;
    let (world, _) = beside(Backend::Postgres, &hanging).await;
    let until_told = async |table: &str, expected: Option<i64>| {
        until(async || {
            let count = world.try_count(table).await;
            if count == expected { Ok(()) } else { Err(format!("`{table}` has {count:?} rows")) }
        })
        .await;
    };
    // One has a row of its own when the database goes, the other has none.
    for sent in 1..=2 {
        world.publish("A-1").await;
        hanging.reached(sent).await;
        if sent == 1 {
            world.until_count("webhooks_deliveries", 1).await;
        }
    }
    world.shop.database().lock_out(true).await;
    hanging.let_go.add_permits(2);
    until_told("webhooks_deliveries", None).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    world.shop.database().lock_out(false).await;
    // Had one been sent again, it would hang.
    until_told("webhooks_deliveries WHERE status = 2 AND attempts = 1", Some(2)).await;
    until_told("webhooks_hand_overs", Some(0)).await;
    world.shop.app().stop().await;
}

on_both_databases! {
    async fn what_takes_long_is_in_the_log_meanwhile(backend) {
        let hanging = Hanging::start().await;
        let (world, _) = beside(backend, &hanging).await;
        world.publish("A-1").await;
        hanging.reached(1).await;
        until_newest(&world, "queued", 0).await;
        assert_eq!(world.count("webhooks_deliveries WHERE claim IS NOT NULL").await, 1);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
        hanging.let_go.add_permits(1);
        until_newest(&world, "delivered", 1).await;
        assert_eq!(world.count("webhooks_deliveries WHERE claim IS NOT NULL").await, 0);
        assert_eq!(hanging.receiver.connections(), 1);
        world.shop.app().stop().await;
    }

    async fn a_first_attempt_that_fails_is_followed_by_others(backend) {
        let world = World::running(backend, &[], |builder| builder).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.receiver.answer_with([500]);
        world.publish("A-1").await;
        world.arrive(1).await;
        until_newest(&world, "retrying", 1).await;
        world.shop.advance(Duration::from_secs(30));
        world.arrive(1).await;
        until_newest(&world, "delivered", 2).await;
        // What counts for an endpoint counts on this way too.
        world.receiver.answer_with([500]);
        let failing = "UPDATE webhooks_endpoints SET consecutive_failures = 3, last_error = 'old'";
        execute(&world, failing).await;
        world.publish("A-2").await;
        world.arrive(1).await;
        until_newest(&world, "retrying", 1).await;
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 3, "it is tried again");
        world.publish("A-3").await;
        world.arrive(1).await;
        until_newest(&world, "delivered", 1).await;
        assert_eq!(world.show(&endpoint).await["consecutiveFailures"], 0);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
        world.shop.app().stop().await;
    }

    async fn nothing_is_left_of_an_endpoint_that_is_deleted_meanwhile(backend) {
        let hanging = Hanging::start().await;
        let (world, endpoint) = beside(backend, &hanging).await;
        world.publish("A-1").await;
        hanging.reached(1).await;
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        hanging.let_go.add_permits(1);
        world.until_count("webhooks_hand_overs", 0).await;
        // What was slow enough to get a row before the deletion goes by a job after it.
        world.until_count("webhooks_deliveries", 0).await;
        world.shop.app().stop().await;
        assert_eq!(world.count("webhooks_deliveries").await, 0);
    }

    async fn what_was_handed_over_is_held_when_its_endpoint_is_switched_off(backend) {
        let hanging = Hanging::answering(|number| match number {
            0 => "204 No Content",
            _ => "500 Internal Server Error\r\nContent-Length: 0",
        })
        .await;
        let world = World::running(backend, &[hanging.port()], |builder| {
            builder
                .setting("Svc:Webhooks:MaxAttempts", 1)
                .setting("Svc:Webhooks:DisableAfterFailures", 2)
                .setting("Svc:Webhooks:ConcurrencyPerEndpoint", 1)
        })
        .await;
        let endpoint = world.endpoint_at(hanging.port(), &["*"]).await;
        // It is well, so that others wait for their turns in memory.
        hanging.let_go.add_permits(1);
        world.publish("first").await;
        until_newest(&world, "delivered", 1).await;
        world.publish_many(9).await;
        hanging.let_go.add_permits(2);
        // Two have failed, one is on its way.
        world.until_count("webhooks_deliveries WHERE status = 3", 2).await;
        world.until_count("webhooks_deliveries WHERE status = 0 AND claim IS NULL", 6).await;
        assert_eq!(world.show(&endpoint).await["isActive"], false);
        hanging.let_go.add_permits(1);
        world.until_count("webhooks_deliveries WHERE status = 3", 3).await;
        world.until_count("webhooks_hand_overs", 0).await;
        world.shop.app().stop().await;
    }

    async fn what_another_process_had_taken_on_is_sent_when_its_time_is_over(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish_many(3).await;
        assert_eq!(world.deliver().await.len(), 3);
        let before = world.log().await;
        as_handed_over(&world, world.shop.clock().now_us() + 30_000_000).await;
        // Two outcomes were recorded before that process died, the third wasn't.
        let unrecorded = format!("'{}'", before[1]["id"].as_str().unwrap().replace('-', ""));
        let unrecorded = match backend {
            Backend::Sqlite => format!("unhex({unrecorded})"),
            Backend::Postgres => unrecorded,
        };
        execute(&world, &format!("DELETE FROM webhooks_deliveries WHERE id = {unrecorded}")).await;
        world.shop.advance(Duration::from_secs(29));
        assert_eq!(world.deliver().await.len(), 0, "somebody may still be sending it");
        let metrics = world.shop.anonymous().get("/metrics").await.text;
        assert!(metrics.contains("\nsvc_webhooks_deliveries_waiting 3\n"), "{metrics}");
        let received = world.after(1).await;
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].headers["webhook-id"], before[1]["eventId"].as_str().unwrap());
        let after = world.log().await;
        let ids = |log: &[Json]| log.iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&after), ids(&before), "each delivery is the one that it was");
        assert!(after.iter().all(|one| one["status"] == "delivered" && one["attempts"] == 1));
        assert_eq!(world.count("webhooks_hand_overs").await, 0);

        // What was for an endpoint that is gone is for nobody.
        as_handed_over(&world, world.shop.clock().now_us()).await;
        let _ = world.client().delete(&path(&endpoint, "")).await.expect(204);
        assert_eq!(world.after(2).await.len(), 0);
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
        assert_eq!(world.count("webhooks_deliveries").await, 0);
    }

    async fn a_hand_over_that_can_t_be_read_stops_nobody(backend) {
        let world = World::new(backend).await;
        world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        as_handed_over(&world, world.shop.clock().now_us()).await;
        execute(&world, "UPDATE webhooks_hand_overs SET deliveries = 'broken'").await;
        world.publish("A-2").await;
        assert_eq!(world.after(2).await.len(), 1);
        world.publish("A-3").await;
        assert_eq!(world.after(2).await.len(), 1);
        assert_eq!(world.count("webhooks_hand_overs").await, 1, "it is kept for whoever mends it");
    }

    async fn an_outcome_that_comes_too_late_changes_nothing(backend) {
        let hanging = Hanging::start().await;
        let (world, _) = beside(backend, &hanging).await;
        world.publish("A-1").await;
        hanging.reached(1).await;
        // Another node takes it for abandoned, sends it, and is done first.
        let other = world.shop.another_node().await;
        world.shop.advance(Duration::from_secs(31));
        let drain = async {
            hanging.reached(2).await;
            hanging.let_go.add_permits(2);
        };
        tokio::join!(other.drain(), drain);
        until_newest(&world, "delivered", 1).await;
        world.shop.app().stop().await;
        let log = world.log().await;
        assert_eq!((log.len(), &log[0]["attempts"]), (1, &json!(1)));
        assert_eq!(world.count("webhooks_hand_overs").await, 0);
    }
}
