//! Streams that break off and go on, and what they may cost.

use std::time::Duration;

use svc_testing::{Person, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::{Hearing, ada, add_book, lend, start, with_settings};

on_both_databases! {
    async fn a_stream_goes_on_behind_what_was_heard(backend) {
        let app = start(backend).await;
        let (ctx, client) = (app.context(&ada()), app.sign_in(&ada()));
        let mut hearing = Hearing::begin(&client, "set:Books", None).await;
        add_book(&ctx, "One", "A").await;
        app.drain().await;
        let first = hearing.expect("changed").await;
        drop(hearing);
        for title in ["Two", "Three"] {
            add_book(&ctx, title, "A").await;
        }
        app.drain().await;
        let mut again = Hearing::begin(&client, "set:Books", first.id.as_deref()).await;
        for title in ["Two", "Three"] {
            assert_eq!(again.expect("changed").await.data["record"]["title"], title);
        }
    }

    async fn who_was_away_for_too_long_is_told_to_load_anew(backend) {
        let app = start(backend).await;
        let (ctx, client) = (app.context(&ada()), app.sign_in(&ada()));
        add_book(&ctx, "One", "A").await;
        app.drain().await;
        // What is kept in memory is of no help to a node that starts later.
        app.advance(Duration::from_mins(11));
        app.drain().await;
        let later = app.another_node().await;
        let mut hearing = Hearing::begin(&later.sign_in(&ada()), "set:Books", Some("0")).await;
        add_book(&ctx, "Two", "A").await;
        later.drain().await;
        hearing.expect("reset").await;
        let mut foreign = Hearing::begin(&client, "set:Books", Some("1000000")).await;
        foreign.expect("reset").await;
        let answer = client.send(http::Method::GET, "/api/v1/live?topics=set:Books", &[("last-event-id", "x")], "");
        let _ = answer.await.expect(400);
    }

    async fn a_person_has_so_many_streams_and_no_more(backend) {
        let app = with_settings(backend, &[("Svc:Live:PersonStreams", "2")]).await;
        let client = app.sign_in(&ada());
        let first = Hearing::begin(&client, "set:Books", None).await;
        let _second = Hearing::begin(&client, "set:Books", None).await;
        let refused = client.get("/api/v1/live?topics=set:Books").await.expect(429);
        assert_eq!(refused["code"], "live.too_many_streams");
        assert_eq!(refused["parameters"]["most"], 2);
        let _ben = Hearing::begin(&app.sign_in(&Person::named("Ben")), "set:Books", None).await;
        drop(first);
        let _third = Hearing::begin(&client, "set:Books", None).await;
    }

    async fn a_stream_ends_with_the_key_that_it_began_with(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let ben = Person::named("Ben").who_may(&["Books.View", "Loans.View"]);
        let (key, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let topics = "set:Books,library.loans";
        let mut scoped = Hearing::begin(&app.sign_in_by_key(&ben, key, &["Books.View"]), "set:Books", None).await;
        let mut kept = Hearing::begin(&app.sign_in_by_key(&ben, other, &["Books.View", "Loans.View"]), topics, None).await;
        let mut signed_in = Hearing::begin(&app.sign_in(&ben), topics, None).await;
        add_book(&ctx, "One", "A").await;
        app.drain().await;
        for hearing in [&mut scoped, &mut kept, &mut signed_in] {
            assert_eq!(hearing.expect("changed").await.data["kind"], "created");
        }
        app.revoke_key(key);
        // The key has another scope from now on.
        let _ = app.sign_in_by_key(&ben, other, &["Books.View"]);
        lend(&ctx, "Ben").await;
        add_book(&ctx, "Two", "A").await;
        app.drain().await;
        assert_eq!(scoped.next().await, None);
        assert_eq!(kept.expect("changed").await.data["kind"], "created");
        assert_eq!(signed_in.expect("told").await.data["key"], "Ben");
    }

    async fn a_silent_stream_ends_with_the_key_that_it_began_with(backend) {
        let app = with_settings(backend, &[("Svc:Live:Heartbeat", "00:00:01")]).await;
        let ctx = app.context(&ada());
        let ben = Person::named("Ben").who_may(&["Books.View"]);
        let (key, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut gone = Hearing::begin(&app.sign_in_by_key(&ben, key, &["Books.View"]), "set:Books", None).await;
        let mut kept = Hearing::begin(&app.sign_in_by_key(&ben, other, &["Books.View"]), "set:Books", None).await;
        for hearing in [&mut gone, &mut kept] {
            assert_eq!(hearing.block().await.unwrap(), "id: 0");
        }
        app.revoke_key(key);
        // It ends though nothing happens, and without another word.
        assert_eq!(gone.block().await, None);
        assert_eq!(kept.block().await.unwrap(), "id: 0");
        add_book(&ctx, "One", "A").await;
        app.drain().await;
        assert_eq!(kept.expect("changed").await.data["kind"], "created");
    }

    async fn a_stream_says_that_it_is_there_while_others_hear_of_much(backend) {
        let app = with_settings(backend, &[("Svc:Live:Heartbeat", "00:00:01")]).await;
        let mut hearing = Hearing::begin(&app.sign_in(&ada()), "set:Books", None).await;
        let elsewhere = app.context(&Person::named("Zoe").of(organisation(2)));
        let others = async {
            loop {
                add_book(&elsewhere, "One", "A").await;
                app.drain().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = others => {}
            said = hearing.block() => assert!(said.unwrap().starts_with("id: ")),
        }
    }

    async fn a_stream_ends_when_its_life_is_over(backend) {
        let app = with_settings(backend, &[("Svc:Live:StreamLife", "00:00:01")]).await;
        let mut hearing = Hearing::begin(&app.sign_in(&ada()), "set:Books", None).await;
        assert_eq!(hearing.next().await, None);
    }

    async fn a_client_that_takes_nothing_costs_nothing_more(backend) {
        let app = start(backend).await;
        let (ctx, client) = (app.context(&ada()), app.sign_in(&ada()));
        // Nobody reads this one while more happens than a node keeps.
        let mut silent = Hearing::begin(&client, "set:Books", None).await;
        let mut quick = Hearing::begin(&client, "set:Books", None).await;
        for batch in 0..5 {
            ctx.transact(async |uow| {
                for number in 0..500 {
                    let book = crate::fixture::book::ActiveModel {
                        title: sea_orm::ActiveValue::Set(format!("{batch}-{number}")),
                        shelf: sea_orm::ActiveValue::Set("A".to_owned()),
                        ..Default::default()
                    };
                    uow.insert(book).await?;
                }
                Ok(())
            })
            .await
            .unwrap();
        }
        app.drain().await;
        // Both hear all of it: what isn't in memory any more is read from the table.
        for hearing in [&mut quick, &mut silent] {
            for expected in 1..=2_500_u32 {
                let heard = hearing.expect("changed").await;
                assert_eq!(heard.id, Some(expected.to_string()));
            }
        }
    }
}
