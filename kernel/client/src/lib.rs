#![doc = include_str!("../README.md")]

mod address;
mod client;
mod settings;

pub use address::{AddressError, AddressPolicy, Host, Refusal, RefusalReason, TargetUrl, judge};
pub use client::{
    AttemptFailure, AttemptOutcome, Client, ClientIdentity, ClientOptions, ClientRequest,
    Fingerprint, IdentityError, Phase, Proxy, Resolution, Resolve, ResolveError, ResolveFuture,
    SystemResolver, TlsSetupError, is_connection_header, tls_config,
};
pub use settings::{CertificateFile, ClientModule, Network, OutboundSettings};
