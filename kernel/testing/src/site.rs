use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;
use http::{Request, Response, request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A site on this machine that answers by a function, over HTTP, over TLS, or with bare bytes; for
/// what is asked of others.
///
/// It listens until the test's runtime ends.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// A request as it arrived at a [`Site`].
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its line and headers.
    pub head: Arc<request::Parts>,
    /// Its body.
    pub body: Bytes,
}

/// The requests that have arrived at a [`Site`], each with its whole body.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<Vec<Asked>>>);

impl Inbox {
    /// All of them, the newest last.
    #[must_use]
    pub fn all(&self) -> Vec<Asked> {
        self.kept().clone()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kept().len()
    }

    /// Takes out those since the last call, the newest last.
    #[must_use]
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.0.lock()
    }
}

impl Site {
    /// Listens at `bind`, such as `127.0.0.1:0` for any port, and hands every connection, with its number
    /// from 1, to `serve`.
    ///
    /// # Panics
    ///
    /// When nobody can listen there.
    pub async fn raw<F, Fut>(bind: &str, serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(bind).await.expect("an address to listen at");
        let address = listener.local_addr().expect("the port that was given");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(serve(stream, count.fetch_add(1, Ordering::SeqCst) + 1));
            }
        });
        Self { address, connections }
    }

    /// Answers every request over HTTP/1.1 by `answer`, and keeps the requests.
    ///
    /// # Panics
    ///
    /// As [`raw`](Self::raw).
    pub async fn http<A>(bind: &str, answer: A) -> (Self, Inbox)
    where
        A: Fn(&Asked) -> Response<String> + Clone + Send + Sync + 'static,
    {
        let inbox = Inbox::default();
        let kept = inbox.clone();
        let site =
            Self::raw(bind, move |stream, _| serve_http1(stream, kept.clone(), answer.clone()))
                .await;
        (site, inbox)
    }

    /// The same over TLS at any port of `127.0.0.1`, in the version of HTTP that was agreed on.
    ///
    /// # Panics
    ///
    /// As [`raw`](Self::raw).
    pub async fn https<A>(acceptor: TlsAcceptor, answer: A) -> (Self, Inbox)
    where
        A: Fn(&Asked) -> Response<String> + Clone + Send + Sync + 'static,
    {
        let inbox = Inbox::default();
        let kept = inbox.clone();
        let site = Self::raw("127.0.0.1:0", move |stream, _| {
            let (acceptor, kept, answer) = (acceptor.clone(), kept.clone(), answer.clone());
            async move {
                // Whoever refuses the other's certificate ends the handshake.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                    serve_http2(stream, kept, answer).await;
                } else {
                    serve_http1(stream, kept, answer).await;
                }
            }
        })
        .await;
        (site, inbox)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections it has accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn receive<A>(
    request: Request<Incoming>,
    inbox: Inbox,
    answer: A,
) -> hyper::Result<Response<Full<Bytes>>>
where
    A: Fn(&Asked) -> Response<String>,
{
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let asked = Asked { head: Arc::new(head), body };
    inbox.kept().push(asked.clone());
    Ok(answer(&asked).map(|body| Full::new(Bytes::from(body))))
}

async fn serve_http1<S, A>(stream: S, inbox: Inbox, answer: A)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(&Asked) -> Response<String> + Clone,
{
    let service = service_fn(|request| receive(request, inbox.clone(), answer.clone()));
    // The client may close its connection at any time.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn serve_http2<S, A>(stream: S, inbox: Inbox, answer: A)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(&Asked) -> Response<String> + Clone + Send + Sync + 'static,
{
    let service = service_fn(move |request| receive(request, inbox.clone(), answer.clone()));
    let _ = http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
