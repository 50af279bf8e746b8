//! Queries: parsing never panics, what is parsed prints to what parses to the same, and binding
//! it never panics either.

#![no_main]

use libfuzzer_sys::fuzz_target;
use svc_odata::bind::{BindLimits, bind_query};
use svc_odata::model::{EntityType, Model, NavigationProperty, PrimitiveType, Property, TypeIndex};
use svc_odata::syntax::QueryOptions;

/// A type with a property of every primitive type, and ways to itself.
fn model() -> Model {
    let mut entity_type = EntityType::new("T");
    for (index, &ty) in PrimitiveType::ALL.iter().enumerate() {
        entity_type.add_property(Property::new(format!("p{index}"), ty).nullable());
    }
    entity_type.add_navigation(NavigationProperty::to_one("o", TypeIndex(0)));
    entity_type.add_navigation(NavigationProperty::to_many("m", TypeIndex(0)));
    let mut model = Model::new("N");
    model.add_type(entity_type);
    model
}

fuzz_target!(|query: &str| {
    let Ok(options) = QueryOptions::parse(query) else { return };
    let printed = options.to_string();
    assert_eq!(QueryOptions::parse(&printed).as_ref(), Ok(&options), "{printed}");
    let limits = BindLimits::default();
    let Ok(query) = bind_query(&model(), TypeIndex(0), &options, limits) else { return };
    // What is bound costs no more than it may, and isn't larger than what was counted.
    assert!(query.cost.navigation_steps <= limits.navigation_steps);
    assert!(query.cost.search_words <= limits.search_words);
    assert!(query.row.columns.iter().all(|column| {
        column.weight.parts <= limits.nodes && column.weight.joined_texts <= limits.joined_texts
    }));
});
