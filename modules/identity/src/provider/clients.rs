//! The programs that ask for sign-ins.
//!
//! A client belongs to one organisation, whose administrators register it: its people sign in through
//! it, nobody else, and its tokens are for this organisation. Whoever registers it consents for the
//! organisation. Clients that are part of the application (the browser host) belong to none: they are
//! made known at each start, with a secret that never leaves the process. A browser host that is a
//! program of its own has its secret from the settings of both.

pub(super) mod api;
pub(crate) mod model;
mod registering;
mod uris;

use std::sync::Arc;

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;
use svc_core::{App, Cache, Error, OrganisationId, Result, UserId, random_token};
use svc_database::{Database, database_error};
use svc_openid::{BROWSER_HOST, FirstParty, FirstPartyClient};
use uuid::Uuid;

pub use registering::{Client, NewClient, create, get, list, remove};

use super::settings::OpenIdSettings;
use crate::presented::hash;
use crate::service::TOPIC;
use crate::settings::IdentitySettings;

/// A program that may ask for sign-ins.
#[derive(Clone, Debug)]
pub(super) struct KnownClient {
    pub(super) id: String,
    /// The one organisation that it is for; none for a part of the application.
    pub(super) organisation: Option<OrganisationId>,
    secret: Option<[u8; 32]>,
    redirect_uris: Vec<String>,
    signed_out_uris: Vec<String>,
    origins: Vec<String>,
    /// Where it hears that a session has ended.
    pub(super) logout_uri: Option<String>,
    /// As whom it acts with its own credentials.
    pub(super) acts_as: Option<UserId>,
}

impl KnownClient {
    /// Whether it can't keep a secret, such as a program in a browser or on a phone.
    pub(super) fn is_public(&self) -> bool {
        self.secret.is_none()
    }

    /// Whether a secret is the client's, in a time that doesn't depend on where they differ.
    pub(super) fn has_secret(&self, presented: &str) -> bool {
        self.secret.is_some_and(|secret| bool::from(secret[..].ct_eq(&hash(presented)[..])))
    }

    /// Whether codes may go to an address: compared letter by letter (RFC 9700, section 2.1), but for
    /// the port of a loopback address, which a program on a desktop chooses anew each time (RFC 8252,
    /// section 7.3).
    pub(super) fn may_redirect_to(&self, address: &str) -> bool {
        let is_own = |known: &String| known == address || is_loopback_of(known, address);
        self.redirect_uris.iter().any(is_own)
    }

    /// Whether a browser may go to an address once it has signed out.
    pub(super) fn may_end_at(&self, address: &str) -> bool {
        self.signed_out_uris.iter().any(|known| known == address)
    }

    /// Whether pages of an origin may ask the token endpoint.
    pub(super) fn has_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known == origin)
    }
}

/// Whether an address is a registered one with a port in it.
fn is_loopback_of(registered: &str, address: &str) -> bool {
    ["http://127.0.0.1", "http://[::1]"].into_iter().any(|host| {
        let path = registered.strip_prefix(host).filter(|path| path.starts_with('/'));
        let rest = address.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
        let (Some(path), Some(rest)) = (path, rest) else { return false };
        let Some(port) = rest.strip_suffix(path) else { return false };
        port.parse::<u16>().is_ok_and(|port| port > 0) && !port.starts_with('+')
    })
}

/// Knows the clients.
pub(super) struct Clients {
    database: Database,
    parts: Mutex<Vec<(FirstPartyClient, [u8; 32])>>,
    known: Cache<Uuid, Arc<KnownClient>>,
}

impl Clients {
    pub(super) fn new(app: &App) -> Result<Self> {
        let settings = app.settings::<IdentitySettings>();
        let provider = app.settings::<OpenIdSettings>();
        let browser_host = provider.browser_host_secret.as_ref();
        let parts = browser_host.map(|secret| (BROWSER_HOST, hash(secret.expose())));
        Ok(Self {
            database: app.service::<Database>()?.essential(),
            parts: Mutex::new(parts.into_iter().collect()),
            known: Cache::new(app, TOPIC, 1_000, settings.cache_lifetime),
        })
    }

    /// Makes a part of the application known.
    pub(super) fn register(&self, client: FirstPartyClient) -> Result<FirstParty> {
        let mut parts = self.parts.lock();
        if parts.iter().any(|(known, _)| known.id == client.id) {
            return Err(Error::internal(format!("there are two clients `{}`", client.id)));
        }
        let secret = random_token::<32>();
        parts.push((client, hash(&secret)));
        Ok(FirstParty { id: client.id, secret })
    }

