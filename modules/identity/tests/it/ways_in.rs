//! The last way into an account stays, whatever is taken off at the same moment.

use serde_json::Value as Json;
use svc_data::Context;
use svc_database::column;
use svc_testing::{Answer, Backend, TestApp, on_both_databases};
use uuid::Uuid;

use crate::browser::{Browser, hidden, set_up_with};
use crate::passkeys::{Asked, Key, ORIGIN, PRESENT, add, prepare, sign_in};

/// How often a race is run: each time, another may come first.
const ROUNDS: u8 = 8;

/// An application that knows an issuer, and a person in it.
pub(crate) struct World {
    pub(crate) app: TestApp,
    ada: Uuid,
}

impl World {
    pub(crate) async fn open(backend: Backend) -> Self {
        Self::open_with(backend, &[]).await
    }

    pub(crate) async fn open_with(backend: Backend, more: &[(&str, &str)]) -> Self {
        let mut settings = vec![
            ("Svc:Http:PublicUrl", ORIGIN),
            ("Svc:Auth:Authority", ISSUER),
            ("Svc:Auth:ClientId", "library"),
        ];
        settings.extend(more);
        let app = set_up_with(backend, &settings).await;
        let ada = one(&app, "SELECT id FROM identity_users").await;
        Self { app, ada }
    }

    pub(crate) async fn execute(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = sea_orm::Value>,
    ) {
        let ctx = Context::system(self.app.app()).unwrap();
        let statement = ctx.database().statement(sql, values);
        ctx.database().execute(statement).await.unwrap();
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        one(&self.app, &format!("SELECT COUNT(*) FROM {table}")).await
    }

    /// Two browsers in which the person is signed in, who has no password any more.
    async fn without_password(&self) -> [Browser; 2] {
        let browsers = [Browser::signed_in(&self.app).await, Browser::signed_in(&self.app).await];
        self.forget_password().await;
        browsers
    }

    pub(crate) async fn forget_password(&self) {
        self.execute("DELETE FROM identity_passwords", []).await;
    }

    /// Links an account of the person at an issuer.
    pub(crate) async fn link(&self, issuer: &str, subject: &str) {
        let sql = "INSERT INTO identity_external_accounts (issuer, subject, user_id, created_at) \
                   VALUES (?, ?, ?, CURRENT_TIMESTAMP)";
        self.execute(sql, [issuer.into(), subject.into(), self.ada.into()]).await;
    }

    /// Gives the person a passkey, older than those that the application adds, which nobody has.
    async fn make_key(&self, number: u8) {
        let sql = "INSERT INTO identity_passkeys \
                   (id, user_id, credential_id, algorithm, public_key, sign_count, verifies, name, \
                   created_at) VALUES (?, ?, ?, -7, ?, 0, TRUE, 'Old', CURRENT_TIMESTAMP)";
        let (id, name) = (Uuid::from_u128(number.into()), vec![number]);
        self.execute(sql, [id.into(), self.ada.into(), name.clone().into(), name.into()]).await;
    }

    /// The ids of the person's passkeys, the oldest first.
    pub(crate) async fn keys(&self) -> Vec<Uuid> {
        let ctx = Context::system(self.app.app()).unwrap();
        let statement =
            ctx.database().statement("SELECT id FROM identity_passkeys ORDER BY id", []);
        let rows = ctx.database().rows(statement).await.unwrap();
        rows.iter().map(|row| column(row, 0).unwrap()).collect()
    }
}

async fn one<T: sea_orm::TryGetable>(app: &TestApp, sql: &str) -> T {
    let ctx = Context::system(app.app()).unwrap();
    let rows = ctx.database().rows(ctx.database().statement(sql, [])).await.unwrap();
    column(&rows[0], 0).unwrap()
}

pub(crate) const ISSUER: &str = "https://login.example";
const ACCOUNTS: &str = "/account/accounts";
const PASSKEYS: &str = "/account/passkeys";

/// The form of a page that a browser has open: what is sent from it comes without any delay.
struct OpenForm<'a> {
    browser: &'a Browser,
    page: &'static str,
    token: String,
}

impl<'a> OpenForm<'a> {
    async fn of(browser: &'a Browser, page: &'static str) -> Self {
        let token = hidden(&browser.get(page).await.text, "form");
        Self { browser, page, token }
    }

    async fn send(&self, name: &str, value: &str) -> u16 {
        let fields = [("form", self.token.as_str()), (name, value)];
        self.browser.post(self.page, &fields, "same-origin").await.status.as_u16()
    }
}

pub(crate) async fn unlink(browser: &Browser, issuer: &str, subject: &str) -> u16 {
    let form = OpenForm::of(browser, ACCOUNTS).await;
    form.send("unlink", &format!("{issuer} {subject}")).await
}

pub(crate) async fn remove(browser: &Browser, key: Uuid) -> u16 {
    OpenForm::of(browser, PASSKEYS).await.send("remove", &key.to_string()).await
}

async fn answer(browser: &Browser, asked: &Asked, made: &Json) -> Answer {
    asked.answer(browser, "/account/passkeys/add", made).await
}

