//! What an authenticator answers, checked (Web Authentication Level 3, sections 7.1 and 7.2). No database,
//! no clock: the pure half of [`passkeys`](super).
//!
//! No attestation is asked for (`none`): which make of key a person uses is nobody's business here, so what
//! a registration says of itself proves nothing that its own signature later doesn't. The public key is
//! taken as the browser hands it over (section 5.2.1.1, `getPublicKey()`), and nothing of the attestation
//! object, whose statement nobody would look at, is read.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    VerificationAlgorithm,
};
use serde::{Deserialize, Deserializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The algorithms that are taken, as COSE numbers them, the preferred one first.
pub(crate) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// The longest name of a credential (section 5.8.3), in bytes.
const LONGEST_ID: usize = 1_023;

/// The longest public key, in bytes: RSA with 8192 bits has about 1,060.
const LONGEST_KEY: usize = 2_048;

const IS_PRESENT: u8 = 1;
const IS_VERIFIED: u8 = 1 << 2;
const MAY_BE_BACKED_UP: u8 = 1 << 3;
const IS_BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

/// The place at which keys are used: the relying party of the standard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// What stands before the path of its pages.
    pub(crate) origin: String,
    /// The host's name, for which keys are made.
    pub(crate) id: String,
}

impl Party {
    /// The one of an address; none where it has no name, since browsers make no keys for numbers
    /// (section 5.1.3, step 8).
    pub(crate) fn of(address: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        let authority = rest.split('/').next()?;
        let host = authority.split(':').next()?.to_ascii_lowercase();
        let is_name = !host.is_empty()
            && !host.starts_with('[')
            && host.parse::<std::net::Ipv4Addr>().is_err();
        is_name.then(|| Self {
            origin: format!("{scheme}://{}", authority.to_ascii_lowercase()),
            id: host,
        })
    }
}

/// Why an answer isn't taken. The caller never learns which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It can't be read.
    Malformed,
    /// It is of the other ceremony.
    Kind,
    /// It answers another challenge, or one that was answered before or has ended.
    Challenge,
    /// It was made on another site, or in a frame of one.
    Origin,
    /// It is for another host.
    Party,
    /// Nobody touched the key.
    NotPresent,
    /// The key didn't check who touches it.
    NotVerified,
    /// The key is of a kind, or a size, that isn't taken.
    Key,
    /// It is signed by another key.
    Signature,
    /// The key is unknown here, or another person's.
    Unknown,
    /// The count went back: there may be a copy of the key.
    Counter,
}

impl Fault {
    /// Its name, for the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Kind => "other_ceremony",
            Self::Challenge => "challenge",
            Self::Origin => "origin",
            Self::Party => "other_host",
            Self::NotPresent => "nobody_present",
            Self::NotVerified => "not_verified",
            Self::Key => "key",
            Self::Signature => "signature",
            Self::Unknown => "unknown_key",
            Self::Counter => "count_went_back",
        }
    }
}

/// Bytes that stand in base64 of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Encoded(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Encoded {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let text = String::deserialize(from)?;
        URL_SAFE_NO_PAD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What the page's script sends of a key that was made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Made {
    client_data: Encoded,
    authenticator_data: Encoded,
    public_key: Encoded,
    algorithm: i64,
}

/// What the page's script sends of a key that was used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    /// The credential's name.
    pub(crate) id: Encoded,
    /// The person, as the key knows it; keys that were asked for by name may leave it out.
    #[serde(default)]
    pub(crate) user: Encoded,
    client_data: Encoded,
    authenticator_data: Encoded,
    signature: Encoded,
}

/// A key that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewKey {
    pub(crate) id: Vec<u8>,
    pub(crate) algorithm: i64,
    pub(crate) public_key: Vec<u8>,
    pub(crate) count: u32,
    /// Whether it has checked who touches it.
    pub(crate) verifies: bool,
}

/// A key that is stored, as far as a signature of it is checked.
#[derive(Clone, Debug)]
pub(crate) struct StoredKey {
    pub(crate) algorithm: i64,
    pub(crate) public_key: Vec<u8>,
    pub(crate) count: u32,
}

/// What a signature says of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedKey {
    /// Its new count.
    pub(crate) count: u32,
    /// Whether it has checked who touches it.
    pub(crate) verified: bool,
}

/// Checks a key that was made for `challenge`.
pub(crate) fn check_made(party: &Party, challenge: &[u8], made: &Made) -> Result<NewKey, Fault> {
    check_client_data(&made.client_data.0, "webauthn.create", party, challenge)?;
    let data = AuthenticatorData::read(&made.authenticator_data.0)?;
    data.check(party, false)?;
    let id = data.credential.ok_or(Fault::Malformed)?;
    if made.public_key.0.len() > LONGEST_KEY {
        return Err(Fault::Key);
    }
    parse_key(made.algorithm, &made.public_key.0)?;
    Ok(NewKey {
        id: id.to_vec(),
        algorithm: made.algorithm,
        public_key: made.public_key.0.clone(),
        count: data.count,
        verifies: data.flags & IS_VERIFIED != 0,
    })
}

/// Checks a signature of a key over `challenge`. `is_alone` has the key check who touches it: then it is two
/// factors in one.
pub(crate) fn check_used(
    party: &Party,
    challenge: &[u8],
    used: &Used,
    key: &StoredKey,
    is_alone: bool,
) -> Result<UsedKey, Fault> {
    check_client_data(&used.client_data.0, "webauthn.get", party, challenge)?;
    let data = AuthenticatorData::read(&used.authenticator_data.0)?;
    data.check(party, is_alone)?;
    let mut signed = used.authenticator_data.0.clone();
    signed.extend_from_slice(&Sha256::digest(&used.client_data.0));
    let parsed = parse_key(key.algorithm, &key.public_key)?;
    parsed.verify_sig(&signed, &used.signature.0).map_err(|_| Fault::Signature)?;
    // Section 7.2, step 22: keys that don't count say zero for ever.
    if (data.count > 0 || key.count > 0) && data.count <= key.count {
        return Err(Fault::Counter);
    }
    Ok(UsedKey { count: data.count, verified: data.flags & IS_VERIFIED != 0 })
}

