//! Topics of modules, and jobs.

use serde_json::json;
use svc_jobs::EnqueueJobs as _;
use svc_testing::{Person, on_both_databases};
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
