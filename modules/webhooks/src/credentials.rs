//! What an endpoint shows its receiver besides signatures: a token of OAuth 2 client credentials (RFC 6749,
//! section 4.4), a certificate of its own (mutual TLS). Both are kept as secrets are.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use svc_client::{AddressError, AddressPolicy, ClientIdentity, TargetUrl};
use svc_core::{FieldErrors, KeyRing, Result};
use url::form_urlencoded;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::model::endpoint;
use crate::sealed;

/// The longest text of OAuth 2, in characters.
const MAX_TEXT: usize = 2_048;
/// The longest certificate with those that it was issued with, and the longest key, in characters.
const MAX_PEM: usize = 32_768;

/// Where tokens for the receiver are got, and as whom (OAuth 2, client credentials). Each request carries one
/// as `Authorization: Bearer`, in place of a header of that name.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = WebhookOAuth2)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OAuth2 {
    /// The token server: an absolute https address, with the rules of `url`.
    #[schema(max_length = 2_048)]
    pub(crate) token_url: String,
    /// As whom, to the token server.
    #[schema(max_length = 2_048)]
    pub(crate) client_id: String,
    /// What proves that, by `client_secret_basic`. No answer shows it.
    #[schema(max_length = 2_048, write_only)]
    client_secret: String,
    /// The scope that is asked for, where the token server wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2_048)]
    pub(crate) scope: Option<String>,
    /// Whom the token is for, where the token server wants to know (`audience`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2_048)]
    pub(crate) audience: Option<String>,
}

/// A certificate that is shown to the receiver (mutual TLS).
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = WebhookClientCertificate)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientCertificate {
    /// The certificate in PEM form, with those between it and its authority behind it.
    #[schema(max_length = 32_768)]
    certificate: String,
    /// Its private key in PEM form, without a password. No answer shows it.
    #[schema(max_length = 32_768, write_only)]
    private_key: String,
}

impl ClientCertificate {
    /// The SHA-256 digest of the certificate; none when it can't be read.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let identity = ClientIdentity::from_pem(&self.certificate, &self.private_key).ok()?;
        Some(identity.fingerprint().to_string())
    }
}

/// The credentials of an endpoint.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credentials {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oauth2: Option<OAuth2>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_certificate: Option<ClientCertificate>,
}

/// Checks what is given; the messages are by field.
pub(crate) fn check(
    oauth2: Option<&OAuth2>,
    certificate: Option<&ClientCertificate>,
    policy: &AddressPolicy,
) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let mut refuse = |field: &str, message: String| {
        errors.entry(field.to_owned()).or_default().push(message);
    };
    if let Some(oauth2) = oauth2 {
        if let Err(error) = TargetUrl::parse(&oauth2.token_url, policy) {
            refuse("oauth2.tokenUrl", error.to_string());
        }
        for (field, text) in [
            ("oauth2.tokenUrl", Some(&oauth2.token_url)),
            ("oauth2.clientId", Some(&oauth2.client_id)),
            ("oauth2.clientSecret", Some(&oauth2.client_secret)),
            ("oauth2.scope", oauth2.scope.as_ref()),
            ("oauth2.audience", oauth2.audience.as_ref()),
        ] {
            if text.is_some_and(|text| text.is_empty() || text.chars().count() > MAX_TEXT) {
                refuse(field, format!("must have from 1 to {MAX_TEXT} characters"));
            }
        }
    }
    if let Some(ClientCertificate { certificate, private_key }) = certificate {
        let is_long = |text: &String| text.chars().count() > MAX_PEM;
        if is_long(certificate) || is_long(private_key) {
            refuse("clientCertificate", format!("must have at most {MAX_PEM} characters each"));
        } else if let Err(error) = ClientIdentity::from_pem(certificate, private_key) {
            let field = match error {
                svc_client::IdentityError::Certificate => "clientCertificate.certificate",
                _ => "clientCertificate.privateKey",
            };
            refuse(field, error.to_string());
        }
    }
    errors
}

