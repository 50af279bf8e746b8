//! Enumerations: one stored as text under other names, one as a number that may be null, and one
//! that is hidden from most.

mod rulings;

use http::Method;
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Context, DataRegistry as _, Expected};
use svc_database::{Backend, Migration};
use svc_testing::{Client, Person, TestApp, on_both_databases, organisation};

use crate::fixture::path;
use crate::two_worlds::Questions;

pub mod ticket {
    use sea_orm::entity::prelude::*;
    use serde::Serialize;

    /// Neither the stored texts nor the names have the order of the members.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "String", db_type = "String(StringLen::N(1))", enum_name = "ticket_state")]
    #[serde(rename_all = "camelCase")]
    pub enum State {
        #[sea_orm(string_value = "N")]
        New,
        #[sea_orm(string_value = "Z")]
        InWork,
        #[sea_orm(string_value = "A")]
        Done,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
    pub enum Urgency {
        Low = -1,
        High = 5,
        Drastic = 10,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "i32", db_type = "Integer")]
    pub enum Verdict {
        Innocent = 0,
        Guilty = 1,
    }

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "tickets")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub title: String,
        pub state: State,
        pub urgency: Option<Urgency>,
        pub verdict: Option<Verdict>,
        pub parent_id: Option<Uuid>,
        pub version: i64,
        #[sea_orm(
            self_ref,
            relation_enum = "Parent",
            relation_reverse = "Children",
            from = "parent_id",
            to = "id"
        )]
        pub parent: BelongsTo<Option<Entity>>,
        #[sea_orm(self_ref, relation_enum = "Children", relation_reverse = "Parent")]
        pub children: HasMany<Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Tickets;

impl Module for Tickets {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_tickets",
            "CREATE TABLE tickets (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                title TEXT NOT NULL,
                state VARCHAR(1) NOT NULL,
                urgency SMALLINT,
                verdict INTEGER,
                parent_id UUID,
                version BIGINT NOT NULL
            );",
        )]);
        registry.entity_set::<ticket::Entity>("Tickets", |set| {
            set.enumeration::<ticket::State>(ticket::Column::State)
                .enumeration::<ticket::Urgency>(ticket::Column::Urgency)
                .enumeration::<ticket::Verdict>(ticket::Column::Verdict)
                .hidden(ticket::Column::Verdict)
                .unless("Tickets.Judge")
                .response_filter([ticket::Column::Urgency], |_, [urgency]| {
                    [if urgency == "Drastic" { json!("High") } else { urgency }]
                })
                .unless("Tickets.SeeUrgency")
                .upsert()
                .facets([ticket::Column::State])
                .alternate_key([ticket::Column::State, ticket::Column::Title])
                .action("Rule", |action| action.on_each(rulings::rule))
                .function("Courts", |function| {
                    function.needs("Tickets.Rule").on_each(rulings::courts)
                })
                .function("HowFar", |function| {
                    function.needs("Tickets.Rule").on_each(rulings::state)
                })
        });
    }
}

async fn start(backend: Backend) -> TestApp {
    TestApp::builder(|| Application::new("desk").module(Tickets)).start(backend).await
}

/// Somebody who sees urgencies in a changed form, and knows of no verdicts.
fn clerk() -> Person {
    let verbs = ["Tickets.View", "Tickets.Create", "Tickets.Update", "Tickets.Delete"];
    Person::named("clerk").who_may(&verbs)
}

