//! Virtual properties that know the keys of what they hold for: what is answered is the same whether a page begins with these
//! or not.

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Func, Query, SelectStatement};
use serde_json::json;
use svc_core::{Module, Registry};
use svc_data::value::ValueKind;
use svc_data::{Context, DataRegistry as _, KeysAsked, VirtualRow};
use svc_database::Migration;
use svc_testing::{Backend, Client, Person, TestApp, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::path;
use crate::staff::{self, make, member, names, number_of, pages};

/// Stars members: who is on the list `stars` has one, of a colour.
struct Stars;

/// Lists of members, some of them more than once.
const TABLE: &str = "CREATE TABLE lists (
    organisation_id UUID NOT NULL,
    list TEXT NOT NULL,
    member_id UUID NOT NULL,
    colour TEXT NOT NULL
);";

impl Module for Stars {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_stars", TABLE)]);
        registry.permission("Stars.View", "see who has a star");
        registry.extend_set("Members", |set| {
            set.virtual_property("starred", ValueKind::Boolean, starred, |property| {
                property.found_by(keys).needs("Stars.View")
            })
            .virtual_property(
                "colour",
                ValueKind::Text { max: None },
                colour,
                |property| property.needs("Stars.View"),
            )
        });
    }
}

fn column(name: &str) -> Expr {
    Expr::col((Alias::new("lists"), Alias::new(name)))
}

fn listed(list: &str) -> SelectStatement {
    let mut listed = Query::select();
    listed.from(Alias::new("lists")).and_where(column("list").eq(list));
    listed
}

fn starred(row: &VirtualRow<'_>) -> Expr {
    let mut found = listed("stars");
    found
        .expr(Expr::val(1))
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("member_id").eq(row.key()));
    Expr::exists(found)
}

fn colour(row: &VirtualRow<'_>) -> Expr {
    let mut found = listed("stars");
    found
        .expr(column("colour"))
        .and_where(column("organisation_id").eq(row.organisation()))
        .and_where(column("member_id").eq(row.key()));
    Func::coalesce([Expr::SubQuery(None, Box::new(found.into())), Expr::val("none")]).into()
}

/// Those on the list that somebody names, whose keys that one has; sorted by colour, too.
fn keys(asked: &KeysAsked<'_>) -> Option<SelectStatement> {
    let organisation = asked.who.organisation()?;
    let list = asked.who.claims("list").first()?.clone();
    let (key, mut keys) = (column("member_id"), listed(&list));
    keys.expr_as(key.clone(), Alias::new(KeysAsked::KEY))
        .and_where(column("organisation_id").eq(organisation.0));
    let value = match asked.by() {
        None => None,
        Some("colour") => Some(column("colour")),
        Some(_) => return None,
    };
    if let Some(value) = &value {
        keys.expr_as(value.clone(), Alias::new(KeysAsked::VALUE));
    }
    asked.first_of(&mut keys, &key, value.as_ref());
    Some(keys)
}

fn reader(list: &str) -> Person {
    Person::named(list).with_claim("list", &[list])
}

async fn put_on(ctx: &Context, list: &str, entries: &[(Uuid, &str)]) {
    for (id, colour) in entries {
        let sql =
            "INSERT INTO lists (organisation_id, list, member_id, colour) VALUES (?, ?, ?, ?)";
        let values = [organisation(1).0.into(), list.into(), (*id).into(), (*colour).into()];
        ctx.database().execute(ctx.database().statement(sql, values)).await.unwrap();
    }
}

/// Six members of whom three have a star. The list `all` has these and another one, some of them twice; `none` is empty;
/// `many` has more than are looked at one by one, and nobody who is there. `most` has Ada, Bob and Fay before as many, and Fay in another
/// colour than the list `stars`.
async fn start(backend: Backend) -> TestApp {
    let app = TestApp::builder(|| staff::application().module(Stars)).start(backend).await;
    let boss = app.sign_in(&Person::named("boss"));
    let team = make(&boss, "Teams", json!({"name": "Red", "region": "EU"})).await;
    let mut ids = Vec::new();
    for (grade, name) in (10..).zip(["Ada", "Bob", "Cy", "Dee", "Eli", "Fay"]) {
        let mut new = member(name, &format!("{name}@example.com"), grade);
        new["teamId"] = json!(team);
        ids.push(Uuid::parse_str(&make(&boss, "Members", new).await).unwrap());
    }
    let ctx = app.context(&Person::named("boss"));
    let [ada, bob, cy, fay] = [ids[0], ids[1], ids[2], ids[5]];
    let (ada, cy) = ((ada, "green"), (cy, "blue"));
    put_on(&ctx, "stars", &[ada, cy, (fay, "violet")]).await;
    put_on(&ctx, "all", &[(fay, "violet"), cy, (bob, "none"), ada, cy]).await;
    let others: Vec<_> = (0..501).map(|_| (app.app().clock().new_id(), "red")).collect();
    put_on(&ctx, "many", &others).await;
    put_on(&ctx, "most", &[(fay, "brown"), ada, (bob, "green")]).await;
    put_on(&ctx, "most", &others).await;
    app
}

/// Who is found, page by page.
async fn found(client: &Client, options: &str) -> Vec<String> {
    let pages = pages(client, &path("Members", options)).await;
    names(&pages).into_iter().map(str::to_owned).collect()
}

