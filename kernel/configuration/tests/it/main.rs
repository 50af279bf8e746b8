//! Configuration from its sources to typed sections, as an operator and a developer see it.

mod problems;
mod rendering;
mod sources;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use svc_configuration::{
    ConnectionString, LoadOptions, Secret, Settings, SettingsBuilder, SettingsError, WebUrl,
};
use svc_configuration::{settings_choice, settings_group, settings_section};
use tempfile::TempDir;

settings_choice! {
    /// What a commit waits for.
    pub enum Durability {
        /// The operating system has the data.
        Normal = "normal",
        /// The disk has the data.
        Full = "full",
    }
}

settings_group! {
    /// Another provider of accounts.
    pub struct Provider {
        /// Name on the sign-in page.
        pub title: String, length(1..=20);
        /// Address of the provider.
        pub authority: Option<WebUrl> = None;
        /// What proves the application to the provider.
        pub client_secret: Option<Secret> = None, length(8..=40);
    }
}

settings_section! {
    /// Messages to other systems.
    pub struct WebhooksSettings in "Svc:Webhooks" {
        /// Whether only `https` is accepted.
        pub require_https: bool = true;
        /// Ports besides 443.
        pub allowed_ports: Vec<u16> = vec![], at_least(1);
        /// Time for one attempt.
        pub timeout: Duration = seconds(10), within(seconds(1)..=minutes(5));
        /// Attempts, the first included.
        pub max_attempts: u32 = 6, within(1..=100);
        /// Delay after the first failure.
        pub first_retry_delay: Duration = seconds(30);
        /// Longest delay.
        pub max_retry_delay: Duration = hours(6);
        /// Events by the name
        /// of their type.
        pub domain_events: BTreeMap<String, String> =
            [("WorkflowTransitioned".to_owned(), "workflow.transitioned".to_owned())].into(),
            length(1..=64);
    }
    validate: |settings, problems| {
        if settings.max_retry_delay < settings.first_retry_delay {
            problems.add("MaxRetryDelay", "at least `FirstRetryDelay`");
        }
    };
}

settings_section! {
    /// The set-up without a person.
    pub struct SetupSettings in "Svc:Setup" {
        /// Name of the first administrator.
        pub admin_name: Option<String> = None;
        /// Password of the first administrator.
        pub admin_password: Option<Secret> = None, length(12..=200);
        /// Keys that were used before.
        pub old_keys: Vec<Secret> = vec![];
        /// Passwords by service.
        pub service_passwords: BTreeMap<String, Secret> = BTreeMap::new();
    }
}

settings_section! {
    /// Where data is kept.
    pub struct DatabaseSettings in "Svc:Database" {
        /// Address of the database.
        pub url: ConnectionString = "sqlite:shop.db".parse().expect("the default is an address");
        /// What a commit waits for.
        pub durability: Durability = Durability::Normal;
        /// Largest answer in bytes. None means no limit.
        pub max_bytes: Option<u64> = Some(mebibytes(1)), at_least(kibibytes(1)).or(0);
        /// Share of time that delays vary.
        pub jitter: f64 = 0.0, within(0.0..=1.0);
    }
}

settings_section! {
    /// Signing in.
    pub struct AuthSettings in "Svc:Auth" {
        /// Other providers of accounts.
        pub providers: Vec<Provider> = vec![];
        /// The provider to try first.
        pub preferred: Provider = Provider { title: "own".to_owned(), authority: None, client_secret: None };
    }
}

settings_section! {
    /// Cookies of those who signed in, a section below another.
    pub struct CookieSettings in "Svc:Auth:Cookies" {
        /// Days until a cookie ends.
        pub days: i32 = 14, at_most(365);
        /// Age at which a cookie is renewed; the bound calls what the field above is named.
        pub renewal: Duration = hours(1), at_most(days(30));
        /// Where the page listens.
        pub listen: std::net::SocketAddr = std::net::SocketAddr::from(([127, 0, 0, 1], 8080));
        /// Where keys are kept.
        pub folder: std::path::PathBuf = "keys".into();
    }
}

/// Sources of one test: a folder with files, variables and arguments.
struct Sources {
    folder: TempDir,
    options: LoadOptions,
}

impl Sources {
    fn none() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let options = LoadOptions {
            working_directory: Some(folder.path().to_owned()),
            ..LoadOptions::default()
        };
        Self { folder, options }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).expect("a file can be written");
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.options.environment_variables.push((OsString::from(name), OsString::from(value)));
        self
    }

    fn arguments(mut self, arguments: &[&str]) -> Self {
        self.options.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    fn builder(&self) -> SettingsBuilder {
        SettingsBuilder::load(&self.options)
    }

    fn finish(&self) -> Result<Settings, SettingsError> {
        let mut builder = self.builder();
        builder
            .declare::<WebhooksSettings>()
            .declare::<SetupSettings>()
            .declare::<DatabaseSettings>()
            .declare::<AuthSettings>()
            .declare::<CookieSettings>();
        builder.finish()
    }

    /// The settings, which these sources are meant to give.
    fn settings(&self) -> Settings {
        self.finish().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The lines of the problems that these sources are meant to have.
    fn problems(&self) -> Vec<String> {
        match self.finish() {
            Ok(settings) => panic!("no problem was found:\n{}", settings.render()),
            Err(error) => error.to_string().lines().map(str::to_owned).collect(),
        }
    }
}

fn text(value: &str) -> String {
    value.to_owned()
}
