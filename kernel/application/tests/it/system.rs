//! What operators are told of the program itself: schedules, modules and settings.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobFilter, Jobs, JobsRegistry as _};
use svc_testing::{Person, TestApp, on_both_databases};

use crate::fixture::{shop, start};

#[derive(Serialize, Deserialize)]
struct SweepUp {}

impl Job for SweepUp {
    const NAME: &'static str = "lamps.sweep_up";
}

async fn sweep_up(_: JobContext, _: SweepUp) -> Result<(), JobError> {
    Ok(())
}

/// Something that runs by the clock.
struct Nightly;

impl Module for Nightly {
    fn configure(&self, registry: &mut Registry) {
        registry.job::<SweepUp>(sweep_up);
        registry.schedule("lamps.nightly", "0 30 2 * * *", || SweepUp {});
    }
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let found =
        list.as_array().unwrap().iter().find(|each| each["name"] == name || each["key"] == name);
    found.unwrap_or_else(|| panic!("{name} is not among {list}"))
}

on_both_databases! {
    async fn an_operator_sees_what_the_program_is_made_of(backend) {
        let make = TestApp::builder(|| Application::new("shop").module(shop()).module(Nightly));
        let make = make.setting("Svc:Http:MaxBodySize", "2097152");
        let app = make.start(backend).await;
        let operator = app.sign_in(&Person::named("Ada").who_may(&["System.View", "Jobs.View"]));

        let modules = operator.get("/api/v1/system/modules").await.expect(200);
        let operations = named(&modules["modules"], "operations");
        assert!(operations["requires"].as_array().unwrap().contains(&"jobs".into()), "{operations}");
        named(&operations["adds"]["permissions"], "System.View");

        let configuration = operator.get("/api/v1/system/configuration").await.expect(200);
        let body = named(&configuration["settings"], "Svc:Http:MaxBodySize");
        assert_ne!(body["source"], "default", "{body}");
        assert_ne!(body["value"], body["default"], "{body}");
        assert!(!body["doc"].as_str().unwrap().is_empty(), "{body}");
        let untouched = named(&configuration["settings"], "Svc:Http:RequestTimeout");
        assert_eq!(untouched["source"], "default");

        // A schedule is known from the first look at the clock on.
        app.app().drain().await.unwrap();
        let schedules = operator.get("/api/v1/jobs/schedules").await.expect(200);
        let nightly = named(&schedules["schedules"], "lamps.nightly");
        assert_eq!((&nightly["cron"], &nightly["timeZone"]), (&json!("0 30 2 * * *"), &json!("UTC")));
        assert!(nightly["nextRunAt"].is_string() && nightly["lastRunAt"].is_null(), "{nightly}");
    }

    async fn the_program_is_shown_to_operators_only(backend) {
        let app = start(backend).await;
        let clerk = app.sign_in(&Person::named("Ben").who_may(&["Lamps.View"]));
        for path in ["/api/v1/system/modules", "/api/v1/system/configuration", "/api/v1/jobs/schedules"] {
            assert_eq!(clerk.get(path).await.status, 403, "{path}");
            assert_eq!(app.anonymous().get(path).await.status, 401, "{path}");
        }
    }

    async fn what_is_secret_is_not_told(backend) {
        let secret = "known-to-the-scraper-alone";
        let make = TestApp::builder(|| Application::new("shop").module(shop()));
        let app = make.setting("Svc:Http:MetricsToken", secret).start(backend).await;
        let operator = app.sign_in(&Person::named("Ada").who_may(&["System.View"]));
        let configuration = operator.get("/api/v1/system/configuration").await.expect(200);
        let token = named(&configuration["settings"], "Svc:Http:MetricsToken");
        assert_ne!(token["source"], "default", "{token}");
        assert!(!configuration.to_string().contains(secret), "{token}");
    }

    async fn a_person_who_looks_at_jobs_and_dead_letters_takes_no_connections_of_others(backend) {
        // Of ten connections requests have eight, those of an organisation seven, and those of one person six.
        let make = TestApp::builder(|| Application::new("shop").module(shop()).module(Nightly))
            .setting("Svc:Database:MaxConnections", 10)
            // Within this, a busy machine has to open six.
            .setting("Svc:Database:AcquireTimeout", "00:00:05");
        let app = make.start(backend).await;
        let (ada, ben) = (Person::named("Ada"), Person::named("Ben"));
        let ctx = app.context(&ada).within_share();
        let enqueued = ctx.transact(async |uow| {
            Ok(uow.enqueue(SweepUp {}).run_in(std::time::Duration::from_hours(1)).await?.id.0)
        });
        let job = format!("/api/v1/jobs/{}", enqueued.await.unwrap());
        let (looks, colleague) = (app.sign_in(&ada), app.sign_in(&ben));
        let held = (0..6).map(|_| ctx.database().cursor(ctx.database().statement("SELECT 1", [])));
        let held = futures::future::try_join_all(held).await.unwrap();
        let paths = ["/api/v1/jobs", &job, "/api/v1/jobs/schedules", "/api/v1/outbox/dead-letters"];
        let asked = futures::future::join_all(paths.map(|path| looks.get(path))).await;
        for (path, answer) in paths.into_iter().zip(asked) {
            let refused = answer.expect(429);
            let told = refused["detail"].as_str().unwrap();
            assert!(told.contains("`Svc:Database:MaxConnections`"), "{path}: {refused}");
            let _ = colleague.get(path).await.expect(200);
        }
        // Nor is one missing for what nobody asked for.
        let jobs = app.app().service::<Jobs>().unwrap();
        let system = svc_data::Context::system(app.app()).unwrap();
        let listed = jobs.list(&system, &JobFilter::default()).await.unwrap();
        assert_eq!(listed.jobs.len(), 1);
        drop(held);
        let _ = looks.get(&job).await.expect(200);
        // Who has a connection looks through it, and sees what isn't committed yet.
        let seen = ctx.transact(async |uow| {
            let id = uow.enqueue(SweepUp {}).run_in(std::time::Duration::from_hours(2)).await?.id;
            jobs.status(&ctx, id).await
        });
        assert_eq!(seen.await.unwrap().attempts, 0);
    }
}
