//! The listening server.
//!
//! | Phase | New connections | `/health/ready` | Running requests |
//! | --- | --- | --- | --- |
//! | serving | accepted | 200 | served |
//! | noticed (`ShutdownDelay`) | accepted | 503 | served |
//! | draining (`ShutdownTimeout`) | refused | 503 | finish; their connections close |
//! | stopped | refused | – | cut off |
//!
//! There are at most `Svc:Http:MaxConnections` of them, of which idle ones make room for new ones (`server/guests.rs`). One
//! on which nothing happens is closed (`server/activity.rs`):
//!
//! | For `Svc:Http:HeaderTimeout` | it |
//! | --- | --- |
//! | a head of a request is not whole, or none comes | is closed |
//! | nothing happens, or hardly anything | is told to end, as on a stop |
//! | and goes on so | is cut off |

mod activity;
mod guests;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use svc_core::{Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use crate::host::Host;
use crate::settings::HttpSettings;
use activity::{Activity, Counted, UnderWay};
use guests::Guests;

/// How long accepting pauses when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that has taken its address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    host: Host,
}

impl Server {
    /// Takes the address that the settings name; connections wait until [`Server::serve`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when the address is in use or
    /// may not be listened on.
    pub async fn bind(host: &Host) -> Result<Self> {
        let listen = host.state().settings().listen;
        let refused = |error: io::Error| {
            let message =
                format!("can't listen on `{listen}`; set another address with `Svc:Http:Listen`");
            Error::unavailable(message).caused_by(error)
        };
        let listener = TcpListener::bind(listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address, host: host.clone() })
    }

    /// The address, with the port that was given where the settings ask for any.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` resolves and the running ones have finished, at most for
    /// `Svc:Http:ShutdownTimeout`.
    ///
    /// # Errors
    ///
    /// None today: a fault of one connection ends that connection only.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<()> {
        let Self { listener, host, address } = self;
        let state = host.state().clone();
        let settings = state.settings();
        let connections = Connections::new(host.router(), settings);
        tracing::info!(%address, "listening");
        {
            let until = async {
                stop.await;
                state.begin_draining();
                tokio::time::sleep(settings.shutdown_delay).await;
            };
            let mut until = pin!(until);
            loop {
                tokio::select! {
                    // A stop must be noticed also while connections come without a pause.
                    biased;
                    () = &mut until => break,
                    accepted = listener.accept() => match accepted {
                        Ok((stream, peer)) => connections.begin(stream, peer),
                        Err(error) => pause_after(&error).await,
                    },
                }
            }
        }
        drop(listener);
        connections.finish(settings.shutdown_timeout).await;
        Ok(())
    }
}

/// A client that went away before it was accepted is no reason to wait; anything else is a lack
/// of sockets or memory, which passes.
async fn pause_after(error: &io::Error) {
    let is_of_client = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    );
    if !is_of_client {
        tracing::error!(%error, "a connection could not be accepted");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// Streams of HTTP/2 that one connection may have open.
const STREAMS: u32 = 100;

/// The open connections.
struct Connections {
    router: Router,
    builder: Builder<TokioExecutor>,
    guests: Guests,
    open: TaskTracker,
    /// They end after the requests that are under way.
    stop: CancellationToken,
    /// How long nothing may happen on one.
    patience: Duration,
}

impl Connections {
    fn new(router: Router, settings: &HttpSettings) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(settings.header_timeout);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(settings.header_timeout)
            .max_concurrent_streams(STREAMS);
        let most = usize::try_from(settings.max_connections).unwrap_or(usize::MAX);
        Self {
            router,
            builder,
            guests: Guests::new(most),
            open: TaskTracker::new(),
            stop: CancellationToken::new(),
            patience: settings.header_timeout,
        }
    }

    fn begin(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(guest) = self.guests.receive() else { return };
        // Answers are written whole, so waiting for more to send only adds delay.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        let router = self.router.clone();
        let (guest, activity) = (Arc::new(guest), Arc::new(Activity::default()));
        let (speaker, busy) = (Arc::clone(&guest), Arc::clone(&activity));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let under_way = UnderWay::begin(Arc::clone(&speaker), Arc::clone(&busy));
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            // The router is always ready, so it may be called at once.
            let answer = router.clone().call(request);
            async move { answer.await.map(|response| response.map(|body| under_way.answer(body))) }
        });
        let (builder, patience) = (self.builder.clone(), self.patience);
        let stop = self.stop.clone();
        self.open.spawn(async move {
            let stream = TokioIo::new(Counted::new(stream, Arc::clone(&activity)));
            let mut connection = pin!(builder.serve_connection_with_upgrades(stream, service));
            let mut is_ending = false;
            loop {
                tokio::select! {
                    ended = connection.as_mut() => {
                        if let Err(error) = ended {
                            tracing::debug!(error, %peer, "a connection ended early");
                        }
                        return;
                    }
                    () = stop.cancelled(), if !is_ending => {}
                    () = guest.is_sent_away(), if !is_ending => {
                        tracing::debug!(%peer, "an idle connection makes room");
                    }
                    () = activity.rests(patience) => {
                        tracing::debug!(%peer, "nothing happens on a connection");
                        if is_ending {
                            return;
                        }
                    }
                }
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
        });
    }

    async fn finish(self, timeout: Duration) {
        self.stop.cancel();
        self.open.close();
        let open = self.open.len();
        if tokio::time::timeout(timeout, self.open.wait()).await.is_err() {
            tracing::warn!(open, "requests were cut off; `Svc:Http:ShutdownTimeout` was too short");
        }
    }
}
