//! Signatures against the published vector, another implementation, and tampering.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use standardwebhooks::Webhook;
use svc_webhooks::signing::{
    KeyError, KeyPair, SigningKey, SigningSecret, WEBHOOK_SIGNATURE, mask, sign, signed_headers,
};
use time::OffsetDateTime;
use uuid::Uuid;

const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;

fn secret(fill: u8) -> SigningKey {
    SigningSecret::generate(|bytes| bytes.fill(fill)).into()
}

fn text(key: &SigningKey) -> String {
    match key {
        SigningKey::Secret(secret) => secret.expose().to_string(),
        SigningKey::KeyPair(pair) => pair.expose().to_string(),
    }
}

#[test]
fn signs_the_published_vector() {
    let key = SigningKey::parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
    let header = sign(&[&key], "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, BODY);
    assert_eq!(header, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
}

/// The other library checks the timestamp against the wall clock, so this test needs it too.
fn wall_clock() -> OffsetDateTime {
    #[expect(clippy::disallowed_methods, reason = "the verifying library reads the wall clock")]
    OffsetDateTime::now_utc()
}

fn headers_for(keys: &[&SigningKey]) -> HeaderMap {
    signed_headers(keys, Uuid::from_u128(42), wall_clock(), BODY)
}

#[test]
fn the_reference_library_accepts_what_we_sign() {
    let key = secret(7);
    Webhook::new(&text(&key)).unwrap().verify(BODY, &headers_for(&[&key])).unwrap();
}

#[test]
fn during_a_rotation_either_secret_verifies() {
    let (new, old, other) = (secret(1), secret(2), secret(3));
    let headers = headers_for(&[&new, &old]);
    let value = headers[WEBHOOK_SIGNATURE].to_str().unwrap();
    assert_eq!(value.matches(' ').count(), 1, "single spaces separate the entries: {value}");
    for key in [&new, &old] {
        Webhook::new(&text(key)).unwrap().verify(BODY, &headers).unwrap();
    }
    assert!(Webhook::new(&text(&other)).unwrap().verify(BODY, &headers).is_err());
}

#[test]
fn the_reference_library_refuses_what_was_tampered_with() {
    let key = secret(9);
    let verifier = Webhook::new(&text(&key)).unwrap();
    let headers = headers_for(&[&key]);
    let mut body = BODY.to_vec();
    body[2] ^= 1;
    assert!(verifier.verify(&body, &headers).is_err());
    for (name, value) in [
        ("webhook-id", "00000000-0000-0000-0000-000000000000".to_owned()),
        ("webhook-timestamp", (wall_clock().unix_timestamp() - 3).to_string()),
    ] {
        let mut tampered = headers.clone();
        tampered.insert(name, value.parse().unwrap());
        assert!(verifier.verify(BODY, &tampered).is_err(), "{name}");
    }
}

#[test]
fn headers_have_the_specified_form() {
    let at = OffsetDateTime::from_unix_timestamp(1_700_000_000).unwrap();
    let headers = signed_headers(&[&secret(1)], Uuid::from_u128(0x00ab_cdef), at, BODY);
    let shown: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    assert_eq!(
        shown[..3],
        [
            ("content-type", "application/json; charset=utf-8"),
            ("webhook-id", "00000000-0000-0000-0000-000000abcdef"),
            ("webhook-timestamp", "1700000000"),
        ]
    );
    assert_eq!(shown.len(), 4);
    let encoded = shown[3].1.strip_prefix("v1,").unwrap();
    assert_eq!(STANDARD.decode(encoded).unwrap().len(), 32);
}

#[test]
fn key_pairs_sign_what_their_public_key_verifies() {
    let pair = KeyPair::generate(|bytes| bytes.fill(5));
    let public = STANDARD.decode(pair.public_key().strip_prefix("whpk_").unwrap()).unwrap();
    let exposed = pair.expose();
    let key = SigningKey::parse(&exposed).unwrap();
    assert_eq!(text(&key), *exposed);
    let both = secret(1);
    let header = sign(&[&key, &both], "id", 12, BODY);
    let entries: Vec<&str> = header.to_str().unwrap().split(' ').collect();
    assert!(entries[1].starts_with("v1,"), "{entries:?}");
    let signature = STANDARD.decode(entries[0].strip_prefix("v1a,").unwrap()).unwrap();
    let verifier = UnparsedPublicKey::new(&ED25519, public);
    verifier.verify(&[b"id.12.", BODY].concat(), &signature).unwrap();
    assert!(verifier.verify(&[b"id.13.", BODY].concat(), &signature).is_err());
}

#[test]
fn a_seed_alone_is_a_key_pair_and_a_foreign_public_key_is_not() {
    let first = KeyPair::generate(|bytes| bytes.fill(5));
    let second = KeyPair::generate(|bytes| bytes.fill(6));
    let seed = format!("whsk_{}", STANDARD.encode([5; 32]));
    assert_eq!(KeyPair::parse(&seed).unwrap().public_key(), first.public_key());
    let foreign = STANDARD.decode(second.public_key().strip_prefix("whpk_").unwrap()).unwrap();
    let mixed = format!("whsk_{}", STANDARD.encode([[5; 32].as_slice(), &foreign].concat()));
    assert_eq!(KeyPair::parse(&mixed).unwrap_err(), KeyError::KeyPair);
    assert_eq!(KeyPair::parse("whsk_AAAA").unwrap_err(), KeyError::KeyPair);
}

#[test]
fn secrets_have_24_to_64_bytes_of_standard_base64() {
    for (length, accepted) in [(0, false), (23, false), (24, true), (64, true), (65, false)] {
        let text = format!("whsec_{}", STANDARD.encode(vec![b'x'; length]));
        match SigningSecret::parse(&text) {
            Ok(secret) => {
                assert!(accepted, "{length}");
                assert_eq!(*secret.expose(), text);
            }
            Err(error) => {
                assert!(!accepted, "{length}");
                assert_eq!(error, KeyError::SecretLength(length));
            }
        }
    }
    let valid = text(&secret(0xfb));
    for (text, error) in [
        (valid.replace("whsec_", ""), KeyError::Prefix),
        (valid.replace("whsec_", "WHSEC_"), KeyError::Prefix),
        (format!(" {valid}"), KeyError::Prefix),
        (format!("{valid} "), KeyError::Base64),
        (format!("{valid}\n"), KeyError::Base64),
        (valid.replace('+', "-"), KeyError::Base64),
        (format!("whsec_{}", STANDARD.encode([1; 25]).replace('=', "")), KeyError::Base64),
    ] {
        assert_eq!(SigningKey::parse(&text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn generated_secrets_have_48_bytes_and_no_padding() {
    let mut asked = 0;
    let secret = SigningSecret::generate(|bytes| asked = bytes.len());
    assert_eq!(asked, 48);
    assert!(!secret.expose().contains('='));
}

#[test]
fn debug_output_shows_no_secret() {
    let key = secret(0x41);
    let pair = KeyPair::generate(|bytes| bytes.fill(0x41));
    let shown = format!("{key:?} {pair:?}");
    assert!(!shown.contains(&STANDARD.encode([0x41; 30])), "{shown}");
    assert!(!shown.contains("65, 65"), "{shown}");
    assert!(shown.contains("***"), "{shown}");
}

#[test]
fn masking_keeps_the_schemes_only() {
    for (header, masked) in [
        ("v1,abc=", "v1,***"),
        ("v1,abc= v1,def= v1a,ghi=", "v1,*** v1,*** v1a,***"),
        ("secret", "***"),
        ("v2,abc", "***"),
        ("", "***"),
    ] {
        assert_eq!(mask(header), masked);
    }
}
