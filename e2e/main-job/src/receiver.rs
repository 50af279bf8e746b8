use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver as Lines, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

/// The language that a receiver is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Node, with the npm package.
    Node,
    /// Python, with the PyPI package.
    Python,
    /// Rust, with the crate.
    Rust,
    /// Go, with its standard library.
    Go,
    /// Ruby, with its standard library.
    Ruby,
    /// PHP alone.
    Php,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Node, Self::Python, Self::Rust, Self::Go, Self::Ruby, Self::Php];

    /// What the receiver is started with.
    fn command(self) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("receivers");
        let script = |variable: &str, script: &str| {
            let mut command = Command::new(crate::variable(variable));
            command.arg(folder.join(script));
            command
        };
        match self {
            Self::Node => script("SVC_E2E_NODE", "receiver.mjs"),
            Self::Python => script("SVC_E2E_PYTHON", "receiver.py"),
            Self::Rust => Command::new(crate::beside_the_tests("receiver")),
            Self::Go => Command::new(crate::variable("SVC_E2E_GO")),
            Self::Ruby => script("SVC_E2E_RUBY", "receiver.rb"),
            Self::Php => script("SVC_E2E_PHP", "receiver.php"),
        }
    }
}

/// A receiver in a process of its own.
#[derive(Debug)]
pub struct Receiver {
    language: Language,
    process: Child,
    lines: Lines<Value>,
    port: u16,
}

/// A request that a receiver got.
#[derive(Clone, Debug)]
pub struct Received {
    /// Whether it accepted the signature.
    pub accepted: bool,
    /// Whether it had accepted the same event before.
    pub duplicate: bool,
    /// The headers, names in lower case.
    pub headers: Value,
    /// The body as it came.
    pub body: String,
}

impl Received {
    /// The envelope in the body.
    ///
    /// # Panics
    ///
    /// When the body is no JSON.
    #[must_use]
    pub fn envelope(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body of a webhook is JSON")
    }

    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].as_str().unwrap_or_default()
    }
}

impl Receiver {
    /// Starts a receiver that accepts what is signed with one of `keys` (`whsec_…` or `whpk_…`), on
    /// `port` (0 for any).
    ///
    /// # Panics
    ///
    /// When it doesn't start.
    #[must_use]
    pub fn start(language: Language, port: u16, keys: &[&str]) -> Self {
        let mut process = language
            .command()
            .arg(port.to_string())
            .args(keys)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the receiver's language is installed");
        let lines = read_lines(process.stdout.take().expect("its output is piped"));
        let first = lines.recv_timeout(Duration::from_secs(30)).expect("the receiver starts");
        let port = first["listening"].as_u64().and_then(|port| u16::try_from(port).ok());
        Self { language, process, lines, port: port.expect("its first line is its port") }
    }

    /// The address to register.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next request, waited for.
    ///
    /// # Panics
    ///
    /// When none comes within half a minute.
    #[must_use]
    pub fn next(&self) -> Received {
        self.next_within(Duration::from_secs(30))
            .unwrap_or_else(|| panic!("the {:?} receiver got nothing in 30 s", self.language))
    }

    /// The next request, if one comes in this time.
    ///
    /// # Panics
    ///
    /// When the receiver has ended.
    #[must_use]
    pub fn next_within(&self, time: Duration) -> Option<Received> {
        match self.lines.recv_timeout(time) {
            Ok(line) => Some(Received {
                accepted: line["accepted"] == true,
                duplicate: line["duplicate"] == true,
                headers: line["headers"].clone(),
                body: line["body"].as_str().unwrap_or_default().to_owned(),
            }),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the receiver has ended"),
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may have ended by itself, which a test then says.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_lines(output: ChildStdout) -> Lines<Value> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let line = serde_json::from_str(&line).expect("a receiver writes JSON lines");
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