/// What the browser says of itself (section 5.8.1).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: Encoded,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    #[serde(default)]
    top_origin: Option<String>,
}

fn check_client_data(
    text: &[u8],
    kind: &str,
    party: &Party,
    challenge: &[u8],
) -> Result<(), Fault> {
    let said: ClientData = serde_json::from_slice(text).map_err(|_| Fault::Malformed)?;
    if said.r#type != kind {
        return Err(Fault::Kind);
    }
    if !bool::from(said.challenge.0.ct_eq(challenge)) {
        return Err(Fault::Challenge);
    }
    if said.origin != party.origin || said.cross_origin || said.top_origin.is_some() {
        return Err(Fault::Origin);
    }
    Ok(())
}

/// What the authenticator says (section 6.1).
struct AuthenticatorData<'a> {
    party_hash: &'a [u8],
    flags: u8,
    count: u32,
    credential: Option<&'a [u8]>,
}

impl<'a> AuthenticatorData<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let (party_hash, rest) = bytes.split_at_checked(32).ok_or(Fault::Malformed)?;
        let (&flags, rest) = rest.split_first().ok_or(Fault::Malformed)?;
        let (count, rest) = rest.split_first_chunk::<4>().ok_or(Fault::Malformed)?;
        let count = u32::from_be_bytes(*count);
        let credential = if flags & HAS_CREDENTIAL == 0 {
            if flags & HAS_EXTENSIONS == 0 && !rest.is_empty() {
                return Err(Fault::Malformed);
            }
            None
        } else {
            // The make of the key, the length of the credential's name, the name, and the key.
            let (_, rest) = rest.split_at_checked(16).ok_or(Fault::Malformed)?;
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(Fault::Malformed)?;
            let length = usize::from(u16::from_be_bytes(*length));
            if length == 0 || length > LONGEST_ID {
                return Err(Fault::Malformed);
            }
            let (id, key) = rest.split_at_checked(length).ok_or(Fault::Malformed)?;
            if key.is_empty() {
                return Err(Fault::Malformed);
            }
            Some(id)
        };
        Ok(Self { party_hash, flags, count, credential })
    }

    fn check(&self, party: &Party, must_verify: bool) -> Result<(), Fault> {
        if self.party_hash != Sha256::digest(party.id.as_bytes()).as_slice() {
            return Err(Fault::Party);
        }
        if self.flags & IS_PRESENT == 0 {
            return Err(Fault::NotPresent);
        }
        if must_verify && self.flags & IS_VERIFIED == 0 {
            return Err(Fault::NotVerified);
        }
        // Section 7.2, step 18: what can't be backed up isn't.
        if self.flags & IS_BACKED_UP != 0 && self.flags & MAY_BE_BACKED_UP == 0 {
            return Err(Fault::Malformed);
        }
        Ok(())
    }
}

fn parse_key(algorithm: i64, bytes: &[u8]) -> Result<ParsedPublicKey, Fault> {
    let algorithm: &'static dyn VerificationAlgorithm = match algorithm {
        ES256 => &ECDSA_P256_SHA256_ASN1,
        EDDSA => &ED25519,
        RS256 => &RSA_PKCS1_2048_8192_SHA256,
        _ => return Err(Fault::Key),
    };
    ParsedPublicKey::new(algorithm, bytes).map_err(|_| Fault::Key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_name() {
        let party = Party::of("https://Shop.example:8443/").unwrap();
        assert_eq!(party.origin, "https://shop.example:8443");
        assert_eq!(party.id, "shop.example");
        assert_eq!(Party::of("http://localhost:5080").unwrap().id, "localhost");
        for other in ["http://127.0.0.1:5080", "http://[::1]:5080", "https://", "shop.example"] {
            assert_eq!(Party::of(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_refused() {
        let mut whole = vec![7; 32];
        whole.push(IS_PRESENT | HAS_CREDENTIAL);
        whole.extend([0, 0, 0, 1]);
        whole.extend([0; 16]);
        whole.extend([0, 4]);
        whole.extend([1, 2, 3, 4, 5]);
        assert_eq!(AuthenticatorData::read(&whole).unwrap().credential, Some(&[1, 2, 3, 4][..]));
        for length in 0..whole.len() {
            assert!(AuthenticatorData::read(&whole[..length]).is_err(), "{length}");
        }
        let mut long = whole.clone();
        long[53..55].copy_from_slice(&1_024_u16.to_be_bytes());
        long.extend([0; 2_000]);
        assert!(AuthenticatorData::read(&long).is_err());
        // Nothing follows what says that nothing does.
        whole[32] = IS_PRESENT;
        assert!(AuthenticatorData::read(&whole).is_err());
        assert!(AuthenticatorData::read(&whole[..37]).is_ok());
    }

    #[test]
    fn keys_of_other_kinds_aren_t_taken() {
        for algorithm in [-7, -8, -257] {
            assert_eq!(parse_key(algorithm, b"no key").err(), Some(Fault::Key));
        }
        // ES384, and the algorithm `none` of other standards.
        for algorithm in [-35, 0] {
            assert_eq!(parse_key(algorithm, &[0; 91]).err(), Some(Fault::Key));
        }
    }
}
