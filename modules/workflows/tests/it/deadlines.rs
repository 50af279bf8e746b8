//! What happens by itself when a time is over.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_database::stored::timestamp;
use svc_settings::ApplicationSettings;
use svc_testing::{Backend, Person, on_both_databases, organisation};
use svc_workflows::{By, Definition, State, Term, Transition};
use time::OffsetDateTime;
use time::macros::datetime;

use crate::fixture::{CLERK, World};

const HOUR: Duration = Duration::from_hours(1);

/// What waits is due in two working days, then also for those who close orders, and lapses after two weeks.
fn timed() -> Definition {
    let way = |name: &str, from: &str, to: &str| Transition::new(name).from([from]).to(to);
    let waiting = State::new("waiting")
        .due_in(Term::WorkingDays(2))
        .reminds_after(Term::WorkingDays(1))
        .escalates_to(By::permission("Orders.Close"))
        .automatically(Term::Days(14), "lapse");
    Definition::new()
        .state(State::initial("draft"))
        .state(waiting)
        .state(State::last("done"))
        .state(State::last("lapsed").locks_all())
        .transition(way("submit", "draft", "waiting").by(By::Creator))
        .transition(
            way("approve", "waiting", "done").by(By::permission("Orders.Approve")).not_by_creator(),
        )
        .transition(way("lapse", "waiting", "lapsed").by(By::Creator).optional().when("total gt 5"))
}

/// A shop on a Friday at noon.
async fn world(backend: Backend) -> World {
    let world = World::with(backend, timed()).await;
    assert_eq!(world.app.clock().now(), datetime!(2026-11-20 12:00 UTC));
    world
}

async fn waiting(world: &World, total: i64) -> String {
    let id = world.order(&world.cy, total).await;
    let (status, moved) = world.take(&world.cy, &id, "submit", None).await;
    assert_eq!(status, 200, "{moved}");
    id
}

/// Lets time pass; answers with what was told.
async fn pass(world: &World, time: Duration) -> Vec<Json> {
    world.app.advance(time);
    let _ = world.app.drain().await;
    world.heard.take()
}

/// How many tasks somebody has.
async fn tasks(world: &World, who: &Person) -> usize {
    let page = world.client(who).get("/api/v1/workflows/tasks").await.expect(200);
    page["items"].as_array().unwrap().len()
}

async fn timers(world: &World) -> i64 {
    world.number("SELECT COUNT(*) FROM workflows_timers").await
}

fn closer() -> Person {
    Person::named("Dan").who_may(&[&CLERK[..], &["Orders.Close"]].concat())
}

fn told(id: &str, due: OffsetDateTime) -> Json {
    json!({"entityType": "Orders", "entityId": id, "state": "waiting", "due": timestamp(due)})
}

