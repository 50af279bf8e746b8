//! Receivers: one that speaks HTTP properly, and a bare socket for those that do not.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A listening socket, with a count of the connections that it accepted.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: Arc<http::request::Parts>,
    pub(crate) body: Bytes,
}

/// The requests that arrived so far.
#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Vec<Received>>>);

impl Inbox {
    pub(crate) fn all(&self) -> Vec<Received> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Receiver {
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Hands every connection, with its number from 1, to `serve`.
    pub(crate) async fn raw<F, Fut>(bind: &str, serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(bind).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, count.fetch_add(1, Ordering::SeqCst) + 1));
            }
        });
        Self { address, connections }
    }

    /// Answers every request over HTTP/1.1 by `answer`, and keeps the requests.
    pub(crate) async fn http<A>(bind: &str, answer: A) -> (Self, Inbox)
    where
        A: Fn(&Received) -> Response<String> + Clone + Send + Sync + 'static,
    {
        let inbox = Inbox::default();
        let kept = inbox.clone();
        let receiver =
            Self::raw(bind, move |stream, _| serve_http1(stream, kept.clone(), answer.clone()))
                .await;
        (receiver, inbox)
    }

    /// The same over TLS, at `127.0.0.1`.
    pub(crate) async fn https<A>(acceptor: TlsAcceptor, answer: A) -> (Self, Inbox)
    where
        A: Fn(&Received) -> Response<String> + Clone + Send + Sync + 'static,
    {
        let inbox = Inbox::default();
        let kept = inbox.clone();
        let receiver = Self::raw("127.0.0.1:0", move |stream, _| {
            let (acceptor, kept, answer) = (acceptor.clone(), kept.clone(), answer.clone());
            async move {
                // Whoever has no certificate that is wanted is refused.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                serve_http1(stream, kept, answer).await;
            }
        })
        .await;
        (receiver, inbox)
    }
}

async fn receive<A>(
    request: Request<Incoming>,
    inbox: Inbox,
    answer: A,
) -> Result<Response<Full<Bytes>>, Infallible>
where
    A: Fn(&Received) -> Response<String>,
{
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let received = Received { head: Arc::new(head), body };
    inbox.0.lock().unwrap().push(received.clone());
    Ok(answer(&received).map(|body| Full::new(Bytes::from(body))))
}

async fn serve_http1<S, A>(stream: S, inbox: Inbox, answer: A)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(&Received) -> Response<String> + Clone,
{
    let service = service_fn(|request| receive(request, inbox.clone(), answer.clone()));
    // The client may close its connection at any time.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
