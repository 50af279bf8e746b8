//! Checking a URL that a person names.
//!
//! URLs are read by the WHATWG parser, the one of browsers, which is generous: it drops tabs and
//! line ends, takes a backslash for a slash, guesses missing slashes, decodes `%`-escapes in
//! hosts, and reads `0x7f.1` as an address. Generosity makes two programs see two hosts in one
//! URL, so whatever it would repair is refused first, and the rules then look at the normal form
//! that the connection will use.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use rustls::pki_types::ServerName;
use url::Url;

use super::{AddressPolicy, Refusal, judge};

const MAX_LENGTH: usize = 2_048;
/// Names that mean this machine wherever they are looked up (RFC 6761 and hosts files).
const LOCAL_NAMES: &[&str] =
    &["localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"];

/// Why a URL may not be reached. Each message names the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Longer than any receiver needs.
    #[error("the address has `{0}` characters; at most 2048 are allowed")]
    TooLong(usize),
    /// A blank, a control character or an invisible one.
    #[error("the address contains the character `{}`; remove blanks and control characters", .0.escape_unicode())]
    Character(char),
    /// Parsers disagree about backslashes.
    #[error("the address contains a backslash; write `/`")]
    Backslash,
    /// It does not start with `https://` (or `http://`), or nothing follows.
    #[error("the address has to be absolute, such as `https://example.com/path`")]
    NotAbsolute,
    /// Another scheme than `https` and `http`.
    #[error("the scheme `{0}` is not supported; use `https`")]
    Scheme(String),
    /// `http` while the settings require `https`.
    #[error("the address has to start with `https://`; `http` is refused by `RequireHttps`")]
    HttpsRequired,
    /// A user name or a password before the host.
    #[error("the address contains a user name or password; remove what stands before the `@`")]
    UserInformation,
    /// A `%` in the host: an escape or an IPv6 zone.
    #[error("the host contains `%`; write it without escapes and without a zone")]
    EscapedHost,
    /// The parser does not accept it.
    #[error("the address is not a valid URL: {0}")]
    Malformed(url::ParseError),
    /// The host ends with a full stop.
    #[error("the host ends with a full stop; remove it")]
    TrailingDot,
    /// The host is no name that DNS and TLS accept.
    #[error("`{0}` is not a valid host name")]
    HostName(String),
    /// A decimal, octal, hexadecimal, short or full-width spelling of an IPv4 address.
    #[error("the host is another spelling of `{0}`; write that instead")]
    AddressSpelling(IpAddr),
    /// A port that the settings do not open.
    #[error("port `{0}` is not allowed; use 443 or ask the operator to add it to `AllowedPorts`")]
    Port(u16),
    /// A fragment is never sent, so it can only be a mistake.
    #[error("the address contains a fragment, which is never sent; remove what follows the `#`")]
    Fragment,
    /// The path or query has characters that HTTP cannot carry.
    #[error("the path or query of the address cannot be sent; escape its special characters")]
    Path,
    /// A name that always means this machine.
    #[error("`{0}` means this machine, which may not be reached")]
    LocalName(String),
    /// The name under which this application itself is reached.
    #[error("`{0}` is the address of this application itself; name the receiver's address")]
    OwnHost(String),
    /// A literal address that is not public.
    #[error("the host is refused: {0}")]
    Refused(#[from] Refusal),
}

/// The host of an address, in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in lower case, internationalised labels as `xn--…`; resolved at every send.
    Name(Arc<str>),
    /// A literal address.
    Address(IpAddr),
}

impl FromStr for Host {
    type Err = AddressError;

