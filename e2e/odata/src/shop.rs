use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use svc_testing::{Backend, Program, ThrowAwayDatabase};
use tempfile::TempDir;

/// The key of the unattended set-up.
const ADMIN_KEY: &str = "svck_e2e_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

/// How long a start may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The `shop` program with its sample data, in a fresh folder, with a database of its own.
#[derive(Debug)]
pub struct Shop {
    _program: Program,
    url: String,
    clerk_key: String,
    _folder: TempDir,
    _database: Option<ThrowAwayDatabase>,
}

impl Shop {
    /// Starts the program, on SQLite with its default: a file in its folder.
    ///
    /// # Panics
    ///
    /// When it doesn't get ready, with what it wrote.
    pub async fn start(backend: Backend) -> Self {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(ThrowAwayDatabase::empty(backend).await),
        };
        let folder = tempfile::tempdir().expect("a fresh folder");
        let mut settings: Vec<String> = [
            "Http:Listen=127.0.0.1:0",
            "Sample:Data=true",
            "Setup:Organisation=Lamps & Co",
            "Setup:AdminEmail=ada@example.com",
            "Setup:AdminPassword=correct horse battery",
            &format!("Setup:ApiKey={ADMIN_KEY}"),
        ]
        .map(|setting| format!("--Svc:{setting}"))
        .into();
        settings.extend(database.as_ref().map(|it| format!("--Svc:Database:Url={}", it.url())));
        let binary = crate::variable("SVC_SHOP_BINARY");
        let mut program = Program::begin(binary, folder.path(), &settings);
        let url = program.url_within(PATIENCE).expect("the shop gets ready").to_owned();
        let mut shop = Self {
            _program: program,
            url,
            clerk_key: String::new(),
            _folder: folder,
            _database: database,
        };
        shop.clerk_key = shop.key_for(&["Products.View", "Categories.View"]);
        shop
    }

    /// Where the entity sets are, with a slash at the end.
    #[must_use]
    pub fn root(&self) -> String {
        format!("{}/odata/v1/", self.url)
    }

    /// What clients are told: where the service is and the keys of two people.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("SVC_ODATA_ROOT", self.root()),
            ("SVC_ADMIN_KEY", ADMIN_KEY.to_owned()),
            ("SVC_CLERK_KEY", self.clerk_key.clone()),
        ]
    }

    /// An API key that may do no more than this.
    fn key_for(&self, permissions: &[&str]) -> String {
        let wish = json!({"name": "clerk", "permissions": permissions});
        let answer = agent()
            .post(format!("{}/api/v1/identity/api-keys", self.url))
            .header("authorization", format!("Bearer {ADMIN_KEY}"))
            .header("content-type", "application/json")
            .send(wish.to_string());
        let text = answer.expect("a key is made").body_mut().read_to_string().expect("a text");
        let key: Value = serde_json::from_str(&text).expect("JSON");
        key["key"].as_str().expect("the key itself").to_owned()
    }
}

/// What the program prints for a command that needs no server.
///
/// # Panics
///
/// When the command fails.
#[must_use]
pub fn ask_program(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(crate::variable("SVC_SHOP_BINARY"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the shop's program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "shop {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("a text")
}

fn agent() -> ureq::Agent {
    let config = ureq::config::Config::builder().timeout_global(Some(Duration::from_secs(30)));
    ureq::Agent::new_with_config(config.build())
}
