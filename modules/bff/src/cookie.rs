//! Cookies for this host alone.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

/// The cookie of a session.
pub(crate) const SESSION: &str = "svc-bff";

/// What the cookie of a sign-in that is under way begins with.
pub(crate) const LOGIN: &str = "svc-bff-login-";

/// How cookies are named and sent under an issuer's address: with TLS as strictly as can be, and
/// without it, on the own machine, as browsers take them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    is_https: bool,
}

impl Cookies {
    pub(crate) fn under(issuer: &str) -> Self {
        Self { is_https: issuer.starts_with("https://") }
    }

    pub(crate) fn full_name(self, name: &str) -> String {
        if self.is_https { format!("__Host-{name}") } else { name.to_owned() }
    }

    /// A `Set-Cookie`. `name` and `value` are of characters that need no quotes.
    pub(crate) fn set(self, name: &str, value: &str, seconds: u64) -> HeaderValue {
        let name = self.full_name(name);
        let secure = if self.is_https { "; Secure" } else { "" };
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly{secure}; SameSite=Lax");
        let mut value =
            HeaderValue::try_from(text).expect("names and values are of visible letters");
        value.set_sensitive(true);
        value
    }

    /// The `Set-Cookie` that makes a browser forget one.
    pub(crate) fn forget(self, name: &str) -> HeaderValue {
        self.set(name, "", 0)
    }

    /// The value of a cookie; none where several have the name, of which one isn't ours.
    pub(crate) fn get(self, headers: &HeaderMap, name: &str) -> Option<String> {
        let name = self.full_name(name);
        let mut values = pairs(headers).filter(|(known, _)| *known == name);
        let value = values.next().map(|(_, value)| value.to_owned());
        value.filter(|_| values.next().is_none())
    }

    /// A line of `Cookie` without the host's own; none where nothing is left.
    pub(crate) fn others(self, line: &HeaderValue) -> Option<HeaderValue> {
        let own = self.full_name(SESSION);
        let pairs = line.to_str().ok()?.split(';').map(str::trim);
        let others: Vec<&str> = pairs.filter(|pair| !pair.starts_with(&own)).collect();
        let mut line = HeaderValue::try_from(others.join("; ")).ok().filter(|it| !it.is_empty())?;
        line.set_sensitive(true);
        Some(line)
    }

    /// The names of cookies that begin like this, without their prefix.
    pub(crate) fn names(self, headers: &HeaderMap, beginning: &str) -> Vec<String> {
        let full = self.full_name(beginning);
        let names = pairs(headers).filter_map(|(name, _)| name.strip_prefix(&full));
        let is_ours = |rest: &&str| rest.bytes().all(is_of_token) && rest.len() <= 64;
        names.filter(is_ours).map(|rest| format!("{beginning}{rest}")).collect()
    }
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(line: &'static str) -> HeaderMap {
        [(COOKIE, HeaderValue::from_static(line))].into_iter().collect()
    }

    #[test]
    fn a_cookie_is_for_this_host_alone() {
        let secure = Cookies::under("https://svc.example");
        let set = secure.set(SESSION, "abc", 60);
        let expected = "__Host-svc-bff=abc; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax";
        assert_eq!(set, expected);
        let plain = Cookies::under("http://localhost:5080");
        assert_eq!(plain.forget(SESSION), "svc-bff=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn a_second_cookie_of_the_name_makes_both_worthless() {
        let secure = Cookies::under("https://svc.example");
        let one = headers("svc-bff=tossed; __Host-svc-bff=abc");
        assert_eq!(secure.get(&one, SESSION).as_deref(), Some("abc"));
        let two = headers("__Host-svc-bff=abc; __Host-svc-bff=def");
        assert_eq!(secure.get(&two, SESSION), None);
    }

    #[test]
    fn cookies_of_others_are_told_from_the_own() {
        let secure = Cookies::under("https://svc.example");
        let others = |line| secure.others(&HeaderValue::from_static(line));
        let left = others("__Host-svc-bff=abc; __Host-svc-session=d;__Host-svc-bff-login-a=e; f=g");
        assert_eq!(left.expect("two"), "__Host-svc-session=d; f=g");
        assert_eq!(others("__Host-svc-bff=abc"), None);
    }

    #[test]
    fn sign_ins_under_way_are_found_by_their_beginning() {
        let plain = Cookies::under("http://localhost");
        let several =
            headers("svc-bff-login-a1=x; svc-bff-login-b_=y; svc-bff=z; svc-bff-login-\"=q");
        assert_eq!(plain.names(&several, LOGIN), ["svc-bff-login-a1", "svc-bff-login-b_"]);
    }
}
