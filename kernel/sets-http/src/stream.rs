//! Bodies that are sent while they are made.
//!
//! The first piece is made before the answer begins, so that what fails at the start is an error as
//! any other, and what fits into one piece is sent whole, with its length. From then on a task of
//! its own makes the rest, piece by piece, as fast as the client takes them:
//!
//! | What happens | What comes of it |
//! | --- | --- |
//! | the client is slow | after [`WAIT`] what is held for it is given up, and taken up again |
//! | it takes nothing for `Svc:OData:ReaderTimeout` | the answer ends as if the client were gone |
//! | it goes away | the task ends where it stands, and its connection is free |
//! | something fails | the body ends in the middle of its JSON: see below |
//!
//! A failure behind the first piece can't change the status any more. The body then stops short
//! (OData 4.01, 9.5: the answer is left malformed), so that nobody takes it for a whole one. To a
//! client that said `TE: trailers` the error follows as the trailing header `OData-Error`; for every
//! other the connection is cut off, which no client overlooks.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::header::{TE, TRAILER};
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::Frame;
use svc_core::{Error, ErrorKind, Result};
use svc_http::problem_parts;
use svc_odata::json::ErrorBody;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::Instrument as _;

/// How large a piece is, in bytes, give or take a row.
const PIECE: usize = 64 * 1024;

/// How long a client may take for a piece before what is held for it is given up.
const WAIT: Duration = Duration::from_secs(1);

/// The trailing header of an answer that failed halfway.
const ODATA_ERROR: HeaderName = HeaderName::from_static("odata-error");

/// What reaches the body.
enum Piece {
    Data(Bytes),
    Failed(Error),
    /// Nothing comes any more. Without it the body was cut off.
    End,
}

/// Where the text of a body goes.
pub(super) struct Out {
    /// What was written and not sent yet.
    pub(super) text: String,
    /// The same where it isn't all text; then there is no `text`.
    pub(super) raw: Vec<u8>,
    pieces: Option<mpsc::Sender<Piece>>,
    reader_timeout: Duration,
}

impl Out {
    /// How long the text may become before it is to be sent.
    pub(super) fn room(&self) -> usize {
        if self.pieces.is_some() { PIECE } else { usize::MAX }
    }

    /// Sends the text, where it is long enough. `give_up` is called when the client keeps it
    /// waiting.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) when the client is gone, or
    /// takes nothing for too long.
    pub(super) async fn send(&mut self, give_up: impl FnOnce() -> Result<()>) -> Result<()> {
        let length = self.text.len().max(self.raw.len());
        let Some(pieces) = self.pieces.as_ref().filter(|_| length >= PIECE) else {
            return Ok(());
        };
        let place = if let Ok(place) = timeout(WAIT, pieces.reserve()).await {
            place
        } else {
            give_up()?;
            let place = timeout(self.reader_timeout, pieces.reserve()).await;
            place.map_err(|_| Error::unavailable("the client takes nothing"))?
        };
        let place = place.map_err(|_| Error::unavailable("the client is gone"))?;
        place.send(Piece::Data(if self.raw.is_empty() {
            let next = String::with_capacity(PIECE + PIECE / 8);
            std::mem::replace(&mut self.text, next).into()
        } else {
            std::mem::take(&mut self.raw).into()
        }));
        Ok(())
    }

    /// What is left to be sent.
    fn into_rest(self) -> Bytes {
        if self.raw.is_empty() { self.text.into() } else { self.raw.into() }
    }
}

/// How a body is made.
pub(super) struct Streaming {
    /// Whether it may be sent in pieces; else it is made whole, in the caller's task.
    pub(super) in_pieces: bool,
    /// How long a client may take nothing.
    pub(super) reader_timeout: Duration,
    /// Whether the client takes trailing headers.
    pub(super) trailers: bool,
}

