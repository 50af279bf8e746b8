//! Tokens that hold, and all ways in which one may not. The keys are of these tests alone.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

use super::*;

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "shop";
const NOW: i64 = 1_800_000_000;

/// A P-256 key and an Ed25519 key as PKCS #8, and the public part of the second.
const P256: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+D5QKFNEndNf82elY0zlgqs5trY1v3BfkwbvyT6w1QihRANCAATXE0avt2cCbh92TC7rUK+4yONLTfkThMKLmMaKL+rFT/BSKqA1VvfZmB22BN6rS8B4L6E5c4TWkJ6DS5VdE5S4";
const ED25519: &str = "MC4CAQAwBQYDK2VwBCIEIGBhCBWqGyydOXweOpcifw2aTPTsKu7RHeIZqq3g2iXx";
const ED25519_PUBLIC: &str = "E4plFkHk6Qc70NfiD2F9d6R1UUrcYDCB7UZrLeYZSUc";

/// Something that signs.
#[derive(Clone, Copy)]
enum Signer {
    P256,
    Ed25519,
    /// Somebody else's Ed25519 key.
    Stranger,
    /// A shared secret that everybody knows: the public key.
    PublicKey,
}

impl Signer {
    fn sign(self, signed: &str) -> String {
        let der = |text: &str| STANDARD.decode(text).unwrap();
        let (key, algorithm) = match self {
            Self::P256 => (EncodingKey::from_ec_der(&der(P256)), Algorithm::ES256),
            Self::Ed25519 => (EncodingKey::from_ed_der(&der(ED25519)), Algorithm::EdDSA),
            Self::Stranger => {
                let mut other = der(ED25519);
                let last = other.len() - 1;
                other[last] ^= 1;
                (EncodingKey::from_ed_der(&other), Algorithm::EdDSA)
            }
            Self::PublicKey => {
                let public = URL_SAFE_NO_PAD.decode(ED25519_PUBLIC).unwrap();
                (EncodingKey::from_secret(&public), Algorithm::HS256)
            }
        };
        jsonwebtoken::crypto::sign(signed.as_bytes(), &key, algorithm).unwrap()
    }
}

fn ec_key(more: &Value) -> Value {
    let der = STANDARD.decode(P256).unwrap();
    let point = &der[der.len() - 64..];
    let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    merged(
        json!({"kty": "EC", "crv": "P-256", "kid": "ec", "x": number(&point[..32]), "y": number(&point[32..])}),
        more,
    )
}

fn ed_key(more: &Value) -> Value {
    merged(json!({"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": ED25519_PUBLIC}), more)
}

/// An object with other members, or without those that are null.
fn merged(mut object: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}

fn set(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
}

fn both() -> KeySet {
    set(&[ec_key(&json!({})), ed_key(&json!({}))])
}

fn token(signer: Signer, header: &Value, claims: &Value) -> String {
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let content = format!("{}.{}", part(header), part(claims));
    format!("{content}.{}", signer.sign(&content))
}

fn claims(more: &Value) -> Value {
    merged(
        json!({"iss": ISSUER, "sub": "ada", "aud": AUDIENCE, "iat": NOW - 10, "exp": NOW + 60}),
        more,
    )
}

const EXPECTED: Expected<'_> = Expected {
    kind: TokenType::Id,
    issuer: ISSUER,
    audience: AUDIENCE,
    now: NOW,
    tolerance: 30,
    may_be_over: false,
};

/// What an ID token of the Ed25519 key with these claims is taken for.
fn judged(more: &Value) -> Result<Claims, TokenFault> {
    let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "ed"});
    both().check(&token(Signer::Ed25519, &header, &claims(more)), &EXPECTED)
}

#[test]
fn a_token_of_the_issuer_says_what_it_says() {
    for (signer, alg, kid) in [(Signer::P256, "ES256", "ec"), (Signer::Ed25519, "EdDSA", "ed")] {
        let header = json!({"alg": alg, "kid": kid});
        let token = token(signer, &header, &claims(&json!({"sid": "s", "role": "boss", "n": 1})));
        let said = both().check(&token, &EXPECTED).unwrap();
        assert_eq!((said.sub.as_str(), said.sid.as_deref()), ("ada", Some("s")), "{alg}");
        assert_eq!(
            (said.text("role"), said.text("n"), said.text("sub")),
            (Some("boss"), None, None)
        );
        assert!(said.is_for(AUDIENCE) && !said.is_for("other"));
        assert!(both().knows(&token));
    }
    assert!(!both().knows("nothing") && !both().knows(""));
}

