//! Tokens that another issuer has signed, and that say odd things: what their standards let them say is taken, and
//! nothing else.

use std::time::Duration;

use e2e_identity::{CLIENT_ID, House, Issuer, Program};
use serde_json::{Value, json};
use svc_testing::{Backend, on_both_databases};

use crate::external::{open, person, sign_in};

/// The house, an issuer whose person it knows, and whoever asks.
async fn asked(backend: Backend) -> (House, Issuer, Program) {
    let (house, issuer) = open(backend, &[]).await;
    issuer.say_of_person(person("grace", &[]));
    let program = Program::new(house.node.anonymous(), "", None, "");
    assert_eq!(program.ask("/api/v1/me", &issuer.access_token("grace")).await.status, 200);
    (house, issuer, program)
}

/// What a token says that holds for five minutes.
fn claims(house: &House, issuer: &Issuer) -> Value {
    let now_s = house.node.clock().now().unix_timestamp();
    json!({ "iss": issuer.url, "sub": "grace", "aud": "shop api", "iat": now_s, "exp": now_s + 300 })
}

async fn opens(program: &Program, token: &str) -> bool {
    let answer = program.ask("/api/v1/me", token).await;
    assert!([200, 401].contains(&answer.status.as_u16()), "{} {token}", answer.text);
    answer.status == 200
}

