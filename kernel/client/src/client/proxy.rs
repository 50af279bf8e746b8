//! Tunnels through the operator's proxy.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::HeaderValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::AttemptFailure;

/// The longest head of a proxy's answer.
const LONGEST_HEAD: usize = 8 * 1024;

/// An HTTP proxy that opens tunnels (`CONNECT`, RFC 9110, 9.3.6). It is the operator's, so its
/// address is not judged.
#[derive(Clone)]
pub struct Proxy {
    /// Its host, a name or an address, and its port: `proxy.example:3128`.
    pub authority: String,
    /// The value of `Proxy-Authorization`, where it wants one.
    pub authorization: Option<HeaderValue>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.authority).finish()
    }
}

impl Proxy {
    /// Opens a tunnel to the first of the judged addresses that the proxy reaches.
    pub(super) async fn connect(
        &self,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<(TcpStream, IpAddr), AttemptFailure> {
        let mut failure = "the host has no address".to_owned();
        for address in addresses {
            match self.tunnel(SocketAddr::new(*address, port)).await {
                Ok(stream) => return Ok((stream, *address)),
                Err(reason) => failure = reason,
            }
        }
        Err(AttemptFailure::Connect(failure))
    }

    async fn tunnel(&self, target: SocketAddr) -> Result<TcpStream, String> {
        let unreachable = |error: std::io::Error| format!("the proxy can't be reached: {error}");
        let mut stream = TcpStream::connect(&self.authority).await.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
        if let Some(authorization) = &self.authorization {
            head.extend_from_slice(b"Proxy-Authorization: ");
            head.extend_from_slice(authorization.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        stream.write_all(&head).await.map_err(unreachable)?;
        match read_status(&mut stream).await? {
            200..=299 => Ok(stream),
            status => Err(format!("the proxy answered `{status}`")),
        }
    }
}

/// Reads the head of the proxy's answer, byte by byte: what follows belongs to the tunnel.
async fn read_status(stream: &mut TcpStream) -> Result<u16, String> {
    let mut head = Vec::with_capacity(128);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST_HEAD {
            return Err("the proxy's answer has no end".to_owned());
        }
        let byte = stream.read_u8().await;
        head.push(byte.map_err(|_| "the proxy closed the connection".to_owned())?);
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let status = std::str::from_utf8(line).ok().and_then(|line| {
        let (version, rest) = line.split_once(' ')?;
        version.starts_with("HTTP/1.").then_some(())?;
        rest.get(..3)?.parse().ok()
    });
    status.ok_or_else(|| "the proxy doesn't speak HTTP/1.1".to_owned())
}
