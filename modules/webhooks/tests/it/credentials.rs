//! What receivers are shown besides signatures: tokens of OAuth 2, certificates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use http::Response;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use svc_testing::{Asked, Authority, Backend, Inbox, ServerTls, Site, on_both_databases};

use crate::fixture::{SECRET, World, path};

/// A client secret that nothing but the token server may ever see.
const CLIENT_SECRET: &str = "hunter2-of-the-client";

/// A shop with a receiver and a token server, both with TLS.
struct Guarded {
    world: World,
    authority: Authority,
    hook: Site,
    hooks: Inbox,
    server: Site,
    asked: Inbox,
    /// The tokens that the receiver refuses.
    refused: Arc<Mutex<Vec<String>>>,
    /// What the token server answers with in place of a token.
    trouble: Arc<Mutex<Option<(u16, String)>>>,
}

fn answer(status: u16, body: String) -> Response<String> {
    Response::builder().status(status).body(body).unwrap()
}

fn authorization(asked: &Asked) -> String {
    let value = asked.head.headers.get("authorization");
    value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
}

impl Guarded {
    /// One whose token server gives `t1`, `t2` and so on, for an hour each.
    async fn new(backend: Backend, wants_clients: bool) -> Self {
        let authority = Authority::new("authority");
        let refused = Arc::<Mutex<Vec<String>>>::default();
        let trouble = Arc::<Mutex<Option<(u16, String)>>>::default();
        let knows = Arc::clone(&refused);
        let clients = wants_clients.then_some(&authority);
        let wary = ServerTls { clients, ..ServerTls::default() };
        let (hook, hooks) = Site::https(authority.acceptor(&wary), move |asked| {
            let is_refused = knows.lock().contains(&authorization(asked));
            answer(if is_refused { 401 } else { 204 }, String::new())
        })
        .await;
        let (given, has_trouble) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&trouble));
        let (server, asked) = Site::https(authority.acceptor(&ServerTls::default()), move |_| {
            if let Some((status, body)) = has_trouble.lock().clone() {
                return answer(status, body);
            }
            let number = given.fetch_add(1, Ordering::SeqCst) + 1;
            let token = json!({
                "access_token": format!("t{number}"), "token_type": "Bearer", "expires_in": 3_600,
            });
            answer(200, token.to_string())
        })
        .await;
        let plain = svc_testing::Receiver::start().await;
        let world = World::beside(backend, plain, &[hook.port(), server.port()], |builder| {
            builder.setting("Svc:Outbound:TrustedCertificates", authority.file().display())
        })
        .await;
        Self { world, authority, hook, hooks, server, asked, refused, trouble }
    }

    fn url(&self) -> String {
        format!("https://127.0.0.1:{}/hook", self.hook.port())
    }

    fn oauth2(&self) -> Json {
        json!({
            "tokenUrl": format!("https://127.0.0.1:{}/token", self.server.port()),
            "clientId": "shop", "clientSecret": CLIENT_SECRET, "scope": "hooks",
        })
    }

    /// An endpoint that wants a token.
    async fn endpoint(&self) -> Json {
        let body = json!({
            "url": self.url(), "events": ["*"], "secret": SECRET, "oauth2": self.oauth2(),
        });
        self.world.client().post("/api/v1/webhooks", body).await.expect(201)
    }

    /// What the requests to the receiver carried since the last call.
    fn carried(&self, seen: &mut usize) -> Vec<String> {
        let all = self.hooks.all();
        let since = all[*seen..].iter().map(authorization).collect();
        *seen = all.len();
        since
    }
}

