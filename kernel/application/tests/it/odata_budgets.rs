//! The worst requests that anyone could think of: each is refused with the limit that it exceeds, or
//! answered; none takes the memory of the process, or the time of a neighbour.
//!
//! The bounds are wide, since other tests run in the same process; each of these requests broke them
//! by far before there were limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use http_body_util::BodyExt as _;
use sea_orm::ActiveValue::Set;
use serde_json::{Value, json};
use svc_odata::value::Value as Literal;
use svc_sets::{Row, RowSink, Sets};
use svc_testing::{Answer, Backend, Client, Person, TestApp, on_both_databases};

use crate::fixture::{lamp, maker, path, reader, shop};
use crate::odata_streaming::begin;

/// How much more memory the process may take at most, in MB.
const MEMORY: u64 = 400;

/// How long a neighbour may wait.
const PATIENCE: Duration = Duration::from_secs(8);

/// Two makers, the first of which made so many lamps.
async fn stocked(backend: Backend, lamps: usize, settings: &[(&str, u64)]) -> (TestApp, Client) {
    let application = || svc_application::Application::new("shop").module(shop());
    let builder = settings
        .iter()
        .fold(TestApp::builder(application), |app, (key, value)| app.setting(key, *value));
    let app = builder.start(backend).await;
    let boss = Person::named("boss");
    let context = app.context(&boss);
    let stored = context.transact(async |uow| {
        let makers = ["Älpha", "Beta"].map(|name| maker::ActiveModel {
            name: Set(name.to_owned()),
            country: Set("DE".to_owned()),
            ..<maker::ActiveModel as sea_orm::ActiveModelTrait>::default()
        });
        let makers = uow.insert_many(Vec::from(makers)).await?;
        let lamps = (0..lamps).map(|number| lamp::ActiveModel {
            sku: Set(format!("L-{number}")),
            price: Set(i64::try_from(number).unwrap().into()),
            region: Set("EU".to_owned()),
            maker_id: Set(Some(makers[0].id)),
            ..<lamp::ActiveModel as sea_orm::ActiveModelTrait>::default()
        });
        uow.insert_many(lamps.collect::<Vec<_>>()).await
    });
    stored.await.unwrap();
    let client = app.sign_in(&boss);
    (app, client)
}

/// Adds makers with a name, below those with another, and to each so many lamps.
async fn grow(app: &TestApp, (above, name): (&str, &str), makers: i32, lamps: i32) {
    let database = app.context(&Person::named("boss")).database().clone();
    let (id, sku) = match database.backend() {
        Backend::Sqlite => ("randomblob(16)", "hex(randomblob(9))"),
        Backend::Postgres => ("gen_random_uuid()", "substr(md5(random()::text), 1, 18)"),
    };
    let numbers = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n) AS numbers";
    let of_makers = format!(
        "INSERT INTO makers (id, organisation_id, name, country, parent_id, version)
         SELECT {id}, organisation_id, ?, 'DE', id, 1 FROM makers, {numbers} WHERE name = ? AND i > 0"
    );
    let of_lamps = format!(
        "INSERT INTO lamps (id, organisation_id, sku, price, region, maker_id, created_at, version)
         SELECT {id}, organisation_id, {sku}, i, 'EU', id, (SELECT min(created_at) FROM lamps), 1
         FROM makers, {numbers} WHERE name = ?"
    );
    let indices = "CREATE INDEX IF NOT EXISTS lamps_of_maker ON lamps (maker_id)";
    for (sql, values) in [
        (of_makers.as_str(), vec![name.into(), makers.into(), above.into()]),
        (of_lamps.as_str(), vec![lamps.into(), name.into()]),
        (indices, Vec::new()),
    ] {
        if lamps > 0 || !sql.contains("INTO lamps") {
            database.execute(database.statement(sql, values)).await.unwrap();
        }
    }
}

/// What a refusal says.
fn message(answer: &Answer) -> String {
    answer.expect(400)["error"]["message"].as_str().unwrap().to_owned()
}

/// The memory of this process in MB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().split(' ').next().unwrap().parse::<u64>().unwrap() / 1_024
}

/// The first values of rows, a thousand at a time where they come one by one.
struct Skus(Vec<String>);

