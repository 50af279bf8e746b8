use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use svc_application::{Application, Configured, Running};
use svc_core::settings::LoadOptions;
use svc_core::{App, Clock};
use svc_data::Context;
use svc_database::Backend;
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

use crate::client::Client;
use crate::database::ThrowAwayDatabase;
use crate::people::{People, PeopleModule, Person};

/// A key for secrets: 32 bytes in base64. Tests protect nothing that matters.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Where a test's clock begins.
const START: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

/// Makes the application under test: a function, so that it can be started again.
type MakeApplication = Arc<dyn Fn() -> Application + Send + Sync>;

/// A whole application on a throw-away database, whose clock is moved by hand.
///
/// Nothing runs in the background: messages, jobs and deliveries wait until [`TestApp::drain`].
pub struct TestApp {
    running: Running,
    clock: Clock,
    people: People,
    database: Arc<ThrowAwayDatabase>,
    make: MakeApplication,
    settings: Vec<String>,
}

/// Says how a [`TestApp`] starts.
pub struct TestAppBuilder {
    make: MakeApplication,
    settings: Vec<String>,
    clock: Clock,
}

impl TestAppBuilder {
    /// Sets a setting: `("Svc:Webhooks:RequireHttps", false)`.
    #[must_use]
    pub fn setting(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        self.settings.push(format!("--{key}={value}"));
        self
    }

    /// Begins the clock at another time than noon of 20 November 2026: for receivers that compare
    /// what they get with the machine's clock.
    #[must_use]
    pub fn beginning_at(self, beginning: OffsetDateTime) -> Self {
        Self { clock: Clock::manual(beginning), ..self }
    }

    /// Lets the application live by the machine's clock, which can't be moved: for benchmarks.
    #[must_use]
    pub fn in_real_time(self) -> Self {
        Self { clock: Clock::system(), ..self }
    }

    /// Starts the application on a database of its own.
    ///
    /// # Panics
    ///
    /// When it doesn't start, with the reason.
    pub async fn start(self, backend: Backend) -> TestApp {
        let Self { make, settings, clock } = self;
        let assembled = make().assemble().expect("modules that fit together");
        let options = LoadOptions { arguments: settings.clone(), ..LoadOptions::default() };
        let configured = assembled.configure(&options, Clock::manual(START)).expect("settings");
        let fingerprint = configured.migrations().fingerprint();
        // Only the schema is in the template: what a start stores hangs on settings and code.
        let migrate = async |url: &str| {
            let people = People::default();
            let configured = configure(&make, &settings, url, Clock::manual(START), &people);
            let connected = configured.connect().await.expect("a database");
            connected.migrate().await.expect("migrations that apply");
            connected.close().await;
        };
        let database = ThrowAwayDatabase::from_template(backend, &fingerprint, migrate).await;
        TestApp::on(make, settings, Arc::new(database), clock).await
    }
}

fn configure(
    make: &MakeApplication,
    settings: &[String],
    url: &str,
    clock: Clock,
    people: &People,
) -> Configured {
    let application = make().module(PeopleModule(people.clone()));
    let assembled = application.assemble().expect("modules that fit together");
    let mut arguments = settings.to_vec();
    arguments.push(format!("--Svc:Database:Url={url}"));
    arguments.push(format!("--Svc:DataProtection:Keys:0={KEY}"));
    let options = LoadOptions { arguments, ..LoadOptions::default() };
    assembled.configure(&options, clock).expect("settings")
}

async fn start(
    make: &MakeApplication,
    settings: &[String],
    url: &str,
    clock: Clock,
    people: &People,
) -> Running {
    let configured = configure(make, settings, url, clock, people);
    let connected = configured.connect().await.expect("a database");
    connected.start().await.expect("an application that starts")
}

impl TestApp {
    /// Begins an application; `make` is called for each start.
    #[must_use]
    pub fn builder(make: impl Fn() -> Application + Send + Sync + 'static) -> TestAppBuilder {
        TestAppBuilder { make: Arc::new(make), settings: Vec::new(), clock: Clock::manual(START) }
    }

    async fn on(
        make: MakeApplication,
        settings: Vec<String>,
        database: Arc<ThrowAwayDatabase>,
        clock: Clock,
    ) -> Self {
        let people = People::default();
        let running = start(&make, &settings, database.url(), clock.clone(), &people).await;
        Self { running, clock, people, database, make, settings }
    }

    /// Another node: the same application on the same database, with the same clock and people.
    ///
    /// # Panics
    ///
    /// When it doesn't start, with the reason.
    pub async fn another_node(&self) -> Self {
        self.another_node_with(&[]).await
    }

    /// Another node, with further settings.
    ///
    /// # Panics
    ///
    /// As [`TestApp::another_node`].
    pub async fn another_node_with(&self, settings: &[(&str, &str)]) -> Self {
        let mut all = self.settings.clone();
        all.extend(settings.iter().map(|(key, value)| format!("--{key}={value}")));
        let url = self.database.url();
        let people = self.people.clone();
        let running = start(&self.make, &all, url, self.clock.clone(), &people).await;
        Self {
            running,
            clock: self.clock.clone(),
            people,
            database: Arc::clone(&self.database),
            make: Arc::clone(&self.make),
            settings: all,
        }
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        self.running.app()
    }

    /// The running application, for what needs a socket.
    #[must_use]
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Answers requests by a socket, at the address that `Svc:Http:Listen` names (`127.0.0.1:0` for any port
    /// that is free), until the test ends. Nothing else runs in the background, as ever.
    ///
    /// # Panics
    ///
    /// When the address is taken.
    pub async fn listen(&self) -> SocketAddr {
        let server = self.running.bind().await.expect("an address that is free");
        let address = server.local_addr();
        tokio::spawn(server.serve(std::future::pending()));
        address
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> &ThrowAwayDatabase {
        &self.database
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Moves the clock forward. What becomes due is done by [`TestApp::drain`].
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Does everything that is due now, and says how many pieces of work that was.
    ///
    /// # Panics
    ///
    /// When a worker's store fails.
    pub async fn drain(&self) -> usize {
        self.app().drain().await.expect("workers whose store works")
    }

    /// Signs somebody in, as whoever the test says.
    #[must_use]
    pub fn sign_in(&self, person: &Person) -> Client {
        Client::new(self.running.host().router(), Some(self.people.admit(person)))
    }

    /// The person's client with an API key that is limited to a scope.
    #[must_use]
    pub fn sign_in_by_key(&self, person: &Person, key: Uuid, scope: &[&str]) -> Client {
        let credential = self.people.admit_key(person, key, scope);
        Client::new(self.running.host().router(), Some(credential))
    }

    /// Makes an API key unknown, as if it had been revoked.
    pub fn revoke_key(&self, key: Uuid) {
        self.people.revoke(key);
    }

    /// Somebody who isn't signed in.
    #[must_use]
    pub fn anonymous(&self) -> Client {
        Client::new(self.running.host().router(), None)
    }

    /// Makes a person unknown, as if the account had been disabled.
    pub fn dismiss(&self, person: &Person) {
        self.people.dismiss(person);
    }

    /// The context of a person, for calling commands directly.
    ///
    /// # Panics
    ///
    /// Never: a test application has a database.
    #[must_use]
    pub fn context(&self, person: &Person) -> Context {
        self.people.admit(person);
        let principal = Arc::new(person.principal());
        Context::new(self.app(), principal, self.clock.new_id()).expect("a database")
    }
}
