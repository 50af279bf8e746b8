//! The index follows the records.

use std::sync::atomic::Ordering;

use serde_json::json;
use svc_testing::{Backend, TestApp, on_both_databases};

use crate::fixture::{boss, builder, make, search, start, titles, with_more_later};

/// How many words the index has, each once for each property.
async fn words(app: &TestApp) -> i64 {
    count(app, "search_words WHERE kind = 0").await
}

async fn count(app: &TestApp, of: &str) -> i64 {
    let database = app.app().service::<svc_database::Database>().unwrap();
    let statement = database.statement(&format!("SELECT count(*) FROM {of}"), []);
    database.row(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

async fn execute(app: &TestApp, sql: &str) {
    let ctx = svc_data::Context::system(app.app()).unwrap();
    let statement = ctx.database().statement(sql, []);
    ctx.transact(async |uow| uow.execute(statement).await).await.unwrap();
}

on_both_databases! {
    async fn a_change_is_found_and_what_was_before_is_not(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let id = make(&boss, json!({"name": "Hammer", "description": "heavy"})).await;
        app.drain().await;
        assert_eq!(words(&app).await, 2);
        let path = format!("/odata/v1/Articles({id})");
        assert_eq!(boss.patch(&path, json!({"name": "Mallet", "description": null})).await.status, 200);
        app.drain().await;
        assert_eq!(titles(&boss, "mallet").await, ["Mallet"]);
        assert_eq!(titles(&boss, "hammer").await, [""; 0]);
        assert_eq!(titles(&boss, "heavy").await, [""; 0]);
        assert_eq!(boss.delete(&path).await.status, 204);
        // What the index still has is not there any more.
        assert_eq!(titles(&boss, "mallet").await, [""; 0]);
        app.drain().await;
        for table in ["search_words", "search_postings", "search_records"] {
            assert_eq!(count(&app, table).await, 0, "{table}");
        }
        let restored = format!("/odata/v1/DeletedArticles({id})/Shop.Restore");
        let answer = boss.post(&restored, json!({})).await;
        assert!(answer.status.is_success(), "{}", answer.text);
        app.drain().await;
        assert_eq!(words(&app).await, 1, "{}", boss.get(&path).await.text);
        assert_eq!(titles(&boss, "mallet").await, ["Mallet"]);
    }

    async fn records_from_before_are_indexed_by_a_job_that_says_so(backend) {
        let app = builder().start(backend).await;
        // More than a step of the job, and none of it observed.
        for part in 0..5_i32 {
            let rows: Vec<String> = (0..90).map(|row| {
                let number = part * 90 + row;
                format!("({number}, {}, 'Partner {number}', 1)", match backend {
                    Backend::Sqlite => "x'01990000000070008000000000000001'",
                    Backend::Postgres => "'01990000-0000-7000-8000-000000000001'",
                })
            }).collect();
            let sql = format!("INSERT INTO partners (number, organisation_id, name, version) VALUES {}", rows.join(", "));
            execute(&app, &sql).await;
        }
        let boss = boss(&app);
        let before = search(&boss, "partner 449", "&set=Partners").await;
        assert_eq!(before["providers"][0]["complete"], false);
        app.drain().await;
        let after = search(&boss, "partner 449", "&set=Partners").await;
        assert_eq!(after["providers"][0]["complete"], true);
        assert_eq!(after["providers"][0]["hits"][0]["key"], "449");
        assert_eq!(count(&app, "search_records").await, 450);
        assert_eq!(words(&app).await, 451);
        // Whoever watches the job sees how far it came.
        let jobs = app.app().service::<svc_jobs::Jobs>().unwrap();
        let filter = svc_jobs::JobFilter { kind: Some("search.build".to_owned()), ..Default::default() };
        let system = svc_data::Context::system(app.app()).unwrap();
        let told: Vec<_> = jobs.list(&system, &filter).await.unwrap().jobs.into_iter()
            .map(|job| (job.state, job.progress.percent, job.progress.message.unwrap_or_default())).collect();
        let expected = (svc_jobs::JobState::Finished, Some(100), "450 of 450 records of Partners indexed".to_owned());
        assert!(told.contains(&expected), "{told:?}");
    }

    async fn another_declaration_builds_the_index_anew(backend) {
        let (builder, more) = with_more_later();
        let app = builder.start(backend).await;
        app.drain().await;
        make(&boss(&app), json!({"name": "Hammer", "region": "Lapland"})).await;
        app.drain().await;
        // Some that are gone without anybody having heard of it: more than two steps delete.
        for _ in 0..410 {
            make(&boss(&app), json!({"name": "Ghost"})).await;
        }
        app.drain().await;
        execute(&app, "DELETE FROM articles WHERE name = 'Ghost'").await;
        assert_eq!(titles(&boss(&app), "ghost").await, [""; 0]);
        assert_eq!(words(&app).await, 2);
        more.store(true, Ordering::SeqCst);
        let app = app.another_node().await;
        let boss = boss(&app);
        let before = search(&boss, "lapland", "&set=Articles").await;
        assert_eq!(before["providers"][0]["complete"], false);
        app.drain().await;
        assert_eq!(titles(&boss, "lapland").await, ["Hammer"]);
        assert_eq!(words(&app).await, 2, "the ghosts' is gone, the region is there");
        assert_eq!(count(&app, "search_records").await, 1);
        let after = search(&boss, "lapland", "&set=Articles").await;
        assert_eq!(after["providers"][0]["complete"], true);
    }
    async fn a_guarded_change_replaces_the_words_of_what_changed_alone(backend) {
        let app = start(backend).await;
        let boss = boss(&app);
        let id = make(&boss, json!({"name": "Lamp", "secret": "plutonium"})).await;
        make(&boss, json!({"name": "Lamp two"})).await;
        app.drain().await;
        let path = format!("/odata/v1/Articles({id})");
        assert_eq!(boss.patch(&path, json!({"secret": "radium"})).await.status, 200);
        app.drain().await;
        assert_eq!(titles(&boss, "radium").await, ["Lamp"]);
        assert_eq!(titles(&boss, "plutonium").await, [""; 0]);
        assert_eq!(titles(&boss, "lam").await, ["Lamp two", "Lamp"]);
        assert_eq!(words(&app).await, 3, "lamp, two, radium");
    }

    async fn what_is_old_is_found_behind_what_is_recent(backend) {
        let app = builder().start(backend).await;
        // More than the blocks that are looked at first.
        let (numbers, organisation) = match backend {
            Backend::Sqlite => (
                "WITH RECURSIVE all_numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM all_numbers WHERE n < 17000) \
                 SELECT n FROM all_numbers",
                "x'01990000000070008000000000000001'",
            ),
            Backend::Postgres => {
                ("SELECT n FROM generate_series(1, 17000) AS n", "'01990000-0000-7000-8000-000000000001'")
            }
        };
        execute(&app, &format!(
            "INSERT INTO partners (number, organisation_id, name, version) \
             SELECT n, {organisation}, CASE WHEN n < 4 THEN 'Old partner' ELSE 'Partner' END, 1 FROM ({numbers}) AS them"
        )).await;
        app.drain().await;
        let boss = boss(&app);
        let keys = async |typed: &str| {
            let found = search(&boss, typed, "&set=Partners").await;
            let hits = found["providers"][0]["hits"].as_array().unwrap().iter();
            hits.map(|hit| hit["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(keys("old").await, ["3", "2", "1"]);
        assert_eq!(keys("odl partner").await, [""; 0]);
        assert_eq!(keys("patrner old").await, ["3", "2", "1"]);
        assert_eq!(keys("partner old").await, ["3", "2", "1"]);
        assert_eq!(keys("partner").await[..2], ["17000", "16999"]);
    }
}
