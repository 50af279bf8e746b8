//! Keep-alive connections that send one request after another.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What to send where.
#[derive(Clone)]
pub(crate) struct Load {
    address: SocketAddr,
    request: String,
}

impl Load {
    pub(crate) fn get(address: SocketAddr, path: &str, key: &str) -> Self {
        Self::new(address, &format!("GET {path}"), key, "", "")
    }

    pub(crate) fn post(address: SocketAddr, path: &str, key: &str, body: &str) -> Self {
        let headers =
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        Self::new(address, &format!("POST {path}"), key, &headers, body)
    }

    pub(crate) fn new(
        address: SocketAddr,
        line: &str,
        key: &str,
        headers: &str,
        body: &str,
    ) -> Self {
        let request = format!(
            "{line} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n{headers}\r\n{body}"
        );
        Self { address, request }
    }

    /// The body of one answer.
    pub(crate) async fn body(&self) -> String {
        let mut connection = Connection::open(self.address).await;
        connection.exchange(&self.request).await;
        String::from_utf8(connection.body).unwrap()
    }

    /// A connection on which the request was sent, and nothing read yet.
    pub(crate) async fn send(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(self.request.as_bytes()).await.unwrap();
        stream
    }

    /// Answers per second on this many connections.
    pub(crate) async fn per_second(&self, connections: usize, time: Duration) -> f64 {
        let began = Instant::now();
        let workers = (0..connections).map(|_| {
            let load = self.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(load.address).await;
                let mut answers = 0_u64;
                while began.elapsed() < time {
                    connection.exchange(&load.request).await;
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
        answers as f64 / began.elapsed().as_secs_f64()
    }
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    body: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::with_capacity(65_536), body: Vec::new() }
    }

    /// Sends a request and reads the whole answer.
    async fn exchange(&mut self, request: &str) {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.buffer.clear();
        self.body.clear();
        let end = loop {
            self.more().await;
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 20"), "{}", String::from_utf8_lossy(&self.buffer));
        self.buffer.drain(..end + 4);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        match length.map(|length| length.trim().parse::<usize>().unwrap()) {
            Some(length) => {
                while self.buffer.len() < length {
                    self.more().await;
                }
                std::mem::swap(&mut self.body, &mut self.buffer);
            }
            None => self.read_chunks().await,
        }
    }

    async fn read_chunks(&mut self) {
        loop {
            let end = loop {
                match self.buffer.windows(2).position(|two| two == b"\r\n") {
                    Some(end) => break end,
                    None => self.more().await,
                }
            };
            let size = std::str::from_utf8(&self.buffer[..end]).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            while self.buffer.len() < end + size + 4 {
                self.more().await;
            }
            self.body.extend_from_slice(&self.buffer[end + 2..end + 2 + size]);
            self.buffer.drain(..end + size + 4);
            if size == 0 {
                return;
            }
        }
    }

    async fn more(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
        assert_ne!(read, 0, "the connection was closed");
    }
}
