use std::time::Duration;

use svc_core::settings::{ConnectionString, SectionProblems};

use crate::backend::Backend;

svc_core::settings_choice! {
    /// What a commit on SQLite waits for.
    pub enum Durability {
        /// The operating system has the data: a crash of the process loses nothing, a power cut
        /// may lose the last commits as a whole, change and event together.
        Normal = "normal",
        /// The disk has the data.
        Full = "full",
    }
}

svc_core::settings_section! {
    /// Where data is kept.
    pub struct DatabaseSettings in "Svc:Database" {
        /// `sqlite://<file>` or `postgres://<user>:<password>@<host>/<database>`.
        /// None is `sqlite://<application>.db` in the working directory.
        pub url: Option<ConnectionString> = None;
        /// Connections at most: all of them on PostgreSQL, those that read on SQLite, which has
        /// one more that writes. Requests take at most 80 % of them, those of one organisation 90 %
        /// of that, and those of one person 75 %; the rest is for background work.
        pub max_connections: u32 = 10, within(1..=1_000);
        /// Connections beside these, for looking up who calls and for readiness: they never wait
        /// behind requests.
        pub reserved_connections: u32 = 2, within(1..=100);
        /// What a commit on SQLite waits for.
        pub durability: Durability = Durability::Normal;
        /// How long a request waits for a free connection before it is refused.
        pub acquire_timeout: Duration = seconds(10), within(seconds(1)..=seconds(300));
        /// How long SQLite waits for another process that is writing to the file.
        pub busy_timeout: Duration = seconds(5), within(seconds(0)..=seconds(300));
        /// How long one statement may take until it is ended. Zero means no limit. Migrations take
        /// as long as they need. On SQLite what is ended takes its whole unit of work with it.
        pub statement_timeout: Duration = seconds(30), within(seconds(0)..=seconds(3_600));
        /// How long a unit of work of a request may keep SQLite's one writer from others until it is
        /// ended and undone. Jobs and commands take as long as they need.
        pub write_turn: Duration = seconds(5), within(milliseconds(100)..=seconds(300));
    }
    validate: check_url;
}

svc_core::settings_section! {
    /// How the database's schema is brought up to date.
    pub struct MigrationSettings in "Svc:Migrations" {
        /// Attempts to reach a database that is not up yet, with growing pauses of at most five
        /// seconds.
        pub attempts: u32 = 30, within(1..=10_000);
        /// Whether a start applies what is pending. Without, a pending migration stops the start,
        /// and `migrate` applies it.
        pub on_start: bool = true;
    }
}

impl DatabaseSettings {
    /// The URL of the database, which is a file named after the application where none is set.
    #[must_use]
    pub fn url_for(&self, application: &str) -> String {
        match &self.url {
            Some(url) => url.expose().to_owned(),
            None => format!("sqlite://{application}.db"),
        }
    }
}

fn check_url(settings: &DatabaseSettings, problems: &mut SectionProblems) {
    if let Some(Err(expected)) = settings.url.as_ref().map(|url| Backend::of_url(url.expose())) {
        problems.add("Url", expected);
    }
}
