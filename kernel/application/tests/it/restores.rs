//! Records that are written under a given key: what was deleted and comes back, and what is there
//! or not.

use sea_orm::Value;
use serde_json::{Value as Json, json};
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Context, Expected, NewValues, Record};
use svc_odata::model::SetIndex;
use svc_odata::value::Value as Literal;
use svc_sets::{Sets, Upserted, Verb};
use svc_testing::{Person, TestApp, on_both_databases, organisation};

use crate::{depot, staff};

/// A set, with the service that writes it.
struct Writing {
    sets: std::sync::Arc<Sets>,
    set: SetIndex,
}

impl Writing {
    fn of(app: &TestApp, set: &str) -> Self {
        let sets = app.app().service::<Sets>().unwrap();
        let set = sets.find(set).unwrap();
        Self { sets, set }
    }

    fn key(&self, id: &str) -> Value {
        self.sets.key_value(self.set, &Literal::Guid(id.parse().unwrap())).unwrap()
    }

    async fn create(&self, ctx: &Context, properties: Json) -> Result<Record> {
        let properties = properties.as_object().unwrap();
        let input = self.sets.input_of_json(ctx, self.set, properties, Verb::Create)?;
        ctx.transact(async |uow| self.sets.create(&uow, self.set, input.clone()).await).await
    }

    async fn upsert(
        &self,
        ctx: &Context,
        key: &Value,
        properties: Json,
        expected: Expected,
    ) -> Result<Upserted> {
        let input = self.sets.input_of_json(
            ctx,
            self.set,
            properties.as_object().unwrap(),
            Verb::Change,
        )?;
        ctx.transact(async |uow| {
            self.sets.upsert(&uow, self.set, key, input.clone(), Verb::Change, expected).await
        })
        .await
    }

    async fn change(&self, ctx: &Context, key: &Value, properties: Json) -> Result<Record> {
        let input = self.sets.input_of_json(
            ctx,
            self.set,
            properties.as_object().unwrap(),
            Verb::Change,
        )?;
        ctx.transact(async |uow| {
            self.sets.change(&uow, self.set, key, input.clone(), Verb::Change, Expected::Any).await
        })
        .await
    }

    async fn delete(&self, ctx: &Context, key: &Value) -> Result<Record> {
        ctx.transact(async |uow| self.sets.delete(&uow, self.set, key, Expected::Any).await).await
    }

    async fn bring_back(&self, ctx: &Context, was: &Record, expected: Expected) -> Result<Record> {
        let key = was.key(self.sets.entity(self.set));
        let was: NewValues = was.values().iter().cloned().map(Some).collect();
        ctx.transact(async |uow| {
            self.sets.bring_back(&uow, self.set, key, was.clone(), expected).await
        })
        .await
    }

    fn column(&self, name: &str) -> usize {
        self.sets.entity(self.set).column_index(name).unwrap()
    }

    fn version(&self, record: &Record) -> Option<i64> {
        record.version(self.sets.entity(self.set))
    }
}

fn fields(error: &Error) -> Vec<String> {
    error.fields().keys().map(ToString::to_string).collect()
}

