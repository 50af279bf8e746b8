//! Every further rule × every way in: what response filters change, what was deleted softly, what
//! hidden rows are referred to by, and virtual properties of a permission that one lacks.
//!
//! As in `odata_leaks`, each case is asked in two worlds that differ only in what the person may not
//! see. Two things are told in spite of it, since the database's own rules are for all: that a
//! value of a unique index is taken, and that something is still referred to. Neither says by what.

use http::Method;
use sea_orm::ActiveValue::Set;
use serde_json::{Value, json};
use svc_data::Context;
use svc_testing::{Person, TestApp, on_both_databases, organisation};
use uuid::Uuid;

use crate::fixture::path;
use crate::staff::{make, review, start};
use crate::two_worlds::{Questions, told};

const TEAM: &str = "01990000-0000-7000-8000-00000000000a";
const HIDDEN_TEAM: &str = "01990000-0000-7000-8000-00000000000b";
const MISSING: &str = "01990000-0000-7000-8000-0000000000cc";
const ADA: &str = "01990000-0000-7000-8000-000000000001";
const HIDDEN: &str = "01990000-0000-7000-8000-000000000002";
const DELETED: &str = "01990000-0000-7000-8000-000000000003";

/// Somebody who changes members and teams of the EU, sees contacts in a changed form only, and may
/// neither restore nor know of secrets and reviews.
fn narrow() -> Person {
    let verbs =
        ["Members.View", "Members.Create", "Members.Update", "Members.Delete", "Teams.View"];
    Person::named("narrow").who_may(&verbs).with_claim("regions", &["EU"])
}

/// Ada of the red team is there in both worlds, and seems the same. In the second her real address
/// and grade are others, she is reviewed, and there are members that were deleted or are hidden.
async fn world(app: &TestApp, hidden: bool) {
    let boss = app.sign_in(&Person::named("boss"));
    make(&boss, "Teams", json!({"id": TEAM, "name": "Red", "region": "EU"})).await;
    let (email, grade) = if hidden { ("anna@example.com", 39) } else { ("ada@example.com", 30) };
    let member = |id: &str, name: &str, region: &str| json!({"id": id, "name": name, "email": email, "grade": grade, "region": region, "teamId": TEAM});
    make(&boss, "Members", member(ADA, "Ada", "EU")).await;
    if hidden {
        make(&boss, "Members", member(HIDDEN, "Hid", "ASIA")).await;
        make(&boss, "Members", member(DELETED, "Del", "EU")).await;
        let gone = boss.delete(&format!("/odata/v1/Members({DELETED})")).await;
        assert_eq!(gone.status.as_u16(), 204, "{}", gone.text);
        make(&boss, "Teams", json!({"id": HIDDEN_TEAM, "name": "Blue", "region": "ASIA"})).await;
        let ctx = Context::system_in(app.app(), organisation(1)).unwrap();
        let review = review::ActiveModel {
            member_id: Set(Uuid::parse_str(ADA).unwrap()),
            reviewer: Set("narrow".to_owned()),
            ..<review::ActiveModel as sea_orm::ActiveModelTrait>::default()
        };
        ctx.transact(async |uow| uow.insert(review).await).await.unwrap();
    }
}

