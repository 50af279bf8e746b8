//! A certificate authority of our own.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
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

    pub(crate) fn acceptor(&self, tls: &ServerTls<'_>) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![tls.name.to_owned()]).unwrap();
        if let Some(not_after) = tls.not_after {
            params.not_after = not_after;
        }
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], PrivateKeyDer::from(key))
            .unwrap();
        config.alpn_protocols = tls.protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}
