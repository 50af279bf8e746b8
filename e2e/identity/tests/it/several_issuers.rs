//! Several issuers at once: a button for each, and each for itself.

use e2e_identity::{Browser, CLIENT_ID, House, ISSUER, Issuer, query_of};
use http::Method;
use serde_json::{Value, json};
use svc_testing::{Answer, Backend, on_both_databases};

/// What the sign-in page calls them.
const TITLES: [(&str, &str); 2] = [("corp", "The Corporation"), ("partner", "Partner & Sons")];

/// The house, and two issuers that it knows as `corp` and `partner`.
async fn open(backend: Backend) -> (House, [Issuer; 2]) {
    let issuers = [Issuer::start().await, Issuer::start().await];
    let mut settings = Vec::new();
    for (issuer, (name, title)) in issuers.iter().zip(TITLES) {
        settings.extend(issuer.settings(name));
        settings.push((format!("Svc:Auth:Issuers:{name}:Title"), title.to_owned()));
    }
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let house = House::open_with(backend, &settings).await;
    for issuer in &issuers {
        issuer.follow(house.node.clock());
    }
    (house, issuers)
}

/// Presses the button of an issuer: what comes back.
async fn press(browser: &mut Browser, name: &str) -> Answer {
    browser.get(&format!("/account/external/{name}?return=%2Forders")).await
}

/// What `issuer` sends a browser back to `name` with, where it calls itself `iss`.
fn back(name: &str, asked: &str, code: &str, iss: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("state", &query_of(asked)["state"])
        .append_pair("code", code)
        .append_pair("iss", iss)
        .finish();
    format!("/account/external/{name}/callback?{query}")
}

fn person(name: &str) -> Value {
    json!({ "sub": "7", "name": name, "email": format!("{name}@elsewhere.example") })
}

on_both_databases! {
    async fn each_button_leads_to_its_own_issuer(backend) {
        let (house, issuers) = open(backend).await;
        let mut browser = house.browser();
        let page = browser.get("/account/sign-in?return=%2Forders").await.text;
        for ((name, title), issuer) in TITLES.iter().zip(&issuers) {
            let button = format!(
                "<a class=\"button\" href=\"/account/external/{name}?return=%2Forders\">Sign in with {}</a>",
                title.replace('&', "&#38;"),
            );
            assert!(page.contains(&button), "{button}: {page}");
            let pressed = press(&mut browser, name).await;
            let asked = pressed.header("location");
            assert!(asked.starts_with(&format!("{}/authorize?", issuer.url)), "{asked}");
            let query = query_of(asked);
            assert_eq!(query["client_id"], CLIENT_ID);
            assert_eq!(query["redirect_uri"], format!("{ISSUER}/account/external/{name}/callback"));
            let code = issuer.code(asked, &person(name));
            let answer = browser.get(&back(name, asked, &code, &issuer.url)).await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/orders"));
            // The same subject at two issuers is two people.
            assert!(browser.get("/account").await.text.contains(&format!("{name}@elsewhere.example")));
        }
        assert_eq!(press(&mut browser, "nobody").await.status, 404);
    }

    async fn an_answer_of_one_issuer_counts_for_no_other(backend) {
        let (house, [corp, partner]) = open(backend).await;
        let mut browser = house.browser();
        // Each of them is asked, and answers; whoever mixes them up (RFC 9207, RFC 9700 section 4.4) gets
        // nobody in.
        for (code_of, at, iss) in [
            (&corp, "partner", &corp),
            (&corp, "partner", &partner),
            (&corp, "corp", &partner),
            (&partner, "corp", &partner),
        ] {
            let asked = press(&mut browser, "corp").await.header("location").to_owned();
            // The other one hands out a code for a request that wasn't made to it.
            let asked_there = asked.replace(&corp.url, &code_of.url);
            let code = code_of.code(&asked_there, &person("grace"));
            let answer = browser.get(&back(at, &asked, &code, &iss.url)).await;
            assert!([400, 403].contains(&answer.status.as_u16()), "{at}: {}", answer.text);
            assert_eq!(browser.cookie("__Host-svc-session"), None);
        }
        // A code of the other that says to be of the one that was asked: that one doesn't know it.
        let asked = press(&mut browser, "corp").await.header("location").to_owned();
        let code = partner.code(&asked.replace(&corp.url, &partner.url), &person("grace"));
        let answer = browser.get(&back("corp", &asked, &format!("{code}-x"), &corp.url)).await;
        assert_eq!(answer.status, 403, "{}", answer.text);
        assert_eq!(browser.cookie("__Host-svc-session"), None);
    }

    async fn an_issuer_that_is_down_is_named_and_stops_no_other(backend) {
        let (house, [corp, partner]) = open(backend).await;
        partner.break_down();
        let mut browser = house.browser();
        let answer = press(&mut browser, "partner").await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "60"));
        let said = "Partner &#38; Sons can’t be reached at the moment";
        assert!(answer.text.contains(said), "{}", answer.text);
        assert!(answer.text.contains("href=\"/account/sign-in?return=%2Forders\""), "{}", answer.text);
        assert!(!answer.text.contains(&partner.url), "addresses are for the log: {}", answer.text);
        let german = [("accept-language", "de"), ("sec-fetch-site", "none")];
        let path = "/account/external/partner";
        let answer = browser.send(Method::GET, path, &german, "").await;
        assert!(answer.text.contains("Partner &#38; Sons ist im Augenblick nicht erreichbar"), "{}", answer.text);

        let asked = press(&mut browser, "corp").await.header("location").to_owned();
        let code = corp.code(&asked, &person("grace"));
        let address = back("corp", &asked, &code, &corp.url);
        // It goes down while its person is there: the sign-in is over, and begun anew later.
        let mut other = browser.clone();
        corp.break_down();
        let answer = other.get(&address).await;
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert!(answer.text.contains("The Corporation can’t be reached"), "{}", answer.text);
        assert_eq!(other.get(&address).await.status, 400);
        assert_eq!(other.cookie("__Host-svc-session"), None);
        // The page for signing in asks nobody, and the password does.
        let page = browser.get("/account/sign-in").await;
        assert!(page.text.contains("Sign in with The Corporation"));
        let (mut ada, _) = house.browser_of(house.ada).await;
        assert_eq!(ada.get("/account").await.status, 200);
    }
}
