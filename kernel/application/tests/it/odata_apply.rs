use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{path, start, stock};

async fn applied(client: &Client, options: &str) -> Value {
    let headers = [("accept", "application/json;odata.metadata=none")];
    let page = client.send(Method::GET, &path("Lamps", options), &headers, "").await.expect(200);
    page["value"].clone()
}

on_both_databases! {
    async fn rows_are_grouped_and_aggregated(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            (
                "$apply=aggregate(price with sum as total,price with average as mean,watts with max as most,\
                 sku with min as first,region with countdistinct as regions,$count as n)",
                json!([{"total": 43.5, "mean": 8.7, "most": 60, "first": "A-1", "regions": 2, "n": 5}]),
            ),
            (
                "$apply=groupby((region),aggregate($count as n,price with sum as total))&$orderby=region desc",
                json!([{"region": "EU", "n": 4, "total": 23.5}, {"region": "ASIA", "n": 1, "total": 20}]),
            ),
            ("$apply=groupby((region))&$orderby=region", json!([{"region": "ASIA"}, {"region": "EU"}])),
            (
                "$apply=filter(watts ne null)/groupby((maker/name,region),aggregate(watts with sum as watts))\
                 &$orderby=watts",
                json!([
                    {"maker": {"name": "Beta"}, "region": "ASIA", "watts": 7},
                    {"maker": {"name": "Älpha"}, "region": "EU", "watts": 40},
                    {"maker": {"name": "Beta"}, "region": "EU", "watts": 60},
                ]),
            ),
            (
                "$apply=compute(price mul 2 as double)/filter(double gt 12)/aggregate(double with sum as total)",
                json!([{"total": 75}]),
            ),
            (
                "$apply=groupby((maker/name),aggregate(price with sum as total))/filter(total gt 2)\
                 /compute(total div 2 as half)&$select=half&$orderby=half",
                json!([{"half": 7.75}, {"half": 13.5}]),
            ),
            (
                "$apply=concat(filter(price gt 10)/aggregate($count as dear),aggregate($count as n,price with max as top))\
                 &$orderby=n",
                json!([{"dear": 2, "n": null, "top": null}, {"dear": null, "n": 5, "top": 20}]),
            ),
            (
                "$apply=orderby(price desc)/top(2)/aggregate(price with sum as total)",
                json!([{"total": 30.5}]),
            ),
            ("$apply=filter(price gt 6)/skip(9)/aggregate($count as n)", json!([{"n": 0}])),
            ("$apply=filter(price gt 8)&$orderby=sku&$select=sku", json!([{"sku": "A-2"}, {"sku": "B-1"}])),
            // Without an order of the caller's rows have one all the same, and null is first in it.
            ("$apply=groupby((maker/name))", json!([{"maker": {"name": null}}, {"maker": {"name": "Beta"}}, {"maker": {"name": "Älpha"}}])),
            ("$apply=groupby((watts))/top(2)", json!([{"watts": null}, {"watts": 7}])),
            // Among equal rows it is always the same ones that are left out.
            (
                "$apply=groupby((sku),aggregate(region with countdistinct as n))/orderby(n desc)/top(3)&$select=sku",
                json!([{"sku": "A-1"}, {"sku": "A-2"}, {"sku": "B-1"}]),
            ),
            (
                "$apply=groupby((sku),aggregate(region with countdistinct as n))/orderby(n)/skip(1)/top(2)/aggregate(sku with max as last)",
                json!([{"last": "B-1"}]),
            ),
            ("$apply=top(2)/aggregate(sku with max as last)", json!([{"last": "A-2"}])),
            ("$apply=skip(4)/aggregate(sku with max as last)", json!([{"last": "C-1"}])),
            ("$apply=orderby(price desc)/skip(1)/top(1)/aggregate(price with sum as total)", json!([{"total": 10.5}])),
            // What `orderby` says holds for the answer, too, unless later steps make other rows.
            (
                "$apply=groupby((sku),aggregate(price with sum as total))/orderby(total desc)/top(3)",
                json!([{"sku": "B-1", "total": 20}, {"sku": "A-2", "total": 10.5}, {"sku": "B-2", "total": 7}]),
            ),
            (
                "$apply=groupby((sku),aggregate(price with sum as total))/orderby(total desc)/top(3)&$orderby=sku",
                json!([{"sku": "A-2", "total": 10.5}, {"sku": "B-1", "total": 20}, {"sku": "B-2", "total": 7}]),
            ),
            ("$apply=orderby(price desc)/top(2)&$select=sku", json!([{"sku": "B-1"}, {"sku": "A-2"}])),
            ("$apply=orderby(price desc)&$select=sku&$top=2", json!([{"sku": "B-1"}, {"sku": "A-2"}])),
            ("$apply=orderby(region desc)&$orderby=price&$select=sku&$top=2", json!([{"sku": "C-1"}, {"sku": "A-1"}])),
            ("$apply=aggregate(price div 0 with sum as none)", json!([{"none": null}])),
            (
                "$apply=groupby((region),aggregate($count as n))&$filter=n gt 1&$compute=n mul 10 as tens&$select=tens",
                json!([{"tens": 40}]),
            ),
        ];
        for (options, expected) in cases {
            assert_eq!(applied(&client, options).await, expected, "{options}");
        }
        // A column has values of one type, or numbers.
        let both = "$apply=concat(aggregate(price with max as x),aggregate(watts with max as x))&$orderby=x";
        assert_eq!(applied(&client, both).await, json!([{"x": 20}, {"x": 60}]));
        let mixed = "$apply=concat(aggregate(price with max as x),aggregate(sku with max as x))";
        assert_eq!(client.get(&path("Lamps", mixed)).await.status, 501);
        let counted = path("Lamps", "$apply=groupby((sku))&$count=true&$top=1&$orderby=sku desc");
        let counted = client.get(&counted).await.expect(200);
        assert_eq!((&counted["@odata.count"], &counted["value"]), (&json!(5), &json!([{"sku": "C-1"}])));
        assert_eq!(counted["@odata.context"], "/odata/v1/$metadata#Lamps(sku)");
        assert_eq!(client.get(&path("Lamps/$count", "$apply=groupby((region))")).await.text, "2");
        assert_eq!(client.get(&path("Lamps/$count", "$apply=orderby(price desc)")).await.text, "5");
    }

    async fn aggregated_rows_come_in_pages(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            ("$apply=groupby((sku))&$orderby=sku desc&$top=4", ["C-1", "B-2", "B-1", "A-2"]),
            ("$apply=groupby((sku),aggregate(price with sum as total))/orderby(total)&$top=4", ["C-1", "A-1", "B-2", "A-2"]),
            ("$apply=orderby(price desc)/top(4)", ["B-1", "A-2", "B-2", "A-1"]),
        ];
        for (options, expected) in cases {
            let (mut path, mut seen) = (path("Lamps", options), Vec::new());
            loop {
                let page = client.send(Method::GET, &path, &[("prefer", "odata.maxpagesize=3")], "").await;
                let page = page.expect(200);
                let rows = page["value"].as_array().unwrap();
                seen.extend(rows.iter().map(|row| row["sku"].as_str().unwrap().to_owned()));
                match page.get("@odata.nextLink") {
                    Some(link) => link.as_str().unwrap().clone_into(&mut path),
                    None => break,
                }
            }
            assert_eq!(seen, expected, "{options}");
        }
    }
}
