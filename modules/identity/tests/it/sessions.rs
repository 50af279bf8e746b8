//! Sessions, as other modules and the pages begin, use and end them.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use svc_core::{ErrorKind, OrganisationId, UserId};
use svc_data::Context;
use svc_database::column;
use svc_identity::sessions::{self, Browser, Method, NewSession, Session};
use svc_identity::users::{self, UserChange};
use svc_identity::{organisations, roles};
use svc_testing::{TestApp, on_both_databases};

use crate::browser::set_up;

/// The first person, and where that one belongs.
async fn ada(app: &TestApp) -> (UserId, OrganisationId) {
    let database = Context::system(app.app()).unwrap().database().clone();
    let sql = "SELECT user_id, organisation_id FROM identity_memberships ORDER BY id";
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    (UserId(column(&rows[0], 0).unwrap()), OrganisationId(column(&rows[0], 1).unwrap()))
}

async fn count(app: &TestApp) -> usize {
    let database = Context::system(app.app()).unwrap().database().clone();
    let statement = database.statement("SELECT 1 FROM identity_sessions", []);
    database.rows(statement).await.unwrap().len()
}

fn new(user: UserId, organisation: OrganisationId, headers: &HeaderMap) -> NewSession<'_> {
    let browser = Browser { headers, address: None };
    NewSession { user, organisation, methods: vec![Method::Password], browser }
}

/// Begins a session in a browser of its own, whose headers it answers with.
async fn begin(app: &TestApp, user: UserId, organisation: OrganisationId) -> (Session, HeaderMap) {
    let none = HeaderMap::new();
    let new = new(user, organisation, &none);
    let (session, cookie) = sessions::begin(app.app(), new).await.unwrap();
    let (_, cookie) = cookie.header();
    let pair = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
    let headers = [(http::header::COOKIE, HeaderValue::try_from(pair).unwrap())];
    (session, headers.into_iter().collect())
}

async fn is_in(app: &TestApp, headers: &HeaderMap) -> bool {
    sessions::of(app.app(), headers).await.unwrap().is_some()
}

