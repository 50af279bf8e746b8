//! Types for clients. That they compile, and refuse what is wrong, is seen where a compiler is:
//! in the end-to-end tests.

use svc_odata::model::{EntitySet, EntityType, EnumType, Model, PrimitiveType, Property};
use svc_odata::typescript::write_typescript;

use crate::shop::{Clerk, shop};

#[test]
fn types_of_a_service() {
    insta::assert_snapshot!(write_typescript(&shop()));
}

#[test]
fn the_same_model_gives_the_same_text() {
    assert_eq!(write_typescript(&shop()), write_typescript(&shop()));
}

#[test]
fn nothing_that_is_hidden_is_named() {
    let types = write_typescript(&Clerk(shop()));
    for hidden in ["CostPrice", "Notes", "Categor", "Orders", "Reprice", "Status", "Parent"] {
        assert!(!types.contains(hidden), "{hidden} in {types}");
    }
    assert!(types.contains("export interface Product extends Control"));
}

#[test]
fn names_that_are_taken_give_way() {
    let mut model = Model::new("Shop");
    for name in ["Page", "PageCreate", "Guid", "string"] {
        let mut entity = EntityType::new(name);
        entity.key = vec![entity.add_property(Property::new("größe-2", PrimitiveType::Guid))];
        let entity = model.add_type(entity);
        model.add_set(EntitySet::new(format!("{name}s"), entity));
    }
    let types = write_typescript(&model);
    for name in ["Page_", "PageCreate", "Page_Create", "Guid_", "string_", "PageCreateCreate"] {
        assert!(types.contains(&format!("export interface {name} ")), "{name} in {types}");
    }
    assert!(types.contains("readonly \"größe-2\"") || types.contains("  \"größe-2\": Guid;"));
}

#[test]
fn a_comment_can_not_be_ended_by_what_it_says() {
    let mut model = shop();
    model.types[0].description = Some("Ends */ here\nand goes on".to_owned());
    let types = write_typescript(&model);
    assert!(types.contains("/** Ends *\\/ here and goes on. One of `Products`. */"), "{types}");
}

#[test]
fn values_that_are_known_are_unions() {
    let mut model = shop();
    let flags: &EnumType = &model.enums[0];
    assert!(flags.flags);
    let types = write_typescript(&model);
    assert!(types.contains("export type Status = \"Draft\" | \"Paid\";"), "{types}");
    assert!(types.contains("  Grade: \"A\" | \"B\" | null;"), "{types}");
    model.enums[0].flags = false;
    let types = write_typescript(&model);
    assert!(types.contains("export type Colour = \"Red\" | \"Green\" | \"Blue\";"), "{types}");
}
