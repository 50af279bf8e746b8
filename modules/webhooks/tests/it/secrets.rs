//! Signing secrets: own and generated ones, rotation, and where they never appear.

use std::time::Duration;

use serde_json::json;
use svc_testing::on_both_databases;

use crate::fixture::{OTHER_SECRET, SECRET, World, is_accepted, path};

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
        let public = changed["publicKey"].as_str().unwrap().strip_prefix("whpk_").unwrap();
        world.publish("A-1").await;
        let received = world.deliver().await.remove(0);
        assert!(is_accepted(&received, SECRET), "a receiver that knows `v1` alone still accepts");
        let entries: Vec<&str> = received.header("webhook-signature").split(' ').collect();
        assert_eq!(entries.len(), 2);
        let decode = |text: &str| {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.decode(text).unwrap()
        };
        let signature = decode(entries[1].strip_prefix("v1a,").unwrap());
        let mut content = format!(
            "{}.{}.",
            received.header("webhook-id"),
            received.header("webhook-timestamp")
        )
        .into_bytes();
        content.extend_from_slice(&received.body);
        let key = aws_lc_rs::signature::UnparsedPublicKey::new(
            &aws_lc_rs::signature::ED25519,
            decode(public),
        );
        key.verify(&content, &signature).unwrap();
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
        let database = world.shop.app().service::<svc_data::Database>().unwrap();
        let stored = database.statement("SELECT secret, headers FROM webhooks_endpoints", []);
        let rows = database.rows(stored).await.unwrap();
        for index in 0..2 {
            let text: String = rows[0].try_get_by_index(index).unwrap();
            assert!(text.starts_with("p1."), "{text}");
        }
    }
}