on_both_databases! {
    async fn a_51st_session_ends_the_one_that_was_not_used_for_longest(backend) {
        let app = set_up(backend).await;
        let (user, organisation) = ada(&app).await;
        let mut begun = Vec::new();
        for _ in 0..50 {
            begun.push(begin(&app, user, organisation).await);
        }
        for (session, headers) in &begun {
            assert!(is_in(&app, headers).await, "{session:?}");
        }
        // The oldest of them is in use.
        app.advance(Duration::from_mins(2));
        assert!(is_in(&app, &begun[0].1).await);
        app.drain().await;
        let (_, further) = begin(&app, user, organisation).await;
        assert_eq!(count(&app).await, 50);
        assert_eq!(sessions::list(app.app(), user).await.unwrap().len(), 50);
        assert!(is_in(&app, &further).await && is_in(&app, &begun[0].1).await);
        assert!(!is_in(&app, &begun[1].1).await);
        assert_eq!(sessions::by_id(app.app(), begun[1].0.id).await.unwrap(), None);
        assert!(is_in(&app, &begun[2].1).await);
        // Those of somebody else take nobody's place.
        let within = Context::system_in(app.app(), organisation).unwrap();
        let role = roles::administrator(&within).await.unwrap();
        let grace = users::NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            roles: [role].into(),
            ..users::NewUser::default()
        };
        let grace = users::create(&within, grace).await.unwrap();
        begin(&app, grace, organisation).await;
        assert_eq!(count(&app).await, 51);
    }

    async fn a_session_is_of_a_member_who_is_not_disabled_or_none(backend) {
        let app = set_up(backend).await;
        let (user, organisation) = ada(&app).await;
        let other = organisations::create(&Context::system(app.app()).unwrap(), "Other Ltd").await.unwrap();
        let none = HeaderMap::new();
        let nobody = UserId(app.clock().new_id());
        let nowhere = OrganisationId(app.clock().new_id());
        for (user, organisation) in [(user, other), (user, nowhere), (nobody, organisation)] {
            let refused = sessions::begin(app.app(), new(user, organisation, &none)).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused:?}");
        }
        assert_eq!(count(&app).await, 0);
        // Nobody goes on where they don't belong.
        let (session, headers) = begin(&app, user, organisation).await;
        for foreign in [other, nowhere] {
            let refused = sessions::choose(app.app(), &session, foreign).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::NotFound);
        }
        let kept = sessions::of(app.app(), &headers).await.unwrap().unwrap();
        assert_eq!(kept.organisation, organisation);
        // Who becomes a member there may, and who leaves takes the session along.
        let there = Context::system_in(app.app(), other).unwrap();
        let role = roles::administrator(&there).await.unwrap();
        users::add_member(&there, user, [role].into()).await.unwrap();
        sessions::choose(app.app(), &session, other).await.unwrap();
        let kept = sessions::of(app.app(), &headers).await.unwrap().unwrap();
        assert_eq!((kept.id, kept.organisation), (session.id, other));
    }

    async fn a_disabled_person_has_no_session_and_gets_none(backend) {
        let app = set_up(backend).await;
        let (ada, organisation) = ada(&app).await;
        let within = Context::system_in(app.app(), organisation).unwrap();
        let new_user = users::NewUser {
            email: "grace@example.com".to_owned(),
            display_name: "Grace".to_owned(),
            ..users::NewUser::default()
        };
        let grace = users::create(&within, new_user).await.unwrap();
        let (session, headers) = begin(&app, grace, organisation).await;
        let (_, of_ada) = begin(&app, ada, organisation).await;
        let disabled = |disabled| UserChange { disabled: Some(disabled), ..UserChange::default() };
        users::change(&within, grace, disabled(true)).await.unwrap();
        assert!(!is_in(&app, &headers).await);
        assert_eq!(sessions::by_id(app.app(), session.id).await.unwrap(), None);
        let none = HeaderMap::new();
        let refused = sessions::begin(app.app(), new(grace, organisation, &none)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        // Once enabled, the person signs in anew: nothing comes back.
        users::change(&within, grace, disabled(false)).await.unwrap();
        assert!(!is_in(&app, &headers).await);
        assert!(is_in(&app, &of_ada).await);
        begin(&app, grace, organisation).await;
    }

    async fn what_was_used_and_has_ended_stays_ended(backend) {
        let app = set_up(backend).await;
        let (user, organisation) = ada(&app).await;
        let (session, headers) = begin(&app, user, organisation).await;
        app.advance(Duration::from_mins(5));
        // Its use is noted in memory, and stored later than its end.
        assert!(is_in(&app, &headers).await);
        sessions::end(app.app(), user, session.id).await.unwrap();
        assert!(!is_in(&app, &headers).await);
        app.drain().await;
        assert_eq!(count(&app).await, 0);
        assert_eq!(sessions::by_id(app.app(), session.id).await.unwrap(), None);
        // To end it once more, or as somebody else, changes nothing.
        sessions::end(app.app(), user, session.id).await.unwrap();
        let (session, headers) = begin(&app, user, organisation).await;
        sessions::end(app.app(), UserId(app.clock().new_id()), session.id).await.unwrap();
        assert!(is_in(&app, &headers).await);
    }

    async fn what_a_browser_brings_along_is_kept_within_bounds(backend) {
        let app = set_up(backend).await;
        let (user, organisation) = ada(&app).await;
        let long = "Mozilla/5.0 ".repeat(100);
        let odd = HeaderValue::from_bytes(b"Mozilla \xff\xfe").unwrap();
        for (value, kept) in [
            (HeaderValue::try_from(&long).unwrap(), &long[..300]),
            (odd, ""),
            (HeaderValue::from_static(""), ""),
            (HeaderValue::from_static("'); DROP TABLE identity_sessions; --"), "'); DROP TABLE identity_sessions; --"),
        ] {
            let headers: HeaderMap = [(http::header::USER_AGENT, value)].into_iter().collect();
            let mut new = new(user, organisation, &headers);
            new.browser.address = Some("2001:db8::ffff".parse().unwrap());
            let (session, _) = sessions::begin(app.app(), new).await.unwrap();
            assert_eq!(session.user_agent, kept);
            let stored = sessions::by_id(app.app(), session.id).await.unwrap().unwrap();
            assert_eq!(stored, session);
        }
        // A cookie of another length, or one that comes twice, is nobody's.
        let (_, headers) = begin(&app, user, organisation).await;
        let pair = headers[http::header::COOKIE].to_str().unwrap().to_owned();
        for line in [
            pair[..pair.len() - 1].to_owned(),
            format!("{pair}A"),
            format!("{pair}; {pair}"),
            pair.to_lowercase(),
            pair.replace("__Host-", ""),
            pair.replace("__Host-", "__Secure-"),
            pair.replace("__Host-svc-session=", "__Host-svc-session=="),
        ] {
            let headers = [(http::header::COOKIE, HeaderValue::try_from(&line).unwrap())];
            assert!(!is_in(&app, &headers.into_iter().collect()).await, "{line}");
        }
        let also = format!("a=b;{pair};  c=\"d\"; =; ;");
        let headers = [(http::header::COOKIE, HeaderValue::try_from(also).unwrap())];
        assert!(is_in(&app, &headers.into_iter().collect()).await);
    }
}
