//! Addresses that a browser is sent to.

/// The longest path that is led back to.
const LONGEST: usize = 2_000;

/// Whether a text is a path of this application for every browser: one slash at its beginning, no
/// backslash (which browsers take for a slash) and nothing that they drop or that isn't visible.
pub(crate) fn is_own_path(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next() == Some(b'/')
        && !matches!(letters.next(), Some(b'/' | b'\\'))
        && text.len() <= LONGEST
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// An address with parameters behind it.
pub(crate) fn with_parameters(address: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{address}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::is_own_path;

    #[test]
    fn only_a_path_of_this_application_is_led_back_to() {
        for own in ["/", "/orders?a=1#b", "/a//b", "/%2F%2Fevil.example", "/a:b@c"] {
            assert!(is_own_path(own), "{own}");
        }
        for foreign in [
            "",
            "orders",
            "//evil.example",
            "/\\evil.example",
            "/a\\b",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/a\r\nSet-Cookie: a=b",
            " /a",
            "/ä",
            "/\u{202e}",
        ] {
            assert!(!is_own_path(foreign), "{foreign}");
        }
        assert!(!is_own_path(&format!("/{}", "a".repeat(2_000))));
    }
}
