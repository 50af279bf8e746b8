//! Statements that take too long are ended, whatever was asked for, and leave everything usable.

use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait};
use sea_orm::{ColumnTrait as _, Condition, ConnectionTrait as _, EntityTrait as _};
use serde_json::{Value, json};
use svc_application::Application;
use svc_core::{Error, Module, Registry, Result};
use svc_data::value::ValueKind;
use svc_data::{Context, DataRegistry as _, Sight, UnitOfWork};
use svc_database::{Backend, Migration};
use svc_testing::{Client, Person, TestApp, TestAppBuilder, on_both_databases};

use crate::fixture::path;
use crate::odata_streaming::{begin, read};

/// More than one batch of a page, so that a page of all has a cursor.
pub(crate) const STONES: i32 = 1_500;

/// A statement that would take minutes.
const ENDLESS: &str = "(WITH RECURSIVE count_up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count_up \
    WHERE n < 1000000000) SELECT count(*) FROM count_up)";

mod stone {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "stones")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub number: i32,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

struct Stones;

impl Module for Stones {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_stones",
            "CREATE TABLE stones (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                number INTEGER NOT NULL,
                version BIGINT NOT NULL,
                UNIQUE (organisation_id, number)
            );",
        )]);
        registry.entity_set::<stone::Entity>("Stones", |set| {
            set
                // Who has the claim can only be shown stones after a long time.
                .row_filter(|who| match who.claims("slow") {
                    [] => Sight::All,
                    _ => Sight::Where(Condition::all().add(ExprTrait::eq(Expr::cust(ENDLESS), 1))),
                })
                .virtual_property(
                    "weight",
                    ValueKind::Int64,
                    |_| Expr::cust(ENDLESS),
                    |property| property.needs("Stones.View"),
                )
                // Only the last stone is heavy.
                .virtual_property(
                    "load",
                    ValueKind::Int64,
                    |row| {
                        let last = ExprTrait::eq(row.column("number"), STONES);
                        // It hangs on the row, or it would be made before all rows.
                        let endless = ENDLESS.replace("WHERE n <", "WHERE n - number <");
                        CaseStatement::new().case(last, Expr::cust(endless)).finally(0).into()
                    },
                    |property| property.needs("Stones.View"),
                )
                .action("Carve", |action| action.on_set(carve))
        });
    }
}

/// Adds a stone, and goes on after a statement of it was ended.
async fn carve(uow: UnitOfWork, (): ()) -> Result<()> {
    uow.insert(numbered(STONES + 1)).await?;
    let ctx = uow.context().clone();
    let endless = ctx
        .database()
        .statement(&format!("UPDATE stones SET version = {ENDLESS} WHERE number = {STONES}"), []);
    let ended = uow.execute(endless).await;
    assert!(ended.is_err());
    let after = ctx.transact(async |nested| nested.insert(numbered(STONES + 2)).await).await;
    after.map(drop).map_err(|_| Error::unavailable("nothing goes on"))
}

fn numbered(number: i32) -> stone::ActiveModel {
    use sea_orm::ActiveValue::Set;
    stone::ActiveModel {
        number: Set(number),
        ..<stone::ActiveModel as sea_orm::ActiveModelTrait>::default()
    }
}

/// Stones with the numbers from 1 on, and a person who may do everything with them.
async fn start(backend: Backend) -> (TestApp, Client) {
    start_with(backend, 2).await
}

async fn start_with(backend: Backend, connections: u32) -> (TestApp, Client) {
    let app = application()
        .setting("Svc:Database:StatementTimeout", "00:00:02")
        .setting("Svc:Database:MaxConnections", connections)
        .start(backend)
        .await;
    stored(&app).await;
    let client = app.sign_in(&Person::named("boss"));
    (app, client)
}

/// An application with stones.
pub(crate) fn application() -> TestAppBuilder {
    TestApp::builder(|| Application::new("quarry").module(Stones))
}

