//! Addresses and proofs that are nearly those that were registered or promised.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use e2e_identity::{Browser, House, Program, query_of};
use sha2::{Digest as _, Sha256};
use svc::identity::clients::{self, NewClient};
use svc::openid::CodeVerifier;
use svc_testing::on_both_databases;

use crate::support::{confidential, public, rows};

const SESSION: &str = "__Host-svc-session";

/// Neither code nor word reaches any address, and nothing is granted.
async fn leads_nowhere(house: &House, program: &Program, browser: &mut Browser, address: &str) {
    let answer = program.authorize(browser, &[("redirect_uri", address)]).await;
    assert_eq!(answer.expect(400)["code"], "identity.foreign_redirect", "{address:?}");
    assert_eq!(answer.header("location"), "", "{address:?}");
    assert_eq!(rows(house, "identity_grants").await, 0, "{address:?}");
}

/// Asks for tokens with a code and whatever is presented as its verifier.
async fn present(program: &Program, code: &str, verifier: &str) -> svc_testing::Answer {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &program.redirect_uri),
        ("code_verifier", verifier),
    ];
    program.post("/connect/token", &form).await
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

on_both_databases! {
    async fn an_address_that_nearly_matches_gets_no_code(backend) {
        let house = House::open(backend).await;
        let program = confidential(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        // `https://app.example/cb` is the registered one (RFC 9700, section 2.1: compared letter by letter).
        for near in [
            "https://app.example/cb/",
            "https://app.example/CB",
            "https://APP.example/cb",
            "HTTPS://app.example/cb",
            "http://app.example/cb",
            "https://app.example:443/cb",
            "https://app.example./cb",
            "https://app.example/cb?",
            "https://app.example/cb#",
            "https://app.example/cb%20",
            "https://app.example/cb%00",
            "https://app.example/cb\0",
            "https://app.example/cb\n",
            "https://app.example/cb\u{200b}",
            " https://app.example/cb",
            "https://app.example//cb",
            "https://app.example/./cb",
            "https://app.example/%63b",
            "https:/app.example/cb",
            "https://app.example\\cb",
            "https://app.example/cb;x=1",
            "https://app.example/cb&x=1",
            "https://app.example@evil.example/cb",
            "https://evil.example#@app.example/cb",
            "https://evil.example/?https://app.example/cb",
            "https://app.example.evil.example/cb",
            "https://app.exampl\u{435}/cb",
            "//app.example/cb",
            "/cb",
            "app.example/cb",
            "javascript:location='https://app.example/cb'",
        ] {
            leads_nowhere(&house, &program, &mut browser, near).await;
        }
        // Two of them, in either order.
        let evil = "redirect_uri=https%3A%2F%2Fevil.example%2F";
        let pairs = program.request();
        let sound = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        for twice in [format!("{sound}&{evil}"), format!("{evil}&{sound}")] {
            let answer = browser.get(&format!("/connect/authorize?{twice}")).await;
            assert_eq!(answer.expect(400)["code"], "identity.bad_sign_in_request");
            assert_eq!(answer.header("location"), "");
        }
        assert_eq!(rows(&house, "identity_grants").await, 0);
        let answer = program.authorize(&mut browser, &[]).await;
        assert!(query_of(answer.header("location")).contains_key("code"));
    }

    async fn a_program_on_a_desktop_chooses_its_port_and_nothing_else(backend) {
        let house = House::open(backend).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let new = NewClient {
            name: "Tool".to_owned(),
            is_public: true,
            redirect_uris: vec!["http://127.0.0.1/cb".to_owned()],
            ..NewClient::default()
        };
        let (id, _) = clients::create(&house.within(), new).await.unwrap();
        let at = |address: &str| Program::new(house.node.anonymous(), &id.to_string(), None, address);
        for near in [
            "http://localhost:51004/cb",
            "http://[::1]:51004/cb",
            "http://127.0.0.2:51004/cb",
            "http://127.1:51004/cb",
            "http://0x7f.0.0.1:51004/cb",
            "http://2130706433:51004/cb",
            "https://127.0.0.1:51004/cb",
            "http://127.0.0.1:51004/cb/",
            "http://127.0.0.1:51004/cb?x=1",
            "http://127.0.0.1:51004/",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:0/cb",
            "http://127.0.0.1:-1/cb",
            "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:51004 /cb",
            "http://127.0.0.1:80@evil.example/cb",
            "http://127.0.0.1:51004:80/cb",
            "http://127.0.0.1.evil.example:51004/cb",
        ] {
            leads_nowhere(&house, &at(near), &mut browser, near).await;
        }
        for port in ["1", "65535"] {
            let program = at(&format!("http://127.0.0.1:{port}/cb"));
            let code = program.code(&mut browser, &[]).await;
            assert_eq!(program.exchange(&code).await.status, 200, "{port}");
        }
        // The port of the code is the one that was asked for (RFC 6749, section 4.1.3), and a code that comes
        // from another is used up.
        let program = at("http://127.0.0.1:51004/cb");
        let code = program.code(&mut browser, &[]).await;
        let neighbour = at("http://127.0.0.1:51005/cb");
        let neighbour = Program { verifier: program.verifier.clone(), ..neighbour };
        assert_eq!(neighbour.exchange(&code).await.expect(400)["error"], "invalid_grant");
        assert_eq!(program.exchange(&code).await.expect(400)["error"], "invalid_grant");
    }

    async fn who_signs_out_goes_to_no_address_that_nearly_matches(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let tokens = program.sign_in(&mut browser, "openid").await;
        let mut sign_out = async |address: &str| {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("id_token_hint", tokens["id_token"].as_str().unwrap())
                .append_pair("post_logout_redirect_uri", address)
                .finish();
            let answer = browser.get(&format!("/connect/logout?{query}")).await;
            (answer, browser.cookie(SESSION).is_some())
        };
        // A signed-out address has no port of its own choosing either; the one for codes is another.
        for near in [
            "https://app.example/bye/",
            "https://app.example/bye?a=b",
            "https://app.example/bye#",
            "https://app.example/Bye",
            "https://app.example:443/bye",
            "https://app.example/cb",
            "http://app.example/bye",
            "https://app.example/bye\r\nset-cookie: a=b",
            "https://app.example.evil.example/bye",
            "//app.example/bye",
            "/account",
        ] {
            let (answer, is_signed_in) = sign_out(near).await;
            assert_eq!(answer.expect(400)["code"], "identity.foreign_redirect", "{near:?}");
            assert_eq!((answer.header("location"), is_signed_in), ("", true), "{near:?}");
        }
        let (answer, is_signed_in) = sign_out("https://app.example/bye").await;
        assert_eq!((answer.header("location"), is_signed_in), ("https://app.example/bye", false));
    }

    async fn a_promise_that_is_no_hash_is_refused(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let sound = program.verifier.challenge().as_str().to_owned();
        let (beginning, last) = sound.split_at(42);
        // The last letter stands for four bits; two more of them would be another text of the same hash.
        let twin = char::from(last.as_bytes()[0] + 1);
        let digest = Sha256::digest("a");
        let standard = STANDARD_NO_PAD.encode(digest);
        assert!(standard.contains(['+', '/']), "{standard}");
        for (name, value) in [
            ("code_challenge_method", "s256"),
            ("code_challenge_method", "PLAIN"),
            ("code_challenge_method", "S512"),
            ("code_challenge_method", "S256 plain"),
            ("code_challenge_method", " S256"),
            ("code_challenge", beginning),
            ("code_challenge", &format!("{sound}=")),
            ("code_challenge", &format!("{sound}A")),
            ("code_challenge", &format!(" {sound}")),
            ("code_challenge", &format!("{beginning}{twin}")),
            ("code_challenge", &standard),
            ("code_challenge", &hex_of(digest.as_slice())),
        ] {
            let answer = program.authorize(&mut browser, &[(name, value)]).await;
            let back = query_of(answer.header("location"));
            let error = back.get("error").map(String::as_str);
            assert_eq!(error, Some("invalid_request"), "{name} {value:?}: {}", answer.text);
            assert!(!back.contains_key("code"), "{name} {value:?}");
        }
        // Named twice, it is no request at all: nobody knows which counts.
        let pairs = program.request();
        let sound = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        for more in ["code_challenge_method=plain", "code_challenge_method=", "code_challenge=x"] {
            let answer = browser.get(&format!("/connect/authorize?{sound}&{more}")).await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (400, ""), "{more}");
        }
        assert_eq!(rows(&house, "identity_grants").await, 0);
    }

    async fn a_verifier_that_nearly_fits_uses_the_code_up(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        let own = program.verifier.as_str().to_owned();
        let other = CodeVerifier::random().as_str().to_owned();
        for wrong in [
            // What `plain` would take.
            challenge_of(&own),
            other,
            own[..42].to_owned(),
            format!("{own}="),
            format!("{own} "),
            format!("{own}\0"),
            own.to_uppercase(),
            "x".to_owned(),
        ] {
            let code = program.code(&mut browser, &[]).await;
            let answer = present(&program, &code, &wrong).await;
            assert_eq!(answer.expect(400)["error"], "invalid_grant", "{wrong:?}");
            // Whatever is wrong with it, a code that was presented is none any more.
            assert_eq!(program.exchange(&code).await.expect(400)["error"], "invalid_grant", "{wrong:?}");
        }
        assert_eq!(rows(&house, "identity_grants").await, 0);
        // A request that can't be read presents nothing, so its client may say it again.
        let code = program.code(&mut browser, &[]).await;
        assert_eq!(present(&program, &code, "").await.expect(400)["error"], "invalid_request");
        let twice = [("code", code.as_str()), ("code_verifier", &own), ("code_verifier", &own)];
        let twice = [&[("grant_type", "authorization_code")][..], &twice[..]].concat();
        assert_eq!(program.post("/connect/token", &twice).await.expect(400)["error"], "invalid_request");
        assert_eq!(program.exchange(&code).await.status, 200);
    }

    async fn a_verifier_has_43_to_128_letters_even_where_its_hash_fits(backend) {
        let house = House::open(backend).await;
        let program = public(&house).await;
        let (mut browser, _) = house.browser_of(house.ada).await;
        // RFC 7636, section 4.1.
        for (verifier, status) in [
            ("a".repeat(42), 400),
            ("a".repeat(43), 200),
            ("-._~".repeat(32), 200),
            ("a".repeat(129), 400),
            ("+".repeat(43), 400),
            ("\u{e4}".repeat(43), 400),
        ] {
            let promise = challenge_of(&verifier);
            let code = program.code(&mut browser, &[("code_challenge", &promise)]).await;
            let answer = present(&program, &code, &verifier).await;
            assert_eq!(answer.status, status, "{verifier}: {}", answer.text);
        }
    }
}

fn hex_of(bytes: &[u8]) -> String {
    svc::core::hex(bytes)
}
