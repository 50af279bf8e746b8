use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases, organisation};

use crate::fixture::{create, path, reader, start, stock};

fn skus(page: &Value) -> Vec<String> {
    let sku = |lamp: &Value| lamp["sku"].as_str().unwrap().to_owned();
    page["value"].as_array().unwrap().iter().map(sku).collect()
}

async fn page_of(client: &Client, path: &str, size: u32) -> Value {
    let size = format!("odata.maxpagesize={size}");
    client.send(Method::GET, path, &[("prefer", &size)], "").await.expect(200)
}

/// The SKUs of all pages of two, one after the other.
async fn walk(client: &Client, first: &str) -> Vec<String> {
    let (mut path, mut seen) = (first.to_owned(), Vec::new());
    loop {
        let page = page_of(client, &path, 2).await;
        assert!(page["value"].as_array().unwrap().len() <= 2);
        seen.extend(skus(&page));
        match page.get("@odata.nextLink") {
            Some(link) => link.as_str().unwrap().clone_into(&mut path),
            None => return seen,
        }
    }
}

on_both_databases! {
    async fn the_pages_of_a_query_hold_what_the_query_does(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let orders = [
            ("sku", "A-1 A-2 B-1 B-2 C-1"),
            ("sku desc", "C-1 B-2 B-1 A-2 A-1"),
            ("watts,sku", "A-2 C-1 B-1 A-1 B-2"),
            ("watts desc,sku", "B-2 A-1 B-1 A-2 C-1"),
            ("region,watts desc,sku desc", "B-1 B-2 A-1 C-1 A-2"),
            ("soldFrom desc,price", "A-1 B-1 C-1 B-2 A-2"),
            ("soldFrom,price desc", "A-2 B-2 C-1 B-1 A-1"),
            ("price mul 2", "C-1 A-1 B-2 A-2 B-1"),
            ("watts mod 10 desc,sku", "B-1 A-1 B-2 A-2 C-1"),
            ("price div 3 desc", "B-1 A-2 B-2 A-1 C-1"),
            ("maker/name,sku", "C-1 B-1 B-2 A-1 A-2"),
            ("tolower(maker/name) desc,sku", "A-1 A-2 B-1 B-2 C-1"),
            ("length(sku),sku", "A-1 A-2 B-1 B-2 C-1"),
            ("watts gt 20 desc,sku", "A-1 B-2 A-2 B-1 C-1"),
            ("1,sku", "A-1 A-2 B-1 B-2 C-1"),
        ];
        for (order, expected) in orders {
            let found = walk(&client, &path("Lamps", &format!("$orderby={order}"))).await.join(" ");
            assert_eq!(found, expected, "{order}");
        }
        assert_eq!(walk(&client, &path("Lamps", "$orderby=sku&$top=3")).await, ["A-1", "A-2", "B-1"]);
        let skipped = walk(&client, &path("Lamps", "$orderby=sku&$skip=1&$top=3&$count=true")).await;
        assert_eq!(skipped, ["A-2", "B-1", "B-2"]);
        let computed = path("Lamps", "$compute=price mul 3 as triple&$orderby=triple desc");
        assert_eq!(walk(&client, &computed).await, ["B-1", "A-2", "B-2", "A-1", "C-1"]);
        assert_eq!(walk(&client, &path("Lamps", "")).await.len(), 5);
    }

    async fn pages_stay_right_while_rows_come_and_go(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let addresses = create(&client, &[("B", 1.0), ("C", 1.0), ("D", 1.0), ("E", 1.0)]).await;
        let first = page_of(&client, "/odata/v1/Lamps?$orderby=sku&$count=true", 2).await;
        assert_eq!((skus(&first), &first["@odata.count"]), (vec!["B".into(), "C".into()], &json!(4)));
        // One comes before, one goes before, and the row where the page ended goes too.
        create(&client, &[("A", 1.0)]).await;
        let _ = client.delete(&addresses[0]).await.expect(204);
        let _ = client.delete(&addresses[1]).await.expect(204);
        let next = page_of(&client, first["@odata.nextLink"].as_str().unwrap(), 2).await;
        assert_eq!((skus(&next), next.get("@odata.nextLink")), (vec!["D".into(), "E".into()], None));
        assert_eq!(next["@odata.count"], 3);
    }

    async fn a_token_serves_its_query_and_person_alone(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&reader());
        stock(&app.sign_in(&Person::named("boss"))).await;
        let first = page_of(&client, "/odata/v1/Lamps?$orderby=sku", 2).await;
        let link = first["@odata.nextLink"].as_str().unwrap().to_owned();
        assert_eq!(skus(&page_of(&client, &link, 2).await), ["B-1", "B-2"]);
        let (_, token) = link.split_once("$skiptoken=").unwrap();
        let middle = token.len() - 6;
        let changed = if &token[middle..=middle] == "A" { "B" } else { "A" };
        let forged = format!("{}{changed}{}", &token[..middle], &token[middle + 1..]);
        let others = [
            app.sign_in(&Person::named("other").who_may(&["Lamps.View"])),
            app.sign_in(&reader().of(organisation(2))),
        ];
        let same = |query: &str, token: &str| format!("/odata/v1/Lamps?{query}&$skiptoken={token}");
        for other in &others {
            assert_eq!(other.get(&link).await.status.as_u16(), 400);
        }
        let wrong = [
            same("$orderby=sku%20desc", token),
            same("$orderby=sku&$filter=price%20gt%201", token),
            same("$orderby=sku&$top=3", token),
            same("$orderby=sku", &forged),
            same("$orderby=sku", "x"),
            same("$orderby=sku", &token[..40]),
            format!("/odata/v1/Makers?$orderby=name&$skiptoken={token}"),
        ];
        for path in wrong {
            let answer = client.get(&path).await;
            assert_eq!(answer.status.as_u16(), 400, "{path}: {}", answer.text);
        }
        // The same query in another encoding is the same query.
        assert_eq!(client.get(&same("%24orderby=%73ku", token)).await.status.as_u16(), 200);
    }
}
