use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Decimal;
use sea_orm::{ActiveModelTrait as _, ColumnTrait as _, IntoActiveModel as _};
use svc_core::{Error, ErrorKind};
use svc_data::{Context, UnitOfWork};
use svc_testing::on_both_databases;

use crate::fixture::{Fixture, lamp, product};

async fn skus(ctx: &Context) -> Vec<String> {
    let products = ctx.query::<product::Entity>().order_by(product::Column::Sku).all().await;
    products.unwrap().into_iter().map(|product| product.sku).collect()
}

on_both_databases! {
    async fn what_is_inserted_is_completed_and_read_back(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        assert_eq!(stored.version, 1);
        assert_eq!(stored.updated_at, fixture.clock.now());
        assert_eq!(stored.id.get_version_num(), 7);
        let read = ctx.find::<product::Entity>(stored.id).await.unwrap();
        assert_eq!(read, stored);
        assert_eq!(fixture.captured(), ["Products.created []"]);
    }

    async fn an_update_counts_the_version_and_names_what_changed(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        fixture.captured();
        fixture.advance(60);
        let mut change = stored.clone().into_active_model();
        change.price = Set("24.50".parse().unwrap());
        let changed = ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        assert_eq!((changed.version, changed.updated_at), (2, fixture.clock.now()));
        assert_eq!(ctx.find::<product::Entity>(stored.id).await.unwrap(), changed);
        assert_eq!(fixture.captured(), [r#"Products.updated ["price"]"#]);
    }

    async fn values_that_are_what_they_were_change_nothing(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        fixture.captured();
        let mut change = stored.clone().into_active_model();
        change.price = Set("19.9".parse().unwrap());
        let same = ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        assert_eq!(same, stored);
        assert_eq!(fixture.captured(), [""; 0]);
    }

    async fn who_changes_an_old_version_is_refused(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        for (sku, expected) in [("L-2", None), ("L-3", Some(ErrorKind::PreconditionFailed))] {
            let mut change = stored.clone().into_active_model();
            change.sku = Set(sku.to_owned());
            let outcome = ctx.transact(async |uow| uow.update(change).await).await;
            assert_eq!(outcome.err().map(|error| error.kind()), expected);
        }
        assert_eq!(skus(&ctx).await, ["L-2"]);
    }

    async fn nothing_of_a_failed_unit_of_work_is_stored_or_told(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let outcome: Result<(), Error> = ctx
            .transact(async |uow| {
                uow.insert(lamp("L-1")).await?;
                uow.raise("stock.low", serde_json::json!({"sku": "L-1"}));
                Err(Error::invalid("no"))
            })
            .await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(skus(&ctx).await, [""; 0]);
        assert_eq!(fixture.captured(), [""; 0]);
        // The connection is free again.
        ctx.transact(async |uow| uow.insert(lamp("L-2")).await).await.unwrap();
        assert_eq!(skus(&ctx).await, ["L-2"]);
    }

    async fn a_unit_of_work_reads_what_it_has_written_and_others_do_not(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let other = fixture.in_organisation(1);
        ctx.transact(async |uow| {
            uow.insert(lamp("L-1")).await?;
            assert_eq!(skus(uow.context()).await, ["L-1"]);
            let outside = tokio::spawn(async move { skus(&other).await });
            assert_eq!(outside.await.unwrap(), [""; 0]);
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(skus(&ctx).await, ["L-1"]);
    }

    async fn nested_work_joins_the_outer_and_fails_alone(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        ctx.transact(async |uow| {
            uow.insert(lamp("OUTER")).await?;
            ctx.transact(async |nested| nested.insert(lamp("JOINED")).await).await?;
            let failed = ctx
                .transact(async |nested| {
                    nested.insert(lamp("LOST")).await?;
                    nested.raise("stock.low", serde_json::json!({}));
                    Err::<(), _>(Error::invalid("no"))
                })
                .await;
            assert!(failed.is_err());
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(skus(&ctx).await, ["JOINED", "OUTER"]);
        assert_eq!(fixture.captured(), ["Products.created []", "Products.created []"]);
    }

    async fn many_records_are_inserted_in_their_order(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let names: Vec<String> = (0..450).map(|number| format!("L-{number:03}")).collect();
        let lamps: Vec<_> = names.iter().map(|name| lamp(name)).collect();
        let stored = ctx.transact(async |uow| uow.insert_many(lamps).await).await.unwrap();
        let stored: Vec<String> = stored.into_iter().map(|product| product.sku).collect();
        assert_eq!(stored, names);
        assert_eq!(fixture.captured().len(), 450);
        assert_eq!(ctx.query::<product::Entity>().skip(440).count().await.unwrap(), 450);
        let page = ctx.query::<product::Entity>().order_by_desc(product::Column::Sku).skip(449);
        assert_eq!(page.all().await.unwrap()[0].sku, "L-000");
    }

    async fn a_duplicate_is_a_conflict_and_leaves_the_connection_usable(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        let outcome = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(skus(&ctx).await, ["L-1"]);
    }

    async fn work_that_passes_over_a_failed_statement_stores_nothing_and_says_so(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        let outcome = ctx
            .transact(async |uow| {
                uow.insert(lamp("L-2")).await?;
                let twice = uow.insert(lamp("L-1")).await.unwrap_err();
                assert_eq!(twice.kind(), ErrorKind::Conflict);
                Ok(())
            })
            .await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.report().contains("its error was passed over"), "{error:?}");
        assert_eq!(skus(&ctx).await, ["L-1"]);
        ctx.transact(async |uow| uow.insert(lamp("L-3")).await).await.unwrap();
        assert_eq!(skus(&ctx).await, ["L-1", "L-3"]);
    }

    async fn nested_work_that_passes_over_a_failed_statement_is_undone_alone(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        ctx.transact(async |uow| {
            uow.insert(lamp("L-1")).await?;
            let nested = ctx
                .transact(async |uow| {
                    uow.insert(lamp("L-2")).await?;
                    let _ = uow.insert(lamp("L-1")).await;
                    Ok(())
                })
                .await;
            assert_eq!(nested.unwrap_err().kind(), ErrorKind::Internal);
            uow.insert(lamp("L-3")).await
        })
        .await
        .unwrap();
        assert_eq!(skus(&ctx).await, ["L-1", "L-3"]);
        assert_eq!(fixture.captured(), ["Products.created []", "Products.created []"]);
    }

    async fn nested_work_that_leaves_something_running_takes_the_whole_with_it(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let outcome = ctx
            .transact(async |uow| {
                uow.insert(lamp("L-1")).await?;
                let mut running = None;
                let nested = ctx
                    .transact(async |uow| {
                        running = Some(uow.transaction()?);
                        uow.insert(lamp("L-2")).await
                    })
                    .await;
                assert!(nested.unwrap_err().report().contains("still running"));
                Ok(())
            })
            .await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Internal);
        assert_eq!(skus(&ctx).await, [""; 0]);
    }

    async fn work_that_nobody_waits_for_any_more_is_undone(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        for _ in 0..20 {
            let work = ctx.transact(async |uow| {
                uow.insert(lamp("L-1")).await?;
                std::future::pending::<svc_core::Result<()>>().await
            });
            let given_up = tokio::time::timeout(Duration::from_millis(20), work).await;
            assert!(given_up.is_err());
        }
        ctx.transact(async |uow| uow.insert(lamp("L-2")).await).await.unwrap();
        assert_eq!(skus(&ctx).await, ["L-2"]);
    }

    async fn what_was_left_to_the_commit_is_stored_with_it_or_nothing_is(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let rename = |from: &str, to: &str| {
            let sql = "UPDATE products SET sku = ? WHERE sku = ?";
            ctx.database().statement(sql, [to.into(), from.into()])
        };
        ctx.transact(async |uow| {
            uow.insert(lamp("L-1")).await?;
            uow.execute_last(rename("L-1", "L-2"));
            uow.execute_last(rename("L-2", "L-3"));
            assert_eq!(skus(uow.context()).await, ["L-1"]);
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(skus(&ctx).await, ["L-3"]);
        let taken = ctx.transact(async |uow| {
            uow.insert(lamp("L-4")).await?;
            uow.execute_last(rename("L-4", "L-3"));
            Ok(())
        });
        assert_eq!(taken.await.unwrap_err().kind(), ErrorKind::Conflict);
        ctx.transact(async |uow| uow.insert(lamp("L-5")).await).await.unwrap();
        assert_eq!(skus(&ctx).await, ["L-3", "L-5"]);
    }

    async fn the_first_unit_of_work_has_a_correlation_that_is_nobody_elses(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let own = ctx.clone().with_correlation_of_its_own();
        for (ctx, sku) in [(&ctx, "L-1"), (&own, "L-2"), (&own, "L-3")] {
            ctx.transact(async |uow| uow.insert(lamp(sku)).await).await.unwrap();
        }
        let units: Vec<_> = fixture.authors().into_iter().map(|(_, unit)| unit).collect();
        let has_correlation = units.iter().map(|unit| *unit == ctx.correlation());
        assert_eq!(has_correlation.collect::<Vec<_>>(), [false, true, false]);
        assert_ne!(units[0], units[2]);
    }

    async fn a_handle_that_was_kept_says_that_it_is_over(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let kept = ctx.transact(async |uow| Ok(uow)).await.unwrap();
        let refusal = kept.insert(lamp("L-1")).await.unwrap_err();
        assert!(refusal.report().contains("the unit of work has ended"), "{refusal:?}");
    }

    async fn work_is_done_anew_until_somebody_has_waited_for_long(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let attempts = async |duration| {
            let attempts = AtomicU32::new(0);
            let work = ctx.transact_retrying(|_| async {
                attempts.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(duration)).await;
                Err::<(), Error>(Error::unavailable("the store is out of reach").transient())
            });
            assert_eq!(work.await.unwrap_err().kind(), ErrorKind::Unavailable);
            attempts.into_inner()
        };
        assert_eq!((attempts(1).await, attempts(6_010).await), (5, 1));
    }

    async fn all_who_change_one_record_at_once_get_through(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let id = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap().id;
        let changes = (0..8).map(|_| {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                ctx.transact_retrying(|uow| async move {
                    let query = uow.query::<product::Entity>().filter(product::Column::Id.eq(id));
                    let mut product = query.for_update().one().await?.unwrap();
                    product.price += Decimal::ONE;
                    let product = product.into_active_model().reset_all();
                    uow.update(product).await
                })
                .await
            })
        });
        for change in futures::future::join_all(changes).await {
            change.unwrap().unwrap();
        }
        let product = ctx.find::<product::Entity>(id).await.unwrap();
        assert_eq!((product.version, product.price.normalize().to_string().as_str()), (9, "27.9"));
    }

    async fn who_takes_a_turn_sees_what_all_before_have_written(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let inserts = (0..8).map(|_| {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                ctx.transact(|uow: UnitOfWork| async move {
                    uow.take_turn(7).await?;
                    let next = skus(uow.context()).await.len();
                    uow.insert(lamp(&format!("L-{next}"))).await
                })
                .await
            })
        });
        for insert in futures::future::join_all(inserts).await {
            insert.unwrap().unwrap();
        }
        assert_eq!(skus(&ctx).await, (0..8).map(|next| format!("L-{next}")).collect::<Vec<_>>());
    }

    async fn work_that_must_be_done_once_is(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let attempts = AtomicU32::new(0);
        let work = ctx.transact_retrying(|uow| {
            let attempts = &attempts;
            async move {
                // What fails before may be done anew, what fails after it not.
                if attempts.fetch_add(1, Ordering::Relaxed) > 0 {
                    uow.do_once();
                }
                Err::<(), Error>(Error::unavailable("the store is out of reach").transient())
            }
        });
        assert!(!work.await.unwrap_err().is_transient());
        assert_eq!(attempts.into_inner(), 2);
    }

    async fn a_change_says_who_made_it_and_where(backend) {
        let fixture = Fixture::start(backend).await;
        let ada = fixture.in_organisation(1);
        let max = fixture.manager(1);
        let first = ada.transact(async |uow| {
            uow.insert(lamp("L-1")).await?;
            // A command that acts for somebody else is that one's doing.
            let for_max = uow.context().acting_as(std::sync::Arc::clone(max.principal()));
            for_max.transact(async |inner| inner.insert(lamp("L-2")).await).await?;
            Ok(uow.id())
        });
        let first = first.await.unwrap();
        ada.transact(async |uow| uow.insert(lamp("L-3")).await).await.unwrap();
        let authors = fixture.authors();
        let names: Vec<&str> = authors.iter().map(|(it, _)| it.actor.display_name.as_str()).collect();
        assert_eq!(names, ["Ada", "Max", "Ada"]);
        assert!(authors.iter().all(|(author, _)| author.correlation == ada.correlation()));
        assert_eq!((authors[0].1, authors[1].1), (first, first));
        assert_ne!(authors[2].1, first);
    }
}

/// PostgreSQL alone can lose its answer.
#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_not_repeated() {
    let fixture = Fixture::start(svc_testing::Backend::Postgres).await;
    let ctx = fixture.in_organisation(1);
    for sql in [
        "CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'",
        "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON products \
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_connection()",
    ] {
        fixture.database.execute(fixture.database.statement(sql, [])).await.unwrap();
    }
    let attempts = AtomicU32::new(0);
    let commits = svc_database::Commits::default();
    let work = ctx.transact_retrying(|uow| {
        attempts.fetch_add(1, Ordering::Relaxed);
        async move { uow.insert(lamp("L-1")).await }
    });
    let unknown = commits.watch(work).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::OutcomeUnknown, "{unknown:?}");
    assert!(!unknown.is_transient() && unknown.retry_delay().is_none());
    assert!(unknown.message().contains("may be stored or not"));
    assert!(commits.may_have_stored());
    assert_eq!(attempts.into_inner(), 1);
    // The next unit of work finds a connection that works; a rule that is broken at the commit is none.
    assert_eq!(skus(&ctx).await, [""; 0]);
}