/// Reads, as set and options.
const READS: &[(&str, &str)] = &[
    ("Members", ""),
    ("Members", "$count=true"),
    ("Members", "$select=*"),
    ("Members", "$select=email,grade"),
    ("Members/$count", ""),
    ("Members/$ref", ""),
    ("Members", "$orderby=name desc&$top=1&$count=true"),
    ("Members", "$apply=aggregate($count as n)"),
    ("Members", "$apply=groupby((region,team/name),aggregate($count as n))"),
    ("Members", "$search=del OR hid OR anna OR example"),
    ("Members", "$search=NOT anna"),
    ("Members", "$filter=name eq 'Del' or name eq 'Hid'"),
    ("Members(01990000-0000-7000-8000-000000000001)", ""),
    ("Members(01990000-0000-7000-8000-000000000001)/email", ""),
    ("Members(01990000-0000-7000-8000-000000000001)/grade/$value", ""),
    ("Members(01990000-0000-7000-8000-000000000002)", ""),
    ("Members(01990000-0000-7000-8000-000000000003)", ""),
    ("Members(01990000-0000-7000-8000-000000000003)/name", ""),
    ("Members(01990000-0000-7000-8000-000000000003)/name/$value", ""),
    ("Members(01990000-0000-7000-8000-000000000003)/team", ""),
    ("Members(01990000-0000-7000-8000-000000000003)/$ref", ""),
    ("DeletedMembers", ""),
    ("DeletedMembers(01990000-0000-7000-8000-000000000003)", ""),
    ("DeletedMembers/$count", ""),
    // Behind navigation.
    ("Teams", "$expand=members"),
    ("Teams", "$expand=members($count=true;$top=1;$orderby=name desc)"),
    ("Teams", "$expand=members/$count"),
    ("Teams", "$expand=members/$ref"),
    ("Teams", "$expand=members($search=del OR anna)"),
    ("Teams", "$expand=members($expand=team($expand=members))"),
    ("Teams", "$filter=members/$count gt 1"),
    ("Teams", "$filter=members/any(m:m/name eq 'Del')"),
    ("Teams", "$filter=members/all(m:m/name eq 'Ada')"),
    ("Teams", "$filter=members/$count($search=del) gt 0"),
    ("Teams", "$orderby=members/$count desc"),
    ("Teams", "$apply=aggregate(members/$count with max as n)"),
    ("Teams(01990000-0000-7000-8000-00000000000a)/members", ""),
    ("Teams(01990000-0000-7000-8000-00000000000a)/members/$count", ""),
    (
        "Teams(01990000-0000-7000-8000-00000000000a)/members(01990000-0000-7000-8000-000000000003)",
        "",
    ),
    ("Teams(01990000-0000-7000-8000-00000000000b)", ""),
    ("Teams(01990000-0000-7000-8000-00000000000b)/members", ""),
    // What is returned in a changed form.
    ("Members", "$filter=email eq 'anna@example.com'"),
    ("Members", "$filter=contains(email,'n')"),
    ("Members", "$filter=grade gt 35"),
    ("Members", "$filter=grade in (39)"),
    ("Members", "$filter=not (grade gt 35)"),
    ("Members", "$filter=1 div (grade sub 39) gt 0"),
    ("Members", "$orderby=grade,email"),
    ("Members", "$compute=grade mul 2 as g"),
    ("Members", "$compute=case(grade gt 35:1,true:2) as g"),
    ("Members", "$apply=groupby((grade))"),
    ("Members", "$apply=aggregate(grade with max as g)"),
    ("Members", "$apply=aggregate(email with countdistinct as g)"),
    ("Members", "$apply=filter(grade gt 35)/aggregate($count as n)"),
    ("Members", "$apply=search(anna)/aggregate($count as n)"),
    ("Members", "$apply=orderby(grade)/top(1)"),
    ("Members", "$apply=concat(aggregate($count as n),aggregate(grade with min as m))"),
    ("Members", "$filter=@p gt 35&@p=grade"),
    ("Members(grade=39)", ""),
    ("Members(grade=30)", ""),
    ("Members(grade=31)/name", ""),
    ("Members/$filter(grade gt 35)", ""),
    ("Members/$count", "$filter=grade gt 35"),
    ("Teams", "$filter=members/any(m:m/grade gt 35)"),
    ("Teams", "$filter=members/all(m:m/grade gt 35)"),
    ("Teams", "$expand=members($filter=grade gt 35)"),
    ("Teams", "$expand=members($orderby=grade)"),
    ("Teams", "$expand=members($compute=grade add 1 as g)"),
    ("Teams", "$expand=members($select=email)"),
    ("$metadata", ""),
    ("$metadata", "$format=json"),
];

/// The same with names that only others know.
const NAMED: &[(&str, &str)] = &[
    ("Members", "$select=NAME"),
    ("Members", "$filter=NAME eq null"),
    ("Members", "$orderby=NAME"),
    ("Members", "$compute=NAME as c"),
    ("Members", "$apply=groupby((NAME))"),
    ("Members", "$apply=groupby((NAME),aggregate($count as n))"),
    ("Members", "$apply=aggregate(NAME with max as c)"),
    ("Members", "$apply=filter(NAME eq null)"),
    ("Teams", "$filter=members/any(m:m/NAME eq null)"),
    ("Teams", "$filter=members/$count($filter=NAME eq null) gt 0"),
    ("Teams", "$expand=members($select=NAME)"),
    ("Teams", "$expand=members($filter=NAME eq null)"),
    ("Teams", "$expand=members($orderby=NAME)"),
    ("Members(01990000-0000-7000-8000-000000000001)/NAME", ""),
    ("Members(01990000-0000-7000-8000-000000000001)/NAME/$value", ""),
    ("Members/$filter(NAME eq null)", ""),
];

const SECRET_NAMES: &[&str] = &["reviewCount", "standing", "reviewedByMe", "deletedAt", "secret"];

fn named() -> impl Iterator<Item = (String, String)> {
    SECRET_NAMES.iter().flat_map(|name| {
        let named = |text: &str| text.replace("NAME", name);
        NAMED.iter().map(move |(set, options)| (named(set), named(options)))
    })
}

/// Everything that is asked.
fn questions() -> Questions {
    let plain = READS.iter().map(|(set, options)| ((*set).to_owned(), (*options).to_owned()));
    Questions { reads: plain.chain(named()).collect(), changes: changes() }
}