on_both_databases! {
    async fn a_token_is_got_once_and_carried_until_shortly_before_its_end(backend) {
        let guarded = Guarded::new(backend, false).await;
        let world = &guarded.world;
        let endpoint = guarded.endpoint().await;
        let mut seen = 0;
        world.publish_many(20).await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), vec!["Bearer t1"; 20]);
        let asked = guarded.asked.all();
        assert_eq!(asked.len(), 1, "attempts at once get one token together");
        assert_eq!(asked[0].body, "grant_type=client_credentials&scope=hooks");
        let basic = authorization(&asked[0]);
        let basic = basic.strip_prefix("Basic ").unwrap();
        let pair = base64::engine::general_purpose::STANDARD.decode(basic).unwrap();
        assert_eq!(pair, format!("shop:{CLIENT_SECRET}").as_bytes());
        world.shop.advance(Duration::from_secs(3_569));
        world.publish("A-1").await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), ["Bearer t1"]);
        world.shop.advance(Duration::from_secs(1));
        world.publish("A-2").await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), ["Bearer t2"]);
        // Whoever saves credentials anew gets a token with them.
        let anew = json!({"oauth2": guarded.oauth2()});
        let _ = world.client().put(&path(&endpoint, ""), anew).await.expect(200);
        world.publish("A-3").await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), ["Bearer t3"]);
        let none = json!({"oauth2": null});
        let changed = world.client().put(&path(&endpoint, ""), none).await.expect(200);
        assert_eq!(changed["oauth2"], json!(null));
        world.publish("A-4").await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), [""]);
    }

    async fn a_token_that_is_refused_is_replaced_once(backend) {
        let guarded = Guarded::new(backend, false).await;
        let world = &guarded.world;
        let _ = guarded.endpoint().await;
        let mut seen = 0;
        let refuse = |tokens: &[&str]| {
            let all = tokens.iter().map(|token| format!("Bearer {token}"));
            guarded.refused.lock().extend(all);
        };
        world.publish("A-1").await;
        world.shop.drain().await;
        refuse(&["t1"]);
        world.publish_many(5).await;
        world.shop.drain().await;
        let carried = guarded.carried(&mut seen);
        assert_eq!(guarded.asked.count(), 2, "those that were refused get another one together");
        assert_eq!(carried.iter().filter(|one| *one == "Bearer t2").count(), 5);
        for one in world.log().await {
            assert_eq!((&one["status"], &one["attempts"]), (&json!("delivered"), &json!(1)), "{one}");
        }
        // A receiver that refuses whatever comes ends the attempt.
        refuse(&["t2", "t3"]);
        world.publish("A-2").await;
        world.shop.drain().await;
        assert_eq!(guarded.carried(&mut seen), ["Bearer t2", "Bearer t3"]);
        let log = world.log().await;
        assert_eq!((&log[0]["status"], &log[0]["statusCode"]), (&json!("retrying"), &json!(401)));
        assert_eq!(guarded.asked.count(), 3);
        let _ = world.after(30).await;
        assert_eq!(guarded.carried(&mut seen), ["Bearer t3", "Bearer t4"]);
        assert_eq!(world.log().await[0]["status"], "delivered");
    }

    async fn a_token_server_that_gives_none_is_an_attempt_that_failed(backend) {
        let guarded = Guarded::new(backend, false).await;
        let world = &guarded.world;
        let _ = guarded.endpoint().await;
        let refusal = json!({"error": "invalid_client", "error_description": CLIENT_SECRET});
        *guarded.trouble.lock() = Some((401, refusal.to_string()));
        world.publish("A-1").await;
        world.shop.drain().await;
        assert_eq!(guarded.hooks.count(), 0, "nothing goes without a token");
        let log = world.log().await;
        assert_eq!(log[0]["error"], "the token server answered `401` (`invalid_client`)");
        assert_eq!((&log[0]["attempts"], &log[0]["statusCode"]), (&json!(1), &json!(null)));
        *guarded.trouble.lock() = Some((302, String::new()));
        let _ = world.after(30).await;
        assert_eq!(world.log().await[0]["error"], "the token server answered `302`");
        *guarded.trouble.lock() = None;
        let _ = world.after(60).await;
        assert_eq!(world.log().await[0]["status"], "delivered");
    }

    async fn credentials_are_shown_by_nothing(backend) {
        let guarded = Guarded::new(backend, true).await;
        let world = &guarded.world;
        let endpoint = guarded.endpoint().await;
        let pem = guarded.authority.client("shop");
        let shown = json!({"certificate": pem.certificate, "privateKey": pem.key});
        let own = json!({"clientCertificate": shown});
        let changed = world.client().put(&path(&endpoint, ""), own).await.expect(200);
        assert_eq!(changed["oauth2"]["clientId"], "shop");
        assert_eq!(changed["clientCertificate"]["fingerprint"].as_str().unwrap().len(), 64);
        world.publish("A-1").await;
        world.shop.drain().await;
        let delivery = world.log().await[0]["id"].as_str().unwrap().to_owned();
        let key = pem.key.lines().nth(1).unwrap();
        for path in [
            "/api/v1/webhooks".to_owned(),
            path(&endpoint, ""),
            "/api/v1/webhooks/deliveries".to_owned(),
            format!("/api/v1/webhooks/deliveries/{delivery}"),
        ] {
            let answer = world.client().get(&path).await;
            let _ = answer.expect(200);
            for secret in [CLIENT_SECRET, "Bearer", "t1\"", key] {
                assert!(!answer.text.contains(secret), "{path} shows `{secret}`: {}", answer.text);
            }
        }
        let detail = format!("/api/v1/webhooks/deliveries/{delivery}");
        let detail = world.client().get(&detail).await.expect(200);
        let sent = detail["request"]["headers"].as_array().unwrap();
        assert!(sent.contains(&json!({"name": "authorization", "value": "***"})), "{sent:?}");
        let database = world.shop.app().service::<svc_database::Database>().unwrap();
        let stored = database.statement("SELECT credentials FROM webhooks_endpoints", []);
        let rows = database.rows(stored).await.unwrap();
        let text: String = rows[0].try_get_by_index(0).unwrap();
        assert!(text.starts_with("p1."), "{text}");
    }

    async fn a_receiver_that_asks_for_a_certificate_gets_it(backend) {
        let guarded = Guarded::new(backend, true).await;
        let world = &guarded.world;
        let body = json!({"url": guarded.url(), "events": ["*"], "secret": SECRET});
        let endpoint = world.client().post("/api/v1/webhooks", body).await.expect(201);
        world.publish("A-1").await;
        world.shop.drain().await;
        assert_eq!((guarded.hooks.count(), &world.log().await[0]["status"]), (0, &json!("retrying")));
        let pem = guarded.authority.client("shop");
        let shown = json!({"certificate": pem.certificate, "privateKey": pem.key});
        let own = json!({"clientCertificate": shown});
        let _ = world.client().put(&path(&endpoint, ""), own).await.expect(200);
        let _ = world.after(30).await;
        assert_eq!((guarded.hooks.count(), &world.log().await[0]["status"]), (1, &json!("delivered")));
        let none = json!({"clientCertificate": null});
        let changed = world.client().put(&path(&endpoint, ""), none).await.expect(200);
        assert_eq!(changed["clientCertificate"], json!(null));
        world.publish("A-2").await;
        world.shop.drain().await;
        assert_eq!(guarded.hooks.count(), 1, "what was shown before is shown no more");
    }

    async fn another_origin_gets_no_credentials(backend) {
        let guarded = Guarded::new(backend, false).await;
        let world = &guarded.world;
        let endpoint = guarded.endpoint().await;
        let elsewhere = json!({"url": world.receiver.url()});
        let moved = world.client().put(&path(&endpoint, ""), elsewhere).await.expect(200);
        assert_eq!(moved["oauth2"], json!(null));
        world.publish("A-1").await;
        let received = world.deliver().await;
        assert!(!received[0].headers.contains_key("authorization"));
        let back = json!({"url": guarded.url(), "oauth2": guarded.oauth2()});
        let moved = world.client().put(&path(&endpoint, ""), back).await.expect(200);
        assert_eq!(moved["oauth2"]["scope"], "hooks");
    }

    async fn credentials_that_make_no_sense_are_refused_by_their_field(backend) {
        let guarded = Guarded::new(backend, false).await;
        let world = &guarded.world;
        let (one, two) = (guarded.authority.client("shop"), guarded.authority.client("shop"));
        let certificate = |certificate: &str, key: &str| {
            json!({"clientCertificate": {"certificate": certificate, "privateKey": key}})
        };
        let oauth2 = |name: &str, value: Json| {
            let mut oauth2 = guarded.oauth2();
            oauth2[name] = value;
            json!({"oauth2": oauth2})
        };
        for (field, given) in [
            ("oauth2.tokenUrl", oauth2("tokenUrl", json!("nowhere"))),
            ("oauth2.tokenUrl", oauth2("tokenUrl", json!("https://127.0.0.1:1/token"))),
            ("oauth2.clientId", oauth2("clientId", json!(""))),
            ("oauth2.clientSecret", oauth2("clientSecret", json!("x".repeat(2_049)))),
            ("oauth2.scope", oauth2("scope", json!(""))),
            ("clientCertificate.certificate", certificate("", &one.key)),
            ("clientCertificate.privateKey", certificate(&one.certificate, "")),
            ("clientCertificate.privateKey", certificate(&one.certificate, &two.key)),
            ("clientCertificate", certificate(&one.certificate, &"x".repeat(32_769))),
        ] {
            let mut body = json!({"url": guarded.url(), "events": ["*"]});
            body.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
            let refused = world.client().post("/api/v1/webhooks", body).await.expect(422);
            assert!(refused["errors"][field][0].is_string(), "{field}: {refused}");
        }
        let mut plain = json!({"url": world.receiver.url(), "events": ["*"]});
        plain["clientCertificate"] = certificate(&one.certificate, &one.key)["clientCertificate"].clone();
        let refused = world.client().post("/api/v1/webhooks", plain).await.expect(422);
        assert!(refused["errors"]["clientCertificate"][0].as_str().unwrap().contains("`https:`"));
        // The list of allowed hosts is for token servers, too.
        let endpoint = guarded.endpoint().await;
        let setting = "/api/v1/settings/Webhooks.AllowedHosts";
        let hosts = json!({"value": "hooks.example.com"});
        assert!(world.client().put(setting, hosts).await.status.is_success());
        let body = json!({"oauth2": guarded.oauth2()});
        let refused = world.client().put(&path(&endpoint, ""), body).await.expect(422);
        assert!(refused["errors"]["oauth2.tokenUrl"][0].is_string(), "{refused}");
    }
}
