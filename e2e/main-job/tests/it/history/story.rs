use e2e_main_job::{Language, Receiver, Shop};
use serde_json::{Value, json};
use svc_testing::on_both_databases;

use crate::changes::{SECRET, check, database};
use crate::people::{Caller, id, product};

/// What clerks may do.
const CLERK: [&str; 12] = [
    "History.View",
    "History.Audit",
    "Products.View",
    "Products.Update",
    "Products.Create",
    "Products.Delete",
    "Products.SeeAllRegions",
    "Orders.View",
    "Orders.Update",
    "Orders.Place",
    "Orders.Cancel",
    "Customers.View",
];

fn order(shop: &Shop, by: &Caller) -> String {
    let customer = json!({"number": "C-1", "name": "Hotel Sonne", "city": "Bern", "country": "CH"});
    let customer = shop.expect(201, "POST", "/odata/v1/Customers", Some(&customer));
    let order = json!({
        "customerId": customer["id"], "reference": "PO 1",
        "lines": [{"productId": product(shop, "L-1"), "quantity": 2}],
    });
    id(&by.expect(201, "POST", "/api/v1/shop/orders", Some(&order)))
}

/// Who did what, the newest first.
fn told(entries: &[Value]) -> Vec<(&str, &str)> {
    let text = |value: &'_ Value| -> &'static str {
        // Compared within a test alone.
        Box::leak(value.as_str().expect("a text").to_owned().into_boxed_str())
    };
    entries.iter().map(|one| (text(&one["by"]["displayName"]), text(&one["operation"]))).collect()
}

/// Renames many products by one command.
fn rename(by: &Caller, ids: &[String]) {
    let requests: Vec<Value> = ids
        .iter()
        .enumerate()
        .map(|(number, product)| {
            json!({
                "id": format!("{number}"), "atomicityGroup": "g", "method": "patch",
                "url": format!("Products({product})"), "body": {"name": format!("Renamed {number}")},
            })
        })
        .collect();
    let answer = by.expect(200, "POST", "/odata/v1/$batch", Some(&json!({"requests": requests})));
    let responses = answer["responses"].as_array().expect("responses");
    assert!(responses.iter().all(|response| response["status"] == 200), "{answer}");
}

fn names(by: &Caller, name: &str) -> u64 {
    let path = format!("/odata/v1/Products/$count?$filter=startswith(name,'{name}')");
    by.send("GET", &path, None).text.parse().expect("a number")
}