    /// Reads a bare host, without scheme and port, into its normal form.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.strip_suffix('.').unwrap_or(text);
        match url::Host::parse(text).map_err(AddressError::Malformed)? {
            url::Host::Domain(name) => Ok(Self::Name(name.into())),
            url::Host::Ipv4(address) => Ok(Self::Address(address.into())),
            url::Host::Ipv6(address) => Ok(Self::Address(address.into())),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(formatter),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

/// A checked address, prepared for sending; cheap to clone.
#[derive(Clone)]
pub struct TargetUrl(Arc<Parts>);

struct Parts {
    url: Url,
    host: Host,
    port: u16,
    is_https: bool,
    origin: Arc<str>,
    authority: HeaderValue,
    server_name: ServerName<'static>,
    absolute: Uri,
    path_and_query: Uri,
}

impl TargetUrl {
    /// Reads and checks an address, at save and whenever it is loaded for sending.
    ///
    /// # Errors
    ///
    /// The first rule that the address breaks.
    pub fn parse(text: &str, policy: &AddressPolicy) -> Result<Self, AddressError> {
        check_spelling(text)?;
        let url = Url::parse(text).map_err(AddressError::Malformed)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::UserInformation);
        }
        if url.fragment().is_some() {
            return Err(AddressError::Fragment);
        }
        let (host, server_name) = read_host(&url)?;
        let endpoint = Self(Arc::new(Parts::new(url, host, server_name)?));
        endpoint.check(policy)?;
        check_address_spelling(text, endpoint.host())?;
        Ok(endpoint)
    }

    /// Checks the rules that depend on settings, which may have changed since the address was
    /// saved. Costs no allocation, so that every attempt can afford it.
    ///
    /// # Errors
    ///
    /// The first rule that the address breaks.
    pub fn check(&self, policy: &AddressPolicy) -> Result<(), AddressError> {
        if policy.require_https && !self.is_https() {
            return Err(AddressError::HttpsRequired);
        }
        match self.host() {
            Host::Address(address) => {
                judge(*address, policy)?;
                refuse_own_host(self.host(), policy)?;
            }
            Host::Name(name) if is_local_name(name) => check_local_name(name, policy)?,
            Host::Name(_) => refuse_own_host(self.host(), policy)?,
        }
        if policy.allows_port(self.port()) { Ok(()) } else { Err(AddressError::Port(self.port())) }
    }

    /// The normal form, which is what to store and show.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.url.as_str()
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.0.host
    }

    /// The port, the scheme's own one when the address names none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Whether requests go over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.is_https
    }

    /// Scheme, host and port: what may share a connection.
    #[must_use]
    pub fn origin(&self) -> &Arc<str> {
        &self.0.origin
    }

    /// Value of the `Host` header.
    pub(crate) fn authority(&self) -> &HeaderValue {
        &self.0.authority
    }

    /// The name that the receiver's certificate has to be valid for.
    pub(crate) fn server_name(&self) -> &ServerName<'static> {
        &self.0.server_name
    }

    /// Request target of HTTP/2.
    pub(crate) fn absolute_uri(&self) -> &Uri {
        &self.0.absolute
    }

    /// Request target of HTTP/1.1.
    pub(crate) fn path_and_query(&self) -> &Uri {
        &self.0.path_and_query
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TargetUrl({})", self.as_str())
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialEq for TargetUrl {
    fn eq(&self, other: &Self) -> bool {
        self.0.url == other.0.url
    }
}

impl Eq for TargetUrl {}

impl Parts {
    fn new(url: Url, host: Host, server_name: ServerName<'static>) -> Result<Self, AddressError> {
        let is_https = url.scheme() == "https";
        let default_port = if is_https { 443 } else { 80 };
        let port = url.port().unwrap_or(default_port);
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let path: PathAndQuery = url[url::Position::BeforePath..url::Position::AfterQuery]
            .parse()
            .map_err(|_| AddressError::Path)?;
        let absolute = Uri::builder()
            .scheme(if is_https { Scheme::HTTPS } else { Scheme::HTTP })
            .authority(authority.parse::<Authority>().map_err(|_| invalid(&host))?)
            .path_and_query(path.clone())
            .build()
            .map_err(|_| AddressError::Path)?;
        Ok(Self {
            authority: HeaderValue::from_str(authority).map_err(|_| invalid(&host))?,
            origin: format!("{}://{host}:{port}", url.scheme()).into(),
            path_and_query: Uri::from(path),
            url,
            host,
            port,
            is_https,
            server_name,
            absolute,
        })
    }
}

fn invalid(host: &Host) -> AddressError {
    AddressError::HostName(host.to_string())
}

/// Refuses whatever the parser would silently repair.
fn check_spelling(text: &str) -> Result<(), AddressError> {
    if text.len() > MAX_LENGTH {
        return Err(AddressError::TooLong(text.chars().count()));
    }
    let is_blank = |character: &char| character.is_whitespace() || character.is_control();
    if let Some(character) = text.chars().find(is_blank) {
        return Err(AddressError::Character(character));
    }
    if text.contains('\\') {
        return Err(AddressError::Backslash);
    }
    let (scheme, rest) = text.split_once(':').ok_or(AddressError::NotAbsolute)?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(if rest.starts_with("//") {
            AddressError::Scheme(scheme.to_owned())
        } else {
            AddressError::NotAbsolute
        });
    }
    let authority = raw_authority(rest).ok_or(AddressError::NotAbsolute)?;
    if authority.contains('@') {
        return Err(AddressError::UserInformation);
    }
    if authority.contains('%') {
        return Err(AddressError::EscapedHost);
    }
    Ok(())
}