impl RowSink for Skus {
    fn row(&mut self, row: &Row<'_>) -> svc_core::Result<()> {
        if let Some(Literal::String(sku)) = row.values()?.first() {
            self.0.push(sku.clone());
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.0.len().is_multiple_of(1_000)
    }
}

/// Held by whoever takes much memory: what others take meanwhile would count too.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Watches the memory of the process while something goes on, and answers how much it grew at most.
async fn watched<T>(work: impl Future<Output = T>) -> (T, u64) {
    let _alone = ALONE.lock().await;
    measured(work).await
}

/// As [`watched`], for who has the process to itself already.
async fn measured<T>(work: impl Future<Output = T>) -> (T, u64) {
    let (ended, peak) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let before = memory();
    let watcher = {
        let (ended, peak) = (Arc::clone(&ended), Arc::clone(&peak));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                peak.fetch_max(memory(), Ordering::Relaxed);
                std::thread::park_timeout(Duration::from_millis(5));
            }
        })
    };
    let outcome = work.await;
    ended.store(true, Ordering::Relaxed);
    watcher.join().unwrap();
    (outcome, peak.load(Ordering::Relaxed).saturating_sub(before))
}

/// Makers, lamps, makers, … as deep as this.
fn there_and_back(levels: usize) -> String {
    let open: String =
        (0..levels).map(|level| ["$expand=lamps(", "$expand=maker("][level % 2]).collect();
    format!("{}{}", open.trim_end_matches('('), ")".repeat(levels - 1))
}

/// Lamps of makers of lamps, as deep as this.
fn nested_any(levels: usize) -> String {
    let open = |level: usize| match level {
        0 => "lamps/any(a0:".to_owned(),
        level => format!("a{}/maker/lamps/any(a{level}:", level - 1),
    };
    let last = levels - 1;
    format!(
        "$filter={}a{last}/price lt 0{}",
        (0..levels).map(open).collect::<String>(),
        ")".repeat(levels)
    )
}

fn batch(parts: impl Iterator<Item = String>) -> Value {
    let parts = parts.enumerate().map(|(id, url)| {
        json!({"id": id.to_string(), "method": "get", "url": url, "headers": {"prefer": "maxpagesize=100000"}})
    });
    json!({"requests": parts.collect::<Vec<_>>()})
}

fn responses(answer: &Answer) -> Vec<Value> {
    answer.expect(200)["responses"].as_array().unwrap().clone()
}

fn words(count: usize, seed: usize) -> String {
    let words = (0..count).map(|n| format!("w{}", (seed * 31 + n) % 97));
    format!("$search={}", words.collect::<Vec<_>>().join(" OR "))
}

