//! A program that asks for sign-ins over HTTP, as its standards say.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Method;
use serde_json::Value;
use svc::openid::CodeVerifier;
use svc_testing::{Answer, Client};

use crate::browser::Browser;
use crate::house::PUBLIC_URL;

/// A client of the provider.
#[derive(Clone)]
pub struct Program {
    /// Its name.
    pub id: String,
    /// What it proves its name with; none for a public client.
    pub secret: Option<String>,
    /// Where it wants its codes.
    pub redirect_uri: String,
    /// What it keeps until it has one.
    pub verifier: CodeVerifier,
    /// By what it reaches the application.
    pub client: Client,
}

impl Program {
    /// A program that talks to an application.
    #[must_use]
    pub fn new(client: Client, id: &str, secret: Option<&str>, redirect_uri: &str) -> Self {
        Self {
            id: id.to_owned(),
            secret: secret.map(str::to_owned),
            redirect_uri: redirect_uri.to_owned(),
            verifier: CodeVerifier::random(),
            client,
        }
    }

    /// What a sound authorization request says.
    #[must_use]
    pub fn request(&self) -> BTreeMap<String, String> {
        let pairs = [
            ("client_id", self.id.as_str()),
            ("redirect_uri", &self.redirect_uri),
            ("response_type", "code"),
            ("scope", "openid profile email"),
            ("state", "a state"),
            ("nonce", "a nonce"),
            ("code_challenge", self.verifier.challenge().as_str()),
            ("code_challenge_method", "S256"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        pairs.into_iter().collect()
    }

    /// Sends a browser to the provider with a request that is changed: an empty value leaves a
    /// parameter out.
    pub async fn authorize(&self, browser: &mut Browser, changes: &[(&str, &str)]) -> Answer {
        let mut request = self.request();
        for (name, value) in changes {
            if value.is_empty() {
                request.remove(*name);
            } else {
                request.insert((*name).to_owned(), (*value).to_owned());
            }
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&request).finish();
        browser.get(&format!("/connect/authorize?{query}")).await
    }

    /// A code for the person of a browser.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub async fn code(&self, browser: &mut Browser, changes: &[(&str, &str)]) -> String {
        let answer = self.authorize(browser, changes).await;
        let back = query_of(answer.header("location"));
        back.get("code").cloned().unwrap_or_else(|| panic!("no code: {} {back:?}", answer.text))
    }

    /// Posts a form with the client's credentials.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form);
        let mut headers = vec![
            ("host".to_owned(), "shop.example".to_owned()),
            ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
        ];
        match &self.secret {
            Some(secret) => {
                let basic = STANDARD.encode(format!("{}:{secret}", self.id));
                headers.push(("authorization".to_owned(), format!("Basic {basic}")));
            }
            None => {
                body.append_pair("client_id", &self.id);
            }
        }
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.client.send(Method::POST, path, &headers, body.finish()).await
    }

    /// Exchanges a code.
    pub async fn exchange(&self, code: &str) -> Answer {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", self.verifier.as_str()),
        ];
        self.post("/connect/token", &form).await
    }

    /// Signs the person of a browser in: the tokens.
    pub async fn sign_in(&self, browser: &mut Browser, scope: &str) -> Value {
        let code = self.code(browser, &[("scope", scope)]).await;
        self.exchange(&code).await.expect(200)
    }

    /// Renews tokens.
    pub async fn refresh(&self, token: &str) -> Answer {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.post("/connect/token", &form).await
    }

    /// Asks something with an access token.
    pub async fn ask(&self, path: &str, token: &str) -> Answer {
        let credential = format!("Bearer {token}");
        let headers = [("host", "shop.example"), ("authorization", credential.as_str())];
        self.client.send(Method::GET, path, &headers, "").await
    }

    /// Asks something without a credential.
    pub async fn read(&self, path: &str) -> Answer {
        self.client.send(Method::GET, path, &[("host", "shop.example")], "").await
    }
}

/// The parameters of an address.
#[must_use]
pub fn query_of(address: &str) -> BTreeMap<String, String> {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// What a token says, unchecked.
///
/// # Panics
///
/// When it is no token.
#[must_use]
pub fn claims_of(token: &str) -> Value {
    part(token, 1)
}

/// What a token's header says, unchecked.
///
/// # Panics
///
/// When it is no token.
#[must_use]
pub fn header_of(token: &str) -> Value {
    part(token, 0)
}

fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).expect("a token has three parts");
    let bytes = URL_SAFE_NO_PAD.decode(part).expect("each is base64url");
    serde_json::from_slice(&bytes).expect("and JSON")
}

/// The issuer that is expected.
pub const ISSUER: &str = PUBLIC_URL;