fn changes() -> Vec<(Method, String, Value)> {
    let member = json!({"name": "New", "grade": 1, "region": "EU"});
    let with = |name: &str, value: Value| {
        let mut member = member.clone();
        member[name] = value;
        member
    };
    let mut changes = Vec::new();
    for id in [HIDDEN, DELETED, MISSING] {
        changes.push((Method::PATCH, format!("Members({id})"), json!({"name": "X"})));
        changes.push((Method::PUT, format!("Members({id})"), member.clone()));
        changes.push((Method::DELETE, format!("Members({id})"), json!({})));
        changes.push((Method::PUT, format!("Members({id})/name"), json!({"value": "X"})));
        changes.push((Method::POST, format!("DeletedMembers({id})/Shop.Restore"), json!({})));
        changes.push((Method::DELETE, format!("Teams({TEAM})/members({id})/$ref"), json!({})));
        let reference = json!({"@id": format!("Members({id})")});
        let just = json!({"value": [reference]});
        changes.push((Method::PUT, format!("Teams({TEAM})/members/$ref"), just));
        changes.push((Method::POST, format!("Teams({TEAM})/members/$ref"), reference));
    }
    for team in [HIDDEN_TEAM, MISSING] {
        let reference = json!({"@id": format!("Teams({team})")});
        changes.push((Method::PUT, format!("Members({ADA})/team/$ref"), reference));
        let bound = json!({"team@bind": format!("Teams({team})")});
        changes.push((Method::PATCH, format!("Members({ADA})"), bound));
        changes.push((Method::POST, format!("Teams({team})/members"), member.clone()));
    }
    for grade in [30, 39] {
        let body = json!({"value": grade});
        changes.push((Method::PUT, format!("Members({ADA})/grade"), body));
        changes.push((Method::PATCH, format!("Members(grade={grade})"), json!({"name": "X"})));
        changes.push((Method::DELETE, format!("Members(grade={grade})"), json!({})));
    }
    // A guess of what is returned in a changed form, right and wrong.
    for grade in [30, 31, 39] {
        changes.push((Method::PATCH, format!("Members({ADA})"), json!({"grade": grade})));
    }
    changes.push((Method::PATCH, format!("Members({ADA})"), json!({"email": "anna@example.com"})));
    for name in SECRET_NAMES {
        changes.push((Method::PATCH, format!("Members({ADA})"), json!({*name: null})));
        changes.push((Method::POST, "Members".to_owned(), with(name, Value::Null)));
    }
    // A reference to what is hidden is one to what doesn't exist.
    for team in [HIDDEN_TEAM, MISSING] {
        changes.push((Method::PATCH, format!("Members({ADA})"), json!({"teamId": team})));
        changes.push((Method::POST, "Members".to_owned(), with("teamId", json!(team))));
    }
    // What was deleted keeps no name.
    let mut reborn = with("name", json!("Del"));
    reborn["id"] = json!(MISSING);
    changes.push((Method::POST, "Members".to_owned(), reborn));
    changes
}

on_both_databases! {
    async fn what_rules_hide_changes_no_answer(backend) {
        let (without, with) = (start(backend).await, start(backend).await);
        world(&without, false).await;
        world(&with, true).await;
        questions().tell_no_difference(&without, &with, &narrow(), 3).await;
    }

    async fn a_name_that_one_may_not_know_is_answered_as_one_that_is_misspelt(backend) {
        let app = start(backend).await;
        world(&app, true).await;
        let client = app.sign_in(&narrow());
        for name in SECRET_NAMES {
            for (set, options) in NAMED {
                let ask = async |name: &str| {
                    let path = path(&set.replace("NAME", name), &options.replace("NAME", name));
                    let answer = client.get(path.trim_end_matches('?')).await;
                    told(answer.status.as_u16(), &answer.text).replace(name, "NAME")
                };
                let (unknown, misspelt) = (ask(name).await, ask("mistaken").await);
                assert_eq!(unknown, misspelt, "{name}: {set} {options}");
                assert!(unknown.starts_with("400") || unknown.starts_with("404"), "{unknown}");
            }
        }
    }

    async fn that_a_unique_value_is_taken_says_nothing_else(backend) {
        let app = start(backend).await;
        world(&app, true).await;
        let client = app.sign_in(&narrow());
        let taken = async |name: &str| {
            let member = json!({"name": name, "grade": 1, "region": "EU"});
            let answer = client.post("/odata/v1/Members", member).await;
            told(answer.status.as_u16(), &answer.text)
        };
        let (seen, hidden) = (taken("Ada").await, taken("Hid").await);
        assert_eq!(seen, hidden);
        // The property is told, and nothing of the record that has the value.
        assert!(seen.starts_with("409") && seen.contains("data.unique"), "{seen}");
        assert!(!seen.contains("Ada") && !seen.contains("Hid"), "{seen}");
    }
}
