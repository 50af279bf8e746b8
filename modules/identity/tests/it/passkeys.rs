//! Passkeys, by an authenticator in software that can also do what none should.

use std::cell::Cell;
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use aws_lc_rs::{encoding::AsDer as _, encoding::PublicKeyX509Der};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use svc_data::Context;
use svc_identity::users;
use svc_testing::{Answer, Backend, TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD, hidden, set_up_with};

pub(crate) const SESSION: &str = "__Host-svc-session";
pub(crate) const ORIGIN: &str = "https://library.example";
const HOST: &str = "library.example";
pub(crate) const PRESENT: u8 = 1;
pub(crate) const VERIFIED: u8 = 4;
const WITH_CREDENTIAL: u8 = 64;

pub(crate) async fn open(backend: Backend) -> TestApp {
    set_up_with(backend, &[("Svc:Http:PublicUrl", ORIGIN)]).await
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key, and how it behaves.
pub(crate) struct Key {
    pair: EcdsaKeyPair,
    id: Vec<u8>,
    user: Vec<u8>,
    count: Cell<u32>,
    origin: &'static str,
    host: &'static str,
    pub(crate) flags: u8,
}

impl Key {
    pub(crate) fn new(id: &[u8]) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        let (user, count) = (Vec::new(), Cell::new(0));
        let flags = PRESENT | VERIFIED;
        Self { pair, id: id.to_vec(), user, count, origin: ORIGIN, host: HOST, flags }
    }

    fn client_data(&self, kind: &str, asked: &Json) -> Vec<u8> {
        let said = json!({
            "type": kind,
            "challenge": asked["challenge"],
            "origin": self.origin,
            "crossOrigin": false,
        });
        said.to_string().into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(self.host).to_vec();
        data.push(flags);
        data.extend(self.count.get().to_be_bytes());
        data
    }

    /// What it makes for a person.
    pub(crate) fn make(&mut self, asked: &Json) -> Json {
        self.user = URL_SAFE_NO_PAD.decode(asked["user"]["id"].as_str().unwrap()).unwrap();
        let mut data = self.data(self.flags | WITH_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(b"the same key once more");
        let public: PublicKeyX509Der<'_> = self.pair.public_key().as_der().unwrap();
        json!({
            "clientData": encode(&self.client_data("webauthn.create", asked)),
            "authenticatorData": encode(&data),
            "publicKey": encode(public.as_ref()),
            "algorithm": -7,
        })
    }

    /// Its signature.
    fn sign(&self, asked: &Json) -> Json {
        if self.count.get() > 0 {
            self.count.set(self.count.get() + 1);
        }
        let client_data = self.client_data("webauthn.get", asked);
        let data = self.data(self.flags);
        let signed = [&data[..], &Sha256::digest(&client_data)].concat();
        let signature = self.pair.sign(&SystemRandom::new(), &signed).unwrap();
        json!({
            "id": encode(&self.id),
            "user": encode(&self.user),
            "clientData": encode(&client_data),
            "authenticatorData": encode(&data),
            "signature": encode(signature.as_ref()),
        })
    }
}

/// What a page asks the browser for, with the form that carries the answer.
pub(crate) struct Asked {
    pub(crate) options: Json,
    form: String,
    challenge: String,
}

pub(crate) fn asked(page: &Answer) -> Asked {
    let text = page.text.replace("&#34;", "\"").replace("&#43;", "+").replace("&#47;", "/");
    let (_, options) = text.split_once("data-passkey=\"").unwrap_or_else(|| panic!("{text}"));
    let (options, rest) = options.split_once("\" hidden>").unwrap();
    Asked {
        options: serde_json::from_str(options).unwrap(),
        form: hidden(rest, "form"),
        challenge: hidden(rest, "challenge"),
    }
}

impl Asked {
    pub(crate) async fn answer(&self, browser: &Browser, action: &str, answer: &Json) -> Answer {
        let answer = answer.to_string();
        let fields = [("form", &*self.form), ("challenge", &*self.challenge), ("answer", &*answer)];
        browser.post(action, &fields, "same-origin").await
    }
}

pub(crate) async fn prepare(browser: &Browser, name: &str) -> Asked {
    let fields = [("name", name), ("current", PASSWORD)];
    let page = browser.fill("/account/passkeys", "/account/passkeys/new", &fields).await;
    assert_eq!(page.status, 200, "{}", page.text);
    asked(&page)
}

/// Adds a key, and answers with the page that says so.
pub(crate) async fn add(browser: &Browser, key: &mut Key, name: &str) -> Answer {
    let asked = prepare(browser, name).await;
    let made = key.make(&asked.options);
    asked.answer(browser, "/account/passkeys/add", &made).await
}

pub(crate) async fn sign_in(app: &TestApp, key: &Key) -> (Browser, Answer) {
    let browser = Browser::new(app);
    let asked = asked(&browser.get("/account/sign-in").await);
    let answer = asked.answer(&browser, "/account/passkey", &key.sign(&asked.options)).await;
    (browser, answer)
}

fn is_in(browser: &Browser) -> bool {
    browser.cookie(SESSION).is_some()
}

pub(crate) fn codes(page: &str) -> Vec<String> {
    let list = page.split_once("class=\"codes\">").unwrap().1.split_once("</ul>").unwrap().0;
    list.split("<li>").skip(1).map(|it| it.split_once('<').unwrap().0.to_owned()).collect()
}

on_both_databases! {
    async fn a_passkey_opens_an_account_that_others_have_locked(backend) {
        let app = open(backend).await;
        let mut key = Key::new(b"key");
        assert_eq!(add(&Browser::signed_in(&app).await, &mut key, "Key").await.status, 200);
        let stranger = Browser::new(&app);
        for _ in 0..10 {
            assert_eq!(stranger.sign_in(EMAIL, "wrong").await.status, 422);
        }
        assert_eq!(Browser::new(&app).sign_in(EMAIL, PASSWORD).await.status, 429);
        assert_eq!(sign_in(&app, &key).await.1.status, 303);
    }

    async fn a_passkey_is_added_named_used_and_removed(backend) {
        let app = open(backend).await;
        let browser = Browser::signed_in(&app).await;
        let wrong = [("name", "Phone"), ("current", "not my password")];
        let refused = browser.fill("/account/passkeys", "/account/passkeys/new", &wrong).await;
        assert_eq!(refused.status, 422, "an open browser isn't enough");
        let mut key = Key::new(b"phone");
        key.count.set(1);
        let page = add(&browser, &mut key, "Phone").await;
        assert_eq!(page.status, 200, "{}", page.text);
        assert_eq!(codes(&page.text).len(), 10);

        // By itself: no name, no password, no code.
        let (other, answer) = sign_in(&app, &key).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        let list = other.get("/account/passkeys").await.text;
        assert!(list.contains("Last used"), "{list}");
        let id = list.split_once("name=\"name-").unwrap().1.split_once('"').unwrap().0.to_owned();
        let name = format!("name-{id}");
        let named = [(name.as_str(), "My <phone>"), ("rename", "1")];
        let page = other.fill("/account/passkeys", "/account/passkeys", &named).await;
        assert!(page.text.contains("My &#60;phone&#62;"), "{}", page.text);

        let remove = async |current: &str| {
            let fields = [("remove", id.as_str()), ("removing", current)];
            other.fill("/account/passkeys", "/account/passkeys", &fields).await.status.as_u16()
        };
        assert_eq!(remove("not my password").await, 422);
        assert!(is_in(&sign_in(&app, &key).await.0));
        assert_eq!(remove(PASSWORD).await, 200);
        let (browser, answer) = sign_in(&app, &key).await;
        assert_eq!(answer.status, 422);
        assert!(!is_in(&browser));
        // Nothing asks for a second step any more.
        assert_eq!(Browser::new(&app).sign_in(EMAIL, PASSWORD).await.header("location"), "/");
    }

    async fn a_passkey_is_the_second_step_after_the_password(backend) {
        let app = open(backend).await;
        let mut key = Key::new(b"key");
        let page = add(&Browser::signed_in(&app).await, &mut key, "Key").await;
        let codes = codes(&page.text);
        // As a second step it needn't check who touches it.
        key.flags = PRESENT;
        let browser = Browser::new(&app);
        let answer = browser.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(answer.header("location"), "/account/second-factor");
        assert!(!is_in(&browser));
        let page = browser.get("/account/second-factor").await;
        assert!(page.text.contains("<noscript>"), "without a script it says so");
        assert!(!page.text.contains("name=\"code\""), "there is no app to ask for codes");
        let shown = asked(&page);
        assert_eq!(shown.options["credentials"], json!([encode(b"key")]));
        let signed = key.sign(&shown.options);
        let answer = shown.answer(&browser, "/account/second-factor/passkey", &signed).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        assert!(is_in(&browser));
        // Without a script, or the key, a recovery code does.
        let browser = Browser::new(&app);
        browser.sign_in(EMAIL, PASSWORD).await;
        let fields = [("code", codes[0].as_str()), ("recovery", "1")];
        let to = "/account/second-factor?recovery=1";
        assert_eq!(browser.fill(to, "/account/second-factor", &fields).await.status, 303);
        assert!(is_in(&browser));
    }

    async fn what_a_key_signs_counts_here_now_and_once(backend) {
        let app = open(backend).await;
        let mut key = Key::new(b"key");
        add(&Browser::signed_in(&app).await, &mut key, "Key").await;
        let refused = async |key: &Key| {
            let (browser, answer) = sign_in(&app, key).await;
            assert_eq!(answer.status, 422, "{}", answer.text);
            assert!(!is_in(&browser));
        };
        // Another origin, also one of the same host, and another host.
        for origin in ["https://evil.example", "http://library.example", "https://library.example:444"] {
            key.origin = origin;
            refused(&key).await;
        }
        (key.origin, key.host) = (ORIGIN, "evil.example");
        refused(&key).await;
        key.host = HOST;
        // Nobody there, and nobody checked.
        for flags in [0, VERIFIED, PRESENT] {
            key.flags = flags;
            refused(&key).await;
        }
        key.flags = PRESENT | VERIFIED;
        // Another key of the same name, and another person's name in it.
        let mut other = Key::new(b"key");
        other.user = key.user.clone();
        refused(&other).await;
        let user = std::mem::replace(&mut key.user, vec![7; 16]);
        refused(&key).await;
        key.user = user;

        let (browser, answer) = sign_in(&app, &key).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert!(is_in(&browser));
        // A replay, in the same browser, in another one, and after its time.
        let browser = Browser::new(&app);
        let shown = asked(&browser.get("/account/sign-in").await);
        let signed = key.sign(&shown.options);
        let stranger = Browser::new(&app);
        stranger.get("/account/sign-in").await;
        let stolen = asked(&stranger.get("/account/sign-in").await);
        let mixed = Asked { form: stolen.form, ..asked(&browser.get("/account/sign-in").await) };
        let of_other = key.sign(&mixed.options);
        assert_eq!(mixed.answer(&stranger, "/account/passkey", &of_other).await.status, 422);
        assert_eq!(shown.answer(&browser, "/account/passkey", &signed).await.status, 303);
        browser.forget(SESSION);
        assert_eq!(shown.answer(&browser, "/account/passkey", &signed).await.status, 422);
        let late = asked(&browser.get("/account/sign-in").await);
        let signed = key.sign(&late.options);
        app.advance(Duration::from_mins(5));
        assert_eq!(late.answer(&browser, "/account/passkey", &signed).await.status, 422);
        assert!(!is_in(&browser));
    }

    async fn a_count_that_goes_back_is_refused(backend) {
        let app = open(backend).await;
        let mut key = Key::new(b"key");
        key.count.set(5);
        add(&Browser::signed_in(&app).await, &mut key, "Key").await;
        assert_eq!(sign_in(&app, &key).await.1.status, 303, "6");
        key.count.set(4);
        assert_eq!(sign_in(&app, &key).await.1.status, 422, "5");
        assert_eq!(sign_in(&app, &key).await.1.status, 422, "6 once more");
        key.count.set(0);
        assert_eq!(sign_in(&app, &key).await.1.status, 422, "none");
        key.count.set(6);
        assert_eq!(sign_in(&app, &key).await.1.status, 303, "7");
    }

    async fn a_key_opens_only_what_is_its_persons(backend) {
        let app = open(backend).await;
        let mut key = Key::new(b"key");
        let ada = Browser::signed_in(&app).await;
        add(&ada, &mut key, "Key").await;
        let organisation = organisation_of(&app).await;
        let ctx = Context::system_in(app.app(), organisation).unwrap();
        let grace = users::NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            password: Some(PASSWORD.into()),
            ..users::NewUser::default()
        };
        users::create(&ctx, grace).await.unwrap();
        let browser = Browser::new(&app);
        browser.sign_in("grace@example.com", PASSWORD).await;
        // The same key once more, for another person.
        assert_eq!(add(&browser, &mut Key::new(b"key"), "Key").await.status, 422);
        // A challenge to add one isn't for another session, nor to sign in with.
        let shown = prepare(&ada, "Mine").await;
        let mut new = Key::new(b"new");
        let made = new.make(&shown.options);
        assert_eq!(shown.answer(&browser, "/account/passkeys/add", &made).await.status, 403);
        let signed = key.sign(&shown.options);
        assert_eq!(shown.answer(&ada, "/account/passkey", &signed).await.status, 422);
        assert_eq!(shown.answer(&ada, "/account/passkeys/add", &made).await.status, 200);
        assert_eq!(shown.answer(&ada, "/account/passkeys/add", &made).await.status, 422, "once");
        // As the second step of somebody else.
        let mut own = Key::new(b"own");
        add(&browser, &mut own, "Own").await;
        let victim = Browser::new(&app);
        victim.sign_in("grace@example.com", PASSWORD).await;
        let shown = asked(&victim.get("/account/second-factor").await);
        let action = "/account/second-factor/passkey";
        assert_eq!(shown.answer(&victim, action, &key.sign(&shown.options)).await.status, 422);
        assert!(!is_in(&victim));
        assert_eq!(shown.answer(&victim, action, &own.sign(&shown.options)).await.status, 303);
        assert!(is_in(&victim));
    }

    async fn nobody_keeps_keys_without_end(backend) {
        let app = open(backend).await;
        let browser = Browser::signed_in(&app).await;
        for number in 0..20_u8 {
            let page = add(&browser, &mut Key::new(&[number, 1]), "Key").await;
            assert_eq!(page.status, 200, "{number}: {}", page.text);
        }
        assert_eq!(add(&browser, &mut Key::new(b"one more"), "Key").await.status, 422);
    }

    async fn a_site_without_a_name_says_so(backend) {
        let app = crate::browser::set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        assert!(!browser.get("/account/passkeys").await.text.contains("/account/passkeys/new"));
        browser.forget(SESSION);
        assert!(!browser.get("/account/sign-in").await.text.contains("data-passkey"));
    }
}

async fn organisation_of(app: &TestApp) -> svc_core::OrganisationId {
    let database = app.app().service::<svc_database::Database>().unwrap();
    let statement = database.statement("SELECT id FROM identity_organisations", []);
    let rows = database.rows(statement).await.unwrap();
    svc_core::OrganisationId(svc_database::column(&rows[0], 0).unwrap())
}
