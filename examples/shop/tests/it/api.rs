//! The shop over HTTP, with its sample data.

use serde_json::{Value, json};
use shop::{Shop, customer, product};
use svc::application_parts::Application;
use svc::core::OrganisationId;
use svc::prelude::*;
use svc_testing::{Backend, Client, Person, TestApp, on_both_databases};

use crate::fixture::{CLERK, pick};

/// The sample shop, with ids to order by.
struct Open {
    app: TestApp,
    organisation: OrganisationId,
    customer: Uuid,
    product: Uuid,
}

impl Open {
    async fn start(backend: Backend) -> Self {
        let application =
            || Application::new("shop").module(Identity).module(Workflows).module(Shop);
        let app = TestApp::builder(application).setting("Svc:Sample:Data", true);
        let app = app.start(backend).await;
        let system = Context::system(app.app()).unwrap();
        let buyers = system.query::<customer::Entity>();
        let buyer = buyers.filter(customer::COLUMN.credit_limit.is_null()).one().await.unwrap();
        let hammers = system.query::<product::Entity>();
        let hammer = hammers.filter(product::COLUMN.sku.eq("HT-101")).one().await.unwrap();
        let (buyer, hammer) = (buyer.unwrap(), hammer.unwrap());
        let organisation = OrganisationId(hammer.organisation_id);
        Self { app, organisation, customer: buyer.id, product: hammer.id }
    }

    fn person(&self, permissions: &[&str]) -> Client {
        let ada = Person::named("Ada").of(self.organisation).who_may(permissions);
        self.app.sign_in(&ada)
    }

    /// Brings an order to where its goods can leave.
    async fn pick(&self, order: &Value) {
        let system = Context::system_in(self.app.app(), self.organisation).unwrap();
        pick(&system, serde_json::from_value(order["id"].clone()).unwrap()).await;
    }

    fn order(&self, quantity: i64) -> Value {
        let line = json!({"productId": self.product, "quantity": quantity});
        json!({"customerId": self.customer, "reference": "PO 4711", "lines": [line]})
    }
}

