//! Where members are signed in, as whoever manages people sees and ends it.

use http::Method;
use serde_json::{Value as Json, json};
use svc_core::{OrganisationId, UserId};
use svc_data::Context;
use svc_identity::users::{self, NewUser};
use svc_identity::{RoleId, api_keys, organisations, roles, sessions};
use svc_testing::{Backend, Client, TestApp, on_both_databases};

use crate::browser::{Browser, EMAIL, PASSWORD, set_up_with};
use crate::support::{SETUP_KEY, names};

const GRACE: &str = "grace@example.com";
const SESSION: &str = "__Host-svc-session";

/// An organisation with Ada, who administers it, and Grace.
struct Office {
    app: TestApp,
    /// Calls by Ada's key.
    ada: Client,
    organisation: OrganisationId,
    grace: UserId,
}

impl Office {
    async fn open(backend: Backend) -> Self {
        let app = set_up_with(backend, &[("Svc:Setup:ApiKey", SETUP_KEY)]).await;
        let ada = app.anonymous().with_credential(&format!("Bearer {SETUP_KEY}"));
        let me = ada.get("/api/v1/identity/me").await.expect(200);
        let organisation = serde_json::from_value(me["organisation"]["id"].clone()).unwrap();
        let new = NewUser {
            email: GRACE.to_owned(),
            display_name: "Grace".to_owned(),
            password: Some(PASSWORD.to_owned().into()),
            ..NewUser::default()
        };
        let within = Context::system_in(app.app(), organisation).unwrap();
        let grace = users::create(&within, new).await.unwrap();
        Self { app, ada, organisation, grace }
    }

    fn within(&self, organisation: OrganisationId) -> Context {
        Context::system_in(self.app.app(), organisation).unwrap()
    }

    async fn browser_of(&self, email: &str) -> Browser {
        let browser = Browser::new(&self.app);
        assert_eq!(browser.sign_in(email, PASSWORD).await.status, 303);
        browser
    }

    /// Another organisation, to which Grace belongs, too.
    async fn other(&self) -> OrganisationId {
        let system = Context::system(self.app.app()).unwrap();
        let other = organisations::create(&system, "Other Ltd").await.unwrap();
        users::add_member(&self.within(other), self.grace, [].into()).await.unwrap();
        other
    }

    /// Calls by the key of somebody new with a role.
    async fn caller(&self, organisation: OrganisationId, role: RoleId) -> Client {
        let new = NewUser {
            email: "mia@example.com".to_owned(),
            display_name: "Mia".to_owned(),
            roles: [role].into(),
            ..NewUser::default()
        };
        let within = self.within(organisation);
        let user = users::create(&within, new).await.unwrap();
        let key = api_keys::NewApiKey { name: "Test".to_owned(), ..Default::default() };
        let (_, key) = api_keys::create(&within, user, key).await.unwrap();
        self.app.anonymous().with_credential(&format!("Bearer {}", key.expose()))
    }

    async fn ada_id(&self) -> UserId {
        let me = self.ada.get("/api/v1/identity/me").await.expect(200);
        UserId(serde_json::from_value(me["user"]["id"].clone()).unwrap())
    }
}

fn path(user: UserId) -> String {
    format!("/api/v1/identity/users/{user}/sessions")
}

/// The sessions of somebody, as the caller sees them.
async fn listed(caller: &Client, user: UserId) -> Vec<Json> {
    caller.get(&path(user)).await.expect(200)["items"].as_array().unwrap().clone()
}

async fn is_in(browser: &Browser) -> bool {
    browser.get("/account").await.status == 200
}

