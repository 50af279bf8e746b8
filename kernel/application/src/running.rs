use svc_core::{App, Result};
use svc_database::Database;
use svc_http::{Host, Server};

/// An application that is ready to work: migrated, with every service built.
pub struct Running {
    app: App,
    database: Database,
    host: Host,
}

impl Running {
    pub(crate) fn new(app: App, host: Host, database: Database) -> Self {
        Self { app, database, host }
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The HTTP host, for tests that call it without a socket.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Takes the address that the settings name. Nothing is answered before
    /// [`Running::serve`].
    ///
    /// # Errors
    ///
    /// As [`Server::bind`].
    pub async fn bind(&self) -> Result<Server> {
        Server::bind(&self.host).await
    }

    /// Runs the workers and answers requests until `stop` resolves. Then requests in flight are
    /// finished, workers finish or hand back what they were doing, and the database is closed.
    ///
    /// # Errors
    ///
    /// As [`Server::serve`].
    pub async fn serve(self, server: Server, stop: impl Future<Output = ()> + Send) -> Result<()> {
        self.app.start_workers();
        let outcome = server.serve(stop).await;
        self.stop().await;
        outcome
    }

    /// Stops the workers and closes the database.
    pub async fn stop(self) {
        self.app.stop().await;
        self.database.close().await;
    }
}
