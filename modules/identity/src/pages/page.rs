//! What every page shows, and the style sheet that they share.

use std::sync::LazyLock;
use std::time::Duration;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use sha2::{Digest as _, Sha256};
use svc_core::{App, Error, hex};
use svc_http::ApiError;
use svc_messages::{Arguments, Texts};

use super::own_path::PREFIX;
use crate::text::application_name;

/// The cookie in which a browser keeps the language that was chosen on a page.
pub(super) const LANGUAGE_COOKIE: &str = "svc-language";

/// The languages of the pages, each by its own name.
pub(super) const LANGUAGES: [(&str, &str); 2] = [("en", "English"), ("de", "Deutsch")];

const STYLE: &str = include_str!("../../templates/style.css");

/// The name of the style sheet says what is in it, so that browsers keep it for good.
static STYLE_NAME: LazyLock<String> =
    LazyLock::new(|| format!("style-{}.css", hex(&Sha256::digest(STYLE)[..8])));

/// What every page shows.
pub(crate) struct Page {
    /// The application's name, as people write it.
    pub(super) application: String,
    texts: Texts,
    form_token: String,
    path: String,
    password_min: usize,
}

/// A language that a page is offered in.
pub(super) struct Offered {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) href: String,
    pub(super) is_current: bool,
}

impl Page {
    pub(super) fn new(
        app: &App,
        texts: Texts,
        form_token: String,
        path: String,
        least: usize,
    ) -> Self {
        Self { application: application_name(app), texts, form_token, path, password_min: least }
    }

    /// The same page under the address where it is shown, for who sees it as the answer to a form.
    pub(super) fn shown_at(&mut self, path: &str) {
        path.clone_into(&mut self.path);
    }

    pub(super) fn text(&self, id: &str) -> String {
        self.texts.text(id)
    }

    /// A text with one argument.
    pub(super) fn text_with(&self, id: &str, name: &'static str, value: &str) -> String {
        self.texts.text_with(id, &Arguments::new().set(name, value))
    }

    /// Says how long to wait after too many attempts.
    pub(super) fn wait(&self, wait: Duration) -> String {
        let minutes = wait.as_secs().div_ceil(60).max(1);
        self.texts.text_with("identity-wait", &Arguments::new().set("minutes", minutes))
    }

    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(super) fn language(&self) -> &str {
        self.texts.language().as_str()
    }

    #[expect(clippy::unused_self, reason = "templates call it as they call all else")]
    pub(super) fn style(&self) -> String {
        format!("{}/{}", PREFIX, *STYLE_NAME)
    }

    pub(super) fn initial(&self) -> String {
        self.application.chars().take(1).collect()
    }

    pub(super) fn form_token(&self) -> &str {
        &self.form_token
    }

    pub(super) fn password_hint(&self) -> String {
        self.text_with("identity-new-password-hint", "min", &self.password_min.to_string())
    }

    pub(super) fn set_up_title(&self) -> String {
        self.text_with("identity-set-up-title", "application", &self.application)
    }

    pub(super) fn app_link(&self) -> String {
        self.text_with("identity-account-app", "application", &self.application)
    }

    pub(super) fn languages(&self) -> Vec<Offered> {
        let address = |code| {
            let query = [("language", code), ("return", self.path.as_str())];
            let query = serde_urlencoded::to_string(query).unwrap_or_default();
            format!("{PREFIX}/language?{query}")
        };
        let offered = |(code, name)| Offered {
            code,
            name,
            href: address(code),
            is_current: self.language().starts_with(code),
        };
        LANGUAGES.map(offered).into()
    }
}

/// The style sheet of the pages, under the name that it has now.
pub(super) async fn style(Path(file): Path<String>) -> Response {
    if file != *STYLE_NAME {
        return ApiError::from(Error::not_found("there is nothing at this address"))
            .into_response();
    }
    let headers = [
        (CONTENT_TYPE, "text/css; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (StatusCode::OK, headers, STYLE).into_response()
}
