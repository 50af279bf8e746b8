use svc_core::{ErrorKind, OrganisationId};
use svc_data::Context;
use uuid::Uuid;

use crate::fixture::{ADA, Site};

svc_testing::on_both_databases! {
    async fn the_job_of_a_schedule_runs_before_its_time_and_not_twice_at_once(backend) {
        let (site, node) = Site::with_node(backend).await;
        let run = async || node.jobs.run_now(&node.system(), "tests.nightly", None).await.unwrap();
        let first = run().await;
        assert!(first.is_new);
        let second = run().await;
        assert_eq!((second.id, second.is_new), (first.id, false));
        node.drain().await;
        assert_eq!(site.world.noted(), ["nightly"]);
        // The schedule comes at its time all the same.
        site.clock.advance(15 * crate::fixture::HOUR);
        node.drain().await;
        assert_eq!(site.world.noted(), ["nightly"]);
    }

    async fn a_job_of_a_kind_runs_with_the_data_that_was_given_in_the_organisation(backend) {
        let (site, node) = Site::with_node(backend).await;
        let organisation = OrganisationId(Uuid::from_u128(3));
        let ctx = Context::system_in(&node.app, organisation).unwrap();
        let data = r#"{"name": "now"}"#.to_owned();
        let job = node.jobs.run_now(&ctx, "tests.act", Some(data)).await.unwrap();
        let elsewhere = Context::system_in(&node.app, OrganisationId(Uuid::from_u128(4))).unwrap();
        assert!(node.jobs.status(&ctx, job.id).await.is_ok());
        let unknown = node.jobs.status(&elsewhere, job.id).await.unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        node.drain().await;
        assert_eq!(site.world.noted(), ["now"]);
    }

    async fn what_can_not_run_is_refused_before_it_is_enqueued(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let system = node.system();
        let refusal = async |name: &str, data: Option<&str>| {
            let data = data.map(str::to_owned);
            node.jobs.run_now(&system, name, data).await.unwrap_err()
        };
        let unknown = refusal("tests.nobody", None).await;
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        assert!(unknown.message().contains("`tests.nobody`; there are tests.nightly, tests.weekly, tests.act"));
        let missing = refusal("tests.act", None).await;
        assert_eq!(missing.kind(), ErrorKind::Invalid);
        assert!(missing.message().contains("missing field `name`"), "{}", missing.message());
        let own = refusal("tests.nightly", Some("{}")).await;
        assert!(own.message().contains("has data of its own"), "{}", own.message());
        let ada = node.person(ADA, 1, &["Jobs.View"]);
        let forbidden = node.jobs.run_now(&ada, "tests.nightly", None).await.unwrap_err();
        assert_eq!(forbidden.kind(), ErrorKind::Forbidden);
        assert_eq!(node.count().await, 0);
    }
}
