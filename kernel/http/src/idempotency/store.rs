//! The answers that are kept.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_LENGTH, DATE, SET_COOKIE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind, KeyRing, Result, micros};
use svc_data::UnitOfWork;
use svc_database::{Backend, Migration, database_error};

use super::asked::Asked;
use super::flights::in_flight;

pub(crate) const MIGRATION: Migration =
    Migration::new("0001_idempotency", include_str!("../../migrations/0001_idempotency.sql"));

/// What an answer counts at least, in bytes: its row and its places in indexes.
const SMALLEST: usize = 1_024;

/// Tells that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// An answer that is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    status: u16,
    headers: Vec<(String, String)>,
    /// In base64; none where it was too large, or came in pieces.
    body: Option<String>,
}

impl Kept {
    /// What is kept of an answer, and the answer.
    pub(super) async fn of(response: Response, largest: usize) -> Result<(Self, Response)> {
        let (parts, mut body) = response.into_parts();
        let size = body.size_hint().exact().and_then(|size| usize::try_from(size).ok());
        let mut kept = None;
        if size.is_some_and(|size| size <= largest) {
            let unreadable = |error| Error::internal("an answer can't be read").caused_by(error);
            let bytes = axum::body::to_bytes(body, largest).await.map_err(unreadable)?;
            kept = Some(STANDARD.encode(&bytes));
            body = Body::from(bytes);
        }
        let headers = parts.headers.iter().filter_map(|(name, value)| {
            let is_kept = ![CONTENT_LENGTH, DATE, SET_COOKIE].contains(name);
            is_kept.then(|| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))?
        });
        let headers = headers.collect();
        let kept = Self { status: parts.status.as_u16(), headers, body: kept };
        Ok((kept, Response::from_parts(parts, body)))
    }

    /// The answer once more. Without its body 200 becomes 204, and says so.
    pub(super) fn repeated(self) -> Result<Response> {
        let unreadable = || Error::internal("a kept answer can't be read");
        let body = self.body.map(|text| STANDARD.decode(text)).transpose();
        let body = body.map_err(|error| unreadable().caused_by(error))?;
        let status = StatusCode::from_u16(self.status).map_err(|_| unreadable())?;
        let is_without = body.is_none();
        let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
        *response.status_mut() =
            if is_without && status == StatusCode::OK { StatusCode::NO_CONTENT } else { status };
        for (name, value) in self.headers {
            if is_without && name == http::header::CONTENT_TYPE.as_str() {
                continue;
            }
            let name = HeaderName::try_from(name).map_err(|_| unreadable())?;
            response.headers_mut().append(name, value.parse().map_err(|_| unreadable())?);
        }
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }
}

/// Keeps other nodes from using the key until the unit of work ends.
pub(super) async fn lock(uow: &UnitOfWork, asked: &Asked) -> Result<()> {
    let database = uow.context().database();
    if database.backend() == Backend::Sqlite {
        // One process serves the file, and knows what it is doing.
        return Ok(());
    }
    let number = u64::from_str_radix(&asked.id[..16], 16).unwrap_or_default().cast_signed();
    let statement = database.statement("SELECT pg_try_advisory_xact_lock(?)", [number.into()]);
    let rows = uow.rows(statement).await?;
    let is_free = rows.first().map(|row| row.try_get_by_index::<bool>(0)).transpose();
    if is_free.map_err(database_error)? == Some(true) { Ok(()) } else { Err(in_flight()) }
}

/// What was answered under the key.
pub(super) async fn find(
    uow: &UnitOfWork,
    asked: &Asked,
    retention: Duration,
) -> Result<Option<Kept>> {
    let context = uow.context();
    let since = context.clock().now_us() - micros::of_span(retention);
    let statement = context.database().statement(
        "SELECT request_hash, answer, rights_hash FROM svc_idempotency_keys \
         WHERE id = ? AND created_at_us > ?",
        [asked.id.clone().into(), since.into()],
    );
    let rows = uow.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let text = |index| row.try_get_by_index::<String>(index).map_err(database_error);
    if text(0)? != asked.request {
        return Err(Error::invalid(
            "this `Idempotency-Key` was used for another request; make a new key for each change",
        ));
    }
    let ring = context.app().service::<KeyRing>()?;
    let kept = ring.reveal(&purpose(asked), &text(1)?)?;
    let mut kept: Kept = serde_json::from_slice(&kept)
        .map_err(|error| Error::internal("a kept answer can't be read").caused_by(error))?;
    if text(2)? != asked.rights {
        // What it tells may be more than can be seen now.
        kept.body = None;
    }
    Ok(Some(kept))
}

