//! The shop as a program of its own, for parties that nobody here wrote.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use svc_testing::{Backend, Program, ThrowAwayDatabase};
use tempfile::TempDir;

/// The key of the unattended set-up.
const ADMIN_KEY: &str = "svck_e2e_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

/// How long a start may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The `shop` program in a fresh folder, with a database of its own.
#[derive(Debug)]
pub struct RunningShop {
    _program: Program,
    url: String,
    logout_port: u16,
    external_issuer: String,
    _folder: TempDir,
    _database: Option<ThrowAwayDatabase>,
}

impl RunningShop {
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
        let (logout_port, issuer_port) = (free_port(), free_port());
        let external_issuer = format!("http://127.0.0.1:{issuer_port}");
        let mut settings: Vec<String> = [
            "Http:Listen=127.0.0.1:0",
            "Setup:Organisation=Lamps & Co",
            "Setup:AdminEmail=ada@example.com",
            "Setup:AdminPassword=correct horse battery",
            &format!("Setup:ApiKey={ADMIN_KEY}"),
            "OpenId:RequireHttps=false",
            &format!("OpenId:AllowedPorts:0={logout_port}"),
            "Outbound:AllowedNetworks:0=127.0.0.0/8",
            &format!("Auth:Authority={external_issuer}"),
            "Auth:ClientId=svc",
            "Auth:ClientSecret=a secret of 32 letters, or more of them",
            "Auth:Audience=shop api",
            "Auth:RoleClaims:0=roles",
        ]
        .map(|setting| format!("--Svc:{setting}"))
        .into();
        settings.extend(database.as_ref().map(|it| format!("--Svc:Database:Url={}", it.url())));
        let binary = variable("SVC_SHOP_BINARY");
        let mut program = Program::begin(binary, folder.path(), &settings);
        let url = program.url_within(PATIENCE).expect("the shop gets ready").to_owned();
        Self {
            _program: program,
            url,
            logout_port,
            external_issuer,
            _folder: folder,
            _database: database,
        }
    }

    /// Runs a file of tests of Node's own runner against the shop.
    ///
    /// # Panics
    ///
    /// When a test fails, or there is none.
    pub fn node_test(&self, file: &str) {
        let output = Command::new(variable("SVC_E2E_NODE"))
            .current_dir(clients())
            .args(["--test", "--test-reporter=tap", file])
            .env("SVC_ISSUER", self.url.trim_end_matches('/'))
            .env("SVC_ADMIN_KEY", ADMIN_KEY)
            .env("SVC_LOGOUT_PORT", self.logout_port.to_string())
            .env("SVC_EXTERNAL_ISSUER", &self.external_issuer)
            .output()
            .expect("the language is installed");
        let [wrote, errors] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(output.status.success(), "{file}:\n{wrote}{errors}");
        let passed = wrote.lines().find_map(|line| line.strip_prefix("# pass "));
        assert!(passed.is_some_and(|count| count != "0"), "{file} has no tests:\n{wrote}");
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// A port that nobody listens at now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

fn variable(name: &str) -> String {
    let hint = "`cargo xtask test --only e2e-identity` sets it";
    std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is not set; {hint}"))
}
