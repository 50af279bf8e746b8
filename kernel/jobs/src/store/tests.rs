//! What statements read, whatever the database believes the queue to hold.

use svc_core::settings::{LoadOptions, Settings};
use svc_core::{App, Clock, Registry};
use svc_data::{DataModule, Prepared};
use svc_testing::{Backend, ThrowAwayDatabase, on_both_databases};

use super::*;
use crate::JobsModule;

/// An empty queue.
async fn queue(throw_away: &ThrowAwayDatabase) -> Store {
    let mut assembly =
        Registry::assemble(vec![Box::new(DataModule), Box::new(JobsModule)]).unwrap();
    let arguments = vec![format!("--Svc:Database:Url={}", throw_away.url())];
    let mut settings = Settings::load(&LoadOptions { arguments, ..LoadOptions::default() });
    settings.declare_all(assembly.sections().iter().copied());
    let app = App::new("queue", Clock::system(), settings.finish().unwrap());
    let prepared = Prepared::from_assembly(&mut assembly);
    let database = prepared.connect(&app).await.unwrap();
    prepared.migrate(&app, &database).await.unwrap();
    Store::new(database)
}

impl Store {
    async fn run(&self, sql: &str) {
        self.execute(self.database.statement(sql, [])).await.unwrap();
    }

    /// Has jobs of these numbers wait, of one organisation.
    async fn have_waiting(&self, first: usize, last: usize) {
        let [id, organisation] = match self.database.backend() {
            Backend::Sqlite => ["unhex(printf('02%030x', i))", "zeroblob(16)"],
            Backend::Postgres => {
                ["CAST('02' || lpad(to_hex(i), 30, '0') AS uuid)", "CAST(repeat('0', 32) AS uuid)"]
            }
        };
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}) \
             INSERT INTO jobs_queue (id, organisation_id, kind, payload, state, run_at_us, attempts, \
             max_attempts, unique_while_running, watched, created_at_us, actor_name, correlation) \
             SELECT {id}, {organisation}, 'tests.act', '{{}}', 0, i, 0, 3, false, false, 0, 'Ada', {id} \
             FROM n"
        );
        self.run(&sql).await;
    }
}

on_both_databases! {
    async fn statements_read_their_own_jobs_alone(backend) {
        let throw_away = ThrowAwayDatabase::empty(backend).await;
        let store = queue(&throw_away).await;
        // When a burst begins, the statistics are of a queue that holds next to nothing: on PostgreSQL for up to a
        // minute, on SQLite until the next look at them, which comes within seconds.
        store.have_waiting(1, 1).await;
        store.run("ANALYZE").await;
        store.have_waiting(2, 5_000).await;
        store.database.gather_statistics().await.unwrap();
        let claim = Claim { owner: Uuid::nil(), token: Uuid::nil(), now_us: 9_000, until_us: 9_001 };
        let due = store.due(claim.now_us, 100).await.unwrap();
        assert_eq!(due.len(), 100);
        let leases: Vec<Lease> =
            due.iter().map(|due| Lease { id: due.id, token: claim.token }).collect();
        let kept = leases.iter().map(|lease| {
            let (state, run_at_us) = (JobState::Waiting, Some(9_000));
            let to = Settled::Kept { state, run_at_us, handed_back: true, error: None };
            Settlement { lease: *lease, to, progress: None }
        });
        let kept: Vec<Settlement> = kept.collect();
        let kept: Vec<_> = kept.iter().filter_map(Settlement::cells).collect();
        let said: Vec<_> = leases.iter().map(|lease| (*lease, Progress::default())).collect();
        for statement in [
            store.claim_statement(claim, &due),
            store.delete_statement(&leases),
            store.settle_statement(&kept, 9_000),
            store.progress_statement(&said),
        ] {
            let plan = store.database.explain(statement).await.unwrap().join("\n");
            for all in ["_due", "_turns", "_running", "Seq Scan", "SCAN jobs_queue", "SCAN q"] {
                assert!(!plan.contains(all), "{plan}");
            }
        }
        assert_eq!(store.claim(claim, &due).await.unwrap().len(), 100);
        assert_eq!(store.claim(claim, &due).await.unwrap().len(), 0, "they are claimed");
    }
}
