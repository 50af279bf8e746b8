//! A certificate authority of our own.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use time::OffsetDateTime;
use tokio_rustls::TlsAcceptor;

pub(crate) struct Authority {
    pub(crate) root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// What a receiver's TLS looks like.
pub(crate) struct ServerTls<'a> {
    pub(crate) name: &'a str,
    pub(crate) protocols: &'a [&'a [u8]],
    pub(crate) not_after: Option<OffsetDateTime>,
    /// Whose certificates it wants to see; none for nobody's.
    pub(crate) clients: Option<&'a Authority>,
}

/// A certificate and its key in PEM form.
pub(crate) struct Pem {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        Self { root, issuer: Issuer::new(params, key) }
    }

    /// A certificate for a client.
    pub(crate) fn client(&self, name: &str) -> Pem {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = pem("PRIVATE KEY", key.serialized_der());
        Pem { certificate: pem("CERTIFICATE", certificate.der()), key }
    }

    pub(crate) fn acceptor(&self, tls: &ServerTls<'_>) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![tls.name.to_owned()]).unwrap();
        if let Some(not_after) = tls.not_after {
            params.not_after = not_after;
        }
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match tls.clients {
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.root.clone()).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .unwrap();
                builder.with_client_cert_verifier(verifier)
            }
            None => builder.with_no_client_auth(),
        };
        let mut config =
            builder.with_single_cert(vec![certificate], PrivateKeyDer::from(key)).unwrap();
        config.alpn_protocols = tls.protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Bytes in PEM form.
pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