on_both_databases! {
    async fn what_a_header_says_is_understood_or_refused(backend) {
        let (house, issuer, program) = asked(backend).await;
        let claims = claims(&house, &issuer).to_string();
        let with = |more: &str| format!(r#"{{"alg":"ES256","kid":"key 0"{more}}}"#);
        for header in [
            with(""),
            // Without a name it may be of the only key (OpenID Connect Core, section 10.1).
            r#"{"alg":"ES256"}"#.to_owned(),
            // RFC 7515, section 4.1.9; RFC 9068, section 4.
            with(r#","typ":"JWT""#),
            with(r#","typ":"jwt""#),
            with(r#","typ":"AT+jwt""#),
            with(r#","typ":"application/at+jwt""#),
            with(r#","typ":"Application/JWT""#),
            // What nobody needs to understand (RFC 7515, section 4).
            with(r#","unheard_of":[1,{"a":null}]"#),
        ] {
            assert!(opens(&program, &issuer.signed(&header, &claims)).await, "{header}");
        }
        let bare = |alg: &str| format!(r#"{{"alg":{alg},"kid":"key 0"}}"#);
        for header in [
            // RFC 7515, section 4.1.11: what must be understood, in whatever form.
            with(r#","crit":["exp"]"#),
            with(r#","crit":["b64"],"b64":true"#),
            with(r#","crit":["b64"],"b64":false"#),
            with(r#","crit":["alg"]"#),
            with(r#","crit":["http://unheard.of","http://unheard.of"],"http://unheard.of":1"#),
            with(r#","crit":[]"#),
            with(r#","crit":"exp""#),
            with(r#","crit":{"exp":1}"#),
            // Section 4: no name stands twice; two readers would take another of them each.
            with(r#","alg":"ES256""#),
            with(r#","alg":"none""#),
            with(r#","kid":"key 1""#),
            with(r#","typ":"JWT","typ":"at+jwt""#),
            with(r#","crit":["exp"],"crit":[]"#),
            // Another algorithm, or none, however it is written (RFC 8725, sections 2.1 and 3.1).
            bare(r#""none""#),
            bare(r#""NONE""#),
            bare(r#""es256""#),
            bare(r#""ES384""#),
            bare(r#""RS256""#),
            bare(r#""PS256""#),
            bare(r#""HS256""#),
            bare(r#""EdDSA""#),
            bare(r#""""#),
            bare("null"),
            bare("7"),
            bare(r#"["ES256"]"#),
            r#"{"kid":"key 0"}"#.to_owned(),
            // Another key, or what names none.
            r#"{"alg":"ES256","kid":"key 1"}"#.to_owned(),
            r#"{"alg":"ES256","kid":"KEY 0"}"#.to_owned(),
            r#"{"alg":"ES256","kid":"key 0 "}"#.to_owned(),
            r#"{"alg":"ES256","kid":""}"#.to_owned(),
            r#"{"alg":"ES256","kid":0}"#.to_owned(),
            // Tokens of other kinds (RFC 8725, section 3.11).
            with(r#","typ":"logout+jwt""#),
            with(r#","typ":"secevent+jwt""#),
            with(r#","typ":"dpop+jwt""#),
            with(r#","typ":"at+jwt;v=1""#),
            with(r#","typ":"application/application/at+jwt""#),
            with(r#","typ":"""#),
            with(r#","typ":7"#),
            // No header at all.
            "[]".to_owned(),
            "null".to_owned(),
            "\"ES256\"".to_owned(),
            String::new(),
            with("").replace('}', ""),
            format!("{}{{}}", with("")),
        ] {
            assert!(!opens(&program, &issuer.signed(&header, &claims)).await, "{header}");
        }
    }

    async fn what_a_token_claims_stands_there_once_and_is_of_its_kind(backend) {
        let (house, issuer, program) = asked(backend).await;
        let sound = claims(&house, &issuer);
        let header = r#"{"alg":"ES256","kid":"key 0","typ":"at+jwt"}"#;
        let changed = |name: &str, value: Value| {
            let mut changed = sound.clone();
            changed[name] = value;
            changed.to_string()
        };
        // RFC 7519, section 4.1.3: one audience or several.
        for claims in [
            changed("aud", json!(["shop api"])),
            changed("aud", json!(["another", "shop api", "shop api"])),
            changed("exp", json!(i64::MAX)),
            changed("jti", json!({ "odd": [] })),
        ] {
            assert!(opens(&program, &issuer.signed(header, &claims)).await, "{claims}");
        }
        let text = sound.to_string();
        let twice = |more: &str| text.replacen('{', &format!("{{{more},"), 1);
        for claims in [
            // Section 4: a name stands once. Two readers would take another of them each.
            twice(r#""sub":"ada""#),
            twice(r#""aud":"another""#),
            twice(r#""exp":1"#),
            twice(r#""iat":1"#),
            twice(&format!(r#""iss":"{}""#, issuer.url)),
            twice(r#""iss":"https://evil.example""#),
            changed("aud", json!([])),
            changed("aud", json!("shop API")),
            changed("aud", json!("shop api ")),
            changed("aud", json!({ "0": "shop api" })),
            changed("aud", json!([["shop api"]])),
            changed("aud", Value::Null),
            changed("exp", json!("9999999999")),
            changed("exp", json!(-1)),
            changed("exp", json!(i64::MIN)),
            changed("exp", json!(u64::MAX)),
            changed("exp", json!(true)),
            changed("iat", Value::Null),
            changed("iat", json!(i64::MAX)),
            changed("nbf", json!(i64::MAX)),
            changed("nbf", json!("now")),
            changed("sub", json!(7)),
            changed("sub", json!("")),
            changed("sub", json!(["grace"])),
            // A text that no database takes.
            changed("sub", json!("gr\0ace")),
            changed("iss", json!(format!("{}/", issuer.url))),
            changed("iss", json!(issuer.url.to_uppercase())),
            "[]".to_owned(),
            "{}".to_owned(),
            String::new(),
            format!("{text}{text}"),
        ] {
            assert!(!opens(&program, &issuer.signed(header, &claims)).await, "{claims}");
        }
        assert!(opens(&program, &issuer.signed(header, &text)).await);
    }

    async fn a_token_is_written_in_one_way(backend) {
        let (house, issuer, program) = asked(backend).await;
        let header = r#"{"alg":"ES256","kid":"key 0"}"#;
        let token = issuer.signed(header, &claims(&house, &issuer).to_string());
        let parts: Vec<&str> = token.split('.').collect();
        let [head, body, signature] = parts[..] else { panic!("{token}") };
        // The last letter of a signature of 64 bytes stands for two bits; the others of it must be none.
        let (beginning, last) = signature.split_at(85);
        let twin = char::from(last.as_bytes()[0] + 1);
        for written in [
            format!("{head}.{body}.{signature}="),
            format!("{head}=.{body}.{signature}"),
            format!("{head}.{body}.{beginning}{twin}"),
            format!("{head}.{body}.{beginning}"),
            format!("{head}.{body}.{signature}{signature}"),
            format!("{head}.{body}"),
            format!("{head}.{body}."),
            format!(".{body}.{signature}"),
            format!("{head}..{signature}"),
            format!("{head}.{body}.{signature}."),
            format!("{head}.{body}.x.{signature}"),
            format!("{body}.{head}.{signature}"),
            format!("{head}.{head}.{signature}"),
        ] {
            assert!(!opens(&program, &written).await, "{written}");
        }
        assert!(opens(&program, &token).await);
    }

    async fn of_two_keys_each_vouches_for_its_own_tokens(backend) {
        let (house, issuer, program) = asked(backend).await;
        let claims = claims(&house, &issuer).to_string();
        let of_first = issuer.signed(r#"{"alg":"ES256","kid":"key 0","typ":"at+jwt"}"#, &claims);
        issuer.next_key();
        house.advance(Duration::from_secs(31));
        let by_second = |kid: &str| issuer.signed(&format!(r#"{{"alg":"ES256"{kid}}}"#), &claims);
        assert!(opens(&program, &by_second(r#","kid":"key 1""#)).await);
        assert!(opens(&program, &of_first).await, "the first one is still published");
        assert!(!opens(&program, &by_second(r#","kid":"key 0""#)).await);
        // Nobody tries one key after the other.
        assert!(!opens(&program, &by_second("")).await);
        assert!(!opens(&program, &by_second(r#","kid":null"#)).await);
    }

    async fn clocks_may_differ_by_a_minute_and_by_no_second_more(backend) {
        let (house, issuer, program) = asked(backend).await;
        let header = r#"{"alg":"ES256","kid":"key 0"}"#;
        let sound = claims(&house, &issuer);
        let now_s = sound["iat"].as_i64().unwrap();
        let with = |pairs: &[(&str, i64)]| {
            let mut changed = sound.clone();
            for (name, apart_s) in pairs {
                changed[*name] = json!(now_s + apart_s);
            }
            issuer.signed(header, &changed.to_string())
        };
        for (pairs, holds) in [
            (&[("exp", -59)][..], true),
            (&[("exp", -60)], false),
            (&[("iat", 60)], true),
            (&[("iat", 61)], false),
            (&[("nbf", 60)], true),
            (&[("nbf", 61)], false),
            // An early `nbf` doesn't excuse a late `iat`.
            (&[("nbf", -1_000), ("iat", 61)], false),
            (&[("nbf", 61), ("iat", -1_000)], false),
            // What ends before it was made, within what clocks may differ.
            (&[("iat", 60), ("exp", -59)], true),
        ] {
            assert_eq!(opens(&program, &with(pairs)).await, holds, "{pairs:?}");
        }
        // One that was taken a moment ago ends all the same, and on its second.
        let last = with(&[("exp", -58)]);
        assert!(opens(&program, &last).await);
        house.advance(Duration::from_secs(1));
        assert!(opens(&program, &last).await);
        house.advance(Duration::from_secs(1));
        assert!(!opens(&program, &last).await);
    }

    async fn the_same_minute_counts_for_who_signs_in_and_who_has_left(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let event = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
        let program = Program::new(house.node.anonymous(), "", None, "");
        let signs_in = async |pairs: &'static [(&'static str, i64)]| {
            issuer.twist(move |_, claims| {
                let now_s = claims["iat"].as_i64().unwrap();
                for (name, apart_s) in pairs {
                    claims[*name] = json!(now_s + apart_s);
                }
            });
            sign_in(&mut house.browser(), &issuer, &person("grace", &[])).await.status == 303
        };
        let hears = async |pairs: &[(&str, Option<i64>)]| {
            let token = issuer.logout_token(&json!({ "sub": "grace", "aud": CLIENT_ID, "events": event }));
            let mut claims = e2e_identity::claims_of(&token);
            let now_s = claims["iat"].as_i64().unwrap();
            for (name, apart_s) in pairs {
                claims[*name] = apart_s.map_or(Value::Null, |apart_s| json!(now_s + apart_s));
            }
            let token = issuer.signed(r#"{"alg":"ES256","kid":"key 0","typ":"logout+jwt"}"#, &claims.to_string());
            let answer = program.post("/connect/external/corp/logout", &[("logout_token", &token)]).await;
            assert!([200, 400].contains(&answer.status.as_u16()), "{}", answer.text);
            answer.status == 200
        };
        assert!(signs_in(&[("exp", -59)]).await);
        assert!(!signs_in(&[("exp", -60)]).await);
        assert!(signs_in(&[("iat", 60)]).await);
        assert!(!signs_in(&[("iat", 61)]).await);
        assert!(!signs_in(&[("nbf", 61)]).await);
        assert!(hears(&[("exp", Some(-59))]).await);
        assert!(!hears(&[("exp", Some(-60))]).await);
        assert!(hears(&[("iat", Some(60))]).await);
        assert!(!hears(&[("iat", Some(61))]).await);
        // Issuers that are older than the standard name no end: such a token counts for two minutes more.
        assert!(hears(&[("exp", None), ("iat", Some(-180))]).await);
        assert!(!hears(&[("exp", None), ("iat", Some(-181))]).await);
    }

    async fn what_an_issuer_says_of_somebody_is_no_fault_however_odd_it_is(backend) {
        let (house, issuer) = open(backend, &[]).await;
        let program = Program::new(house.node.anonymous(), "", None, "");
        let odd = ["a\0b", "\0", "\u{202e}\u{1f511}", "\n", "' OR 1=1 --", &"x".repeat(5_000)];
        for (number, text) in odd.into_iter().enumerate() {
            let cases = [
                ("sub", json!(text)),
                ("name", json!(text)),
                ("email", json!(text)),
                ("realm", json!({ "roles": [text, "Administrator\0"] })),
                ("sid", json!(text)),
                ("auth_time", json!(text)),
                (text, json!(text)),
            ];
            for (place, (name, value)) in cases.into_iter().enumerate() {
                let subject = format!("{number}.{place}");
                let mut said = json!({ "sub": subject, "email": format!("{subject}@corp.example") });
                said[name] = value;
                let answer = sign_in(&mut house.browser(), &issuer, &said).await;
                let status = answer.status.as_u16();
                assert!([303, 400, 403].contains(&status), "{name} {text:?}: {status} {}", answer.text);
                said["aud"] = json!("shop api");
                let answer = program.ask("/api/v1/me", &issuer.token(&said, |_, _| {})).await;
                let status = answer.status.as_u16();
                assert!([200, 401].contains(&status), "{name} {text:?}: {status} {}", answer.text);
            }
            let token = issuer.logout_token(&json!({ "sub": text, "sid": text }));
            let answer = program.post("/connect/external/corp/logout", &[("logout_token", &token)]).await;
            assert!([200, 400].contains(&answer.status.as_u16()), "{text:?}: {}", answer.text);
        }
    }
}