    /// The client of this name, as the issuer of a request has it.
    pub(super) async fn find(&self, id: &str, issuer: &str) -> Result<Option<Arc<KnownClient>>> {
        if let Some(part) = self.part(id, issuer) {
            return Ok(Some(Arc::new(part)));
        }
        let Ok(id) = id.parse::<Uuid>() else { return Ok(None) };
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(known));
        }
        let reading = self.known.begin();
        let Some(client) = self.load(id).await? else { return Ok(None) };
        let client = Arc::new(client);
        self.known.keep(reading, id, Arc::clone(&client));
        Ok(Some(client))
    }

    fn part(&self, id: &str, issuer: &str) -> Option<KnownClient> {
        let parts = self.parts.lock();
        let (part, secret) = parts.iter().find(|(known, _)| known.id == id)?;
        let own = |path: &&str| format!("{issuer}{path}");
        Some(KnownClient {
            id: part.id.to_owned(),
            organisation: None,
            secret: Some(*secret),
            redirect_uris: vec![own(&part.redirect_path)],
            signed_out_uris: part.signed_out_paths.iter().map(own).collect(),
            origins: Vec::new(),
            logout_uri: None,
            acts_as: None,
        })
    }

    async fn load(&self, id: Uuid) -> Result<Option<KnownClient>> {
        let statement = self.database.statement(
            "SELECT organisation_id, secret_hash, redirect_uris, signed_out_uris, origins, user_id, \
             logout_uri FROM identity_clients WHERE id = ?",
            [id.into()],
        );
        let rows = self.database.rows(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let lines = |index| {
            let text = row.try_get_by_index::<String>(index).map_err(database_error)?;
            Ok::<_, Error>(text.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        let secret: Option<Vec<u8>> = row.try_get_by_index(1).map_err(database_error)?;
        let organisation: Uuid = row.try_get_by_index(0).map_err(database_error)?;
        let acts_as: Option<Uuid> = row.try_get_by_index(5).map_err(database_error)?;
        let unreadable = |_| Error::internal("the stored hash of a client's secret can't be read");
        Ok(Some(KnownClient {
            id: id.to_string(),
            organisation: Some(OrganisationId(organisation)),
            secret: secret.map(TryInto::try_into).transpose().map_err(unreadable)?,
            redirect_uris: lines(2)?,
            signed_out_uris: lines(3)?,
            origins: lines(4)?,
            logout_uri: row.try_get_by_index(6).map_err(database_error)?,
            acts_as: acts_as.map(UserId),
        }))
    }

    /// Whether pages of an origin may ask what every client may ask.
    pub(super) async fn any_has_origin(&self, origin: &str) -> Result<bool> {
        // Each stands on a line of its own, so that longer ones, perhaps of others, don't stand before it.
        let escaped = ["!", "%", "_"]
            .iter()
            .fold(origin.to_owned(), |text, mark| text.replace(mark, &format!("!{mark}")));
        let statement = self.database.statement(
            "SELECT origins FROM identity_clients WHERE ? || origins || ? LIKE ? ESCAPE '!' LIMIT 100",
            ["\n".into(), "\n".into(), format!("%\n{escaped}\n%").into()],
        );
        for row in self.database.rows(statement).await? {
            let origins: String = row.try_get_by_index(0).map_err(database_error)?;
            if origins.lines().any(|known| known == origin) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(redirect_uri: &str) -> KnownClient {
        KnownClient {
            id: "client".to_owned(),
            organisation: None,
            secret: Some(hash("secret")),
            redirect_uris: vec![redirect_uri.to_owned()],
            signed_out_uris: Vec::new(),
            origins: Vec::new(),
            logout_uri: None,
            acts_as: None,
        }
    }

    #[test]
    fn an_address_is_compared_letter_by_letter() {
        let web = client("https://app.example/cb");
        assert!(web.may_redirect_to("https://app.example/cb"));
        for foreign in [
            "https://app.example/cb/",
            "https://app.example/cb?x=1",
            "https://app.example/CB",
            "https://APP.example/cb",
            "https://app.example:443/cb",
            "https://app.example/x/../cb",
            "https://app.example/%63b",
            "https://app.example.evil.example/cb",
            "https://app.example@evil.example/cb",
            "http://app.example/cb",
            "https://app.example/cb#",
            "",
        ] {
            assert!(!web.may_redirect_to(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_program_on_a_desktop_chooses_its_port() {
        for host in ["http://127.0.0.1", "http://[::1]"] {
            let native = client(&format!("{host}/cb"));
            assert!(native.may_redirect_to(&format!("{host}:51004/cb")));
            for foreign in [
                format!("{host}:0/cb"),
                format!("{host}:+1/cb"),
                format!("{host}:99999/cb"),
                format!("{host}:1/x/cb"),
                format!("{host}:1@evil.example/cb"),
                format!("{host}:/cb"),
                format!("{host}.evil.example/cb"),
            ] {
                assert!(!native.may_redirect_to(&foreign), "{foreign}");
            }
        }
        let named = client("http://localhost/cb");
        assert!(!named.may_redirect_to("http://localhost:51004/cb"));
    }

    #[test]
    fn a_secret_is_known_by_its_hash() {
        let client = client("https://app.example/cb");
        assert!(client.has_secret("secret") && !client.has_secret("Secret"));
        let public = KnownClient { secret: None, ..client };
        assert!(public.is_public() && !public.has_secret(""));
    }
}
