use sea_orm::ConnectionTrait as _;
use svc_core::{ErrorKind, Registry};
use svc_data::Prepared;
use svc_database::Migration;
use svc_testing::on_both_databases;

use crate::fixture::{Fixture, MIGRATION};

fn prepare(steps: &'static [Migration]) -> Prepared {
    struct Shop(&'static [Migration]);
    impl svc_core::Module for Shop {
        fn configure(&self, registry: &mut Registry) {
            svc_data::DataRegistry::migrations(registry, self.0.iter().copied());
        }
    }
    let mut assembly = Registry::assemble(vec![Box::new(Shop(steps))]).unwrap();
    Prepared::from_assembly(&mut assembly)
}

const EDITED: Migration = Migration::new("0001_products", "CREATE TABLE other (id BIGINT);");
const SECOND: Migration =
    Migration::new("0002_notes", "CREATE TABLE notes (id BIGINT PRIMARY KEY);");
const BROKEN: Migration =
    Migration::new("0002_notes", "CREATE TABLE notes (id BIGINT); INSERT INTO nowhere VALUES (1);");

on_both_databases! {
    async fn what_is_pending_is_applied_once(backend) {
        let fixture = Fixture::start(backend).await;
        let prepared = prepare(&[MIGRATION, SECOND]);
        let migrations = prepared.migrations();
        let pending = migrations.pending(&fixture.database).await.unwrap();
        assert_eq!(pending.iter().map(|step| step.name).collect::<Vec<_>>(), ["0002_notes"]);
        let applied = migrations.apply(&fixture.database, &fixture.clock).await.unwrap();
        assert_eq!(applied, pending);
        assert_eq!(migrations.apply(&fixture.database, &fixture.clock).await.unwrap(), []);
    }

    async fn an_edited_or_unknown_migration_stops_the_start(backend) {
        let fixture = Fixture::start(backend).await;
        let edited = prepare(&[EDITED]);
        let refusal = edited.migrations().pending(&fixture.database).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        assert!(refusal.message().contains("was edited after it was applied"), "{refusal}");
        let older = prepare(&[]);
        let refusal = older.migrations().apply(&fixture.database, &fixture.clock).await;
        assert!(refusal.unwrap_err().message().contains("at least as new"));
    }

    async fn a_migration_that_fails_leaves_nothing_of_itself(backend) {
        let fixture = Fixture::start(backend).await;
        let broken = prepare(&[MIGRATION, BROKEN]);
        let failure = broken.migrations().apply(&fixture.database, &fixture.clock).await;
        assert!(failure.unwrap_err().report().contains("migration `0002_notes`"));
        let notes = fixture.database.reader().query_all_raw(
            fixture.database.statement("SELECT 1 FROM notes", []),
        );
        assert!(notes.await.is_err());
        let mended = prepare(&[MIGRATION, SECOND]);
        let applied = mended.migrations().apply(&fixture.database, &fixture.clock).await.unwrap();
        assert_eq!(applied.len(), 1);
    }

    async fn nodes_that_start_together_apply_each_step_once(backend) {
        let fixture = Fixture::start(backend).await;
        let starts = (0..4).map(|_| {
            let (database, clock) = (fixture.database.clone(), fixture.clock.clone());
            tokio::spawn(async move {
                let prepared = prepare(&[MIGRATION, SECOND]);
                prepared.migrations().apply(&database, &clock).await.unwrap().len()
            })
        });
        let applied = futures::future::join_all(starts).await;
        let applied: usize = applied.into_iter().map(Result::unwrap).sum();
        assert_eq!(applied, 1);
    }
}
