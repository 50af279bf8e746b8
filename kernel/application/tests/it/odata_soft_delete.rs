//! Sets that delete softly.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::path;
use crate::staff::{clerk, make, member, start};

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
}

fn error(body: &Value) -> Value {
    body["error"]["message"].clone()
}
