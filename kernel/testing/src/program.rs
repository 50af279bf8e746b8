use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver as Lines, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What an application prints before its address once it serves.
const READY: &str = "is ready: ";

/// A built application in a process of its own, which is killed when the value is dropped.
///
/// What it logs belongs to the output of the test. A line of level `ERROR` fails the test, unless the
/// test has said with [`Program::may_log`] that it provokes one.
#[derive(Debug)]
pub struct Program {
    process: Child,
    /// Says the address once the program is ready.
    ready: Lines<String>,
    url: Option<String>,
    /// Reads the log until the process has ended, and gives its errors.
    log: Option<JoinHandle<Vec<String>>>,
    expected: Vec<String>,
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
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = process.stdout.take().expect("its output is piped");
        let errors = process.stderr.take().expect("its log is piped");
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
        let log = Some(std::thread::spawn(move || errors_in(errors)));
        Self { process, ready, url: None, log, expected: Vec::new() }
    }

    /// Says that the test provokes an error whose line in the log has this text.
    #[must_use]
    pub fn may_log(mut self, text: &str) -> Self {
        self.expected.push(text.to_owned());
        self
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
    /// When it can't be killed, or has logged an error that nobody expected.
    pub fn kill(mut self) {
        self.process.kill().expect("the process can be killed");
        self.end();
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let Some(log) = self.log.take() else { return };
        let errors = log.join().unwrap_or_default();
        let is_expected = |error: &&String| self.expected.iter().any(|text| error.contains(text));
        let unexpected = errors.iter().filter(|error| !is_expected(error)).collect::<Vec<_>>();
        // A test that fails already has its own reason.
        assert!(
            unexpected.is_empty() || std::thread::panicking(),
            "the program logged errors that the test didn't expect: {unexpected:#?}"
        );
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Passes a log on to the output of the test, and collects its lines of level `ERROR`.
fn errors_in(log: impl Read) -> Vec<String> {
    let mut errors = Vec::new();
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        eprintln!("{line}");
        // After the time, as the text format has it.
        if line.split_whitespace().nth(1) == Some("ERROR") {
            errors.push(line);
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_level_are_errors() {
        let log = "2026-11-23T01:02:03.000004Z ERROR svc_events: a worker failed worker=\"relay\"
2026-11-23T01:02:03.000004Z  WARN svc_http: an ERROR is only a word here
a line of another kind\n";
        let errors = errors_in(log.as_bytes());
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("relay"));
    }

    #[test]
    #[should_panic(expected = "logged errors that the test didn't expect")]
    fn an_error_that_nobody_expected_fails_the_test() {
        let folder = std::env::temp_dir();
        let script = ["-c".to_owned(), "echo 2026 ERROR broken >&2".to_owned()];
        let mut program = Program::begin("sh", &folder, &script);
        // The log is whole once the process has ended by itself.
        program.process.wait().expect("the process ends");
    }

    #[test]
    fn an_error_that_is_provoked_is_named() {
        let folder = std::env::temp_dir();
        let script = ["-c".to_owned(), "echo 2026 ERROR broken >&2".to_owned()];
        let mut program = Program::begin("sh", &folder, &script).may_log("broken");
        program.process.wait().expect("the process ends");
    }
}
