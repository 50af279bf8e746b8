//! A certificate authority of our own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// How many there were, so that each has a file of its own.
static MADE: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Authority {
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    /// The root in PEM form, for settings.
    pub(crate) file: PathBuf,
}

/// A certificate and its key in PEM form.
pub(crate) struct Pem {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("svc-webhooks-{}-{number}.pem", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, pem("CERTIFICATE", &root)).unwrap();
        Self { root, issuer: Issuer::new(params, key), file }
    }

    /// A certificate for a client.
    pub(crate) fn client(&self) -> Pem {
        let (certificate, key) = self.issue(Vec::new());
        let key = pem("PRIVATE KEY", key.serialized_der());
        Pem { certificate: pem("CERTIFICATE", &certificate), key }
    }

    /// A server at `127.0.0.1`, which may want to see a certificate of this authority.
    pub(crate) fn acceptor(&self, wants_clients: bool) -> TlsAcceptor {
        let (certificate, key) = self.issue(vec!["127.0.0.1".to_owned()]);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if wants_clients {
            let mut roots = RootCertStore::empty();
            roots.add(self.root.clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let config = builder.with_single_cert(vec![certificate], PrivateKeyDer::from(key)).unwrap();
        TlsAcceptor::from(Arc::new(config))
    }

    fn issue(&self, names: Vec<String>) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().der().clone(), key)
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Bytes in PEM form.
fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
