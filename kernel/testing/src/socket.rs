use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a body of [`Socket::drip`] goes on.
const DRIP: Duration = Duration::from_millis(50);

/// A bare connection, for what no client would send, and for answers that come in pieces. What the other side
/// doesn't do within 20 seconds fails the test.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    /// What has come, and nobody has waited for yet.
    read: String,
}

impl Socket {
    /// One side of a connection that stands.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, read: String::new() }
    }

    /// Connects, and sends the beginning of something.
    ///
    /// # Panics
    ///
    /// When nobody listens there.
    pub async fn open(address: SocketAddr, text: impl AsRef<[u8]>) -> Self {
        let mut socket = Self::new(TcpStream::connect(address).await.expect("somebody listens"));
        // It may be closed before all is sent.
        let _ = socket.stream.write_all(text.as_ref()).await;
        socket
    }

    /// Sends a request, and answers with all that comes until the other side closes.
    ///
    /// # Panics
    ///
    /// When it doesn't close in time.
    pub async fn ask(address: SocketAddr, request: impl AsRef<[u8]>) -> String {
        let mut socket = Self::open(address, request).await;
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, socket.stream.read_to_end(&mut rest)).await;
        // A reset is an end, too.
        let _ = ended.expect("the connection is closed in time");
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// Hides a request in the body of another one, which begins with `head`, in every way that two readers of
    /// HTTP would take for different requests (RFC 9112, sections 5 and 6): each is to be answered once, with 400.
    ///
    /// # Panics
    ///
    /// When it isn't.
    pub async fn refuses_smuggling(address: SocketAddr, head: &str, hidden: &str) {
        let length = hidden.len();
        for more in [
            // Two lengths, and lengths that aren't numbers to everybody (section 6.3).
            format!("content-length: 0\r\ncontent-length: {length}\r\n"),
            format!("content-length: +{length}\r\n"),
            format!("content-length: {length}, 0\r\n"),
            // Codings that one reader knows and another doesn't (section 6.1).
            "transfer-encoding: identity\r\n".to_owned(),
            "transfer-encoding: chunked, identity\r\n".to_owned(),
            // Header lines that are more than one, or another (sections 5.1 and 5.2).
            "x-csrf : 1\r\n".to_owned(),
            "x-other: a\r\n x-csrf: 1\r\n".to_owned(),
            "x-other: a\0b\r\n".to_owned(),
        ] {
            let answer = Self::ask(address, format!("{head}{more}\r\n{hidden}")).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{more:?}: {answer}");
            // What was hidden behind it is no request.
            assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{more:?}: {answer}");
        }
    }

    /// Sends more.
    ///
    /// # Errors
    ///
    /// When the other side has closed.
    pub async fn send(&mut self, text: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(text.as_ref()).await
    }

    /// Waits until this has come behind what was waited for before.
    ///
    /// # Panics
    ///
    /// When it doesn't, with what came.
    pub async fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(place) = self.read.find(text) {
                self.read.drain(..place + text.len());
                return;
            }
            let mut piece = [0; 4_096];
            let reading = tokio::time::timeout(PATIENCE, self.stream.read(&mut piece)).await;
            let length =
                reading.unwrap_or_else(|_| panic!("`{text}` comes in time: {}", self.read));
            let length = length.expect("a connection that can be read");
            assert_ne!(length, 0, "the connection was closed before `{text}`: {}", self.read);
            self.read.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    }

    /// Lets a body drip until it is answered, with the first line of that: `HTTP/1.1 408`.
    ///
    /// # Panics
    ///
    /// When it isn't answered in time.
    pub async fn drip(self) -> String {
        let (mut reads, mut writes) = self.stream.into_split();
        let dripping = tokio::spawn(async move {
            while writes.write_all(b" ").await.is_ok() {
                tokio::time::sleep(DRIP).await;
            }
        });
        let mut answer = [0; 12];
        let read = tokio::time::timeout(PATIENCE, reads.read_exact(&mut answer)).await;
        read.expect("it is answered in time").expect("a connection that can be read");
        dripping.abort();
        String::from_utf8_lossy(&answer).into_owned()
    }
}
