//! What happens on a connection, so that one on which nothing does can be closed.
//!
//! A client may keep a connection for as long as it likes where it does something with it. What it
//! can't do is keep it with nothing: by answering pings of HTTP/2 alone, by asking and not reading,
//! or by reading a byte now and then. [`Activity::rests`] tells of a time in which
//!
//! - no request began,
//! - none waited for this application (for its answer to begin, or for the next piece of one), and
//! - fewer than [`LEAST`] bytes came or went.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::guests::Guest;

/// How many bytes are something, where no request begins.
const LEAST: u64 = 16 * 1024;

/// What happens on a connection.
#[derive(Default)]
pub(super) struct Activity {
    /// Requests that have begun.
    begun: AtomicU64,
    /// Requests that wait for this application.
    awaited: AtomicUsize,
    /// Bytes that came or went.
    moved: AtomicU64,
}

impl Activity {
    /// Resolves when nothing has happened for so long, give or take as much.
    pub(super) async fn rests(&self, span: Duration) {
        let seen = || (self.begun.load(Ordering::Relaxed), self.moved.load(Ordering::Relaxed));
        let mut last = seen();
        loop {
            tokio::time::sleep(span).await;
            let (now, is_awaited) = (seen(), self.awaited.load(Ordering::Relaxed) > 0);
            if !is_awaited && now.0 == last.0 && now.1 - last.1 < LEAST {
                return;
            }
            last = now;
        }
    }
}

/// A request from its beginning to the end of its answer.
pub(super) struct UnderWay {
    guest: Arc<Guest>,
    activity: Arc<Activity>,
    is_awaited: bool,
}

impl UnderWay {
    pub(super) fn begin(guest: Arc<Guest>, activity: Arc<Activity>) -> Self {
        guest.begins();
        activity.begun.fetch_add(1, Ordering::Relaxed);
        let mut under_way = Self { guest, activity, is_awaited: false };
        under_way.awaits(true);
        under_way
    }

    /// Whether it waits for this application.
    fn awaits(&mut self, is_awaited: bool) {
        match (std::mem::replace(&mut self.is_awaited, is_awaited), is_awaited) {
            (false, true) => drop(self.activity.awaited.fetch_add(1, Ordering::Relaxed)),
            (true, false) => drop(self.activity.awaited.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
    }

    /// The body of its answer.
    pub(super) fn answer(mut self, body: Body) -> AnswerBody {
        self.awaits(false);
        AnswerBody { body, under_way: self }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.awaits(false);
        self.guest.ends();
    }
}

/// The body of an answer that is being sent.
pub(super) struct AnswerBody {
    body: Body,
    under_way: UnderWay,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.under_way.awaits(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A socket whose bytes are counted.
pub(super) struct Counted<S> {
    socket: S,
    activity: Arc<Activity>,
}

impl<S> Counted<S> {
    pub(super) fn new(socket: S, activity: Arc<Activity>) -> Self {
        Self { socket, activity }
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.activity.moved.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        self.activity.moved.fetch_add(bytes as u64, Ordering::Relaxed);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
