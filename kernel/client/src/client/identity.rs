//! What a client shows a server that asks who it is (mutual TLS).

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use svc_core::hex;

/// A certificate with its private key, for requests to servers that want one.
///
/// Connections on which it was shown serve requests that show the same one, and no others.
#[derive(Clone)]
pub struct ClientIdentity {
    resolver: Arc<SingleCertAndKey>,
    fingerprint: Fingerprint,
}

/// The SHA-256 digest of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex(&self.0))
    }
}

/// Why a certificate and a key are no identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// There is no certificate, or one that can't be read.
    #[error("isn't a certificate in PEM form (`-----BEGIN CERTIFICATE-----`)")]
    Certificate,
    /// There is no private key, or one that can't be read.
    #[error("isn't a private key in PEM form without a password (`-----BEGIN PRIVATE KEY-----`)")]
    Key,
    /// The key is of another certificate.
    #[error(
        "is not the key of the certificate, which must come before those that it was issued with"
    )]
    Mismatch,
}

impl ClientIdentity {
    /// Reads a certificate, with those between it and its authority behind it, and its key: PKCS#8,
    /// PKCS#1 or SEC1, without a password.
    ///
    /// # Errors
    ///
    /// When one of them can't be read, or they don't belong together.
    pub fn from_pem(certificates: &str, private_key: &str) -> Result<Self, IdentityError> {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(certificates.as_bytes())
                .collect::<Result<_, _>>()
                .map_err(|_| IdentityError::Certificate)?;
        let own = chain.first().ok_or(IdentityError::Certificate)?;
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, own).as_ref());
        let key = PrivateKeyDer::from_pem_slice(private_key.as_bytes())
            .map_err(|_| IdentityError::Key)?;
        let certified = CertifiedKey::from_der(chain, key, &default_provider()).map_err(
            |error| match error {
                rustls::Error::InconsistentKeys(_) => IdentityError::Mismatch,
                rustls::Error::InvalidCertificate(_) => IdentityError::Certificate,
                _ => IdentityError::Key,
            },
        )?;
        let resolver = Arc::new(SingleCertAndKey::from(certified));
        Ok(Self { resolver, fingerprint: Fingerprint(sha256) })
    }

    /// By which people tell certificates apart.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The same trust, with this identity. Sessions of others are not resumed: a server would take the
    /// client for whoever began them.
    pub(super) fn config(&self, of_all: &ClientConfig) -> ClientConfig {
        let mut config = of_all.clone();
        config.client_auth_cert_resolver = Arc::clone(&self.resolver) as _;
        config.resumption = Resumption::disabled();
        config
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fingerprint = self.fingerprint.to_string();
        formatter
            .debug_struct("ClientIdentity")
            .field("fingerprint", &fingerprint)
            .finish_non_exhaustive()
    }
}
