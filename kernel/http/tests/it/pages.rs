use serde_json::json;
use svc_testing::Backend;

use crate::fixture::{ADA, Call, Fixture};

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let mut names = Vec::new();
    let mut path = "/api/v1/items?take=2".to_owned();
    let mut pages = 0;
    loop {
        pages += 1;
        let page = fixture.send(Call::get(&path).by(ADA)).await.expect(200).json();
        names.extend(page["items"].as_array().unwrap().iter().map(|item| item["name"].clone()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/items?take=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(pages, 3);
    assert_eq!(names, ["Item 1", "Item 2", "Item 3", "Item 4", "Item 5"]);
}

#[tokio::test]
async fn a_page_out_of_bounds_is_malformed() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for (query, parameter) in [
        ("take=0", "take"),
        ("take=201", "take"),
        ("take=-1", "take"),
        ("take=many", "take"),
        ("take=1&take=2", "take"),
        ("after=nonsense", "after"),
        ("skip=3", "skip"),
    ] {
        let path = format!("/api/v1/items?{query}");
        let (_, errors) = fixture.send(Call::get(&path).by(ADA)).await.problem(400);
        assert!(errors.get(parameter).is_some(), "{query}: {errors}");
    }
}

#[tokio::test]
async fn a_list_may_have_parameters_of_its_own() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    let page = fixture.get("/try/paged?state=a%26b&take=7").await.expect(200);
    assert_eq!(page.json(), json!([7, "a&b"]));
    assert_eq!(fixture.get("/try/paged").await.expect(200).json(), json!([50, null]));
    let (_, errors) = fixture.get("/try/paged?stat=a").await.problem(400);
    assert_eq!(errors, json!({"stat": ["is not known here"]}));
    fixture.get("/try/paged?take=0").await.problem(400);
}
