//! Changes of sets, each as the person may see it.

use sea_orm::ActiveValue::Set;
use serde_json::json;
use svc_testing::{Person, on_both_databases, organisation};

use crate::fixture::{Hearing, ada, add_book, book, start};

on_both_databases! {
    async fn changes_are_heard_in_their_order(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let mut hearing = Hearing::begin(&app.sign_in(&ada()), "set:Books", None).await;
        let id = add_book(&ctx, "Emma", "A").await;
        let change = book::ActiveModel { id: Set(id), shelf: Set("B".to_owned()), ..Default::default() };
        ctx.transact(async |uow| uow.update(change.clone()).await).await.unwrap();
        ctx.transact(async |uow| uow.delete::<book::Entity>(id).await).await.unwrap();
        app.drain().await;
        let created = hearing.expect("changed").await;
        assert_eq!(created.data["kind"], "created");
        assert_eq!(created.data["set"], "Books");
        assert_eq!(created.data["key"], json!(id));
        assert_eq!(created.data["record"]["title"], "Emma");
        let updated = hearing.expect("changed").await.data;
        assert_eq!((&updated["kind"], &updated["record"]["shelf"]), (&json!("updated"), &json!("B")));
        let deleted = hearing.expect("changed").await.data;
        assert_eq!(deleted, json!({ "set": "Books", "key": id, "kind": "deleted" }));
    }

    async fn what_is_rolled_back_is_not_heard(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let mut hearing = Hearing::begin(&app.sign_in(&ada()), "set:Books", None).await;
        let failed: svc_core::Result<()> = ctx
            .transact(async |uow| {
                let book = book::ActiveModel {
                    title: Set("Gone".to_owned()),
                    shelf: Set("A".to_owned()),
                    ..Default::default()
                };
                uow.insert(book).await?;
                Err(svc_core::Error::conflict("no"))
            })
            .await;
        assert!(failed.is_err());
        add_book(&ctx, "Kept", "A").await;
        app.drain().await;
        assert_eq!(hearing.expect("changed").await.data["record"]["title"], "Kept");
    }

    async fn nobody_hears_more_than_may_be_seen(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let shelf = Person::named("Ben").who_may(&["Books.View"]).with_claim("shelf", &["B"]);
        let mut ben = Hearing::begin(&app.sign_in(&shelf), "set:Books", None).await;
        let foreign = Person::named("Eve").of(organisation(2));
        let mut eve = Hearing::begin(&app.sign_in(&foreign), "set:Books", None).await;
        let hidden = add_book(&ctx, "Hidden", "A").await;
        let shown = add_book(&ctx, "Shown", "B").await;
        let moved = |shelf: &str| book::ActiveModel { id: Set(hidden), shelf: Set(shelf.to_owned()), ..Default::default() };
        ctx.transact(async |uow| uow.update(moved("B")).await).await.unwrap();
        ctx.transact(async |uow| uow.update(moved("A")).await).await.unwrap();
        add_book(&app.context(&foreign), "Foreign", "B").await;
        app.drain().await;
        let first = ben.expect("changed").await.data;
        assert_eq!((&first["key"], &first["kind"]), (&json!(shown), &json!("created")));
        assert_eq!(first["record"].get("title"), None, "a hidden property stays hidden: {first}");
        // A record that comes into sight is new to the person, and one that leaves is gone.
        let came = ben.expect("changed").await.data;
        assert_eq!((&came["key"], &came["kind"]), (&json!(hidden), &json!("created")));
        let left = ben.expect("changed").await.data;
        assert_eq!(left, json!({ "set": "Books", "key": hidden, "kind": "deleted" }));
        assert_eq!(eve.expect("changed").await.data["record"]["title"], "Foreign");
    }

    async fn rights_are_looked_at_when_something_is_sent(backend) {
        let app = start(backend).await;
        let ctx = app.context(&ada());
        let ben = Person::named("Ben").who_may(&["Books.View", "Loans.View"]);
        let mut hearing = Hearing::begin(&app.sign_in(&ben), "set:Books,library.loans", None).await;
        // The right is gone, and so is what was to be heard with it.
        let _ = app.sign_in(&Person::named("Ben").who_may(&["Loans.View"]));
        add_book(&ctx, "Secret", "A").await;
        crate::fixture::lend(&ctx, "Ben").await;
        app.drain().await;
        assert_eq!(hearing.expect("told").await.data["key"], "Ben");
        app.dismiss(&ben);
        crate::fixture::lend(&ctx, "Ben").await;
        app.drain().await;
        assert_eq!(hearing.next().await, None);
    }
}
