use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Alias, Condition, Expr, ExprTrait as _, Order, Query};
use sea_orm::{ColumnTrait as _, IntoActiveModel as _};
use svc_core::ErrorKind;
use svc_data::Context;
use svc_testing::{Backend, on_both_databases};
use uuid::Uuid;

use crate::fixture::{Fixture, lamp, product};

/// Products of two organisations; those of the first are dearer with each, two by two.
async fn stock(fixture: &Fixture) -> Context {
    let ctx = fixture.in_organisation(1);
    let prices = ["1.00", "1.00", "2.00", "2.00", "3.00"];
    let lamps: Vec<_> = prices
        .iter()
        .zip(["E", "D", "C", "B", "A"])
        .map(|(price, sku)| product::ActiveModel {
            price: Set(price.parse().unwrap()),
            ..lamp(sku)
        })
        .collect();
    ctx.transact(async |uow| uow.insert_many(lamps).await).await.unwrap();
    let other = fixture.in_organisation(2);
    other.transact(async |uow| uow.insert(lamp("F")).await).await.unwrap();
    ctx
}

fn skus(products: &[product::Model]) -> String {
    products.iter().map(|product| product.sku.as_str()).collect()
}

on_both_databases! {
    async fn a_query_takes_what_it_says_in_the_order_that_it_says(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let all = || ctx.query::<product::Entity>().order_by_desc(product::Column::Price).order_by(product::Column::Sku);
        let expected = "ABCDE";
        for take in [0_u64, 1, 2, 4, 5, 6, u64::MAX] {
            for skip in [0_u64, 1, 3, 5, 6, u64::MAX] {
                let end = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(expected.len());
                let rest = &expected[end(skip)..];
                let found = all().skip(skip).take(take).all().await;
                assert_eq!(skus(&found.unwrap()), &rest[..end(take).min(rest.len())], "{skip} {take}");
                assert_eq!(skus(&all().skip(skip).all().await.unwrap()), rest, "{skip}");
                let one = all().skip(skip).take(take).one().await.unwrap();
                assert_eq!(one.map(|product| product.sku), rest.chars().next().map(String::from), "{skip} {take}");
                assert_eq!(all().skip(skip).take(take).count().await.unwrap(), 5);
            }
        }
        let up = ctx.query::<product::Entity>().order_by(product::Column::Price).order_by_desc(product::Column::Sku);
        assert_eq!(skus(&up.all().await.unwrap()), "EDCBA");
    }

    async fn conditions_narrow_and_never_widen(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let query = || ctx.query::<product::Entity>().order_by(product::Column::Sku);
        let of = |skus: &[&str]| product::Column::Sku.is_in(skus.iter().copied());
        let both = query().filter(of(&["A", "B", "F"])).filter(of(&["B", "C", "F"]));
        assert_eq!(skus(&both.all().await.unwrap()), "B");
        // Whatever is said of another organisation's, it stays another's.
        let any = Condition::any().add(of(&["F"])).add(product::Column::OrganisationId.eq(Uuid::from_u128(2)));
        assert_eq!(query().filter(any.clone()).count().await.unwrap(), 0);
        assert_eq!(skus(&query().filter(any.add(of(&["E"]))).all().await.unwrap()), "E");
        assert_eq!(query().filter(of(&[])).count().await.unwrap(), 0);
        assert_eq!(query().filter(Condition::all()).count().await.unwrap(), 5);
        let hostile = product::Column::Sku.eq("' OR 1 = 1 --");
        assert_eq!(query().filter(hostile).count().await.unwrap(), 0);
    }

    async fn a_record_is_found_by_its_key_within_its_organisation(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let other = fixture.in_organisation(2);
        let theirs = other.query::<product::Entity>().one().await.unwrap().unwrap();
        assert_eq!(other.find::<product::Entity>(theirs.id).await.unwrap(), theirs);
        assert_eq!(ctx.get::<product::Entity>(theirs.id).await.unwrap(), None);
        let missing = [theirs.id, Uuid::nil(), Uuid::max()];
        for key in missing {
            let error = ctx.find::<product::Entity>(key).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound, "there is no such record"));
        }
        // Neither is it changed or removed, and what says so is the same.
        let mut change = theirs.clone().into_active_model();
        change.sku = Set("mine".to_owned());
        let changed = ctx.transact(async |uow| uow.update(change).await).await.unwrap_err();
        let removed = ctx.transact(async |uow| uow.delete::<product::Entity>(theirs.id).await).await.unwrap_err();
        for error in [changed, removed] {
            assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound, "there is no such record"));
        }
        assert_eq!(other.find::<product::Entity>(theirs.id).await.unwrap(), theirs);
        let all = ctx.query::<product::Entity>().all().await.unwrap();
        assert_eq!(ctx.get::<product::Entity>(all[0].id).await.unwrap().as_ref(), Some(&all[0]));
    }

    async fn rows_that_are_locked_wait_for_whoever_has_them(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        // Each adds to what it has read: with a lock nobody reads what somebody else is about to change.
        let add = |ctx: Context| async move {
            ctx.transact(async |uow| {
                let query = uow.query::<product::Entity>().filter(product::Column::Sku.eq("A")).for_update();
                let product = query.one().await?.unwrap();
                let price = product.price;
                let mut change = product.into_active_model();
                change.price = Set(price + sea_orm::prelude::Decimal::ONE);
                uow.update(change).await
            })
            .await
        };
        let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(add(ctx.clone()))).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let found = ctx.query::<product::Entity>().filter(product::Column::Sku.eq("A")).one().await.unwrap().unwrap();
        assert_eq!((found.price.normalize().to_string().as_str(), found.version), ("11", 9));
    }
}

/// On SQLite a plan is always kept.
#[tokio::test]
async fn postgresql_keeps_one_plan_for_the_first_rows() {
    let fixture = Fixture::start(Backend::Postgres).await;
    let database = &fixture.database;
    for sql in [
        "CREATE TABLE numbers (n BIGINT PRIMARY KEY)",
        "INSERT INTO numbers SELECT generate_series(1, 10000)",
        "ANALYZE numbers",
    ] {
        database.execute(database.statement(sql, [])).await.unwrap();
    }
    let number = || Expr::col(Alias::new("n"));
    let mut numbers = Query::select();
    numbers
        .expr(number())
        .from(Alias::new("numbers"))
        .and_where(number().gt(0))
        .order_by_expr(number(), Order::Asc);
    let ctx = fixture.in_organisation(1);
    // A unit of work has one connection.
    let plans = ctx.transact(async |uow| {
        for _ in 0..8 {
            let first = uow.rows(database.build_first(&mut numbers.clone(), 3)).await?;
            let limited = uow.rows(database.build(numbers.clone().limit(3))).await?;
            assert_eq!((first.len(), limited.len()), (3, 3));
        }
        let sql = "SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE ? ORDER BY statement";
        let plans = uow.rows(database.statement(sql, ["%FROM \"numbers\"%".into()])).await?;
        Ok(plans.iter().map(|row| row.try_get_by_index(0).unwrap()).collect::<Vec<i64>>())
    });
    assert_eq!(plans.await.unwrap(), [0, 3], "by a mark, and by a number in the text");
}
