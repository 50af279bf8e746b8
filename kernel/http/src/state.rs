use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::FromRef;
use svc_core::App;

use crate::authentication::Authenticator;
use crate::settings::HttpSettings;

/// What handlers share: the application, and who authenticates callers. Cheap to clone.
#[derive(Clone)]
pub struct HttpState(Arc<Inner>);

struct Inner {
    app: App,
    settings: Arc<HttpSettings>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    draining: AtomicBool,
}

impl HttpState {
    pub(crate) fn new(app: &App, authenticators: Vec<Arc<dyn Authenticator>>) -> Self {
        Self(Arc::new(Inner {
            app: app.clone(),
            settings: app.settings::<HttpSettings>(),
            authenticators,
            draining: AtomicBool::new(false),
        }))
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// The settings of the host.
    #[must_use]
    pub fn settings(&self) -> &HttpSettings {
        &self.0.settings
    }

    pub(crate) fn authenticators(&self) -> &[Arc<dyn Authenticator>] {
        &self.0.authenticators
    }

    /// Whether the server is about to stop, or the application is.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::Relaxed) || self.0.app.stopping().is_cancelled()
    }

    pub(crate) fn begin_draining(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }
}

impl FromRef<HttpState> for App {
    fn from_ref(state: &HttpState) -> Self {
        state.app().clone()
    }
}

impl std::fmt::Debug for HttpState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HttpState").field(&self.0.app).finish()
    }
}
