//! Topics of modules, and jobs.

use serde_json::json;
use svc_core::{Module, Registry};
use svc_jobs::EnqueueJobs as _;
use svc_live::{LiveRegistry as _, LiveTopic};
use svc_testing::{Application, Person, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::{Hearing, Sort, ada, lend, start};

on_both_databases! {
    async fn a_topic_is_heard_by_those_it_is_for(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let ben = Person::named("Ben").who_may(&["Loans.View"]);
        let mut all = Hearing::begin(&app.sign_in(&ben), "library.loans", None).await;
        let mut one = Hearing::begin(&app.sign_in(&ben), "library.loans:Ben", None).await;
        let mut other = Hearing::begin(&app.sign_in(&ben), "library.loans:Ada,library.loans:Ben", None).await;
        lend(&ctx, "Ada").await;
        lend(&ctx, "Ben").await;
        app.drain().await;
        for hearing in [&mut all, &mut one, &mut other] {
            let told = hearing.expect("told").await.data;
            assert_eq!(told, json!({ "topic": "library.loans", "key": "Ben", "data": { "lent": true } }));
        }
    }

    async fn where_a_job_stands_is_heard_by_who_enqueued_it(backend) {
        let app = start(backend).await;
        let ben = Person::named("Ben").who_may(&[]);
        let ctx = app.context(&ben);
        let enqueued = ctx.transact(async |uow| uow.enqueue(Sort).watched().await).await;
        let id = enqueued.unwrap().id;
        let topic = format!("job:{}", id.0);
        let mut own = Hearing::begin(&app.sign_in(&ben), &topic, None).await;
        let stranger = Person::named("Eve").who_may(&[]);
        let mut strange = Hearing::begin(&app.sign_in(&stranger), &topic, None).await;
        assert_eq!(own.expect("job").await.data["state"], "waiting");
        assert_eq!(strange.expect("job").await.data, json!({ "id": id.0, "state": "unknown" }));
        app.drain().await;
        let ended = own.expect("job").await.data;
        assert_eq!(ended["state"], "finished");
        assert_eq!((&ended["progress"], &ended["message"]), (&json!(40), &json!("sorting")));
    }

    async fn what_another_organisation_tells_is_not_heard(backend) {
        let app = start(backend).await;
        let ben = |number| Person::named("Ben").who_may(&["Loans.View"]).of(organisation(number));
        let mut first = Hearing::begin(&app.sign_in(&ben(1)), "library.loans:Ben", None).await;
        let mut second = Hearing::begin(&app.sign_in(&ben(2)), "library.loans:Ben", None).await;
        lend(&app.context(&ben(1)), "Ben").await;
        lend(&app.context(&ben(2)), "Ben").await;
        lend(&app.context(&ben(1)), "Ben").await;
        app.drain().await;
        app.app().stop().await;
        for (hearing, times) in [(&mut first, 2), (&mut second, 1)] {
            for _ in 0..times {
                assert_eq!(hearing.expect("told").await.data["key"], "Ben");
            }
            assert_eq!(hearing.next().await, None);
        }
    }

    async fn a_key_begins_behind_the_first_colon_and_is_taken_as_it_is(backend) {
        let app = start(backend).await;
        let odd = Person::named("a:b c").who_may(&["Loans.View"]);
        let client = app.sign_in(&odd);
        let topics = "%20library.loans:a:b%20c%20,,library.loans:a:b%20c,library.loans:other,";
        let mut hearing = Hearing::begin(&client, topics, None).await;
        let mut none = Hearing::begin(&client, "library.loans:,library.loans:A:B%20C,library.loans:a", None).await;
        let ctx = app.context(&ada());
        for key in ["a", "a:b c ", "a:b c", "", "a:b c"] {
            lend(&ctx, key).await;
        }
        app.drain().await;
        // Asked for twice, it is told once.
        for number in ["3", "5"] {
            let told = hearing.expect("told").await;
            assert_eq!((told.id.as_deref(), &told.data["key"]), (Some(number), &json!("a:b c")));
        }
        app.app().stop().await;
        assert_eq!(none.next().await, None);
    }

    async fn as_many_may_be_heard_as_is_said(backend) {
        let app = start(backend).await;
        let ben = Person::named("Ben").who_may(&["Books.View", "Loans.View"]);
        let client = app.sign_in(&ben);
        let jobs: Vec<String> = (0..16).map(|number| format!("job:{}", Uuid::from_u128(number))).collect();
        let keys: Vec<String> = (0..48).map(|number| format!("library.loans:{number}")).collect();
        let longest = format!("library.loans:{}", "x".repeat(186));
        let all = [jobs, keys].concat().join(",");
        let mut hearing = Hearing::begin(&client, &all, None).await;
        for number in 0..16 {
            let unknown = json!({"id": Uuid::from_u128(number), "state": "unknown"});
            assert_eq!(hearing.expect("job").await.data, unknown);
        }
        let _ = Hearing::begin(&client, &longest, None).await;
        for topics in [format!("{all},set:Books"), format!("{longest}x")] {
            let refused = client.get(&format!("/api/v1/live?topics={topics}")).await.expect(400);
            assert_eq!(refused["code"], "malformed", "{topics}");
        }
    }

    async fn what_can_not_be_heard_is_refused(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("Ben").who_may(&["Books.View"]));
        let refused = async |topics: &str, code: &str| {
            let answer = client.get(&format!("/api/v1/live?topics={topics}")).await;
            assert_eq!(answer.expect(400)["code"], code, "{topics}");
        };
        for topic in ["set:Nothing", "library.loans", "library.other", "job:5", "set", "books"] {
            refused(topic, "live.unknown_topic").await;
        }
        refused("", "malformed").await;
        refused(&"set:Books,".repeat(65), "malformed").await;
        let jobs = (0..17).map(|number| format!("job:{}", Uuid::from_u128(number)));
        refused(&jobs.collect::<Vec<_>>().join(","), "malformed").await;
        refused(&format!("set:{}", "x".repeat(200)), "malformed").await;
        let _ = app.anonymous().get("/api/v1/live?topics=set:Books").await.expect(401);
    }
}

struct Misnamed;

impl Module for Misnamed {
    fn requires(&self) -> &'static [&'static str] {
        &["live"]
    }

    fn configure(&self, registry: &mut Registry) {
        for name in ["set", "job", "misnamed.a:b", "misnamed.a,b", "misnamed.jobs"] {
            registry.live_topic(LiveTopic::new(name, "something"));
        }
    }
}

#[test]
fn a_topic_that_could_not_be_asked_for_is_refused_at_start() {
    let problems =
        Application::new("misnamed").module(Misnamed).assemble().err().unwrap().to_string();
    for name in ["set", "job", "misnamed.a:b", "misnamed.a,b"] {
        assert!(problems.contains(&format!("`{name}` can't be a live topic")), "{problems}");
    }
    assert!(!problems.contains("misnamed.jobs"), "{problems}");
}
