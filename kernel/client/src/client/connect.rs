//! Opening a connection to one of the judged addresses.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::AttemptFailure;
use super::connection::{Connection, Http1, Http2};
use super::tls::HTTP2;

/// Addresses that are tried; a name with thousands must not keep us knocking.
const MAX_TRIED: usize = 8;
/// Head start of an address before the next one is tried beside it (RFC 8305, section 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first address that answers; the others are given up.
pub(super) async fn connect(
    addresses: &[IpAddr],
    port: u16,
) -> Result<(TcpStream, IpAddr), AttemptFailure> {
    let mut waiting = addresses.iter().take(MAX_TRIED);
    let mut trying = FuturesUnordered::new();
    let mut last_error = None;
    loop {
        if let Some(address) = waiting.next() {
            trying.push(connect_to(*address, port));
        }
        tokio::select! {
            // The losers are dropped with `trying`, which closes their sockets.
            Some(result) = trying.next() => match result {
                Ok(connected) => return Ok(connected),
                Err(error) => last_error = Some(error),
            },
            () = tokio::time::sleep(HEAD_START), if waiting.len() > 0 => {}
            else => {
                let reason = last_error.map_or_else(
                    || "the host has no address".to_owned(),
                    |error: io::Error| error.to_string(),
                );
                return Err(AttemptFailure::Connect(reason));
            }
        }
    }
}

async fn connect_to(address: IpAddr, port: u16) -> io::Result<(TcpStream, IpAddr)> {
    let stream = TcpStream::connect((address, port)).await?;
    stream.set_nodelay(true)?;
    Ok((stream, address))
}

/// Speaks HTTP/1.1 without TLS.
pub(super) async fn open_plain(stream: TcpStream) -> Result<Connection, AttemptFailure> {
    Http1::open(stream).await.map(Connection::Http1).map_err(|error| unusable(&error))
}

/// Agrees on TLS and speaks what the receiver chose of HTTP/2 and HTTP/1.1.
pub(super) async fn open_tls(
    connector: &TlsConnector,
    server_name: &ServerName<'static>,
    stream: TcpStream,
) -> Result<Connection, AttemptFailure> {
    let stream = connector
        .connect(server_name.clone(), stream)
        .await
        .map_err(|error| AttemptFailure::Tls(error.to_string()))?;
    let opened = if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
        Http2::open(stream).await.map(Connection::Http2)
    } else {
        Http1::open(stream).await.map(Connection::Http1)
    };
    opened.map_err(|error| unusable(&error))
}

fn unusable(error: &hyper::Error) -> AttemptFailure {
    AttemptFailure::Protocol(error.to_string())
}
