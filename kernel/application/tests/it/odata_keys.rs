//! Keys of other columns, and changes that create what isn't there.

use http::Method;
use serde_json::json;
use svc_testing::{Person, on_both_databases};

use crate::fixture::{path, seller, start, stock};

const NEW: &str = "/odata/v1/Makers(01990000-0000-7000-8000-0000000000aa)";

on_both_databases! {
    async fn alternate_keys_address_entities(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let one = boss.get("/odata/v1/Lamps(sku='A-1')").await.expect(200);
        let several = boss.get("/odata/v1/Lamps(sku=@s,region=@r)?@s='A-1'&@r='EU'").await.expect(200);
        assert_eq!((&one["price"], &one["id"]), (&json!(5), &several["id"]));
        assert_eq!(boss.get("/odata/v1/Lamps(sku='A-1')/maker/name").await.expect(200)["value"], "Älpha");
        assert_eq!(boss.get("/odata/v1/Lamps(sku='A-1',region='ASIA')").await.status.as_u16(), 404);
        for wrong in ["Lamps(price=5)", "Lamps(sku='A-1',price=5)", "Lamps(region='EU')", "Lamps(sku=null)", "Lamps(sku=5)"] {
            let answer = boss.get(&format!("/odata/v1/{wrong}")).await;
            assert_eq!(answer.status.as_u16(), 400, "{wrong}: {}", answer.text);
        }
        let changed = boss.patch("/odata/v1/Lamps(sku='A-1')", json!({"price": 6, "sku": "A-9"})).await.expect(200);
        assert_eq!((&changed["price"], &changed["id"]), (&json!(6), &one["id"]));
        let called = boss.post("/odata/v1/Lamps(sku='A-9')/Shop.Reprice", json!({"price": 7})).await.expect(200);
        assert_eq!(called["price"], 7);
        let bound = json!({"name": "M", "country": "DE", "lamps@odata.bind": ["Lamps(sku='A-9')"]});
        let bound = boss.post(&path("Makers", "$expand=lamps"), bound).await.expect(201);
        assert_eq!(bound["lamps"][0]["id"], one["id"]);
        let narrow = app.sign_in(&seller().with_claim("regions", &["EU"]));
        for address in ["/odata/v1/Lamps(sku='B-1')", "/odata/v1/Lamps(sku='B-9')"] {
            assert_eq!(narrow.get(address).await.status.as_u16(), 404);
            assert_eq!(narrow.patch(address, json!({"price": 1})).await.status.as_u16(), 404);
            assert_eq!(narrow.send(Method::DELETE, address, &[], "").await.status.as_u16(), 404);
        }
        assert_eq!(boss.send(Method::DELETE, "/odata/v1/Lamps(sku='A-9')", &[], "").await.status.as_u16(), 204);
        let metadata = boss.get("/odata/v1/$metadata").await.text;
        assert!(metadata.contains("Core.AlternateKeys"), "{metadata}");
        let other = app.sign_in(&Person::named("other").of(svc_testing::organisation(2)));
        assert_eq!(other.get("/odata/v1/Lamps(sku='A-2')").await.status.as_u16(), 404);
    }

    async fn a_change_creates_only_where_the_set_allows_it(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        let maker = json!({"name": "Gamma", "country": "FR"});
        let send = |method: Method, header: (&'static str, &'static str)| {
            let (boss, maker) = (boss.clone(), maker.clone());
            async move { boss.send_json(method, NEW, &[header], maker).await }
        };
        assert_eq!(send(Method::PUT, ("if-match", "*")).await.status.as_u16(), 404);
        let created = send(Method::PUT, ("if-none-match", "*")).await;
        assert_eq!((created.status.as_u16(), created.header("location")), (201, NEW));
        assert_eq!(created.header("etag"), "W/\"1\"");
        assert_eq!(send(Method::PUT, ("if-none-match", "*")).await.status.as_u16(), 412);
        assert_eq!(send(Method::PATCH, ("if-none-match", "W/\"1\"")).await.status.as_u16(), 412);
        assert_eq!(boss.patch(NEW, json!({"name": "Delta"})).await.expect(200)["name"], "Delta");
        let other = NEW.replace("aa)", "bb)");
        let created = boss.patch(&other, json!({"name": "Eta", "country": "GR", "id": "01990000-0000-7000-8000-0000000000cc"})).await;
        assert_eq!(created.expect(201)["id"], "01990000-0000-7000-8000-0000000000bb");
        let refused = boss.patch(&NEW.replace("aa)", "dd)"), json!({"name": "Eta"})).await.expect(422);
        assert_eq!(refused["error"]["details"][0]["target"], "country");
        // Elsewhere it is a change of what isn't there.
        let lamp = json!({"sku": "L", "price": 1, "region": "EU"});
        let nothing = NEW.replace("Makers", "Lamps");
        assert_eq!(boss.put(&nothing, lamp.clone()).await.status.as_u16(), 404);
        assert_eq!(boss.send_json(Method::PUT, &nothing, &[("if-none-match", "*")], lamp).await.status.as_u16(), 404);
        // It takes both permissions, and what is another's stays another's.
        let only = app.sign_in(&Person::named("only").who_may(&["Makers.View", "Makers.Update"]));
        assert_eq!(only.put(&NEW.replace("aa)", "ee)"), maker.clone()).await.status.as_u16(), 403);
        let foreign = app.sign_in(&Person::named("foreign").of(svc_testing::organisation(2)));
        assert_eq!(foreign.put(NEW, maker.clone()).await.status.as_u16(), 409);
        assert_eq!(boss.get(NEW).await.expect(200)["name"], "Delta");
    }
}
