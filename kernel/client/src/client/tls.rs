//! TLS towards servers.
//!
//! Trust comes from the system's certificate store, because operators add the authority of their
//! own company there and updates of the system keep it current. Where there is no such store, as
//! in a container that holds only our binary, Mozilla's list that is compiled in takes its place.

use std::sync::{Arc, LazyLock};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// Why TLS could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// An additional root is no certificate.
    #[error("an additional root certificate is not usable: {0}; give it in DER form")]
    Root(rustls::Error),
    /// The TLS library refuses its own defaults.
    #[error("TLS could not be prepared: {0}")]
    Versions(rustls::Error),
}

pub(super) const HTTP2: &[u8] = b"h2";
const HTTP11: &[u8] = b"http/1.1";

/// How servers are trusted, for a client of another kind than [`Client`](crate::Client): one that passes
/// bodies on as they come. It names no protocols.
///
/// # Errors
///
/// When a root is no certificate, or the TLS library refuses its own defaults.
pub fn tls_config(
    additional_roots: &[CertificateDer<'static>],
) -> Result<ClientConfig, TlsSetupError> {
    Ok(ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsSetupError::Versions)?
        .with_root_certificates(roots(additional_roots)?)
        .with_no_client_auth())
}

/// The same, for HTTP/2 and HTTP/1.1.
pub(super) fn http_config(
    additional_roots: &[CertificateDer<'static>],
) -> Result<ClientConfig, TlsSetupError> {
    let mut config = tls_config(additional_roots)?;
    config.alpn_protocols = vec![HTTP2.to_vec(), HTTP11.to_vec()];
    Ok(config)
}

/// What the system trusts, read once by a process: the store has some hundred files, and each client asks.
static SYSTEM: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut store = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::warn!(%error, "a certificate of the system's store could not be read");
    }
    let (added, _) = store.add_parsable_certificates(system.certs);
    if added == 0 {
        tracing::info!(
            "the system has no certificate store; outgoing requests trust Mozilla's list"
        );
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    store
});

fn roots(additional: &[CertificateDer<'static>]) -> Result<RootCertStore, TlsSetupError> {
    let mut store = SYSTEM.clone();
    for root in additional {
        store.add(root.clone()).map_err(TlsSetupError::Root)?;
    }
    Ok(store)
}
