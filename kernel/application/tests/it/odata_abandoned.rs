//! Statements whose request is given up end with it, whatever they are at, and leave everything usable.

use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use futures::future::join_all;
use http::Method;
use serde_json::json;
use svc_database::{Backend, Database};
use svc_testing::{Person, TestApp, on_both_databases, organisation};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::fixture::path;
use crate::odata_streaming::begin;
use crate::odata_timeouts::{STONES, application, stored};

/// Connections of the application; requests of one person may take 60 % of them.
const CONNECTIONS: u32 = 5;

/// How long it may take until everything is free, on a machine with much else to do. What isn't ended goes on until
/// the limit of statements, which is 30 seconds.
const SOON: Duration = Duration::from_secs(5);

async fn start(backend: Backend) -> TestApp {
    let app = application()
        .setting("Svc:Database:MaxConnections", CONNECTIONS)
        .setting("Svc:Http:Listen", "127.0.0.1:0")
        .start(backend)
        .await;
    stored(&app).await;
    app
}

fn slow() -> String {
    path("Stones", "$filter=weight gt 1")
}

/// Waits until all connections can be had at once, and the server is at no statement that takes long.
async fn free(database: &Database) {
    let begun = Instant::now();
    let one = || database.statement("SELECT number FROM stones ORDER BY number", []);
    timeout(SOON, async {
        let mut all = join_all((0..CONNECTIONS).map(|_| database.cursor(one()))).await;
        for rows in &mut all {
            assert!(rows.as_mut().unwrap().try_next().await.unwrap().is_some());
        }
        while at_work(database).await > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("something still runs {:?} after its request", begun.elapsed()));
}

/// How many statements that take long PostgreSQL is at.
async fn at_work(database: &Database) -> i64 {
    if database.backend() == Backend::Sqlite {
        return 0;
    }
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
               AND state = 'active' AND query LIKE '%count_up%' AND pid <> pg_backend_pid()";
    let row = database.essential().row(database.statement(sql, [])).await.unwrap().unwrap();
    row.try_get_by_index(0).unwrap()
}

/// Long enough that a statement is at work.
async fn meanwhile() {
    sleep(Duration::from_millis(150)).await;
}

on_both_databases! {
    async fn a_client_that_goes_away_takes_its_statement_along(backend) {
        let app = start(backend).await;
        let server = app.running().bind().await.unwrap();
        let address = server.local_addr();
        let mut serving = JoinSet::new();
        serving.spawn(server.serve(std::future::pending()));
        let boss = Person::named("boss");
        let _ = app.sign_in(&boss);
        let credential = format!("Bearer test-{}.{}", boss.id(), organisation(1));
        let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {credential}\r\n\r\n", slow());
        let database = app.context(&Person::named("watcher")).database().clone();
        for _ in 0..3 {
            let mut clients = Vec::new();
            for _ in 0..CONNECTIONS {
                let mut client = TcpStream::connect(address).await.unwrap();
                client.write_all(request.as_bytes()).await.unwrap();
                clients.push(client);
            }
            meanwhile().await;
            // They wait, and nothing is refused.
            let mut byte = [0];
            let answered = timeout(Duration::from_millis(20), clients[0].read(&mut byte)).await;
            assert!(answered.is_err(), "nothing takes long");
            drop(clients);
            free(&database).await;
        }
    }

    async fn a_request_that_takes_too_long_takes_its_statement_along(backend) {
        let app = application()
            .setting("Svc:Database:MaxConnections", CONNECTIONS)
            .setting("Svc:Http:RequestTimeout", "00:00:01")
            .start(backend)
            .await;
        stored(&app).await;
        let boss = app.sign_in(&Person::named("boss"));
        let slow = slow();
        for answer in join_all((0..3).map(|_| boss.get(&slow))).await {
            assert!(answer.expect(503)["error"]["message"].as_str().unwrap().contains("took too long"));
        }
        free(app.context(&Person::named("watcher")).database()).await;
    }

    async fn an_answer_that_nobody_reads_on_frees_its_connection(backend) {
        let app = start(backend).await;
        let heavy = path("Stones", "$select=id,number,load&$orderby=number");
        let boss = Person::named("boss");
        let answers = join_all((0..3).map(|_| begin(&app, &boss, &heavy, &[]))).await;
        assert!(answers.iter().all(|answer| answer.status().as_u16() == 200));
        meanwhile().await;
        drop(answers);
        free(app.context(&Person::named("watcher")).database()).await;
    }

    async fn a_unit_of_work_that_is_given_up_leaves_nothing_and_lets_others_write(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let slow = app.sign_in(&Person::named("slow").with_claim("slow", &["1"]));
        let first = boss.get(&path("Stones", "$orderby=number&$top=1")).await.expect(200);
        let one = format!("/odata/v1/Stones({})", first["value"][0]["id"].as_str().unwrap());
        for number in 1..=3 {
            let change = slow.send_json(Method::PATCH, &one, &[], json!({"number": -1}));
            assert!(timeout(Duration::from_millis(200), change).await.is_err(), "it takes long");
            // The change has the record locked, and on SQLite the only place to write.
            let mend = boss.patch(&one, json!({"number": 0}));
            let mended = timeout(SOON, mend).await.expect("the record is free").expect(200);
            assert_eq!(mended["number"], 0);
            let next = boss.post("/odata/v1/Stones", json!({"number": STONES + number}));
            let _ = timeout(SOON, next).await.expect("somebody else may write").expect(201);
        }
        free(app.context(&Person::named("watcher")).database()).await;
    }

    async fn who_leaves_requests_gets_no_more_than_who_waits(backend) {
        let app = start(backend).await;
        let greedy = app.sign_in(&Person::named("greedy"));
        let boss = app.sign_in(&Person::named("boss"));
        let database = app.context(&Person::named("watcher")).database().clone();
        let begun = Instant::now();
        let mut most = 0;
        while begun.elapsed() < Duration::from_secs(2) {
            let slow = slow();
            let asked = join_all((0..20).map(|_| greedy.get(&slow)));
            let _ = timeout(Duration::from_millis(60), asked).await;
            most = most.max(at_work(&database).await);
            let light = path("Stones", "$top=1&$orderby=number");
            let _ = timeout(SOON, boss.get(&light)).await.expect("others have connections").expect(200);
        }
        // 60 % of five.
        assert!(most <= 3, "{most} statements at once");
        free(&database).await;
    }
}
