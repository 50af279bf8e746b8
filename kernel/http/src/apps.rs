//! Web apps: what a module puts on the desktop of whoever may use it.
//!
//! A module says with `registry.web_app(…)` what there is; `GET /api/v1/apps` answers with those of the person who calls, as a
//! manifest that the desktop loads (`Shell.loadRemote('/api/v1/apps')`), in the person's language and with the hashes of the
//! modules' scripts. What an app shows is protected by its routes; the manifest only leaves out what would be refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha384};
use svc_core::{Registry, Result};
use svc_data::Context;

use crate::files::StaticFiles;
use crate::kinds;

/// An app for the desktop in the browser.
///
/// ```
/// use svc_http::WebApp;
///
/// let app = WebApp::new("library.loans", "library-loans", "/library/app.js")
///     .icon("books.svg")
///     .group("library-title")
///     .needs("Loans.View");
/// # let _ = app;
/// ```
#[derive(Clone)]
pub struct WebApp {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) entry: &'static str,
    pub(crate) export: Option<&'static str>,
    pub(crate) icon: &'static str,
    pub(crate) group: Option<&'static str>,
    pub(crate) permissions: Vec<&'static str>,
    pub(crate) size: Option<(u16, u16)>,
    pub(crate) is_single: bool,
    pub(crate) badge: Option<Arc<dyn BadgeSource>>,
}

impl WebApp {
    /// An app by its id (`webhooks.endpoints`), the id of the text that is its title, and the address of the script that
    /// shows it. A script of `registry.static_files(…)` is listed with its hash.
    #[must_use]
    pub fn new(id: &'static str, title: &'static str, entry: &'static str) -> Self {
        Self {
            id,
            title,
            entry,
            export: None,
            icon: "app.svg",
            group: None,
            permissions: Vec::new(),
            size: None,
            is_single: false,
            badge: None,
        }
    }

    /// Sets the picture: a file among the desktop's icons, or an address.
    #[must_use]
    pub fn icon(self, icon: &'static str) -> Self {
        Self { icon, ..self }
    }

    /// Names what the script exports for this app, where one script shows several.
    #[must_use]
    pub fn export(self, name: &'static str) -> Self {
        Self { export: Some(name), ..self }
    }

    /// Sets the group in the start menu, by the id of a text.
    #[must_use]
    pub fn group(self, title: &'static str) -> Self {
        Self { group: Some(title), ..self }
    }

    /// Shows the app only to those who hold a permission; several are all needed.
    #[must_use]
    pub fn needs(mut self, permission: &'static str) -> Self {
        self.permissions.push(permission);
        self
    }

    /// Sets the size that the app's window has at first, in CSS pixels.
    #[must_use]
    pub fn size(self, width: u16, height: u16) -> Self {
        Self { size: Some((width, height)), ..self }
    }

    /// Lets the app have one window only.
    #[must_use]
    pub fn single(self) -> Self {
        Self { is_single: true, ..self }
    }

    /// Gives the app a badge, such as the number of what waits for the person.
    #[must_use]
    pub fn badge(self, source: Arc<dyn BadgeSource>) -> Self {
        Self { badge: Some(source), ..self }
    }

    /// Whether somebody may use it.
    fn is_for(&self, ctx: &Context) -> bool {
        self.permissions.iter().all(|permission| ctx.principal().can(permission))
    }
}

/// What the badge of an app says to a person.
#[async_trait]
pub trait BadgeSource: Send + Sync + 'static {
    /// The number; zero shows none.
    ///
    /// # Errors
    ///
    /// A fault, which is logged; the app then has no badge.
    async fn count(&self, ctx: &Context) -> Result<u64>;
}

/// What modules have registered.
#[derive(Default)]
pub(crate) struct WebApps {
    apps: Vec<WebApp>,
    /// The hashes of scripts that are part of the program, by their addresses.
    hashes: BTreeMap<&'static str, String>,
}

/// The word for web apps, in a module's `configure`.
pub trait WebAppRegistry {
    /// Adds an app to the desktop.
    fn web_app(&mut self, app: WebApp);
}

impl WebAppRegistry for Registry {
    fn web_app(&mut self, app: WebApp) {
        let detail = match &app.permissions[..] {
            [] => app.title.to_owned(),
            needed => format!("{} (needs {})", app.title, needed.join(", ")),
        };
        self.contribute(kinds::WEB_APP, app.id, detail);
        for permission in &app.permissions {
            self.asks_for_permission(permission, format!("the web app `{}`", app.id));
        }
        if !app.entry.starts_with('/') && !app.entry.starts_with("https://") {
            self.problem(format!(
                "the entry `{}` of the web app `{}` isn't an address; say `/…` or `https://…`",
                app.entry, app.id
            ));
        }
        self.part::<WebApps>().apps.push(app);
    }
}

impl WebApps {
    /// Looks up the hashes of those scripts that are among files of the program. One that is read from the disk may change
    /// at any time, and has none.
    pub(crate) fn with_hashes(mut self, folders: &[(&'static str, StaticFiles)]) -> Self {
        for app in &self.apps {
            let file = folders.iter().find_map(|(prefix, files)| {
                files.content(app.entry.strip_prefix(prefix)?.strip_prefix('/')?)
            });
            if let Some(content) = file {
                let hash = format!("sha384-{}", STANDARD.encode(Sha384::digest(content)));
                self.hashes.insert(app.entry, hash);
            }
        }
        self
    }

    /// The hash of a script that is part of the program.
    pub(crate) fn hash(&self, entry: &str) -> Option<&str> {
        self.hashes.get(entry).map(String::as_str)
    }

    /// Those that somebody may use.
    pub(crate) fn of<'a>(&'a self, ctx: &'a Context) -> impl Iterator<Item = &'a WebApp> {
        self.apps.iter().filter(|app| app.is_for(ctx))
    }
}
