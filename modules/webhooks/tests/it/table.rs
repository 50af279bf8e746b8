//! The README's tables of sentences and tests say what is so.

use std::collections::BTreeMap;
use std::path::Path;

use svc_core::{Module, Registry};
use svc_data::DataModule;
use svc_events::EventsRegistry as _;
use svc_http::HttpModule;
use svc_testing::{Backend, TestApp};
use svc_webhooks::Webhooks;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The rows of the tables that name tests: what they say, and the cell of tests.
fn rows(readme: &str) -> Vec<(&str, &str)> {
    let begin = readme.find("## Each sentence").expect("the tables");
    let lines = readme[begin..].lines().filter(|line| line.starts_with("| "));
    let rows = lines.filter_map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        Some((cells.next()?, cells.next().unwrap_or_default()))
    });
    rows.filter(|(first, _)| !["Sentence", "Feature", "---"].contains(first)).collect()
}

/// The functions of each file of tests, of this crate and of the client that it sends with.
fn functions() -> BTreeMap<String, Vec<String>> {
    let folders = ["modules/webhooks/tests/it", "kernel/client/tests/it"];
    let folders = folders.map(|folder| std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        functions.entry(name).or_default().extend(names.map(str::to_owned));
    }
    functions
}

#[test]
fn every_row_names_tests_that_are_there() {
    let readme = include_str!("../../README.md");
    let functions = functions();
    let has = |file: &str, test: &str| {
        let named = functions.get(file).into_iter().flatten();
        let fits = |name: &String| match test.strip_suffix('…') {
            Some(start) => name.starts_with(start),
            None => name == test,
        };
        named.filter(|name| fits(name)).count() == 1
    };
    let rows = rows(readme);
    assert!(rows.len() > 60, "{} rows", rows.len());
    for (sentence, cell) in rows {
        let mut file = "";
        let mut count = 0;
        for name in cell.split('`').skip(1).step_by(2) {
            let there = if name.contains('/') {
                let crate_path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
                let path = Path::new(ROOT).join(name);
                [path, crate_path].iter().any(|path| path.is_file())
            } else if name.starts_with("shop ") {
                continue;
            } else if let Some((named, test)) = name.split_once("::") {
                file = named;
                has(named, test)
            } else {
                functions.contains_key(name) || has(file, name)
            };
            assert!(there, "`{name}` of the row “{sentence}” is not there");
            count += 1;
        }
        assert!(count > 0, "the row “{sentence}” names no test: {cell}");
    }
}

#[test]
fn the_module_requires_jobs_and_outbox() {
    let modules: Vec<Box<dyn Module>> =
        vec![Box::new(DataModule), Box::new(HttpModule), Box::new(Webhooks)];
    let problems = Registry::assemble(modules).map(drop).unwrap_err().0;
    for required in ["events", "jobs"] {
        let names_both =
            |problem: &String| problem.contains("`webhooks`") && problem.contains(required);
        assert!(problems.iter().any(names_both), "{problems:?}");
    }
}

#[tokio::test]
async fn without_the_module_nothing_of_it_is_there() {
    let make = || svc_application::Application::new("bare");
    let app = TestApp::builder(make).start(Backend::Sqlite).await;
    let document = app.anonymous().get("/openapi/v1.json").await.expect(200);
    assert_eq!(document.get("webhooks"), None);
    assert!(!document["paths"].to_string().contains("webhooks"));
}

/// Publishes what no endpoint could list.
struct Odd;

impl Module for Odd {
    fn requires(&self) -> &'static [&'static str] {
        &["webhooks"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.event::<()>("odd..named", "What nobody can ask for", |event| event);
    }
}

#[tokio::test]
#[should_panic(expected = "`odd..named` is not an event type")]
async fn an_event_that_no_endpoint_could_list_stops_the_start() {
    let make = || svc_application::Application::new("odd").module(Webhooks).module(Odd);
    let _ = TestApp::builder(make).start(Backend::Sqlite).await;
}
