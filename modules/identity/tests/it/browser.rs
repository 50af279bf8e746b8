//! A browser at the account pages: it keeps cookies, follows nothing by itself, and says where its forms
//! come from.

use std::collections::BTreeMap;

use http::Method;
use parking_lot::Mutex;
use svc_testing::{Answer, Backend, Client, TestApp, TestAppBuilder};

use crate::support::Shop;

pub(crate) const PASSWORD: &str = "correct horse battery";
pub(crate) const EMAIL: &str = "ada@example.com";

/// An application that nobody has set up.
pub(crate) fn builder() -> TestAppBuilder {
    TestApp::builder(|| {
        svc_testing::Application::new("library").module(svc_identity::Identity).module(Shop)
    })
}

/// An application whose administrator has the address and password above.
pub(crate) async fn set_up(backend: Backend) -> TestApp {
    set_up_with(backend, &[]).await
}

pub(crate) async fn set_up_with(backend: Backend, settings: &[(&str, &str)]) -> TestApp {
    let mut builder = builder()
        .setting("Svc:Setup:Organisation", "Example Ltd")
        .setting("Svc:Setup:AdminEmail", EMAIL)
        .setting("Svc:Setup:AdminPassword", PASSWORD);
    for (key, value) in settings {
        builder = builder.setting(key, value);
    }
    builder.start(backend).await
}

pub(crate) struct Browser {
    client: Client,
    cookies: Mutex<BTreeMap<String, String>>,
    address: Option<String>,
    language: &'static str,
}

impl Browser {
    pub(crate) fn new(app: &TestApp) -> Self {
        Self { client: app.anonymous(), cookies: Mutex::default(), address: None, language: "en" }
    }

    /// The same browser behind a proxy that names this address.
    pub(crate) fn at(self, address: &str) -> Self {
        Self { address: Some(address.to_owned()), ..self }
    }

    pub(crate) fn in_german(self) -> Self {
        Self { language: "de", ..self }
    }

    /// A browser whose person is signed in.
    pub(crate) async fn signed_in(app: &TestApp) -> Self {
        let browser = Self::new(app);
        let answer = browser.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser
    }

    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let fields = [("email", email), ("password", password)];
        self.fill("/account/sign-in", "/account/sign-in", &fields).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[("sec-fetch-site", "none")], String::new()).await
    }

    /// Opens a page and sends one of its forms, with what was hidden in it.
    pub(crate) async fn fill(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let shown = self.get(page).await;
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
        let token = hidden(&shown.text, "form");
        let mut all = vec![("form", token.as_str())];
        all.extend(fields);
        self.post(action, &all, "same-origin").await
    }

    /// Sends a form that a page of `site` holds.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)], site: &str) -> Answer {
        let body = serde_urlencoded::to_string(fields).unwrap();
        let headers =
            [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", site)];
        self.send(Method::POST, path, &headers, body).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        let cookies = self.cookies.lock().clone();
        let cookies: Vec<String> =
            cookies.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut all = vec![("accept-language", self.language), ("user-agent", FIREFOX)];
        all.extend(headers);
        if !cookies.is_empty() {
            all.push(("cookie", &cookies));
        }
        if let Some(address) = &self.address {
            all.push(("x-forwarded-for", address));
        }
        let answer = self.client.send(method, path, &all, body).await;
        self.keep(&answer);
        answer
    }

    fn keep(&self, answer: &Answer) {
        let mut cookies = self.cookies.lock();
        for cookie in answer.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if cookie.contains("Max-Age=0;") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// A cookie that the browser has.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().get(name).cloned()
    }

    /// Puts a cookie into the browser, as somebody else might.
    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn forget(&self, name: &str) {
        self.cookies.lock().remove(name);
    }
}

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// The value of a hidden field.
pub(crate) fn hidden(html: &str, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let (_, rest) = html.split_once(&mark).unwrap_or_else(|| panic!("no field `{name}`: {html}"));
    rest.split('"').next().unwrap().to_owned()
}
