//! Response filters: what leaves the application is changed for those whom they apply to, and what
//! they change can be used for nothing else.

use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, TestApp, on_both_databases};

use crate::fixture::path;
use crate::staff::{clerk, make, member, start};

/// A team with Ada in it.
async fn ada(app: &TestApp) -> (Client, String, String) {
    let boss = app.sign_in(&Person::named("boss"));
    let team = make(&boss, "Teams", json!({"name": "Red", "region": "EU"})).await;
    let mut ada = member("Ada", "ada@example.com", 37);
    ada["teamId"] = json!(team);
    let id = make(&boss, "Members", ada).await;
    (boss, id, team)
}

on_both_databases! {
    async fn what_goes_out_is_changed_on_every_way(backend) {
        let app = start(backend).await;
        let (boss, id, team) = ada(&app).await;
        let clerk = app.sign_in(&clerk());
        let seen = |value: &Value| (value["email"].clone(), value["grade"].clone());
        let changed = (json!("a***@example.com"), json!(30));
        let one = format!("/odata/v1/Members({id})");
        assert_eq!(seen(&clerk.get(&one).await.expect(200)), changed);
        assert_eq!(seen(&boss.get(&one).await.expect(200)), (json!("ada@example.com"), json!(37)));
        let page = clerk.get("/odata/v1/Members").await.expect(200);
        assert_eq!(seen(&page["value"][0]), changed);
        let expanded = clerk.get("/odata/v1/Teams?$expand=members").await.expect(200);
        assert_eq!(seen(&expanded["value"][0]["members"][0]), changed);
        let followed = clerk.get(&format!("/odata/v1/Teams({team})/members")).await.expect(200);
        assert_eq!(seen(&followed["value"][0]), changed);
        // One of what a filter takes together is asked for alone.
        let selected = clerk.get("/odata/v1/Members?$select=grade").await.expect(200);
        assert_eq!(selected["value"][0]["grade"], 30);
        assert_eq!(selected["value"][0].get("email"), None);
        assert_eq!(clerk.get(&format!("{one}/email")).await.expect(200)["value"], "a***@example.com");
        assert_eq!(clerk.get(&format!("{one}/email/$value")).await.text, "a***@example.com");
        let batch = json!({"requests": [{"id": "1", "method": "get", "url": format!("Members({id})")}]});
        let batch = clerk.post("/odata/v1/$batch", batch).await.expect(200);
        assert_eq!(seen(&batch["responses"][0]["body"]), changed);
        // The answers to changes too.
        let patched = clerk.patch(&one, json!({"name": "Ada L."})).await.expect(200);
        assert_eq!(seen(&patched), changed);
        let made = clerk.post("/odata/v1/Members", member("Bob", "bob@example.com", 12)).await;
        assert_eq!(seen(&made.expect(201)), (json!("b***@example.com"), json!(10)));
        assert_eq!(boss.get("/odata/v1/Members?$filter=email%20eq%20'bob@example.com'&$count=true").await.expect(200)["@odata.count"], 1);
    }

    async fn what_is_changed_on_its_way_out_can_not_be_asked_about(backend) {
        let app = start(backend).await;
        let (_, id, _) = ada(&app).await;
        let clerk = app.sign_in(&clerk());
        let refused = [
            ("Members", "$filter=email eq 'ada@example.com'"),
            ("Members", "$filter=startswith(email,'a')"),
            ("Members", "$filter=email eq null"),
            ("Members", "$filter=grade gt 35"),
            ("Members", "$filter=(grade add 0) gt 35"),
            ("Members", "$filter=@p gt 35&@p=grade"),
            ("Members", "$orderby=email"),
            ("Members", "$orderby=grade add 0"),
            ("Members", "$compute=grade add 1 as g"),
            ("Members", "$compute=length(email) as n"),
            ("Members", "$apply=groupby((email))"),
            ("Members", "$apply=aggregate(grade with max as m)"),
            ("Members", "$apply=aggregate(email with countdistinct as m)"),
            ("Members", "$apply=filter(grade gt 35)"),
            ("Members", "$apply=compute(grade mul 2 as c)"),
            ("Members", "$apply=orderby(grade)/top(1)"),
            ("Members/$count", "$filter=grade gt 35"),
            ("Members/$filter(grade gt 35)", ""),
            ("Teams", "$filter=members/any(m:m/grade gt 35)"),
            ("Teams", "$filter=members/all(m:m/email eq 'x')"),
            ("Teams", "$filter=members/$count($filter=grade gt 35) gt 0"),
            ("Teams", "$expand=members($filter=grade gt 35)"),
            ("Teams", "$expand=members($orderby=grade)"),
            ("Teams", "$expand=members($compute=grade add 1 as g)"),
            ("Teams", "$apply=aggregate(members/grade with max as m)"),
        ];
        for (set, options) in refused {
            let answer = clerk.get(path(set, options).trim_end_matches('?')).await;
            assert!([400, 501].contains(&answer.status.as_u16()), "{set} {options}: {}", answer.text);
            assert!(!answer.text.contains("ada@"), "{}", answer.text);
        }
        let refusal = clerk.get(&path("Members", "$filter=grade gt 35")).await.expect(400);
        let message = refusal["error"]["message"].as_str().unwrap();
        assert!(message.contains("`grade` cannot be used in expressions or keys"), "{message}");
        // A search looks only at what is returned as it is.
        let found = clerk.get("/odata/v1/Members?$search=example").await.expect(200);
        assert_eq!(found["value"], json!([]));
        assert_eq!(clerk.get("/odata/v1/Members?$search=ada").await.expect(200)["value"][0]["id"], *id);
    }

    async fn what_is_seen_in_a_changed_form_is_not_written_back(backend) {
        let app = start(backend).await;
        let (boss, id, _) = ada(&app).await;
        let clerk = app.sign_in(&clerk());
        let one = format!("/odata/v1/Members({id})");
        let read = clerk.get(&one).await;
        let tag = read.json()["@odata.etag"].as_str().unwrap().to_owned();
        // A guess that is right and one that is wrong are answered alike.
        for guess in [json!({"grade": 37}), json!({"grade": 38})] {
            let answer = clerk.patch(&one, guess).await;
            assert_eq!(answer.header("etag"), tag, "{}", answer.text);
        }
        let mut sent = read.json();
        sent["name"] = json!("Ada L.");
        let _ = clerk.put(&one, sent).await.expect(200);
        let stored = boss.get(&one).await.expect(200);
        assert_eq!((&stored["name"], &stored["email"], &stored["grade"]), (&json!("Ada L."), &json!("ada@example.com"), &json!(37)));
    }

    async fn metadata_says_what_can_not_be_used(backend) {
        let app = start(backend).await;
        let set = async |client: &Client| {
            let metadata = client.get("/odata/v1/$metadata?$format=json").await.expect(200);
            metadata["Shop"]["Container"]["Members"].clone()
        };
        let clerk = set(&app.sign_in(&clerk())).await;
        let unusable = json!(["email", "grade"]);
        assert_eq!(clerk["@Capabilities.FilterRestrictions"]["NonFilterableProperties"], unusable);
        assert_eq!(clerk["@Capabilities.SortRestrictions"]["NonSortableProperties"], unusable);
        let not_updatable = &clerk["@Capabilities.UpdateRestrictions"]["NonUpdatableProperties"];
        assert!(not_updatable.as_array().unwrap().contains(&json!("email")), "{not_updatable}");
        let boss = set(&app.sign_in(&Person::named("boss"))).await;
        assert_eq!(boss["@Capabilities.FilterRestrictions"].get("NonFilterableProperties"), None);
    }

    async fn a_filter_of_another_module_works_for_whom_it_says(backend) {
        let app = start(backend).await;
        let (boss, id, _) = ada(&app).await;
        // Hidden and only read: both hold, whatever is said last.
        let sent = json!({"name": "Eve", "grade": 1, "region": "EU", "secret": "abc"});
        let eve = boss.post("/odata/v1/Members", sent).await.expect(201);
        assert_eq!(eve["secret"], Value::Null);
        let clerk = app.sign_in(&clerk());
        assert_eq!(clerk.get(&format!("/odata/v1/Members({id})/secret")).await.status.as_u16(), 404);
        let auditor = Person::named("auditor").with_claim("auditor", &["yes"]);
        let auditor = app.sign_in(&auditor);
        let page = auditor.send(Method::GET, &path("Members", "$filter=secret eq null"), &[], "").await;
        assert_eq!(page.status.as_u16(), 400, "{}", page.text);
        assert_eq!(boss.get(&path("Members", "$filter=secret eq null")).await.expect(200)["value"].as_array().unwrap().len(), 2);
    }
}