on_both_databases! {
    async fn people_are_reminded_and_what_is_overdue_is_for_others_too(backend) {
        let world = world(backend).await;
        let (id, dan) = (waiting(&world, 1).await, closer());
        let _ = pass(&world, Duration::ZERO).await;
        let due = datetime!(2026-11-24 12:00 UTC);
        let seen = world.look(&world.bob, &id).await;
        assert_eq!((&seen["due"], &seen["isEscalated"]), (&json!(timestamp(due)), &json!(false)));
        // The weekend doesn't count.
        assert_eq!(pass(&world, 71 * HOUR).await, Vec::<Json>::new());
        assert_eq!(pass(&world, 2 * HOUR).await, [told(&id, due)], "a reminder on Monday at one");
        assert_eq!(tasks(&world, &dan).await, 0);
        assert_eq!(world.take(&dan, &id, "approve", None).await.1["code"], "workflows.not_allowed");
        assert_eq!(pass(&world, 24 * HOUR).await, [told(&id, due)], "overdue on Tuesday at one");
        assert_eq!(pass(&world, 24 * HOUR).await, Vec::<Json>::new(), "each is told once");
        assert_eq!((tasks(&world, &dan).await, tasks(&world, &world.bob).await), (1, 1));
        let page = world.client(&dan).get("/api/v1/workflows/tasks").await.expect(200);
        let task = &page["items"][0];
        assert_eq!((&task["due"], &task["isEscalated"]), (&json!(timestamp(due)), &json!(true)));
        assert_eq!(task["choices"][0]["name"], "approve");
        // Four eyes are four all the same.
        let own = Person::named("Cy").who_may(&[&CLERK[..], &["Orders.Close"]].concat());
        assert_eq!(tasks(&world, &own).await, 0);
        assert_eq!(world.take(&own, &id, "approve", None).await.1["code"], "workflows.four_eyes");
        assert_eq!(world.take(&dan, &id, "approve", None).await.0, 200);
        assert_eq!((timers(&world).await, tasks(&world, &dan).await), (0, 0));
        let seen = world.look(&world.bob, &id).await;
        assert_eq!((&seen["due"], &seen["isEscalated"]), (&Json::Null, &json!(false)));
    }

    async fn the_application_takes_a_transition_when_its_time_has_come(backend) {
        let world = world(backend).await;
        let (large, small) = (waiting(&world, 7).await, waiting(&world, 1).await);
        let gone = waiting(&world, 8).await;
        assert_eq!(world.client(&world.cy).delete(&format!("/odata/v1/Orders({gone})")).await.status, 204);
        let eve = Person::named("Eve").of(organisation(2));
        let elsewhere = world.order(&eve, 7).await;
        let seen = world.look(&eve, &elsewhere).await;
        let body = json!({"version": seen["version"]});
        assert_eq!(world.take_seen(&eve, &elsewhere, "submit", &body).await.0, 200);
        let told = pass(&world, 15 * 24 * HOUR).await;
        let steps: Vec<_> = told.iter().filter(|it| it["transition"] == "lapse").collect();
        assert!(steps.iter().all(|it| it["user"]["id"] == Json::Null), "{told:?}");
        let mut lapsed: Vec<_> = steps.iter().map(|it| it["entityId"].as_str().unwrap()).collect();
        let mut expected = [&*large, &*elsewhere];
        lapsed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lapsed, expected, "in each organisation");
        assert_eq!(world.read(&large).await["workflowState"], "lapsed");
        // Where its condition doesn't hold it is tried again, but no more often than every hour.
        assert_eq!(world.read(&small).await["workflowState"], "waiting");
        // Whoever looks at it is told why, and when it is tried again.
        let automatic = world.look(&world.ada, &small).await["automatic"].clone();
        assert_eq!((&automatic["transition"], &automatic["obstacle"]["code"]), (&json!("lapse"), &json!("workflows.condition")));
        assert_eq!(automatic["time"], timestamp(world.app.clock().now() + HOUR));
        assert_eq!(world.look(&world.ada, &large).await["automatic"], Json::Null);
        let path = format!("/odata/v1/Orders({small})");
        let _ = world.client(&world.cy).patch(&path, json!({"total": 9})).await.expect(200);
        assert_eq!(world.look(&world.ada, &small).await["automatic"]["obstacle"], Json::Null);
        let _ = pass(&world, HOUR / 2).await;
        assert_eq!(world.read(&small).await["workflowState"], "waiting");
        let _ = pass(&world, HOUR).await;
        assert_eq!(world.read(&small).await["workflowState"], "lapsed");
        assert_eq!(timers(&world).await, 0);
    }

    async fn what_cannot_be_done_holds_up_nothing(backend) {
        let world = world(backend).await;
        let id = waiting(&world, 1).await;
        let _ = pass(&world, Duration::ZERO).await;
        // More than one look finds, of records that aren't there and a set that has no workflow any more.
        let key = match backend {
            Backend::Sqlite => "randomblob(16)",
            Backend::Postgres => "gen_random_uuid()",
        };
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) \
             INSERT INTO workflows_timers (organisation_id, set_name, record_id, kind, at_us) \
             SELECT organisation_id, CASE i % 2 WHEN 0 THEN 'Orders' ELSE 'Gone' END, {key}, 'remind', i \
             FROM n, (SELECT DISTINCT organisation_id FROM workflows_instances) AS o"
        );
        let database = world.context().database().clone();
        database.execute(database.statement(&sql, [])).await.unwrap();
        let due = datetime!(2026-11-24 12:00 UTC);
        assert_eq!(pass(&world, 73 * HOUR).await, [told(&id, due)]);
        assert_eq!(timers(&world).await, 252);
        assert_eq!(pass(&world, HOUR / 2).await, Vec::<Json>::new());
        let soon = (world.app.clock().now_us()).to_string();
        assert_eq!(world.number(&format!("SELECT COUNT(*) FROM workflows_timers WHERE at_us <= {soon}")).await, 0);
    }

    async fn what_moves_in_time_is_left_alone(backend) {
        let world = world(backend).await;
        let id = waiting(&world, 7).await;
        assert_eq!(timers(&world).await, 3);
        assert_eq!(world.take(&world.bob, &id, "approve", None).await.0, 200);
        assert_eq!(timers(&world).await, 0);
        let told = pass(&world, 20 * 24 * HOUR).await;
        assert!(told.iter().all(|it| it["user"]["id"].is_string()), "{told:?}");
        assert_eq!(world.read(&id).await["workflowState"], "done");
    }

    async fn the_days_are_those_of_the_organisation(backend) {
        let world = world(backend).await;
        let ada = world.context();
        let settings = ada.app().service::<ApplicationSettings>().unwrap();
        settings.set(&ada, "Workflows.Holidays", &json!("2026-11-23, 12-25")).await.unwrap();
        settings.set(&ada, "Workflows.Weekend", &json!("sunday")).await.unwrap();
        let id = waiting(&world, 1).await;
        let seen = world.look(&world.bob, &id).await;
        assert_eq!(seen["due"], timestamp(datetime!(2026-11-24 12:00 UTC)), "Saturday, then Tuesday");
        settings.set(&ada, "Workflows.Weekend", &json!("none")).await.unwrap();
        let other = waiting(&world, 1).await;
        let seen = world.look(&world.bob, &other).await;
        assert_eq!(seen["due"], timestamp(datetime!(2026-11-22 12:00 UTC)), "Saturday, then Sunday");
        // A date that was said stays.
        let seen = world.look(&world.bob, &id).await;
        assert_eq!(seen["due"], timestamp(datetime!(2026-11-24 12:00 UTC)));
    }

    async fn what_is_due_first_comes_first(backend) {
        let world = world(backend).await;
        let mut orders = Vec::new();
        for _ in 0..3 {
            orders.push(waiting(&world, 1).await);
            world.app.advance(HOUR);
        }
        let ada = world.client(&world.ada);
        let made = ada.post("/odata/v1/Papers", json!({"title": "Plan"})).await.expect(201);
        let paper = made["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/workflows/Papers/{paper}");
        let seen = ada.get(&path).await.expect(200);
        let _ = ada.post(&format!("{path}/transitions/review"), json!({"version": seen["version"]})).await.expect(200);
        orders.push(paper);
        let mut told = Vec::new();
        let mut path = "/api/v1/workflows/tasks?order=due&take=1".to_owned();
        loop {
            let page = ada.get(&path).await.expect(200);
            told.extend(page["items"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            path = format!("/api/v1/workflows/tasks?order=due&take=1&after={next}");
        }
        assert_eq!(told, orders, "what isn't due comes last");
        assert_eq!(ada.get("/api/v1/workflows/tasks?order=last").await.status, 400);
    }
}