/// Credentials in the form in which they are stored; none when there are none.
pub(crate) fn protect(ring: &KeyRing, endpoint: Uuid, all: &Credentials) -> Result<Option<String>> {
    let is_any = all.oauth2.is_some() || all.client_certificate.is_some();
    is_any.then(|| sealed::protect_json(ring, endpoint, all)).transpose()
}

/// The stored credentials.
fn reveal(ring: &KeyRing, stored: &endpoint::Model) -> Result<Credentials> {
    sealed::reveal_json(ring, stored.id, stored.credentials.as_deref())
}

/// The stored credentials; none where they can't be revealed.
pub(crate) fn stored(ring: &KeyRing, endpoint: &endpoint::Model) -> Credentials {
    sealed::or_nothing(reveal(ring, endpoint), endpoint.id, "credentials")
}

/// Credentials, ready for sending.
#[derive(Default)]
pub(crate) struct ReadyCredentials {
    pub(crate) tokens: Option<TokenSource>,
    pub(crate) identity: Option<Arc<ClientIdentity>>,
}

/// How tokens are asked for.
pub(crate) struct TokenSource {
    pub(crate) url: Result<TargetUrl, AddressError>,
    /// Who asks.
    pub(crate) authorization: HeaderValue,
    /// What is asked for, as a form.
    pub(crate) form: Bytes,
}

impl ReadyCredentials {
    /// The stored credentials, ready for sending; the sentence says why they can't be.
    pub(crate) fn new(
        stored: &endpoint::Model,
        ring: &KeyRing,
        policy: &AddressPolicy,
    ) -> Result<Self, String> {
        let Credentials { oauth2, client_certificate } = reveal(ring, stored).map_err(|error| {
            let error = error.report();
            tracing::error!(endpoint.id = %stored.id, error, "credentials can't be revealed");
            "the endpoint's credentials can't be revealed; save them anew".to_owned()
        })?;
        let identity = client_certificate.map(|ClientCertificate { certificate, private_key }| {
            ClientIdentity::from_pem(&certificate, &private_key).map(Arc::new).map_err(|error| {
                format!("the endpoint's client certificate can't be used: it {error}")
            })
        });
        Ok(Self {
            tokens: oauth2.map(|oauth2| TokenSource::new(&oauth2, policy)),
            identity: identity.transpose()?,
        })
    }
}

impl TokenSource {
    fn new(oauth2: &OAuth2, policy: &AddressPolicy) -> Self {
        // RFC 6749, section 2.3.1: both are form-encoded before they are joined.
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encoded(&oauth2.client_id), encoded(&oauth2.client_secret));
        let basic = format!("Basic {}", STANDARD.encode(pair));
        let mut authorization =
            HeaderValue::try_from(basic).expect("base64 is text that a header may hold");
        authorization.set_sensitive(true);
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        for (name, value) in [("scope", &oauth2.scope), ("audience", &oauth2.audience)] {
            if let Some(value) = value {
                form.append_pair(name, value);
            }
        }
        Self {
            url: TargetUrl::parse(&oauth2.token_url, policy),
            authorization,
            form: form.finish().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_asked_for_as_the_standard_says() {
        let oauth2 = OAuth2 {
            token_url: "https://id.example/token".to_owned(),
            client_id: "shop:1".to_owned(),
            client_secret: "a secret+ü".to_owned(),
            scope: Some("hooks write".to_owned()),
            audience: None,
        };
        let source = TokenSource::new(&oauth2, &AddressPolicy::default());
        assert_eq!(source.form, "grant_type=client_credentials&scope=hooks+write");
        let sent = source.authorization.to_str().unwrap().strip_prefix("Basic ").unwrap();
        assert_eq!(STANDARD.decode(sent).unwrap(), b"shop%3A1:a+secret%2B%C3%BC");
        assert!(source.authorization.is_sensitive());
        assert_eq!(source.url.unwrap().host().to_string(), "id.example");
    }
}