/// What finds nobody without a star, and whom it finds.
const STARRED: [(&str, &[&str]); 8] = [
    ("$filter=starred", &["Ada", "Cy", "Fay"]),
    ("$filter=starred eq true&$orderby=name desc", &["Fay", "Cy", "Ada"]),
    ("$filter=true eq starred and grade gt 10&$select=name,starred", &["Cy", "Fay"]),
    ("$filter=grade lt 15 and (name ne 'Cy' and starred)", &["Ada"]),
    ("$filter=starred&$skip=1&$orderby=grade", &["Cy", "Fay"]),
    ("$filter=starred&$search=ada&$orderby=grade desc", &["Ada"]),
    ("$filter=starred&$orderby=colour", &["Cy", "Ada", "Fay"]),
    ("$filter=starred and grade gt 10&$orderby=colour desc", &["Fay", "Cy"]),
];

/// What finds others, too.
const OTHERS: [(&str, &[&str]); 6] = [
    ("$filter=not starred", &["Bob", "Dee", "Eli"]),
    ("$filter=starred eq false and grade gt 11", &["Dee", "Eli"]),
    ("$filter=starred ne true", &["Bob", "Dee", "Eli"]),
    ("$filter=starred or name eq 'Bob'", &["Ada", "Bob", "Cy", "Fay"]),
    (
        "$filter=team/members/any(m:m/starred and m/grade eq 12)&$orderby=name",
        &["Ada", "Bob", "Cy", "Dee", "Eli", "Fay"],
    ),
    ("$orderby=starred desc,name", &["Ada", "Cy", "Fay", "Bob", "Dee", "Eli"]),
];

on_both_databases! {
    async fn keys_change_no_answer(backend) {
        let app = start(backend).await;
        for person in [Person::named("boss"), reader("all"), reader("many")] {
            let client = app.sign_in(&person);
            for (options, expected) in STARRED.iter().chain(&OTHERS) {
                assert_eq!(found(&client, options).await, *expected, "{options}");
            }
            let counted = path("Members", "$filter=starred&$count=true&$top=1");
            assert_eq!(client.get(&counted).await.expect(200)["@odata.count"], 3);
            assert_eq!(client.get(&path("Members/$count", "$filter=starred")).await.text, "3");
        }
        // Nobody sees more by it: not of another organisation, nor past a row filter.
        let other = app.sign_in(&reader("all").of(organisation(2)));
        assert_eq!(found(&other, "$filter=starred").await, [""; 0]);
        let far = app.sign_in(&reader("all").with_claim("regions", &["ASIA"]));
        assert_eq!(found(&far, "$filter=starred").await, [""; 0]);
    }

    async fn a_page_that_the_first_keys_fill_is_of_these(backend) {
        let app = start(backend).await;
        let most = app.sign_in(&reader("most"));
        // Had the list promised to have all, Cy would be found.
        for (options, expected) in [
            ("$filter=starred&$top=2", vec!["Ada", "Fay"]),
            ("$filter=starred&$top=3", vec!["Ada", "Cy", "Fay"]),
            ("$filter=starred and grade gt 10&$top=1", vec!["Fay"]),
            ("$filter=starred&$orderby=colour&$top=1", vec!["Ada"]),
            // In the colour that Fay has now she comes behind all keys that are known, so that there may be others before her.
            ("$filter=starred&$orderby=colour&$top=2", vec!["Cy", "Ada"]),
            // The first that come are all red.
            ("$filter=starred&$orderby=colour desc&$top=2", vec!["Fay", "Ada"]),
            ("$filter=starred&$orderby=grade&$top=2", vec!["Ada", "Cy"]),
            ("$filter=starred&$skip=1&$top=1", vec!["Cy"]),
        ] {
            let page = most.get(&path("Members", options)).await.expect(200);
            assert_eq!(names(&[page]), expected, "{options}");
        }
    }

    async fn what_a_page_is_found_by_is_shown_as_what_it_is(backend) {
        let app = start(backend).await;
        for person in [Person::named("boss"), reader("all"), reader("many")] {
            let client = app.sign_in(&person);
            for (filter, expected) in [
                ("starred", vec![("Ada", true), ("Cy", true), ("Fay", true)]),
                ("starred eq true and grade ge 12", vec![("Cy", true), ("Fay", true)]),
                ("starred or grade eq 11", vec![("Bob", false), ("Ada", true), ("Cy", true), ("Fay", true)]),
                ("not starred and grade gt 11", vec![("Dee", false), ("Eli", false)]),
            ] {
                let options = format!("$filter={filter}&$select=name,starred&$orderby=starred,name");
                let found = client.get(&path("Members", &options)).await.expect(200);
                let rows = found["value"].as_array().unwrap().iter();
                let shown = rows.map(|row| (row["name"].as_str().unwrap(), row["starred"].as_bool().unwrap()));
                assert_eq!(shown.collect::<Vec<_>>(), expected, "{options}");
            }
        }
    }

    async fn a_page_begins_with_the_keys_where_nothing_else_is_found(backend) {
        let app = start(backend).await;
        // Had the list promised to have all, they would be found; so whoever begins with it finds nobody.
        let none = app.sign_in(&reader("none"));
        for (options, _) in STARRED {
            assert_eq!(found(&none, options).await, [""; 0], "{options}");
        }
        assert_eq!(none.get(&path("Members/$count", "$filter=starred")).await.text, "0");
        for (options, expected) in OTHERS {
            assert_eq!(found(&none, options).await, expected, "{options}");
        }
        // Within a unit of work keys may not be there yet.
        let ctx = app.context(&reader("none"));
        let starred = "$filter=starred";
        assert_eq!(number_of(&ctx, starred).await, 0);
        let within = ctx.transact(async |uow| Ok(number_of(uow.context(), starred).await)).await;
        assert_eq!(within.unwrap(), 3);
    }
}
