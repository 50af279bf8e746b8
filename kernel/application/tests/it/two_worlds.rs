//! What can't be told apart can't leak: everything is asked in two worlds that differ only in what
//! a person may not see, and the answers must be the same to the last letter.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, TestApp};

use crate::fixture::path;

/// How many requests are asked once more in one batch.
const BATCH: usize = 50;

/// What is asked: what is read, by set and options, and what is changed, by method, address and
/// body.
pub struct Questions {
    pub reads: Vec<(String, String)>,
    pub changes: Vec<(Method, String, Value)>,
}

/// An answer without what differs from request to request.
pub fn told(status: u16, text: &str) -> String {
    let mut body = text.to_owned();
    if let Ok(mut json) = serde_json::from_str::<Value>(text) {
        if let Some(error) = json.get_mut("error").and_then(Value::as_object_mut) {
            error.remove("innererror");
        }
        body = json.to_string();
    }
    format!("{status} {body}")
}

impl Questions {
    /// All that a person is told by every way in, one line each.
    async fn ask(&self, client: &Client) -> Vec<String> {
        let mut lines = Vec::new();
        let mut requests = Vec::new();
        for (set, options) in &self.reads {
            let path = path(set, options);
            let path = path.trim_end_matches('?');
            let answer = client.get(path).await;
            // Behind the version it is made of what was sent, which differs by identifiers and times.
            let tag = answer.header("etag").split('.').next().unwrap_or_default().to_owned();
            let told = told(answer.status.as_u16(), &answer.text);
            lines.push(format!("{set}?{options}: {told} {tag}"));
            requests.push(json!({"id": lines.len().to_string(), "method": "get", "url": path}));
        }
        for some in requests.chunks(BATCH) {
            let headers = [("prefer", "continue-on-error")];
            let body = json!({"requests": some});
            let batch = client.send_json(Method::POST, "/odata/v1/$batch", &headers, body).await;
            lines.push(format!("batch: {}", told(batch.status.as_u16(), &batch.text)));
        }
        for (method, address, body) in &self.changes {
            for tag in ["*", "W/\"1\"", "W/\"1\", W/\"2\""] {
                let (path, headers) = (format!("/odata/v1/{address}"), [("if-match", tag)]);
                let sent = client.send_json(method.clone(), &path, &headers, body.clone()).await;
                let version = sent.header("etag").to_owned();
                let sent = told(sent.status.as_u16(), &sent.text);
                lines.push(format!("{method} {address} {body} {tag}: {sent} {version}"));
            }
        }
        lines
    }

    /// Insists that a person is told the same in both worlds, and that nothing is a fault. Who may
    /// see everything must be told something else often enough: at least one answer of so many.
    pub async fn tell_no_difference(
        &self,
        without: &TestApp,
        with: &TestApp,
        narrow: &Person,
        one_of: usize,
    ) {
        let told_without = self.ask(&without.sign_in(narrow)).await;
        let told_with = self.ask(&with.sign_in(narrow)).await;
        assert_eq!(told_without.len(), told_with.len());
        for (without, with) in told_without.iter().zip(&told_with) {
            assert_eq!(without, with);
            assert!(!without.contains(": 5"), "{without}");
        }
        let boss = Person::named("boss");
        let first = self.ask(&without.sign_in(&boss)).await;
        let second = self.ask(&with.sign_in(&boss)).await;
        let differ = first.iter().zip(&second).filter(|(first, second)| first != second).count();
        assert!(differ * one_of > first.len(), "{differ} of {}", first.len());
    }
}
