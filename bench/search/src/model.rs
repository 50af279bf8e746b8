//! Products, customers and order lines, as many as asked for.

use svc_core::{Module, Registry};
use svc_data::DataRegistry as _;
use svc_database::{Backend, Migration};

macro_rules! entity {
    ($module:ident, $table:literal) => {
        pub(crate) mod $module {
            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub(crate) struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub(crate) id: i64,
                pub(crate) organisation_id: Uuid,
                pub(crate) name: String,
                pub(crate) description: String,
                pub(crate) version: i64,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub(crate) enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

entity!(product, "products");
entity!(customer, "customers");
entity!(line, "order_lines");

/// The sets as a module.
pub(crate) struct Shop;

const TABLES: &str = "
CREATE TABLE products (id BIGINT PRIMARY KEY, organisation_id UUID NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, version BIGINT NOT NULL);
CREATE TABLE customers (id BIGINT PRIMARY KEY, organisation_id UUID NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, version BIGINT NOT NULL);
CREATE TABLE order_lines (id BIGINT PRIMARY KEY, organisation_id UUID NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, version BIGINT NOT NULL);
";

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_shop", TABLES)]);
        registry.entity_set::<product::Entity>("Products", |set| {
            set.search([product::Column::Name, product::Column::Description])
        });
        registry.entity_set::<customer::Entity>("Customers", |set| {
            set.search([customer::Column::Name, customer::Column::Description])
        });
        registry.entity_set::<line::Entity>("OrderLines", |set| {
            set.search([line::Column::Name, line::Column::Description])
        });
    }
}

const FIRST: [&str; 16] = [
    "Holz",
    "Metall",
    "Blech",
    "Spanplatten",
    "Maschinen",
    "Zylinder",
    "Senk",
    "Linsen",
    "Rund",
    "Flach",
    "Rahmen",
    "Dübel",
    "Fenster",
    "Möbel",
    "Beton",
    "Gips",
];
const SECOND: [&str; 16] = [
    "schraube",
    "bolzen",
    "mutter",
    "nagel",
    "leim",
    "anker",
    "dübel",
    "scheibe",
    "winkel",
    "griff",
    "scharnier",
    "haken",
    "klammer",
    "leiste",
    "profil",
    "band",
];
const FINISH: [&str; 8] =
    ["verzinkt", "brüniert", "roh", "lackiert", "rostfrei", "gehärtet", "vernickelt", "messing"];

/// The name and description of a record.
fn texts(number: u64) -> (String, String) {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut draw = |words: &[&'static str]| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words[usize::try_from(state % words.len() as u64).unwrap_or(0)]
    };
    let name = format!("{}{} {} {number}", draw(&FIRST), draw(&SECOND), draw(&FINISH));
    let description = format!("für {} und {}, {}", draw(&FIRST), draw(&SECOND), draw(&FINISH));
    (name, description)
}

/// Statements that fill a table.
pub(crate) fn fill(table: &str, backend: Backend, count: u64) -> impl Iterator<Item = String> {
    let organisation = match backend {
        Backend::Sqlite => "x'01990000000070008000000000000001'",
        Backend::Postgres => "'01990000-0000-7000-8000-000000000001'",
    };
    let insert =
        format!("INSERT INTO {table} (id, organisation_id, name, description, version) VALUES ");
    (0..count).step_by(1_000).map(move |first| {
        let rows = (first..count.min(first + 1_000)).map(|number| {
            let (name, description) = texts(number);
            format!("({number}, {organisation}, '{name}', '{description}', 1)")
        });
        format!("{insert}{}", rows.collect::<Vec<_>>().join(", "))
    })
}
