//! A small load generator: keep-alive connections that send one request after another.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const TIME: Duration = Duration::from_millis(1_500);

/// What to send where.
#[derive(Clone)]
pub(crate) struct Load {
    address: SocketAddr,
    /// The address under which the application is known.
    host: String,
    path: String,
    /// Lines of the head, each with its end.
    headers: String,
}

impl Load {
    pub(crate) fn new(
        address: SocketAddr,
        host: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Self {
        let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        Self { address, host: host.to_string(), path: path.to_owned(), headers: lines.collect() }
    }

    fn request(&self) -> String {
        let Self { host, path, headers, .. } = self;
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n")
    }

    /// How long single requests take, one after the other, until `is_over`; in milliseconds.
    pub(crate) async fn latencies_until(&self, is_over: impl Fn() -> bool) -> Vec<f64> {
        let (mut connection, mut buffer) = (self.connect().await, Vec::new());
        let mut figures = Vec::new();
        while !is_over() {
            let began = Instant::now();
            exchange(&mut connection, &self.request(), &mut buffer).await;
            figures.push(began.elapsed().as_secs_f64() * 1_000.0);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        figures
    }

    async fn connect(&self) -> TcpStream {
        let connection = TcpStream::connect(self.address).await.unwrap();
        connection.set_nodelay(true).unwrap();
        connection
    }
}

/// What a process of its own got answered.
pub(crate) struct Answered {
    /// Requests per second.
    pub(crate) rate: f64,
    /// Processor time of this process, which answers, for each of them; in microseconds.
    pub(crate) cpu_us: f64,
}

/// Sends requests from a process of its own.
pub(crate) fn measure_from_another_process(load: &Load, connections: usize) -> Answered {
    let before = cpu_us();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["load", &load.address.to_string(), &load.host, &load.path, &load.headers])
        .arg(connections.to_string())
        .output()
        .unwrap();
    let took = cpu_us() - before;
    let wrote = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate: f64 = wrote
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{wrote}{}", String::from_utf8_lossy(&output.stderr)));
    Answered { rate, cpu_us: took / (rate * TIME.as_secs_f64()) }
}

/// User and system time of this process so far, in microseconds; Linux counts hundredths of a second.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let times = fields.split_whitespace().skip(11).take(2);
    times.map(|ticks| ticks.parse::<f64>().unwrap() * 10_000.0).sum()
}

/// The other process.
pub(crate) async fn run(words: &[String]) {
    let [address, host, path, headers, connections] = words else {
        panic!("address, host, path, headers, connections")
    };
    let address = address.parse().unwrap();
    let load = Load { address, host: host.clone(), path: path.clone(), headers: headers.clone() };
    let began = Instant::now();
    let workers = (0..connections.parse().unwrap()).map(|_| {
        let load = load.clone();
        tokio::spawn(async move {
            let (mut connection, request) = (load.connect().await, load.request());
            let (mut buffer, mut answers) = (Vec::with_capacity(4_096), 0_u64);
            while began.elapsed() < TIME {
                exchange(&mut connection, &request, &mut buffer).await;
                answers += 1;
            }
            answers
        })
    });
    let workers: Vec<_> = workers.collect();
    let mut answers = 0;
    for worker in workers {
        answers += worker.await.unwrap();
    }
    println!("{}", answers as f64 / began.elapsed().as_secs_f64());
}

/// Sends one request, and reads until the other side closes.
pub(crate) async fn ask(address: SocketAddr, request: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Sends a request, and reads the whole answer, which says its length and is a success.
async fn exchange(connection: &mut TcpStream, request: &str, buffer: &mut Vec<u8>) {
    connection.write_all(request.as_bytes()).await.unwrap();
    buffer.clear();
    loop {
        assert_ne!(connection.read_buf(buffer).await.unwrap(), 0, "the connection was closed");
        let text = std::str::from_utf8(buffer).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("HTTP/1.1 200"), "{text}");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_it = name.eq_ignore_ascii_case("content-length");
            is_it.then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap() {
            return;
        }
    }
}
