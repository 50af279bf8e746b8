//! Sets that delete softly.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use svc_core::ErrorKind;
use svc_data::Context;
use uuid::Uuid;

use crate::fixture::path;
use crate::staff::{self, clerk, make, member, start};

async fn names(client: &Client, set: &str, options: &str) -> Vec<String> {
    let page = client.get(&path(set, options)).await.expect(200);
    let name = |entity: &Value| entity["name"].as_str().unwrap().to_owned();
    page["value"].as_array().unwrap().iter().map(name).collect()
}

on_both_databases! {
    async fn what_was_deleted_is_left_out_of_every_read(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let team = make(&boss, "Teams", json!({"name": "Red", "region": "EU"})).await;
        let mut ada = member("Ada", "ada@example.com", 1);
        ada["teamId"] = json!(team);
        let ada = make(&boss, "Members", ada).await;
        make(&boss, "Members", member("Bob", "bob@example.com", 1)).await;
        let one = format!("/odata/v1/Members({ada})");
        assert_eq!(boss.delete(&one).await.status.as_u16(), 204);
        assert_eq!(names(&boss, "Members", "$orderby=name").await, ["Bob"]);
        assert_eq!(boss.get("/odata/v1/Members/$count").await.text, "1");
        assert_eq!(names(&boss, "Members", "$search=ada").await, Vec::<String>::new());
        let counted = boss.get(&path("Members", "$apply=aggregate($count as n)")).await.expect(200);
        assert_eq!(counted["value"][0]["n"], 1);
        let expanded = boss.get("/odata/v1/Teams?$expand=members($count=true)").await.expect(200);
        assert_eq!((&expanded["value"][0]["members"], &expanded["value"][0]["members@odata.count"]), (&json!([]), &json!(0)));
        assert_eq!(names(&boss, "Teams", "$filter=members/any()").await, Vec::<String>::new());
        assert_eq!(names(&boss, "Teams", "$filter=members/all(m:m/name eq 'Zoe')").await, ["Red"]);
        assert_eq!(names(&boss, "Teams", "$filter=members/$count eq 0").await, ["Red"]);
        assert_eq!(boss.get(&format!("/odata/v1/Teams({team})/members")).await.expect(200)["value"], json!([]));
        // To all verbs it is what was never there.
        let missing = "/odata/v1/Members(01990000-0000-7000-8000-0000000000aa)";
        for method in [Method::GET, Method::PATCH, Method::PUT, Method::DELETE] {
            let body = member("Ada", "x@example.com", 1);
            let gone = boss.send_json(method.clone(), &one, &[], body.clone()).await;
            let never = boss.send_json(method.clone(), missing, &[], body).await;
            assert_eq!((gone.status, error(&gone.json())), (never.status, error(&never.json())), "{method}");
            assert_eq!(gone.status.as_u16(), 404);
        }
        // The name is free again.
        make(&boss, "Members", member("Ada", "ada2@example.com", 1)).await;
    }

    async fn who_may_restore_sees_what_was_deleted_in_a_set_of_its_own(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let ada = make(&boss, "Members", member("Ada", "ada@example.com", 37)).await;
        make(&boss, "Members", member("Bob", "bob@example.com", 1)).await;
        let mut far = member("Far", "far@example.com", 1);
        far["region"] = json!("ASIA");
        let far = make(&boss, "Members", far).await;
        for id in [&ada, &far] {
            assert_eq!(boss.delete(&format!("/odata/v1/Members({id})")).await.status.as_u16(), 204);
        }
        assert_eq!(names(&boss, "DeletedMembers", "$orderby=name").await, ["Ada", "Far"]);
        let one = format!("/odata/v1/DeletedMembers({ada})");
        assert!(boss.get(&one).await.expect(200)["deletedAt"].is_string());
        // Its rules are those of the set itself.
        let clerk = app.sign_in(&clerk().with_claim("regions", &["EU"]));
        assert_eq!(names(&clerk, "DeletedMembers", "").await, ["Ada"]);
        assert_eq!(clerk.get(&one).await.expect(200)["email"], "a***@example.com");
        assert_eq!(clerk.get(&path("DeletedMembers", "$filter=email eq 'ada@example.com'")).await.status.as_u16(), 400);
        assert_eq!(clerk.get(&format!("/odata/v1/DeletedMembers({far})")).await.status.as_u16(), 404);
        let restore = format!("/odata/v1/DeletedMembers({far})/Shop.Restore");
        assert_eq!(clerk.post(&restore, json!({})).await.status.as_u16(), 404);
        for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
            let path = if method == Method::POST { "/odata/v1/DeletedMembers" } else { &one };
            let answer = boss.send_json(method.clone(), path, &[], json!({})).await;
            assert_eq!(answer.status.as_u16(), 405, "{method}: {}", answer.text);
        }
        // Who may not restore knows of nothing.
        let reader = app.sign_in(&Person::named("reader").who_may(&["Members.View", "Teams.View"]));
        assert_eq!(reader.get("/odata/v1/DeletedMembers").await.status.as_u16(), 403);
        let metadata = reader.get("/odata/v1/$metadata").await.text;
        assert!(!metadata.contains("eleted"), "{metadata}");
        assert_eq!(reader.get(&path("Members", "$filter=deletedAt eq null")).await.status.as_u16(), 400);
    }

    async fn what_was_deleted_is_brought_back_by_an_action(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let ada = make(&boss, "Members", member("Ada", "ada@example.com", 37)).await;
        let one = format!("/odata/v1/Members({ada})");
        let restore = format!("/odata/v1/DeletedMembers({ada})/Shop.Restore");
        assert_eq!(boss.post(&restore, json!({})).await.status.as_u16(), 404);
        assert_eq!(boss.delete(&one).await.status.as_u16(), 204);
        let reader = app.sign_in(&Person::named("reader").who_may(&["Members.View"]));
        assert_eq!(reader.post(&restore, json!({})).await.status.as_u16(), 403);
        let stale = boss.send_json(Method::POST, &restore, &[("if-match", "W/\"1\"")], json!({})).await;
        assert_eq!(stale.status.as_u16(), 412, "{}", stale.text);
        let clerk = app.sign_in(&clerk());
        let restored = clerk.post(&restore, json!({})).await.expect(200);
        assert_eq!((&restored["name"], &restored["email"]), (&json!("Ada"), &json!("a***@example.com")));
        assert_eq!(boss.get(&one).await.expect(200)["deletedAt"], Value::Null);
        assert_eq!(clerk.post(&restore, json!({})).await.status.as_u16(), 404);
        let metadata = clerk.get("/odata/v1/$metadata").await.text;
        assert!(metadata.contains("<Action Name=\"Restore\""), "{metadata}");
    }

    async fn commands_see_what_was_deleted_only_where_they_say_so(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let ada = make(&boss, "Members", member("Ada", "ada@example.com", 1)).await;
        let id = Uuid::parse_str(&ada).unwrap();
        let ctx: Context = app.context(&Person::named("boss"));
        let before = ctx.find::<staff::member::Entity>(id).await.unwrap();
        let deleted = ctx.transact(async |uow| uow.delete::<staff::member::Entity>(id).await).await.unwrap();
        assert_eq!(deleted, before);
        assert_eq!(ctx.get::<staff::member::Entity>(id).await.unwrap(), None);
        assert_eq!(ctx.query::<staff::member::Entity>().count().await.unwrap(), 0);
        let marked = ctx.query::<staff::member::Entity>().with_deleted().one().await.unwrap().unwrap();
        assert_eq!((marked.deleted_at, marked.version), (Some(ctx.clock().now()), 2));
        // Neither changed nor deleted once more.
        let mut change = before.clone().into_active_model();
        change.grade = Set(5);
        let changed = ctx.transact(async |uow| uow.update(change).await).await;
        assert_eq!(changed.unwrap_err().kind(), ErrorKind::NotFound);
        let again = ctx.transact(async |uow| uow.delete::<staff::member::Entity>(id).await).await;
        assert_eq!(again.unwrap_err().kind(), ErrorKind::NotFound);
        // Somebody else has the name by now.
        let other = make(&boss, "Members", member("Ada", "x@example.com", 1)).await;
        let taken = ctx.transact(async |uow| uow.restore::<staff::member::Entity>(id).await).await;
        assert_eq!(taken.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(boss.delete(&format!("/odata/v1/Members({other})")).await.status.as_u16(), 204);
        let restored = ctx.transact(async |uow| uow.restore::<staff::member::Entity>(id).await).await.unwrap();
        assert_eq!(restored, staff::member::Model { version: 3, ..before });
        let twice = ctx.transact(async |uow| uow.restore::<staff::member::Entity>(id).await).await;
        assert_eq!(twice.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

fn error(body: &Value) -> Value {
    body["error"]["message"].clone()
}
