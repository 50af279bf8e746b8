use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use svc_core::ErrorKind;
use svc_data::Context;
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::{Fixture, lamp, product};

on_both_databases! {
    async fn one_organisation_never_touches_what_is_another_s(backend) {
        let fixture = Fixture::start(backend).await;
        let (ours, theirs) = (fixture.in_organisation(1), fixture.in_organisation(2));
        let lamp = ours.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        assert_eq!(theirs.get::<product::Entity>(lamp.id).await.unwrap(), None);
        assert_eq!(theirs.query::<product::Entity>().count().await.unwrap(), 0);
        let mut change = lamp.clone().into_active_model();
        change.sku = Set("THEIRS".to_owned());
        let changed = theirs.transact(async |uow| uow.update(change).await).await;
        assert_eq!(changed.unwrap_err().kind(), ErrorKind::NotFound);
        let deleted = theirs.transact(async |uow| uow.delete::<product::Entity>(lamp.id).await);
        assert_eq!(deleted.await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(ours.find::<product::Entity>(lamp.id).await.unwrap(), lamp);
    }

    async fn a_record_can_not_be_written_into_another_organisation(backend) {
        let fixture = Fixture::start(backend).await;
        let ours = fixture.in_organisation(1);
        let mut foreign = lamp("L-1");
        foreign.organisation_id = Set(Uuid::from_u128(2));
        let outcome = ours.transact(async |uow| uow.insert(foreign).await).await;
        assert!(outcome.unwrap_err().report().contains("another organisation"));
        let stored = ours.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        let mut moved = stored.into_active_model();
        moved.organisation_id = Set(Uuid::from_u128(2));
        let refusal = ours.transact(async |uow| uow.update(moved).await).await.unwrap_err();
        assert_eq!(refusal.fields()["organisationId"], ["can't be changed"]);
    }

    async fn the_system_sees_all_and_must_say_where_it_writes(backend) {
        let fixture = Fixture::start(backend).await;
        for organisation in [1, 2] {
            let ctx = fixture.in_organisation(organisation);
            ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        }
        let system = Context::system(&fixture.app).unwrap();
        assert_eq!(system.query::<product::Entity>().count().await.unwrap(), 2);
        let outcome = system.transact(async |uow| uow.insert(lamp("L-2")).await).await;
        assert!(outcome.unwrap_err().report().contains("must set `organisation_id`"));
    }
}
