//! A small load generator: keep-alive connections that send one request after another.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const TIME: Duration = Duration::from_millis(1_500);

/// What to send where.
pub(crate) struct Load {
    address: SocketAddr,
    path: String,
    key: String,
}

impl Load {
    pub(crate) fn new(address: SocketAddr, path: String, key: &str) -> Self {
        Self { address, path, key: key.to_owned() }
    }

    fn request(&self) -> String {
        format!(
            "GET {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
            self.path, self.address, self.key
        )
    }

    /// The body of one answer.
    pub(crate) async fn body(&self) -> String {
        let mut connection = TcpStream::connect(self.address).await.unwrap();
        let mut buffer = Vec::new();
        let answer = exchange(&mut connection, &self.request(), &mut buffer).await;
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap()
    }
}

/// Requests per second that a process of its own gets answered.
pub(crate) fn measure_from_another_process(load: &Load, connections: usize) -> f64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["load", &load.address.to_string(), &load.path, &load.key, &connections.to_string()])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

/// The other process.
pub(crate) async fn run(words: &[String]) {
    let [address, path, key, connections] = words else {
        panic!("address, path, key, connections")
    };
    let load = Load::new(address.parse().unwrap(), path.clone(), key);
    let (request, address) = (load.request(), load.address);
    let began = Instant::now();
    let workers = (0..connections.parse().unwrap()).map(|_| {
        let request = request.clone();
        tokio::spawn(async move {
            let mut connection = TcpStream::connect(address).await.unwrap();
            connection.set_nodelay(true).unwrap();
            let (mut buffer, mut answers) = (Vec::with_capacity(4_096), 0_u64);
            while began.elapsed() < TIME {
                let answer = exchange(&mut connection, &request, &mut buffer).await;
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
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

/// Sends a request and reads the whole answer, which says its length.
async fn exchange<'a>(
    connection: &mut TcpStream,
    request: &str,
    buffer: &'a mut Vec<u8>,
) -> std::borrow::Cow<'a, str> {
    connection.write_all(request.as_bytes()).await.unwrap();
    buffer.clear();
    loop {
        assert_ne!(connection.read_buf(buffer).await.unwrap(), 0, "the connection was closed");
        let text = std::str::from_utf8(buffer).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap() {
            return String::from_utf8_lossy(buffer);
        }
    }
}
