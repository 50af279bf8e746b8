//! Signing secrets: own and generated ones, rotation, and where they never appear.

use std::time::Duration;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};
use svc_testing::{Received, on_both_databases};

use crate::fixture::{OTHER_SECRET, SECRET, World, is_accepted, path};

/// For each Ed25519 signature of a request, whether an endpoint's public key verifies it.
fn verified_by(received: &Received, endpoint: &Value) -> Vec<bool> {
    use base64::Engine as _;
    let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let public = endpoint["publicKey"].as_str().unwrap().strip_prefix("whpk_").unwrap();
    let key = UnparsedPublicKey::new(&ED25519, decode(public));
    let (id, at) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    let content = [format!("{id}.{at}.").as_bytes(), &received.body].concat();
    let signatures = received.header("webhook-signature").split(' ');
    let asymmetric = signatures.filter_map(|entry| entry.strip_prefix("v1a,"));
    asymmetric.map(|signature| key.verify(&content, &decode(signature)).is_ok()).collect()
}

on_both_databases! {
    async fn a_rotated_secret_signs_at_once_and_the_old_one_beside_it_for_a_day(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        world.publish("A-1").await;
        assert_eq!(world.deliver().await.len(), 1);
        let rotated =
            world.client().post(&path(&endpoint, "/secret/rotate"), json!(null)).await.expect(200);
        let secret = rotated["secret"].as_str().unwrap().to_owned();
        assert_ne!(secret, SECRET);
        assert_eq!(rotated["previousSecretExpiresAt"], "2026-11-21T12:00:00Z");
        let shown = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        assert_eq!(shown, json!({"secret": secret}));
        world.publish("A-2").await;
        let both = world.deliver().await.remove(0);
        assert_eq!(both.header("webhook-signature").split(' ').count(), 2);
        assert!(is_accepted(&both, &secret) && is_accepted(&both, SECRET));
        assert!(both.header("webhook-signature").starts_with("v1,"));
        world.shop.advance(Duration::from_secs(24 * 3_600 - 1));
        world.publish("A-3").await;
        assert!(is_accepted(&world.deliver().await[0], SECRET));
        world.shop.advance(Duration::from_secs(1));
        world.publish("A-4").await;
        let alone = world.deliver().await.remove(0);
        assert!(is_accepted(&alone, &secret) && !is_accepted(&alone, SECRET));
        assert_eq!(alone.header("webhook-signature").split(' ').count(), 1);
        assert_eq!(world.show(&endpoint).await["previousSecretExpiresAt"], json!(null));
    }

    async fn every_secret_that_is_replaced_within_a_day_signs_until_its_own_end(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let rotate = async || {
            let rotated = world.client().post(&path(&endpoint, "/secret/rotate"), json!(null)).await;
            rotated.expect(200)["secret"].as_str().unwrap().to_owned()
        };
        let second = rotate().await;
        world.shop.advance(Duration::from_hours(6));
        let third = rotate().await;
        let delivered = async |sku: &str| {
            world.publish(sku).await;
            let delivery = world.deliver().await.remove(0);
            [SECRET, &second, &third].map(|secret| is_accepted(&delivery, secret))
        };
        assert_eq!(delivered("A-1").await, [true, true, true]);
        world.shop.advance(Duration::from_hours(18));
        assert_eq!(delivered("A-2").await, [false, true, true]);
        assert_eq!(world.show(&endpoint).await["previousSecretExpiresAt"], "2026-11-21T18:00:00Z");
        world.shop.advance(Duration::from_hours(6));
        assert_eq!(delivered("A-3").await, [false, false, true]);
    }

    async fn a_key_is_not_replaced_where_a_promise_would_break(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let rotate = async || {
            world.client().post(&path(&endpoint, "/secret/rotate"), json!(null)).await
        };
        for _ in 0..8 {
            let _ = rotate().await.expect(200);
        }
        let shown = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        let refused = rotate().await.expect(409);
        assert_eq!(refused["code"], "webhooks.too_many_keys");
        assert_eq!(refused["parameters"]["until"], "2026-11-21T12:00:00Z");
        let same = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        assert_eq!(same, shown);
        world.publish("A-1").await;
        assert!(is_accepted(&world.deliver().await[0], SECRET));
        world.shop.advance(Duration::from_hours(24));
        let _ = rotate().await.expect(200);
    }

    async fn a_replaced_key_pair_signs_beside_the_new_one_for_a_day(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let rotate = "/key-pair/rotate";
        let _ = world.client().post(&path(&endpoint, rotate), json!(null)).await.expect(409);
        let set = json!({"isAsymmetric": true});
        let first = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        let second = world.client().post(&path(&endpoint, rotate), json!(null)).await.expect(200);
        assert_ne!(first["publicKey"], second["publicKey"]);
        assert_eq!(second["previousKeyPairExpiresAt"], "2026-11-21T12:00:00Z");
        assert_eq!(second["previousSecretExpiresAt"], json!(null));
        world.publish("A-1").await;
        let both = world.deliver().await.remove(0);
        assert_eq!(verified_by(&both, &first), [false, true]);
        assert_eq!(verified_by(&both, &second), [true, false]);
        world.shop.advance(Duration::from_hours(24));
        world.publish("A-2").await;
        assert_eq!(verified_by(&world.deliver().await[0], &second), [true]);
        let _ = world.client().post(&path(&endpoint, rotate), json!(null)).await.expect(200);
        // Who switches the scheme off means the keys that were replaced, too.
        let unset = json!({"isAsymmetric": false, "secret": OTHER_SECRET});
        let _ = world.client().put(&path(&endpoint, ""), unset).await.expect(200);
        world.publish("A-3").await;
        let alone = world.deliver().await.remove(0);
        assert!(verified_by(&alone, &second).is_empty());
        assert!(is_accepted(&alone, OTHER_SECRET) && is_accepted(&alone, SECRET));
    }

    async fn a_secret_of_the_caller_s_replaces_the_secret(backend) {
        let world = World::with(backend, |builder| {
            builder.setting("Svc:Webhooks:SecretGracePeriod", "00:10:00")
        })
        .await;
        let endpoint = world.endpoint(&["*"]).await;
        let change = json!({"secret": OTHER_SECRET});
        let changed = world.client().put(&path(&endpoint, ""), change).await.expect(200);
        assert_eq!(changed["previousSecretExpiresAt"], "2026-11-20T12:10:00Z");
        assert_eq!(changed.get("secret"), None, "only its own route shows the secret later");
        world.publish("A-1").await;
        let received = world.deliver().await.remove(0);
        assert!(is_accepted(&received, OTHER_SECRET) && is_accepted(&received, SECRET));
    }

    async fn a_secret_that_is_not_given_is_generated(backend) {
        let world = World::new(backend).await;
        let body = json!({"url": world.receiver.url(), "events": ["*"]});
        let first = world.client().post("/api/v1/webhooks", body.clone()).await.expect(201);
        let second = world.client().post("/api/v1/webhooks", body).await.expect(201);
        let secret = first["secret"].as_str().unwrap();
        let encoded = secret.strip_prefix("whsec_").unwrap();
        assert_eq!(encoded.len(), 64, "48 bytes in base64 without padding");
        assert_ne!(first["secret"], second["secret"]);
        world.publish("A-1").await;
        let received = world.deliver().await;
        assert_eq!(received.iter().filter(|one| is_accepted(one, secret)).count(), 1);
    }

    async fn an_asymmetric_signature_goes_beside_on_demand(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        assert_eq!(endpoint["publicKey"], json!(null));
        let set = json!({"isAsymmetric": true});
        let changed = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        world.publish("A-1").await;
        let received = world.deliver().await.remove(0);
        assert!(is_accepted(&received, SECRET), "a receiver that knows `v1` alone still accepts");
        assert_eq!(received.header("webhook-signature").split(' ').count(), 2);
        assert_eq!(verified_by(&received, &changed), [true]);
        let set = json!({"isAsymmetric": false});
        let changed = world.client().put(&path(&endpoint, ""), set).await.expect(200);
        assert_eq!(changed["publicKey"], json!(null));
    }

    async fn secrets_are_stored_encrypted_and_shown_by_their_own_route_alone(backend) {
        let world = World::new(backend).await;
        let endpoint = world.endpoint(&["*"]).await;
        let headers = json!({"headers": {"X-Token": "hunter2"}});
        let _ = world.client().put(&path(&endpoint, ""), headers).await.expect(200);
        world.publish("A-1").await;
        assert_eq!(world.deliver().await[0].header("x-token"), "hunter2");
        let delivery = world.log().await[0]["id"].as_str().unwrap().to_owned();
        for path in [
            "/api/v1/webhooks".to_owned(),
            path(&endpoint, ""),
            "/api/v1/webhooks/deliveries".to_owned(),
            format!("/api/v1/webhooks/deliveries/{delivery}"),
        ] {
            let answer = world.client().get(&path).await;
            let _ = answer.expect(200);
            let secret = SECRET.strip_prefix("whsec_").unwrap();
            assert!(!answer.text.contains(secret), "{path} shows the secret");
            assert!(!answer.text.contains("hunter2"), "{path} shows a header's value");
        }
        assert_eq!(world.show(&endpoint).await["headerNames"], json!(["X-Token"]));
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let stored = database.statement("SELECT secret, headers FROM webhooks_endpoints", []);
        let rows = database.rows(stored).await.unwrap();
        for index in 0..2 {
            let text: String = rows[0].try_get_by_index(index).unwrap();
            assert!(text.starts_with("p1."), "{text}");
        }
    }

    async fn another_origin_learns_no_headers_and_no_secret(backend) {
        let elsewhere = svc_testing::Receiver::start().await;
        let receiver = svc_testing::Receiver::start().await;
        let world = World::beside(backend, receiver, &[elsewhere.port()], |builder| builder).await;
        let headers = json!({"Authorization": "Bearer abc"});
        let body = json!({
            "url": world.receiver.url(), "events": ["*"], "secret": SECRET, "headers": headers,
        });
        let endpoint = world.client().post("/api/v1/webhooks", body).await.expect(201);
        let change = async |change: serde_json::Value| {
            world.client().put(&path(&endpoint, ""), change).await.expect(200)
        };
        // Another path of the same origin is no stranger.
        let moved = change(json!({"url": format!("{}/other", world.receiver.url())})).await;
        assert_eq!(moved["headerNames"], json!(["Authorization"]));
        let moved = change(json!({"url": elsewhere.url()})).await;
        assert_eq!(moved["headerNames"], json!([]));
        assert_eq!(moved["previousSecretExpiresAt"], json!(null));
        world.publish("A-1").await;
        world.deliver().await;
        let received = elsewhere.received();
        assert_eq!(received.len(), 1);
        assert!(!received[0].headers.contains_key("authorization"));
        assert!(!is_accepted(&received[0], SECRET), "signed for a stranger");
        let shown = world.client().get(&path(&endpoint, "/secret")).await.expect(200);
        assert!(is_accepted(&received[0], shown["secret"].as_str().unwrap()));
        // What the change gives holds for the new origin.
        let back = json!({"url": world.receiver.url(), "secret": SECRET, "headers": headers});
        assert_eq!(change(back).await["headerNames"], json!(["Authorization"]));
        world.publish("A-2").await;
        let received = world.deliver().await;
        assert!(is_accepted(&received[0], SECRET));
        assert_eq!(received[0].headers["authorization"], "Bearer abc");
    }
}
