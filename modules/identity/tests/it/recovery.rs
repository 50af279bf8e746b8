//! Coming in by a recovery code, for who has passkeys alone.

use svc_testing::{Answer, on_both_databases};

use crate::browser::Browser;
use crate::passkeys::{Key, SESSION, add, codes, sign_in};
use crate::second_factor::assert_kept_as_it_is;
use crate::ways_in::{ISSUER, World, remove, unlink};

/// Sends a code that comes alone.
async fn recover(browser: &Browser, code: &str) -> Answer {
    browser.fill("/account/recovery", "/account/recovery", &[("code", code)]).await
}

async fn assert_refused(world: &World, code: &str) {
    let browser = Browser::new(&world.app);
    let answer = recover(&browser, code).await;
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert_eq!(browser.cookie(SESSION), None);
}

on_both_databases! {
    async fn who_has_lost_the_only_passkey_comes_in_by_a_code(backend) {
        let world = World::open(backend).await;
        let mut lost = Key::new(b"lost");
        let codes = codes(&add(&Browser::signed_in(&world.app).await, &mut lost, "Lost").await.text);
        let browser = Browser::new(&world.app);
        assert!(browser.get("/account/sign-in").await.text.contains("\"/account/recovery\""));
        // A code is a second step to who has a first one, and not used up by trying.
        assert_refused(&world, &codes[0]).await;
        world.forget_password().await;
        world.link(ISSUER, "a").await;
        assert_refused(&world, &codes[0]).await;
        world.execute("DELETE FROM identity_external_accounts", []).await;
        for other in ["", "aaaa-aaaa-aaaa-aaaa", &codes[0][..18]] {
            assert_refused(&world, other).await;
        }
        world.execute("UPDATE identity_users SET disabled_at = CURRENT_TIMESTAMP", []).await;
        assert_refused(&world, &codes[0]).await;
        world.execute("UPDATE identity_users SET disabled_at = NULL", []).await;

        let answer = recover(&browser, &codes[0].to_uppercase().replace('-', " ")).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/account/passkeys"));
        let page = browser.get("/account/passkeys").await.text;
        assert!(page.contains("You have 9 recovery codes left"), "{page}");
        assert_refused(&world, &codes[0]).await;
        // A further key, and the lost one opens nothing any more.
        let mut new = Key::new(b"new");
        assert_eq!(add(&browser, &mut new, "New").await.status, 200);
        assert_eq!(remove(&browser, world.keys().await[0]).await, 200);
        assert_eq!(sign_in(&world.app, &lost).await.1.status, 422);
        assert_eq!(sign_in(&world.app, &new).await.1.status, 303);
        assert_eq!(remove(&browser, world.keys().await[0]).await, 422, "the only way in");
    }

    async fn codes_are_made_anew_by_who_has_a_passkey(backend) {
        let world = World::open(backend).await;
        let ada = Browser::signed_in(&world.app).await;
        let page = "/account/passkeys";
        let renew = async |current: &str| {
            ada.fill(page, "/account/passkeys/codes", &[("renewing", current)]).await
        };
        let password = crate::browser::PASSWORD;
        assert_eq!(renew(password).await.header("location"), page, "nothing asks for codes");
        assert_eq!(world.count("identity_recovery_codes").await, 0);
        let added = add(&ada, &mut Key::new(b"key"), "Key").await;
        assert_kept_as_it_is(&added);
        let old = codes(&added.text);
        assert_eq!(renew("not my password").await.status, 422, "an open browser isn't enough");
        let renewed = renew(password).await;
        assert_kept_as_it_is(&renewed);
        let new = codes(&renewed.text);
        assert_eq!((new.len(), world.count("identity_recovery_codes").await), (10, 10));
        world.forget_password().await;
        assert_refused(&world, &old[0]).await;
        assert_eq!(recover(&Browser::new(&world.app), &new[0]).await.status, 303);
    }

    async fn a_code_that_comes_twice_at_once_counts_once(backend) {
        let world = World::open(backend).await;
        let ada = Browser::signed_in(&world.app).await;
        let codes = codes(&add(&ada, &mut Key::new(b"key"), "Key").await.text);
        world.forget_password().await;
        for code in &codes[..5] {
            let (one, other) = (Browser::new(&world.app), Browser::new(&world.app));
            let (here, there) = tokio::join!(recover(&one, code), recover(&other, code));
            let statuses = (here.status.as_u16(), there.status.as_u16());
            assert!(matches!(statuses, (303, 422) | (422, 303)), "{statuses:?}");
        }
        // An account that is linked at the moment in which a code comes: either was first, and no code is
        // lost by it.
        let left = world.count("identity_recovery_codes").await;
        let browser = Browser::new(&world.app);
        let (answer, ()) = tokio::join!(recover(&browser, &codes[5]), world.link(ISSUER, "a"));
        let used = i64::from(answer.status == 303);
        assert_eq!(world.count("identity_recovery_codes").await, left - used);
        assert_eq!(unlink(&ada, ISSUER, "a").await, 303);
    }

    async fn who_guesses_codes_waits(backend) {
        let world = World::open_with(backend, &[("Svc:Auth:ClientAddressHeader", "X-Forwarded-For")]).await;
        let codes = codes(&add(&Browser::signed_in(&world.app).await, &mut Key::new(b"key"), "Key").await.text);
        world.forget_password().await;
        let guesser = Browser::new(&world.app).at("192.0.2.1");
        for number in 0..60 {
            assert_eq!(recover(&guesser, &format!("{number}")).await.status, 422, "{number}");
        }
        let waits = recover(&guesser, &codes[0]).await;
        assert_eq!(waits.status, 429, "{}", waits.text);
        assert_ne!(waits.header("retry-after"), "");
        // Nobody else does.
        assert_eq!(recover(&Browser::new(&world.app).at("192.0.2.2"), &codes[0]).await.status, 303);
    }
}