/// | title | state | urgency | verdict |
/// | --- | --- | --- | --- |
/// | a | done | | |
/// | b | new | Drastic | Guilty |
/// | c | inWork | Low | Innocent |
/// | d | new | High | Guilty |
async fn stock(client: &Client) -> Vec<String> {
    let tickets = [
        json!({"title": "a", "state": "done"}),
        json!({"title": "b", "state": "new", "urgency": "Drastic", "verdict": "Guilty"}),
        json!({"title": "c", "state": "inWork", "urgency": "Low", "verdict": "Innocent"}),
        json!({"title": "d", "state": "new", "urgency": "High", "verdict": "Guilty"}),
    ];
    let mut ids: Vec<String> = Vec::new();
    for mut ticket in tickets {
        if let Some(first) = ids.first() {
            ticket["parentId"] = json!(first);
        }
        let made = client.post("/odata/v1/Tickets", ticket).await.expect(201);
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    ids
}

fn titles(page: &Value) -> String {
    let titles = page["value"].as_array().unwrap().iter();
    titles.map(|ticket| ticket["title"].as_str().unwrap()).collect()
}

async fn found(client: &Client, options: &str) -> String {
    titles(&client.get(&path("Tickets", options)).await.expect(200))
}

/// The titles of all pages of one, one after the other.
async fn walked(client: &Client, options: &str) -> String {
    let (mut path, mut seen) = (path("Tickets", options), String::new());
    loop {
        let headers = [("prefer", "odata.maxpagesize=1")];
        let page = client.send(Method::GET, &path, &headers, "").await.expect(200);
        seen.push_str(&titles(&page));
        match page.get("@odata.nextLink") {
            Some(link) => link.as_str().unwrap().clone_into(&mut path),
            None => return seen,
        }
    }
}

/// Writes past the framework.
async fn store(app: &TestApp, assignment: &str, title: &str) {
    let ctx = Context::system_in(app.app(), organisation(1)).unwrap();
    let sql = format!("UPDATE tickets SET {assignment} WHERE title = '{title}'");
    let statement = ctx.database().statement(&sql, []);
    ctx.transact(async |uow| uow.execute(statement).await).await.unwrap();
}

on_both_databases! {
    async fn members_are_told_by_their_names(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let ids = stock(&client).await;
        let page = client.get("/odata/v1/Tickets?$orderby=title&$select=state,urgency,verdict").await.expect(200);
        let told = |ticket: &Value| format!("{} {} {}", ticket["state"], ticket["urgency"], ticket["verdict"]);
        let told: Vec<String> = page["value"].as_array().unwrap().iter().map(told).collect();
        assert_eq!(told, [
            r#""done" null null"#, r#""new" "Drastic" "Guilty""#, r#""inWork" "Low" "Innocent""#, r#""new" "High" "Guilty""#,
        ]);
        let one = format!("/odata/v1/Tickets({})", ids[2]);
        assert_eq!(client.get(&one).await.expect(200)["state"], "inWork");
        assert_eq!(client.get(&format!("{one}/urgency")).await.expect(200)["value"], "Low");
        assert_eq!(client.get(&format!("{one}/state/$value")).await.text, "inWork");
        let full = [("accept", "application/json;odata.metadata=full")];
        let full = client.send(Method::GET, &format!("{one}/state"), &full, "").await.expect(200);
        assert_eq!(full["@odata.type"], "#Desk.TicketState");
        let expanded = client.get(&format!("{one}?$expand=parent($select=state)")).await.expect(200);
        assert_eq!(expanded["parent"]["state"], "done");
        for key in ["Tickets(state='inWork',title='c')", "Tickets(title='c',state=Desk.TicketState'inWork')"] {
            assert_eq!(client.get(&format!("/odata/v1/{key}")).await.expect(200)["id"], json!(ids[2]));
        }
    }

    async fn filters_go_by_names_and_the_order_of_members(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            ("state eq 'new'", "bd"),
            ("state eq Desk.TicketState'new'", "bd"),
            ("Desk.TicketState'new' ne state", "ac"),
            ("state eq '1'", "c"),
            ("state in ('new',Desk.TicketState'done')", "abd"),
            ("state has 'new'", "bd"),
            ("state has Desk.TicketState'done'", "a"),
            ("not (state has 'new')", "ac"),
            ("state gt 'new'", "ac"),
            ("state ge Desk.TicketState'inWork' and state lt 'done'", "c"),
            ("not (state le 'inWork')", "a"),
            ("'inWork' gt state", "bd"),
            ("urgency eq 'High'", "d"),
            ("urgency eq null", "a"),
            ("urgency ne Desk.Urgency'High'", "abc"),
            ("urgency in ('Low',null)", "ac"),
            ("urgency gt 'Low'", "bd"),
            ("not (urgency gt 'Low')", "ac"),
            ("urgency has '10'", "b"),
            ("not (urgency has 'Drastic')", "acd"),
            ("case(urgency eq null:'new',true:state) eq 'new'", "abd"),
            ("case(urgency eq null:state,true:'new') eq 'done'", "a"),
            ("parent/state eq 'done'", "bcd"),
            ("parent/state lt 'done'", ""),
            ("children/any(c:c/state eq 'inWork')", "a"),
            ("children/any(c:c/state gt 'inWork')", ""),
            ("children/all(c:c/urgency ge 'Low')", "abcd"),
            ("state eq @s&@s='done'", "a"),
            ("state eq @s&@s=Desk.TicketState'done'", "a"),
            ("state in @s&@s=['done','inWork']", "ac"),
        ];
        for (filter, expected) in cases {
            assert_eq!(found(&client, &format!("$orderby=title&$filter={filter}")).await, expected, "{filter}");
        }
        assert_eq!(client.get(&path("Tickets/$count", "$filter=state eq 'new'")).await.text, "2");
    }

    async fn what_is_no_member_or_no_use_of_one_is_refused(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        for (options, status, part) in [
            ("$filter=state eq 'old'", 400, "`new`, `inWork`, `done`"),
            ("$filter=state eq '7'", 400, "`new`, `inWork`, `done`"),
            ("$filter=state eq 'new,done'", 400, "`new`, `inWork`, `done`"),
            ("$filter=state eq Desk.Urgency'Low'", 400, "state"),
            ("$filter=state eq 0", 400, "state"),
            ("$filter=state eq urgency", 400, "urgency"),
            ("$filter=title has 'new'", 400, "enumeration"),
            ("$filter=contains(state,'n')", 400, "Edm.String"),
            ("$filter=state add 1 eq 1", 400, "`add`"),
            ("$filter=state", 400, "state"),
            ("$filter=length(cast(state,Edm.String)) eq 3", 501, "cast"),
            ("$apply=aggregate(state with sum as s)", 400, "sum"),
        ] {
            let refusal = client.get(&path("Tickets", options)).await.expect(status);
            let message = refusal["error"]["message"].as_str().unwrap();
            assert!(message.contains(part), "{options}: {message}");
        }
    }

    async fn members_are_sorted_by_their_numbers_page_by_page(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        for (order, expected) in [
            ("state,title", "bdca"),
            ("state desc,title", "acbd"),
            ("urgency,title", "acdb"),
            ("urgency desc", "bdca"),
            ("state,urgency desc", "bdca"),
            ("parent/state,title", "abcd"),
            ("case(title eq 'a':'new',true:state),title", "abdc"),
        ] {
            assert_eq!(found(&client, &format!("$orderby={order}")).await, expected, "{order}");
            assert_eq!(walked(&client, &format!("$orderby={order}")).await, expected, "{order}, by pages");
        }
        let expanded = client.get(&path("Tickets", "$filter=title eq 'a'&$expand=children($orderby=state,title;$top=2)")).await.expect(200);
        assert_eq!(titles(&json!({"value": expanded["value"][0]["children"]})), "bd");
    }

    async fn members_are_grouped_by_and_aggregated(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        for (options, expected) in [
            (
                "$apply=groupby((state),aggregate($count as n))&$orderby=state desc",
                json!([{"state": "done", "n": 1}, {"state": "inWork", "n": 1}, {"state": "new", "n": 2}]),
            ),
            (
                "$apply=groupby((urgency))&$orderby=urgency",
                json!([{"urgency": null}, {"urgency": "Low"}, {"urgency": "High"}, {"urgency": "Drastic"}]),
            ),
            (
                "$apply=aggregate(state with min as first,state with max as last,state with countdistinct as n,\
                 urgency with min as least,urgency with max as most)",
                json!([{"first": "new", "last": "done", "n": 3, "least": "Low", "most": "Drastic"}]),
            ),
            (
                "$apply=filter(state lt 'done')/groupby((state),aggregate(urgency with max as most))/filter(state gt 'new')",
                json!([{"state": "inWork", "most": "Low"}]),
            ),
            (
                "$apply=groupby((parent/state),aggregate($count as n))&$orderby=n",
                json!([{"parent": {"state": null}, "n": 1}, {"parent": {"state": "done"}, "n": 3}]),
            ),
            (
                "$apply=concat(aggregate(state with max as s),groupby((state)))&$orderby=state,s",
                json!([{"s": "done", "state": null}, {"s": null, "state": "new"}, {"s": null, "state": "inWork"}, {"s": null, "state": "done"}]),
            ),
        ] {
            let headers = [("accept", "application/json;odata.metadata=none")];
            let page = client.send(Method::GET, &path("Tickets", options), &headers, "").await.expect(200);
            assert_eq!(page["value"], expected, "{options}");
        }
    }

    async fn members_are_written_by_name_and_nothing_else_is(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let made = client.post("/odata/v1/Tickets", json!({"title": "a", "state": "inWork", "urgency": "5"})).await.expect(201);
        assert_eq!((&made["state"], &made["urgency"]), (&json!("inWork"), &json!("High")));
        let one = format!("/odata/v1/Tickets({})", made["id"].as_str().unwrap());
        let changed = client.patch(&one, json!({"state": "done", "urgency": null})).await.expect(200);
        assert_eq!((&changed["state"], &changed["urgency"]), (&json!("done"), &json!(null)));
        let put = json!({"title": "a", "state": "new", "urgency": "Low"});
        assert_eq!(client.put(&one, put).await.expect(200)["state"], "new");
        let replaced = client.put(&format!("{one}/urgency"), json!({"value": "Drastic"})).await;
        assert!(replaced.status.is_success(), "{}", replaced.text);
        let before = client.get(&one).await.expect(200);
        assert_eq!((&before["state"], &before["urgency"]), (&json!("new"), &json!("Drastic")));
        for (wrong, part) in [
            (json!("old"), "`new`, `inWork`, `done`"),
            (json!("N"), "`new`, `inWork`, `done`"),
            (json!("7"), "`new`, `inWork`, `done`"),
            (json!("new,done"), "`new`, `inWork`, `done`"),
            (json!(0), "as a text"),
            (json!(null), "null"),
        ] {
            let body = json!({"title": "b", "state": wrong});
            for answer in [
                client.post("/odata/v1/Tickets", body.clone()).await,
                client.patch(&one, body.clone()).await,
                client.put(&one, body.clone()).await,
                client.put(&format!("{one}/state"), json!({"value": wrong})).await,
                client.post("/odata/v1/Tickets", json!({"title": "b", "state": "new", "children": [body]})).await,
            ] {
                assert!(matches!(answer.status.as_u16(), 400 | 422), "{} {}", answer.status, answer.text);
                assert!(answer.text.contains("state") && answer.text.contains(part), "{}", answer.text);
            }
        }
        let refusal = client.patch(&one, json!({"state": "old"})).await.expect(422);
        assert_eq!(refusal["error"]["details"][0]["target"], "state", "{refusal}");
        assert_eq!(client.get(&one).await.expect(200), before);
        assert_eq!(client.get("/odata/v1/Tickets/$count").await.text, "1");
        let missing = "/odata/v1/Tickets(01990000-0000-7000-8000-000000000001)";
        assert_eq!(client.put(missing, json!({"title": "u", "state": "done"})).await.expect(201)["state"], "done");
        let batch = json!({"requests": [
            {"id": "1", "method": "patch", "url": one, "headers": {"content-type": "application/json"}, "body": {"state": "done"}},
            {"id": "2", "method": "get", "url": one},
        ]});
        let batch = client.post("/odata/v1/$batch", batch).await.expect(200);
        assert_eq!(batch["responses"][1]["body"]["state"], "done", "{batch}");
        let deep = json!({"title": "p", "state": "new", "children": [{"title": "q", "state": "done", "urgency": "Low"}]});
        let deep = client.post("/odata/v1/Tickets", deep).await.expect(201);
        assert_eq!(deep["children"][0]["urgency"], "Low", "{deep}");
    }

    async fn the_application_itself_writes_nothing_but_members(backend) {
        let app = start(backend).await;
        let ids = stock(&app.sign_in(&Person::named("boss"))).await;
        let ctx = Context::system_in(app.app(), organisation(1)).unwrap();
        let model = ctx.catalogue().set("Tickets").unwrap().clone();
        let key = sea_orm::Value::from(ids[0].parse::<uuid::Uuid>().unwrap());
        for (column, value, told) in [
            ("state", sea_orm::Value::from("inWork"), "must be one of `new`, `inWork`, `done`"),
            ("urgency", 7_i16.into(), "must be one of `Low`, `High`, `Drastic`"),
        ] {
            let mut values = vec![None; model.columns.len()];
            values[model.column_index(column).unwrap()] = Some(value);
            let changed = ctx.transact(async |uow| uow.update_record(&model, &key, values, Expected::Any).await).await;
            let refusal = changed.unwrap_err();
            assert_eq!(refusal.fields()[column], [told]);
        }
    }

    async fn a_stored_value_that_is_no_member_is_told_as_it_is(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let ids = stock(&client).await;
        store(&app, "state = '?', urgency = 7", "b").await;
        let page = client.get("/odata/v1/Tickets?$orderby=title").await.expect(200);
        assert_eq!((titles(&page), &page["value"][1]["state"], &page["value"][1]["urgency"]), ("abcd".to_owned(), &json!("?"), &json!("7")));
        // A text has no number, so it comes first; a number keeps its own.
        for (order, expected) in [("state,title", "bdca"), ("state desc,title", "acdb"), ("urgency", "acdb")] {
            assert_eq!(walked(&client, &format!("$orderby={order}")).await, expected, "{order}");
        }
        for (filter, expected) in [
            ("state lt 'done'", "cd"),
            ("not (state lt 'done')", "ab"),
            ("state ne 'new'", "abc"),
            ("urgency gt 'High'", "b"),
            ("state eq null", ""),
        ] {
            assert_eq!(found(&client, &format!("$orderby=title&$filter={filter}")).await, expected, "{filter}");
        }
        let grouped = client.get(&path("Tickets", "$apply=groupby((state))&$orderby=state")).await.expect(200);
        assert_eq!(grouped["value"][0]["state"], "?");
        let aggregated = path("Tickets", "$apply=aggregate(state with countdistinct as n,state with min as first)");
        let aggregated = client.get(&aggregated).await.expect(200);
        assert_eq!((&aggregated["value"][0]["n"], &aggregated["value"][0]["first"]), (&json!(4), &json!("new")));
        let one = format!("/odata/v1/Tickets({})", ids[1]);
        assert_eq!(client.patch(&one, json!({"title": "e"})).await.expect(200)["state"], "?");
        assert_eq!(client.patch(&one, json!({"state": "done", "urgency": "Low"})).await.expect(200)["urgency"], "Low");
    }

    async fn who_sees_an_enumeration_changed_sees_members_and_can_not_use_them(backend) {
        let app = start(backend).await;
        stock(&app.sign_in(&Person::named("boss"))).await;
        let client = app.sign_in(&clerk());
        let page = client.get("/odata/v1/Tickets?$orderby=title").await.expect(200);
        assert_eq!(page["value"][1]["urgency"], "High");
        for options in ["$filter=urgency eq 'High'", "$filter=urgency has 'High'", "$orderby=urgency", "$apply=aggregate(urgency with max as m)"] {
            let _ = client.get(&path("Tickets", options)).await.expect(400);
        }
        let made = client.post("/odata/v1/Tickets", json!({"title": "e", "state": "new", "urgency": "Drastic"})).await.expect(201);
        assert_eq!(made["urgency"], "High", "the answer to a change is filtered too");
    }

    async fn a_hidden_enumeration_is_not_told_of(backend) {
        let (without, with) = (start(backend).await, start(backend).await);
        let id = "01990000-0000-7000-8000-000000000001";
        for (app, verdict) in [(&without, json!(null)), (&with, json!("Guilty"))] {
            let boss = app.sign_in(&Person::named("boss"));
            let ticket = json!({"id": id, "title": "a", "state": "new", "verdict": verdict});
            let _ = boss.post("/odata/v1/Tickets", ticket).await.expect(201);
        }
        let mut reads: Vec<(String, String)> = [
            ("Tickets", ""),
            ("Tickets", "$select=verdict"),
            ("Tickets", "$filter=verdict eq 'Guilty'"),
            ("Tickets", "$filter=verdict eq Desk.Verdict'Guilty'"),
            ("Tickets", "$filter=verdict has Desk.Verdict'Guilty'"),
            ("Tickets", "$filter=verdict in ('Guilty')"),
            ("Tickets", "$filter=verdict gt 'Innocent'"),
            ("Tickets", "$filter=children/any(c:c/verdict eq 'Guilty')"),
            ("Tickets", "$orderby=verdict"),
            ("Tickets", "$compute=case(verdict eq 'Guilty':1,true:2) as v"),
            ("Tickets", "$apply=groupby((verdict))"),
            ("Tickets", "$apply=aggregate(verdict with max as v)"),
            ("$metadata", ""),
            ("$metadata", "$format=json"),
        ]
        .map(|(set, options)| (set.to_owned(), options.to_owned())).into();
        reads.extend(["verdict", "verdict/$value"].map(|name| (format!("Tickets({id})/{name}"), String::new())));
        let changes = [json!({"verdict": "Innocent"}), json!({"verdict": "Mild"})];
        let changes = changes.map(|body| (Method::PATCH, format!("Tickets({id})"), body)).into();
        Questions { reads, changes }.tell_no_difference(&without, &with, &clerk(), 6).await;
        // A type that the clerk sees no property of is as unknown as one that isn't there.
        let client = with.sign_in(&clerk());
        for metadata in ["/odata/v1/$metadata", "/odata/v1/$metadata?$format=json"] {
            let metadata = client.get(metadata).await.text;
            assert!(metadata.contains("TicketState") && !metadata.contains("erdict") && !metadata.contains("Guilty"), "{metadata}");
        }
        for filter in ["state eq Desk.Verdict'Guilty'", "Desk.Verdict'Guilty' eq Desk.Verdict'Guilty'", "title eq Desk.Verdict'Guilty'", "cast(state,Desk.Verdict) eq null", "isof(state,Desk.Verdict)"] {
            let known = client.get(&path("Tickets", &format!("$filter={filter}"))).await;
            let unknown = client.get(&path("Tickets", &format!("$filter={}", filter.replace("Verdict", "Nothing")))).await;
            assert_eq!(known.status, unknown.status, "{filter}");
            let message = |answer: &Value| answer["error"]["message"].as_str().unwrap().replace("Nothing", "Verdict");
            assert_eq!(message(&known.json()), message(&unknown.json()), "{filter}");
        }
        let said = async |name: &str| {
            let answer = client.patch(&format!("/odata/v1/Tickets({id})"), json!({name: "Mild"})).await;
            (answer.status, answer.json()["error"]["message"].as_str().unwrap().replace(name, "it"))
        };
        assert_eq!(said("verdict").await, said("nothing").await, "not even its members are told");
    }

    async fn metadata_has_the_members_with_their_numbers(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let xml = client.get("/odata/v1/$metadata").await.text;
        for part in [
            r#"<EnumType Name="TicketState" UnderlyingType="Edm.Int64">"#,
            r#"<Member Name="inWork" Value="1"/>"#,
            r#"<Member Name="Low" Value="-1"/>"#,
            r#"<Property Name="state" Type="Desk.TicketState" Nullable="false""#,
            r#"<Property Name="urgency" Type="Desk.Urgency""#,
        ] {
            assert!(xml.contains(part), "{part} in {xml}");
        }
        let json = client.get("/odata/v1/$metadata?$format=json").await.expect(200);
        assert_eq!(json["Desk"]["TicketState"], json!({
            "$Kind": "EnumType", "$UnderlyingType": "Edm.Int64", "new": 0, "inWork": 1, "done": 2,
        }));
        assert_eq!(json["Desk"]["Ticket"]["urgency"]["$Type"], "Desk.Urgency");
    }
}
