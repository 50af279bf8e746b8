use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver as Lines, RecvTimeoutError, channel};
use std::time::Duration;

/// What an application prints before its address once it serves.
const READY: &str = "is ready: ";

/// A built application in a process of its own, which is killed when the value is dropped.
#[derive(Debug)]
pub struct Program {
    process: Child,
    /// Says the address once the program is ready.
    ready: Lines<String>,
    url: Option<String>,
}

impl Program {
    /// Begins a process in a folder, with settings as arguments (`--Svc:Http:Listen=127.0.0.1:0`),
    /// and waits for nothing.
    ///
    /// # Panics
    ///
    /// When it can't be begun.
    #[must_use]
    pub fn begin(binary: impl AsRef<OsStr>, folder: &Path, settings: &[String]) -> Self {
        let mut process = Command::new(binary)
            .current_dir(folder)
            .env("Svc__Telemetry__LogFilter", "warn")
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = process.stdout.take().expect("its output is piped");
        let (send, ready) = channel();
        // What else it writes is read away, or it would wait for room in the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once(READY) {
                    // Nobody waits for a process that was killed meanwhile.
                    let _ = send.send(url.trim().to_owned());
                }
            }
        });
        Self { process, ready, url: None }
    }

    /// Where it serves; none when it isn't ready in this time.
    ///
    /// # Panics
    ///
    /// When the process has ended by itself.
    pub fn url_within(&mut self, time: Duration) -> Option<&str> {
        if self.url.is_none() {
            match self.ready.recv_timeout(time) {
                Ok(url) => self.url = Some(url),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the program has ended: {:?}", self.process.wait())
                }
            }
        }
        self.url.as_deref()
    }

    /// Ends the process at once, whatever it is doing (`kill -9`).
    ///
    /// # Panics
    ///
    /// When it can't be killed.
    pub fn kill(mut self) {
        self.process.kill().expect("the process can be killed");
        self.process.wait().expect("the process ends");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
