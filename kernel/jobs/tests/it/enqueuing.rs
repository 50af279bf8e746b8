use svc_core::{Error, ErrorKind, OrganisationId, UserId};
use svc_data::Context;
use svc_jobs::{EnqueueJobs as _, JobState};
use uuid::Uuid;

use crate::fixture::{ADA, Act, HOUR, SECOND, Site, Unknown};

fn act(name: &str) -> Act {
    Act { name: name.to_owned() }
}

svc_testing::on_both_databases! {
    async fn a_job_is_there_if_and_only_if_the_unit_of_work_commits(backend) {
        let (site, node) = Site::with_node(backend).await;
        let rolled_back = node.ada().transact(async |uow| {
            uow.enqueue(act("never")).await?;
            Err::<(), _>(Error::conflict("changed its mind"))
        }).await;
        assert!(rolled_back.is_err());
        assert_eq!((node.drain().await, node.count().await), (0, 0));

        node.ada().transact(async |uow| {
            uow.enqueue(act("outer")).await?;
            let inner = uow.context().transact(async |inner| {
                inner.enqueue(act("inner")).await?;
                Err::<(), _>(Error::conflict("changed its mind"))
            }).await;
            assert!(inner.is_err());
            Ok(())
        }).await.unwrap();
        assert_eq!(node.drain().await, 1);
        assert_eq!(site.world.noted(), ["outer"]);
        assert_eq!(node.count().await, 0);
    }

    async fn many_jobs_are_enqueued_at_once_and_each_runs_once(backend) {
        let (site, node) = Site::with_node(backend).await;
        let names: Vec<String> = (0..2_500).map(|number| format!("{number:04}")).collect();
        let ids = node.ada().transact(async |uow| {
            uow.enqueue_many(names.iter().map(|name| act(name))).await
        }).await.unwrap();
        assert_eq!(ids.len(), 2_500);
        assert!(ids.is_sorted());
        assert_eq!(node.drain().await, 2_500);
        let mut noted = site.world.noted();
        noted.sort();
        assert_eq!(noted, names);
    }

    async fn a_job_runs_at_its_time_and_not_before(backend) {
        let (site, node) = Site::with_node(backend).await;
        let at = site.clock.now() + 5 * HOUR;
        let enqueued = node.ada().transact(async |uow| {
            uow.enqueue(act("at")).run_at(at).await?;
            uow.enqueue(act("in")).run_in(3 * HOUR).await?;
            uow.enqueue(act("past")).run_at(at - 10 * HOUR).await
        }).await.unwrap();
        assert!(enqueued.is_new);
        assert_eq!((node.drain().await, site.world.noted()), (1, vec!["past".to_owned()]));
        site.clock.advance(2 * HOUR + 3_599 * SECOND);
        assert_eq!(node.drain().await, 0);
        site.clock.advance(SECOND);
        assert_eq!((node.drain().await, site.world.noted()), (1, vec!["in".to_owned()]));
        site.clock.advance(2 * HOUR);
        assert_eq!((node.drain().await, site.world.noted()), (1, vec!["at".to_owned()]));
    }

    async fn a_running_node_wakes_for_new_jobs_and_for_times_that_come(backend) {
        let (site, node) = Site::with_node(backend).await;
        node.app.start_workers();
        node.enqueue("now").await;
        svc_testing::eventually("runs now", async || site.world.noted() == ["now"]).await;
        node.ada().transact(async |uow| uow.enqueue(act("later")).run_in(2 * HOUR).await)
            .await.unwrap();
        site.clock.advance(HOUR);
        site.clock.advance(HOUR);
        svc_testing::eventually("runs later", async || site.world.noted() == ["later"]).await;
        node.app.stop().await;
    }

    async fn a_job_knows_where_it_comes_from(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = std::sync::Arc::clone(&site.world);
        site.world.teach("who", move |ctx| {
            let world = std::sync::Arc::clone(&world);
            async move {
                let organisation = ctx.organisation()?.0.as_u128();
                let by = ctx.enqueued_by().user.map(|user| user.0.as_u128());
                let system = ctx.context();
                let (may, correlation) =
                    (system.principal().can("Any"), system.correlation().as_u128());
                world.note(format!(
                    "{organisation} {by:?} {may} {correlation} {}/{}",
                    ctx.attempt(), ctx.max_attempts()
                ));
                Ok(())
            }
        });
        node.enqueue("who").await;
        let organisation = OrganisationId(Uuid::from_u128(2));
        let context = Context::new(&node.app, node.system().principal().clone(), Uuid::from_u128(3));
        context.unwrap().transact(async |uow| {
            uow.enqueue(act("who")).in_organisation(organisation).max_attempts(5).await
        }).await.unwrap();
        node.drain().await;
        let mut noted = site.world.noted();
        noted.sort();
        assert_eq!(noted, ["1 Some(7) true 9 1/3", "2 None true 3 1/5"]);
    }

    async fn acting_as_the_person_has_the_rights_that_hold_now(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = std::sync::Arc::clone(&site.world);
        site.world.teach("as", move |ctx| {
            let world = std::sync::Arc::clone(&world);
            async move {
                let person = ctx.as_enqueuer().await?;
                let permissions: Vec<&str> = person.principal().permissions().names().collect();
                world.note(permissions.join(" "));
                Ok(())
            }
        });
        site.world.grant(ADA, &["Products.View", "Products.Update"]);
        node.person(ADA, 1, &["Products.View"]).transact(async |uow| uow.enqueue(act("as")).await)
            .await.unwrap();
        // Through a key, a job does no more than the key could.
        let scope = ["Products.View", "Orders.View"].map(str::to_owned).into();
        let ada = node.person(ADA, 1, &["Products.View", "Orders.View"]);
        let key = ada.principal().as_ref().clone().through_api_key(&scope);
        ada.acting_as(key.into()).transact(async |uow| uow.enqueue(act("as")).await).await.unwrap();
        node.drain().await;
        let mut noted = site.world.noted();
        noted.sort();
        assert_eq!(noted, ["Products.Update Products.View", "Products.View"]);

        site.world.expel(ADA);
        let id = node.enqueue("as").await;
        node.drain().await;
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Dead, 1));
        assert!(status.last_error.unwrap().contains("no longer a member"));
    }

    async fn through_a_key_a_job_acts_for_the_roles_that_the_key_acted_for(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = std::sync::Arc::clone(&site.world);
        site.world.teach("roles", move |ctx| {
            let world = std::sync::Arc::clone(&world);
            async move {
                let person = ctx.as_enqueuer().await?;
                let (roles, may): (Vec<&str>, _) = (person.principal().roles().collect(), person.principal().permissions());
                world.note(format!("{}: {}", roles.join(" "), may.names().collect::<Vec<_>>().join(" ")));
                Ok(())
            }
        });
        let granted = ["Products.View", "role:buyers"];
        site.world.grant(ADA, &granted);
        let ada = node.person(ADA, 1, &granted);
        let scope = ["Products.View".to_owned()].into();
        let key = |roles: &[&str]| ada.principal().as_ref().clone().through_api_key(&scope).with_roles(roles);
        // Without a scope, with one, and a person who had another role then.
        for who in [key(&["Buyers", "Checkers"]), key(&[]), key(&["Buyers", "Sellers"])] {
            ada.acting_as(who.into()).transact(async |uow| uow.enqueue(act("roles")).await).await.unwrap();
        }
        // The name of a permission is none of a role.
        let odd = ada.principal().as_ref().clone().through_api_key(&["role:buyers".to_owned()].into());
        ada.acting_as(odd.into()).transact(async |uow| uow.enqueue(act("roles")).await).await.unwrap();
        node.drain().await;
        let mut noted = site.world.noted();
        noted.sort();
        assert_eq!(noted, [": Products.View", ": role:buyers", "buyers checkers: Products.View", "buyers: Products.View"]);
    }

    async fn what_can_not_run_is_refused_at_once(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let ada = node.ada();
        let unknown = ada.transact(async |uow| uow.enqueue(Unknown {}).await).await.unwrap_err();
        assert!(unknown.report().contains("registry.job"), "{unknown:?}");
        let big = act(&"x".repeat(2 * 1024 * 1024));
        let big = ada.transact(async |uow| uow.enqueue(big).await).await.unwrap_err();
        assert_eq!(big.kind(), ErrorKind::TooLarge);
        let elsewhere = OrganisationId(Uuid::from_u128(2));
        let stray = ada
            .transact(async |uow| uow.enqueue(act("x")).in_organisation(elsewhere).await)
            .await
            .unwrap_err();
        assert!(stray.report().contains("another organisation"));
        assert_eq!(node.count().await, 0);
    }

    async fn text_of_any_kind_survives_the_queue(backend) {
        let (site, node) = Site::with_node(backend).await;
        let odd = "quote ' mark ? nul \0 \u{1F600} \\u0000 \"";
        node.person(UserId(Uuid::from_u128(8)), 1, &[])
            .transact(async |uow| uow.enqueue(act(odd)).unique("a ' ? key").await)
            .await
            .unwrap();
        node.drain().await;
        assert_eq!(site.world.noted(), [odd]);
    }
}