on_both_databases! {
    async fn what_is_ordered_and_how_much_is_left_can_be_asked_for(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&["Orders.Place", "Products.View", "Orders.View"]);
        let one = format!("/odata/v1/Products({})?$select=ordered,availability", shop.product);
        let before = clerk.get(&one).await.expect(200);
        let _ = clerk.post("/api/v1/shop/orders", shop.order(2)).await.expect(201);
        let after = clerk.get(&one).await.expect(200);
        assert_eq!(after["ordered"].as_i64().unwrap(), before["ordered"].as_i64().unwrap() + 2);
        let facet = "/odata/v1/Products?$apply=groupby((availability),aggregate($count%20as%20count))";
        let counts = clerk.get(facet).await.expect(200);
        let counts = counts["value"].as_array().unwrap();
        let all: i64 = counts.iter().map(|count| count["count"].as_i64().unwrap()).sum();
        assert_eq!(clerk.get("/odata/v1/Products/$count").await.text, all.to_string());
        assert!(counts.len() > 1, "{counts:?}");
        // Who sees no orders knows of none.
        let blind = shop.person(&["Products.View"]);
        assert_eq!(blind.get("/odata/v1/Products?$orderby=ordered").await.status.as_u16(), 400);
    }

    async fn lines_are_in_the_currency_of_their_order(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&["Orders.Place", "Orders.View", "OrderLines.View"]);
        let order = clerk.post("/api/v1/shop/orders", shop.order(2)).await.expect(201);
        let metadata = "/odata/v1/$metadata?$format=application/json";
        let measure = async |who: &Client| {
            let all = who.get(metadata).await.expect(200);
            all["Shop"]["OrderLine"]["amount"]["@Measures.ISOCurrency"].clone()
        };
        assert_eq!(measure(&clerk).await, json!({"$Path": "order/currency"}));
        // As the web client asks for a list, and for what stands under it.
        let lines = format!("/odata/v1/OrderLines?$filter=orderId%20eq%20{}", order["id"].as_str().unwrap());
        let page = clerk.get(&format!("{lines}&$select=amount&$expand=order($select=currency)")).await.expect(200);
        assert_eq!(page["value"][0]["order"]["currency"], "EUR");
        let said = "case(order/currency%20eq%20null:'',true:order/currency)";
        let totals = format!(
            "/odata/v1/OrderLines?$apply=aggregate(amount%20with%20sum%20as%20total,\
             {said}%20with%20min%20as%20least,{said}%20with%20max%20as%20greatest)"
        );
        let totals = clerk.get(&totals).await.expect(200);
        assert_eq!((&totals["value"][0]["least"], &totals["value"][0]["greatest"]), (&json!("EUR"), &json!("EUR")));
        // Who doesn't see the order isn't pointed at it.
        assert_eq!(measure(&shop.person(&["OrderLines.View"])).await, Value::Null);
    }

    async fn contacts_are_for_who_may_see_them(backend) {
        let shop = Open::start(backend).await;
        let path = format!("/odata/v1/Customers({})?$select=email,phone", shop.customer);
        let clerk = shop.person(&["Customers.View"]).get(&path).await.expect(200);
        let office = shop.person(&["Customers.View", "Customers.SeeContacts"]);
        let office = office.get(&path).await.expect(200);
        let (seen, whole) = (clerk["email"].as_str().unwrap(), office["email"].as_str().unwrap());
        assert!(seen.starts_with("…@") && whole.ends_with(&seen["…".len()..]), "{seen} {whole}");
        assert_ne!(clerk["phone"], office["phone"]);
    }

    async fn an_order_goes_its_way(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&[&CLERK[..], &["Customers.View"]].concat());
        let placed = clerk.post("/api/v1/shop/orders", shop.order(2)).await.expect(201);
        assert_eq!(placed["number"], "SO-100841");
        assert_eq!((&placed["status"], &placed["total"]), (&json!("placed"), &json!(29.8)));
        let id = placed["id"].as_str().unwrap();
        let path = |action: &str| format!("/odata/v1/Orders({id})/Shop.{action}");
        let refusal = clerk.post(&path("Ship"), json!({})).await.expect(409);
        assert_eq!(refusal["error"]["code"], "shop.not_ready");
        shop.pick(&placed).await;
        let shipped = clerk.post(&path("Ship?$expand=customer"), json!({})).await.expect(200);
        assert_eq!(shipped["status"], "shipped");
        let refusal = clerk.post(&path("Cancel"), json!({})).await.expect(409);
        assert_eq!(refusal["error"]["code"], "shop.order_closed");
        let customer = shipped["customer"]["id"].as_str().unwrap();
        let credit = clerk.get(&format!("/odata/v1/Customers({customer})/Shop.CreditLeft()")).await;
        assert_eq!(credit.status.as_u16(), 204, "this one has no limit: {}", credit.text);
        let visitor = shop.person(&["Orders.View"]);
        assert_eq!(visitor.post(&path("Cancel"), json!({})).await.status.as_u16(), 403);
        let metadata = visitor.get("/odata/v1/$metadata").await.text;
        assert!(!metadata.contains("Cancel"), "{metadata}");
    }

    async fn the_metadata_says_what_people_call_things_in_their_language(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&["Products.View", "Products.ReceiveStock"]);
        let metadata = async |language: &str, known: &str| {
            let headers = [("accept", "application/json"), ("accept-language", language), ("if-none-match", known)];
            clerk.send(http::Method::GET, "/odata/v1/$metadata", &headers, "").await
        };
        let german = metadata("de, en;q=0.5", "\"none\"").await;
        let document = german.expect(200);
        let labels = "https://sap.github.io/odata-vocabularies/vocabularies/Common.json";
        let include = &document["$Reference"][labels]["$Include"][0];
        assert_eq!(include["$Namespace"], "com.sap.vocabularies.Common.v1");
        let (set, product) = (&document["Shop"]["Container"]["Products"], &document["Shop"]["Product"]);
        assert_eq!((&set["@Common.Label"], &set["@Core.Description"]), (&json!("Artikel"), &json!("Was der Laden verkauft")));
        assert_eq!((&product["price"]["@Common.Label"], &product["price"]["@Core.Description"]), (&json!("Preis"), &json!("Ohne Steuer")));
        assert_eq!(product["@Common.Label"], "Artikel");
        let action = &document["Shop"]["ReceiveStock"][0];
        assert_eq!(action["@Common.Label"], "Wareneingang");
        assert_eq!(action["$Parameter"][1]["@Common.Label"], "Menge");
        assert_eq!(german.headers["content-language"], "de");
        assert!(german.headers.get_all("vary").iter().any(|vary| vary == "Accept-Language"), "{:?}", german.headers);
        let tag = german.headers["etag"].to_str().unwrap();
        assert_eq!(metadata("de", tag).await.status.as_u16(), 304);
        // Who reads another language has none of this.
        let english = metadata("en", tag).await;
        let product = &english.expect(200)["Shop"]["Product"]["price"];
        assert_eq!((&product["@Common.Label"], &product["@Core.Description"]), (&json!("Price"), &json!("Without tax")));
        assert_eq!(english.headers["content-language"], "en");
        // What is hidden from somebody isn't named by its label either.
        assert!(!german.text.contains("Einkaufspreis"), "{}", german.text);
    }

    async fn what_is_wrong_is_named(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&CLERK);
        let orders = "/api/v1/shop/orders";
        let problem = clerk.post(orders, shop.order(0)).await.expect(422);
        assert_eq!(problem["errors"]["lines[0].quantity"], json!(["must be at least 1"]));
        let problem = clerk.post(orders, shop.order(1_000_000)).await.expect(409);
        assert_eq!(problem["code"], "shop.stock_too_low");
        for (field, value) in [("discount", json!(5)), ("lines", json!(7))] {
            let mut order = shop.order(1);
            order[field] = value;
            let problem = clerk.post(orders, order).await.expect(422);
            assert!(problem["errors"][field].is_array(), "{problem}");
        }
    }

    async fn a_delivery_is_added(backend) {
        let shop = Open::start(backend).await;
        let clerk = shop.person(&[&CLERK[..], &["Products.View"]].concat());
        let path = format!("/odata/v1/Products({})/Shop.ReceiveStock", shop.product);
        let first = clerk.post(&path, json!({"quantity": 1})).await.expect(200);
        // Who doesn't see a price doesn't set it either.
        let priced = json!({"quantity": 4, "costPrice": 7.45});
        let refusal = clerk.post(&path, priced.clone()).await.expect(400);
        assert_eq!(refusal["error"]["details"][0]["target"], "costPrice", "{refusal}");
        let buyer = shop.person(&["Products.ReceiveStock", "Products.View", "Products.SeeCosts"]);
        let second = buyer.post(&path, priced).await.expect(200);
        let stock = |answer: &Value| answer["stock"].as_i64().unwrap();
        assert_eq!(stock(&second) - stock(&first), 4);
        assert_eq!(second["costPrice"], json!(7.45));
    }

    async fn every_command_asks_for_its_permission(backend) {
        let shop = Open::start(backend).await;
        let clerk = [&CLERK[..], &["Products.View"]].concat();
        let placed = shop.person(&CLERK).post("/api/v1/shop/orders", shop.order(1)).await.expect(201);
        let order = |action: &str| format!("/odata/v1/Orders({})/Shop.{action}", placed["id"].as_str().unwrap());
        let cases = [
            ("/api/v1/shop/orders".to_owned(), shop.order(1), "Orders.Place"),
            (order("Ship"), json!({}), "Orders.Ship"),
            (order("Cancel"), json!({}), "Orders.Cancel"),
            (
                format!("/odata/v1/Products({})/Shop.ReceiveStock", shop.product),
                json!({"quantity": 1}),
                "Products.ReceiveStock",
            ),
        ];
        for (path, body, permission) in cases {
            let others: Vec<&str> = clerk.iter().copied().filter(|name| *name != permission).collect();
            let refusal = shop.person(&others).post(&path, body.clone()).await;
            assert_eq!(refusal.status.as_u16(), 403, "{path}: {}", refusal.text);
            assert!(refusal.text.contains(&format!("`{permission}`")), "{}", refusal.text);
            let _ = shop.app.anonymous().post(&path, body.clone()).await.expect(401);
            let stranger = Person::named("Eve").of(svc_testing::organisation(9)).who_may(&clerk);
            let answer = shop.app.sign_in(&stranger).post(&path, body).await;
            assert!([404, 422].contains(&answer.status.as_u16()), "{path}: {}", answer.text);
        }
    }
}
