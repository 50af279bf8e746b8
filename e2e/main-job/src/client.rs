use std::time::Duration;

use serde_json::Value;
use ureq::http::HeaderMap;

use crate::API_KEY;

/// Who calls a running program, as its administrator or as somebody else. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    key: String,
    agent: ureq::Agent,
}

/// An answer of the program.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub text: String,
    /// The body, null where there is none or it is no JSON.
    pub json: Value,
}

impl Client {
    pub(crate) fn new(url: String) -> Self {
        let config = ureq::config::Config::builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_global(Some(Duration::from_secs(30)))
            .build();
        Self { url, key: API_KEY.to_owned(), agent: ureq::Agent::new_with_config(config) }
    }

    /// Whoever has this API key, calling the same program.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// When no whole answer comes, as when the program was killed meanwhile.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, ureq::Error> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {}", self.key));
        let mut answer = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(body.to_string())?)
            }
            None => self.agent.run(request.body(())?),
        }?;
        let text = answer.body_mut().read_to_string()?;
        Ok(Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            json: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        })
    }
}
