use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver as Lines, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What an application prints before its address once it serves.
const READY: &str = "is ready: ";

/// A built application in a process of its own, which is killed when the value is dropped.
///
/// What it logs belongs to the output of the test. A line of level `ERROR` fails the test, unless the
/// test has said with [`Program::may_log`] that it provokes one.
#[derive(Debug)]
pub struct Program {
    process: Child,
    /// Says each line that it writes on its standard output.
    output: Lines<String>,
    /// Those that were looked at.
    written: Vec<String>,
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
        Self::begin_in(binary, folder, settings, &[])
    }

    /// The same with variables of the environment, such as `("SVC_ENVIRONMENT", "development")`.
    ///
    /// # Panics
    ///
    /// As [`Program::begin`].
    #[must_use]
    pub fn begin_in(
        binary: impl AsRef<OsStr>,
        folder: &Path,
        settings: &[String],
        environment: &[(&str, &str)],
    ) -> Self {
        let mut process = Command::new(binary)
            .current_dir(folder)
            .env("Svc__Telemetry__LogFilter", "warn")
            .envs(environment.iter().copied())
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = process.stdout.take().expect("its output is piped");
        let errors = process.stderr.take().expect("its log is piped");
        let (send, lines) = channel();
        // It is read all the time, or the program would wait for room in the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Nobody listens to a process that was killed meanwhile.
                let _ = send.send(line);
            }
        });
        let log = Some(std::thread::spawn(move || errors_in(errors)));
        Self { process, output: lines, written: Vec::new(), log, expected: Vec::new() }
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
        let line = self.line_within(READY, time)?;
        line.split_once(READY).map(|(_, url)| url.trim())
    }

    /// The first line on its standard output with this text; none when it hasn't written one in this time.
    ///
    /// # Panics
    ///
    /// When the process has ended by itself without one.
    pub fn line_within(&mut self, text: &str, time: Duration) -> Option<&str> {
        let end = Instant::now() + time;
        let mut place = self.written.iter().position(|line| line.contains(text));
        while place.is_none() {
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    place = line.contains(text).then_some(self.written.len());
                    self.written.push(line);
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the program has ended: {:?}", self.process.wait())
                }
            }
        }
        place.map(|place| self.written[place].as_str())
    }

    /// Asks the process to end (SIGTERM), and answers with all that it has written on its standard output.
    ///
    /// # Panics
    ///
    /// When it ends with a failure, or has logged an error that nobody expected.
    #[must_use]
    pub fn stop(mut self) -> String {
        let id = self.process.id().to_string();
        // The shell has the word built in.
        let asked = Command::new("sh").args(["-c", "kill -s TERM \"$0\"", &id]).status();
        assert!(asked.is_ok_and(|status| status.success()), "the process can be asked");
        let status = self.process.wait().expect("the process ends");
        assert!(status.success(), "the program has ended: {status}");
        self.written.extend(self.output.iter());
        self.end();
        self.written.join("\n")
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
    fn what_it_writes_is_found_whenever_it_is_asked_for() {
        let script = "trap 'echo bye; exit' TERM; echo one; echo $WORD is ready: http://a
while :; do sleep 0.01; done";
        let script = ["-c".to_owned(), script.to_owned()];
        let environment = [("WORD", "shop")];
        let folder = std::env::temp_dir();
        let mut program = Program::begin_in("sh", &folder, &script, &environment);
        let time = Duration::from_secs(20);
        assert_eq!(program.url_within(time), Some("http://a"));
        assert_eq!(program.line_within("one", time), Some("one"));
        assert_eq!(program.url_within(time), Some("http://a"));
        assert_eq!(program.line_within("two", Duration::ZERO), None);
        assert_eq!(program.stop(), "one\nshop is ready: http://a\nbye");
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
