//! The outbox on both databases: each test runs on a SQLite file and on a PostgreSQL database of
//! its own, on the server that `SVC_TEST_POSTGRES` names.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod changes;
mod dead_letters;
mod events;
mod failures;
mod nodes;
mod turns;
mod world;

/// Runs each test on both databases.
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::world::Place::sqlite()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::world::Place::postgres().await).await;
            })+
        }
    };
}
pub(crate) use on_both_databases;
