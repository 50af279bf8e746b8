//! What a set can be told, and what is wrong with it.

use sea_orm::sea_query::Expr;
use serde_json::Value as Json;
use svc_core::{Module, Registry};
use svc_data::value::ValueKind;
use svc_data::{DataModule, DataRegistry as _, Sight};

use crate::fixture::product;

/// Its key has two columns.
mod place {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "places")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub shelf: i32,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i32,
        pub organisation_id: Uuid,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Says something when it is configured.
struct Says(&'static str, fn(&mut Registry));

impl Module for Says {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.0.into()
    }

    fn configure(&self, registry: &mut Registry) {
        self.1(registry);
    }
}

fn problems(modules: Vec<Says>) -> Vec<String> {
    let mut all: Vec<Box<dyn Module>> = vec![Box::new(DataModule)];
    all.extend(modules.into_iter().map(|module| Box::new(module) as Box<dyn Module>));
    match Registry::assemble(all) {
        Ok(_) => Vec::new(),
        Err(error) => error.0,
    }
}

fn served(registry: &mut Registry) {
    registry.entity_set::<product::Entity>("Products", |set| set);
}

fn same(value: [Json; 1]) -> [Json; 1] {
    value
}

#[test]
fn a_module_extends_a_set_that_is_registered_after_it() {
    let extends = |registry: &mut Registry| {
        registry.extend_set("Products", |set| {
            set.row_filter(|_| Sight::All)
                .virtual_property(
                    "answer",
                    ValueKind::Int32,
                    |_| Expr::val(42),
                    |property| property.needs("Answers.View"),
                )
                .response_filter(["sku"], |_, value| same(value))
                .unless("Answers.View")
        });
    };
    let modules = vec![Says("answers", extends), Says("shop", served)];
    assert_eq!(problems(modules), [""; 0]);
}

#[test]
fn what_does_not_fit_is_told_of_the_module_that_said_it() {
    let wrong = |registry: &mut Registry| {
        registry.extend_set("Produce", |set| set.hidden("sku").unless("A.B"));
        registry.extend_set("Products", |set| {
            set.hidden("colour")
                .unless("A.B")
                .response_filter(["id"], |_, value| same(value))
                .unless("A.B")
                .response_filter(["organisation_id"], |_, value| same(value))
                .unless("A.B")
                .virtual_property(
                    "sku",
                    ValueKind::Int32,
                    |_| Expr::val(1),
                    |property| property.needs("A.B"),
                )
                .virtual_property(
                    "Big",
                    ValueKind::Int32,
                    |_| Expr::val(1),
                    |property| property.needs("A.B"),
                )
        });
    };
    let expected = [
        "there is no entity set `Produce` to extend",
        "`Products` already has a property `sku`",
        "`Big` isn't a name of a property; write it in camel case",
        "`Products` has no column `colour`; it has `id`, `organisation_id`, `sku`, `price`, \
         `available_from`, `version`, `updated_at`",
        "a response filter of `Products` can't change `id`: it is the key, which addresses carry",
        "a response filter of `Products` can't change `organisation_id`: it is internal, and never \
         leaves the application",
    ];
    let found = problems(vec![Says("wrong", wrong), Says("shop", served)]);
    assert_eq!(found, expected.map(|problem| format!("module `wrong`: {problem}")));
}

#[test]
fn a_column_that_can_not_hold_a_time_marks_nothing_as_deleted() {
    let wrong = |registry: &mut Registry| {
        registry
            .entity_set::<product::Entity>("Products", |set| set.soft_delete(product::Column::Sku));
    };
    let expected = "module `shop`: `products.sku` can't say when a record was deleted; it needs to be \
                    an `Option<OffsetDateTime>`";
    assert_eq!(problems(vec![Says("shop", wrong)]), [expected]);
}

#[test]
fn a_key_of_several_columns_is_refused_with_what_to_do() {
    let serves = |registry: &mut Registry| {
        registry.entity_set::<place::Entity>("Places", |set| set);
    };
    let found = problems(vec![Says("shop", serves)]).join("\n");
    let told = ["`places` needs a primary key of one column", "`.alternate_key([…])`"];
    assert!(told.iter().all(|part| found.contains(part)), "{found}");
}