/// That no more is kept for the person than may be. Requests that run at once don't see each other, so
/// that a share of them comes in addition.
pub(super) async fn expect_room(
    uow: &UnitOfWork,
    asked: &Asked,
    retention: Duration,
    most: u64,
) -> Result<()> {
    let context = uow.context();
    let now = context.clock().now_us();
    let since = now - micros::of_span(retention);
    let statement = context.database().statement(
        "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT), COALESCE(MIN(created_at_us), 0) \
         FROM svc_idempotency_keys WHERE person = ? AND created_at_us > ?",
        [asked.person.clone().into(), since.into()],
    );
    let rows = uow.rows(statement).await?;
    let number = |index| -> Result<i64> {
        let number = rows.first().map(|row| row.try_get_by_index(index)).transpose();
        number.map(Option::unwrap_or_default).map_err(database_error)
    };
    if u64::try_from(number(0)?).unwrap_or_default() < most {
        return Ok(());
    }
    let wait = u64::try_from(number(1)? - since).unwrap_or_default();
    Err(Error::new(
        ErrorKind::TooManyRequests,
        "as many of your answers are kept as may be, so that no further `Idempotency-Key` is taken; \
         send the request without one, come back when the oldest is forgotten, or have \
         `Svc:Http:IdempotencyPersonBytes` raised",
    )
    .retry_after(Duration::from_micros(wait)))
}

/// Keeps what is answered, in place of what is too old to count.
pub(super) async fn keep(uow: &UnitOfWork, asked: &Asked, kept: &Kept) -> Result<()> {
    let context = uow.context();
    let text = serde_json::to_vec(kept)
        .map_err(|error| Error::internal("an answer can't be kept").caused_by(error))?;
    let answer = context.app().service::<KeyRing>()?.protect(&purpose(asked), &text);
    let size = i64::try_from(answer.len().max(SMALLEST)).unwrap_or(i64::MAX);
    let statement = context.database().statement(
        "INSERT INTO svc_idempotency_keys \
         (id, person, request_hash, rights_hash, answer, size, created_at_us) \
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
         request_hash = excluded.request_hash, rights_hash = excluded.rights_hash, \
         answer = excluded.answer, size = excluded.size, created_at_us = excluded.created_at_us",
        [
            asked.id.clone().into(),
            asked.person.clone().into(),
            asked.request.clone().into(),
            asked.rights.clone().into(),
            answer.into(),
            size.into(),
            context.clock().now_us().into(),
        ],
    );
    uow.execute(statement).await.map(drop)
}

fn purpose(asked: &Asked) -> String {
    format!("http.idempotency:{}", asked.id)
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use http::header::{CONTENT_TYPE, LINK, LOCATION};

    use super::*;

    /// What is repeated of an answer, where bodies of up to four bytes are kept: status, headers and body.
    async fn repeated(answer: Response) -> (u16, Vec<(String, String)>, String) {
        let (kept, _) = Kept::of(answer, 4).await.unwrap();
        let written = serde_json::to_vec(&kept).unwrap();
        let kept: Kept = serde_json::from_slice(&written).unwrap();
        let (parts, body) = kept.repeated().unwrap().into_parts();
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        let headers = parts.headers.iter().map(header).collect();
        let body = axum::body::to_bytes(body, 100).await.unwrap();
        (parts.status.as_u16(), headers, String::from_utf8(body.into()).unwrap())
    }

    #[tokio::test]
    async fn a_body_is_kept_up_to_the_limit_and_else_the_answer_says_that_it_has_none() {
        for (status, body, told, kept) in [
            (200, "four", 200, "four"),
            (200, "more!", 204, ""),
            (200, "", 200, ""),
            (201, "four", 201, "four"),
            (201, "more!", 201, ""),
            (202, "more!", 202, ""),
            (204, "", 204, ""),
            (303, "more!", 303, ""),
        ] {
            let status_code = StatusCode::from_u16(status).unwrap();
            let answer = (status_code, [(CONTENT_TYPE, "text/x"), (LOCATION, "/x")], body);
            let (again, headers, text) = repeated(answer.into_response()).await;
            assert_eq!((again, text.as_str()), (told, kept), "{status} {body}");
            let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
            // What there is no body of has no media type.
            let lost = body.len() > 4;
            assert_eq!(names.contains(&"content-type"), !lost, "{status} {body}");
            assert!(names.contains(&"location") && names.contains(&"idempotency-replayed"));
        }
    }

    #[tokio::test]
    async fn a_body_that_comes_in_pieces_is_sent_and_not_kept() {
        let pieces = futures::stream::iter(["a", "b"].map(Ok::<_, std::io::Error>));
        let answer = Response::new(Body::from_stream(pieces));
        let (kept, sent) = Kept::of(answer, 4).await.unwrap();
        assert_eq!(axum::body::to_bytes(sent.into_body(), 100).await.unwrap(), "ab");
        assert_eq!(kept.repeated().unwrap().status(), StatusCode::NO_CONTENT);
    }

    #[tokio::test]
    async fn all_lines_of_a_header_are_repeated_but_for_secrets_and_what_the_host_says() {
        let mut answer = Response::new(Body::from("four"));
        for (name, value) in [
            (LINK, "</a>"),
            (SET_COOKIE, "s=1"),
            (LINK, "</b>"),
            (DATE, "x"),
            (CONTENT_LENGTH, "4"),
        ] {
            answer.headers_mut().append(name, value.parse().unwrap());
        }
        let (_, headers, _) = repeated(answer).await;
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected =
            [told("link", "</a>"), told("link", "</b>"), told("idempotency-replayed", "true")];
        assert_eq!(headers, expected);
    }
}
