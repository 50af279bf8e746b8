//! What somebody would write by hand for these very requests, with axum, sqlx and serde.
//!
//! It takes a bearer key as the application does (its digest, looked up by an index, and kept in
//! memory for five seconds), keeps to the key's organisation, and has the same pools of connections; on
//! SQLite a writer of its own, set up alike.
//! It knows no permissions, no hidden properties, no query options, and no errors but its own.

mod answers;
mod handlers;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use axum::serve::Listener;
use sha2::{Digest as _, Sha256};
use sqlx::PgPool;
use svc_database::{Backend, Database};
use svc_testing::sqlite_writer;
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use handlers::{postgres, sqlite};

/// How long a key is known without being looked up.
const KEPT: Duration = Duration::from_secs(5);

/// Organisations by the hash of a key, with when it was looked up.
type Known = HashMap<[u8; 32], (Uuid, Instant)>;

/// The keys that were looked up lately, with their organisations.
#[derive(Clone, Default)]
struct Keys(Arc<Mutex<Known>>);

impl Keys {
    /// The organisation of the key in a request, which `look_up` finds where it isn't known.
    async fn organisation<F>(&self, headers: &HeaderMap, look_up: impl FnOnce(Vec<u8>) -> F) -> Uuid
    where
        F: Future<Output = Uuid>,
    {
        let key = headers["authorization"].to_str().unwrap().strip_prefix("Bearer ").unwrap();
        let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        let known = self.0.lock().unwrap().get(&hash).copied();
        if let Some((organisation, since)) = known
            && since.elapsed() < KEPT
        {
            return organisation;
        }
        let organisation = look_up(hash.to_vec()).await;
        self.0.lock().unwrap().insert(hash, (organisation, Instant::now()));
        organisation
    }
}

#[derive(Clone)]
struct State<P> {
    read: P,
    write: P,
    keys: Keys,
}

pub(crate) async fn router(database: &Database) -> Router {
    let (read, keys) = (database.reader(), Keys::default());
    match database.backend() {
        Backend::Sqlite => {
            let read = read.get_sqlite_connection_pool().clone();
            let state = State { read, write: sqlite_writer(database).await, keys };
            Router::new()
                .route("/products/{id}", get(sqlite::one))
                .route("/products", get(sqlite::page).post(sqlite::create))
                .route("/products/with-category", get(sqlite::with_category))
                .route("/products/with-lines", get(sqlite::with_lines))
                .with_state(state)
        }
        Backend::Postgres => {
            let pool = read.get_postgres_connection_pool();
            let state: State<PgPool> = State { read: pool.clone(), write: pool.clone(), keys };
            Router::new()
                .route("/products/{id}", get(postgres::one))
                .route("/products", get(postgres::page).post(postgres::create))
                .route("/products/with-category", get(postgres::with_category))
                .route("/products/with-lines", get(postgres::with_lines))
                .with_state(state)
        }
    }
}

/// A listener whose connections send at once, as ours do.
pub(crate) struct NoDelay(pub(crate) TcpListener);

impl Listener for NoDelay {
    type Io = TcpStream;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (TcpStream, Self::Addr) {
        let (stream, address) = self.0.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}
