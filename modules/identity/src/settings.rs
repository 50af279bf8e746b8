use std::collections::BTreeMap;
use std::time::Duration;

use svc_core::App;
use svc_core::settings::{Secret, SectionProblems, WebUrl};

use crate::key::PresentedKey;
use crate::{email, password};

svc_core::settings_section! {
    /// How keys and rights are kept at hand, and what passwords must be.
    pub struct IdentitySettings in "Svc:Identity" {
        /// How long the rights behind an API key are kept in memory. Changes take effect at once on
        /// the node where they are made, and at the latest after this time on the others. Zero
        /// keeps nothing.
        pub cache_lifetime: Duration = seconds(5), within(seconds(0)..=seconds(60));
        /// The most API keys, and the most people, whose rights are kept in memory.
        pub cache_entries: u32 = 10_000, within(1..=1_000_000);
        /// The fewest characters of a new password.
        pub password_min_length: u32 = 12, within(8..=64);
    }
}

svc_core::settings_section! {
    /// How people sign in.
    pub struct AuthSettings in "Svc:Auth" {
        /// How long a session in a browser lasts without being used.
        pub session_idle_time: Duration = hours(24), within(minutes(5)..=days(90));
        /// How long a session in a browser lasts at most; then the person signs in again.
        pub session_lifetime: Duration = days(14), within(minutes(5)..=days(366));
        /// Origins that may show the account pages in a frame, such as `https://portal.example.com`.
        /// None may, by default: a page that is framed can be made to take clicks that were meant for
        /// another.
        pub frame_ancestors: Vec<WebUrl> = vec![];
        /// The header in which the proxy before the application names the client's address, such as
        /// `X-Forwarded-For`; the last address in it counts, so it must be one that the proxy writes or
        /// extends. None takes the connection's own address, or none at all where
        /// `Svc:Http:PublicUrl` says that there is a proxy: attempts to sign in are then not limited
        /// by address.
        pub client_address_header: Option<String> = None, length(1..=100);
        /// The issuer that people sign in with, such as `https://login.example.com/realms/main`; `https`,
        /// or an address of this machine. What else an issuer can have, and further ones, stand in
        /// `Issuers`; this one has the name `default`. Where the issuer is in a private network,
        /// `Svc:Outbound:AllowedNetworks` must open it.
        pub authority: Option<WebUrl> = None;
        /// The application's name at the issuer. It sends people back to
        /// `/account/external/default/callback`.
        pub client_id: Option<String> = None, length(1..=200);
        /// What proves the application to the issuer. None for a client without a secret.
        pub client_secret: Option<Secret> = None, length(1..=1_000);
        /// For whom access tokens of the issuer are that the API takes. None takes none of them.
        pub audience: Option<String> = None, length(1..=300);
        /// Where the issuer's claims say roles, such as `realm_access.roles`.
        pub role_claims: Vec<String> = vec![], length(1..=200);
        /// Where the issuer's claims say organisations.
        pub organisation_claim: Option<String> = None, length(1..=200);
        /// Issuers that people sign in with, by the names that stand in their addresses. The sign-in page
        /// has a button for each.
        pub issuers: BTreeMap<String, IssuerSettings> = BTreeMap::new();
    }
    validate: check_issuers;
}

svc_core::settings_group! {
    /// An issuer that somebody else runs.
    pub struct IssuerSettings {
        /// Its address: `https`, or an address of this machine.
        pub authority: WebUrl;
        /// The application's name there. People are sent back to `/account/external/<name>/callback`.
        pub client_id: String, length(1..=200);
        /// What proves the application to it. None for a client without a secret.
        pub client_secret: Option<Secret> = None, length(1..=1_000);
        /// What its button says. None shows its host.
        pub title: Option<String> = None, length(1..=60);
        /// What is asked for.
        pub scope: String = "openid profile email".to_owned(), length(6..=500);
        /// For whom its access tokens are that the API takes: never `ClientId`, which ID tokens are for.
        /// None takes none.
        pub audience: Option<String> = None, length(1..=300);
        /// Whether an address that it calls verified is the person's: then whoever has it here, or was
        /// invited by it, is the person. Only for issuers that nobody can tell a false one.
        pub trusts_addresses: bool = false;
        /// The organisation of its people, by name or id. None is the only one that there is.
        pub organisation: Option<String> = None, length(1..=200);
        /// Where its claims say organisations, in place of `Organisation`.
        pub organisation_claim: Option<String> = None, length(1..=200);
        /// Organisations, by name or id, by what the claims call them. Others are called as they are.
        pub organisations: BTreeMap<String, String> = BTreeMap::new();
        /// Where its claims say roles, such as `realm_access.roles`; then they are given there and not
        /// here.
        pub role_claims: Vec<String> = vec![], length(1..=200);
        /// Roles by what the claims call them. Others are called as they are; those that don't exist
        /// mean nothing.
        pub roles: BTreeMap<String, String> = BTreeMap::new();
    }
}

