//! What a set's rules make of its events: response filters and soft deletion.

use std::time::Duration;

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Context, DataRegistry as _};
use svc_database::Migration;
use svc_testing::{Backend, Person, Received, Receiver, TestApp, on_both_databases};
use svc_webhooks::{WebhookSet as _, Webhooks};
use uuid::Uuid;

use crate::fixture::types;

mod contact {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "contacts")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) name: String,
        pub(crate) email: String,
        pub(crate) deleted_at: Option<OffsetDateTime>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Contacts;

impl Module for Contacts {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_contacts",
            "CREATE TABLE contacts (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                name TEXT NOT NULL,
                email TEXT NOT NULL,
                deleted_at TIMESTAMPTZ,
                version BIGINT NOT NULL
            );",
        )]);
        registry.entity_set::<contact::Entity>("Contacts", |set| {
            set.response_filter([contact::Column::Email], |_, [email]| {
                [json!(format!("{}…", &email.as_str().unwrap_or_default()[..1]))]
            })
            .unless("Contacts.SeeEmails")
            .soft_delete(contact::Column::DeletedAt)
            .webhooks()
        });
    }
}

struct World {
    app: TestApp,
    receiver: Receiver,
    ctx: Context,
}

impl World {
    /// An application whose events go to an endpoint of this person.
    async fn of(backend: Backend, owner: &Person) -> Self {
        let receiver = Receiver::start().await;
        let app = TestApp::builder(|| Application::new("shop").module(Webhooks).module(Contacts))
            .setting("Svc:Webhooks:RequireHttps", false)
            .setting("Svc:Webhooks:AllowPrivateNetworks", true)
            .setting("Svc:Webhooks:AllowedPorts:0", receiver.port())
            .start(backend)
            .await;
        let body = json!({"url": receiver.url(), "events": ["*"], "includesChanges": true});
        let _ = app.sign_in(owner).post("/api/v1/webhooks", body).await.expect(201);
        let ctx = app.context(&Person::named("boss"));
        Self { app, receiver, ctx }
    }

    async fn create(&self) -> Uuid {
        let new = contact::ActiveModel {
            name: Set("Ada".to_owned()),
            email: Set("ada@example.com".to_owned()),
            ..Default::default()
        };
        self.ctx.transact(async |uow| uow.insert(new).await).await.unwrap().id
    }

    async fn deliver(&self) -> Vec<Received> {
        self.app.advance(Duration::from_secs(1));
        self.app.drain().await;
        self.receiver.received()
    }
}

fn data(received: &Received) -> Json {
    received.json()["data"].clone()
}

on_both_databases! {
    async fn data_is_changed_as_in_the_api(backend) {
        let clerk = Person::named("Clerk").who_may(&["Webhooks.Manage", "Contacts.View"]);
        let world = World::of(backend, &clerk).await;
        let id = world.create().await;
        let mut change = world.ctx.find::<contact::Entity>(id).await.unwrap().into_active_model();
        change.email = Set("countess@example.com".to_owned());
        world.ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        let received = world.deliver().await;
        assert_eq!(types(&received), ["contacts.created", "contacts.updated"]);
        assert_eq!(data(&received[0]), json!({"id": id, "name": "Ada", "email": "a…"}));
        assert_eq!(data(&received[1])["email"], "c…");
        for one in &received {
            assert!(!String::from_utf8_lossy(&one.body).contains("example.com"));
        }
    }

    async fn a_soft_deletion_carries_the_entity_and_a_final_one_its_key(backend) {
        let world = World::of(backend, &Person::named("Boss")).await;
        let id = world.create().await;
        let ctx = &world.ctx;
        ctx.transact(async |uow| uow.delete::<contact::Entity>(id).await).await.unwrap();
        assert!(ctx.get::<contact::Entity>(id).await.unwrap().is_none());
        ctx.transact(async |uow| uow.restore::<contact::Entity>(id).await).await.unwrap();
        ctx.transact(async |uow| uow.delete::<contact::Entity>(id).await).await.unwrap();
        ctx.transact(async |uow| uow.purge::<contact::Entity>(id).await).await.unwrap();
        let received = world.deliver().await;
        let deleted = "contacts.deleted";
        let told = ["contacts.created", deleted, "contacts.updated", deleted];
        assert_eq!(types(&received), told, "what nobody could see any more is told no second time");
        let whole = json!({"id": id, "name": "Ada", "email": "ada@example.com", "deletedAt": null});
        assert_eq!((data(&received[1]), data(&received[2])), (whole.clone(), whole));
        let gone = world.create().await;
        ctx.transact(async |uow| uow.purge::<contact::Entity>(gone).await).await.unwrap();
        let received = world.deliver().await;
        assert_eq!(types(&received), ["contacts.created", deleted]);
        assert_eq!(data(&received[1]), json!({"id": gone}));
    }
}
