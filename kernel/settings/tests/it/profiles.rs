use svc_core::{ErrorKind, OrganisationId};
use svc_data::Context;
use svc_settings::{Expected, Profile};
use svc_testing::on_both_databases;
use uuid::Uuid;

use crate::fixture::Fixture;

const KEY: &str = "shell.1";

on_both_databases! {
    async fn a_profile_is_the_person_s_whatever_the_key_says(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let profiles = fixture.profiles();
        let ada = fixture.person(1, 1, &[]);
        assert_eq!(profiles.load(&ada, KEY).await.unwrap(), None);
        // Kept byte for byte.
        let document = "{\"b\": 1.50,\n \"a\":\"ä\\u0000\"}";
        let version = profiles.save(&ada, KEY, document, Expected::Anything).await.unwrap();
        let saved = Profile { document: document.to_owned(), version };
        assert_eq!(profiles.load(&ada, KEY).await.unwrap(), Some(saved));
        for other in [fixture.person(2, 1, &[]), fixture.person(1, 2, &[])] {
            assert_eq!(profiles.load(&other, KEY).await.unwrap(), None);
            profiles.save(&other, KEY, "2", Expected::Nothing).await.unwrap();
        }
        assert_eq!(profiles.load(&ada, KEY).await.unwrap().unwrap().document, document);
        let system = Context::system_in(fixture.app.app(), OrganisationId(Uuid::from_u128(1)));
        let nobody = profiles.load(&system.unwrap(), KEY).await.unwrap_err();
        assert_eq!(nobody.kind(), ErrorKind::Forbidden);
    }

    async fn two_who_save_do_not_undo_each_other(backend) {
        let fixture = Fixture::start(backend, &[]).await;
        let (profiles, ada) = (fixture.profiles(), fixture.person(1, 1, &[]));
        let save = async |document: &str, expected| profiles.save(&ada, KEY, document, expected).await;
        let refused = async |expected| {
            assert_eq!(save("0", expected).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        };
        refused(Expected::Something).await;
        refused(Expected::Version(1)).await;
        let first = save("1", Expected::Nothing).await.unwrap();
        refused(Expected::Nothing).await;
        let second = save("2", Expected::Version(first)).await.unwrap();
        assert_eq!(second, first + 1);
        refused(Expected::Version(first)).await;
        assert_eq!(save("3", Expected::Something).await.unwrap(), second + 1);
        assert_eq!(profiles.load(&ada, KEY).await.unwrap().unwrap().document, "3");
    }

    async fn size_number_and_form_are_bounded(backend) {
        let bounds = [("Svc:Profiles:MaxBytes", 1_024), ("Svc:Profiles:MaxCount", 2)];
        let fixture = Fixture::start(backend, &bounds).await;
        let (profiles, ada) = (fixture.profiles(), fixture.person(1, 1, &[]));
        let save = async |key: &str, document: &str| {
            profiles.save(&ada, key, document, Expected::Anything).await.map_err(|e| e.kind())
        };
        let text = |length: usize| format!("\"{}\"", "a".repeat(length - 2));
        assert!(save("a", &text(1_024)).await.is_ok());
        assert_eq!(save("a", &text(1_025)).await, Err(ErrorKind::TooLarge));
        assert_eq!(save("a", "{\"a\":").await, Err(ErrorKind::Malformed));
        assert!(save("b", "null").await.is_ok());
        assert_eq!(save("c", "1").await, Err(ErrorKind::Conflict));
        assert!(save("b", "2").await.is_ok(), "one that is there can still be saved");
        assert!(profiles.save(&fixture.person(2, 1, &[]), "c", "1", Expected::Anything).await.is_ok());
        for key in ["", "a\u{0}", &"k".repeat(201)] {
            assert_eq!(save(key, "1").await, Err(ErrorKind::Invalid), "{key:?}");
            assert!(profiles.load(&ada, key).await.is_err());
        }
        assert!(profiles.load(&ada, &"ä".repeat(200)).await.unwrap().is_none());
    }
}
