use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use svc_core::Place;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The body of an answer that goes on as it comes.
pub(super) struct Passing<B> {
    body: B,
    /// Ends it, where it has no end of its own.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _place: Place,
}

impl<B> Passing<B> {
    pub(super) fn new(body: B, place: Place, stop: Option<CancellationToken>) -> Self {
        let stop = stop.map(|stop| Box::pin(stop.cancelled_owned()));
        Self { body, stop, _place: place }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Passing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(stop) = &mut self.stop
            && stop.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(None);
        }
        Poll::Ready(ready!(Pin::new(&mut self.body).poll_frame(context)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