#[test]
fn a_token_of_anybody_else_is_none() {
    let header = json!({"alg": "EdDSA", "kid": "ed"});
    let check = |keys: &KeySet, token: &str| keys.check(token, &EXPECTED).map(|_| ()).unwrap_err();
    let genuine = token(Signer::Ed25519, &header, &claims(&json!({})));
    assert_eq!(
        check(&both(), &token(Signer::Stranger, &header, &claims(&json!({})))),
        TokenFault::Signature
    );
    // Another's claims under a signature that was good for others.
    let parts: Vec<&str> = genuine.split('.').collect();
    let forged = URL_SAFE_NO_PAD.encode(claims(&json!({"sub": "eve"})).to_string());
    assert_eq!(
        check(&both(), &format!("{}.{forged}.{}", parts[0], parts[2])),
        TokenFault::Signature
    );
    assert_eq!(check(&both(), &format!("{}.{}.", parts[0], parts[1])), TokenFault::Signature);
    // The public key is no secret to sign with, and no signature is none.
    let shared = json!({"alg": "HS256", "kid": "ed"});
    assert_eq!(
        check(&both(), &token(Signer::PublicKey, &shared, &claims(&json!({})))),
        TokenFault::Algorithm
    );
    for none in ["none", "None", "NONE", ""] {
        let unsigned =
            token(Signer::Ed25519, &json!({"alg": none, "kid": "ed"}), &claims(&json!({})));
        let unsigned = &unsigned[..=unsigned.rfind('.').unwrap()];
        assert_eq!(check(&both(), unsigned), TokenFault::Malformed, "{none}");
    }
    // A key signs with its own algorithm, by the name that it has.
    let crossed =
        token(Signer::Ed25519, &json!({"alg": "EdDSA", "kid": "ec"}), &claims(&json!({})));
    assert_eq!(check(&both(), &crossed), TokenFault::Algorithm);
    let unknown =
        token(Signer::Ed25519, &json!({"alg": "EdDSA", "kid": "Ed"}), &claims(&json!({})));
    assert_eq!(check(&both(), &unknown), TokenFault::UnknownKey);
    assert!(!both().knows(&unknown));
    // What must be understood and isn't makes a token worthless.
    let critical = token(
        Signer::Ed25519,
        &json!({"alg": "EdDSA", "kid": "ed", "crit": ["exp"]}),
        &claims(&json!({})),
    );
    assert_eq!(check(&both(), &critical), TokenFault::Malformed);
    for text in [
        "",
        ".",
        "..",
        "a.b.c",
        &genuine[1..],
        &format!("{genuine}.x"),
        &format!("{}x", "a.".repeat(9_000)),
    ] {
        assert_eq!(check(&both(), text), TokenFault::Malformed, "{text:.40}");
    }
    let long = token(Signer::Ed25519, &header, &claims(&json!({"x": "x".repeat(16 * 1024)})));
    assert_eq!(check(&both(), &long), TokenFault::Malformed);
}

#[test]
fn a_token_without_a_name_is_of_the_only_key() {
    let nameless = token(Signer::Ed25519, &json!({"alg": "EdDSA"}), &claims(&json!({})));
    assert!(set(&[ed_key(&json!({}))]).check(&nameless, &EXPECTED).is_ok());
    assert!(set(&[ed_key(&json!({"kid": null}))]).check(&nameless, &EXPECTED).is_ok());
    assert_eq!(both().check(&nameless, &EXPECTED).unwrap_err(), TokenFault::UnknownKey);
    assert_eq!(set(&[]).check(&nameless, &EXPECTED).unwrap_err(), TokenFault::UnknownKey);
    // One that has a name isn't of a key without.
    let named = token(Signer::Ed25519, &json!({"alg": "EdDSA", "kid": "ed"}), &claims(&json!({})));
    let fault = set(&[ed_key(&json!({"kid": null}))]).check(&named, &EXPECTED).unwrap_err();
    assert_eq!(fault, TokenFault::UnknownKey);
}

