//! Throw-away databases of either kind, cloned from a template that is migrated once.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU32, Ordering};

use svc_database::{Backend, Database};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

/// The variable that names a PostgreSQL server for tests, with a role that may create databases.
pub const POSTGRES_VARIABLE: &str = "SVC_TEST_POSTGRES";

/// A connection of its own that writes to the SQLite file of a connected database, past it.
///
/// # Panics
///
/// When it is PostgreSQL, or the file can't be opened.
pub async fn sqlite_writer(database: &Database) -> SqlitePool {
    let readers = database.reader().get_sqlite_connection_pool();
    let options = readers.connect_options().as_ref().clone().pragma("query_only", "off");
    let pool = SqlitePoolOptions::new().max_connections(1).test_before_acquire(false);
    pool.connect_with(options).await.expect("the file of the database can be opened")
}

/// A database that is removed when the value is dropped.
#[derive(Debug)]
pub struct ThrowAwayDatabase {
    url: String,
    remains: Remains,
}

#[derive(Debug)]
enum Remains {
    Folder { _folder: tempfile::TempDir },
    Postgres { server: String, name: String },
}

impl ThrowAwayDatabase {
    /// An empty database.
    ///
    /// # Panics
    ///
    /// When it can't be made, with what is missing.
    pub async fn empty(backend: Backend) -> Self {
        match backend {
            Backend::Sqlite => sqlite(None),
            Backend::Postgres => postgres("template0").await,
        }
    }

    /// A copy of the template of this fingerprint, which `migrate` fills when nobody has yet.
    ///
    /// # Panics
    ///
    /// When it can't be made, with what is missing.
    pub async fn from_template(
        backend: Backend,
        fingerprint: &str,
        migrate: impl AsyncFnOnce(&str),
    ) -> Self {
        match backend {
            Backend::Sqlite => sqlite(Some(&sqlite_template(fingerprint, migrate).await)),
            Backend::Postgres => postgres(&postgres_template(fingerprint, migrate).await).await,
        }
    }

    /// The URL of the database, as `Svc:Database:Url` takes it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Keeps everybody from the PostgreSQL database, or lets them in again: an outage.
    ///
    /// # Panics
    ///
    /// When it is SQLite, which is a file that can't go away, or the server can't be reached.
    pub async fn lock_out(&self, is_locked_out: bool) {
        let Remains::Postgres { server, name } = &self.remains else {
            panic!("SQLite has nobody who could keep others out");
        };
        let mut connection = connect(server).await;
        for sql in [
            format!("ALTER DATABASE \"{name}\" ALLOW_CONNECTIONS {}", !is_locked_out),
            format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            ),
        ] {
            connection.execute(AssertSqlSafe(sql)).await.expect("an outage of the database");
        }
    }

    /// Which database it is.
    #[must_use]
    pub fn backend(&self) -> Backend {
        match self.remains {
            Remains::Folder { .. } => Backend::Sqlite,
            Remains::Postgres { .. } => Backend::Postgres,
        }
    }
}

impl Drop for ThrowAwayDatabase {
    fn drop(&mut self) {
        let Remains::Postgres { server, name } = &self.remains else { return };
        let (server, name) = (server.clone(), name.clone());
        // A destructor can't wait for a future of the test's runtime, so it brings its own. The
        // server is thrown away too, so a database that can't be dropped does no harm.
        let dropped = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&server).await.ok()?;
                let drop = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
                connection.execute(AssertSqlSafe(drop)).await.ok()
            })
        });
        let _ = dropped.join();
    }
}

fn sqlite(template: Option<&Path>) -> ThrowAwayDatabase {
    let folder = tempfile::tempdir().expect("a folder for the test's database");
    let file = folder.path().join("test.db");
    if let Some(template) = template {
        std::fs::copy(template, &file).expect("a copy of the migrated template");
    }
    let url = format!("sqlite://{}", file.display());
    ThrowAwayDatabase { url, remains: Remains::Folder { _folder: folder } }
}

async fn sqlite_template(fingerprint: &str, migrate: impl AsyncFnOnce(&str)) -> PathBuf {
    let folder = std::env::temp_dir().join("svc-test-templates");
    std::fs::create_dir_all(&folder).expect("a folder for migrated templates");
    let template = folder.join(format!("{fingerprint}.db"));
    if !template.exists() {
        // Several tests may do this at once; each makes its own file, and the last one's stays.
        let making = tempfile::tempdir_in(&folder).expect("a folder to make a template in");
        let file = making.path().join("template.db");
        migrate(&format!("sqlite://{}", file.display())).await;
        std::fs::rename(&file, &template).expect("the finished template in its place");
    }
    template
}

fn server() -> String {
    std::env::var(POSTGRES_VARIABLE).unwrap_or_else(|_| {
        panic!(
            "the tests need a PostgreSQL server: run them with `cargo xtask test`, or start one \
             with `cargo xtask postgres` and set {POSTGRES_VARIABLE} as it says"
        )
    })
}

fn database_on(server: &str, name: &str) -> String {
    let options = PgConnectOptions::from_str(server).expect("a PostgreSQL URL");
    sqlx::ConnectOptions::to_url_lossy(&options.database(name)).to_string()
}

async fn postgres(template: &str) -> ThrowAwayDatabase {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = server();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("svc_test_{}_{number}", std::process::id());
    let mut connection = connect(&server).await;
    for sql in [
        format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
        format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\" STRATEGY FILE_COPY"),
    ] {
        connection.execute(AssertSqlSafe(sql)).await.expect("a database for the test");
    }
    let url = database_on(&server, &name);
    ThrowAwayDatabase { url, remains: Remains::Postgres { server, name } }
}

async fn connect(server: &str) -> PgConnection {
    PgConnection::connect(server).await.expect("a connection to the test server")
}

async fn postgres_template(fingerprint: &str, migrate: impl AsyncFnOnce(&str)) -> String {
    let server = server();
    let name = format!("svc_template_{fingerprint}");
    let mut connection = connect(&server).await;
    // One at a time: a template that is being filled can't be copied.
    connection.execute("SELECT pg_advisory_lock(7310021)").await.expect("the templates' lock");
    let known: Option<i32> = sqlx::query_scalar("SELECT 1 FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_optional(&mut connection)
        .await
        .expect("the list of databases");
    if known.is_none() {
        let making = format!("{name}_making");
        for sql in [
            format!("DROP DATABASE IF EXISTS \"{making}\" WITH (FORCE)"),
            format!("CREATE DATABASE \"{making}\" TEMPLATE template0"),
        ] {
            connection.execute(AssertSqlSafe(sql)).await.expect("a database for the template");
        }
        migrate(&database_on(&server, &making)).await;
        let rename = format!("ALTER DATABASE \"{making}\" RENAME TO \"{name}\"");
        connection.execute(AssertSqlSafe(rename)).await.expect("the finished template");
    }
    // Closing the connection gives the lock back.
    let _ = connection.close().await;
    name
}
