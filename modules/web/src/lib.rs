#![doc = include_str!("../README.md")]

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::Uri;
use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::Migration;
use svc_http::{
    BrowserRegistry as _, EmbeddedFile, HttpRegistry as _, HttpState, OpenApiRouter, StaticFiles,
    routes,
};
use svc_settings::{ApplicationSetting, SettingsRegistry as _};

pub mod errors;
mod install;
mod looks;
mod model;
mod page;
mod start;
mod views;
mod views_api;

pub use looks::{Lines, LookRegistry, SET_LOOK, SetLook};
pub use views::SHARE_VIEWS;

mod built {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}

/// The web client, as a module named `web`.
///
/// It adds nothing where the program was built without a client.
#[derive(Clone, Debug)]
pub struct WebClient {
    files: StaticFiles,
    /// Where the page lies; empty for the root.
    prefix: &'static str,
}

impl Default for WebClient {
    fn default() -> Self {
        Self::with(StaticFiles::embedded(built::FILES).from_folder(built::FOLDER))
    }
}

impl WebClient {
    /// The client that the program was built with.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Another client than that: an application's own, built into files like those of `web/dist`.
    #[must_use]
    pub fn of(files: &[EmbeddedFile]) -> Self {
        Self::with(StaticFiles::embedded(files))
    }

    fn with(files: StaticFiles) -> Self {
        Self { files, prefix: "" }
    }

    /// Serves the page below an address such as `/desk`, and leaves `/` to the application: to a page of a module of its own, or
    /// to the one that tells what the application is. The empty prefix is the root.
    #[must_use]
    pub fn page_prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    /// Whether the program has a client.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.files.paths().any(|path| path == "index.html")
    }
}

impl Module for WebClient {
    fn name(&self) -> Cow<'static, str> {
        "web".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "http", "live", "settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        if !self.is_there() {
            return;
        }
        let page_mode = ApplicationSetting::choice(
            start::PAGE_MODE,
            "How long lists are read: `EndlessScroll` loads more as one scrolls, `Pager` shows one page after the other.",
            &["EndlessScroll", "Pager"],
            "EndlessScroll",
        );
        registry.application_setting(page_mode);
        registry.migrations([Migration::new(
            "0001_views",
            include_str!("../migrations/0001_views.sql"),
        )]);
        registry.entity::<model::Entity>();
        registry.permission(SHARE_VIEWS, "share views of lists with all who may see the list");
        registry.errors(errors::ALL);
        registry.routes(
            OpenApiRouter::default()
                .routes(routes!(start::begin))
                .routes(routes!(views_api::list_views))
                .routes(routes!(views_api::share_view, views_api::forget_view)),
        );
        registry.static_files("/assets", self.files.below("assets").hashed(|_| true));
        registry.static_files("/icons", self.files.below("icons"));
        registry.mount(install::MANIFEST, install::manifest(self.prefix));
        registry.mount(install::WORKER, install::worker(self.files.clone()));
        let files = Arc::new(self.files.clone());
        let page = move |State(state): State<HttpState>| page::page(Arc::clone(&files), state);
        match self.prefix {
            "" => registry.home_page(get(page)),
            prefix if is_prefix(prefix) => {
                let elsewhere = move |uri: Uri| async move { page::beside_the_page(&uri, prefix) };
                let page = Router::new().route("/", get(page)).fallback(elsewhere);
                registry.mount(prefix, page);
            }
            prefix => registry.problem(format!(
                "the page can't lie at `{prefix}`; say an address such as `/desk`, with letters, digits and hyphens"
            )),
        }
    }
}

/// `/desk`, `/office/desk`.
fn is_prefix(prefix: &str) -> bool {
    let is_step = |step: &str| {
        !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    prefix.strip_prefix('/').is_some_and(|steps| steps.split('/').all(is_step))
}