/// What stands between `://` and the path; none when the slashes or the host are missing.
fn raw_authority(after_scheme: &str) -> Option<&str> {
    let rest = after_scheme.strip_prefix("//")?;
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    (!authority.is_empty()).then_some(authority)
}

fn read_host(url: &Url) -> Result<(Host, ServerName<'static>), AddressError> {
    match url.host() {
        Some(url::Host::Ipv4(address)) => Ok(literal(IpAddr::V4(address))),
        Some(url::Host::Ipv6(address)) => Ok(literal(IpAddr::V6(address))),
        Some(url::Host::Domain(name)) if name.ends_with('.') => Err(AddressError::TrailingDot),
        Some(url::Host::Domain(name)) => {
            let server_name = ServerName::try_from(name.to_owned())
                .map_err(|_| AddressError::HostName(name.to_owned()))?;
            Ok((Host::Name(name.into()), server_name))
        }
        None => Err(AddressError::NotAbsolute),
    }
}

fn literal(address: IpAddr) -> (Host, ServerName<'static>) {
    (Host::Address(address), ServerName::IpAddress(address.into()))
}

/// Refuses a public IPv4 address that is not written as one; private ones were refused before.
fn check_address_spelling(text: &str, host: &Host) -> Result<(), AddressError> {
    let Host::Address(address @ IpAddr::V4(_)) = host else { return Ok(()) };
    let authority = text.split_once(':').and_then(|(_, rest)| raw_authority(rest)).unwrap_or("");
    let written = authority.split_once(':').map_or(authority, |(host, _)| host);
    if written == address.to_string() {
        Ok(())
    } else {
        Err(AddressError::AddressSpelling(*address))
    }
}

fn is_local_name(name: &str) -> bool {
    LOCAL_NAMES.contains(&name) || name.ends_with(".localhost")
}

/// A name for this machine is judged like the addresses that it stands for; as at send, one
/// refused address refuses the name.
fn check_local_name(name: &str, policy: &AddressPolicy) -> Result<(), AddressError> {
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    if loopback.iter().all(|address| judge(*address, policy).is_ok()) {
        Ok(())
    } else {
        Err(AddressError::LocalName(name.to_owned()))
    }
}

fn refuse_own_host(host: &Host, policy: &AddressPolicy) -> Result<(), AddressError> {
    let Some(own) = &policy.own_host else { return Ok(()) };
    let is_own = match (own, host) {
        (Host::Name(own), Host::Name(name)) => own == name,
        (Host::Address(own), Host::Address(address)) => {
            let address = address.to_canonical();
            own.to_canonical() == address && !address.is_loopback()
        }
        _ => false,
    };
    if is_own { Err(AddressError::OwnHost(host.to_string())) } else { Ok(()) }
}
