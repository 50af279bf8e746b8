use svc_core::{ErrorKind, KeyRing};
use svc_testing::on_both_databases;

use crate::fixture::{Fixture, KEY};

const OTHER_KEY: &str = "ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

on_both_databases! {
    async fn a_database_is_only_opened_with_its_own_keys(backend) {
        let fixture = Fixture::start(backend).await;
        let ring = fixture.app.service::<KeyRing>().unwrap();
        let protected = ring.protect("test", b"secret");
        let fixture = fixture.restart_with_key(KEY).await.unwrap();
        let ring = fixture.app.service::<KeyRing>().unwrap();
        assert_eq!(ring.reveal("test", &protected).unwrap(), b"secret");
        let refusal = fixture.restart_with_key(OTHER_KEY).await.err().unwrap();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        assert!(refusal.message().contains("`Svc:DataProtection:Keys`"), "{refusal}");
    }
}
