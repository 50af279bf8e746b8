use std::sync::Arc;

use axum::extract::FromRef;
use svc_core::{App, ShareLimits, Shares};
use tokio_util::sync::CancellationToken;

use crate::apps::WebApps;
use crate::authenticator::Authenticator;
use crate::idempotency::flights::Flights;
use crate::settings::HttpSettings;

/// What handlers share: the application, and who authenticates callers. Cheap to clone.
#[derive(Clone)]
pub struct HttpState(Arc<Inner>);

struct Inner {
    app: App,
    settings: Arc<HttpSettings>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    web_apps: WebApps,
    requests: Shares,
    flights: Flights,
    draining: CancellationToken,
}

impl HttpState {
    pub(crate) fn new(
        app: &App,
        authenticators: Vec<Arc<dyn Authenticator>>,
        web_apps: WebApps,
    ) -> Self {
        let settings = app.settings::<HttpSettings>();
        let requests = Shares::new(limits(&settings));
        Self(Arc::new(Inner {
            app: app.clone(),
            settings,
            authenticators,
            web_apps,
            requests,
            flights: Flights::default(),
            draining: app.stopping().child_token(),
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

    /// The apps of the desktop.
    pub(crate) fn web_apps(&self) -> &WebApps {
        &self.0.web_apps
    }

    /// The requests that are served at once.
    pub(crate) fn requests(&self) -> &Shares {
        &self.0.requests
    }

    /// The idempotency keys that are being used.
    pub(crate) fn flights(&self) -> &Flights {
        &self.0.flights
    }

    /// Whether the server is about to stop, or the application is.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    /// Is cancelled when the server is about to stop, or the application is: for answers that have no end of their own.
    #[must_use]
    pub fn draining(&self) -> CancellationToken {
        self.0.draining.clone()
    }

    pub(crate) fn begin_draining(&self) {
        self.0.draining.cancel();
    }
}

/// All together there may be as many requests as connections bring.
fn limits(settings: &HttpSettings) -> ShareLimits {
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    ShareLimits {
        of: "requests",
        setting: "Svc:Http:PersonRequests",
        total: usize::MAX,
        organisation: number(settings.organisation_requests),
        person: number(settings.person_requests),
        waiting: number(settings.waiting_requests),
        patience: settings.waiting_time,
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
