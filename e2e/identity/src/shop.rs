//! The shop as a program of its own, for parties that nobody here wrote.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use svc_testing::{Backend, Program, ReservedPort, Socket, ThrowAwayDatabase};
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// The key of the unattended set-up.
const ADMIN_KEY: &str = "svck_e2e_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

/// How long a start may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the shop and a browser host before it know.
const HOST_SECRET: &str = "what a browser host proves itself with";

/// The `shop` program in a fresh folder, with a database of its own.
#[derive(Debug)]
pub struct RunningShop {
    programs: Vec<Program>,
    url: String,
    /// The port of the host that a proxy is to stand before; none where browsers reach `url` by themselves.
    proxied: Option<u16>,
    logout_port: u16,
    external_issuer: String,
    folder: TempDir,
    databases: Vec<ThrowAwayDatabase>,
    /// What was named before somebody listened there, or is for a script to listen at.
    ports: Vec<ReservedPort>,
}

impl RunningShop {
    /// Starts the program, on SQLite with its default: a file in its folder.
    ///
    /// # Panics
    ///
    /// When it doesn't get ready, with what it wrote.
    pub async fn start(backend: Backend) -> Self {
        Self::start_with(backend, vec!["--Svc:Http:Listen=127.0.0.1:0".to_owned()]).await
    }

    /// Starts the program, and again as the browser host before it, which browsers reach by
    /// `http://localhost`: passkeys need a name.
    ///
    /// # Panics
    ///
    /// When one of them doesn't get ready, with what it wrote.
    pub async fn start_behind_host(backend: Backend) -> Self {
        let outside = ReservedPort::take();
        let url = format!("http://localhost:{}", outside.number());
        Self::start_both(backend, outside, url).await
    }

    /// The same for browsers that reach the host through a proxy with TLS, at `https://localhost`: a script
    /// has to be that proxy.
    ///
    /// # Panics
    ///
    /// As [`RunningShop::start_behind_host`].
    pub async fn start_behind_proxy(backend: Backend) -> Self {
        let (outside, proxy) = (ReservedPort::take(), ReservedPort::take());
        let proxied = Some(outside.number());
        let url = format!("https://localhost:{}", proxy.number());
        let mut shop = Self::start_both(backend, outside, url).await;
        shop.ports.push(proxy);
        Self { proxied, ..shop }
    }

    async fn start_both(backend: Backend, outside: ReservedPort, public_url: String) -> Self {
        let inside = ReservedPort::take();
        let of_both = format!("--Svc:Http:PublicUrl={public_url}");
        let of_shop = vec![
            format!("--Svc:Http:Listen=127.0.0.1:{}", inside.number()),
            format!("--Svc:OpenId:BrowserHostSecret={HOST_SECRET}"),
            "--Svc:Auth:ClientAddressHeader=X-Forwarded-For".to_owned(),
            of_both.clone(),
        ];
        let mut shop = Self::start_with(backend, of_shop).await;
        let mut of_host = vec![
            "browser-host".to_owned(),
            format!("--Svc:Http:Listen=127.0.0.1:{}", outside.number()),
            format!("--Svc:BrowserHost:Api=http://127.0.0.1:{}", inside.number()),
            format!("--Svc:BrowserHost:ClientSecret={HOST_SECRET}"),
            of_both,
        ];
        of_host.extend(shop.database(backend).await);
        let mut host = Program::begin(variable("SVC_SHOP_BINARY"), shop.folder.path(), &of_host);
        host.url_within(PATIENCE).expect("the host gets ready");
        shop.url = public_url;
        shop.ports.extend([inside, outside]);
        shop.programs.insert(0, host);
        shop
    }

