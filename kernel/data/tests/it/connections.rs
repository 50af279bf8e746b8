//! Connections are kept between one piece of work and the next, which nobody may notice.

use std::time::Duration;

use sea_orm::{ConnectionTrait as _, TransactionTrait as _};
use svc_core::ErrorKind;
use svc_database::{Database, DatabaseSettings};
use svc_testing::{Backend, on_both_databases};
use tokio::time::timeout;

use crate::fixture::{Fixture, lamp, product};

on_both_databases! {
    async fn more_readers_than_connections_are_all_served(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        // The unit of work has one of the connections meanwhile, and what it writes isn't seen.
        let read = ctx.transact(async |uow| {
            uow.insert(lamp("L-2")).await?;
            let read = |_| {
                let ctx = fixture.in_organisation(1);
                tokio::spawn(async move {
                    for _ in 0..10 {
                        let found = ctx.query::<product::Entity>().all().await.unwrap();
                        assert_eq!(found.len(), 1);
                    }
                    ctx.find::<product::Entity>(stored.id).await.unwrap()
                })
            };
            let mut read: Vec<_> = (0..64).map(read).collect();
            let mut records = Vec::new();
            for reader in read.drain(..) {
                records.push(reader.await.unwrap());
            }
            Ok(records)
        });
        assert_eq!(read.await.unwrap(), vec![stored; 64]);
    }

    async fn a_read_that_is_given_up_halfway_disturbs_no_other(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let first = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        let second = ctx.transact(async |uow| uow.insert(lamp("L-2")).await).await.unwrap();
        for micros in 0..60 {
            let given_up = ctx.find::<product::Entity>(first.id);
            let _ = timeout(Duration::from_micros(10 * micros), given_up).await;
            assert_eq!(ctx.find::<product::Entity>(second.id).await.unwrap(), second);
        }
    }

    async fn one_process_at_a_time_serves_a_file(backend) {
        let fixture = Fixture::start(backend).await;
        let settings = fixture.app.settings::<DatabaseSettings>();
        let url = settings.url_for("shop");
        let again = Database::connect(&url, &settings).await.unwrap();
        again.take_for_this_process().unwrap();
        let second = fixture.database.take_for_this_process();
        if backend == Backend::Postgres {
            second.expect("many nodes share it");
            return;
        }
        let refused = second.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.message().contains("another process serves"), "{}", refused.message());
        // Who only looks, or repairs, may do so meanwhile.
        fixture.database.ping().await.unwrap();
        again.close().await;
        drop(again);
        fixture.database.take_for_this_process().unwrap();
    }

    async fn a_full_disk_is_told_as_what_passes(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let execute = async |sql: &str| {
            fixture.database.execute(fixture.database.statement(sql, [])).await.unwrap();
        };
        match backend {
            // The file may not grow any more.
            Backend::Sqlite => execute("PRAGMA max_page_count = 1").await,
            Backend::Postgres => {
                execute(
                    "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                     RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left'; END $$",
                )
                .await;
                execute(
                    "CREATE TRIGGER no_room BEFORE INSERT ON products \
                     FOR EACH ROW EXECUTE FUNCTION no_room()",
                )
                .await;
            }
        }
        let filled = ctx.transact(async |uow| {
            for number in 0..2_000 {
                uow.insert(lamp(&format!("L-{number}"))).await?;
            }
            Ok(())
        });
        let refused = filled.await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable, "{}", refused.report());
        assert!(refused.is_transient() && refused.message().contains("no room"), "{refused:?}");
    }

    async fn connections_are_given_back_when_the_database_is_closed(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        ctx.find::<product::Entity>(stored.id).await.unwrap();
        let closed = timeout(Duration::from_secs(5), fixture.database.close()).await;
        assert!(closed.is_ok(), "a connection was kept back");
        let refused = ctx.find::<product::Entity>(stored.id).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn when_connections_are_lost_only_what_runs_on_them_fails() {
    let fixture = Fixture::start(Backend::Postgres).await;
    let ask = async |sql: &str| fixture.database.rows(fixture.database.statement(sql, [])).await;
    // As many as there may be: some of them wait in the pool afterwards.
    let most = DatabaseSettings::default().max_connections;
    futures::future::join_all((0..most).map(|_| ask("SELECT pg_sleep(0.1)"))).await;
    // Each is gone before the next one goes, and the one that asks goes last.
    let all = "SELECT pg_terminate_backend(pid, 10000) FROM (SELECT pid FROM pg_stat_activity \
               WHERE datname = current_database() ORDER BY pid = pg_backend_pid()) AS connected";
    assert!(ask(all).await.unwrap_err().is_transient());
    for _ in 0..12 {
        ask("SELECT 1").await.unwrap();
    }
    let ctx = fixture.in_organisation(1);
    ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
}

/// Pages in SQLite's log, and how many of them are in the database too.
async fn log(database: &Database) -> (i64, i64) {
    let sql = "PRAGMA wal_checkpoint(NOOP)";
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    let column = |index| rows[0].try_get_by_index(index).unwrap();
    (column(1), column(2))
}

/// Writes some pages in a transaction of their own.
async fn write_pages(database: &Database, count: i64) {
    let statement = database
        .statement("INSERT INTO pages (content) VALUES (zeroblob(?))", [(count * 4_096).into()]);
    database.execute(statement).await.unwrap();
}

async fn with_pages() -> Fixture {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let sql = "CREATE TABLE pages (id INTEGER PRIMARY KEY, content BLOB NOT NULL)";
    fixture.database.execute(fixture.database.statement(sql, [])).await.unwrap();
    fixture
}

#[tokio::test]
async fn the_log_of_sqlite_is_moved_into_the_database_as_far_as_nobody_reads_what_was() {
    let fixture = with_pages().await;
    let database = &fixture.database;
    let until_moved = async || {
        for _ in 0..500 {
            let (pages, moved) = log(database).await;
            if pages - moved < 1_000 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the log is as it was: {:?}", log(database).await);
    };
    let reader = database.reader().begin().await.unwrap();
    let sql = "SELECT COUNT(*) FROM pages";
    reader.query_one_raw(database.statement(sql, [])).await.unwrap();
    for _ in 0..30 {
        write_pages(database, 100).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (pages, moved) = log(database).await;
    assert!(pages > 3_000 && moved < 1_000, "{moved} of {pages} went past a reader");
    reader.rollback().await.unwrap();
    write_pages(database, 1).await;
    until_moved().await;
    // Once all of it is moved, the writer begins at its front again.
    for _ in 0..500 {
        if log(database).await.0 < 1_000 {
            return;
        }
        write_pages(database, 1).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the log only grows: {:?}", log(database).await);
}

#[tokio::test]
async fn the_log_of_sqlite_is_begun_anew_under_a_writer_that_never_pauses() {
    let fixture = with_pages().await;
    let database = &fixture.database;
    let (mut before, mut begun_anew) = (0, 0);
    while begun_anew < 3 {
        write_pages(database, 100).await;
        let (pages, _) = log(database).await;
        begun_anew += i32::from(pages < before);
        before = pages;
        assert!(pages < 100_000, "the log only grows: {pages} pages");
    }
    let sql = "PRAGMA integrity_check";
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    assert_eq!(rows[0].try_get_by_index::<String>(0).unwrap(), "ok");
}
