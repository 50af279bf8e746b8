use std::sync::{Arc, Barrier};

use e2e_main_job::{Answer, Shop};
use serde_json::{Value, json};
use svc_testing::on_both_databases;

use crate::changes::{database, new_product};
use crate::people::{Caller, id, product};

/// How often each race is run.
const RACES: usize = 10;

/// Does all of it at the same moment, and answers with what came of each.
fn at_once<const N: usize>(works: [Box<dyn FnOnce() -> Answer + Send>; N]) -> [Answer; N] {
    let barrier = Arc::new(Barrier::new(N));
    let threads = works.map(|work| {
        let barrier = Arc::clone(&barrier);
        std::thread::spawn(move || {
            barrier.wait();
            work()
        })
    });
    threads.map(|thread| thread.join().expect("it ends"))
}

fn statuses<const N: usize>(answers: &[Answer; N]) -> [u16; N] {
    let mut all = answers.each_ref().map(|answer| answer.status);
    all.sort_unstable();
    all
}

/// Of those that were refused: they were overtaken, and are told so.
fn insist_on_code(answers: &[Answer], code: &str) {
    for answer in answers.iter().filter(|answer| answer.status == 409) {
        // The sets have OData's form of an error.
        let told = answer.json.get("error").unwrap_or(&answer.json);
        assert_eq!(told["code"], code, "{}", answer.text);
    }
}

/// Makes a category without products; answers with its key.
fn category(by: &Caller, name: &str) -> String {
    let category = json!({"name": name, "description": "things that shine"});
    id(&by.expect(201, "POST", "/odata/v1/Categories", Some(&category)))
}

/// Somebody's restore of a product's newest entry, as a piece of work.
fn restoring(
    by: &Caller,
    id: &str,
    entry: &Value,
    seen: &Value,
) -> Box<dyn FnOnce() -> Answer + Send> {
    let (by, id, entry, version) =
        (by.clone(), id.to_owned(), entry.clone(), seen["version"].clone());
    Box::new(move || by.restore("Products", &id, &entry, "Undo", &version))
}

