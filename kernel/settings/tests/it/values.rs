use serde_json::json;
use svc_core::{Error, ErrorKind, OrganisationId};
use svc_data::Context;
use svc_settings::{ApplicationSettings, MANAGE_SETTINGS};
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::{CHIME, COLOUR, Fixture, MAX_ITEMS, person};

on_both_databases! {
    async fn a_person_s_setting_is_the_person_s_own_in_each_organisation(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let settings = fixture.settings();
        let ada = fixture.person(1, 1, &[]);
        settings.set(&ada, CHIME, &json!(false)).await.unwrap();
        let others = [fixture.person(2, 1, &[]), fixture.person(1, 2, &[])];
        assert!(!settings.get::<bool>(&ada, CHIME).await.unwrap());
        for other in others {
            assert!(settings.get::<bool>(&other, CHIME).await.unwrap());
        }
        settings.reset(&ada, CHIME).await.unwrap();
        assert!(settings.get::<bool>(&ada, CHIME).await.unwrap());
        // Where no person calls, the default is in force, and nobody's can be changed.
        let system = Context::system_in(fixture.app.app(), OrganisationId(Uuid::from_u128(1)));
        let system = system.unwrap();
        assert!(settings.get::<bool>(&system, CHIME).await.unwrap());
        let refusal = settings.set(&system, CHIME, &json!(false)).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Forbidden);
    }

    async fn who_may_change_a_setting_is_as_it_declares(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let settings = fixture.settings();
        let manager = fixture.person(1, 1, &[MANAGE_SETTINGS]);
        let painter = fixture.person(2, 1, &["Shelf.Paint"]);
        settings.set(&painter, COLOUR, &json!("green")).await.unwrap();
        settings.set(&manager, MAX_ITEMS, &json!(5)).await.unwrap();
        for (ctx, name, value) in
            [(&manager, COLOUR, json!("red")), (&painter, MAX_ITEMS, json!(6))]
        {
            let refusal = settings.set(ctx, name, &value).await.unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::Forbidden, "{name}");
        }
        // A module's own code may, as the system within the organisation.
        let system = Context::system_in(fixture.app.app(), OrganisationId(Uuid::from_u128(1)));
        settings.set(&system.unwrap(), MAX_ITEMS, &json!(7)).await.unwrap();
        assert_eq!(fixture.max_items(&painter).await, 7);
        assert_eq!(settings.get::<String>(&manager, COLOUR).await.unwrap(), "green");
    }

    async fn a_change_is_an_event_and_what_changes_nothing_is_none(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let settings = fixture.settings();
        let ada = fixture.person(1, 1, &[MANAGE_SETTINGS]);
        settings.set(&ada, MAX_ITEMS, &json!(5)).await.unwrap();
        settings.set(&ada, MAX_ITEMS, &json!(5)).await.unwrap();
        settings.set(&ada, CHIME, &json!(false)).await.unwrap();
        settings.reset(&ada, MAX_ITEMS).await.unwrap();
        settings.reset(&ada, MAX_ITEMS).await.unwrap();
        fixture.app.drain().await;
        let mut heard = std::mem::take(&mut *fixture.heard.lock());
        heard.sort_by_key(ToString::to_string);
        let ada = Uuid::from_u128(1);
        assert_eq!(
            heard,
            [
                json!({"name": CHIME, "userId": ada, "value": false}),
                json!({"name": MAX_ITEMS, "userId": null, "value": 20}),
                json!({"name": MAX_ITEMS, "userId": null, "value": 5}),
            ]
        );
    }

    async fn a_change_that_is_rolled_back_is_never_in_force_for_others(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let settings = fixture.settings();
        let ada = fixture.person(1, 1, &[MANAGE_SETTINGS]);
        let failed = ada
            .transact(async |uow| {
                settings.set(uow.context(), MAX_ITEMS, &json!(5)).await?;
                // The unit of work sees its own change.
                assert_eq!(settings.get::<u32>(uow.context(), MAX_ITEMS).await?, 5);
                Err::<(), _>(Error::conflict("told to fail"))
            })
            .await;
        assert!(failed.is_err());
        assert_eq!(fixture.max_items(&ada).await, 20);
        fixture.app.drain().await;
        assert!(fixture.heard.lock().is_empty());
    }

    async fn another_node_sees_a_change_when_it_is_told(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let other = fixture.app.another_node().await;
        let there = person(&other, 1, 1, &[]);
        let settings = other.app().service::<ApplicationSettings>().unwrap();
        assert_eq!(settings.get::<u32>(&there, MAX_ITEMS).await.unwrap(), 20);
        let ada = fixture.person(1, 1, &[MANAGE_SETTINGS]);
        let mut told = fixture.app.app().wakes().called();
        fixture.settings().set(&ada, MAX_ITEMS, &json!(5)).await.unwrap();
        while told.recv().await.unwrap() != "settings" {}
        other.app().wakes().call_local("settings");
        assert_eq!(settings.get::<u32>(&there, MAX_ITEMS).await.unwrap(), 5);
    }
}
