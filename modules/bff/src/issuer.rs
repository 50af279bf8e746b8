//! Who signs people in, as the host asks it.

use std::sync::Arc;

use http::HeaderMap;
use svc_core::{App, Error, Result};
use svc_http::HttpSettings;
use svc_openid::{
    BROWSER_HOST, Claims, EmbeddedProvider, FirstParty, FirstPartyClient, Registration,
    RemoteIssuer, TokenAnswer, TokenFault, TokenRefusal,
};

use crate::address::with_parameters;
use crate::settings::BrowserHostSettings;

/// Where the provider sends browsers.
pub(crate) const CALLBACK: &str = "/bff/callback";

/// The client that a host in the process of the application is.
const CLIENT: FirstPartyClient =
    FirstPartyClient { id: "bff", redirect_path: CALLBACK, signed_out_paths: &["/"] };

/// Who signs people in.
pub(crate) enum Issuer {
    /// The provider in this process. Its name is the address of the application.
    Embedded { provider: Arc<dyn EmbeddedProvider>, client: FirstParty },
    /// That of the application behind this host, or one that somebody else runs.
    Remote { remote: Box<RemoteIssuer>, address: String },
}

impl Issuer {
    /// The provider of the application that this host is part of.
    pub(crate) fn of_application(app: &App) -> Result<Self> {
        let provider = app.service::<dyn EmbeddedProvider>()?;
        Ok(Self::Embedded { client: provider.register(CLIENT)?, provider })
    }

    /// The issuer of a host before the application: the application itself, under the address of this
    /// host and asked at its own, unless the settings name another one.
    pub(crate) fn before_application(app: &App) -> Result<Self> {
        let settings = app.settings::<BrowserHostSettings>();
        let public_url = app.settings::<HttpSettings>().public_url.clone().ok_or_else(|| {
            Error::internal(
                "a browser host needs `Svc:Http:PublicUrl`, the address that browsers use",
            )
        })?;
        let address = public_url.as_str().trim_end_matches('/').to_owned();
        let registration = Registration {
            client_id: settings.client_id.clone().unwrap_or_else(|| BROWSER_HOST.id.to_owned()),
            client_secret: settings.client_secret.clone(),
            through: settings.api.clone().filter(|_| settings.authority.is_none()),
            authority: settings.authority.clone().unwrap_or(public_url),
        };
        let remote = Box::new(RemoteIssuer::new(app, registration)?);
        Ok(Self::Remote { remote, address })
    }

    /// The provider in this process.
    pub(crate) fn embedded(&self) -> Result<&dyn EmbeddedProvider> {
        match self {
            Self::Embedded { provider, .. } => Ok(provider.as_ref()),
            Self::Remote { .. } => Err(Error::internal("the provider is in another process")),
        }
    }

    /// Whether it is asked over the network.
    pub(crate) fn is_far(&self) -> bool {
        matches!(self, Self::Remote { .. })
    }

    /// The address of this host, for a browser that sent these headers.
    pub(crate) fn address(&self, headers: &HeaderMap) -> Result<String> {
        match self {
            Self::Embedded { provider, .. } => provider.issuer(headers),
            Self::Remote { address, .. } => Ok(address.clone()),
        }
    }

    /// What the issuer of sign-ins at an address calls itself.
    pub(crate) async fn name(&self, address: &str) -> Result<String> {
        match self {
            Self::Embedded { .. } => Ok(address.to_owned()),
            Self::Remote { remote, .. } => Ok(remote.metadata().await?.issuer.clone()),
        }
    }

    /// Whether an answer that says to be of `iss` is the issuer's (RFC 9207, section 2.4).
    pub(crate) async fn is_named(&self, address: &str, iss: Option<&str>) -> Result<bool> {
        match self {
            Self::Embedded { .. } => Ok(iss == Some(address)),
            Self::Remote { remote, .. } => {
                let metadata = remote.metadata().await?;
                let must_say = metadata.authorization_response_iss_parameter_supported;
                Ok(iss.map_or(!must_say, |iss| iss == metadata.issuer))
            }
        }
    }

    /// Where a browser is sent to sign in.
    pub(crate) async fn authorization_address(
        &self,
        address: &str,
        parameters: &[(&str, &str)],
    ) -> Result<String> {
        match self {
            Self::Embedded { client, .. } => {
                let own = [&[("client_id", client.id)], parameters].concat();
                Ok(with_parameters(&format!("{address}/connect/authorize"), &own))
            }
            Self::Remote { remote, .. } => remote.authorization_address(parameters).await,
        }
    }

    /// Where a browser is sent to sign out there; to the host's own page where it can't.
    pub(crate) async fn end_session_address(
        &self,
        address: &str,
        parameters: &[(&str, &str)],
    ) -> Result<String> {
        match self {
            Self::Embedded { .. } => {
                Ok(with_parameters(&format!("{address}/connect/logout"), parameters))
            }
            Self::Remote { remote, .. } => {
                let found = remote.end_session_address(parameters).await?;
                Ok(found.unwrap_or_else(|| format!("{address}/")))
            }
        }
    }

    /// What the token endpoint does with a form.
    pub(crate) async fn token(
        &self,
        name: &str,
        form: &[(&str, &str)],
    ) -> Result<std::result::Result<TokenAnswer, TokenRefusal>> {
        match self {
            Self::Embedded { provider, client } => provider.token(name, client, form).await,
            Self::Remote { remote, .. } => remote.token(form).await,
        }
    }

    /// Checks an ID token that is for this host.
    pub(crate) async fn check_id_token(
        &self,
        name: &str,
        token: &str,
    ) -> Result<std::result::Result<Claims, TokenFault>> {
        match self {
            Self::Embedded { provider, client } => {
                provider.check_id_token(name, client.id, token).await
            }
            Self::Remote { remote, .. } => remote.check_id_token(token).await,
        }
    }

    /// Checks a logout token that is for this host.
    pub(crate) async fn check_logout_token(
        &self,
        token: &str,
    ) -> Result<std::result::Result<Claims, TokenFault>> {
        match self {
            Self::Embedded { .. } => {
                Err(Error::internal("the provider in this process sends nothing"))
            }
            Self::Remote { remote, .. } => remote.check_logout_token(token).await,
        }
    }
}
