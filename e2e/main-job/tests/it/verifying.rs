//! Receivers on the libraries of npm, PyPI and crates.io, and in Go, Ruby and PHP: they accept what is sent, also
//! while a secret is replaced, and refuse what was tampered with.

use std::time::Duration;

use e2e_main_job::{Language, Received, Receiver, Shop};
use serde_json::{Value, json};
use svc::core::Clock;
use svc_testing::{ReservedPort, on_both_databases};

use crate::changes::{SECRET, database, new_product};

const NEW_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEWEST_SECRET: &str = "whsec_HxweHRobGBkWFxQVEhMQEQ4PDA0KCwgJBgcEBQIDAAE=";

fn receivers(keys: &[&str]) -> Vec<Receiver> {
    Language::ALL.into_iter().map(|language| Receiver::start(language, 0, keys)).collect()
}

fn register(shop: &Shop, receiver: &Receiver, more: &Value) -> Value {
    let mut endpoint = json!({"url": receiver.url(), "events": ["products.*"], "secret": SECRET});
    for (name, value) in more.as_object().into_iter().flatten() {
        endpoint[name] = value.clone();
    }
    shop.expect(201, "POST", "/api/v1/webhooks", Some(&endpoint))
}

fn change(shop: &Shop, sku: &str) {
    let product = new_product(shop, sku);
    shop.expect(201, "POST", "/odata/v1/Products", Some(&product));
}

/// The first request for this event number on; a receiver that refuses gets it again.
fn next_of(receiver: &Receiver, sku: &str) -> Received {
    loop {
        let next = receiver.next();
        if next.envelope()["data"]["sku"] == sku {
            return next;
        }
    }
}

/// The headers that a signature is about.
type Headers = [(&'static str, String); 3];

/// Sends a request as an attacker would, and answers with the status.
fn post(receiver: &Receiver, headers: &[(&str, String)], body: &str) -> u16 {
    let config = ureq::config::Config::builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(10)));
    let agent = ureq::Agent::new_with_config(config.build());
    let mut request = agent.post(receiver.url());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    request.send(body).expect("the receiver answers").status().as_u16()
}

fn signed(received: &Received) -> Headers {
    ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| (name, received.header(name).to_owned()))
}

