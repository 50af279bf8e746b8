//! The lists that people open first are read by an index and in its order, on both databases: nothing
//! is sorted, however much there is.

use std::sync::Arc;

use shop::{category, product};
use svc::prelude::*;
use svc::sets::Sets;
use svc_testing::{Backend, ThrowAwayDatabase, on_both_databases};

use crate::fixture::Fixture;

/// Products, all of which are cheap and sold, so that no other condition leaves few.
const PRODUCTS: i64 = 3_000;

/// What is asked for, and the index that tells.
const LISTS: [(&str, &str); 5] = [
    ("", ""),
    ("$orderby=name", "products_name"),
    ("$orderby=name desc", "products_name"),
    ("$orderby=price", "products_price"),
    ("$filter=price lt 5000 and discontinued eq false&$orderby=name", "products_name"),
];

async fn stock(fixture: &Fixture) {
    let clerk = fixture.clerk();
    let stored = clerk.transact(async |uow| {
        let category =
            category::ActiveModel { name: Set("Tools".to_owned()), ..Default::default() };
        let category_id = uow.insert(category).await?.id;
        let products = (0..PRODUCTS).map(|number| product::ActiveModel {
            sku: Set(format!("P-{number}")),
            name: Set(format!("Product {}", number * 7_919 % PRODUCTS)),
            category_id: Set(category_id),
            unit: Set("piece".to_owned()),
            price: Set(Decimal::from(number % 900)),
            ..Default::default()
        });
        uow.insert_many(products.collect::<Vec<_>>()).await
    });
    stored.await.unwrap();
}

/// The steps of the plan by which a list is read.
async fn plan(ctx: &Context, options: &str) -> String {
    let sets = ctx.app().service::<Sets>().unwrap();
    let options = options.replace(' ', "%20");
    sets.explain(ctx, "Products", &options).await.unwrap().join("\n")
}

on_both_databases! {
    async fn lists_of_products_are_read_in_the_order_of_an_index(backend) {
        let database = Arc::new(ThrowAwayDatabase::empty(backend).await);
        stock(&Fixture::start_on(Arc::clone(&database), &[]).await).await;
        // SQLite gathers statistics at a start, PostgreSQL within a minute.
        let fixture = Fixture::start_on(Arc::clone(&database), &[]).await;
        if backend == Backend::Postgres {
            let tables = fixture.clerk().database().clone();
            tables.execute(tables.statement("ANALYZE products", [])).await.unwrap();
        }
        for permissions in [["Products.View", "Products.SeeAllRegions"], ["Products.View", "Products.View"]] {
            let ctx = fixture.person(1, permissions);
            for (options, index) in LISTS {
                let plan = plan(&ctx, options).await;
                // Backwards, those of one name are put in the order of their keys.
                let sorts = plan.replace("B-TREE FOR LAST TERM", "").replace("Incremental Sort", "");
                let sorts = sorts.contains("B-TREE") || sorts.contains("Sort  (");
                let reads = plan.to_lowercase();
                let by_index = reads.contains("using index") || reads.contains("index scan");
                assert!(!sorts && by_index && plan.contains(index), "{permissions:?} {options}: {plan}");
            }
        }
    }
}
