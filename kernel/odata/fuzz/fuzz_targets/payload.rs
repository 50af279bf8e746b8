//! Bodies of entities: reading them never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use svc_odata::json::{PayloadOptions, Purpose, parse_entity};
use svc_odata::model::{
    EntityType, Model, NavigationProperty, PrimitiveType, Property, PropertyType, TypeIndex,
};

fuzz_target!(|body: &[u8]| {
    let mut entity_type = EntityType::new("T");
    for (index, &ty) in PrimitiveType::ALL.iter().enumerate() {
        entity_type.add_property(Property::new(format!("p{index}"), ty).nullable());
    }
    entity_type.add_property(Property::new("u", PropertyType::Untyped).nullable());
    entity_type.add_navigation(NavigationProperty::to_one("o", TypeIndex(0)));
    entity_type.add_navigation(NavigationProperty::to_many("m", TypeIndex(0)));
    let mut model = Model::new("N");
    model.add_type(entity_type);
    let options =
        PayloadOptions { purpose: Purpose::Create, ieee754_compatible: true, depth: 4, items: 100 };
    // What was read holds no more than it may.
    if let Ok(entity) = parse_entity(&model, TypeIndex(0), body, options) {
        assert!(entity.items() <= options.items);
    }
});
