//! What an issuer says of itself.

use serde::Deserialize;
use svc_client::{AddressPolicy, TargetUrl};
use svc_core::settings::WebUrl;

use super::Registration;

/// An issuer's endpoints (OpenID Connect Discovery, section 3), as far as a client needs them.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    /// Its name, which tokens carry as `iss`.
    pub issuer: String,
    /// Where a browser goes to sign in.
    pub authorization_endpoint: String,
    /// Where tokens are.
    pub token_endpoint: String,
    /// Where its keys are.
    pub jwks_uri: String,
    /// Where a person's claims are.
    #[serde(default)]
    pub userinfo_endpoint: Option<String>,
    /// Where a browser goes to sign out there (RP-Initiated Logout, section 2.1).
    #[serde(default)]
    pub end_session_endpoint: Option<String>,
    /// Whether its answers name it (RFC 9207, section 3).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

impl Metadata {
    pub(super) fn parse(
        document: &[u8],
        registration: &Registration,
        policy: &AddressPolicy,
    ) -> Result<Self, String> {
        let metadata: Self = serde_json::from_slice(document)
            .map_err(|error| format!("its description can't be read: {error}"))?;
        // Section 4.3: whoever describes another issuer would sign people in as that one's.
        let authority = registration.authority.as_str();
        if metadata.issuer.trim_end_matches('/') != authority.trim_end_matches('/') {
            return Err(format!("it calls itself `{}`", metadata.issuer));
        }
        let asked = [Some(&metadata.token_endpoint), Some(&metadata.jwks_uri)];
        for address in asked.into_iter().chain([metadata.userinfo_endpoint.as_ref()]).flatten() {
            TargetUrl::parse(&registration.reached(address), policy)
                .map_err(|error| format!("its endpoint `{address}` can't be asked: {error}"))?;
        }
        let shown = [
            ("authorization", Some(&metadata.authorization_endpoint)),
            ("end-session", metadata.end_session_endpoint.as_ref()),
        ];
        for (name, address) in shown {
            let Some(address) = address else { continue };
            let read = address.parse::<WebUrl>().ok();
            if !read.is_some_and(|it| it.is_https() || !registration.authority.is_https()) {
                return Err(format!("its {name} endpoint isn't an address with `https`"));
            }
        }
        Ok(metadata)
    }

    /// Whether the token endpoint takes a secret in `Authorization`, which is so where nothing is said.
    pub(super) fn takes_basic(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|it| it.iter().any(|method| method == "client_secret_basic"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse(change: impl FnOnce(&mut Value)) -> Result<Metadata, String> {
        let mut document = json!({
            "issuer": "https://login.example",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://login.example/token",
            "jwks_uri": "https://login.example/keys",
        });
        change(&mut document);
        let registration = Registration {
            authority: "https://login.example/".parse().expect("an address"),
            client_id: "svc".to_owned(),
            client_secret: None,
            through: None,
        };
        Metadata::parse(document.to_string().as_bytes(), &registration, &AddressPolicy::default())
    }

    #[test]
    fn an_issuer_describes_itself_and_nobody_else() {
        assert!(parse(|_| {}).is_ok_and(|it| it.takes_basic()));
        for (name, value) in [
            ("issuer", json!("https://login.example.evil.example")),
            ("issuer", json!("https://other.example")),
            ("authorization_endpoint", json!("http://login.example/authorize")),
            ("authorization_endpoint", json!("javascript:alert(1)")),
            ("token_endpoint", json!("http://login.example/token")),
            ("token_endpoint", json!("https://10.0.0.1/token")),
            ("jwks_uri", json!("https://169.254.169.254/keys")),
            ("jwks_uri", Value::Null),
            ("userinfo_endpoint", json!("https://localhost/me")),
            ("end_session_endpoint", json!("http://login.example/logout")),
            ("end_session_endpoint", json!("javascript:alert(1)")),
        ] {
            assert!(parse(|document| document[name] = value.clone()).is_err(), "{name} {value}");
        }
        let post =
            parse(|it| it["token_endpoint_auth_methods_supported"] = json!(["client_secret_post"]));
        assert!(!post.expect("sound").takes_basic());
    }
}
