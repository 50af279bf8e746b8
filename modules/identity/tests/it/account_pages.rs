//! Every account page as those see it who aren't signed in, and every form without its secret. Which pages there
//! are is read where they are mounted, so that none is left out.

use std::collections::BTreeMap;

use svc_testing::on_both_databases;

use crate::browser::{Browser, set_up, set_up_with};

/// The pages that are for whoever isn't signed in, and why; all others lead to signing in.
const PUBLIC: [(&str, &str); 15] = [
    ("/set-up", "nobody can sign in to an empty system"),
    ("/sign-in", "it is where people sign in"),
    ("/external/{name}", "it is where people sign in with accounts elsewhere"),
    ("/external/{name}/callback", "the issuer's answer says who it is"),
    ("/external/{name}/signed-out", "who comes back from there has signed out"),
    ("/address", "its code is looked at first"),
    ("/sign-out", "it says so to who has signed out"),
    ("/second-factor", "it is half of signing in"),
    ("/recovery", "it is where who has lost the passkey signs in"),
    ("/forgotten", "who has forgotten the password can't sign in"),
    ("/reset", "the code says who it is"),
    ("/invitation", "the code says who it is"),
    ("/first-start", "the code says who it is"),
    ("/language", "it is chosen on every page"),
    ("/{file}", "the style sheet belongs to every page"),
];

/// The addresses below `/account` and their methods, as the module mounts them.
pub(crate) fn mounted() -> BTreeMap<&'static str, Vec<&'static str>> {
    let source = include_str!("../../src/pages.rs");
    let (_, routes) = source.split_once("Router::new()").unwrap();
    let (routes, _) = routes.split_once("\n}").unwrap();
    let calls = routes.split("\n        .").map(str::trim).filter(|call| !call.is_empty());
    let mut mounted = BTreeMap::new();
    for call in calls.filter(|call| !call.starts_with("layer(DefaultBodyLimit")) {
        let route = call.strip_prefix("route(\"").and_then(|rest| rest.split_once("\", "));
        let (path, handlers) = route.unwrap_or_else(|| panic!("`{call}` isn't read here"));
        let methods = handlers.split(['(', ')', '.', ',']).map(str::trim);
        let methods = methods.filter(|word| !word.is_empty() && !word.contains("::"));
        let methods = methods.collect::<Vec<_>>();
        assert!(methods.iter().all(|it| ["get", "post"].contains(it)), "`{call}` isn't tried here");
        mounted.insert(path, methods);
    }
    mounted
}

/// An address with something in the place of a name.
pub(crate) fn filled(path: &str) -> String {
    let path = path.replace("{name}", "corp").replace("{file}", "style-0.css");
    format!("/account{}", path.trim_end_matches('/'))
}

on_both_databases! {
    async fn a_page_is_for_who_is_signed_in_or_says_why_not(backend) {
        let public_url = [("Svc:Http:PublicUrl", "https://shop.example")];
        let app = set_up_with(backend, &public_url).await;
        let mounted = mounted();
        for (path, reason) in PUBLIC {
            assert!(mounted.contains_key(path) && !reason.is_empty(), "there is no `{path}`");
        }
        let pages = mounted.iter().filter(|(_, methods)| methods.contains(&"get"));
        for (path, _) in pages {
            let answer = Browser::new(&app).get(&filled(path)).await;
            let leads = answer.header("location").starts_with("/account/sign-in");
            let is_public = PUBLIC.iter().any(|(public, _)| public == path);
            assert_eq!(leads, !is_public, "{path}: {} {}", answer.status, answer.text);
            assert!(!answer.status.is_server_error(), "{path}: {}", answer.text);
        }
    }

    async fn a_form_without_its_secret_is_refused_at_every_address(backend) {
        let app = set_up(backend).await;
        let mounted = mounted();
        let forms = mounted.iter().filter(|(_, methods)| methods.contains(&"post"));
        let forms = forms.map(|(path, _)| filled(path)).collect::<Vec<_>>();
        assert!(forms.len() > 20, "{forms:?}");
        let guest = Browser::new(&app);
        guest.get("/account/sign-in").await;
        for browser in [guest, Browser::new(&app), Browser::signed_in(&app).await] {
            for form in &forms {
                for fields in [&[][..], &[("form", "")], &[("form", "AAAA")]] {
                    let answer = browser.post(form, fields, "same-origin").await;
                    assert_eq!(answer.status, 403, "{form} {fields:?}: {}", answer.text);
                }
            }
        }
    }
}
