//! An application with every rule that a set can have: members of teams, reviews of them by another
//! module, and a ledger that is only read.

use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait as _, Func, Query, SelectStatement};
use sea_orm::{ColumnTrait as _, Condition};
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Principal, Registry};
use svc_data::value::ValueKind;
use svc_data::{Context, DataRegistry as _, Sight, VirtualRow};
use svc_database::{Backend, Migration};
use svc_sets::Sets;
use svc_testing::{Client, Person, TestApp};

pub mod team {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "teams")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub region: String,
        pub version: i64,
        #[sea_orm(has_many)]
        pub members: HasMany<super::member::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod member {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "members")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub email: Option<String>,
        pub grade: i32,
        pub secret: Option<String>,
        pub region: String,
        pub team_id: Option<Uuid>,
        pub deleted_at: Option<OffsetDateTime>,
        pub version: i64,
        #[sea_orm(belongs_to, from = "team_id", to = "id")]
        pub team: BelongsTo<Option<super::team::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod entry {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "entries")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub amount: i32,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod review {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "reviews")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub member_id: Uuid,
        pub reviewer: String,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "CREATE TABLE teams (
        id UUID PRIMARY KEY,
        organisation_id UUID NOT NULL,
        name TEXT NOT NULL,
        region TEXT NOT NULL,
        version BIGINT NOT NULL,
        UNIQUE (organisation_id, id)
    );
    CREATE TABLE members (
        id UUID PRIMARY KEY,
        organisation_id UUID NOT NULL,
        name TEXT NOT NULL,
        email TEXT,
        grade INTEGER NOT NULL,
        secret TEXT,
        region TEXT NOT NULL,
        team_id UUID,
        deleted_at TIMESTAMPTZ,
        version BIGINT NOT NULL,
        FOREIGN KEY (organisation_id, team_id) REFERENCES teams (organisation_id, id)
    );
    CREATE UNIQUE INDEX members_by_name ON members (organisation_id, name)
        WHERE deleted_at IS NULL;
    CREATE TABLE entries (
        id UUID PRIMARY KEY,
        organisation_id UUID NOT NULL,
        amount INTEGER NOT NULL,
        version BIGINT NOT NULL
    );";

/// Of an address the first letter and what stands behind the `@`.
fn masked(email: &Json) -> Json {
    let Some((name, host)) = email.as_str().and_then(|email| email.split_once('@')) else {
        return Json::Null;
    };
    format!("{}***@{host}", name.chars().take(1).collect::<String>()).into()
}

struct Staff;

impl Module for Staff {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_staff", TABLES)]);
        registry.entity_set::<team::Entity>("Teams", |set| {
            set.row_filter(|who| match who.claims("regions") {
                [] => Sight::All,
                regions => Sight::Where(Condition::all().add(team::Column::Region.is_in(regions))),
            })
            .create_only(team::Column::Region)
        });
        registry.entity_set::<member::Entity>("Members", |set| {
            set.row_filter(|who| match who.claims("regions") {
                [] => Sight::All,
                regions => {
                    Sight::Where(Condition::all().add(member::Column::Region.is_in(regions)))
                }
            })
            .hidden(member::Column::Secret)
            .unless("Members.SeeSecrets")
            .read_only(member::Column::Secret)
            .response_filter([member::Column::Email, member::Column::Grade], |_, [email, grade]| {
                [masked(&email), json!(grade.as_i64().unwrap_or(0) / 10 * 10)]
            })
            .unless("Members.SeeContacts")
            .soft_delete(member::Column::DeletedAt)
            .alternate_key([member::Column::Grade])
            .facets([member::Column::Region, member::Column::Email])
            .search([member::Column::Name, member::Column::Email])
        });
        registry.entity_set::<entry::Entity>("Entries", |set| {
            set.described("What was booked").view_only()
        });
    }
}

/// Another module, which knows of members by the name of their set.
struct Reviews;

