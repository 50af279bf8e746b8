//! The receiver: a process of its own that answers every POST with 204 and keeps what it needs to
//! say how many came, and how long each took from its commit.
//!
//! It reads commands from its standard input, one a line, and answers each with one line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What came since the last reset.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Posts to `/hook…`.
    pub(crate) count: u64,
    /// Posts to `/hang`, which are never answered.
    pub(crate) hanging: u64,
    /// Seconds from the reset to the last post.
    pub(crate) last_s: f64,
    /// Percentiles of the time from commit to receipt, in milliseconds.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
    /// Bytes of the last body.
    pub(crate) body_bytes: u64,
}

/// The parent's end of the receiver.
pub(crate) struct Receiver {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) port: u16,
}

impl Receiver {
    /// Starts the other process.
    pub(crate) fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .arg("receiver")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let port = line(&mut answers).parse().unwrap();
        Self { process, commands, answers, port }
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        line(&mut self.answers)
    }

    /// Forgets what came; with `times`, the times from commit to receipt are kept from now on.
    pub(crate) fn reset(&mut self, times: bool) {
        let answer = self.ask(if times { "reset times" } else { "reset" });
        assert_eq!(answer, "ok");
    }

    /// What came since the last reset.
    pub(crate) fn report(&mut self) -> Report {
        serde_json::from_str(&self.ask("report")).unwrap()
    }

    /// Waits until so many posts have come.
    pub(crate) async fn wait_for(&mut self, count: u64) -> Report {
        let until = Instant::now() + Duration::from_mins(2);
        loop {
            let report = self.report();
            if report.count >= count {
                return report;
            }
            assert!(Instant::now() < until, "only {} of {count} posts came", report.count);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(from: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

#[derive(Default)]
struct Inbox {
    count: AtomicU64,
    hanging: AtomicU64,
    last_us: AtomicU64,
    body_bytes: AtomicU64,
    rest: Mutex<Kept>,
}

struct Kept {
    began: Instant,
    /// Microseconds from commit to receipt; none when nobody wants to know.
    times: Option<Vec<u32>>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { began: Instant::now(), times: None }
    }
}

/// The other process: one thread that receives, one that is asked.
pub(crate) fn run() {
    let inbox = Arc::new(Inbox::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Each address of this machine is an origin of its own.
    let listener = runtime.block_on(TcpListener::bind("0.0.0.0:0")).unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let asked = Arc::clone(&inbox);
    std::thread::spawn(move || answer(&asked));
    runtime.block_on(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let inbox = Arc::clone(&inbox);
            tokio::spawn(async move { receive(stream, &inbox).await });
        }
    });
}

fn answer(inbox: &Inbox) {
    for command in std::io::stdin().lock().lines() {
        match command.unwrap().as_str() {
            "report" => println!("{}", serde_json::to_string(&inbox.report()).unwrap()),
            reset => {
                inbox.reset(reset.ends_with("times"));
                println!("ok");
            }
        }
    }
    std::process::exit(0);
}

impl Inbox {
    fn reset(&self, times: bool) {
        let mut rest = self.rest.lock().unwrap();
        *rest = Kept { began: Instant::now(), times: times.then(Vec::new) };
        self.count.store(0, Ordering::Relaxed);
        self.hanging.store(0, Ordering::Relaxed);
        self.last_us.store(0, Ordering::Relaxed);
    }

    fn report(&self) -> Report {
        let mut times = self.rest.lock().unwrap().times.clone().unwrap_or_default();
        times.sort_unstable();
        let at = |percent: usize| {
            let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(0.0, |us| f64::from(*us) / 1_000.0)
        };
        Report {
            count: self.count.load(Ordering::Acquire),
            hanging: self.hanging.load(Ordering::Relaxed),
            last_s: self.last_us.load(Ordering::Relaxed) as f64 / 1_000_000.0,
            p50_ms: at(50),
            p99_ms: at(99),
            max_ms: at(100),
            body_bytes: self.body_bytes.load(Ordering::Relaxed),
        }
    }

    fn take(&self, body: &[u8]) {
        let mut rest = self.rest.lock().unwrap();
        let elapsed = rest.began.elapsed();
        if let Some(times) = &mut rest.times {
            times.push(since_commit_us(body));
        }
        drop(rest);
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        self.last_us.store(micros, Ordering::Relaxed);
        self.body_bytes.store(body.len() as u64, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Release);
    }
}

/// How long ago the envelope's time was, in microseconds.
fn since_commit_us(body: &[u8]) -> u32 {
    const NAME: &[u8] = b"\"time\":\"";
    let Some(at) = find(body, NAME) else { return 0 };
    let text = &body[at + NAME.len()..];
    let end = text.iter().position(|byte| *byte == b'"').unwrap();
    let time = std::str::from_utf8(&text[..end]).unwrap();
    let committed = OffsetDateTime::parse(time, &Rfc3339).unwrap();
    let elapsed = svc_core::Clock::system().now() - committed;
    u32::try_from(elapsed.whole_microseconds().max(0)).unwrap_or(u32::MAX)
}

async fn receive(mut stream: TcpStream, inbox: &Inbox) {
    stream.set_nodelay(true).unwrap();
    let mut buffer = Vec::with_capacity(8 * 1024);
    loop {
        buffer.clear();
        let (head, length) = loop {
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let Some(head) = find(&buffer, b"\r\n\r\n") else { continue };
            let length = content_length(&buffer[..head]);
            if buffer.len() >= head + 4 + length {
                break (head, length);
            }
        };
        if buffer.starts_with(b"POST /hang") {
            inbox.hanging.fetch_add(1, Ordering::Relaxed);
            // Until the sender gives up.
            let _ = stream.read_buf(&mut buffer).await;
            return;
        }
        inbox.take(&buffer[head + 4..head + 4 + length]);
        if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.is_err() {
            return;
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length: ";
    let at = find(head, NAME).unwrap() + NAME.len();
    head[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
