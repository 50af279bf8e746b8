//! The parameters of a request: a query, or a form.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// The most bytes and parameters that are read.
const LONGEST: usize = 32 * 1024;
const MOST: usize = 100;

/// Why a request is refused, as its client is told (RFC 6749, sections 4.1.2.1 and 5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) description: Cow<'static, str>,
}

/// A refusal with a code and what a developer should know.
pub(super) fn refused(code: &'static str, description: impl Into<Cow<'static, str>>) -> Refused {
    Refused { code, description: description.into() }
}

/// The parameters of a request. None stands twice (RFC 6749, sections 3.1 and 3.2), and one without a
/// value counts as left out.
#[derive(Debug, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a query.
    pub(super) fn of_query(query: Option<&str>) -> Result<Self, Refused> {
        Self::parse(query.unwrap_or_default().as_bytes())
    }

    /// Reads the body of a request.
    pub(super) fn of_body(headers: &HeaderMap, body: &[u8]) -> Result<Self, Refused> {
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(refused(
                "invalid_request",
                "the body must be of the type `application/x-www-form-urlencoded`",
            ));
        }
        Self::parse(body)
    }

    /// Takes parameters that a part of the application gives.
    pub(super) fn of_pairs(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn parse(text: &[u8]) -> Result<Self, Refused> {
        if text.len() > LONGEST {
            return Err(refused("invalid_request", "the parameters are too long"));
        }
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text) {
            if pairs.iter().any(|(known, _)| *known == name) {
                let message = format!("the parameter `{}` stands twice", shown(&name));
                return Err(refused("invalid_request", message));
            }
            if pairs.len() == MOST {
                return Err(refused("invalid_request", "there are too many parameters"));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(pairs))
    }

    /// A parameter that has a value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A parameter that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&str, Refused> {
        self.get(name)
            .ok_or_else(|| refused("invalid_request", format!("the parameter `{name}` is missing")))
    }

    /// All parameters but those of these names, with `more` behind them, as a query.
    pub(super) fn without(&self, names: &[&str], more: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.0.iter().filter(|(name, _)| !names.contains(&name.as_str())));
        query.extend_pairs(more);
        query.finish()
    }
}

/// What of a text may stand in a description (RFC 6749, section 5.2: ASCII without quotes and
/// backslashes), at most 60 characters.
fn shown(text: &str) -> String {
    let permitted = |letter: &char| letter.is_ascii_graphic() && *letter != '"' && *letter != '\\';
    text.chars().filter(permitted).take(60).collect()
}

/// The address of a client with parameters behind it, which may have some of its own.
pub(super) fn address_with(address: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_stands_once_and_has_a_value() {
        let form = Form::of_query(Some("a=1&b=&c=x%20y")).unwrap();
        assert_eq!((form.get("a"), form.get("b"), form.get("c")), (Some("1"), None, Some("x y")));
        assert_eq!(form.need("b").unwrap_err().code, "invalid_request");
        assert_eq!(form.without(&["a"], &[("d", "é")]), "b=&c=x+y&d=%C3%A9");
        for twice in ["a=1&a=2", "a=1&a=1", "a=&a="] {
            assert_eq!(Form::of_query(Some(twice)).unwrap_err().code, "invalid_request");
        }
    }

    #[test]
    fn parameters_have_a_bound() {
        let many: Vec<String> = (0..101).map(|number| format!("p{number}=")).collect();
        let many = many.join("&");
        assert!(Form::of_query(Some(&many)).is_err());
        assert!(Form::of_query(Some(&format!("a={}", "x".repeat(LONGEST)))).is_err());
    }

    #[test]
    fn a_body_must_be_a_form() {
        let of_type = |text: &'static str| {
            let headers = [(CONTENT_TYPE, http::HeaderValue::from_static(text))];
            Form::of_body(&headers.into_iter().collect(), b"a=1")
        };
        assert!(of_type("application/x-www-form-urlencoded; charset=UTF-8").is_ok());
        assert!(of_type("application/json").is_err());
        assert!(Form::of_body(&HeaderMap::new(), b"a=1").is_err());
    }
}
