//! The addresses that a client may have.

use std::net::Ipv6Addr;

/// The most addresses of one kind, and the most characters of one.
const MOST: usize = 20;
const LONGEST: usize = 500;

/// The hosts that are this machine. What else leads there (`127.1`, `[0:0::1]`) isn't needed, and read in as many ways
/// as there are readers.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether all of them are such addresses, and not too many.
pub(super) fn check_lines(addresses: &[String], is_one: impl Fn(&str) -> bool) -> bool {
    addresses.len() <= MOST && addresses.iter().all(|address| is_one(address))
}

/// Where a code may go: by TLS, to this machine, or to a program's own scheme, which names a domain
/// backwards (RFC 8252, sections 7.1 and 7.3). There is no fragment (RFC 6749, section 3.1.2).
pub(super) fn is_redirect_uri(address: &str) -> bool {
    is_web_uri(address) || is_private_uri(address)
}

/// An address by TLS, or of this machine.
pub(super) fn is_web_uri(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let Some((host, _)) = host_and_port(&rest[..end]) else { return false };
    is_plain(address) && (scheme == "https" || scheme == "http" && LOCAL.contains(&host))
}

/// An origin, as a browser writes it (RFC 6454, section 6.2).
pub(super) fn is_origin(address: &str) -> bool {
    let Some((scheme, authority)) = address.split_once("://") else { return false };
    let usual = if scheme == "https" { "443" } else { "80" };
    is_web_uri(address)
        && !address.bytes().any(|byte| byte.is_ascii_uppercase())
        && host_and_port(authority).is_some_and(|(_, port)| port != Some(usual))
}

fn is_private_uri(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else { return false };
    is_plain(address)
        && scheme.contains('.')
        && scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-+".contains(&b))
        && rest.starts_with('/')
}

/// The parts of an authority that is a host and perhaps a port, and nothing beside them. A host is a name, an
/// address of IPv4, or one of IPv6 in brackets.
fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(end);
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    let port = rest.strip_prefix(':');
    let is_port = |port: &str| {
        let is_number = port.bytes().all(|digit| digit.is_ascii_digit()) && !port.starts_with('0');
        is_number && port.parse::<u16>().is_ok()
    };
    (is_host && (rest.is_empty() || port.is_some_and(is_port))).then_some((host, port))
}

/// Whether it is a name of the domain name system, as it is looked up: other letters than these are encoded in it.
fn is_name(host: &str) -> bool {
    let labels = host.strip_suffix('.').unwrap_or(host).split('.');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    labels.into_iter().all(|label| !label.is_empty() && label.bytes().all(is_letter))
}

/// Whether there is nothing in it that would be read differently elsewhere.
fn is_plain(address: &str) -> bool {
    address.len() <= LONGEST
        && address.bytes().all(|byte| byte.is_ascii_graphic())
        && !address.contains(['#', '\\', '*', '"', '<', '>'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_where_nobody_listens_in() {
        for address in [
            "https://app.example/cb",
            "https://app.example:8443/cb?a=b",
            "http://127.0.0.1/cb",
            "http://[::1]:8080/cb",
            "http://localhost:3000/cb",
            "http://[::1]",
            "http://127.0.0.1:65535?a=@b",
            "http://localhost/a@b:c",
            "https://APP.example./cb",
            "https://xn--pp-eka.example/cb",
            "https://[2001:db8::1]:8443/cb",
            "https://127.0.0.1.example/cb",
            "com.example.app:/cb",
            "com.example.app://cb",
        ] {
            assert!(is_redirect_uri(address), "{address}");
        }
        for address in [
            "http://app.example/cb",
            "http://localhost.evil.example/cb",
            "http://127.0.0.1@evil.example/cb",
            "https://a@evil.example/cb",
            "https:///cb",
            "https://app.example/#cb",
            "https://*.example/cb",
            "https://app.example/a b",
            "https://app.example\\cb",
            "javascript:alert(1)",
            "myapp:/cb",
            "com.example.app:cb",
            "Com.example.app:/cb",
            "127.0.0.1:/cb",
            ".app:/cb",
            "com.example.app:/cb#x",
            "com.exa mple:/cb",
            "http.:8080/cb",
            "data:text/html,x",
            "/cb",
            "",
        ] {
            assert!(!is_redirect_uri(address), "{address}");
        }
    }

    #[test]
    fn only_this_machine_is_asked_without_tls() {
        for address in [
            "http://[::1]evil.example",
            "http://[::1]evil.example/cb",
            "http://[::1].evil.example/cb",
            "http://[::1]:80evil.example/cb",
            "http://[::1]:@evil.example/cb",
            "http://[::1]@evil.example/cb",
            "http://[::1",
            "http://[::1/cb",
            "http://::1/cb",
            "http://[]/cb",
            "http://[::1%25eth0]/cb",
            "http://[::ffff:127.0.0.1]/cb",
            "http://[0:0:0:0:0:0:0:1]/cb",
            "http://[::2]/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://127.0.0.1:80.evil.example/cb",
            "http://127.0.0.1:8080@evil.example/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:0/cb",
            "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:+80/cb",
            "http://127.0.0.1:8080:9090/cb",
            "http://127.0.0.1%2eevil.example/cb",
            "http://127.0.0.1;evil.example/cb",
            "http://127.0.0.1\\@evil.example/cb",
            "http://127.0.0.1#@evil.example/cb",
            "http://127.0.0.1\t.evil.example/cb",
            "http://127.1/cb",
            "http://127.0.0.2/cb",
            "http://0177.0.0.1/cb",
            "http://0x7f.0.0.1/cb",
            "http://2130706433/cb",
            "http://0/cb",
            "http://localhost./cb",
            "http://localhost.evil/cb",
            "http://LOCALHOST/cb",
            "http://evil.example/127.0.0.1",
            "http://evil.example?localhost",
            "http:///localhost/cb",
            "http://",
            "http:/127.0.0.1/cb",
            "HTTP://127.0.0.1/cb",
            "http://user:password@127.0.0.1/cb",
        ] {
            assert!(!is_redirect_uri(address) && !is_web_uri(address), "{address}");
        }
    }

    #[test]
    fn a_host_is_one_whoever_reads_it() {
        for address in [
            "https://[evil.example]/cb",
            "https://[::1]evil.example/cb",
            "https://app.example:evil/cb",
            "https://app.example:/cb",
            "https://app.example:080/cb",
            "https://.example/cb",
            "https://app..example/cb",
            "https://./cb",
            "https://app.example%2f.evil.example/cb",
            "https://app.example;.evil.example/cb",
            "https://app.example&evil.example/cb",
            "https://app.ex\u{e4}mple/cb",
            "https:app.example/cb",
            "https://?a=b",
            "https://:443/cb",
        ] {
            assert!(!is_redirect_uri(address) && !is_web_uri(address), "{address}");
        }
    }

    #[test]
    fn an_origin_has_no_path() {
        assert!(is_origin("https://app.example") && is_origin("http://localhost:3000"));
        assert!(is_origin("http://[::1]:3000") && is_origin("https://app.example:80"));
        for other in [
            "https://app.example/",
            "https://app.example?",
            "https://App.example",
            "https://app.example:443",
            "http://localhost:80",
            "http://[::1]evil.example",
            "com.example.app:/",
            "app.example",
            "null",
            "*",
        ] {
            assert!(!is_origin(other), "{other}");
        }
    }
}
