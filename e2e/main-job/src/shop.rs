use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use svc_testing::ThrowAwayDatabase;
use tempfile::TempDir;
use ureq::http::HeaderMap;

/// The key of the unattended set-up.
pub const API_KEY: &str = "svck_e2e_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

/// The `shop` program, in a fresh folder, with a database of its own.
#[derive(Debug)]
pub struct Shop {
    folder: TempDir,
    database: Option<ThrowAwayDatabase>,
    settings: Vec<String>,
    process: Child,
    url: String,
}

/// An answer of the program.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, null where there is none or it is no JSON.
    pub json: Value,
}

impl Shop {
    /// Starts the program with unattended set-up. Without a database it uses its default: a file
    /// in its folder. Endpoints may be on this machine, on these ports.
    ///
    /// # Panics
    ///
    /// When it doesn't get ready in half a minute.
    #[must_use]
    pub fn start(database: Option<ThrowAwayDatabase>, receiver_ports: &[u16]) -> Self {
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
        let (process, url) = spawn(folder.path(), &settings);
        Self { folder, database, settings, process, url }
    }

    /// Ends the process as a power failure would (`kill -9`).
    ///
    /// # Panics
    ///
    /// When it can't be killed.
    pub fn kill(&mut self) {
        self.process.kill().expect("the process can be killed");
        self.process.wait().expect("the process ends");
    }

    /// Starts the program again, in the same folder and on the same database.
    ///
    /// # Panics
    ///
    /// As [`Shop::start`].
    pub fn start_again(&mut self) {
        (self.process, self.url) = spawn(self.folder.path(), &self.settings);
    }

    /// The database, where it isn't the default file.
    #[must_use]
    pub fn database(&self) -> Option<&ThrowAwayDatabase> {
        self.database.as_ref()
    }

    /// Sends a request as the administrator.
    ///
    /// # Panics
    ///
    /// When the program doesn't answer.
    #[must_use]
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {API_KEY}"));
        let agent = ureq::Agent::new_with_config(
            ureq::config::Config::builder()
                .http_status_as_error(false)
                .allow_non_standard_methods(true)
                .timeout_global(Some(Duration::from_secs(30)))
                .build(),
        );
        let answer = match body {
            Some(body) => {
                let text = body.to_string();
                let request = request.header("content-type", "application/json").body(text);
                agent.run(request.expect("a request"))
            }
            None => agent.run(request.body(()).expect("a request")),
        };
        let mut answer = answer.expect("the program answers");
        let text = answer.body_mut().read_to_string().expect("the answer can be read");
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            json: serde_json::from_str(&text).unwrap_or(Value::Null),
        }
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

impl Drop for Shop {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(folder: &Path, settings: &[String]) -> (Child, String) {
    let mut process = Command::new(crate::variable("SVC_SHOP_BINARY"))
        .current_dir(folder)
        .env("Svc__Telemetry__LogFilter", "warn")
        .args(settings)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the shop's program starts");
    let output = process.stdout.take().expect("its output is piped");
    let began = Instant::now();
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let url = lines.find_map(|line| {
        let (_, url) = line.split_once("is ready: ")?;
        Some(url.trim().to_owned())
    });
    let url = url.unwrap_or_else(|| panic!("the shop ended after {:?}", began.elapsed()));
    // What else it writes is read away, or it would wait for room in the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    (process, url)
}