    async fn start_with(backend: Backend, mut settings: Vec<String>) -> Self {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let (logout, issuer) = (ReservedPort::take(), ReservedPort::take());
        let logout_port = logout.number();
        let external_issuer = format!("http://127.0.0.1:{}", issuer.number());
        let own = [
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
        ];
        settings.extend(own.map(|setting| format!("--Svc:{setting}")));
        let mut shop = Self {
            programs: Vec::new(),
            url: String::new(),
            proxied: None,
            logout_port,
            external_issuer,
            folder,
            databases: Vec::new(),
            ports: vec![logout, issuer],
        };
        settings.extend(shop.database(backend).await);
        let mut program =
            Program::begin(variable("SVC_SHOP_BINARY"), shop.folder.path(), &settings);
        program.url_within(PATIENCE).expect("the shop gets ready").clone_into(&mut shop.url);
        shop.programs.push(program);
        shop
    }

    /// The setting that names a fresh database; none for SQLite, where a program makes its own file.
    async fn database(&mut self, backend: Backend) -> Option<String> {
        if matches!(backend, Backend::Sqlite) {
            return None;
        }
        let database = ThrowAwayDatabase::empty(backend).await;
        let setting = format!("--Svc:Database:Url={}", database.url());
        self.databases.push(database);
        Some(setting)
    }

    /// Runs a file of tests of Node's own runner against the shop.
    ///
    /// # Panics
    ///
    /// When a test fails, or there is none.
    pub fn node_test(&self, file: &str) {
        let mut command = Command::new(variable("SVC_E2E_NODE"));
        if let Some(port) = self.proxied {
            let names = vec!["localhost".to_owned()];
            let own = rcgen::generate_simple_self_signed(names).expect("a certificate");
            command
                .env("SVC_PROXIED_PORT", port.to_string())
                .env("SVC_PROXY_CERTIFICATE", STANDARD.encode(own.cert.der()))
                .env("SVC_PROXY_KEY", STANDARD.encode(own.signing_key.serialize_der()));
        }
        let output = command
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

    /// The same with a browser. There are two at a time: each loads pages as fast as a core lets it, and
    /// more of them would only use up each other's time limits.
    ///
    /// # Panics
    ///
    /// As [`RunningShop::node_test`].
    pub async fn browser_test(&self, file: &str) {
        static BROWSERS: Semaphore = Semaphore::const_new(2);
        let _place = BROWSERS.acquire().await.expect("it is never closed");
        self.node_test(file);
    }
}

/// The `shop` program in a fresh folder, on an empty database, as somebody begins it for the first time.
#[derive(Debug)]
pub struct FirstStart {
    /// The process.
    pub program: Program,
    /// Where this machine reaches it.
    pub address: SocketAddr,
    _port: ReservedPort,
    _folder: TempDir,
    _database: ThrowAwayDatabase,
}

impl FirstStart {
    /// Begins the program, listening at a free port of this address, with settings such as
    /// `Svc:Setup:Organisation=Example Ltd` and variables of the environment, and waits for nothing.
    ///
    /// # Panics
    ///
    /// When it can't be begun.
    pub async fn begin(
        backend: Backend,
        listen: &str,
        settings: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let (folder, database) =
            (tempfile::tempdir().expect("a fresh folder"), ThrowAwayDatabase::empty(backend).await);
        let port = ReservedPort::take();
        let own = [
            format!("Svc:Http:Listen={listen}:{}", port.number()),
            format!("Svc:Database:Url={}", database.url()),
        ];
        let given = settings.iter().map(ToString::to_string);
        let settings = own.into_iter().chain(given).map(|it| format!("--{it}")).collect::<Vec<_>>();
        let binary = variable("SVC_SHOP_BINARY");
        Self {
            program: Program::begin_in(binary, folder.path(), &settings, environment),
            address: ([127, 0, 0, 1], port.number()).into(),
            _port: port,
            _folder: folder,
            _database: database,
        }
    }

    /// Asks for a path under the name of a host, with more lines of headers.
    pub async fn ask(&self, path: &str, host: &str, headers: &str) -> String {
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n");
        Socket::ask(self.address, head).await
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn variable(name: &str) -> String {
    let hint = "`cargo xtask test --only e2e-identity` sets it";
    std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is not set; {hint}"))
}