#[test]
fn keys_that_are_of_no_use_are_left_out() {
    let named = token(Signer::Ed25519, &json!({"alg": "EdDSA", "kid": "ed"}), &claims(&json!({})));
    for useless in [
        ed_key(&json!({"use": "enc"})),
        ed_key(&json!({"alg": "ES256"})),
        ed_key(&json!({"alg": "HS256"})),
        ed_key(&json!({"alg": "RSA-OAEP"})),
        ed_key(&json!({"crv": "X25519"})),
        json!({"kty": "oct", "kid": "ed", "k": "c2VjcmV0"}),
        json!({"kty": "EC", "crv": "secp256k1", "kid": "ed", "x": "AA", "y": "AA"}),
        json!({"kid": "ed"}),
        json!("ed"),
        Value::Null,
    ] {
        let checked = set(&[useless.clone(), ec_key(&json!({}))]).check(&named, &EXPECTED);
        assert!(checked.is_err(), "{useless}");
        // It takes no other key along.
        assert!(set(&[useless, ed_key(&json!({}))]).check(&named, &EXPECTED).is_ok());
    }
    for useful in [json!({"use": "sig"}), json!({"alg": "EdDSA"}), json!({"key_ops": ["verify"]})] {
        assert!(set(&[ed_key(&useful)]).check(&named, &EXPECTED).is_ok(), "{useful}");
    }
    // A key that says its algorithm takes no other of its family.
    let p256 = token(Signer::P256, &json!({"alg": "ES256", "kid": "ec"}), &claims(&json!({})));
    assert!(set(&[ec_key(&json!({"alg": "ES256"}))]).check(&p256, &EXPECTED).is_ok());
    for document in ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[}"] {
        assert!(KeySet::parse(document.as_bytes()).is_none(), "{document}");
    }
    // So many keys are kept, and those behind them are not.
    let mut keys = vec![ec_key(&json!({})); MOST_KEYS - 1];
    keys.push(ed_key(&json!({})));
    assert!(set(&keys).check(&named, &EXPECTED).is_ok());
    keys.insert(0, ec_key(&json!({})));
    assert_eq!(set(&keys).check(&named, &EXPECTED).unwrap_err(), TokenFault::UnknownKey);
}

#[test]
fn each_kind_of_token_is_taken_for_itself_alone() {
    use TokenType::{Access, ForeignAccess, Id, Logout};
    let cases: [(Value, &[TokenType]); 8] = [
        (Value::Null, &[Id, ForeignAccess, Logout]),
        (json!("JWT"), &[Id, ForeignAccess, Logout]),
        (json!("jwt"), &[Id, ForeignAccess, Logout]),
        (json!("at+jwt"), &[Access, ForeignAccess]),
        (json!("application/AT+JWT"), &[Access, ForeignAccess]),
        (json!("logout+jwt"), &[Logout]),
        (json!("secevent+jwt"), &[]),
        (json!(""), &[]),
    ];
    for (typ, taken) in cases {
        let header = merged(json!({"alg": "EdDSA", "kid": "ed"}), &json!({"typ": typ}));
        let token = token(Signer::Ed25519, &header, &claims(&json!({})));
        for kind in [Id, Access, ForeignAccess, Logout] {
            let checked = both().check(&token, &Expected { kind, ..EXPECTED });
            let expected = if taken.contains(&kind) { None } else { Some(TokenFault::Kind) };
            assert_eq!(checked.err(), expected, "{typ} as {kind:?}");
        }
    }
}

