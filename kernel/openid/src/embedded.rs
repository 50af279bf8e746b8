//! The provider of this application, as a client that is part of the application reaches it.

use async_trait::async_trait;
use http::HeaderMap;
use svc_core::{OrganisationId, Principal, Result, UserId};

use crate::{Claims, TokenAnswer, TokenFault, TokenRefusal};

/// A client that is part of the application, and so needs no registration by anybody.
#[derive(Clone, Copy, Debug)]
pub struct FirstPartyClient {
    /// Its name: `client_id`.
    pub id: &'static str,
    /// Where codes go: a path of this application.
    pub redirect_path: &'static str,
    /// Where a browser may go after signing out, as paths of this application.
    pub signed_out_paths: &'static [&'static str],
}

/// The browser host that stands before the application as a program of its own, under the same public
/// address. Its secret is a setting on both sides.
pub const BROWSER_HOST: FirstPartyClient = FirstPartyClient {
    id: "browser-host",
    redirect_path: "/bff/callback",
    signed_out_paths: &["/"],
};

/// What a client of the application holds, in this process and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstParty {
    /// The client.
    pub id: &'static str,
    /// A secret that was made at the start of the process.
    pub secret: String,
}

impl std::fmt::Debug for FirstParty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FirstParty").field(&self.id).finish()
    }
}

/// The provider that is built into the application: a service, found where the module `identity` is.
///
/// A browser goes to it by the addresses that every client uses (`/connect/authorize`,
/// `/connect/logout`); what a client asks on its own is a call, with the same checks as over the
/// network.
#[async_trait]
pub trait EmbeddedProvider: Send + Sync + 'static {
    /// Makes a client known that is part of the application.
    ///
    /// # Errors
    ///
    /// When there is one of the name.
    fn register(&self, client: FirstPartyClient) -> Result<FirstParty>;

    /// The issuer for a request with these headers: the application's public address, or the loopback
    /// address that was asked.
    ///
    /// # Errors
    ///
    /// When the application is reached by another address than it knows of itself.
    fn issuer(&self, headers: &HeaderMap) -> Result<String>;

    /// What the token endpoint does with a form.
    ///
    /// # Errors
    ///
    /// A fault of the store. That tokens are refused is no error.
    async fn token(
        &self,
        issuer: &str,
        client: &FirstParty,
        form: &[(&str, &str)],
    ) -> Result<Result<TokenAnswer, TokenRefusal>>;

    /// Checks an ID token of the provider for a client.
    ///
    /// # Errors
    ///
    /// A fault of the store. That the token doesn't hold is no error.
    async fn check_id_token(
        &self,
        issuer: &str,
        client: &str,
        token: &str,
    ) -> Result<Result<Claims, TokenFault>>;

    /// Whom an access token of the provider stands for at this moment; none for one that opens
    /// nothing, whatever the reason.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn principal(&self, access_token: &str) -> Result<Option<Principal>>;

    /// The names of the roles that a person has in an organisation now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is no member.
    async fn roles(&self, user: UserId, organisation: OrganisationId) -> Result<Vec<String>>;
}
