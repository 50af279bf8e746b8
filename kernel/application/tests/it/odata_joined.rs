//! Virtual properties whose values stand in a table: what is answered is the same whether a page is joined with it or not.

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Func, Query};
use serde_json::json;
use svc_core::{Module, Principal, Registry};
use svc_data::value::ValueKind;
use svc_data::{Context, DataRegistry as _, EntityModel, VirtualRow, VirtualTable};
use svc_database::Migration;
use svc_testing::{Backend, Person, TestApp, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::path;
use crate::staff::{self, make, member, names, number_of, pages};

/// Rates members; one without a rating is `fair`.
struct Ratings;

const TABLE: &str = "CREATE TABLE ratings (
    organisation_id UUID NOT NULL,
    member_id UUID NOT NULL,
    -- A name that the set has, too.
    name TEXT NOT NULL,
    PRIMARY KEY (organisation_id, member_id)
);";

impl Module for Ratings {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_ratings", TABLE)]);
        registry.permission("Ratings.View", "see ratings of members");
        registry.extend_set("Members", |set| {
            set.virtual_property(
                "rating",
                ValueKind::Text { max: Some(10) },
                rating_of,
                |property| property.joined(ratings).needs("Ratings.View"),
            )
        });
    }
}

fn column(name: &str) -> Expr {
    Expr::col((Alias::new("ratings"), Alias::new(name)))
}

fn rating_of(row: &VirtualRow<'_>) -> Expr {
    let mut rating = Query::select();
    rating
        .expr(column("name"))
        .from(Alias::new("ratings"))
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("member_id").eq(row.key()));
    Func::coalesce([Expr::SubQuery(None, Box::new(rating.into())), Expr::val("fair")]).into()
}

/// The table serves those who say so.
fn ratings(_: &EntityModel, who: &Principal) -> Option<VirtualTable> {
    let organisation = who.organisation().filter(|_| !who.claims("joined").is_empty())?;
    let mut rows = Query::select();
    rows.from(Alias::new("ratings")).and_where(column("organisation_id").eq(organisation.0));
    Some(VirtualTable { rows, key: column("member_id"), value: column("name") })
}

fn joiner() -> Person {
    Person::named("joiner").with_claim("joined", &["yes"])
}

async fn rate(app: &TestApp, number: u128, id: &str, rating: &str) {
    let ctx = Context::system(app.app()).unwrap();
    let sql = "INSERT INTO ratings (organisation_id, member_id, name) VALUES (?, ?, ?)";
    let values =
        [organisation(number).0.into(), Uuid::parse_str(id).unwrap().into(), rating.into()];
    let statement = ctx.database().statement(sql, values);
    ctx.transact(async |uow| uow.execute(statement).await).await.unwrap();
}

/// Members of two teams, each with a rating, and the keys of them.
async fn start(backend: Backend) -> (TestApp, Vec<String>) {
    let app = TestApp::builder(|| staff::application().module(Ratings)).start(backend).await;
    let boss = app.sign_in(&Person::named("boss"));
    let mut ids = Vec::new();
    for (team, members) in [
        ("Red", [("Ada", "good"), ("Bob", "poor"), ("Cy", "fair")]),
        ("Blue", [("Dee", "good"), ("Eli", "fair"), ("Fay", "good")]),
    ] {
        let team = make(&boss, "Teams", json!({"name": team, "region": "EU"})).await;
        for (name, rating) in members {
            let mut new = member(name, &format!("{name}@example.com"), 10);
            new["teamId"] = json!(team);
            let id = make(&boss, "Members", new).await;
            rate(&app, 1, &id, rating).await;
            // What another organisation says of the same key counts for nothing.
            rate(&app, 2, &id, "odd").await;
            ids.push(id);
        }
    }
    (app, ids)
}

const LISTS: [(&str, &[&str]); 13] = [
    ("$orderby=rating", &["Cy", "Eli", "Ada", "Dee", "Fay", "Bob"]),
    ("$orderby=rating desc", &["Bob", "Ada", "Dee", "Fay", "Cy", "Eli"]),
    ("$orderby=rating,name desc", &["Eli", "Cy", "Fay", "Dee", "Ada", "Bob"]),
    ("$orderby=name desc,rating", &["Fay", "Eli", "Dee", "Cy", "Bob", "Ada"]),
    ("$orderby=toupper(rating),name", &["Cy", "Eli", "Ada", "Dee", "Fay", "Bob"]),
    ("$filter=rating eq 'good'&$count=true", &["Ada", "Dee", "Fay"]),
    ("$filter=rating ne 'good'&$orderby=name desc", &["Eli", "Cy", "Bob"]),
    ("$filter=rating in ('poor','fair')&$select=name,rating", &["Bob", "Cy", "Eli"]),
    ("$filter=rating eq 'poor' or name eq 'Ada'&$orderby=rating", &["Ada", "Bob"]),
    ("$filter=not contains(rating,'o')&$select=name,rating", &["Cy", "Eli"]),
    ("$filter=rating eq 'good'&$skip=1&$top=1&$count=true", &["Dee"]),
    ("$filter=rating gt 'fair'&$search=e&$orderby=rating desc", &["Bob", "Ada", "Dee", "Fay"]),
    (
        "$filter=rating eq 'good' and team/members/any(m:m/rating eq 'poor' and m/grade lt 99)",
        &["Ada"],
    ),
];