impl Streaming {
    /// Whether a client says that it takes trailing headers.
    pub(super) fn takes_trailers(headers: &HeaderMap) -> bool {
        let words = headers.get_all(TE).iter().filter_map(|value| value.to_str().ok());
        words.flat_map(|value| value.split(',')).any(|word| word.trim() == "trailers")
    }
}

/// Makes a body. `work` writes it, and hands back what it wrote to. Answers with the headers of a
/// body that comes in pieces, too.
///
/// # Errors
///
/// What fails before the first piece is full.
pub(super) async fn body<F, W>(streaming: Streaming, work: F) -> Result<(Body, HeaderMap)>
where
    F: FnOnce(Out) -> W,
    W: Future<Output = Result<Out>> + Send + 'static,
{
    let (sender, mut pieces) = mpsc::channel(1);
    let closing = sender.clone();
    let out = Out {
        text: String::with_capacity(if streaming.in_pieces { 4_096 } else { PIECE }),
        raw: Vec::new(),
        pieces: streaming.in_pieces.then_some(sender),
        reader_timeout: streaming.reader_timeout,
    };
    let mut work = Box::pin(work(out));
    let first = tokio::select! {
        biased;
        done = &mut work => {
            let rest = done?.into_rest();
            return Ok((whole(&mut pieces, rest), HeaderMap::new()));
        }
        Some(first) = pieces.recv() => first,
    };
    let going_on = async move {
        let done = tokio::select! {
            biased;
            () = closing.closed() => {
                tracing::debug!("the client went away before the end of its answer");
                return;
            }
            done = work => done,
        };
        let end = match done {
            Ok(out) => {
                // A client that is gone by now needs no end.
                let _ = closing.send(Piece::Data(out.into_rest())).await;
                Piece::End
            }
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                tracing::warn!(error = error.report(), "an answer was not sent to its end");
                Piece::Failed(error)
            }
            Err(error) => {
                tracing::error!(error = error.report(), "an answer failed after it had begun");
                Piece::Failed(error)
            }
        };
        let _ = closing.send(end).await;
    };
    tokio::spawn(going_on.in_current_span());
    let mut headers = HeaderMap::new();
    if streaming.trailers {
        headers.insert(TRAILER, HeaderValue::from_static("OData-Error"));
    }
    let body =
        Pieces { first: Some(first), rest: pieces, trailers: streaming.trailers, ended: false };
    Ok((Body::new(body), headers))
}

/// A body of which every piece is there.
fn whole(pieces: &mut mpsc::Receiver<Piece>, rest: Bytes) -> Body {
    match pieces.try_recv() {
        Ok(Piece::Data(first)) => {
            let mut all = Vec::with_capacity(first.len() + rest.len());
            all.extend_from_slice(&first);
            all.extend_from_slice(&rest);
            all.into()
        }
        _ => rest.into(),
    }
}

struct Pieces {
    first: Option<Piece>,
    rest: mpsc::Receiver<Piece>,
    trailers: bool,
    ended: bool,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let piece = match self.first.take() {
            Some(first) => Some(first),
            None => ready!(self.rest.poll_recv(context)),
        };
        let failure = match piece {
            Some(Piece::Data(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Piece::End) => {
                self.ended = true;
                return Poll::Ready(None);
            }
            Some(Piece::Failed(error)) => error,
            None => Error::internal("the task that makes an answer is gone"),
        };
        self.ended = true;
        Poll::Ready(Some(match trailer(&failure).filter(|_| self.trailers) {
            Some(trailer) => Ok(Frame::trailers(trailer)),
            None => Err(failure),
        }))
    }
}

/// The error as a trailing header.
fn trailer(error: &Error) -> Option<HeaderMap> {
    let parts = problem_parts(error);
    let mut body = ErrorBody::new(parts.code, parts.detail);
    body.target = parts.target.map(str::to_owned);
    let value = HeaderValue::from_bytes(body.to_json().as_bytes()).ok()?;
    Some(HeaderMap::from_iter([(ODATA_ERROR, value)]))
}
