use sea_orm::ActiveValue::Set;
use sea_orm::ColumnTrait as _;
use svc_core::ErrorKind;
use svc_testing::on_both_databases;
use time::OffsetDateTime;
use time::macros::datetime;

use crate::fixture::{Fixture, lamp, product};

on_both_databases! {
    async fn times_sort_and_compare_with_and_without_decimals(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let times = [
            datetime!(2026-01-01 00:00:00.5 UTC),
            datetime!(2026-01-01 00:00:00 UTC),
            datetime!(2026-01-01 01:00:00.000_001 +1),
        ];
        let lamps = times.iter().zip(["HALF", "ZERO", "MICRO"]).map(|(time, sku)| {
            product::ActiveModel { available_from: Set(Some(*time)), ..lamp(sku) }
        });
        ctx.transact(async |uow| uow.insert_many(lamps).await).await.unwrap();
        let later = ctx
            .query::<product::Entity>()
            .filter(product::Column::AvailableFrom.gt(datetime!(2026-01-01 00:00:00 UTC)))
            .order_by(product::Column::AvailableFrom)
            .all()
            .await
            .unwrap();
        let later: Vec<_> = later.iter().map(|product| product.sku.as_str()).collect();
        assert_eq!(later, ["MICRO", "HALF"]);
    }

    async fn decimals_compare_as_numbers_and_keep_their_digits(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let prices = ["9.99", "10.00", "1234567890.12"];
        let lamps = prices.iter().map(|price| product::ActiveModel {
            price: Set(price.parse().unwrap()),
            ..lamp(price)
        });
        ctx.transact(async |uow| uow.insert_many(lamps).await).await.unwrap();
        let nine = sea_orm::prelude::Decimal::new(999, 2);
        let dear = ctx
            .query::<product::Entity>()
            .filter(product::Column::Price.gt(nine))
            .order_by(product::Column::Price)
            .all()
            .await
            .unwrap();
        let dear: Vec<_> = dear.iter().map(|product| product.price.normalize().to_string()).collect();
        assert_eq!(dear, ["10", "1234567890.12"]);
    }

    async fn what_breaks_a_rule_is_refused_by_its_property(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let wrong = product::ActiveModel {
            sku: Set("a name of more than twenty letters".to_owned()),
            price: Set("12345678901.00".parse().unwrap()),
            ..lamp("L-1")
        };
        let refusal = ctx.transact(async |uow| uow.insert(wrong).await).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Invalid);
        assert_eq!(refusal.fields()["sku"], ["must have at most 20 characters"]);
        assert_eq!(refusal.fields()["price"], ["must have at most 10 digits before the point"]);
        let no_sku = product::ActiveModel { sku: sea_orm::NotSet, ..lamp("") };
        let refusal = ctx.transact(async |uow| uow.insert(no_sku).await).await.unwrap_err();
        assert_eq!(refusal.fields()["sku"], ["is required"]);
        let zero = lamp("a\0b");
        let refusal = ctx.transact(async |uow| uow.insert(zero).await).await.unwrap_err();
        assert_eq!(refusal.fields()["sku"], ["must not contain the character U+0000"]);
    }

    async fn a_time_is_stored_in_whole_microseconds_of_utc(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.in_organisation(1);
        let time: OffsetDateTime = datetime!(2026-01-01 01:00:00.123_456_789 +1);
        let lamp = product::ActiveModel { available_from: Set(Some(time)), ..lamp("L-1") };
        let stored = ctx.transact(async |uow| uow.insert(lamp).await).await.unwrap();
        assert_eq!(stored.available_from, Some(datetime!(2026-01-01 00:00:00.123_456 UTC)));
        assert_eq!(ctx.find::<product::Entity>(stored.id).await.unwrap(), stored);
    }
}