/// What is asked of other sets, or with further columns.
const OTHERS: [&str; 6] = [
    "Members?$compute=length(rating) as letters&$filter=rating eq 'good' and letters eq 4&$orderby=rating",
    "Members?$apply=filter(rating ne 'poor')/groupby((rating),aggregate($count as n))&$orderby=rating",
    "Members?$apply=filter(rating eq 'good')&$orderby=rating",
    "Teams?$expand=members($filter=rating eq 'good';$orderby=rating;$select=name,rating;$count=true)",
    "Teams?$filter=members/all(m:m/rating ne 'poor')",
    "Members/$filter(rating ne 'poor')?$filter=rating ne 'fair'&$orderby=rating",
];

on_both_databases! {
    async fn a_joined_property_answers_like_its_sql(backend) {
        let (app, _) = start(backend).await;
        let (boss, joiner) = (app.sign_in(&Person::named("boss")), app.sign_in(&joiner()));
        for (options, expected) in LISTS {
            let link = path("Members", options);
            let found = pages(&joiner, &link).await;
            assert_eq!(names(&found), expected, "{options}");
            assert_eq!(found, pages(&boss, &link).await, "{options}");
        }
        for address in OTHERS {
            let (set, options) = address.split_once('?').unwrap();
            let link = path(set, options);
            let found = joiner.get(&link).await.expect(200);
            assert!(!found["value"].as_array().unwrap().is_empty(), "{address}");
            assert_eq!(found, boss.get(&link).await.expect(200), "{address}");
        }
        let count = path("Members/$count", "$filter=rating eq 'good'");
        assert_eq!((joiner.get(&count).await.text, boss.get(&count).await.text), ("3".to_owned(), "3".to_owned()));
        // Of those whom a row filter shows, and not of those who are gone.
        let far = app.sign_in(&self::joiner().with_claim("regions", &["ASIA"]));
        assert_eq!(names(&pages(&far, &path("Members", "$orderby=rating")).await), [""; 0]);
    }

    async fn the_table_serves_pages_by_its_values_and_nothing_else(backend) {
        let (app, ids) = start(backend).await;
        let (boss, joiner) = (app.sign_in(&Person::named("boss")), app.sign_in(&joiner()));
        // Had the table promised to have all, Cy would have a row; so whatever is joined misses Cy.
        let ctx = app.context(&self::joiner());
        let sql = "DELETE FROM ratings WHERE member_id = ?";
        let statement = ctx.database().statement(sql, [Uuid::parse_str(&ids[2]).unwrap().into()]);
        ctx.transact(async |uow| uow.execute(statement).await).await.unwrap();
        let fair = path("Members", "$filter=rating eq 'fair'&$count=true");
        let count = path("Members/$count", "$filter=rating eq 'fair'");
        let sorted = path("Members", "$orderby=rating");
        for (client, by_filter, number, by_order) in [(&boss, vec!["Cy", "Eli"], "2", 6), (&joiner, vec!["Eli"], "1", 5)] {
            let found = pages(client, &fair).await;
            assert_eq!(names(&found), by_filter);
            assert_eq!(found[0]["count"].to_string(), number);
            assert_eq!(client.get(&count).await.text, number);
            assert_eq!(names(&pages(client, &sorted).await).len(), by_order);
        }
        // What is shown beside, grouped, computed or looked at by its key has the SQL asked.
        let one = format!("Members({})", ids[2]);
        for (address, options) in [
            ("Members", "$select=name,rating&$filter=grade ge 0&$orderby=name"),
            ("Members", "$apply=groupby((rating),aggregate($count as n))&$orderby=rating"),
            ("Members", "$compute=length(rating) as n&$filter=rating eq 'fair'"),
            ("Teams", "$expand=members($filter=rating eq 'fair')"),
            (&one, "$select=rating"),
        ] {
            let link = path(address, options);
            assert_eq!(joiner.get(&link).await.expect(200), boss.get(&link).await.expect(200), "{link}");
        }
        // Within a unit of work rows may not be there yet.
        let fair = "$filter=rating%20eq%20'fair'";
        assert_eq!(number_of(&ctx, fair).await, 1);
        let within = ctx.transact(async |uow| Ok(number_of(uow.context(), fair).await)).await;
        assert_eq!(within.unwrap(), 2);
    }
}
