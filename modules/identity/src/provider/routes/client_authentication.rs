//! How a client proves who it is (RFC 6749, section 2.3).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use svc_core::{App, Result};

use crate::provider::clients::{Clients, KnownClient};
use crate::provider::form::{Form, Refused, refused};

/// What a client presents.
#[derive(Debug, PartialEq, Eq)]
struct Presented {
    id: String,
    secret: Option<String>,
    by_header: bool,
}

/// The client that sent a request: by `Authorization: Basic`, by parameters of the form, or by its name
/// alone where it is public. The refusal says whether it tried by header.
pub(super) async fn authenticate(
    app: &App,
    issuer: &str,
    headers: &HeaderMap,
    form: &Form,
) -> Result<Result<Arc<KnownClient>, (Refused, bool)>> {
    let Presented { id, secret, by_header } = match presented(headers, form) {
        Ok(presented) => presented,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // One sentence for every reason: who tries names learns nothing from it.
    let unknown =
        || (refused("invalid_client", "the client isn't known, or its secret is wrong"), by_header);
    let Some(client) = app.service::<Clients>()?.find(&id, issuer).await? else {
        return Ok(Err(unknown()));
    };
    let is_proved = match secret {
        Some(secret) => client.has_secret(&secret),
        None => client.is_public(),
    };
    Ok(if is_proved { Ok(client) } else { Err(unknown()) })
}

fn presented(headers: &HeaderMap, form: &Form) -> Result<Presented, (Refused, bool)> {
    let (id, secret) = (form.get("client_id"), form.get("client_secret"));
    let mut credentials = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (credentials.next(), credentials.next());
    let Some(header) = first else {
        let id = id.ok_or_else(|| (refused("invalid_client", "`client_id` is missing"), false))?;
        let secret = secret.map(str::to_owned);
        return Ok(Presented { id: id.to_owned(), secret, by_header: false });
    };
    let unreadable = || {
        (refused("invalid_client", "`Authorization` must be `Basic` with name and secret"), true)
    };
    let (by_header, secret_of_header) =
        header.to_str().ok().and_then(basic).filter(|_| second.is_none()).ok_or_else(unreadable)?;
    // RFC 6749, section 2.3: one way in a request.
    if secret.is_some() || id.is_some_and(|id| id != by_header) {
        let message = "the client proves who it is in two ways; use one";
        return Err((refused("invalid_request", message), true));
    }
    Ok(Presented { id: by_header, secret: Some(secret_of_header), by_header: true })
}

/// Name and secret, each encoded as in a form (RFC 6749, section 2.3.1).
fn basic(value: &str) -> Option<(String, String)> {
    let (scheme, credential) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(credential.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    let decode = |text: &str| {
        let pair = format!("x={}", text.replace('&', "%26").replace(';', "%3B"));
        let decoded = form_urlencoded::parse(pair.as_bytes()).next();
        decoded.map(|(_, value)| value.into_owned())
    };
    Some((decode(id)?, decode(secret)?))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(value: &str) -> HeaderMap {
        [(AUTHORIZATION, HeaderValue::from_str(value).unwrap())].into_iter().collect()
    }

    #[test]
    fn a_client_presents_itself_in_one_way() {
        let basic = format!("Basic {}", STANDARD.encode("a%20b:s%3Ac+d"));
        let by_header = presented(&headers(&basic), &Form::default()).unwrap();
        let expected =
            Presented { id: "a b".into(), secret: Some("s:c d".into()), by_header: true };
        assert_eq!(by_header, expected);
        let form = Form::of_pairs(&[("client_id", "a b"), ("client_secret", "x")]);
        let by_form = presented(&HeaderMap::new(), &form).unwrap();
        assert_eq!((by_form.secret.as_deref(), by_form.by_header), (Some("x"), false));
        // Both, or two names.
        assert_eq!(presented(&headers(&basic), &form).unwrap_err().0.code, "invalid_request");
        let other = Form::of_pairs(&[("client_id", "other")]);
        assert_eq!(presented(&headers(&basic), &other).unwrap_err().0.code, "invalid_request");
        let same = Form::of_pairs(&[("client_id", "a b")]);
        assert!(presented(&headers(&basic), &same).is_ok());
    }

    #[test]
    fn what_is_no_credential_is_refused() {
        for value in ["Bearer abc", "Basic", "Basic !!", "Basic YWJj"] {
            let (refusal, by_header) = presented(&headers(value), &Form::default()).unwrap_err();
            assert_eq!((refusal.code, by_header), ("invalid_client", true), "{value}");
        }
        let (refusal, by_header) = presented(&HeaderMap::new(), &Form::default()).unwrap_err();
        assert_eq!((refusal.code, by_header), ("invalid_client", false));
    }
}
