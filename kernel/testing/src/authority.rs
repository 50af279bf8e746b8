use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::NamedTempFile;
use time::OffsetDateTime;
use tokio_rustls::TlsAcceptor;

/// A certificate authority of a test's own.
#[derive(Debug)]
pub struct Authority {
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    file: NamedTempFile,
}

/// What the TLS of a server looks like.
#[derive(Clone, Copy, Debug)]
pub struct ServerTls<'a> {
    /// The name or address that its certificate is for.
    pub name: &'a str,
    /// The protocols that it offers (ALPN, RFC 7301), such as `h2`.
    pub protocols: &'a [&'a [u8]],
    /// The end of its certificate; none for one that holds.
    pub not_after: Option<OffsetDateTime>,
    /// Whose certificates it wants to see; none for nobody's.
    pub clients: Option<&'a Authority>,
}

impl Default for ServerTls<'_> {
    /// At `127.0.0.1`, with no protocol to choose, for everybody.
    fn default() -> Self {
        Self { name: "127.0.0.1", protocols: &[], not_after: None, clients: None }
    }
}

/// A certificate and its key in PEM form (RFC 7468).
#[derive(Clone, Debug)]
pub struct Pem {
    /// The certificate.
    pub certificate: String,
    /// Its private key (PKCS #8).
    pub key: String,
}

impl Authority {
    /// Makes one of this name.
    ///
    /// # Panics
    ///
    /// When no file can be written.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).expect("a certificate").der().clone();
        let file = NamedTempFile::with_suffix(".pem").expect("a file");
        std::fs::write(&file, pem("CERTIFICATE", &root)).expect("a file to write to");
        Self { root, issuer: Issuer::new(params, key), file }
    }

    /// Its own certificate.
    #[must_use]
    pub fn root(&self) -> &CertificateDer<'static> {
        &self.root
    }

    /// Its own certificate in PEM form, for `Svc:Outbound:TrustedCertificates`; the file goes with the authority.
    #[must_use]
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// A certificate for a client.
    ///
    /// # Panics
    ///
    /// Never, as far as keys can be made.
    #[must_use]
    pub fn client(&self, name: &str) -> Pem {
        let (certificate, key) = self.sign(&named(name));
        let key = pem("PRIVATE KEY", key.serialized_der());
        Pem { certificate: pem("CERTIFICATE", &certificate), key }
    }

    /// What accepts connections as a server with a certificate of this authority.
    ///
    /// # Panics
    ///
    /// When the name is none.
    #[must_use]
    pub fn acceptor(&self, tls: &ServerTls<'_>) -> TlsAcceptor {
        let mut params = CertificateParams::new(vec![tls.name.to_owned()]).expect("a name");
        if let Some(not_after) = tls.not_after {
            params.not_after = not_after;
        }
        let (certificate, key) = self.sign(&params);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the versions of the provider");
        let builder = match tls.clients {
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.root.clone()).expect("a root");
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
            None => builder.with_no_client_auth(),
        };
        let mut config = builder
            .with_single_cert(vec![certificate], PrivateKeyDer::from(key))
            .expect("a certificate with its key");
        config.alpn_protocols = tls.protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    fn sign(&self, params: &CertificateParams) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.der().clone(), key)
    }
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Bytes in PEM form (RFC 7468).
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    let mut lines = STANDARD.encode(der);
    for at in (64..lines.len()).step_by(64).rev() {
        lines.insert(at, '\n');
    }
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}
