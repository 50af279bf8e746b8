//! The addresses that a client may have.

/// The most addresses of one kind, and the most characters of one.
const MOST: usize = 20;
const LONGEST: usize = 500;

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
    let is_local = |rest: &str| {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let host = &rest[..end];
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        ["localhost", "127.0.0.1", "::1"].contains(&name) && !host.contains('@')
    };
    is_plain(address)
        && match address.split_once("://") {
            Some(("https", rest)) => has_host(rest),
            Some(("http", rest)) => is_local(rest),
            _ => false,
        }
}

/// An origin, as a browser writes it (RFC 6454, section 6.2).
pub(super) fn is_origin(address: &str) -> bool {
    let authority = address.split_once("://").map(|(_, authority)| authority);
    is_web_uri(address)
        && authority.is_some_and(|it| !it.contains(['/', '?']))
        && !address.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_private_uri(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else { return false };
    is_plain(address)
        && scheme.contains('.')
        && scheme
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-+".contains(&b))
        && rest.starts_with('/')
}

fn has_host(rest: &str) -> bool {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let host = &rest[..end];
    !host.is_empty() && !host.contains('@')
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
            "com.example.app:/cb",
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
            "data:text/html,x",
            "/cb",
            "",
        ] {
            assert!(!is_redirect_uri(address), "{address}");
        }
    }

    #[test]
    fn an_origin_has_no_path() {
        assert!(is_origin("https://app.example") && is_origin("http://localhost:3000"));
        for other in ["https://app.example/", "https://App.example", "app.example", "null", "*"] {
            assert!(!is_origin(other), "{other}");
        }
    }
}
