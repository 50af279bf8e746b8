use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Bytes from the operating system's random source.
///
/// # Panics
///
/// When the operating system can't give random bytes: nothing that needs them could go on safely.
#[must_use]
pub fn random_array<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A secret of `N` random bytes in URL-safe base64 without padding.
#[must_use]
pub fn random_token<const N: usize>() -> String {
    URL_SAFE_NO_PAD.encode(random_array::<N>())
}
