//! The least that a queue in a table does, with sqlx and nothing else.

use std::time::Instant;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, QueryBuilder, Row as _, Sqlite, SqlitePool};
use svc_database::Database;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{CLAIMED_AT_ONCE, ENQUEUED_AT_ONCE, Speed};

const TABLE: &str = "CREATE TABLE bare_queue (id UUID PRIMARY KEY, payload TEXT NOT NULL, \
     state SMALLINT NOT NULL, run_at_us BIGINT NOT NULL, token UUID)";
const INDEX: &str = "CREATE INDEX bare_queue_due ON bare_queue (run_at_us, id) WHERE state = 0";
const STORAGE: &str =
    "ALTER TABLE bare_queue SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)";

pub(crate) enum Queue {
    Postgres { pool: PgPool, last_id: u128 },
    Sqlite { pool: SqlitePool, last_id: u128 },
}

impl Queue {
    pub(crate) async fn create(database: &Database, url: &str) -> Self {
        if let Some(pool) = database.postgres() {
            let pool = pool.clone();
            sqlx::query(TABLE).execute(&pool).await.unwrap();
            sqlx::query(INDEX).execute(&pool).await.unwrap();
            sqlx::query(STORAGE).execute(&pool).await.unwrap();
            return Self::Postgres { pool, last_id: 0 };
        }
        // A file of its own, opened as the application opens its own.
        let options = format!("{url}.bare").parse::<SqliteConnectOptions>().unwrap();
        let options = options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal);
        let one = SqlitePoolOptions::new().max_connections(1);
        let pool = one.connect_with(options).await.unwrap();
        sqlx::query(TABLE).execute(&pool).await.unwrap();
        sqlx::query(INDEX).execute(&pool).await.unwrap();
        Self::Sqlite { pool, last_id: 0 }
    }

    pub(crate) async fn throughput(&mut self, jobs: usize) -> Speed {
        let began = Instant::now();
        for _ in 0..jobs / ENQUEUED_AT_ONCE {
            self.enqueue().await;
        }
        let enqueuing = began.elapsed();
        let began = Instant::now();
        let mut run = 0;
        while run < jobs {
            let claimed = self.claim().await;
            let mut tasks = JoinSet::new();
            for id in &claimed {
                let id = *id;
                tasks.spawn(async move { id });
            }
            let done = tasks.join_all().await;
            run += done.len();
            self.complete(&done).await;
        }
        Speed::of(jobs, enqueuing, began.elapsed())
    }

    fn new_ids(last_id: &mut u128) -> Vec<Uuid> {
        let ids = (0..ENQUEUED_AT_ONCE).map(|_| {
            *last_id += 1;
            Uuid::from_u128(*last_id)
        });
        ids.collect()
    }

    async fn enqueue(&mut self) {
        match self {
            Self::Postgres { pool, last_id } => {
                let sql = "INSERT INTO bare_queue SELECT id, '{}', 0, 1 FROM unnest($1) AS r(id)";
                sqlx::query(sql).bind(Self::new_ids(last_id)).execute(&*pool).await.unwrap();
            }
            Self::Sqlite { pool, last_id } => {
                let mut insert = QueryBuilder::<Sqlite>::new(
                    "INSERT INTO bare_queue (id, payload, state, run_at_us) ",
                );
                insert.push_values(Self::new_ids(last_id), |mut row, id| {
                    row.push_bind(id).push("'{}'").push("0").push("1");
                });
                insert.build().execute(&*pool).await.unwrap();
            }
        }
    }

    async fn claim(&self) -> Vec<Uuid> {
        let limit = i64::try_from(CLAIMED_AT_ONCE).unwrap();
        let token = Uuid::from_u128(7);
        match self {
            Self::Postgres { pool, .. } => {
                let sql = "WITH due AS MATERIALIZED (SELECT id FROM bare_queue WHERE state = 0 \
                     AND run_at_us <= $1 ORDER BY run_at_us, id LIMIT $2 FOR UPDATE SKIP LOCKED) \
                     UPDATE bare_queue q SET state = 1, token = $3 FROM due WHERE q.id = due.id \
                     RETURNING q.id, q.payload";
                let query = sqlx::query(sql).bind(1_i64).bind(limit).bind(token);
                let rows = query.fetch_all(pool).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Sqlite { pool, .. } => {
                let sql = "UPDATE bare_queue SET state = 1, token = ?3 WHERE id IN (SELECT id \
                     FROM bare_queue WHERE state = 0 AND run_at_us <= ?1 \
                     ORDER BY run_at_us, id LIMIT ?2) RETURNING id, payload";
                let query = sqlx::query(sql).bind(1_i64).bind(limit).bind(token);
                let rows = query.fetch_all(pool).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }

    async fn complete(&self, ids: &[Uuid]) {
        match self {
            Self::Postgres { pool, .. } => {
                let sql = "DELETE FROM bare_queue q USING unnest($1) AS r(id) WHERE q.id = r.id";
                sqlx::query(sql).bind(ids).execute(pool).await.unwrap();
            }
            Self::Sqlite { pool, .. } => {
                let mut delete = QueryBuilder::<Sqlite>::new("DELETE FROM bare_queue WHERE id IN ");
                delete.push_tuples(ids, |mut row, id| {
                    row.push_bind(*id);
                });
                delete.build().execute(pool).await.unwrap();
            }
        }
    }
}
