//! Virtual properties of other modules, facets, and sets that are only read.

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use serde_json::{Value, json};
use svc_data::Context;
use svc_testing::{Client, Person, TestApp, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::path;
use crate::staff::{clerk, make, member, review, start};

async fn review_of(app: &TestApp, number: u128, id: &str, reviewer: &str) {
    let ctx = Context::system_in(app.app(), organisation(number)).unwrap();
    let review = review::ActiveModel {
        member_id: Set(Uuid::parse_str(id).unwrap()),
        reviewer: Set(reviewer.to_owned()),
        ..<review::ActiveModel as sea_orm::ActiveModelTrait>::default()
    };
    ctx.transact(async |uow| uow.insert(review).await).await.unwrap();
}

/// Ada, whom boss and eve have reviewed, Bob, whom eve has, and Cy, whom nobody has.
async fn world(app: &TestApp) -> Client {
    let boss = app.sign_in(&Person::named("boss"));
    let team = make(&boss, "Teams", json!({"name": "Red", "region": "EU"})).await;
    for (name, reviewers) in [("Ada", &["boss", "eve"][..]), ("Bob", &["eve"]), ("Cy", &[])] {
        let mut member = member(name, &format!("{name}@example.com"), 1);
        member["teamId"] = json!(team);
        let id = make(&boss, "Members", member).await;
        for reviewer in reviewers {
            review_of(app, 1, &id, reviewer).await;
        }
        // Another organisation's review of the same id counts for nothing.
        review_of(app, 2, &id, "boss").await;
    }
    boss
}

async fn names(client: &Client, options: &str) -> Vec<String> {
    let page = client.get(&path("Members", options)).await.expect(200);
    let name = |entity: &Value| entity["name"].as_str().unwrap().to_owned();
    page["value"].as_array().unwrap().iter().map(name).collect()
}

on_both_databases! {
    async fn a_virtual_property_is_selected_filtered_and_sorted_by(backend) {
        let app = start(backend).await;
        let boss = world(&app).await;
        let page = boss.get("/odata/v1/Members?$orderby=name").await.expect(200);
        assert_eq!(page["value"][0].get("reviewCount"), None, "only who asks for it pays for it");
        let page = boss.get("/odata/v1/Members?$select=*&$orderby=name").await.expect(200);
        assert_eq!(page["value"][0].get("reviewCount"), None);
        let selected = boss.get("/odata/v1/Members?$select=reviewCount,standing,reviewedByMe&$orderby=name").await.expect(200);
        let first = &selected["value"][0];
        assert_eq!((&first["reviewCount"], &first["standing"], &first["reviewedByMe"]), (&json!(2), &json!("proven"), &json!(true)));
        assert_eq!(names(&boss, "$filter=reviewCount eq 1").await, ["Bob"]);
        assert_eq!(names(&boss, "$filter=reviewedByMe").await, ["Ada"]);
        assert_eq!(names(&boss, "$filter=not reviewedByMe and reviewCount gt 0").await, ["Bob"]);
        assert_eq!(names(&boss, "$orderby=reviewCount desc,name").await, ["Ada", "Bob", "Cy"]);
        assert_eq!(names(&boss, "$orderby=standing,name").await, ["Bob", "Cy", "Ada"]);
        assert_eq!(names(&boss, "$compute=reviewCount mul 2 as twice&$filter=twice gt 3").await, ["Ada"]);
        let one = page["value"][0]["id"].as_str().unwrap();
        assert_eq!(boss.get(&format!("/odata/v1/Members({one})/reviewCount")).await.expect(200)["value"], 2);
        assert_eq!(boss.get(&format!("/odata/v1/Members({one})/reviewCount/$value")).await.text, "2");
        let expanded = boss.get(&path("Teams", "$expand=members($select=name,reviewCount;$orderby=reviewCount;$filter=standing eq 'new')")).await.expect(200);
        let members = expanded["value"][0]["members"].as_array().unwrap();
        assert_eq!((members.len(), &members[0]["name"], &members[1]["reviewCount"]), (2, &json!("Cy"), &json!(1)));
        assert_eq!(boss.get(&path("Teams", "$filter=members/any(m:m/reviewCount gt 1)")).await.expect(200)["value"].as_array().unwrap().len(), 1);
        assert_eq!(boss.get(&path("Teams/$count", "$filter=members/all(m:m/reviewCount gt 0)")).await.text, "0");
        // Nobody sets it.
        let made = boss.post("/odata/v1/Members", json!({"name": "Di", "grade": 1, "region": "EU", "reviewCount": 9})).await.expect(201);
        assert_eq!(boss.get(&format!("/odata/v1/Members({})?$select=reviewCount", made["id"].as_str().unwrap())).await.expect(200)["reviewCount"], 0);
    }

    async fn the_answer_to_a_change_has_no_virtual_property(backend) {
        let app = start(backend).await;
        let boss = world(&app).await;
        let page = boss.get("/odata/v1/Members").await.expect(200);
        let mut new = member("Dee", "dee@example.com", 1);
        new["teamId"] = page["value"][0]["teamId"].clone();
        let made = boss.post("/odata/v1/Members", new).await.expect(201);
        assert_eq!((&made["name"], made.get("reviewCount")), (&json!("Dee"), None));
    }

    async fn pages_go_on_after_a_virtual_property(backend) {
        let app = start(backend).await;
        let boss = world(&app).await;
        let mut link = path("Members", "$orderby=standing desc,reviewCount&$select=name");
        let mut found = Vec::new();
        loop {
            let page = boss.send(http::Method::GET, &link, &[("prefer", "odata.maxpagesize=1")], "").await.expect(200);
            found.push(page["value"][0]["name"].as_str().unwrap().to_owned());
            match page["@odata.nextLink"].as_str() {
                Some(next) => next.clone_into(&mut link),
                None => break,
            }
        }
        assert_eq!(found, ["Ada", "Cy", "Bob"]);
    }

    async fn facets_are_counts_by_value(backend) {
        let app = start(backend).await;
        let boss = world(&app).await;
        let facet = boss.get(&path("Members", "$apply=groupby((standing),aggregate($count as count))&$orderby=count desc")).await.expect(200);
        assert_eq!(facet["value"], json!([{"standing": "new", "count": 2}, {"standing": "proven", "count": 1}]));
        let narrowed = boss.get(&path("Members", "$apply=filter(reviewCount gt 0)/groupby((standing,region),aggregate($count as count))&$orderby=standing")).await.expect(200);
        assert_eq!(narrowed["value"], json!([{"standing": "new", "region": "EU", "count": 1}, {"standing": "proven", "region": "EU", "count": 1}]));
        // Metadata says which are meant for it: to the clerk none that can't be grouped by.
        let facets = async |client: &Client| {
            let metadata = client.get("/odata/v1/$metadata?$format=json").await.expect(200);
            let member = metadata["Shop"]["Member"].as_object().unwrap().clone();
            let marked = member.into_iter().filter(|(_, property)| property["@Self.IsFacet"] == true);
            marked.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(facets(&boss).await, ["email", "region", "standing"]);
        assert_eq!(facets(&app.sign_in(&clerk())).await, ["region"]);
        let xml = boss.get("/odata/v1/$metadata").await.text;
        assert!(xml.contains("Alias=\"Self\"") && xml.contains("<Term Name=\"IsFacet\"") && xml.contains("Term=\"Self.IsFacet\""), "{xml}");
    }

    async fn what_is_set_once_or_never_is_passed_over_later(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let id = make(&boss, "Teams", json!({"name": "Red", "region": "EU"})).await;
        let one = format!("/odata/v1/Teams({id})");
        let other = "01990000-0000-7000-8000-0000000000aa";
        let sent = json!({"id": other, "name": "Blue", "region": "ASIA"});
        for answer in [boss.patch(&one, sent.clone()).await, boss.put(&one, sent.clone()).await] {
            let answer = answer.expect(200);
            assert_eq!((&answer["id"], &answer["name"], &answer["region"]), (&json!(id), &json!("Blue"), &json!("EU")));
        }
        let metadata = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        assert_eq!(metadata["Shop"]["Team"]["region"]["@Core.Immutable"], true);
        assert_eq!(metadata["Shop"]["Member"]["secret"]["@Core.Computed"], true);
        let updates = &metadata["Shop"]["Container"]["Teams"]["@Capabilities.UpdateRestrictions"];
        assert_eq!(updates["NonUpdatableProperties"], json!(["id", "region"]));
        let inserts = &metadata["Shop"]["Container"]["Members"]["@Capabilities.InsertRestrictions"];
        assert_eq!(inserts["NonInsertableProperties"], json!(["secret", "deletedAt", "reviewCount", "standing", "reviewedByMe"]));
        // What nobody may set is neither set by a replacement.
        let eve = make(&boss, "Members", member("Eve", "eve@example.com", 1)).await;
        let ctx = app.context(&Person::named("boss"));
        let key = Uuid::parse_str(&eve).unwrap();
        let mut change = ctx.find::<crate::staff::member::Entity>(key).await.unwrap().into_active_model();
        change.secret = Set(Some("kept".to_owned()));
        ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        let replaced = boss.put(&format!("/odata/v1/Members({eve})"), member("Eva", "eva@example.com", 2)).await.expect(200);
        assert_eq!((&replaced["name"], &replaced["secret"]), (&json!("Eva"), &json!("kept")));
    }

    async fn a_set_that_is_only_viewed_is_changed_by_nobody(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let metadata = boss.get("/odata/v1/$metadata?$format=json").await.expect(200);
        let set = &metadata["Shop"]["Container"]["Entries"];
        for (verb, member) in [("Insert", "Insertable"), ("Update", "Updatable"), ("Delete", "Deletable")] {
            assert_eq!(set[format!("@Capabilities.{verb}Restrictions")][member], false, "{verb}");
        }
        let id = "01990000-0000-7000-8000-0000000000aa";
        let refused = [
            boss.post("/odata/v1/Entries", json!({"amount": 1})).await,
            boss.patch(&format!("/odata/v1/Entries({id})"), json!({"amount": 1})).await,
            boss.put(&format!("/odata/v1/Entries({id})"), json!({"amount": 1})).await,
            boss.delete(&format!("/odata/v1/Entries({id})")).await,
        ];
        for answer in refused {
            assert_eq!(answer.status.as_u16(), 405, "{}", answer.text);
            assert_eq!(answer.header("allow"), "GET, HEAD, OPTIONS");
        }
        let document = boss.get("/openapi/v1.json").await.expect(200);
        let described = |address: &str| document["paths"][address].as_object().unwrap().clone();
        assert!(!described("/odata/v1/Entries").contains_key("post"));
        assert!(!described("/odata/v1/Entries({key})").contains_key("patch"));
        assert!(described("/odata/v1/Members({key})").contains_key("patch"));
        assert_eq!(boss.get("/odata/v1/Entries").await.expect(200)["value"], json!([]));
    }
}
