//! The issuers that the operator has named, and accounts there.

use std::sync::Arc;

use svc_core::{App, Result};
use svc_openid::{Registration, RemoteIssuer};

use crate::settings::{AuthSettings, IssuerSettings};

/// An issuer that somebody else runs.
pub(crate) struct ExternalIssuer {
    /// Its name in addresses and settings.
    pub(crate) name: String,
    pub(crate) settings: IssuerSettings,
    pub(super) remote: RemoteIssuer,
}

impl ExternalIssuer {
    /// What its button says.
    pub(crate) fn title(&self) -> &str {
        if let Some(title) = &self.settings.title {
            return title;
        }
        let address = self.settings.authority.as_str();
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }

    /// How it stands in the database.
    pub(crate) fn key(&self) -> String {
        self.settings.authority.as_str().trim_end_matches('/').to_owned()
    }

    /// Whether a token says to be of this issuer.
    fn is_issuer_of(&self, said: &str) -> bool {
        said.trim_end_matches('/') == self.settings.authority.as_str().trim_end_matches('/')
    }
}

/// The issuers that the operator has named.
pub(crate) struct ExternalIssuers(Vec<Arc<ExternalIssuer>>);

impl ExternalIssuers {
    pub(super) fn new(app: &App) -> Result<Self> {
        let settings = app.settings::<AuthSettings>().all_issuers();
        let issuers = settings.into_iter().map(|(name, settings)| {
            let registration = Registration {
                authority: settings.authority.clone(),
                client_id: settings.client_id.clone(),
                client_secret: settings.client_secret.clone(),
                through: None,
            };
            let remote = RemoteIssuer::new(app, registration)?;
            Ok(Arc::new(ExternalIssuer { name, settings, remote }))
        });
        Ok(Self(issuers.collect::<Result<_>>()?))
    }

    pub(crate) fn all(&self) -> &[Arc<ExternalIssuer>] {
        &self.0
    }

    /// The issuer of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Arc<ExternalIssuer>> {
        self.0.iter().find(|issuer| issuer.name == name)
    }

    /// The issuer that a token says to be of, and whose tokens the API takes.
    pub(super) fn of_token(&self, said: &str) -> Option<&Arc<ExternalIssuer>> {
        let takes = |issuer: &&Arc<ExternalIssuer>| issuer.settings.audience.is_some();
        self.0.iter().filter(takes).find(|issuer| issuer.is_issuer_of(said))
    }
}

/// An account at an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// The issuer, as the settings write it without a slash at the end.
    pub(crate) issuer: String,
    /// Its name there.
    pub(crate) subject: String,
}

impl Account {
    /// Whether it is at this issuer.
    pub(crate) fn is_at(&self, issuer: &ExternalIssuer) -> bool {
        self.issuer == issuer.key()
    }
}