on_both_databases! {
    async fn a_secret_is_replaced_without_losing_a_delivery(backend) {
        let (old, new) = (receivers(&[SECRET]), receivers(&[NEW_SECRET]));
        let ports: Vec<u16> = old.iter().chain(&new).map(Receiver::port).collect();
        let shop = Shop::start(database(backend).await, &ports);
        let endpoints: Vec<Value> =
            old.iter().chain(&new).map(|receiver| register(&shop, receiver, &json!({}))).collect();
        let rotate = |secret: &str| {
            for endpoint in &endpoints {
                let path = format!("/api/v1/webhooks/{}", endpoint["id"].as_str().expect("an id"));
                let changed = shop.expect(200, "PUT", &path, Some(&json!({"secret": secret})));
                assert!(changed["previousSecretExpiresAt"].is_string(), "{changed}");
            }
        };
        rotate(NEW_SECRET);
        change(&shop, "L-1");
        for receiver in old.iter().chain(&new) {
            let received = next_of(receiver, "L-1");
            assert!(received.accepted, "{received:?}");
            let signatures: Vec<&str> = received.header("webhook-signature").split(' ').collect();
            assert_eq!(signatures.len(), 2);
            assert!(signatures.iter().all(|signature| signature.starts_with("v1,")));
        }
        // A second rotation on the same day breaks no promise that the first one gave.
        rotate(NEWEST_SECRET);
        change(&shop, "L-2");
        for receiver in old.iter().chain(&new) {
            let received = next_of(receiver, "L-2");
            assert!(received.accepted, "{received:?}");
            assert_eq!(received.header("webhook-signature").split(' ').count(), 3);
        }
    }

    async fn what_was_tampered_with_is_refused(backend) {
        let receivers = receivers(&[SECRET]);
        let ports: Vec<u16> = receivers.iter().map(Receiver::port).collect();
        let shop = Shop::start(database(backend).await, &ports);
        for receiver in &receivers {
            register(&shop, receiver, &json!({}));
        }
        change(&shop, "L-1");
        for receiver in &receivers {
            let genuine = receiver.next();
            assert!(genuine.accepted && !genuine.duplicate);
            let [id, timestamp, signature] = signed(&genuine);
            let body = genuine.body.as_str();
            let sent = |headers: &[(&str, String)], body: &str| {
                let status = post(receiver, headers, body);
                let received = receiver.next();
                assert_eq!(received.accepted, status == 204);
                (status, received.duplicate)
            };
            let with = |name: &'static str, value: &str| {
                let mut headers = signed(&genuine);
                let header = headers.iter_mut().find(|(known, _)| *known == name);
                value.clone_into(&mut header.expect("a header of ours").1);
                headers
            };
            let unchanged = [id.clone(), timestamp.clone(), signature.clone()];
            assert_eq!(sent(&unchanged, body), (204, true), "the same event again is known");

            let cheaper = body.replace("49.9", "0.01");
            assert_ne!(cheaper, body);
            let key = standardwebhooks::Webhook::new(SECRET).expect("a secret");
            let at = |seconds: i64| {
                let now = Clock::system().now().unix_timestamp() + seconds;
                let signature = key.sign(&id.1, now, body.as_bytes()).expect("a text");
                [id.clone(), ("webhook-timestamp", now.to_string()), ("webhook-signature", signature)]
            };
            assert_eq!(sent(&at(-60), body).0, 204, "a minute is within the tolerance");
            let other = standardwebhooks::Webhook::new(NEW_SECRET).expect("a secret");
            let seconds: i64 = timestamp.1.parse().expect("seconds");
            let forged = other.sign(&id.1, seconds, body.as_bytes()).expect("a text");
            let digest = signature.1.strip_prefix("v1,").expect("a signature");
            let refused: [(&str, Headers, &str); 14] = [
                ("another body", unchanged.clone(), &cheaper),
                ("a byte more", unchanged.clone(), &format!("{body} ")),
                ("no body", unchanged.clone(), ""),
                ("another event", with("webhook-id", "01934a1c-7a3e-7def-8123-456789abcdef"), body),
                ("another second", with("webhook-timestamp", &(seconds + 1).to_string()), body),
                ("no number", with("webhook-timestamp", "yesterday"), body),
                ("a fraction", with("webhook-timestamp", &format!("{seconds}.0")), body),
                ("an old request", at(-301), body),
                ("a request from the future", at(330), body),
                ("another key", with("webhook-signature", &forged), body),
                ("another scheme", with("webhook-signature", &format!("v2,{digest}")), body),
                ("a part of it", with("webhook-signature", &signature.1[..signature.1.len() - 4]), body),
                ("nothing signed", with("webhook-signature", "v1,"), body),
                ("no signature", with("webhook-signature", ""), body),
            ];
            for (what, headers, body) in refused {
                assert_eq!(sent(&headers, body).0, 401, "{what}");
            }
            for left_out in 0..3 {
                let mut headers = unchanged.to_vec();
                let (name, _) = headers.remove(left_out);
                assert_eq!(sent(&headers, body).0, 401, "without {name}");
            }
        }
    }

    async fn a_key_pair_s_signature_needs_no_secret(backend) {
        // Receivers must know the public key, which an endpoint has once it is registered.
        let reserved = Language::ALL.map(|_| ReservedPort::take());
        let ports = reserved.each_ref().map(ReservedPort::number);
        let shop = Shop::start(database(backend).await, &ports);
        let receivers: Vec<Receiver> = Language::ALL
            .into_iter()
            .zip(ports)
            .map(|(language, port)| {
                let url = format!("http://127.0.0.1:{port}/hook");
                let body = json!({"url": url, "events": ["products.*"], "isAsymmetric": true});
                let endpoint = shop.expect(201, "POST", "/api/v1/webhooks", Some(&body));
                let key = endpoint["publicKey"].as_str().expect("a public key");
                assert!(key.starts_with("whpk_"), "{key}");
                Receiver::start(language, port, &[key])
            })
            .collect();
        change(&shop, "L-1");
        for receiver in &receivers {
            let genuine = next_of(receiver, "L-1");
            assert!(genuine.accepted, "{genuine:?}");
            let body = genuine.body.replace("49.9", "0.01");
            assert_eq!(post(receiver, &signed(&genuine), &body), 401);
            let mut plain = signed(&genuine);
            let only_v1 = plain[2].1.split(' ').find(|entry| entry.starts_with("v1,"));
            plain[2].1 = only_v1.map(str::to_owned).expect("the other signature");
            assert_eq!(post(receiver, &plain, &genuine.body), 401, "without the pair's signature");
        }
    }
}
