//! The public keys of an issuer, and how a token is checked with them.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::Value;

use crate::claims::{Claims, Expected, TokenType};

/// The longest token that is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// The most keys of one issuer that are kept.
const MOST_KEYS: usize = 100;

/// Algorithms with a public key. HMAC isn't among them, nor is `none` (RFC 8725, section 3.1).
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Why a token doesn't hold. Whoever presents it learns none of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    /// It is no token, or too long.
    Malformed,
    /// It is of another kind.
    Kind,
    /// No key of the set has its name: the set may be old.
    UnknownKey,
    /// Its algorithm isn't that of its key.
    Algorithm,
    /// The signature isn't that of the key.
    Signature,
    /// A claim is missing, or has another form.
    Claims,
    /// It was made by somebody else.
    Issuer,
    /// It is for somebody else.
    Audience,
    /// It holds no longer, or not yet.
    Time,
}

impl TokenFault {
    /// Its name, for logs and measurements.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Kind => "kind",
            Self::UnknownKey => "unknown_key",
            Self::Algorithm => "algorithm",
            Self::Signature => "signature",
            Self::Claims => "claims",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Time => "time",
        }
    }
}

/// The public keys of one issuer.
#[derive(Clone, Debug, Default)]
pub struct KeySet(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    /// The algorithm that its owner says; none where it leaves that open within its family.
    algorithm: Option<Algorithm>,
    family: Family,
    public: DecodingKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Family {
    fn takes(self, algorithm: Algorithm) -> bool {
        use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
        match self {
            Self::Rsa => [RS256, RS384, RS512, PS256, PS384, PS512].contains(&algorithm),
            Self::P256 => algorithm == ES256,
            Self::P384 => algorithm == ES384,
            Self::Ed25519 => algorithm == EdDSA,
        }
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// Reads a set (RFC 7517, section 5). Keys of a kind that isn't known, and those for encryption,
    /// are left out.
    #[must_use]
    pub fn parse(document: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(document).ok()?;
        let keys = document.keys.into_iter().take(MOST_KEYS);
        Some(Self(keys.filter_map(|key| Key::of(&serde_json::from_value(key).ok()?)).collect()))
    }

    /// Whether a key of the set has the name that the token says.
    #[must_use]
    pub fn knows(&self, token: &str) -> bool {
        let Ok(header) = header_of(token) else { return false };
        self.find(header.kid.as_deref()).is_some()
    }

    /// Checks a token, and says what it says.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, token: &str, expected: &Expected<'_>) -> Result<Claims, TokenFault> {
        let header = header_of(token)?;
        if !expected.kind.takes(header.typ.as_deref()) {
            return Err(TokenFault::Kind);
        }
        let key = self.find(header.kid.as_deref()).ok_or(TokenFault::UnknownKey)?;
        let is_pinned = key.algorithm.is_none_or(|pinned| pinned == header.alg);
        if !is_pinned || !ALGORITHMS.contains(&header.alg) || !key.family.takes(header.alg) {
            return Err(TokenFault::Algorithm);
        }
        let mut validation = Validation::new(header.alg);
        // Times, issuer and audience are compared below, by the application's own clock.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let decoded = jsonwebtoken::decode::<Claims>(token, &key.public, &validation);
        let claims = decoded.map_err(|error| match error.kind() {
            jsonwebtoken::errors::ErrorKind::InvalidSignature => TokenFault::Signature,
            jsonwebtoken::errors::ErrorKind::InvalidAlgorithm => TokenFault::Algorithm,
            _ => TokenFault::Claims,
        })?;
        judge(&claims.claims, expected)?;
        Ok(claims.claims)
    }

    /// A token without a name may be of the only key (OpenID Connect Core, section 10.1).
    fn find(&self, id: Option<&str>) -> Option<&Key> {
        match id {
            Some(id) => self.0.iter().find(|key| key.id.as_deref() == Some(id)),
            None => self.0.first().filter(|_| self.0.len() == 1),
        }
    }
}

impl Key {
    fn of(jwk: &Jwk) -> Option<Self> {
        if jwk.common.public_key_use.as_ref().is_some_and(|it| *it != PublicKeyUse::Signature) {
            return None;
        }
        let family = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Family::Rsa,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                Family::P256
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => {
                Family::P384
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                Family::Ed25519
            }
            _ => return None,
        };
        let algorithm = match jwk.common.key_algorithm {
            None => None,
            Some(named) => Some(algorithm_of(named).filter(|it| family.takes(*it))?),
        };
        let public = DecodingKey::from_jwk(jwk).ok()?;
        Some(Self { id: jwk.common.key_id.clone(), algorithm, family, public })
    }
}

fn algorithm_of(named: KeyAlgorithm) -> Option<Algorithm> {
    named.to_string().parse().ok().filter(|algorithm| ALGORITHMS.contains(algorithm))
}

fn header_of(token: &str) -> Result<jsonwebtoken::Header, TokenFault> {
    if token.len() > LONGEST {
        return Err(TokenFault::Malformed);
    }
    let header = jsonwebtoken::decode_header(token).map_err(|_| TokenFault::Malformed)?;
    // RFC 7515, section 4.1.11: what must be understood and is not makes the token worthless.
    if header.crit.is_some() { Err(TokenFault::Malformed) } else { Ok(header) }
}

fn judge(claims: &Claims, expected: &Expected<'_>) -> Result<(), TokenFault> {
    if claims.iss != expected.issuer {
        return Err(TokenFault::Issuer);
    }
    if !claims.is_for(expected.audience) {
        return Err(TokenFault::Audience);
    }
    // OpenID Connect Core, section 3.1.3.7, items 4 and 5.
    if expected.kind == TokenType::Id {
        let several = claims.audience().count() > 1;
        let azp = claims.azp.as_deref();
        if several && azp.is_none() || azp.is_some_and(|azp| azp != expected.audience) {
            return Err(TokenFault::Audience);
        }
    }
    let (now, tolerance) = (expected.now, expected.tolerance);
    let is_over = match claims.exp {
        Some(end) => now >= end.saturating_add(tolerance),
        // Only logout tokens of old providers come without an end; they count for two minutes.
        None if expected.kind == TokenType::Logout => {
            now > claims.iat.saturating_add(120 + tolerance)
        }
        None => return Err(TokenFault::Claims),
    };
    let begins = claims.nbf.unwrap_or(claims.iat).max(claims.iat);
    if is_over && !expected.may_be_over || begins > now.saturating_add(tolerance) {
        return Err(TokenFault::Time);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
