//! A browser that keeps cookies and goes where it is sent.

use std::collections::BTreeMap;

use http::{HeaderValue, Method};
use svc_testing::{Answer, Client};

/// Somebody's browser.
#[derive(Clone)]
pub struct Browser {
    client: Client,
    origin: String,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    /// A browser without cookies, which reaches the application under an address.
    #[must_use]
    pub fn new(client: Client, origin: &str) -> Self {
        Self { client, origin: origin.to_owned(), cookies: BTreeMap::new() }
    }

    /// The same browser, led to another node.
    #[must_use]
    pub fn at(&self, client: Client) -> Self {
        Self { client, ..self.clone() }
    }

    /// The value of a cookie.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.get(name).map(String::as_str)
    }

    /// The names of the cookies.
    pub fn cookie_names(&self) -> impl Iterator<Item = &str> {
        self.cookies.keys().map(String::as_str)
    }

    /// Sets a cookie, as somebody who tosses one in would.
    pub fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    /// Forgets a cookie.
    pub fn forget(&mut self, name: &str) {
        self.cookies.remove(name);
    }

    /// Does what a `Set-Cookie` says. What a browser would refuse fails the test.
    ///
    /// # Panics
    ///
    /// When the cookie isn't for this host alone.
    pub fn take(&mut self, set_cookie: &HeaderValue) {
        let text = set_cookie.to_str().expect("a readable cookie");
        let mut parts = text.split("; ");
        let (name, value) = parts.next().and_then(|pair| pair.split_once('=')).expect("a pair");
        let attributes: Vec<&str> = parts.collect();
        assert!(attributes.contains(&"HttpOnly"), "{text}");
        assert!(attributes.contains(&"Path=/"), "{text}");
        assert!(attributes.contains(&"SameSite=Lax"), "{text}");
        assert!(!text.contains("Domain"), "{text}");
        let is_secure = attributes.contains(&"Secure");
        assert_eq!(name.starts_with("__Host-"), self.origin.starts_with("https"), "{text}");
        assert_eq!(is_secure, self.origin.starts_with("https"), "{text}");
        if attributes.contains(&"Max-Age=0") {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Sends a request as a page of the application does, or with other headers.
    pub async fn send(
        &mut self,
        method: Method,
        address: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let path = address.strip_prefix(&self.origin).unwrap_or(address).to_owned();
        let host = self.origin.split_once("://").map_or("", |(_, host)| host).to_owned();
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut all = vec![("host", host.as_str())];
        if !cookies.is_empty() {
            all.push(("cookie", &cookies));
        }
        all.extend(headers);
        let answer = self.client.send(method, &path, &all, body.to_owned()).await;
        for cookie in answer.headers.get_all(http::header::SET_COOKIE) {
            self.take(cookie);
        }
        answer
    }

    /// Goes to an address.
    pub async fn get(&mut self, address: &str) -> Answer {
        self.send(Method::GET, address, &[], "").await
    }

    /// Reads something by a script of the application.
    pub async fn ask(&mut self, address: &str) -> Answer {
        self.send(Method::GET, address, &OWN_PAGE, "").await
    }

    /// Changes something by a script of the application.
    pub async fn post(&mut self, address: &str, json: &str) -> Answer {
        let mut headers = OWN_PAGE.to_vec();
        headers.push(("content-type", "application/json"));
        self.send(Method::POST, address, &headers, json).await
    }

    /// Opens an account page, and sends its form to an address with these fields.
    ///
    /// # Panics
    ///
    /// When there is no such page, or no form in it.
    pub async fn fill(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let shown = self.get(page).await;
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
        let (_, rest) = shown.text.split_once("name=\"form\" value=\"").expect("a form");
        let token = rest.split('"').next().expect("a value");
        let mut body = form_urlencoded::Serializer::new(String::new());
        let body = body.append_pair("form", token).extend_pairs(fields).finish();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(Method::POST, action, &headers, &body).await
    }

    /// Goes to an address, and on to wherever it is sent within the application; answers with the last
    /// answer and its address.
    ///
    /// # Panics
    ///
    /// When it is sent around for ever.
    pub async fn follow(&mut self, address: &str) -> (Answer, String) {
        let mut address = address.to_owned();
        for _ in 0..10 {
            let answer = self.get(&address).await;
            let next = answer.header("location").to_owned();
            let is_own = next.starts_with('/') || next.starts_with(&format!("{}/", self.origin));
            if answer.status != 303 || !is_own {
                return (answer, address);
            }
            address = next;
        }
        panic!("sent around for ever: {address}");
    }

    /// Signs in to the web client, where the person is signed in at the provider already, up to the page
    /// that it leads back to.
    ///
    /// # Panics
    ///
    /// When it leads anywhere else.
    pub async fn sign_in(&mut self, return_url: &str) {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("returnUrl", return_url)
            .finish();
        let mut address = format!("/bff/login?{query}");
        for _ in 0..3 {
            let answer = self.get(&address).await;
            assert_eq!(answer.status, 303, "{address}: {}", answer.text);
            answer.header("location").clone_into(&mut address);
        }
        assert_eq!(address, return_url);
    }
}

/// What a script of the application sends, and its browser adds.
const OWN_PAGE: [(&str, &str); 2] = [("x-csrf", "1"), ("sec-fetch-site", "same-origin")];
