use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::HeaderValue;
use ipnet::IpNet;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use svc_core::settings::{Secret, SectionProblems};
use svc_core::{Module, Registry};

use crate::address::AddressPolicy;
use crate::client::{ClientOptions, Proxy};

/// A network as settings write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(pub IpNet);

impl FromStr for Network {
    type Err = ipnet::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

svc_core::text_setting!(Network, "a network such as `10.1.0.0/16` or `fd00::/8`");

/// The certificates of a file, which settings name by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFile {
    path: String,
    certificates: Arc<[CertificateDer<'static>]>,
}

impl FromStr for CertificateFile {
    type Err = pem::Error;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        let certificates: Vec<_> =
            CertificateDer::pem_file_iter(path)?.collect::<Result<_, _>>()?;
        if certificates.is_empty() {
            return Err(pem::Error::NoItemsFound);
        }
        Ok(Self { path: path.to_owned(), certificates: certificates.into() })
    }
}

impl fmt::Display for CertificateFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)
    }
}

svc_core::text_setting!(CertificateFile, "the path of a file with certificates in PEM form");

svc_core::settings_section! {
    /// Requests to addresses that people name, whichever module sends them.
    pub struct OutboundSettings in "Svc:Outbound" {
        /// Networks that are never reached, whatever a module opens.
        pub denied_networks: Vec<Network> = vec![];
        /// Private networks that every module may reach.
        pub allowed_networks: Vec<Network> = vec![];
        /// Host and port of an HTTP proxy through which all of it goes, such as
        /// `proxy.example:3128`. It is asked for tunnels to addresses that were checked here.
        pub proxy: Option<String> = None, length(1..=300);
        /// What the proxy wants in `Proxy-Authorization`, such as `Basic dXNlcjpwYXNz`.
        pub proxy_authorization: Option<Secret> = None, length(1..=2_000);
        /// A file with certificates of authorities that are trusted besides those of the system, in PEM
        /// form. It is read when the application starts.
        pub trusted_certificates: Option<CertificateFile> = None;
    }
    validate: check;
}

fn check(settings: &OutboundSettings, problems: &mut SectionProblems) {
    if settings.proxy.as_deref().is_some_and(|proxy| !is_host_and_port(proxy)) {
        problems.add("Proxy", "a host and a port such as `proxy.example:3128`");
    }
    let authorization = settings.proxy_authorization.as_ref();
    if authorization.is_some_and(|value| HeaderValue::from_str(value.expose()).is_err()) {
        problems.add("ProxyAuthorization", "the value of a header");
    }
}

fn is_host_and_port(text: &str) -> bool {
    let authority: Option<http::uri::Authority> = text.parse().ok();
    authority.is_some_and(|it| it.port_u16().is_some_and(|port| port > 0) && !text.contains('@'))
}

impl OutboundSettings {
    /// Adds what holds for every module to what one module wants.
    #[must_use]
    pub fn apply(&self, mut options: ClientOptions) -> ClientOptions {
        self.apply_to_policy(&mut options.policy);
        options.additional_roots.extend(self.additional_roots());
        ClientOptions { proxy: self.proxy(), ..options }
    }

    /// Certificates that are trusted besides those of the system.
    #[must_use]
    pub fn additional_roots(&self) -> Vec<CertificateDer<'static>> {
        self.trusted_certificates.as_ref().map_or_else(Vec::new, |file| file.certificates.to_vec())
    }

    /// The proxy through which everything goes.
    #[must_use]
    pub fn proxy(&self) -> Option<Proxy> {
        let authorization = self.proxy_authorization.as_ref().and_then(|value| {
            let mut value = HeaderValue::from_str(value.expose()).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        self.proxy.clone().map(|authority| Proxy { authority, authorization })
    }

    /// Adds what holds for every module to the rules for addresses of one.
    pub fn apply_to_policy(&self, policy: &mut AddressPolicy) {
        policy.denied_networks.extend(self.denied_networks.iter().map(|network| network.0));
        policy.allowed_networks.extend(self.allowed_networks.iter().map(|network| network.0));
    }
}

/// The settings of outgoing requests, as a module named `client`.
pub struct ClientModule;

impl Module for ClientModule {
    fn name(&self) -> Cow<'static, str> {
        "client".into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<OutboundSettings>();
    }
}