/// Stores stones with the numbers from 1 on.
pub(crate) async fn stored(app: &TestApp) {
    let stones = (1..=STONES).map(numbered).collect::<Vec<_>>();
    let ctx = app.context(&Person::named("boss"));
    let stored = ctx.transact(async |uow| uow.insert_many(stones).await).await;
    assert_eq!(stored.unwrap().len(), 1_500);
}

async fn numbers_after(ctx: &Context, number: i32) -> Vec<i32> {
    let later = ctx.query::<stone::Entity>().filter(stone::Column::Number.gt(number)).all().await;
    later.unwrap().into_iter().map(|stone| stone.number).collect()
}

on_both_databases! {
    async fn what_takes_too_long_is_ended_and_says_what_to_do(backend) {
        let (_app, boss) = start_with(backend, 6).await;
        let first = boss.get(&path("Stones", "$orderby=number&$top=1")).await.expect(200);
        let id = first["value"][0]["id"].as_str().unwrap().to_owned();
        let asked = [
            path("Stones", "$select=weight&$top=1"),
            path("Stones", "$filter=weight gt 1"),
            path("Stones", "$orderby=weight&$top=1"),
            path("Stones", "$compute=weight add 1 as more&$select=more&$top=1"),
            path("Stones", "$filter=weight gt 1&$count=true&$top=0"),
            path("Stones/$count", "$filter=weight gt 1"),
            path("Stones", "$apply=groupby((weight),aggregate($count as count))"),
            path("Stones", "$apply=aggregate(weight with sum as sum)"),
            path(&format!("Stones({id})"), "$select=weight"),
            path(&format!("Stones({id})/weight"), ""),
        ];
        let answers = asked.iter().map(async |address| (address, boss.get(address).await));
        for (address, answer) in futures::future::join_all(answers).await {
            let error = &answer.expect(503)["error"];
            assert_eq!(error["code"], "unavailable", "{address}");
            assert!(error["message"].as_str().unwrap().contains("ask for less"), "{address}: {error}");
        }
        // Each connection serves as before.
        let light = path("Stones", "$orderby=number&$top=1");
        for page in futures::future::join_all((0..12).map(|_| boss.get(&light))).await {
            assert_eq!(page.expect(200)["value"][0]["number"], 1);
        }
    }

    async fn one_person_with_200_slow_requests_leaves_others_connections(backend) {
        let (app, boss) = start_with(backend, 6).await;
        let greedy = app.sign_in(&Person::named("greedy"));
        let slow = path("Stones", "$filter=weight gt 1");
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..200 {
            let (greedy, slow) = (greedy.clone(), slow.clone());
            asked.spawn(async move { greedy.get(&slow).await });
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let context = app.context(&Person::named("worker"));
        for number in 1..=3 {
            let begun = Instant::now();
            let first = path("Stones", "$filter=number ge 1&$orderby=number&$top=1");
            assert_eq!(boss.get(&first).await.expect(200)["value"][0]["number"], 1);
            let created = boss.post("/odata/v1/Stones", json!({"number": STONES + number})).await;
            let _ = created.expect(201);
            let _ = boss.get("/health/ready").await.expect(200);
            // What the workers do, and what a unit of work of theirs does.
            app.drain().await;
            context.transact(async |uow| uow.insert(numbered(-number)).await).await.unwrap();
            // Far less than the greedy one waits: 200 times two seconds, a few at a time.
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        }
        assert!(!asked.is_empty());
        asked.shutdown().await;
        let _ = greedy.get(&path("Stones", "$top=1")).await.expect(200);
    }

    async fn parts_of_a_batch_are_ended_on_their_own(backend) {
        let (_app, boss) = start(backend).await;
        let batch = json!({"requests": [
            {"id": "slow", "method": "GET", "url": "Stones?$filter=weight gt 1"},
            {"id": "fast", "method": "GET", "url": "Stones?$top=1&$select=number&$orderby=number"},
        ]});
        let prefer = [("prefer", "odata.continue-on-error")];
        let answer = boss.send_json(http::Method::POST, "/odata/v1/$batch", &prefer, batch).await.expect(200);
        let statuses: Vec<_> = answer["responses"].as_array().unwrap().iter().map(|part| part["status"].as_i64()).collect();
        assert_eq!(statuses, [Some(503), Some(200)]);
    }

    async fn changes_that_take_too_long_leave_nothing(backend) {
        let (app, boss) = start(backend).await;
        let id = boss.get(&path("Stones", "$orderby=number&$top=1")).await.expect(200)["value"][0]["id"].as_str().unwrap().to_owned();
        let slow = app.sign_in(&Person::named("slow").with_claim("slow", &["1"]));
        let one = format!("/odata/v1/Stones({id})");
        for answer in [slow.patch(&one, json!({"number": -1})).await, slow.delete(&one).await] {
            assert!(answer.expect(503)["error"]["message"].as_str().unwrap().contains("ask for less"));
        }
        // A unit of work that goes on behind the statement stores none of its parts.
        let carved = boss.post("/odata/v1/Stones/Quarry.Carve", json!({})).await;
        assert_eq!(carved.status.as_u16(), 503, "{}", carved.text);
        let ctx = app.context(&Person::named("boss"));
        assert_eq!(numbers_after(&ctx, STONES).await, [0; 0]);
        // Whoever writes next finds a connection that works.
        for number in [STONES + 5, STONES + 6] {
            let _ = boss.post("/odata/v1/Stones", json!({"number": number})).await.expect(201);
        }
        assert_eq!(numbers_after(&ctx, STONES).await.len(), 2);
    }

    async fn an_answer_that_is_being_sent_breaks_off(backend) {
        let (app, boss) = start(backend).await;
        let heavy = path("Stones", "$select=id,number,load&$orderby=number");
        for _ in 0..3 {
            let response = begin(&app, &Person::named("boss"), &heavy, &[("te", "trailers")]).await;
            assert_eq!(response.status().as_u16(), 200);
            let (text, end) = read(&mut response.into_body()).await;
            assert!(text.contains("\"number\":200,") && !text.contains("\"number\":1500,"));
            let told = end.unwrap()["odata-error"].to_str().unwrap().to_owned();
            assert!(told.contains("ask for less"), "{told}");
        }
        // Without the heavy one it is read to its end.
        let light = path("Stones", &format!("$select=id,number,load&$filter=number lt {STONES}"));
        let all = [("prefer", "odata.maxpagesize=2000")];
        let page = boss.send(http::Method::GET, &light, &all, "").await.expect(200);
        assert_eq!(page["value"].as_array().unwrap().len(), 1_499);
    }

    async fn a_slow_client_does_not_end_a_statement(backend) {
        let (app, _) = start(backend).await;
        let all = path("Stones", &format!("$filter=number lt {STONES}&$compute=concat('{}','y') as filler&$select=number,load,filler", "x".repeat(300)));
        let response = begin(&app, &Person::named("boss"), &all, &[]).await;
        let mut body = response.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
        let (rest, end) = read(&mut body).await;
        assert!(end.is_ok(), "{end:?}");
        let page: Value = serde_json::from_str(&(String::from_utf8(first.to_vec()).unwrap() + &rest)).unwrap();
        assert_eq!(page["value"].as_array().unwrap().len(), 1_499);
    }

    async fn many_short_statements_are_no_long_one(backend) {
        let (app, boss) = start(backend).await;
        let ctx = app.context(&Person::named("boss"));
        // Each of these is a small part of the limit; a unit of work is one connection, and what is
        // read outside of one goes on with the connection that was used last.
        let busy = ENDLESS.replace("1000000000", "2000");
        let busy = format!("SELECT {busy}");
        let begun = std::time::Instant::now();
        ctx.transact(async |uow| {
            while begun.elapsed().as_millis() < 3_000 {
                uow.rows(ctx.database().statement(&busy, [])).await?;
            }
            Ok(())
        })
        .await
        .unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 3_000 {
            let _ = ctx.database().rows(ctx.database().statement(&busy, [])).await.unwrap();
        }
        // Who reads past what keeps connections says nothing when a statement is over.
        let begun = std::time::Instant::now();
        let reader = ctx.database().reader();
        while begun.elapsed().as_millis() < 3_000 {
            let _ = reader.query_one_raw(ctx.database().statement(&busy, [])).await.unwrap();
        }
        let _ = boss.get(&path("Stones", "$top=1")).await.expect(200);
        assert!(stone::Entity::find().all(ctx.database().reader()).await.unwrap().len() == 1_500);
    }

    async fn a_request_keeps_others_from_writing_for_no_longer_than_its_turn(backend) {
        let turn = application().setting("Svc:Database:WriteTurn", "00:00:00.500");
        let app = turn.setting("Svc:Database:StatementTimeout", "00:00:08").start(backend).await;
        stored(&app).await;
        let boss = app.sign_in(&Person::named("boss"));
        let id = boss.get(&path("Stones", "$orderby=number&$top=1")).await.expect(200)["value"][0]["id"].as_str().unwrap().to_owned();
        let slow = app.sign_in(&Person::named("slow").with_claim("slow", &["1"]));
        let one = format!("/odata/v1/Stones({id})");
        let kept = slow.patch(&one, json!({"number": -1}));
        let other = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let begun = Instant::now();
            let _ = boss.post("/odata/v1/Stones", json!({"number": STONES + 1})).await.expect(201);
            begun.elapsed()
        };
        let (kept, waited) = futures::future::join(kept, other).await;
        assert_eq!(kept.status.as_u16(), 503, "{}", kept.text);
        assert!(waited < Duration::from_secs(5), "{waited:?}");

        // Neither does a unit of work of many short statements, unless nobody waits for it as for a request.
        let ctx = app.context(&Person::named("boss"));
        let busy = format!("SELECT {}", ENDLESS.replace("1000000000", "2000"));
        let of_request = ctx.within_share();
        for (ctx, number, is_ended) in [(&of_request, STONES + 2, backend == Backend::Sqlite), (&ctx, STONES + 3, false)] {
            let begun = Instant::now();
            let done = ctx.transact(async |uow| {
                uow.insert(numbered(number)).await?;
                while begun.elapsed() < Duration::from_secs(1) {
                    uow.rows(ctx.database().statement(&busy, [])).await?;
                }
                Ok(())
            });
            let told = done.await.err().map(|error| error.message().to_owned()).unwrap_or_default();
            assert_eq!(told.contains("`Svc:Database:WriteTurn`"), is_ended, "{told}");
            assert_eq!(numbers_after(ctx, STONES + 1).await.contains(&number), !is_ended);
        }
    }

    async fn what_only_reads_takes_no_turn_to_write_for_its_key(backend) {
        let (app, boss) = start(backend).await;
        let ctx = app.context(&Person::named("boss"));
        let (begun, over) = (tokio::sync::Notify::new(), tokio::sync::Notify::new());
        let writes = ctx.transact(async |uow| {
            uow.insert(numbered(-1)).await?;
            begun.notify_one();
            over.notified().await;
            Ok(())
        });
        let reads = async {
            begun.notified().await;
            let headers = [("content-type", "text/plain"), ("idempotency-key", "one"), ("prefer", "odata.maxpagesize=2000")];
            let asked = format!("$orderby=number&$compute=concat('{}','y') as filler&$select=number,filler", "x".repeat(300));
            let asked = path("Stones", &asked).split_once('?').unwrap().1.to_owned();
            for address in ["/odata/v1/Stones/$query", "/odata/v1/Stones/$query", "/odata/v1/Stones/%24query"] {
                let page = boss.send(http::Method::POST, address, &headers, asked.clone()).await;
                assert_eq!(page.expect(200)["value"].as_array().unwrap().len(), 1_500);
                assert_eq!((page.header("idempotency-replayed"), page.header("content-length")), ("", ""));
            }
            over.notify_one();
        };
        let (written, ()) = futures::future::join(writes, reads).await;
        written.unwrap();
    }
}
