//! One key that signs tokens.

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Value, json};
use svc_core::{Error, Result};
use svc_openid::TokenType;

/// The one algorithm of tokens: RSASSA-PKCS1-v1_5 with SHA-256.
pub(super) const ALGORITHM: &str = "RS256";

/// An RSA key of 2048 bits. `Debug` shows its name alone.
pub(super) struct SigningKey {
    id: String,
    pair: KeyPair,
}

impl SigningKey {
    /// A new key. Takes a processor for some tenths of a second.
    pub(super) fn generate(id: String) -> Result<Self> {
        let pair = KeyPair::generate(KeySize::Rsa2048)
            .map_err(|_| Error::internal("a key for tokens can't be made"))?;
        Ok(Self { id, pair })
    }

    /// Reads what [`SigningKey::to_pkcs8`] wrote.
    pub(super) fn from_pkcs8(id: String, bytes: &[u8]) -> Result<Self> {
        let pair = KeyPair::from_pkcs8(bytes)
            .map_err(|_| Error::internal("a key for tokens can't be read"))?;
        Ok(Self { id, pair })
    }

    pub(super) fn to_pkcs8(&self) -> Result<Vec<u8>> {
        let der: Result<Pkcs8V1Der<'static>, _> = self.pair.as_der();
        let der = der.map_err(|_| Error::internal("a key for tokens can't be written"))?;
        Ok(der.as_ref().to_vec())
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The public part (RFC 7517, section 4).
    pub(super) fn public_jwk(&self) -> Value {
        let public = self.pair.public_key();
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({
            "kty": "RSA",
            "use": "sig",
            "alg": ALGORITHM,
            "kid": self.id,
            "n": number(public.modulus().big_endian_without_leading_zero()),
            "e": number(public.exponent().big_endian_without_leading_zero()),
        })
    }

    /// A signed token in compact form (RFC 7515, section 7.1).
    pub(super) fn sign(&self, kind: TokenType, claims: &impl Serialize) -> Result<String> {
        let fault = || Error::internal("a token can't be signed");
        let header = json!({ "alg": ALGORITHM, "typ": kind.as_str(), "kid": self.id });
        let claims = serde_json::to_vec(claims).map_err(|error| fault().caused_by(error))?;
        let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let signed = self.pair.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            token.as_bytes(),
            &mut signature,
        );
        signed.map_err(|_| fault())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SigningKey").field(&self.id).finish()
    }
}
