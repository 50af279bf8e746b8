//! The account pages as a browser sees them, and what other sites can't do with them.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use http::Method;
use svc_identity::sessions;
use svc_testing::on_both_databases;

use crate::browser::{Browser, EMAIL, PASSWORD, builder, hidden, set_up, set_up_with};

const SESSION: &str = "__Host-svc-session";

on_both_databases! {
    async fn an_empty_system_is_set_up_on_a_page_that_signs_in(backend) {
        let app = builder().start(backend).await;
        let browser = Browser::new(&app);
        let answer = browser.get("/account/sign-in?return=%2Fdocs").await;
        assert_eq!(answer.header("location"), "/account/set-up?return=%2Fdocs");
        let fields = [
            ("organisation", "Example Ltd"),
            ("displayName", "Ada"),
            ("email", EMAIL),
            ("password", PASSWORD),
            ("repeated", PASSWORD),
            ("return", "/docs"),
        ];
        let answer = browser.fill("/account/set-up", "/account/set-up", &fields).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/docs"));
        let account = browser.get("/account").await;
        assert_eq!(account.status, 200);
        assert!(account.text.contains("Example Ltd") && account.text.contains(EMAIL));

        // It is done once: the page leads to the application.
        for browser in [&browser, &Browser::new(&app)] {
            let answer = browser.get("/account/set-up").await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        }
        let other = Browser::new(&app);
        other.get("/account/sign-in").await;
        let token = hidden(&other.get("/account/sign-in").await.text, "form");
        let mut fields = fields.to_vec();
        fields.push(("form", &token));
        let answer = other.post("/account/set-up", &fields, "same-origin").await;
        assert_eq!(answer.status, 303);
        assert_eq!(other.cookie(SESSION), None);
    }

    async fn what_is_wrong_with_a_set_up_is_said_beside_the_field(backend) {
        let app = builder().start(backend).await;
        let browser = Browser::new(&app).in_german();
        let fields = [
            ("organisation", " "),
            ("displayName", "Ada <script>"),
            ("email", "ada"),
            ("password", "passwordpassword"),
            ("repeated", "other"),
        ];
        let answer = browser.fill("/account/set-up", "/account/set-up", &fields).await;
        assert_eq!(answer.status, 422);
        for told in ["Füllen Sie dieses Feld aus.", "E-Mail-Adresse an", "Viele benutzen dieses"] {
            assert!(answer.text.contains(told), "{told}: {}", answer.text);
        }
        assert!(answer.text.contains("Ada &#60;script&#62;"), "{}", answer.text);
        assert!(!answer.text.contains("passwordpassword"));
        assert!(answer.text.contains("lang=\"de\""));
    }

    async fn a_person_signs_in_and_out(backend) {
        let app = set_up(backend).await;
        let browser = Browser::new(&app);
        let answer = browser.get("/account").await;
        assert_eq!(answer.header("location"), "/account/sign-in?return=%2Faccount");
        let answer = browser.sign_in(" ADA@example.com", PASSWORD).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        let cookie = answer.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap());
        let cookie = cookie.filter(|it| it.starts_with(SESSION)).collect::<String>();
        assert!(cookie.ends_with("; Path=/; Max-Age=1209600; HttpOnly; Secure; SameSite=Lax"));
        let account = browser.get("/account").await;
        assert!(account.text.contains("Firefox on Linux"), "{}", account.text);
        // Who is signed in is led on.
        let answer = browser.get("/account/sign-in?return=%2Faccount").await;
        assert_eq!(answer.header("location"), "/account");

        // A link signs nobody out, and neither does another site.
        browser.get("/account/sign-out").await;
        let answer = browser.post("/account/sign-out", &[], "cross-site").await;
        assert_eq!(answer.status, 403);
        assert_eq!(browser.get("/account").await.status, 200);
        let stolen = browser.cookie(SESSION).unwrap();
        let answer = browser.fill("/account/sign-out", "/account/sign-out", &[]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(browser.cookie(SESSION), None);
        browser.set_cookie(SESSION, &stolen);
        assert_eq!(browser.get("/account").await.status, 303, "the session itself has ended");
    }

    async fn nobody_learns_which_addresses_are_known(backend) {
        let app = set_up(backend).await;
        let answer = async |email: &str| {
            let browser = Browser::new(&app);
            let answer = browser.sign_in(email, "a wrong password").await;
            assert_eq!(browser.cookie(SESSION), None);
            (answer.status, answer.text.replace(email, "…").lines().filter(|line| {
                !line.contains("name=\"form\"")
            }).collect::<String>())
        };
        let known = answer(EMAIL).await;
        assert_eq!(known.0, 422);
        assert_eq!(answer("eve@example.com").await, known);
        // The limits are the same, too.
        let browser = Browser::new(&app);
        for email in [EMAIL, "nobody@elsewhere.example"] {
            let mut statuses = Vec::new();
            for _ in 0..12 {
                statuses.push(browser.sign_in(email, "wrong").await.status.as_u16());
            }
            let refused = statuses.iter().filter(|status| **status == 429).count();
            let expected = if email == EMAIL { 3 } else { 2 };
            assert_eq!(refused, expected, "{email}: {statuses:?}");
        }
    }

    async fn who_guesses_passwords_waits_and_locks_nobody_out(backend) {
        let app = set_up(backend).await;
        let at_home = Browser::signed_in(&app).await;
        at_home.fill("/account/sign-out", "/account/sign-out", &[]).await;
        let stranger = Browser::new(&app);
        for _ in 0..10 {
            assert_eq!(stranger.sign_in(EMAIL, "wrong").await.status, 422);
        }
        let answer = stranger.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(answer.status, 429, "also the right password isn't looked at");
        assert!(answer.header("retry-after").parse::<u64>().unwrap() <= 360);
        assert!(answer.text.contains("too many attempts"));
        // The person has signed in with this browser before.
        assert_eq!(at_home.sign_in(EMAIL, PASSWORD).await.status, 303);
        // A cookie of another person, or one that somebody made up, is none.
        let made_up = Browser::new(&app);
        let name = "__Host-svc-device-";
        made_up.set_cookie(&format!("{name}000000000000"), "p1.a.AAAA");
        assert_eq!(made_up.sign_in(EMAIL, PASSWORD).await.status, 429);
        app.advance(Duration::from_mins(7));
        assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 303);
    }

    async fn a_machine_and_a_swarm_that_try_many_accounts_wait(backend) {
        let header = [("Svc:Auth:ClientAddressHeader", "X-Forwarded-For")];
        let app = set_up_with(backend, &header).await;
        let one = Browser::new(&app).at("203.0.113.1, 192.0.2.1");
        let mut refused = 0;
        for number in 0..62 {
            let email = format!("{number}@{number}.example");
            refused += u32::from(one.sign_in(&email, "wrong").await.status == 429);
        }
        assert_eq!(refused, 2);
        // What the client itself says of its address doesn't count.
        let liar = Browser::new(&app).at("203.0.113.77, 192.0.2.1");
        assert_eq!(liar.sign_in(EMAIL, PASSWORD).await.status, 429);
        let elsewhere = Browser::new(&app).at("192.0.2.2");
        assert_eq!(elsewhere.sign_in(EMAIL, PASSWORD).await.status, 303);

        // Each attempt from another address, at another account of one organisation.
        let tried = (0..300).map(|number| {
            let address = format!("198.51.{}.{}", number / 100, number % 100);
            let one = Browser::new(&app).at(&address);
            async move { one.sign_in(&format!("{number}@example.com"), "wrong").await.status }
        });
        // More at once than there are processors wait for each other, and for too long on a busy machine.
        let tried: Vec<_> = stream::iter(tried).buffered(2).collect().await;
        assert!(tried.iter().all(|status| *status == 422), "{tried:?}");
        let stranger = Browser::new(&app).at("192.0.2.3");
        assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 429);
        assert_eq!(stranger.sign_in("grace@elsewhere.example", "wrong").await.status, 422);
        // Who is known in a browser comes in by it all the same.
        elsewhere.fill("/account/sign-out", "/account/sign-out", &[]).await;
        assert_eq!(elsewhere.sign_in(EMAIL, PASSWORD).await.status, 303);
        // So does whoever asks for a link by mail.
        let fields = [("email", EMAIL)];
        let asked = stranger.fill("/account/forgotten", "/account/forgotten", &fields).await;
        assert_eq!(asked.status, 200, "{}", asked.text);
        app.advance(Duration::from_secs(5));
        assert_eq!(stranger.sign_in(EMAIL, PASSWORD).await.status, 303);
    }

    async fn a_form_counts_only_from_a_page_of_ours(backend) {
        let app = set_up(backend).await;
        let browser = Browser::new(&app);
        let token = hidden(&browser.get("/account/sign-in").await.text, "form");
        let fields = [("email", EMAIL), ("password", PASSWORD), ("form", token.as_str())];
        // Login CSRF: another site's form, with all that it could know.
        for site in ["cross-site", "same-site", "none"] {
            let answer = browser.post("/account/sign-in", &fields, site).await;
            assert_eq!(answer.status, 403, "{site}");
            assert!(answer.text.contains("sent from elsewhere"));
        }
        // The right site without the secret, or with that of another browser.
        let answer = browser.post("/account/sign-in", &fields[..2], "same-origin").await;
        assert_eq!(answer.status, 403);
        let other = Browser::new(&app);
        other.get("/account/sign-in").await;
        let answer = other.post("/account/sign-in", &fields, "same-origin").await;
        assert_eq!(answer.status, 403);
        let bare = Browser::new(&app);
        let answer = bare.post("/account/sign-in", &fields, "same-origin").await;
        assert!(answer.text.contains("sent no cookie"), "{}", answer.text);
        for browser in [&browser, &other, &bare] {
            assert_eq!(browser.cookie(SESSION), None);
        }
        assert_eq!(browser.post("/account/sign-in", &fields, "same-origin").await.status, 303);
    }

    async fn a_session_that_somebody_brought_along_is_never_taken_over(backend) {
        let app = set_up(backend).await;
        let attacker = Browser::signed_in(&app).await;
        let theirs = attacker.cookie(SESSION).unwrap();
        let victim = Browser::new(&app);
        // Without the prefix it is another cookie, and with it no other site can set it.
        victim.set_cookie("svc-session", &theirs);
        assert_eq!(victim.get("/account").await.status, 303);
        for planted in [theirs.as_str(), &"A".repeat(43), "short"] {
            victim.forget(SESSION);
            let token = hidden(&victim.get("/account/sign-in").await.text, "form");
            victim.set_cookie(SESSION, planted);
            let fields = [("email", EMAIL), ("password", PASSWORD), ("form", token.as_str())];
            assert_eq!(victim.post("/account/sign-in", &fields, "same-origin").await.status, 303);
            assert_ne!(victim.cookie(SESSION).unwrap(), planted);
        }
        // The one that was planted has ended.
        assert_eq!(attacker.get("/account").await.status, 303);
    }

    async fn a_sign_in_leads_only_to_this_application(backend) {
        let app = set_up(backend).await;
        for (asked, led) in [
            ("/docs?a=b", "/docs?a=b"),
            ("https://evil.example/", "/"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("/\t/evil.example", "/"),
            ("javascript:alert(1)", "/"),
        ] {
            let browser = Browser::new(&app);
            let query = serde_urlencoded::to_string([("return", asked)]).unwrap();
            let page = browser.get(&format!("/account/sign-in?{query}")).await;
            assert_eq!(hidden(&page.text, "return"), led.replace('&', "&#38;"));
            let token = hidden(&page.text, "form");
            let fields =
                [("email", EMAIL), ("password", PASSWORD), ("form", &token), ("return", asked)];
            let answer = browser.post("/account/sign-in", &fields, "same-origin").await;
            assert_eq!(answer.header("location"), led, "{asked:?}");
        }
        // The provider leads on to other sites, which a form's answer may not.
        let browser = Browser::new(&app);
        let back = "/connect/authorize?client_id=a&state=b";
        let fields = [("email", EMAIL), ("password", PASSWORD), ("return", back)];
        let answer = browser.fill("/account/sign-in", "/account/sign-in", &fields).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("refresh"), format!("0; url={back}"));
    }

    async fn pages_are_framed_stored_and_scripted_by_nobody(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        for path in ["/account", "/account/sign-out", "/account/organisation"] {
            let answer = browser.get(path).await;
            let policy = answer.header("content-security-policy").to_owned();
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
            assert_eq!(answer.header("cache-control"), "no-store");
            assert_eq!(answer.header("referrer-policy"), "same-origin");
            assert!(!answer.text.contains("<script") && !answer.text.contains(" style="));
            let style = answer.text.split("stylesheet\" href=\"").nth(1).unwrap();
            let style = browser.get(style.split('"').next().unwrap()).await;
            assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
        }
        assert_eq!(browser.get("/account/style-0.css").await.status, 404);
        let framed = [("Svc:Auth:FrameAncestors:0", "https://portal.example")];
        let app = set_up_with(backend, &framed).await;
        let answer = Browser::new(&app).get("/account/sign-in").await;
        let policy = answer.header("content-security-policy");
        assert!(policy.ends_with("frame-ancestors https://portal.example"), "{policy}");
    }

    async fn a_new_password_ends_all_other_sessions(backend) {
        let app = set_up(backend).await;
        let (here, there) = (Browser::signed_in(&app).await, Browser::signed_in(&app).await);
        let new = "a ship in a harbour";
        let change = |current, password, repeated| {
            [("current", current), ("password", password), ("repeated", repeated)]
        };
        let answer = here.fill("/account", "/account/password", &change("wrong", new, new)).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text.contains("isn’t your current"), "{}", answer.text);
        let fields = change(PASSWORD, new, "another ship at sea");
        let answer = here.fill("/account", "/account/password", &fields).await;
        assert!(answer.text.contains("passwords differ"), "{}", answer.text);
        assert_eq!(there.get("/account").await.status, 200);
        let fields = change(PASSWORD, new, new);
        let answer = here.fill("/account", "/account/password", &fields).await;
        assert_eq!(answer.header("location"), "/account?done=password");
        assert_eq!(here.get("/account?done=password").await.status, 200);
        assert_eq!(there.get("/account").await.status, 303);
        assert_eq!(there.sign_in(EMAIL, PASSWORD).await.status, 422);
        assert_eq!(there.sign_in(EMAIL, new).await.status, 303);
    }

    async fn sessions_are_listed_and_ended_by_their_person(backend) {
        let app = set_up(backend).await;
        let (here, there) = (Browser::signed_in(&app).await, Browser::signed_in(&app).await);
        let page = here.get("/account").await.text;
        let id = page.split("name=\"session\" value=\"").nth(1).unwrap();
        let id = id.split('"').next().unwrap();
        here.fill("/account", "/account/sessions", &[("session", id)]).await;
        assert_eq!(there.get("/account").await.status, 303);
        assert_eq!(here.get("/account").await.status, 200);
        let (other, third) = (Browser::signed_in(&app).await, Browser::signed_in(&app).await);
        here.fill("/account", "/account/sessions", &[("session", "others")]).await;
        for browser in [&there, &other, &third] {
            assert_eq!(browser.get("/account").await.status, 303);
        }
        assert_eq!(here.get("/account").await.status, 200);
    }

    async fn a_session_ends_unused_and_at_last_in_any_case(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        app.advance(Duration::from_hours(24) - Duration::from_secs(1));
        assert_eq!(browser.get("/account").await.status, 200);
        app.advance(Duration::from_hours(23));
        app.drain().await;
        assert_eq!(browser.get("/account").await.status, 200);
        app.drain().await;
        app.advance(Duration::from_hours(24));
        assert_eq!(browser.get("/account").await.status, 303);

        let browser = Browser::signed_in(&app).await;
        for _ in 0..14 {
            assert_eq!(browser.get("/account").await.status, 200);
            app.drain().await;
            app.advance(Duration::from_hours(24) - Duration::from_mins(1));
        }
        assert_eq!(browser.get("/account").await.status, 200);
        app.drain().await;
        app.advance(Duration::from_mins(15));
        assert_eq!(browser.get("/account").await.status, 303);
        app.drain().await;
        let rows = "SELECT id FROM identity_sessions";
        let database = svc_data::Context::system(app.app()).unwrap().database().clone();
        assert_eq!(database.rows(database.statement(rows, [])).await.unwrap().len(), 0);
    }

    async fn a_cookie_is_stored_nowhere(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        let database = svc_data::Context::system(app.app()).unwrap().database().clone();
        let statement = database.statement("SELECT * FROM identity_sessions", []);
        let rows = format!("{:?}", database.rows(statement).await.unwrap());
        assert!(!rows.contains(&browser.cookie(SESSION).unwrap()));
    }

    async fn another_node_knows_the_session_and_its_end(backend) {
        let app = set_up(backend).await;
        let browser = Browser::signed_in(&app).await;
        let cookie = format!("{SESSION}={}", browser.cookie(SESSION).unwrap());
        let mut headers = http::HeaderMap::new();
        headers.insert("cookie", cookie.parse().unwrap());
        let session = sessions::of(app.app(), &headers).await.unwrap().unwrap();
        assert_eq!(session.amr(), ["pwd"]);
        let again = sessions::by_id(app.app(), session.id).await.unwrap().unwrap();
        assert_eq!(again, session);
        if backend == svc_testing::Backend::Postgres {
            let other = app.another_node().await;
            let there = sessions::of(other.app(), &headers).await.unwrap().unwrap();
            assert_eq!(there.id, session.id);
        }
        sessions::end(app.app(), session.user, session.id).await.unwrap();
        assert_eq!(sessions::by_id(app.app(), session.id).await.unwrap(), None);
    }

    async fn nobody_signs_in_by_an_address_that_was_not_printed(backend) {
        let app = set_up(backend).await;
        let browser = Browser::new(&app);
        for query in ["", "?code=", "?code=AAAA"] {
            let answer = browser.get(&format!("/account/first-start{query}")).await;
            assert_eq!(answer.status, 404, "{query}");
        }
        assert_eq!(browser.cookie(SESSION), None);
    }

    async fn an_address_that_is_not_known_as_its_own_is_told_so(backend) {
        let app = builder().start(backend).await;
        for path in ["/account/external/partner", "/account/external/partner/callback?state=a"] {
            let host = [("host", "shop.example.net"), ("accept-language", "en")];
            let answer = app.anonymous().send(Method::GET, path, &host, "").await;
            assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        }
    }

    async fn a_language_is_kept_once_it_is_chosen(backend) {
        let app = set_up(backend).await;
        let browser = Browser::new(&app).in_german();
        let page = browser.get("/account/sign-in?return=%2Fdocs").await.text;
        assert!(page.contains("Anmelden") && page.contains("lang=\"de\""), "{page}");
        let link = page.split("hreflang=\"en\" href=\"").nth(1).unwrap().split('"').next().unwrap();
        let answer = browser.get(&link.replace("&#38;", "&")).await;
        assert_eq!(answer.header("location"), "/account/sign-in?return=%2Fdocs");
        assert!(browser.get("/account/sign-in").await.text.contains("lang=\"en\""));
        let answer = browser.get("/account/language?language=xx&return=//evil.example").await;
        assert_eq!(answer.header("location"), "/");
    }
}
