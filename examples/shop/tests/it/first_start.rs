//! What the first start prepares, and later ones leave alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use shop::product;
use svc::prelude::*;
use svc_testing::{ThrowAwayDatabase, on_both_databases};

use crate::fixture::Fixture;

/// Asks for sample data, as `cargo xtask run` does.
const WITH_DATA: &str = "--Svc:Sample:Data=true";

/// The products of all organisations.
async fn products(fixture: &Fixture) -> Vec<product::Model> {
    let system = Context::system(&fixture.app).unwrap();
    system.query::<product::Entity>().order_by(product::COLUMN.sku).all().await.unwrap()
}

async fn organisations(fixture: &Fixture) -> Vec<String> {
    let system = Context::system(&fixture.app).unwrap();
    let sql = "SELECT name FROM identity_organisations ORDER BY id";
    let rows = system.database().rows(system.database().statement(sql, [])).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

on_both_databases! {
    async fn an_empty_database_becomes_a_shop_once(backend) {
        let database = Arc::new(ThrowAwayDatabase::empty(backend).await);
        let first = Fixture::start_on(Arc::clone(&database), &[WITH_DATA]).await;
        assert_eq!(organisations(&first).await, ["Sample Wholesale"]);
        let loaded = products(&first).await;
        assert_eq!(loaded.len(), 83);
        let ctx = Context::system_in(&first.app, OrganisationId(loaded[0].organisation_id)).unwrap();
        let unsold = product::ActiveModel {
            sku: Set("NEW-1".to_owned()),
            name: Set("Whatever".to_owned()),
            category_id: Set(loaded[0].category_id),
            price: Set(Decimal::ONE),
            ..Default::default()
        };
        ctx.transact(async |uow| uow.insert(unsold).await).await.unwrap();

        let again = Fixture::start_on(database, &[WITH_DATA]).await;
        assert_eq!(organisations(&again).await, ["Sample Wholesale"]);
        assert_eq!(products(&again).await.len(), 84);
    }

    async fn two_nodes_that_start_at_once_make_one_shop(backend) {
        let database = Arc::new(ThrowAwayDatabase::empty(backend).await);
        // One waits for all that the other does, however slow the machine is.
        let settings = [WITH_DATA, "--Svc:Database:BusyTimeout=00:02:00"];
        let (one, other) = tokio::join!(
            Fixture::start_on(Arc::clone(&database), &settings),
            Fixture::start_on(Arc::clone(&database), &settings),
        );
        assert_eq!(organisations(&one).await, ["Sample Wholesale"]);
        assert_eq!(products(&other).await.len(), 83);
    }

    async fn the_organisation_of_an_unattended_set_up_gets_the_data(backend) {
        let database = Arc::new(ThrowAwayDatabase::empty(backend).await);
        let settings = [
            "--Svc:Setup:Organisation=Krüger & Co",
            "--Svc:Setup:AdminEmail=ada@example.com",
            "--Svc:Setup:AdminPassword=correct horse battery",
            WITH_DATA,
        ];
        let fixture = Fixture::start_on(database, &settings).await;
        assert_eq!(organisations(&fixture).await, ["Krüger & Co"]);
        let owners: BTreeSet<Uuid> =
            products(&fixture).await.iter().map(|product| product.organisation_id).collect();
        assert_eq!(owners.len(), 1);
    }

    async fn without_sample_data_nothing_is_prepared_until_it_is_asked_for(backend) {
        let database = Arc::new(ThrowAwayDatabase::empty(backend).await);
        let bare = Fixture::start_on(Arc::clone(&database), &[]).await;
        assert_eq!(organisations(&bare).await, [""; 0]);
        let filled = Fixture::start_on(database, &[WITH_DATA]).await;
        assert_eq!(products(&filled).await.len(), 83);
    }
}
