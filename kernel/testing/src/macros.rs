/// Declares tests that run on SQLite and on PostgreSQL.
///
/// Each function takes a [`Backend`](svc_database::Backend) and becomes a module of its name with the
/// tests `sqlite` and `postgres`, so that a failure names the database.
///
/// ```no_run
/// svc_testing::on_both_databases! {
///     async fn a_record_that_is_stored_is_found(backend) {
///         let database = svc_testing::ThrowAwayDatabase::empty(backend).await;
///         assert_eq!(database.backend(), backend);
///     }
/// }
/// ```
#[macro_export]
macro_rules! on_both_databases {
    ($($(#[$attribute:meta])* async fn $name:ident($backend:ident) $body:block)+) => {
        $(
            $(#[$attribute])*
            mod $name {
                #[allow(unused_imports, reason = "a test may name everything beside it")]
                use super::*;

                async fn run($backend: $crate::Backend) $body

                #[tokio::test]
                async fn sqlite() {
                    run($crate::Backend::Sqlite).await;
                }

                #[tokio::test]
                async fn postgres() {
                    run($crate::Backend::Postgres).await;
                }
            }
        )+
    };
}