on_both_databases! {
    async fn an_order_that_three_people_changed_loses_the_second_change_alone(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let [anna, ben, cleo] = ["Anna", "Ben", "Cleo"].map(|name| Caller::new(&shop, name, &CLERK, &[]));
        let order = order(&shop, &anna);
        let path = format!("/odata/v1/Orders({order})");
        ben.patch(&path, &json!({"reference": "PO 2"}));
        cleo.expect(200, "POST", &format!("{path}/Shop.Cancel"), Some(&json!({})));

        let entries = anna.history("Orders", &order);
        // The step in its workflow stands beside what it changed.
        let expected = [("Cleo", "updated"), ("Cleo", "event"), ("Ben", "updated"), ("Anna", "created")];
        assert_eq!(told(&entries), expected);
        assert_eq!(entries[1]["data"]["transition"], "cancel");
        let keys: Vec<_> = entries.iter().map(|entry| entry["by"]["apiKeyId"].as_str().expect("a key")).collect();
        assert!(keys[0] == keys[1] && keys[1] != keys[2] && keys[2] != keys[3], "{keys:?}");
        let renamed = &entries[2];
        let seen = anna.preview("Orders", &order, renamed, "Undo");
        assert_eq!((&seen["version"], &seen["problem"]), (&json!(3), &Value::Null));
        let fields = seen["fields"].as_array().expect("fields");
        let told_of: Vec<_> = fields.iter().map(|field| (&field["name"], &field["now"], &field["restored"])).collect();
        assert_eq!(told_of, [(&json!("reference"), &json!("PO 2"), &json!("PO 1"))]);
        let done = anna.restore("Orders", &order, renamed, "Undo", &seen["version"]);
        assert_eq!(done.json, json!({"action": "change", "version": 4}));

        let now = anna.get(&path);
        assert_eq!((&now["reference"], &now["status"]), (&json!("PO 1"), &json!("cancelled")));
        let after = anna.history("Orders", &order);
        assert_eq!((&after[0]["tookBack"], &after[0]["by"]["displayName"]), (&renamed["id"], &json!("Anna")));
        assert_eq!(after[0]["by"]["apiKeyId"], keys[3]);
        // Without the version of a preview nothing happens.
        let refused = anna.restore("Orders", &order, renamed, "Before", &Value::Null);
        assert_eq!((refused.status, &refused.json["code"]), (409, &json!("history.changed_since")));
        assert_eq!(anna.history("Orders", &order).len(), 5);
    }

    async fn a_deletion_is_undone_with_what_its_undoer_does_not_see(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let [anna, ben] = ["Anna", "Ben"].map(|name| Caller::new(&shop, name, &CLERK, &[]));
        let product = product(&shop, "L-1");
        let path = format!("/odata/v1/Products({product})");
        let before = shop.expect(200, "GET", &path, None);
        ben.expect(204, "DELETE", &path, None);
        let entries = anna.history("Products", &product);
        assert_eq!(told(&entries)[0], ("Ben", "deleted"));
        let seen = anna.preview("Products", &product, &entries[0], "Undo");
        assert_eq!((&seen["action"], &seen["problem"]), (&json!("create"), &Value::Null));
        let done = anna.restore("Products", &product, &entries[0], "Undo", &seen["version"]);
        assert_eq!(done.status, 200, "{}", done.text);
        let mut now = shop.expect(200, "GET", &path, None);
        assert_eq!(now["costPrice"], json!(21.35), "what Anna doesn't see");
        let mut expected = before;
        for counted in ["version", "updatedAt", "@odata.etag", "@odata.context"] {
            now[counted] = Value::Null;
            expected[counted] = Value::Null;
        }
        assert_eq!(now, expected);
    }

    async fn a_restore_is_sent_as_the_change_that_it_is(backend) {
        let receiver = Receiver::start(Language::Node, 0, &[SECRET]);
        let shop = Shop::start(database(backend).await, &[receiver.port()]);
        let admin = Caller::admin(&shop);
        let endpoint = json!({"url": receiver.url(), "events": ["products.*"], "secret": SECRET});
        shop.expect(201, "POST", "/api/v1/webhooks", Some(&endpoint));
        let organisation = admin.get("/api/v1/identity/me")["organisation"]["id"].clone();
        let told = |event: &str| check(&receiver.next(), event, &organisation)["data"].clone();
        let take_back = |product: &str, entry: &Value| {
            let seen = admin.preview("Products", product, entry, "Undo");
            let done = admin.restore("Products", product, entry, "Undo", &seen["version"]);
            assert_eq!(done.status, 200, "{}", done.text);
        };
        let product = product(&shop, "L-1");
        let path = format!("/odata/v1/Products({product})");
        let made = told("products.created");
        admin.patch(&path, &json!({"name": "Torch"}));
        assert_eq!(told("products.updated")["name"], "Torch");
        take_back(&product, &admin.history("Products", &product)[0]);
        let restored = told("products.updated");
        assert_eq!(restored["name"], "Desk lamp");
        admin.expect(204, "DELETE", &path, None);
        assert_eq!(told("products.deleted"), json!({"id": product}));
        take_back(&product, &admin.history("Products", &product)[0]);
        let again = told("products.created");
        assert_eq!((&again["id"], &again["sku"], &again["costPrice"]), (&made["id"], &made["sku"], &made["costPrice"]));
    }

    async fn a_command_that_changed_forty_records_is_taken_back_as_a_whole(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let [anna, ben] = ["Anna", "Ben"].map(|name| Caller::new(&shop, name, &CLERK, &[]));
        let ids: Vec<String> = (0..40).map(|number| product(&shop, &format!("L-{number}"))).collect();
        rename(&ben, &ids);
        assert_eq!(names(&anna, "Renamed"), 40);
        let newest = anna.get("/api/v1/audit?take=1&set=Products")["items"][0].clone();
        let unit = newest["unitOfWork"].as_str().expect("an id").to_owned();
        let listed = anna.get(&format!("/api/v1/audit?unitOfWork={unit}&take=100"));
        assert_eq!(listed["items"].as_array().expect("entries").len(), 40);
        let path = format!("/api/v1/audit/units/{unit}");
        let seen = anna.get(&format!("{path}/preview"));
        let records = seen["records"].as_array().expect("records");
        assert!(records.len() == 40 && records.iter().all(|one| one["problem"].is_null()), "{seen}");
        // One that is changed meanwhile keeps all of them as they are.
        ben.patch(&format!("/odata/v1/Products({})", ids[17]), &json!({"price": 1}));
        let undo = json!({"version": seen["version"]});
        let refused = anna.expect(409, "POST", &format!("{path}/undo"), Some(&undo));
        assert_eq!(refused["code"], "history.changed_since");
        assert_eq!(names(&anna, "Renamed"), 40);
        let undo = json!({"version": anna.get(&format!("{path}/preview"))["version"]});
        let done = anna.expect(200, "POST", &format!("{path}/undo"), Some(&undo));
        assert_eq!((&done["records"], names(&anna, "Renamed")), (&json!(40), 0));
        let changed = anna.get(&format!("/odata/v1/Products({})", ids[17]));
        assert_eq!((&changed["price"], &changed["name"]), (&json!(1), &json!("Desk lamp")));
        let facets = anna.get("/api/v1/audit/facets?set=Products&operation=updated");
        let people: Vec<_> = facets["people"].as_array().expect("people").iter()
            .map(|one| (one["label"].as_str().expect("a name"), &one["count"])).collect();
        assert_eq!(people, [("Ben", &json!(41)), ("Anna", &json!(40))]);
    }

    async fn what_changes_no_record_stands_in_the_log(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let anna = Caller::new(&shop, "Anna", &CLERK, &[]);
        let setting = json!({"value": 30});
        let set = shop.send("PUT", "/api/v1/settings/History.RetentionDays", Some(&setting));
        assert!(set.status < 300, "{}", set.text);
        assert_eq!(anna.send("POST", "/api/v1/audit/export", Some(&json!({}))).status, 200);
        let file = "/odata/v1/Products/$export?format=csv&$filter=name%20eq%20%27plutonium%27";
        assert_eq!(anna.send("GET", file, None).status, 200);
        let taken = anna.get("/api/v1/audit?event=SetExported")["items"][0].clone();
        assert_eq!(taken["by"]["displayName"], "Anna");
        assert_eq!(taken["data"], json!({"set": "Products", "format": "csv", "options": ["$filter"]}));
        for event in [
            "identity.rights_changed", "identity.api_key_changed", "ApplicationSettingChanged", "AuditLogExported",
            "SetExported",
        ] {
            let listed = anna.get(&format!("/api/v1/audit?event={event}"));
            let entries = listed["items"].as_array().expect("entries");
            assert!(entries.iter().any(|entry| entry["operation"] == "event"), "{event}: {listed}");
            assert!(!listed.to_string().contains("svck_") && !listed.to_string().contains("plutonium"), "{listed}");
        }
    }
}
