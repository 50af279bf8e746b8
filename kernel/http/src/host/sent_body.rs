//! A body that tells when it was sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// What is told of the end of a body.
pub(super) trait BodyEnd {
    /// The body's last piece was taken; or nobody takes any more of it, or it failed.
    fn ended(self, is_whole: bool);
}

/// A body with somebody who wants to know of its end.
pub(super) struct SentBody<E: BodyEnd> {
    body: Body,
    end: Option<E>,
}

impl<E: BodyEnd> SentBody<E> {
    pub(super) fn new(body: Body, end: E) -> Self {
        Self { body, end: Some(end) }
    }

    fn tell(&mut self, is_whole: bool) {
        if let Some(end) = self.end.take() {
            end.ended(is_whole);
        }
    }
}

impl<E: BodyEnd + Unpin> HttpBody for SentBody<E> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            None => self.tell(true),
            Some(Err(_)) => self.tell(false),
            // Behind trailers, and behind the last piece where it is known as such, nobody asks.
            Some(Ok(frame)) if frame.is_trailers() || self.body.is_end_stream() => self.tell(true),
            Some(Ok(_)) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<E: BodyEnd> Drop for SentBody<E> {
    fn drop(&mut self) {
        self.tell(false);
    }
}
