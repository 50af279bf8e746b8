use sea_orm::ActiveValue::Set;
use sea_orm::Value;
use svc_core::{ErrorKind, PermissionSet, Principal};
use svc_data::{Context, Expected};
use svc_sets::{JsonRows, PageRequest, Sets, Verb};
use svc_testing::on_both_databases;
use time::macros::datetime;

use crate::fixture::{Fixture, lamp, product};

/// Reads the set as the context's principal, and answers with the SKUs in their order.
async fn skus(ctx: &Context, query: &str) -> Vec<String> {
    page(ctx, query).await.unwrap().0
}

async fn page(ctx: &Context, query: &str) -> Result<(Vec<String>, Option<u64>, bool), String> {
    let sets = ctx.app().service::<Sets>().unwrap();
    let text = |error: svc_core::Error| error.to_string();
    let address = sets.understand(ctx, "Products", query).map_err(text)?;
    let source = sets.source(ctx, &address).await.map_err(text)?;
    let bound = sets.bind(ctx, source.set(), &address.options, None).map_err(text)?;
    let request = PageRequest {
        query: &bound,
        after: None,
        skip: bound.skip.unwrap_or(0),
        take: bound.top.unwrap_or(100),
        tells_next: true,
        etags: true,
    };
    let mut page = sets.open_page(ctx, &source, request).await.map_err(text)?;
    let mut elements = "[".to_owned();
    while page.read_next(&mut JsonRows::new(&mut elements, usize::MAX)).await.map_err(text)? {}
    elements.push(']');
    let elements: Vec<serde_json::Value> = serde_json::from_str(&elements).unwrap();
    let sku = |element: &serde_json::Value| element["sku"].as_str().unwrap().to_owned();
    Ok((elements.iter().map(sku).collect(), page.count(), page.into_next().is_some()))
}

/// Four products: two of them have a day from which they are available.
async fn stock(fixture: &Fixture) -> Context {
    let ctx = fixture.in_organisation(1);
    let day = |day| Some(datetime!(2026-01-01 00:00 UTC).replace_day(day).unwrap());
    let lamps =
        [("A-1", "5", None), ("A-2", "10.50", day(5)), ("B%1", "20", None), ("B-2", "7", day(9))];
    let lamps = lamps.map(|(sku, price, from)| product::ActiveModel {
        price: Set(price.parse().unwrap()),
        available_from: Set(from),
        ..lamp(sku)
    });
    ctx.transact(async |uow| uow.insert_many(lamps).await).await.unwrap();
    let other = fixture.in_organisation(2);
    other.transact(async |uow| uow.insert(lamp("OTHER")).await).await.unwrap();
    ctx
}