on_both_databases! {
    async fn whoever_manages_people_sees_where_they_are_signed_in_and_ends_it(backend) {
        let office = Office::open(backend).await;
        let Office { ada, grace, .. } = &office;
        assert_eq!(listed(ada, *grace).await, Vec::<Json>::new());
        let own = office.browser_of(EMAIL).await;
        let (first, second) = (office.browser_of(GRACE).await, office.browser_of(GRACE).await);
        let found = listed(ada, *grace).await;
        assert_eq!(found.len(), 2, "{found:?}");
        for (name, expected) in [
            ("browser", json!("Firefox")),
            ("system", json!("Linux")),
            ("methods", json!(["password"])),
            ("programs", json!([])),
            ("isProgram", json!(false)),
            ("isCurrent", json!(false)),
        ] {
            assert_eq!(found[0][name], expected, "{name}");
        }
        assert!(found[0]["createdAt"].is_string() && found[0]["lastUsedAt"].is_string());

        // The youngest comes first.
        let one = format!("{}/{}", path(*grace), found[0]["id"].as_str().unwrap());
        assert_eq!(ada.delete(&one).await.status, 204);
        assert!(is_in(&first).await && !is_in(&second).await);
        assert_eq!(ada.delete(&one).await.status, 404);
        assert_eq!(listed(ada, *grace).await[0]["id"], found[1]["id"]);
        assert_eq!(ada.delete(&path(*grace)).await.status, 204);
        assert!(!is_in(&first).await && is_in(&own).await);
        assert_eq!(listed(ada, *grace).await, Vec::<Json>::new());
        // There is nothing left to end, and the person comes in again.
        assert_eq!(ada.delete(&path(*grace)).await.status, 204);
        office.browser_of(GRACE).await;
    }

    async fn the_browser_that_asks_stays_signed_in(backend) {
        let office = Office::open(backend).await;
        let ada = office.ada_id().await;
        let (here, there) = (office.browser_of(EMAIL).await, office.browser_of(EMAIL).await);
        let cookie = format!("{SESSION}={}", here.cookie(SESSION).unwrap());
        let headers = [("cookie", cookie.as_str())];
        let found = office.ada.send(Method::GET, &path(ada), &headers, "").await.expect(200);
        let current: Vec<_> = [0, 1].map(|at| found["items"][at]["isCurrent"].clone()).into();
        assert_eq!(current, [json!(false), json!(true)]);
        let answer = office.ada.send(Method::DELETE, &path(ada), &headers, "").await;
        assert_eq!(answer.status, 204);
        assert!(is_in(&here).await && !is_in(&there).await);
    }

    async fn what_a_person_does_in_another_organisation_shows_nowhere(backend) {
        let office = Office::open(backend).await;
        let Office { app, ada, organisation, grace } = &office;
        let (here, there) = (office.browser_of(GRACE).await, office.browser_of(GRACE).await);
        let other = office.other().await;
        let session = sessions::list(app.app(), *grace).await.unwrap().remove(0);
        sessions::choose(app.app(), &session, other).await.unwrap();

        let found = listed(ada, *grace).await;
        assert_eq!(found.len(), 1);
        assert_ne!(found[0]["id"], json!(session.id));
        let foreign = format!("{}/{}", path(*grace), session.id);
        assert_eq!(ada.delete(&foreign).await.status, 404);
        // Nor does the other one's administrator end what is here.
        let role = roles::administrator(&office.within(other)).await.unwrap();
        let mia = office.caller(other, role).await;
        assert_eq!(listed(&mia, *grace).await[0]["id"], json!(session.id));
        let foreign = format!("{}/{}", path(*grace), found[0]["id"].as_str().unwrap());
        assert_eq!(mia.delete(&foreign).await.status, 404);
        let administrator = office.ada_id().await;
        for address in [path(administrator), format!("{}/{}", path(administrator), session.id)] {
            assert_eq!(mia.delete(&address).await.status, 404, "{address}");
        }
        assert!(is_in(&here).await && is_in(&there).await);

        assert_eq!(ada.delete(&path(*grace)).await.status, 204);
        let left = sessions::list(app.app(), *grace).await.unwrap();
        assert_eq!(left.iter().map(|one| one.id).collect::<Vec<_>>(), [session.id]);
        // Who leaves an organisation shows there no more.
        users::remove(&office.within(*organisation), *grace).await.unwrap();
        assert_eq!(ada.get(&path(*grace)).await.status, 404);
    }

    async fn nobody_signs_out_who_may_more(backend) {
        let office = Office::open(backend).await;
        let ada = office.ada_id().await;
        let own = office.browser_of(EMAIL).await;
        let manager = roles::NewRole {
            name: "Managers".to_owned(),
            permissions: names(&["Identity.Manage"]),
            ..roles::NewRole::default()
        };
        let within = office.within(office.organisation);
        let manager = roles::create(&within, manager).await.unwrap();
        let mia = office.caller(office.organisation, manager).await;
        let found = listed(&mia, ada).await;
        let one = format!("{}/{}", path(ada), found[0]["id"].as_str().unwrap());
        for address in [path(ada), one] {
            assert_eq!(mia.delete(&address).await.status, 403, "{address}");
        }
        assert!(is_in(&own).await);
        office.browser_of(GRACE).await;
        assert_eq!(mia.delete(&path(office.grace)).await.status, 204);
        assert_eq!(listed(&mia, office.grace).await, Vec::<Json>::new());
    }
}
