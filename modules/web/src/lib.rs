#![doc = include_str!("../README.md")]

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use svc_core::{Module, Registry};
use svc_http::{
    BrowserRegistry as _, EmbeddedFile, HttpRegistry as _, HttpState, OpenApiRouter, StaticFiles,
    routes,
};
use svc_settings::{ApplicationSetting, SettingsRegistry as _};

mod install;
mod page;
mod start;

mod built {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}

/// The web client, as a module named `web`.
///
/// It adds nothing where the program was built without a client.
#[derive(Clone, Debug)]
pub struct WebClient {
    files: StaticFiles,
}

impl Default for WebClient {
    fn default() -> Self {
        Self { files: StaticFiles::embedded(built::FILES).from_folder(built::FOLDER) }
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
        Self { files: StaticFiles::embedded(files) }
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
        &["http", "live", "settings"]
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
        registry.routes(OpenApiRouter::default().routes(routes!(start::begin)));
        registry.static_files("/assets", self.files.below("assets").hashed(|_| true));
        registry.static_files("/icons", self.files.below("icons"));
        registry.mount(install::MANIFEST, install::manifest());
        registry.mount(install::WORKER, install::worker(self.files.clone()));
        let files = Arc::new(self.files.clone());
        let page = move |State(state): State<HttpState>| page::page(Arc::clone(&files), state);
        registry.home_page(get(page));
    }
}