/// Enumerations with mistakes, and what they are tried on.
mod mistaken {
    use sea_orm::entity::prelude::*;
    use serde::Serialize;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "String", db_type = "String(StringLen::N(3))", rename_all = "snake_case")]
    pub enum Unnamed {
        #[serde(rename = "not yet")]
        NotYet,
        #[serde(rename = "twice")]
        Once,
        #[serde(rename = "twice")]
        Twice,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "String", db_type = "String(StringLen::N(20))", rename_all = "camelCase")]
    pub enum Long {
        Longer,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
    #[sea_orm(rs_type = "i32", db_type = "Integer", enum_name = "product")]
    pub enum Number {
        One = 1,
    }

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "products")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(3))")]
        pub short: String,
        pub number: Number,
        pub version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

#[test]
fn what_can_not_be_an_enumeration_is_told_all_at_once() {
    use mistaken::{Column, Entity, Long, Number, Unnamed};
    let wrong = |registry: &mut Registry| {
        registry.entity_set::<Entity>("Products", |set| {
            set.enumeration::<Unnamed>(Column::Short)
                .enumeration::<Long>(Column::Short)
                .enumeration::<Number>(Column::Short)
                .enumeration::<Number>(Column::Id)
                .enumeration::<Number>(Column::Version)
                .enumeration::<Number>(Column::Number)
        });
    };
    let of = |name: &str| std::any::type_name::<Number>().replace("Number", name);
    let expected = [
        format!(
            "`{}` has a member that serde writes as `\"not yet\"`, which isn't a name in OData: a letter, \
             then letters, digits and underscores; rename it with `#[serde(rename = \"…\")]`",
            of("Unnamed")
        ),
        format!(
            "`{}` has two members that can't be told apart: `twice`, stored as `once`, and `twice`, \
             stored as `twice`",
            of("Unnamed")
        ),
        "`products.short` can't hold `longer` of `Long`: it has more characters".to_owned(),
        "`products.short` can't hold `Product`: it is of another type".to_owned(),
        "`products.id` is the key, which can't be an enumeration".to_owned(),
        "`products.version` can't hold `Product`: it is of another type".to_owned(),
        "the enumeration `Product` of `Products` has the name of another type or operation; set \
         another with `#[sea_orm(enum_name = \"…\")]`"
            .to_owned(),
    ];
    let found = problems(vec![Says("shop", wrong)]);
    assert_eq!(found, expected.map(|problem| format!("module `shop`: {problem}")));
}

/// Money and quantities, and what is neither.
mod invoice {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "invoices")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        #[sea_orm(column_type = "String(StringLen::N(3))")]
        pub paid_in: String,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
        pub total: Decimal,
        pub weight: f64,
        pub pages: i32,
        pub secret: String,
        pub version: i64,
        #[sea_orm(has_many)]
        pub lines: HasMany<super::invoice_line::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod invoice_line {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "invoice_lines")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub invoice_id: Uuid,
        pub price: f64,
        pub amount: f64,
        pub weight: f64,
        pub rate: f64,
        pub pages: i32,
        pub version: i64,
        #[sea_orm(belongs_to, from = "invoice_id", to = "id")]
        pub invoice: BelongsTo<super::invoice::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

#[test]
fn numbers_have_a_currency_or_a_unit() {
    use invoice::{Column, Entity};
    let says = |registry: &mut Registry| {
        registry.entity_set::<Entity>("Invoices", |set| {
            set.currency_in(Column::Total, Column::PaidIn)
                .unit(Column::Weight, "kg")
                .unit_in(Column::Pages, Column::PaidIn)
                .virtual_property(
                    "discount",
                    ValueKind::Double,
                    |_| Expr::val(1.5),
                    |property| property.currency("EUR").needs("Invoices.View"),
                )
        });
    };
    assert_eq!(problems(vec![Says("shop", says)]), [""; 0]);
}

#[test]
fn what_values_can_not_mean_is_told() {
    use invoice::{Column, Entity};
    use svc_data::semantic_type::{EMAIL, PHONE};
    let wrong = |registry: &mut Registry| {
        registry.entity_set::<Entity>("Invoices", |set| {
            set.semantic_type(Column::Total, &EMAIL)
                .semantic_type(Column::Secret, &EMAIL)
                .semantic_type(Column::Secret, &PHONE)
        });
    };
    let expected = [
        "`total` of `Invoices` can't be `email`: no column of its kind holds such values",
        "`secret` of `Invoices` can't be `phone`: it is `email` already; say one",
    ];
    let found = problems(vec![Says("shop", wrong)]);
    assert_eq!(found, expected.map(|problem| format!("module `shop`: {problem}")));
}

