use http::Method;
use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{path, reader, start, stock};

/// The names or SKUs of a page's entities.
async fn found(client: &Client, set: &str, options: &str) -> String {
    let page = client.get(&path(set, options)).await.expect(200);
    let name = |entity: &Value| {
        let name = entity.get("sku").or_else(|| entity.get("name"));
        name.and_then(Value::as_str).unwrap().to_owned()
    };
    let names: Vec<String> = page["value"].as_array().unwrap().iter().map(name).collect();
    names.join(" ")
}

/// A page without versions and contexts.
async fn expanded(client: &Client, set: &str, options: &str) -> Value {
    let headers = [("accept", "application/json;odata.metadata=none")];
    let page = client.send(Method::GET, &path(set, options), &headers, "").await.expect(200);
    page["value"].clone()
}

on_both_databases! {
    async fn conditions_and_orders_go_through_navigation(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            ("Lamps", "maker/name eq 'Beta'", "B-1 B-2"),
            ("Lamps", "maker/name ne 'Beta'", "A-1 A-2 C-1"),
            ("Lamps", "not (maker/name eq 'Beta')", "A-1 A-2 C-1"),
            ("Lamps", "maker/discount gt 10", "B-1 B-2"),
            ("Lamps", "not (maker/discount gt 10)", "A-1 A-2 C-1"),
            ("Lamps", "maker eq null", "C-1"),
            ("Lamps", "maker ne null", "A-1 A-2 B-1 B-2"),
            ("Lamps", "maker/name eq null", "C-1"),
            ("Lamps", "maker/parent/name eq 'Älpha'", "B-1 B-2"),
            ("Lamps", "maker/parent ne null and price gt 10", "B-1"),
            ("Lamps", "maker/lamps/any(l:l/price gt 15)", "B-1 B-2"),
            ("Lamps", "maker/lamps/$count eq 2", "A-1 A-2 B-1 B-2"),
            ("Makers", "lamps/any()", "Beta Älpha"),
            ("Makers", "lamps/any(l:l/watts gt 50)", "Beta"),
            ("Makers", "lamps/all(l:l/watts gt 5)", "Beta"),
            ("Makers", "not lamps/all(l:l/watts gt 5)", "Älpha"),
            ("Makers", "lamps/any(l:l/price gt 6 and l/maker/name eq 'Beta')", "Beta"),
            ("Makers", "lamps/any(l:l/maker/lamps/any(m:m/price gt l/price add 10))", "Beta"),
            ("Makers", "lamps/$count($filter=price gt 6) gt 1", "Beta"),
            ("Makers", "children/any(c:c/lamps/any(l:l/sku eq 'B-1'))", "Älpha"),
            ("Makers", "children/$count eq 0", "Beta"),
        ];
        for (set, filter, expected) in cases {
            let order = if set == "Lamps" { "sku" } else { "discount desc" };
            let options = format!("$filter={filter}&$orderby={order}");
            assert_eq!(found(&client, set, &options).await, expected, "{filter}");
        }
        assert_eq!(found(&client, "Lamps", "$orderby=maker/discount desc,sku").await, "B-1 B-2 A-1 A-2 C-1");
        assert_eq!(found(&client, "Makers", "$orderby=lamps/$count($filter=price gt 6) desc").await, "Beta Älpha");
    }

    async fn related_entities_come_along(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let lamps = "$select=sku&$orderby=sku&$expand=maker($select=name;$expand=parent($select=name))";
        let expected = json!([
            {"sku": "A-1", "maker": {"name": "Älpha", "parent": null}},
            {"sku": "A-2", "maker": {"name": "Älpha", "parent": null}},
            {"sku": "B-1", "maker": {"name": "Beta", "parent": {"name": "Älpha"}}},
            {"sku": "B-2", "maker": {"name": "Beta", "parent": {"name": "Älpha"}}},
            {"sku": "C-1", "maker": null},
        ]);
        assert_eq!(expanded(&client, "Lamps", lamps).await, expected);
        let makers = "$select=name&$orderby=name&$expand=lamps($select=sku;$orderby=price desc;$top=1;$count=true)";
        let expected = json!([
            {"name": "Beta", "lamps@odata.count": 2, "lamps": [{"sku": "B-1"}]},
            {"name": "Älpha", "lamps@odata.count": 2, "lamps": [{"sku": "A-2"}]},
        ]);
        assert_eq!(sorted(expanded(&client, "Makers", makers).await), expected);
        let makers = "$select=name&$expand=lamps($select=sku;$filter=price gt 6;$orderby=sku;$skip=1),children/$count";
        let expected = json!([
            {"name": "Beta", "lamps": [{"sku": "B-2"}], "children@odata.count": 0},
            {"name": "Älpha", "lamps": [], "children@odata.count": 1},
        ]);
        assert_eq!(sorted(expanded(&client, "Makers", makers).await), expected);
        let levels = "$select=name&$filter=parent eq null&$expand=children($select=name;$levels=2)";
        let expected = json!([{"name": "Älpha", "children": [{"name": "Beta", "children": []}]}]);
        assert_eq!(expanded(&client, "Makers", levels).await, expected);
        let computed = "$select=name&$filter=name eq 'Beta'&$expand=lamps($compute=price mul 2 as double;$select=double;$orderby=double)";
        let expected = json!([{"name": "Beta", "lamps": [{"double": 14}, {"double": 40}]}]);
        assert_eq!(expanded(&client, "Makers", computed).await, expected);
        let page = client.get(&path("Lamps", "$expand=maker($select=name)&$top=1&$orderby=sku&$select=sku")).await;
        let page = page.expect(200);
        assert_eq!(page["@odata.context"], "/odata/v1/$metadata#Lamps(sku,maker(name))");
        assert_eq!(page["value"][0]["maker"]["@odata.etag"], "W/\"1\"");
    }

    async fn paths_go_on_behind_an_entity(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        let [alpha, beta] = stock(&client).await;
        let maker = format!("Makers({beta})");
        let under = |rest: &str| format!("{maker}/{rest}");
        assert_eq!(found(&client, &under("lamps"), "$orderby=sku&$filter=price gt 8").await, "B-1");
        assert_eq!(client.get(&path(&under("lamps/$count"), "$filter=price gt 5")).await.text, "2");
        let parent = client.get(&path(&under("parent"), "$select=name")).await.expect(200);
        assert_eq!((&parent["name"], &parent["@odata.context"]), (&json!("Älpha"), &json!("/odata/v1/$metadata#Makers(name)/$entity")));
        let nowhere = client.get(&format!("/odata/v1/Makers({alpha})/parent")).await;
        assert_eq!((nowhere.status.as_u16(), nowhere.text.as_str()), (204, ""));
        let name = client.get(&path(&under("parent/name"), "")).await.expect(200);
        assert_eq!(name["value"], "Älpha");
        assert_eq!(name["@odata.context"], format!("/odata/v1/$metadata#Makers({beta})/parent/name"));
        let raw = client.get(&path(&under("parent/name/$value"), "")).await;
        assert_eq!((raw.text.as_str(), raw.header("content-type")), ("Älpha", "text/plain;charset=utf-8"));
        assert_eq!(client.get(&path(&under("discount/$value"), "")).await.text, "20");
        let empty = client.get(&format!("/odata/v1/Makers({alpha})/parentId")).await;
        assert_eq!((empty.status.as_u16(), empty.text.as_str()), (204, ""));
        let reference = client.get(&path(&under("parent/$ref"), "")).await.expect(200);
        assert_eq!(reference["@odata.id"], format!("Makers({alpha})"));
        let references = client.get(&path("Makers/$ref", "$orderby=discount")).await.expect(200);
        let ids = json!([{"@odata.id": format!("Makers({alpha})")}, {"@odata.id": format!("Makers({beta})")}]);
        assert_eq!(references["value"], ids);
        for wrong in ["nothing", "name/more", "lamps/sku"] {
            assert_eq!(client.get(&path(&under(wrong), "")).await.status.as_u16(), 404, "{wrong}");
        }
        let dead = "Makers(01990000-0000-7000-8000-00000000dead)/lamps";
        assert_eq!(client.get(&path(dead, "")).await.status.as_u16(), 404);
    }

    async fn a_way_to_a_set_is_unknown_without_its_permission(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("lamps").who_may(&["Lamps.View"]));
        let [alpha, _] = stock(&app.sign_in(&Person::named("boss"))).await;
        for options in ["$expand=maker", "$filter=maker/name eq 'x'", "$filter=maker eq null", "$orderby=maker/name", "$select=maker"] {
            let refusal = client.get(&path("Lamps", options)).await.expect(400).to_string();
            let misspelt = options.replace("maker", "makre");
            let unknown = client.get(&path("Lamps", &misspelt)).await.expect(400).to_string();
            let trace = |text: &str| text.split("innererror").next().unwrap().to_owned();
            assert_eq!(trace(&refusal), trace(&unknown.replace("makre", "maker")), "{options}");
        }
        assert_eq!(client.get(&format!("/odata/v1/Makers({alpha})/lamps")).await.status.as_u16(), 403);
        assert!(!client.get("/odata/v1/$metadata").await.text.contains("NavigationProperty"));
        let metadata = app.sign_in(&reader()).get("/odata/v1/$metadata").await.text;
        assert!(metadata.contains(r#"<NavigationProperty Name="lamps" Type="Collection(Shop.Lamp)""#), "{metadata}");
        assert!(metadata.contains(r#"<NavigationPropertyBinding Path="maker" Target="Makers"/>"#), "{metadata}");
    }

    async fn words_are_found_in_what_the_set_searches(backend) {
        let app = start(backend).await;
        let client = app.sign_in(&Person::named("boss"));
        stock(&client).await;
        let cases = [
            ("b-", "B-1 B-2"),
            ("asia", "B-1"),
            ("b- AND eu", "B-2"),
            ("b- eu", "B-2"),
            ("a-1 OR c-1", "A-1 C-1"),
            ("eu AND NOT a-", "B-2 C-1"),
            ("NOT 9", "A-1 B-1 B-2 C-1"),
            ("\"eu\"", "A-1 A-2 B-2 C-1"),
        ];
        for (search, expected) in cases {
            let options = format!("$search={search}&$orderby=sku");
            assert_eq!(found(&client, "Lamps", &options).await, expected, "{search}");
        }
        let count = client.get(&path("Lamps/$count", "$search=asia")).await;
        assert_eq!(count.text, "1");
        // What is hidden from somebody is not searched for them.
        let blind = app.sign_in(&reader());
        assert_eq!(found(&blind, "Lamps", "$search=NOT 9&$orderby=sku").await, "A-1 A-2 B-1 B-2 C-1");
        assert_eq!(client.get(&path("Makers", "$search=beta")).await.status.as_u16(), 501);
        let nested = path("Makers", "$expand=lamps($search=asia;$select=sku)&$select=name&$filter=name eq 'Beta'");
        let nested = client.get(&nested).await.expect(200);
        assert_eq!(nested["value"][0]["lamps"].as_array().unwrap().len(), 1);
    }
}

/// Makers by name; the databases sort letters beyond ASCII each in their way.
fn sorted(mut makers: Value) -> Value {
    let name = |maker: &Value| maker["name"].as_str().unwrap().to_owned();
    makers.as_array_mut().unwrap().sort_by_key(name);
    makers
}