impl Module for Reviews {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new(
            "0001_reviews",
            "CREATE TABLE reviews (
                id UUID PRIMARY KEY,
                organisation_id UUID NOT NULL,
                member_id UUID NOT NULL,
                reviewer TEXT NOT NULL
            );",
        )]);
        registry.entity::<review::Entity>();
        registry.permission("Reviews.View", "see what reviews say of members");
        registry.extend_set("Members", |set| {
            set.virtual_property(
                "reviewCount",
                ValueKind::Int64,
                |row| scalar(count_of(row)),
                |property| property.described("How many reviews there are").needs("Reviews.View"),
            )
            .virtual_property(
                "standing",
                ValueKind::Text { max: Some(10) },
                |row| {
                    let count = scalar(count_of(row));
                    CaseStatement::new().case(count.gt(1), "proven").finally("new").into()
                },
                |property| {
                    property
                        .described("What the number of reviews makes of somebody")
                        .facet()
                        .needs("Reviews.View")
                },
            )
            .virtual_property(
                "reviewedByMe",
                ValueKind::Boolean,
                |row| {
                    let mut mine = reviews_of(row);
                    let reviewer = Expr::col((review::Entity, review::Column::Reviewer));
                    mine.expr(Expr::val(1)).and_where(reviewer.eq(row.who().display_name()));
                    Expr::exists(mine)
                },
                |property| property.needs("Reviews.View"),
            )
            .response_filter(["secret"], |_: &Principal, [secret]| {
                [secret.as_str().map_or(Json::Null, |secret| json!(format!("{}…", secret.len())))]
            })
            .for_those(|who| !who.claims("auditor").is_empty())
        });
    }
}

fn reviews_of(row: &VirtualRow<'_>) -> SelectStatement {
    let column = |column| Expr::col((review::Entity, column));
    let mut select = Query::select();
    select
        .from(review::Entity)
        .and_where(column(review::Column::MemberId).eq(row.key()))
        .and_where(column(review::Column::OrganisationId).eq(row.organisation()));
    select
}

fn count_of(row: &VirtualRow<'_>) -> SelectStatement {
    let mut select = reviews_of(row);
    select.expr(Func::count(Expr::val(1)));
    select
}

fn scalar(select: SelectStatement) -> Expr {
    Expr::SubQuery(None, Box::new(select.into()))
}

/// The application. Reviews come first: a module can extend a set that is registered after it.
pub fn application() -> Application {
    Application::new("shop").module(Reviews).module(Staff)
}

pub async fn start(backend: Backend) -> TestApp {
    TestApp::builder(application).start(backend).await
}

/// Somebody who does everything with members but sees contacts in a changed form, and knows of no
/// reviews and no secrets.
pub fn clerk() -> Person {
    let members = ["Members.View", "Members.Create", "Members.Update", "Members.Delete"];
    let others = ["Members.Restore", "Teams.View", "Entries.View"];
    Person::named("clerk").who_may(&[&members[..], &others[..]].concat())
}

/// Creates, and answers with the id.
pub async fn make(client: &Client, set: &str, entity: Json) -> String {
    let made = client.post(&format!("/odata/v1/{set}"), entity).await.expect(201);
    made["id"].as_str().unwrap().to_owned()
}

/// A member of the EU.
pub fn member(name: &str, email: &str, grade: i32) -> Json {
    json!({"name": name, "email": email, "grade": grade, "region": "EU"})
}

/// All pages of a list, of two each.
pub async fn pages(client: &Client, link: &str) -> Vec<Json> {
    let (mut link, mut found) = (link.to_owned(), Vec::new());
    loop {
        let headers = [("prefer", "odata.maxpagesize=2")];
        let page = client.send(http::Method::GET, &link, &headers, "").await.expect(200);
        let next = page["@odata.nextLink"].as_str().map(str::to_owned);
        found.push(json!({"value": page["value"], "count": page["@odata.count"]}));
        match next {
            Some(next) => link = next,
            None => return found,
        }
    }
}

/// The names of the members in an answer.
pub fn names(pages: &[Json]) -> Vec<&str> {
    let members = pages.iter().flat_map(|page| page["value"].as_array().unwrap());
    members.map(|member| member["name"].as_str().unwrap()).collect()
}

/// How many members there are under options, as the front tells, within whatever runs.
pub async fn number_of(ctx: &Context, options: &str) -> u64 {
    let sets = ctx.app().service::<Sets>().unwrap();
    let address = sets.understand(ctx, "Members", options).unwrap();
    let source = sets.source(ctx, &address).await.unwrap();
    let query = sets.bind(ctx, source.set(), &address.options, None).unwrap();
    sets.count(ctx, &source, &query).await.unwrap()
}