on_both_databases! {
    async fn of_two_accounts_that_are_taken_off_at_once_one_stays(backend) {
        let world = World::open(backend).await;
        let [one, other] = world.without_password().await;
        for _ in 0..ROUNDS {
            world.execute("DELETE FROM identity_external_accounts", []).await;
            world.link(ISSUER, "a").await;
            world.link(ISSUER, "b").await;
            let forms = [OpenForm::of(&one, ACCOUNTS).await, OpenForm::of(&other, ACCOUNTS).await];
            let [a, b] = ["a", "b"].map(|subject| format!("{ISSUER} {subject}"));
            let (one, other) =
                tokio::join!(forms[0].send("unlink", &a), forms[1].send("unlink", &b));
            assert_eq!([one.min(other), one.max(other)], [303, 422]);
            assert_eq!(world.count("identity_external_accounts").await, 1);
        }
    }

    async fn of_an_account_and_a_passkey_that_go_at_once_one_stays(backend) {
        let world = World::open(backend).await;
        let [one, other] = world.without_password().await;
        for round in 0..ROUNDS {
            world.execute("DELETE FROM identity_external_accounts", []).await;
            world.link(ISSUER, "a").await;
            for key in world.keys().await {
                assert_eq!(remove(&one, key).await, 200);
            }
            assert_eq!(add(&one, &mut Key::new(&[round, 7]), "Key").await.status, 200);
            let key = world.keys().await[0].to_string();
            let forms = [OpenForm::of(&one, ACCOUNTS).await, OpenForm::of(&other, PASSKEYS).await];
            let account = format!("{ISSUER} a");
            let (unlinked, removed) =
                tokio::join!(forms[0].send("unlink", &account), forms[1].send("remove", &key));
            let left = (world.count("identity_external_accounts").await, world.keys().await.len());
            match (unlinked, removed) {
                (303, 422) => assert_eq!(left, (0, 1)),
                (422, 200) => assert_eq!(left, (1, 0)),
                outcome => panic!("{outcome:?}: {left:?}"),
            }
        }
    }

    async fn of_two_passkeys_that_are_removed_at_once_one_stays(backend) {
        let world = World::open(backend).await;
        let [one, other] = world.without_password().await;
        add(&one, &mut Key::new(b"first"), "Key").await;
        for round in 0..ROUNDS {
            add(&one, &mut Key::new(&[round, 8]), "Key").await;
            let keys = world.keys().await;
            let [first, second] = [keys[0].to_string(), keys[1].to_string()];
            let forms = [OpenForm::of(&one, PASSKEYS).await, OpenForm::of(&other, PASSKEYS).await];
            let (one, other) =
                tokio::join!(forms[0].send("remove", &first), forms[1].send("remove", &second));
            assert_eq!([one.min(other), one.max(other)], [200, 422]);
            assert_eq!(world.keys().await.len(), 1);
        }
    }

    async fn of_two_keys_at_the_limit_one_is_added(backend) {
        let world = World::open(backend).await;
        let [one, other] = world.without_password().await;
        for number in 0..19_u8 {
            world.make_key(number).await;
        }
        for round in 0..ROUNDS {
            let (mut first, mut second) = (Key::new(&[round, 2]), Key::new(&[round, 3]));
            let asked = [prepare(&one, "One").await, prepare(&other, "Other").await];
            let made = [first.make(&asked[0].options), second.make(&asked[1].options)];
            let (here, there) = tokio::join!(
                answer(&one, &asked[0], &made[0]),
                answer(&other, &asked[1], &made[1]),
            );
            let statuses = (here.status.as_u16(), there.status.as_u16());
            assert!(matches!(statuses, (200, 422) | (422, 200)), "{statuses:?}");
            let keys = world.keys().await;
            assert_eq!(keys.len(), 20);
            assert_eq!(remove(&one, keys[19]).await, 200);
        }
    }

    async fn two_first_keys_bring_recovery_codes_once(backend) {
        for _ in 0..4 {
            let world = World::open(backend).await;
            let [one, other] = world.without_password().await;
            let (mut first, mut second) = (Key::new(b"one"), Key::new(b"two"));
            let asked = [prepare(&one, "One").await, prepare(&other, "Other").await];
            let made = [first.make(&asked[0].options), second.make(&asked[1].options)];
            let (here, there) = tokio::join!(
                answer(&one, &asked[0], &made[0]),
                answer(&other, &asked[1], &made[1]),
            );
            assert_eq!((here.status.as_u16(), there.status.as_u16()), (200, 200));
            let shows = |page: &Answer| page.text.contains("class=\"codes\"");
            assert!(shows(&here) != shows(&there), "one of them shows the codes");
            assert_eq!(world.count("identity_recovery_codes").await, 10);
        }
    }

    async fn what_opens_nothing_is_no_way_in(backend) {
        let world = World::open(backend).await;
        let [ada, _] = world.without_password().await;
        // A key that doesn't check who touches it, and an account of an issuer that the settings don't name.
        let mut key = Key::new(b"key");
        key.flags = PRESENT;
        add(&ada, &mut key, "Key").await;
        world.link(ISSUER, "a").await;
        world.link("https://gone.example", "a").await;
        assert_eq!(unlink(&ada, ISSUER, "a").await, 422, "the only way in");
        assert_eq!(unlink(&ada, "https://gone.example", "a").await, 303);
        assert_eq!(unlink(&ada, "https://gone.example", "a").await, 422, "once");
        // Once it does check, it is one, and stays.
        key.flags = PRESENT | crate::passkeys::VERIFIED;
        assert_eq!(sign_in(&world.app, &key).await.1.status, 303);
        assert_eq!(unlink(&ada, ISSUER, "a").await, 303);
        let kept = world.keys().await[0];
        let refused = ada.fill(PASSKEYS, PASSKEYS, &[("remove", &kept.to_string())]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.text.contains("Nothing else would let you in"), "{}", refused.text);
        assert_eq!(sign_in(&world.app, &key).await.1.status, 303);
    }
}