on_both_databases! {
    async fn what_leads_there_and_back_is_refused_while_it_is_written(backend) {
        let (_app, boss) = stocked(backend, 100, &[]).await;
        let shallow = boss.get(&path("Makers", &there_and_back(2))).await.expect(200);
        let made = shallow["value"].as_array().unwrap().iter().map(|maker| maker["lamps"].as_array().unwrap().len());
        assert_eq!(made.sum::<usize>(), 100);
        let (answer, grown) = watched(boss.get(&path("Makers", &there_and_back(5)))).await;
        let refused = message(&answer);
        assert!(refused.contains("33554432") && refused.contains("`Svc:OData:MaxHeldBytes`"), "{refused}");
        assert!(grown < MEMORY, "{grown} MB");
    }

    async fn related_entities_and_statements_are_counted(backend) {
        let (_app, boss) = stocked(backend, 100, &[("Svc:OData:MaxRelatedEntities", 150), ("Svc:OData:MaxStatements", 100)]).await;
        assert_eq!(boss.get(&path("Makers", "$expand=lamps")).await.status.as_u16(), 200);
        let refused = message(&boss.get(&path("Makers", "$expand=lamps($expand=maker)")).await);
        assert!(refused.contains("150 related entities (`Svc:OData:MaxRelatedEntities`)"), "{refused}");
        // Each part runs one statement, and the parts share what there is.
        let all = responses(&boss.send_json(http::Method::POST, "/odata/v1/$batch", &[("prefer", "continue-on-error")],
            batch((0..100).map(|_| "Lamps?$top=1&$count=true".to_owned()))).await);
        let refused = all.iter().find(|response| response["status"] == 400).unwrap();
        let refused = refused["body"]["error"]["message"].as_str().unwrap();
        assert!(refused.contains("100 statements (`Svc:OData:MaxStatements`)"), "{refused}");
    }

    async fn related_entities_are_refused_when_that_many_were_read(backend) {
        let _alone = ALONE.lock().await;
        let (app, boss) = stocked(backend, 1, &[("Svc:OData:MaxHeldBytes", 4_000_000)]).await;
        grow(&app, ("Beta", "Top"), 100, 0).await;
        grow(&app, ("Top", "Below"), 40, 40).await;
        let wide = path("Makers", "$filter=name eq 'Top'&$expand=children($expand=lamps)");
        let few = path("Makers", "$filter=name eq 'Top'&$top=2&$expand=children($expand=lamps)");
        let all = boss.get(&few).await.expect(200);
        let below = all["value"][1]["children"][39]["lamps"].as_array().unwrap().len();
        assert_eq!((below, all["value"][0]["children"].as_array().unwrap().len()), (40, 40));
        // All of it would be 160,000 rows, and 50 MB of text.
        let (answer, grown) = measured(boss.get(&wide)).await;
        let refused = message(&answer);
        assert!(refused.contains("`Svc:OData:MaxHeldBytes`"), "{refused}");
        assert!(grown < 60, "{grown} MB");
    }

    async fn many_related_entities_are_read_in_parts_and_whole(backend) {
        let (app, boss) = stocked(backend, 1, &[("Svc:OData:ExpandPageSize", 5_500)]).await;
        for (name, lamps) in [("A", 6_000), ("B", 3_000), ("C", 2_500), ("D", 0)] {
            grow(&app, ("Beta", name), 1, lamps).await;
        }
        let ask = async |options: &str| {
            let options = format!("$filter=country eq 'DE' and length(name) eq 1&$orderby=name&$select=name&$expand=lamps($select=price,sku;$orderby=price,sku{options})");
            boss.get(&path("Makers", &options)).await.expect(200)["value"].as_array().unwrap().clone()
        };
        let prices = |maker: &Value| maker["lamps"].as_array().unwrap().iter().map(|lamp| lamp["price"].as_i64().unwrap()).collect::<Vec<_>>();
        let makers = ask("").await;
        let expected = [5_500, 3_000, 2_500, 0].map(|last| (1..=last).collect::<Vec<i64>>());
        assert_eq!(makers.iter().map(prices).collect::<Vec<_>>(), expected);
        let next: Vec<_> = makers.iter().map(|maker| maker.get("lamps@odata.nextLink")).collect();
        assert!(next[0].is_some() && next[1..].iter().all(Option::is_none), "{next:?}");
        let rest = boss.get(next[0].unwrap().as_str().unwrap()).await.expect(200);
        let rest: Vec<_> = rest["value"].as_array().unwrap().iter().map(|lamp| lamp["price"].as_i64().unwrap()).collect();
        assert_eq!(rest, (5_501..=5_600).collect::<Vec<_>>());
        let makers = ask(";$skip=400;$top=5200;$count=true").await;
        let expected = [(401, 5_600), (401, 3_000), (401, 2_500), (1, 0)].map(|(first, last)| (first..=last).collect::<Vec<i64>>());
        assert_eq!(makers.iter().map(prices).collect::<Vec<_>>(), expected);
        let counts: Vec<_> = makers.iter().map(|maker| maker["lamps@odata.count"].as_i64().unwrap()).collect();
        assert_eq!(counts, [6_000, 3_000, 2_500, 0]);
        assert!(makers.iter().all(|maker| maker.get("lamps@odata.nextLink").is_none()));
    }

    async fn the_parts_of_a_batch_share_what_it_may_cost(backend) {
        let (_app, boss) = stocked(backend, 150, &[("Svc:OData:MaxHeldBytes", 200_000), ("Svc:OData:MaxNavigationSteps", 5)]).await;
        let goes_on = [("prefer", "continue-on-error")];
        let ask = async |url: &'static str| {
            let parts = batch((0..20).map(|_| url.to_owned()));
            responses(&boss.send_json(http::Method::POST, "/odata/v1/$batch", &goes_on, parts).await)
        };
        let pages = ask("Lamps").await;
        assert_eq!(pages.len(), 20);
        let (whole, refused): (Vec<_>, Vec<_>) = pages.iter().partition(|page| page["status"] == 200);
        // The ordinary page is the largest.
        assert!(!whole.is_empty() && whole.iter().all(|page| page["body"]["value"].as_array().unwrap().len() == 100));
        assert!(!refused.is_empty(), "{} pages", whole.len());
        for page in refused {
            let message = page["body"]["error"]["message"].as_str().unwrap();
            assert_eq!(page["status"], 400);
            assert!(message.contains("`Svc:OData:MaxHeldBytes`"), "{message}");
        }
        let conditions = ask("Lamps?$filter=maker/name%20eq%20'x'").await;
        let refused: Vec<_> = conditions.iter().filter(|part| part["status"] == 400).collect();
        assert_eq!(refused.len(), 15);
        assert!(refused[0]["body"]["error"]["message"].as_str().unwrap().contains("`Svc:OData:MaxNavigationSteps`"));
    }

    async fn long_batches_come_in_pieces_and_whole(backend) {
        let (_app, boss) = stocked(backend, 100, &[]).await;
        let all = responses(&boss.post("/odata/v1/$batch", batch((0..60).map(|_| "Lamps".to_owned()))).await);
        assert_eq!(all.len(), 60);
        assert!(all.iter().all(|page| page["body"]["value"].as_array().unwrap().len() == 100));
        let body = (0..60).map(|_| "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET Lamps HTTP/1.1\r\n\r\n\r\n").collect::<String>();
        let multipart = [("content-type", "multipart/mixed;boundary=b")];
        let answer = boss.send(http::Method::POST, "/odata/v1/$batch", &multipart, format!("{body}--b--\r\n")).await;
        assert_eq!((answer.text.matches("HTTP/1.1 200 OK").count(), answer.text.ends_with("--batchresponse--\r\n")), (60, true));
    }

    async fn conditions_through_navigation_have_a_bound(backend) {
        let (_app, boss) = stocked(backend, 3_000, &[]).await;
        // One loop over three thousand lamps is nine million; it finds the first at once, or nothing.
        for (options, status) in [(nested_any(1), 200), ("$filter=lamps/any(l:l/maker/country eq 'DE')".to_owned(), 200)] {
            assert_eq!(boss.get(&path("Makers", &options)).await.status.as_u16(), status, "{options}");
        }
        for levels in [3, 4, 8] {
            let refused = message(&boss.get(&path("Makers", &nested_any(levels))).await);
            assert!(refused.contains("`Svc:OData:MaxCollectionDepth`"), "{refused}");
        }
        let many = vec!["maker/name eq 'x'"; 51].join(" or ");
        let refused = message(&boss.get(&path("Lamps", &format!("$filter={many}"))).await);
        assert!(refused.contains("50") && refused.contains("`Svc:OData:MaxNavigationSteps`"), "{refused}");
    }

    async fn searches_take_no_memory_for_good(backend) {
        let _alone = ALONE.lock().await;
        let (_app, boss) = stocked(backend, 84, &[]).await;
        // What every connection has from its first statement on.
        join_all((0..12).map(|seed| { let boss = &boss; async move { boss.get(&path("Lamps", &words(3, seed))).await } })).await;
        let before = memory();
        for seed in 0..200 {
            let _ = boss.get(&path("Lamps", &words(8 + seed % 8, seed))).await.expect(200);
        }
        for seed in 0..60 {
            let _ = boss.get(&path("Lamps", &words(50, seed))).await.expect(200);
            let refused = message(&boss.get(&path("Lamps", &words(99, seed))).await);
            assert!(refused.contains("`Svc:OData:MaxSearchWords`"), "{refused}");
        }
        let grown = memory().saturating_sub(before);
        assert!(grown < 150, "{grown} MB");
    }

    async fn a_neighbour_reads_on_whatever_others_ask(backend) {
        let (app, boss) = stocked(backend, 1_000, &[]).await;
        let neighbour = app.sign_in(&reader());
        let folds = (0..16).map(|n| format!("tolower(sku) ne 'x{n}'")).collect::<Vec<_>>().join(" and ");
        let doubled = (1..30).map(|n| format!("/compute(concat(c{0},c{0}) as c{n})", n - 1));
        let doubled = doubled.collect::<Vec<_>>().concat();
        let aliases = (0..40).map(|n| format!("@a{n}=@a{} and @a{}", n + 1, n + 1)).collect::<Vec<_>>().join("&");
        let worst = [
            path("Makers", &there_and_back(5)),
            path("Makers", &nested_any(2)),
            path("Makers", &nested_any(8)),
            path("Lamps", &words(50, 1)),
            path("Lamps", &words(1_500, 1)),
            path("Lamps", &format!("$filter={folds}")),
            path("Lamps", &format!("$apply=compute(concat(sku,sku) as c0){doubled}")),
            path("Lamps", &format!("$apply=aggregate($count as n){}", "/concat(identity,identity)".repeat(15))),
            path("Lamps", &format!("$filter=@a0&{aliases}&@a40=price gt 1")),
            path("Lamps", &format!("$apply={}", (0..300).map(|n| format!("compute({n} as c{n})")).collect::<Vec<_>>().join("/"))),
            path("Lamps", &format!("$orderby={}", (0..32).map(|n| format!("price mul {n}")).collect::<Vec<_>>().join(","))),
            path("Lamps", &format!("$search={}", "x".repeat(20_000))),
        ];
        let asked = async {
            let all = worst.iter().flat_map(|url| std::iter::repeat_n(url, 3));
            join_all(all.map(|url| { let boss = &boss; async move { (url, boss.get(url).await.status.as_u16()) } })).await
        };
        let waited = async {
            let mut longest = Duration::ZERO;
            for _ in 0..40 {
                let begun = Instant::now();
                let _ = neighbour.get("/odata/v1/Makers").await.expect(200);
                longest = longest.max(begun.elapsed());
                tokio::task::yield_now().await;
            }
            longest
        };
        let ((answers, longest), grown) = watched(futures::future::join(asked, waited)).await;
        for (url, status) in answers {
            assert!(status == 200 || status == 400, "{status}: {url}");
        }
        assert!(longest < PATIENCE, "{longest:?}");
        assert!(grown < MEMORY, "{grown} MB");
    }

    async fn bodies_hold_no_more_than_they_may(backend) {
        let (app, boss) = stocked(backend, 5, &[("Svc:OData:MaxBodyItems", 20)]).await;
        let lamps = |count: usize| (0..count).map(|n| json!({"sku": format!("N-{n}"), "price": 1, "region": "EU"})).collect::<Vec<_>>();
        let maker = |count| json!({"name": "Gamma", "country": "DE", "lamps": lamps(count)});
        let refused = message(&boss.post("/odata/v1/Makers", maker(21)).await);
        assert!(refused.contains("more than 20 related entities") && refused.contains("`Svc:OData:MaxBodyItems`"), "{refused}");
        let made = boss.post("/odata/v1/Makers", maker(20)).await.expect(201);
        assert_eq!(made["lamps"].as_array().unwrap().len(), 20);
        let address = format!("/odata/v1/Makers({})", made["id"].as_str().unwrap());
        // References count too, wherever they stand, and those of all levels together.
        let binds = |count: usize| json!({"name": "Delta", "country": "DE", "lamps@odata.bind": vec!["Lamps(1)"; count]});
        for body in [binds(21), json!({"name": "D", "country": "DE", "children": [maker(10), maker(10)]})] {
            assert!(message(&boss.post("/odata/v1/Makers", body).await).contains("`Svc:OData:MaxBodyItems`"));
        }
        let references = json!({"value": vec![json!({"@odata.id": "Lamps(1)"}); 21]});
        let refused = boss.send_json(http::Method::PUT, &format!("{address}/lamps/$ref"), &[], references).await;
        assert!(message(&refused).contains("`Svc:OData:MaxBodyItems`"), "{}", refused.text);
        // The parts of a batch have as many in all.
        let parts = (0..3).map(|id| json!({"id": id.to_string(), "method": "post", "url": "Makers", "headers": {"content-type": "application/json"},
            "body": json!({"name": "E", "country": "DE", "children": vec![json!({"name": "F", "country": "DE"}); 8]})}));
        let answers = boss.send_json(http::Method::POST, "/odata/v1/$batch", &[("prefer", "continue-on-error")], json!({"requests": parts.collect::<Vec<_>>()})).await;
        let all = responses(&answers);
        assert_eq!(all.iter().map(|part| part["status"].as_u64().unwrap()).collect::<Vec<_>>(), [201, 201, 400], "{}", answers.text);
        assert!(all[2]["body"]["error"]["message"].as_str().unwrap().contains("`Svc:OData:MaxBodyItems`"));
        drop(app);
    }

    async fn what_is_wrong_with_a_body_is_told_up_to_a_bound(backend) {
        let (_app, boss) = stocked(backend, 1, &[("Svc:OData:MaxBodyItems", 100_000)]).await;
        let mut unknown = serde_json::Map::from_iter([("name".to_owned(), json!("x")), ("country".to_owned(), json!("DE"))]);
        unknown.extend((0..100_000).map(|n| (format!("n{n}"), json!(1))));
        let lacking = json!({"name": "x", "country": "DE", "lamps": vec![json!({}); 20_000]});
        for (body, status) in [(Value::Object(unknown), 400), (lacking, 422)] {
            let answer = boss.post("/odata/v1/Makers", body).await;
            let told = answer.expect(status)["error"]["details"].as_array().unwrap().len();
            assert!((10..=100).contains(&told), "{told}");
            assert!(answer.text.len() < 50_000, "{}", answer.text.len());
        }
    }

    async fn long_texts_are_read_as_they_are_sent(backend) {
        let _alone = ALONE.lock().await;
        let settings = [("Svc:OData:PageSize", 150), ("Svc:OData:ExpandPageSize", 1_000)];
        let (app, boss) = stocked(backend, 1, &settings).await;
        let context = app.context(&Person::named("boss"));
        let stored = context.transact(async |uow| {
            let maker = uow.insert(maker::ActiveModel { name: Set("Gamma".to_owned()), country: Set("x".repeat(300_000)),
                ..<maker::ActiveModel as sea_orm::ActiveModelTrait>::default() }).await?;
            let lamps = (0..600).map(|number| lamp::ActiveModel {
                sku: Set(format!("T-{number}")),
                price: Set(1.into()),
                region: Set("x".repeat(100_000)),
                maker_id: Set(Some(maker.id)),
                ..<lamp::ActiveModel as sea_orm::ActiveModelTrait>::default()
            });
            uow.insert_many(lamps.collect::<Vec<_>>()).await
        });
        stored.await.unwrap();
        let joined = |times: usize| format!("$compute={}region{} as long&$select=long", "concat(region,".repeat(times), ")".repeat(times));
        let refused = message(&boss.get(&path("Lamps", &joined(17))).await);
        assert!(refused.contains("`Svc:OData:MaxJoinedTexts`"), "{refused}");
        // 480 MB, in the batches of a page and as a cursor; what nobody takes isn't read.
        let pages = [path("Lamps", &format!("{}&$orderby=sku&$top=600", joined(7))), path("Lamps", &format!("{}&$orderby=sku&$expand=maker", joined(7)))];
        for page in pages {
            let (begun, grown) = measured(begin(&app, &Person::named("boss"), &page, &[])).await;
            assert_eq!(begun.status().as_u16(), 200);
            assert!(grown < MEMORY, "{grown} MB: {page}");
        }
        // Nothing is left out, wherever a batch ends.
        let all = boss.get(&path("Lamps", "$filter=startswith(sku,'T')&$select=sku,region&$orderby=sku&$count=true&$top=200")).await.expect(200);
        let skus: Vec<_> = all["value"].as_array().unwrap().iter().map(|lamp| lamp["sku"].as_str().unwrap().to_owned()).collect();
        let mut expected: Vec<_> = (0..600).map(|number| format!("T-{number}")).collect();
        expected.sort();
        assert_eq!((skus, &all["@odata.count"]), (expected[..150].to_vec(), &json!(600)));
        let rest = boss.get(all["@odata.nextLink"].as_str().unwrap()).await.expect(200);
        let skus: Vec<_> = rest["value"].as_array().unwrap().iter().map(|lamp| lamp["sku"].as_str().unwrap().to_owned()).collect();
        assert_eq!(skus, expected[150..200]);
        // Within each other they would stand in memory.
        let within = path("Makers", "$expand=lamps");
        let (answer, grown) = measured(boss.send(http::Method::GET, &within, &[("prefer", "maxpagesize=1000")], "")).await;
        let refused = message(&answer);
        assert!(refused.contains("`Svc:OData:MaxHeldBytes`"), "{refused}");
        assert!(grown < MEMORY, "{grown} MB");
        // As groups they are sent as they are read, too: in batches, or as a cursor.
        for options in ["$apply=groupby((id,region))", "$apply=groupby((id,region))&$top=600"] {
            let (begun, grown) = measured(begin(&app, &Person::named("boss"), &path("Lamps", options), &[])).await;
            assert_eq!(begun.status().as_u16(), 200);
            assert!(grown < MEMORY / 2, "{grown} MB: {options}");
        }
    }

    async fn groups_leave_as_they_are_read(backend) {
        let _alone = ALONE.lock().await;
        let (app, _boss) = stocked(backend, 1, &[]).await;
        grow(&app, ("Beta", "Much"), 1, 150_000).await;
        let groups = "$apply=groupby((id,sku,price,region,makerId,createdAt))";
        let exported = async {
            let mut file = begin(&app, &Person::named("boss"), &path("Lamps/$export", &format!("format=csv&{groups}")), &[]).await;
            assert_eq!(file.status().as_u16(), 200);
            let mut lines = 0;
            while let Some(frame) = file.body_mut().frame().await {
                lines += frame.unwrap().data_ref().map_or(0, |data| data.split(|byte| *byte == b'\n').count() - 1);
            }
            lines
        };
        let (lines, grown) = measured(exported).await;
        assert_eq!(lines, 150_002, "a line of names, and one for each lamp");
        assert!(grown < 100, "{grown} MB");
    }

    async fn groups_go_on_where_they_ended(backend) {
        let (app, boss) = stocked(backend, 1, &[]).await;
        grow(&app, ("Beta", "Many"), 1, 12_000).await;
        let groups = "$apply=filter(region eq 'EU')/groupby((sku,price))&$orderby=price desc";
        // Pages of one cursor each.
        let first = boss.send(http::Method::GET, &path("Lamps", &format!("{groups}&$count=true")), &[("prefer", "maxpagesize=7000")], "").await.expect(200);
        let rest = boss.send(http::Method::GET, first["@odata.nextLink"].as_str().unwrap(), &[("prefer", "maxpagesize=7000")], "").await.expect(200);
        assert_eq!((&first["@odata.count"], rest.get("@odata.nextLink")), (&json!(12_001), None));
        let rows = [&first, &rest].map(|page| page["value"].as_array().unwrap().clone()).concat();
        let prices: Vec<_> = rows.iter().map(|row| row["price"].as_i64().unwrap()).collect();
        assert_eq!(prices, (0..=12_000).rev().collect::<Vec<_>>());
        // A cursor, which is given up, and then batches.
        let sets = app.app().service::<Sets>().unwrap();
        let ctx = app.context(&Person::named("boss"));
        let reading = sets.reading(&ctx, "Lamps", &groups.replace(' ', "%20")).await.unwrap();
        let (mut sink, mut turns) = (Skus(Vec::new()), Vec::new());
        let mut reader = reading.open().await.unwrap();
        while reader.read_next(&mut sink).await.unwrap() {
            turns.push(sink.0.len());
            if turns.len() == 2 {
                reader.pause().unwrap();
            }
        }
        assert_eq!(turns, [1_000, 2_000, 7_000, 12_000]);
        let skus: Vec<_> = rows.iter().map(|row| row["sku"].as_str().unwrap().to_owned()).collect();
        assert_eq!(sink.0, skus);
    }
}