on_both_databases! {
    async fn a_change_and_a_restore_at_once_never_mix(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let product = product(&shop, "L-1");
        let path = format!("/odata/v1/Products({product})");
        let mut overtaken = 0;
        // Until somebody was faster several times: who is, is up to the machine.
        for round in 0..200 {
            admin.patch(&path, &json!({"name": format!("Lamp {round}"), "price": round + 1}));
            let entry = admin.history("Products", &product)[0].clone();
            let seen = admin.preview("Products", &product, &entry, "Undo");
            let (by, to) = (admin.clone(), path.clone());
            let change: Box<dyn FnOnce() -> Answer + Send> =
                Box::new(move || by.send("PATCH", &to, Some(&json!({"description": format!("round {round}")}))));
            let answers = at_once([restoring(&admin, &product, &entry, &seen), change]);
            assert_eq!(answers[1].status, 200, "{}", answers[1].text);
            insist_on_code(&answers[..1], "history.changed_since");
            let now = admin.get(&path);
            assert_eq!(now["description"], format!("round {round}"));
            let is_restored = now["name"] != format!("Lamp {round}");
            assert_eq!(is_restored, answers[0].status == 200, "{}", answers[0].text);
            let newest = admin.history("Products", &product);
            let took_back = newest[..2].iter().any(|one| one["tookBack"] == entry["id"]);
            assert_eq!(took_back, is_restored);
            overtaken += usize::from(!is_restored);
            if overtaken >= RACES {
                break;
            }
        }
        assert!(overtaken > 0, "nobody was ever faster than a restore");
    }

    async fn of_several_who_take_back_the_same_one_does(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let product = product(&shop, "L-1");
        let path = format!("/odata/v1/Products({product})");
        for round in 0..RACES {
            // A change, and then a deletion.
            if round % 2 == 0 {
                admin.patch(&path, &json!({"name": format!("Lamp {round}")}));
            } else {
                admin.expect(204, "DELETE", &path, None);
            }
            let entries = admin.history("Products", &product);
            let seen = admin.preview("Products", &product, &entries[0], "Undo");
            let answers = at_once([(); 4].map(|()| restoring(&admin, &product, &entries[0], &seen)));
            assert_eq!(statuses(&answers), [200, 409, 409, 409], "round {round}");
            insist_on_code(&answers, "history.changed_since");
            assert_eq!(admin.history("Products", &product).len(), entries.len() + 1);
            admin.get(&path);
        }
    }

    async fn of_several_who_take_back_a_command_one_does(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let ids = ["L-1", "L-2", "L-3"].map(|sku| product(&shop, sku));
        for round in 0..RACES {
            let requests: Vec<Value> = (0..).zip(&ids).map(|(number, product)| json!({
                "id": format!("{number}"), "atomicityGroup": "g", "method": "patch",
                "url": format!("Products({product})"), "body": {"name": format!("Lamp {round}")},
            })).collect();
            admin.expect(200, "POST", "/odata/v1/$batch", Some(&json!({"requests": requests})));
            let unit = admin.history("Products", &ids[0])[0]["unitOfWork"].clone();
            let path = format!("/api/v1/audit/units/{}", unit.as_str().expect("an id"));
            let version = admin.get(&format!("{path}/preview"))["version"].clone();
            let answers = at_once([(); 3].map(|()| {
                let (by, path, body) = (admin.clone(), format!("{path}/undo"), json!({"version": version}));
                let undo: Box<dyn FnOnce() -> Answer + Send> = Box::new(move || by.send("POST", &path, Some(&body)));
                undo
            }));
            assert_eq!(statuses(&answers), [200, 409, 409], "round {round}");
            insist_on_code(&answers, "history.changed_since");
            for product in &ids {
                assert_eq!(admin.get(&format!("/odata/v1/Products({product})"))["name"], "Desk lamp");
            }
        }
    }

    async fn a_value_that_somebody_takes_first_keeps_a_record_from_going_back(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let mut refused = 0;
        for round in 0..100 {
            let (sku, product) = (format!("L-{round}"), product(&shop, &format!("L-{round}")));
            let path = format!("/odata/v1/Products({product})");
            admin.patch(&path, &json!({"sku": format!("M-{round}")}));
            let entry = admin.history("Products", &product)[0].clone();
            let seen = admin.preview("Products", &product, &entry, "Undo");
            let mut other = new_product(&shop, &format!("N-{round}"));
            other["sku"] = json!(sku);
            let by = admin.clone();
            let taking: Box<dyn FnOnce() -> Answer + Send> =
                Box::new(move || by.send("POST", "/odata/v1/Products", Some(&other)));
            let answers = at_once([restoring(&admin, &product, &entry, &seen), taking]);
            match answers.each_ref().map(|answer| answer.status) {
                [200, 409] => assert_eq!(admin.get(&path)["sku"], json!(sku)),
                [409, 201] => {
                    refused += 1;
                    assert!(answers[0].json["errors"]["sku"][0].is_string(), "{}", answers[0].text);
                    assert_eq!(admin.get(&path)["sku"], format!("M-{round}"));
                    assert_eq!(admin.history("Products", &product).len(), 2);
                }
                other => panic!("{other:?}: {} {}", answers[0].text, answers[1].text),
            }
            insist_on_code(&answers, "data.unique");
            if refused >= 3 {
                break;
            }
        }
        assert!(refused > 0, "nobody was ever faster than a restore");
    }

    async fn what_it_refers_to_is_deleted_first_and_keeps_a_record_from_going_back(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let mut refused = 0;
        for round in 0..100 {
            let product = product(&shop, &format!("L-{round}"));
            let path = format!("/odata/v1/Products({product})");
            let first = admin.get(&path)["categoryId"].clone();
            let second = category(&admin, &format!("Else {round}"));
            admin.patch(&path, &json!({"categoryId": second}));
            let entry = admin.history("Products", &product)[0].clone();
            let seen = admin.preview("Products", &product, &entry, "Undo");
            assert_eq!(seen["problem"], Value::Null, "{seen}");
            let (by, gone) = (admin.clone(), format!("/odata/v1/Categories({})", first.as_str().expect("a category")));
            let deleting: Box<dyn FnOnce() -> Answer + Send> =
                Box::new(move || by.send("DELETE", &gone, None));
            let answers = at_once([restoring(&admin, &product, &entry, &seen), deleting]);
            match answers.each_ref().map(|answer| answer.status) {
                [200, 409] => assert_eq!(admin.get(&path)["categoryId"], first),
                [409, 204] => {
                    refused += 1;
                    assert!(answers[0].json["errors"]["categoryId"][0].is_string(), "{}", answers[0].text);
                    assert_eq!(admin.get(&path)["categoryId"], json!(second));
                    assert_eq!(admin.history("Products", &product).len(), 2);
                }
                other => panic!("{other:?}: {} {}", answers[0].text, answers[1].text),
            }
            insist_on_code(&answers[..1], "data.reference");
            insist_on_code(&answers[1..], "data.in_use");
            if refused >= 3 {
                break;
            }
        }
        assert!(refused > 0, "nobody was ever faster than a restore");
    }

    async fn what_somebody_refers_to_first_is_not_taken_away_again(backend) {
        let shop = Shop::start(database(backend).await, &[]);
        let admin = Caller::admin(&shop);
        let mut refused = 0;
        for round in 0..100 {
            let mut new = new_product(&shop, &format!("L-{round}"));
            let category = category(&admin, &format!("New {round}"));
            new["categoryId"] = json!(category);
            let creation = admin.history("Categories", &category)[0].clone();
            let seen = admin.preview("Categories", &category, &creation, "Undo");
            let (by, to) = (admin.clone(), category.clone());
            let (entry, version) = (creation.clone(), seen["version"].clone());
            let undoing: Box<dyn FnOnce() -> Answer + Send> =
                Box::new(move || by.restore("Categories", &to, &entry, "Undo", &version));
            let by = admin.clone();
            let referring: Box<dyn FnOnce() -> Answer + Send> =
                Box::new(move || by.send("POST", "/odata/v1/Products", Some(&new)));
            let answers = at_once([undoing, referring]);
            let path = format!("/odata/v1/Categories({category})");
            match answers.each_ref().map(|answer| answer.status) {
                [200, 409] => {
                    admin.expect(404, "GET", &path, None);
                }
                [409, 201] => {
                    refused += 1;
                    assert_eq!(answers[1].json["categoryId"], json!(category));
                    admin.get(&path);
                    assert_eq!(admin.history("Categories", &category).len(), 1);
                }
                other => panic!("{other:?}: {} {}", answers[0].text, answers[1].text),
            }
            insist_on_code(&answers[..1], "data.in_use");
            insist_on_code(&answers[1..], "data.reference");
            if refused >= 3 {
                break;
            }
        }
        assert!(refused > 0, "nobody was ever faster than a restore");
    }
}