impl IssuerSettings {
    /// An issuer with nothing but its address and our name there.
    #[must_use]
    pub fn of(authority: WebUrl, client_id: String) -> Self {
        Self {
            authority,
            client_id,
            client_secret: None,
            title: None,
            scope: "openid profile email".to_owned(),
            audience: None,
            trusts_addresses: false,
            organisation: None,
            organisation_claim: None,
            organisations: BTreeMap::new(),
            role_claims: Vec::new(),
            roles: BTreeMap::new(),
        }
    }
}

impl AuthSettings {
    /// All issuers that people sign in with, by name: the one of `Authority` first.
    #[must_use]
    pub fn all_issuers(&self) -> Vec<(String, IssuerSettings)> {
        let first = self.authority.clone().zip(self.client_id.clone());
        let first = first.map(|(authority, client_id)| {
            let issuer = IssuerSettings {
                client_secret: self.client_secret.clone(),
                audience: self.audience.clone(),
                role_claims: self.role_claims.clone(),
                organisation_claim: self.organisation_claim.clone(),
                ..IssuerSettings::of(authority, client_id)
            };
            (FIRST_ISSUER.to_owned(), issuer)
        });
        let others = self.issuers.iter();
        let others = others.map(|(name, issuer)| (name.to_ascii_lowercase(), issuer.clone()));
        first.into_iter().chain(others).collect()
    }
}

/// The name of the issuer of `Svc:Auth:Authority`.
const FIRST_ISSUER: &str = "default";

fn check_issuers(settings: &AuthSettings, problems: &mut SectionProblems) {
    if settings.authority.is_some() != settings.client_id.is_some() {
        let key = if settings.authority.is_some() { "ClientId" } else { "Authority" };
        problems.add(key, "given, since an issuer has both `Authority` and `ClientId`");
    }
    let mut known: Vec<String> = Vec::new();
    for (name, issuer) in settings.all_issuers() {
        let is_first = name == FIRST_ISSUER && settings.authority.is_some() && known.is_empty();
        let place = if is_first { String::new() } else { format!("Issuers:{name}:") };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.len() > 40 || !name.bytes().all(is_name) || !is_first && name == FIRST_ISSUER {
            problems.add(
                format!("Issuers:{name}"),
                "a name of at most 40 letters, digits and `-`, other than `default`",
            );
        }
        if !issuer.authority.is_https() && !is_on_this_machine(&issuer.authority) {
            problems.add(format!("{place}Authority"), "an address that begins with `https://`");
        }
        let authority = issuer.authority.as_str().trim_end_matches('/').to_owned();
        if known.contains(&authority) {
            problems.add(format!("{place}Authority"), "an issuer that isn't named already");
        }
        known.push(authority);
        if issuer.audience.as_ref() == Some(&issuer.client_id) {
            problems.add(
                format!("{place}Audience"),
                "another name than `ClientId`, or an ID token would open the API",
            );
        }
        if !issuer.scope.split(' ').any(|scope| scope == "openid") {
            problems.add(format!("{place}Scope"), "scopes with `openid` among them");
        }
    }
}

/// Whether an address is of a literal loopback address, which needs no TLS.
fn is_on_this_machine(address: &WebUrl) -> bool {
    let rest = address.as_str().split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether this is a start in development (`SVC_ENVIRONMENT`), which is never the default.
pub(crate) fn is_development(app: &App) -> bool {
    app.all_settings().environment() == Some("development")
}

svc_core::settings_section! {
    /// The organisation and its first administrator, made once, by the start that finds a database
    /// without any organisation. Later starts ignore the section.
    pub struct SetupSettings in "Svc:Setup" {
        /// Name of the organisation.
        pub organisation: Option<String> = None, length(1..=200);
        /// Mail address of the first administrator.
        pub admin_email: Option<String> = None, length(3..=254);
        /// Password of the first administrator.
        pub admin_password: Option<Secret> = None, length(8..=128);
        /// An API key for the first administrator, with all permissions and without an end: a key
        /// that the product made, or `svck_` and at least 32 random characters. None makes no key.
        pub api_key: Option<Secret> = None;
    }
    validate: check_setup;
}

impl SetupSettings {
    /// Whether anything is set.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.organisation.is_some()
            || self.admin_email.is_some()
            || self.admin_password.is_some()
            || self.api_key.is_some()
    }

    /// The settings that a set-up needs and that are not set.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let needed = [
            ("Svc:Setup:Organisation", self.organisation.is_none()),
            ("Svc:Setup:AdminEmail", self.admin_email.is_none()),
            ("Svc:Setup:AdminPassword", self.admin_password.is_none()),
        ];
        needed.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect()
    }
}

/// Checks the form of what is given. Whether it is complete is only asked on an empty database, so
/// that an operator may take the secrets away after the set-up.
fn check_setup(settings: &SetupSettings, problems: &mut SectionProblems) {
    if let Some(Err(_)) = settings.admin_email.as_deref().map(email::Email::parse) {
        problems.add("AdminEmail", "a mail address, such as `ada@shop.example`");
    }
    if let Some(Err(problem)) =
        settings.api_key.as_ref().map(|key| PresentedKey::parse(key.expose()))
    {
        problems.add("ApiKey", problem.expectation());
    }
    if settings.admin_password.as_ref().is_some_and(|given| password::is_blank(given.expose())) {
        problems.add("AdminPassword", "a password that is not blank");
    }
}
