use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use svc_testing::{Program, ThrowAwayDatabase};
use tempfile::TempDir;

use crate::{Answer, Client};

/// The key of the unattended set-up.
pub const API_KEY: &str = "svck_e2e_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

/// How long a start may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The `shop` program, in a fresh folder, with a database of its own.
#[derive(Debug)]
pub struct Shop {
    /// Before what it uses: the process ends before its folder and its database go.
    run: Option<Run>,
    program: PathBuf,
    folder: Arc<TempDir>,
    database: Option<ThrowAwayDatabase>,
    settings: Vec<String>,
}

/// A process of the program, and who calls it once it is ready.
#[derive(Debug)]
struct Run {
    program: Program,
    client: Option<Client>,
}

impl Shop {
    /// Prepares the program with unattended set-up, and starts nothing yet. Without a database it
    /// uses its default: a file in its folder. Endpoints may be on this machine, on these ports.
    ///
    /// # Panics
    ///
    /// When there is no room for its folder.
    #[must_use]
    pub fn prepare(database: Option<ThrowAwayDatabase>, receiver_ports: &[u16]) -> Self {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let mut settings: Vec<String> = [
            "Http:Listen=127.0.0.1:0",
            "Sample:Data=false",
            "Setup:Organisation=Lamps & Co",
            "Setup:AdminEmail=ada@example.com",
            "Setup:AdminPassword=correct horse battery",
            &format!("Setup:ApiKey={API_KEY}"),
            "Webhooks:RequireHttps=false",
            "Webhooks:AllowPrivateNetworks=true",
            "Webhooks:FirstRetryDelay=00:00:01",
        ]
        .map(|setting| format!("--Svc:{setting}"))
        .into();
        for (index, port) in receiver_ports.iter().enumerate() {
            settings.push(format!("--Svc:Webhooks:AllowedPorts:{index}={port}"));
        }
        if let Some(database) = &database {
            settings.push(format!("--Svc:Database:Url={}", database.url()));
        }
        let program = crate::variable("SVC_SHOP_BINARY").into();
        Self { run: None, program, folder: Arc::new(folder), database, settings }
    }

    /// Takes another program that has all of the shop.
    #[must_use]
    pub fn of_program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// Another node: a process of its own in the same folder, on the same database. It isn't started yet.
    #[must_use]
    pub fn another_node(&self) -> Self {
        let (folder, settings) = (Arc::clone(&self.folder), self.settings.clone());
        Self { run: None, program: self.program.clone(), folder, database: None, settings }
    }

    /// Whether a process was begun, and not killed.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Adds a setting, such as `("Database:Durability", "full")`, from the next start on.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.settings.push(format!("--Svc:{key}={value}"));
        self
    }

    /// Prepares the program, and starts it.
    ///
    /// # Panics
    ///
    /// When it doesn't get ready in a minute.
    #[must_use]
    pub fn start(database: Option<ThrowAwayDatabase>, receiver_ports: &[u16]) -> Self {
        let mut shop = Self::prepare(database, receiver_ports);
        shop.start_again();
        shop
    }

    /// Begins a process of the program, and waits for nothing.
    ///
    /// # Panics
    ///
    /// When it can't be begun.
    pub fn begin(&mut self) {
        let program = Program::begin(&self.program, self.folder.path(), &self.settings);
        self.run = Some(Run { program, client: None });
    }

    /// Whether the program gets ready in this time.
    ///
    /// # Panics
    ///
    /// When the process has ended by itself, or none was begun.
    pub fn is_ready_within(&mut self, time: Duration) -> bool {
        let run = self.run.as_mut().expect("a process was begun");
        let url = run.program.url_within(time).map(str::to_owned);
        if run.client.is_none() {
            run.client = url.map(Client::new);
        }
        run.client.is_some()
    }

    /// Starts the program, again in the same folder and on the same database.
    ///
    /// # Panics
    ///
    /// As [`Shop::start`].
    pub fn start_again(&mut self) {
        self.begin();
        assert!(self.is_ready_within(PATIENCE), "the shop is not ready in {PATIENCE:?}");
    }

    /// Ends the process at once, whatever it is doing (`kill -9`).
    ///
    /// # Panics
    ///
    /// When it can't be killed.
    pub fn kill(&mut self) {
        if let Some(run) = self.run.take() {
            run.program.kill();
        }
    }

    /// The database, where it isn't the default file.
    #[must_use]
    pub fn database(&self) -> Option<&ThrowAwayDatabase> {
        self.database.as_ref()
    }

    /// Who calls the running program.
    ///
    /// # Panics
    ///
    /// When it isn't ready.
    #[must_use]
    pub fn client(&self) -> &Client {
        let client = self.run.as_ref().and_then(|run| run.client.as_ref());
        client.expect("the program is ready")
    }

    /// Whether events wait to be told, or deliveries to be sent and recorded. What takes the program too long to
    /// measure is left out of its answer: then something may still wait.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        // First what comes first, so that nothing moves past the look.
        ["svc_outbox_ready{", "svc_webhooks_deliveries_waiting "].into_iter().any(|name| {
            let metrics = self.send("GET", "/metrics", None).text;
            let mut lines = metrics.lines().filter(|line| line.starts_with(name)).peekable();
            lines.peek().is_none() || lines.any(|line| !line.ends_with(" 0"))
        })
    }

    /// Sends a request as the administrator.
    ///
    /// # Panics
    ///
    /// When the program doesn't answer.
    #[must_use]
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.client().send(method, path, body).expect("the program answers")
    }

    /// Sends a request that must succeed with this status, and answers with its JSON.
    ///
    /// # Panics
    ///
    /// When it doesn't.
    #[expect(clippy::must_use_candidate, reason = "often only the status matters")]
    pub fn expect(&self, status: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.send(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.json);
        answer.json
    }
}