on_both_databases! {
    async fn what_was_removed_is_brought_back_as_it_was(backend) {
        let app = depot::start(backend).await;
        let items = Writing::of(&app, "Items");
        let (boss, clerk) = (app.context(&Person::named("boss")), app.context(&depot::clerk()));
        let made = items.create(&boss, json!({"sku": "A", "price": 1.5, "cost": 2, "traits": {"a": [1]}})).await.unwrap();
        let key = made.key(items.sets.entity(items.set)).clone();
        let refused = items.bring_back(&boss, &made, Expected::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "it is there");
        let changed = items.change(&boss, &key, json!({"price": 3})).await.unwrap();
        items.delete(&boss, &key).await.unwrap();
        let stale = items.bring_back(&clerk, &made, Expected::Version(1)).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::PreconditionFailed);
        // The clerk doesn't see what it cost, and brings that back with it.
        let back = items.bring_back(&clerk, &changed, Expected::Version(2)).await.unwrap();
        assert_eq!(items.version(&back), Some(3));
        for (index, column) in items.sets.entity(items.set).columns.iter().enumerate() {
            if Some(index) != items.sets.entity(items.set).version_index() {
                assert_eq!(back.value(index), changed.value(index), "{}", column.name);
            }
        }
        items.delete(&boss, &key).await.unwrap();
        // Meanwhile another has its number.
        items.create(&boss, json!({"sku": "A", "price": 1})).await.unwrap();
        let taken = items.bring_back(&boss, &back, Expected::Version(3)).await.unwrap_err();
        assert_eq!((taken.kind(), fields(&taken)), (ErrorKind::Conflict, vec!["sku".to_owned()]));
        let reader = app.context(&Person::named("reader").who_may(&["Items.View", "Items.Update", "Items.Delete"]));
        let refused = items.bring_back(&reader, &back, Expected::Any).await.unwrap_err();
        assert_eq!(refused.message(), "this needs the permission `Items.Create`");
        // Nobody brings a record into another organisation.
        let stranger = app.context(&Person::named("stranger").of(organisation(2)));
        let refused = items.bring_back(&stranger, &back, Expected::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }

    async fn what_only_the_application_makes_is_brought_back_whole(backend) {
        let app = depot::start(backend).await;
        let receipts = Writing::of(&app, "Receipts");
        let entity = receipts.sets.entity(receipts.set);
        let boss = app.context(&Person::named("boss"));
        let mut row: NewValues = vec![None; entity.columns.len()];
        row[receipts.column("number")] = Some(17.into());
        let made = boss.transact(async |uow| uow.insert_records(entity, vec![row.clone()]).await).await.unwrap();
        receipts.delete(&boss, made[0].key(entity)).await.unwrap();
        let reader = app.context(&Person::named("reader").who_may(&["Receipts.View", "Receipts.Update"]));
        let refused = receipts.bring_back(&reader, &made[0], Expected::Any).await.unwrap_err();
        assert_eq!(refused.message(), "this needs the permission `Receipts.Delete`");
        let back = receipts.bring_back(&boss, &made[0], Expected::Version(1)).await.unwrap();
        assert_eq!((back.value(receipts.column("number")), receipts.version(&back)), (&17.into(), Some(2)));
    }

    async fn what_was_deleted_softly_is_brought_back_by_who_may_see_it(backend) {
        let app = staff::start(backend).await;
        let members = Writing::of(&app, "Members");
        let (boss, clerk) = (app.context(&Person::named("boss")), app.context(&staff::clerk()));
        let made = members.create(&boss, staff::member("Ada", "ada@example.com", 7)).await.unwrap();
        let key = made.key(members.sets.entity(members.set)).clone();
        members.delete(&boss, &key).await.unwrap();
        let stale = members.bring_back(&clerk, &made, Expected::Version(1)).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::PreconditionFailed);
        let mut unable = vec!["Members.View", "Members.Create", "Members.Update", "Members.Delete"];
        let person = app.context(&Person::named("unable").who_may(&unable));
        let refused = members.bring_back(&person, &made, Expected::Any).await.unwrap_err();
        assert_eq!(refused.message(), "this needs the permission `Members.Restore`");
        // Who would not see it doesn't get it.
        unable.push("Members.Restore");
        let far = app.context(&Person::named("far").who_may(&unable).with_claim("regions", &["ASIA"]));
        let refused = members.bring_back(&far, &made, Expected::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        let back = members.bring_back(&clerk, &made, Expected::Version(2)).await.unwrap();
        assert_eq!(back.value(members.column("grade")), made.value(members.column("grade")));
        assert_eq!(members.version(&back), Some(3));
        // One that was removed for good since is made anew.
        let entity = members.sets.entity(members.set);
        boss.transact(async |uow| uow.purge_record(entity, &key, Expected::Any).await).await.unwrap();
        let back = members.bring_back(&clerk, &back, Expected::Version(3)).await.unwrap();
        assert_eq!((members.version(&back), back.value(members.column("grade"))), (Some(4), made.value(members.column("grade"))));
    }

    async fn an_upsert_changes_what_is_there_and_creates_what_is_not(backend) {
        let app = depot::start(backend).await;
        let items = Writing::of(&app, "Items");
        let (boss, clerk) = (app.context(&Person::named("boss")), app.context(&depot::clerk()));
        let key = items.key("01990000-0000-7000-8000-000000000001");
        let refused = items.upsert(&clerk, &key, json!({"sku": "A"}), Expected::Version(1)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PreconditionFailed);
        let refused = items.upsert(&clerk, &key, json!({"sku": "A"}), Expected::Any).await.unwrap_err();
        assert_eq!((refused.kind(), fields(&refused)), (ErrorKind::Invalid, vec!["price".to_owned()]));
        let made = items.upsert(&clerk, &key, json!({"sku": "A", "price": 1}), Expected::Any).await.unwrap();
        assert!(matches!(&made, Upserted::Created(_)), "{made:?}");
        assert_eq!(made.into_record().key(items.sets.entity(items.set)), &key);
        let changed = items.upsert(&clerk, &key, json!({"unit": "box"}), Expected::Version(1)).await.unwrap();
        assert!(matches!(&changed, Upserted::Changed(_)), "{changed:?}");
        assert_eq!(items.version(&changed.into_record()), Some(2));
        let same = items.upsert(&boss, &key, json!({"unit": "box"}), Expected::Version(2)).await.unwrap();
        assert_eq!(items.version(&same.into_record()), Some(2), "nothing was changed");
        let refused = items.upsert(&clerk, &key, json!({"cost": 5}), Expected::Any).await.unwrap_err();
        assert_eq!((refused.kind(), fields(&refused)), (ErrorKind::Malformed, vec!["cost".to_owned()]));
        let refused = items.upsert(&boss, &key, json!({"container": {"name": "C"}}), Expected::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotImplemented);
        // What is of another organisation is as a key that is taken.
        let stranger = app.context(&Person::named("stranger").of(organisation(2)));
        let refused = items.upsert(&stranger, &key, json!({"sku": "Z", "price": 1}), Expected::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
    }
}