#[test]
fn a_token_is_of_its_issuer_and_for_its_audience() {
    for (more, fault) in [
        (json!({"iss": "https://login.example/"}), TokenFault::Issuer),
        (json!({"iss": "HTTPS://login.example"}), TokenFault::Issuer),
        (json!({"iss": ""}), TokenFault::Issuer),
        (json!({"iss": null}), TokenFault::Claims),
        (json!({"iss": [ISSUER]}), TokenFault::Claims),
        (json!({"aud": "shops"}), TokenFault::Audience),
        (json!({"aud": []}), TokenFault::Audience),
        (json!({"aud": ["other", "Shop"]}), TokenFault::Audience),
        (json!({"aud": null}), TokenFault::Claims),
        (json!({"aud": {"shop": true}}), TokenFault::Claims),
        // For several, it says for whom it was made, which is us.
        (json!({"aud": ["shop", "other"]}), TokenFault::Audience),
        (json!({"aud": ["shop", "other"], "azp": "other"}), TokenFault::Audience),
        (json!({"azp": "other"}), TokenFault::Audience),
        (json!({"iat": null}), TokenFault::Claims),
        (json!({"iat": "now"}), TokenFault::Claims),
        (json!({"exp": null}), TokenFault::Claims),
        (json!({"exp": 1.5e300}), TokenFault::Claims),
        (json!({"sub": 7}), TokenFault::Claims),
    ] {
        assert_eq!(judged(&more).unwrap_err(), fault, "{more}");
    }
    for more in [
        json!({"aud": ["shop"]}),
        json!({"aud": ["other", "shop"], "azp": "shop"}),
        json!({"azp": "shop"}),
        json!({"sub": null}),
    ] {
        assert!(judged(&more).is_ok(), "{more}");
    }
    // An access token is for whoever its audience is, by whomever it was asked for.
    let header = json!({"alg": "EdDSA", "kid": "ed", "typ": "at+jwt"});
    let access = token(
        Signer::Ed25519,
        &header,
        &claims(&json!({"aud": ["shop", "other"], "azp": "client"})),
    );
    assert!(both().check(&access, &Expected { kind: TokenType::Access, ..EXPECTED }).is_ok());
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "a double keeps these seconds exactly")]
fn a_token_holds_from_its_beginning_to_its_end_give_or_take_the_tolerance() {
    let fault = |more: &Value| judged(more).err();
    for (more, expected) in [
        (json!({"exp": NOW - 29}), None),
        (json!({"exp": NOW - 30}), Some(TokenFault::Time)),
        (json!({"exp": i64::MIN}), Some(TokenFault::Time)),
        (json!({"exp": i64::MAX}), None),
        (json!({"iat": NOW + 30}), None),
        (json!({"iat": NOW + 31}), Some(TokenFault::Time)),
        (json!({"nbf": NOW + 30}), None),
        (json!({"nbf": NOW + 31}), Some(TokenFault::Time)),
        (json!({"nbf": i64::MAX}), Some(TokenFault::Time)),
        (json!({"nbf": NOW - 1_000, "iat": NOW + 31}), Some(TokenFault::Time)),
        (json!({"iat": i64::MIN}), None),
        // A date may have a fraction, which is left out.
        (
            json!({"exp": NOW as f64 + 0.5, "iat": NOW as f64 - 9.5, "nbf": NOW as f64 - 9.999}),
            None,
        ),
        (json!({"exp": NOW as f64 - 29.0}), None),
        (json!({"exp": NOW as f64 - 29.5}), Some(TokenFault::Time)),
        (json!({"iat": NOW as f64 + 30.9}), None),
        (json!({"iat": NOW as f64 + 31.0}), Some(TokenFault::Time)),
        (json!({"nbf": -0.5}), None),
        (json!({"nbf": 1.8e9}), None),
        (json!({"exp": u64::MAX}), Some(TokenFault::Claims)),
        (json!({"nbf": -1e17}), Some(TokenFault::Claims)),
        (json!({"nbf": "1800000000"}), Some(TokenFault::Claims)),
    ] {
        assert_eq!(fault(&more), expected, "{more}");
    }
    // Who signs out may be told by one that is over, but by none that hasn't begun.
    let header = json!({"alg": "EdDSA", "kid": "ed"});
    let over = Expected { may_be_over: true, ..EXPECTED };
    let check =
        |more: &Value| both().check(&token(Signer::Ed25519, &header, &claims(more)), &over).err();
    assert_eq!(check(&json!({"exp": NOW - 100_000})), None);
    assert_eq!(check(&json!({"iat": NOW + 31})), Some(TokenFault::Time));
    // Old providers' logout tokens have no end, and count for two minutes.
    let logout = Expected { kind: TokenType::Logout, ..EXPECTED };
    for (age, expected) in [(0, None), (150, None), (151, Some(TokenFault::Time))] {
        let endless =
            token(Signer::Ed25519, &header, &claims(&json!({"exp": null, "iat": NOW - age})));
        assert_eq!(both().check(&endless, &logout).err(), expected, "{age}");
    }
}

#[test]
fn only_a_logout_token_says_that_somebody_has_signed_out() {
    let event = json!({"http://schemas.openid.net/event/backchannel-logout": {}});
    let is_logout = |more: &Value| judged(more).unwrap().is_logout();
    assert!(is_logout(&json!({"events": event})));
    assert!(is_logout(&json!({"events": event, "sub": null, "sid": "s"})));
    for more in [
        json!({}),
        json!({"events": event, "nonce": "n"}),
        json!({"events": event, "sub": null}),
        json!({"events": event, "sub": ""}),
        json!({"events": {"http://schemas.openid.net/event/backchannel-logout": true}}),
        json!({"events": {"http://schemas.openid.net/event/other": {}}}),
        json!({"events": ["http://schemas.openid.net/event/backchannel-logout"]}),
    ] {
        assert!(!is_logout(&more), "{more}");
    }
}