on_both_databases! {
    async fn conditions_choose_what_odata_says(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let day = "2026-01-05T00:00:00Z";
        let cases = [
            ("sku eq 'A-1'".to_owned(), vec!["A-1"]),
            ("sku ne 'A-1'".to_owned(), vec!["A-2", "B%1", "B-2"]),
            ("price gt 7 and price le 10.5".to_owned(), vec!["A-2"]),
            ("price lt 6 or price ge 20".to_owned(), vec!["A-1", "B%1"]),
            ("not (price lt 10)".to_owned(), vec!["A-2", "B%1"]),
            ("10 lt price".to_owned(), vec!["A-2", "B%1"]),
            ("sku in ('A-1','B-2','C')".to_owned(), vec!["A-1", "B-2"]),
            ("contains(sku,'%')".to_owned(), vec!["B%1"]),
            ("contains(sku,'b')".to_owned(), vec![]),
            ("startswith(sku,'B')".to_owned(), vec!["B%1", "B-2"]),
            ("endswith(sku,'2')".to_owned(), vec!["A-2", "B-2"]),
            ("endswith(sku,'')".to_owned(), vec!["A-1", "A-2", "B%1", "B-2"]),
            ("length(sku) eq 3".to_owned(), vec!["A-1", "A-2", "B%1", "B-2"]),
            // Null is a value of its own: it equals null, differs from all else, is in no order.
            ("availableFrom eq null".to_owned(), vec!["A-1", "B%1"]),
            ("availableFrom ne null".to_owned(), vec!["A-2", "B-2"]),
            (format!("availableFrom eq {day}"), vec!["A-2"]),
            (format!("availableFrom ne {day}"), vec!["A-1", "B%1", "B-2"]),
            (format!("availableFrom gt {day}"), vec!["B-2"]),
            (format!("not (availableFrom gt {day})"), vec!["A-1", "A-2", "B%1"]),
            (format!("not (availableFrom eq {day})"), vec!["A-1", "B%1", "B-2"]),
            (format!("not (availableFrom in ({day},null))"), vec!["B-2"]),
            ("true".to_owned(), vec!["A-1", "A-2", "B%1", "B-2"]),
            ("not true".to_owned(), vec![]),
        ];
        for (filter, expected) in cases {
            let encoded = filter.replace('%', "%25").replace(' ', "%20");
            let found = skus(&ctx, &format!("$filter={encoded}&$orderby=sku")).await;
            assert_eq!(found, expected, "{filter}");
        }
    }

    async fn a_page_is_sorted_counted_and_knows_of_more(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let sorted = skus(&ctx, "$orderby=availableFrom desc,sku").await;
        assert_eq!(sorted, ["B-2", "A-2", "A-1", "B%1"]);
        let sorted = skus(&ctx, "$orderby=availableFrom,sku desc").await;
        assert_eq!(sorted, ["B%1", "A-1", "A-2", "B-2"]);
        let first = page(&ctx, "$orderby=price&$top=2&$count=true").await.unwrap();
        assert_eq!(first, (vec!["A-1".to_owned(), "B-2".to_owned()], Some(4), true));
        let rest = page(&ctx, "$orderby=price&$skip=2&$top=2").await.unwrap();
        assert_eq!(rest, (vec!["A-2".to_owned(), "B%1".to_owned()], None, false));
    }

    async fn an_entity_is_created_changed_replaced_and_deleted(backend) {
        let fixture = Fixture::start(backend).await;
        let (sets, ctx) = (fixture.app().service::<Sets>().unwrap(), fixture.manager(1));
        let set = sets.find("Products").unwrap();
        let property = |name: &str| {
            sets.model().entity_type(sets.model().set(set).entity_type).find_property(name).unwrap()
        };
        let text = |text: &str| svc_odata::value::Value::String(text.to_owned());
        let number = |number| svc_odata::value::Value::Integer(number);
        let values = vec![(property("sku"), text("L-1")), (property("price"), number(5))];
        let created = ctx.transact(async |uow| sets.create(&uow, set, values).await).await.unwrap();
        let entity = sets.entity(set);
        let key: Value = created.key(entity).clone();
        let read = sets.read_one(&ctx, set, &key, None).await.unwrap();
        assert_eq!(read.version, 1);
        assert!(read.members.contains(r#""sku":"L-1","price":5,"availableFrom":null"#), "{read:?}");
        let values = vec![(property("sku"), text("L-2"))];
        let changed = ctx.transact(async |uow| {
            sets.change(&uow, set, &key, values, Verb::Change, Expected::Version(1)).await
        });
        assert_eq!(changed.await.unwrap().version(entity), Some(2));
        let values = vec![(property("sku"), text("L-3"))];
        let replaced = ctx.transact(async |uow| {
            sets.change(&uow, set, &key, values, Verb::Replace, Expected::Any).await
        });
        let refusal = replaced.await.unwrap_err();
        assert_eq!(refusal.fields()["price"], ["must not be null"]);
        let old = ctx.transact(async |uow| sets.delete(&uow, set, &key, Expected::Version(1)).await);
        assert_eq!(old.await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        let deleted = ctx.transact(async |uow| sets.delete(&uow, set, &key, Expected::Any).await);
        deleted.await.unwrap();
        let gone = sets.read_one(&ctx, set, &key, None).await.unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }

    async fn without_the_permission_nothing_is_read_or_changed(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = stock(&fixture).await;
        let organisation = ctx.organisation().unwrap();
        let user = ctx.principal().user_id().unwrap();
        let nobody = Principal::user(user, "Bo", organisation, PermissionSet::default());
        let nobody = ctx.acting_as(nobody.into());
        let refusal = page(&nobody, "$top=1").await.unwrap_err();
        assert_eq!(refusal, "this needs the permission `Products.View`");
        let sets = fixture.app().service::<Sets>().unwrap();
        let set = sets.find("Products").unwrap();
        let created = ctx.transact(async |uow| sets.create(&uow, set, Vec::new()).await).await;
        assert_eq!(created.unwrap_err().message(), "this needs the permission `Products.Create`");
    }

    async fn an_image_of_a_record_passes_the_rules_of_its_set(backend) {
        let fixture = Fixture::start(backend).await;
        let (sets, ctx) = (fixture.app().service::<Sets>().unwrap(), fixture.manager(1));
        let entity = sets.entity(sets.find("Products").unwrap());
        let row = vec![None, None, Some("L-1".into()), Some(Value::Decimal(Some(5.into()))), None, None, None];
        let record = ctx.transact(async |uow| uow.insert_records(entity, vec![row]).await);
        let record = record.await.unwrap().remove(0);
        let copy = svc_data::Record::from_row_json(entity, &record.to_row_json(entity)).unwrap();
        assert_eq!(copy, record);
        let seen = sets.read_image(&ctx, entity, &record).await.unwrap().unwrap();
        assert_eq!((&seen["sku"], &seen["price"]), (&"L-1".into(), &5.into()));
        assert!(!seen.contains_key("organisationId") && !seen.contains_key("version"));
        let theirs = fixture.manager(2);
        assert_eq!(sets.read_image(&theirs, entity, &record).await.unwrap(), None);
        // The filter asks about the record, also once the table no longer has it.
        let dark = fixture.manager(1);
        let blind = dark.principal().as_ref().clone();
        let blind = blind.with_claims([("prefix".to_owned(), vec!["X".to_owned()])].into());
        let blind = dark.acting_as(blind.into());
        assert_eq!(sets.read_image(&blind, entity, &record).await.unwrap(), None);
        let claims = [("prefix".to_owned(), vec!["L".to_owned()])].into();
        let sighted = dark.acting_as(dark.principal().as_ref().clone().with_claims(claims).into());
        assert!(sets.read_image(&sighted, entity, &record).await.unwrap().is_some());
        // Many at once: each is judged for itself, in its place.
        let rows = (0..70).map(|n| {
            let sku = format!("{}{n}", if n % 3 == 0 { "X" } else { "L" });
            vec![None, None, Some(sku.into()), Some(Value::Decimal(Some(n.into()))), None, None, None]
        });
        let rows = rows.collect();
        let records = ctx.transact(async |uow| uow.insert_records(entity, rows).await);
        let records = records.await.unwrap();
        let records: Vec<&svc_data::Record> = records.iter().collect();
        let images = sets.read_images(&sighted, entity, &records).await.unwrap();
        let seen: Vec<Option<i64>> =
            images.iter().map(|image| image.as_ref()?["price"].as_i64()).collect();
        let expected: Vec<Option<i64>> = (0..70).map(|n| (n % 3 != 0).then_some(n)).collect();
        assert_eq!(seen, expected);
        assert!(sets.read_images(&theirs, entity, &records).await.unwrap().iter().all(Option::is_none));
        assert!(sets.read_images(&sighted, entity, &[]).await.unwrap().is_empty());
    }

    async fn nobody_changes_what_a_row_filter_hides_or_moves_a_row_out_of_sight(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.manager(1);
        let sets = fixture.app().service::<Sets>().unwrap();
        let set = sets.find("Products").unwrap();
        let stored = ctx.transact(async |uow| uow.insert(lamp("L-1")).await).await.unwrap();
        let key: Value = stored.id.into();
        let claims = |prefix: &str| [("prefix".to_owned(), vec![prefix.to_owned()])].into();
        let narrowed = |prefix| {
            ctx.acting_as(ctx.principal().as_ref().clone().with_claims(claims(prefix)).into())
        };
        let blind = narrowed("X");
        let outcome = blind.transact(async |uow| sets.delete(&uow, set, &key, Expected::Any).await);
        assert_eq!(outcome.await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(skus(&blind, "$count=true").await, [""; 0]);
        let sku = sets.model().entity_type(sets.model().set(set).entity_type).find_property("sku");
        let values = vec![(sku.unwrap(), svc_odata::value::Value::String("X-1".to_owned()))];
        let sighted = narrowed("L");
        let moved = sighted.transact(async |uow| {
            sets.change(&uow, set, &key, values, Verb::Change, Expected::Any).await
        });
        assert_eq!(moved.await.unwrap_err().kind(), ErrorKind::Forbidden);
        assert_eq!(skus(&ctx, "").await, ["L-1"]);
    }
}
