//! Open connections, and the tasks that drive them.
//!
//! Every task of a connection ends with the connection's last handle: a peer that never reads
//! cannot keep one alive by refusing a polite good-bye.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Longest header section of an answer.
const MAX_HEADER_BYTES: u32 = 16 * 1024;
/// Read buffer of an HTTP/1.1 connection.
const MAX_BUFFER_BYTES: usize = 32 * 1024;
/// What one HTTP/2 stream, and all of a connection together, may send us unread.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Requests at once on one HTTP/2 connection, if the receiver allows as many.
const MAX_STREAMS: usize = 100;

/// A connection for one request.
pub(super) enum Connection {
    Http1(Http1),
    Http2(Lease),
}

/// An HTTP/1.1 connection: one request at a time.
pub(super) struct Http1 {
    pub(super) sender: http1::SendRequest<Full<Bytes>>,
    tasks: Tasks,
}

impl Drop for Http1 {
    fn drop(&mut self) {
        self.tasks.stop();
    }
}

impl Http1 {
    pub(super) async fn open<S>(stream: S) -> hyper::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .max_header_size(MAX_HEADER_BYTES as usize)
            .max_buf_size(MAX_BUFFER_BYTES)
            .handshake(TokioIo::new(stream))
            .await?;
        let tasks = Tasks::default();
        tasks.spawn(connection);
        Ok(Self { sender, tasks })
    }
}

/// An HTTP/2 connection, shared by requests; lives as long as a handle to it.
#[derive(Clone)]
pub(super) struct Http2 {
    pub(super) sender: http2::SendRequest<Full<Bytes>>,
    state: Arc<Http2State>,
}

struct Http2State {
    active: AtomicUsize,
    /// Requests at once that the receiver allows now; none when the connection has ended.
    max_streams: Box<dyn Fn() -> usize + Send + Sync>,
    /// An attempt ended badly here; the connection serves no further ones.
    broken: AtomicBool,
    tasks: Tasks,
}

impl Drop for Http2State {
    fn drop(&mut self) {
        self.tasks.stop();
    }
}

impl Http2 {
    /// Opens a connection and takes its first request's place on it.
    pub(super) async fn open<S>(stream: S) -> hyper::Result<Lease>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let tasks = Tasks::default();
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .timer(TokioTimer::new())
            .max_header_list_size(MAX_HEADER_BYTES)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        let connection = Arc::new(Mutex::new(connection));
        let asked = Arc::downgrade(&connection);
        tasks.spawn(std::future::poll_fn(move |cx| Pin::new(&mut *connection.lock()).poll(cx)));
        let state = Http2State {
            active: AtomicUsize::new(1),
            max_streams: Box::new(move || {
                asked.upgrade().map_or(0, |it| it.lock().current_max_send_streams())
            }),
            broken: AtomicBool::new(false),
            tasks,
        };
        Ok(Lease { connection: Self { sender, state: Arc::new(state) }, finished: false })
    }

    /// A place for one more request, if there is any.
    pub(super) fn lease(&self) -> Option<Lease> {
        let limit = (self.state.max_streams)().min(MAX_STREAMS);
        let place = |active| (active < limit).then_some(active + 1);
        self.state.active.fetch_update(Ordering::Relaxed, Ordering::Relaxed, place).ok()?;
        Some(Lease { connection: self.clone(), finished: false })
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.state.broken.load(Ordering::Relaxed) && !self.sender.is_closed()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.state.active.load(Ordering::Relaxed) == 0
    }
}

/// One request's place on an HTTP/2 connection.
pub(super) struct Lease {
    connection: Http2,
    finished: bool,
}

impl Lease {
    pub(super) fn connection(&self) -> &Http2 {
        &self.connection
    }

    pub(super) fn sender(&mut self) -> &mut http2::SendRequest<Full<Bytes>> {
        &mut self.connection.sender
    }

    /// The answer was read to its end. Without this call (an error, a timeout, a body that was
    /// cut) the connection counts as broken: it may be one that nobody answers any more.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let state = &self.connection.state;
        if !self.finished {
            state.broken.store(true, Ordering::SeqCst);
        }
        let was_last = state.active.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && state.broken.load(Ordering::SeqCst) {
            // The pool may still hold a handle; nobody will use it.
            state.tasks.stop();
        }
    }
}

/// Runs the tasks of one connection until they are stopped.
#[derive(Clone, Default)]
struct Tasks(CancellationToken);

impl Tasks {
    fn spawn<F>(&self, future: F)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let cancelled = self.0.clone();
        tokio::spawn(async move {
            // How a connection ended is told to the request on it, if there is one.
            cancelled.run_until_cancelled_owned(future).await;
        });
    }

    fn stop(&self) {
        self.0.cancel();
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        self.spawn(future);
    }
}