#[test]
fn what_can_not_be_a_currency_or_unit_is_told_with_what_to_do() {
    use invoice::{Column, Entity};
    let wrong = |registry: &mut Registry| {
        registry.entity_set::<Entity>("Invoices", |set| {
            set.currency(Column::Total, "euro")
                .currency(Column::PaidIn, "EUR")
                .unit(Column::Weight, " kg")
                .currency_in(Column::Total, Column::Pages)
                .internal(Column::Secret)
                .currency_in(Column::Total, Column::Secret)
                .unit(Column::Pages, "pages")
                .unit(Column::Pages, "sheets")
                .virtual_property(
                    "late",
                    ValueKind::Boolean,
                    |_| Expr::val(true),
                    |property| property.unit("d").needs("Invoices.View"),
                )
        });
    };
    let expected = [
        "`total` of `Invoices` can't be in `euro`; write the currency's code of ISO 4217: `EUR`",
        "`paid_in` of `Invoices` holds no numbers, so it has no currency or unit; leave it out",
        "`weight` of `Invoices` can't be in ` kg`; write the unit as it stands behind a number, in \
         at most 20 characters: `kg`",
        "`total` of `Invoices` can't have its currency or unit in `pages`, which holds no text; \
         name a column of text",
        "`total` of `Invoices` can't have its currency or unit in `secret`, which is internal, and \
         never leaves the application; name another column, or serve it",
        "`pages` of `Invoices` has two currencies or units; say one",
        "`late` of `Invoices` holds no numbers, so it has no currency or unit; leave it out",
    ];
    let found = problems(vec![Says("shop", wrong)]);
    assert_eq!(found, expected.map(|problem| format!("module `shop`: {problem}")));
}

#[test]
fn a_currency_or_unit_may_stand_on_what_a_record_leads_to() {
    use invoice_line::Column;
    let says = |registry: &mut Registry| {
        registry.entity_set::<invoice_line::Entity>("InvoiceLines", |set| {
            set.currency_along(Column::Amount, "invoice/paidIn")
                .unit_along(Column::Weight, "invoice/paidIn")
        });
        registry.entity_set::<invoice::Entity>("Invoices", |set| set);
    };
    assert_eq!(problems(vec![Says("shop", says)]), [""; 0]);
    let wrong = |registry: &mut Registry| {
        registry.entity_set::<invoice_line::Entity>("InvoiceLines", |set| {
            set.currency_along(Column::Price, "customer/currency")
                .currency_along(Column::Amount, "paidIn")
                .currency_along(Column::Rate, "invoice/currency")
                .unit_along(Column::Weight, "invoice/pages")
                .unit_along(Column::Pages, "invoice/secret")
        });
        registry.entity_set::<invoice::Entity>("Invoices", |set| {
            set.internal(invoice::Column::Secret)
                .currency_along(invoice::Column::Total, "invoiceLines/currency")
        });
    };
    let expected = [
        "`price` of `InvoiceLines` can't have its currency or unit in `customer/currency`, which begins \
         with no way to another set; write `invoice/…`",
        "`amount` of `InvoiceLines` can't have its currency or unit in `paidIn/`, which begins with no \
         way to another set; write `invoice/…`",
        "`weight` of `InvoiceLines` can't have its currency or unit in `invoice/pages`, which holds no \
         text; name a column of text",
        "`rate` of `InvoiceLines` can't have its currency or unit in `invoice/currency`, which ends with \
         no property of `Invoices`; name one of text there",
        "`pages` of `InvoiceLines` can't have its currency or unit in `invoice/secret`, which is \
         internal, and never leaves the application; name another column, or serve it",
        "`total` of `Invoices` can't have its currency or unit in `invoiceLines/currency`, which leads \
         to many, of which each may have another; name a way to one",
    ];
    let found = problems(vec![Says("shop", wrong)]);
    assert_eq!(found, expected.map(|problem| format!("module `shop`: {problem}")));
    // What it leads to is no set.
    let alone = |registry: &mut Registry| {
        registry.entity_set::<invoice_line::Entity>("InvoiceLines", |set| {
            set.currency_along(Column::Price, "invoice/paidIn")
        });
    };
    let found = problems(vec![Says("shop", alone)]);
    assert!(
        found[0].ends_with("begins with no way to another set; there is none to one"),
        "{found:?}"
    );
}
