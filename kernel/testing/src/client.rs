use axum::Router;
use axum::body::Body;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

/// Somebody who calls the application's HTTP API, without a socket in between.
#[derive(Clone)]
pub struct Client {
    router: Router,
    credential: Option<String>,
}

/// What the application answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub text: String,
}

impl Answer {
    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// A header's text; empty where it isn't sent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Insists on a status, and answers with the JSON.
    ///
    /// # Panics
    ///
    /// When it was another, with what was answered.
    #[must_use = "what must have happened is often only half of what a test should look at"]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json()
    }
}

impl Client {
    pub(crate) fn new(router: Router, credential: Option<String>) -> Self {
        Self { router, credential }
    }

    /// The same caller with another `Authorization` header.
    #[must_use]
    pub fn with_credential(&self, credential: &str) -> Self {
        Self { router: self.router.clone(), credential: Some(credential.to_owned()) }
    }

    /// Reads.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    /// Sends JSON with POST.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::POST, path, &[], body).await
    }

    /// Sends JSON with PUT.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PUT, path, &[], body).await
    }

    /// Sends JSON with PATCH.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PATCH, path, &[], body).await
    }

    /// Deletes.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], Body::empty()).await
    }

    /// Sends JSON with headers of its own.
    pub async fn send_json(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Answer {
        let mut all = vec![(CONTENT_TYPE.as_str(), "application/json")];
        all.extend(headers);
        self.send(method, path, &all, Body::from(body.to_string())).await
    }

    /// Sends anything.
    ///
    /// # Panics
    ///
    /// When the request is none, or the answer's body breaks off.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let response = self.begin(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// Sends anything, and answers before the body was read: for streams.
    ///
    /// # Panics
    ///
    /// When the request is none.
    pub async fn begin(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(credential) = &self.credential {
            request = request.header(AUTHORIZATION, credential);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).expect("a request that can be sent");
        let Ok(response) = self.router.clone().oneshot(request).await;
        response
    }
}
