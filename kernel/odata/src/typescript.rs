//! The types of a service's entities for clients in TypeScript.
//!
//! Written from what a caller sees of a model ([`Schema`]), as `$metadata` is, so that a name that
//! is gone, a value of the wrong type and a property that can't be set don't compile. Types alone:
//! nothing of it is left at run time, and any client library can be used with them.
//!
//! | For | There is |
//! | --- | --- |
//! | an enumeration | a union of its members' names |
//! | an entity type `Product` | `Product`, as answers hold it; navigation properties are optional, because only `$expand` returns them |
//! | | `ProductCreate` and `ProductUpdate`, without what the service alone sets, with the new entities that it takes along and with `@odata.bind` |
//! | | `ProductProperty` and `ProductNavigation`, the names for `$select`, `$orderby`, `$expand` |
//! | the sets | `EntitySets`: of each its entity, key, shapes and names |
//! | the operations | `Operations`: of each what it is called on, its parameters and its result |
//! | all | `Page`, `ErrorAnswer`, `Expanded`, and names for the values that JSON has no type for |
//!
//! A property that takes a permission to be read is optional: who lacks it doesn't know of it. So is
//! one that is returned only on request. The same model gives the same text, so that it can lie under version control.

mod aliases;
mod comment;
mod entity;
mod names;
mod operations;
mod relating;
mod values;

use std::fmt::Write as _;

use crate::csdl::visible;
use crate::model::{EntitySet, Schema};

use comment::push_doc;
use names::Names;

/// What is the same for every service.
const SHARED: &str = r#"
/** What an answer says of an entity besides its properties. */
export interface Control {
  readonly "@odata.context"?: string;
  /** The version, for `If-Match`. */
  readonly "@odata.etag"?: string;
}

/** What a list answers with. */
export interface Page<Entity> {
  "@odata.context"?: string;
  /** How many there are in all, with `$count=true`. */
  "@odata.count"?: number;
  /** The address of the next page; none on the last. */
  "@odata.nextLink"?: string;
  value: Entity[];
}

/** What an answer with a status of 400 and above holds. */
export interface ErrorAnswer {
  error: {
    code: string;
    message: string;
    /** The option or property that it is about. */
    target?: string;
    details?: { code: string; message: string; target?: string }[];
  };
}

/** An entity with the navigation properties that `$expand` named. */
export type Expanded<Entity, Navigation extends keyof Entity> = Entity & {
  [Name in Navigation]-?: Exclude<Entity[Name], undefined>;
};

/** One of these members, and none of the others. */
export type OneOf<Members> = {
  [Name in keyof Members]: Pick<Members, Name> & { [Other in Exclude<keyof Members, Name>]?: never };
}[keyof Members];

/** A new entity within another, which the members that lead back come from. */
export type Within<Create, Back extends PropertyKey> = Create extends unknown ? Omit<Create, Back> : never;

/** An entity with nothing but the properties that `$select` named. */
export type Selected<Entity, Property extends keyof Entity> = Control & Pick<Entity, Property>;
"#;

/// Everything in [`SHARED`] and everything that TypeScript itself would understand otherwise.
const TAKEN: [&str; 15] = [
    "Control",
    "Page",
    "ErrorAnswer",
    "Expanded",
    "Selected",
    "OneOf",
    "Within",
    "EntitySets",
    "EntitySetName",
    "Operations",
    "Exclude",
    "Pick",
    "Omit",
    "PropertyKey",
    "Record",
];

/// The types of what the caller sees, as one TypeScript module.
#[must_use]
pub fn write_typescript(schema: &dyn Schema) -> String {
    let names = Names::of(schema, &TAKEN);
    let namespace = &schema.model().namespace;
    let mut out = format!(
        "// The types of the entity sets of `{namespace}`. Written from its metadata: change \
         nothing here, write it anew.\n"
    );
    aliases::push(&mut out, schema);
    out.push_str(SHARED);
    for enum_type in visible::enums(schema) {
        values::push_enum(&mut out, &names, enum_type);
    }
    for (index, entity_type) in visible::types(schema) {
        entity::push(&mut out, schema, &names, index, entity_type);
    }
    push_sets(&mut out, schema, &names);
    operations::push(&mut out, schema, &names);
    out
}

fn push_sets(out: &mut String, schema: &dyn Schema, names: &Names) {
    out.push_str(
        "\n/** The entity sets: what each holds and takes. */\nexport interface EntitySets {\n",
    );
    for set in visible::sets(schema) {
        push_set(out, schema, names, set);
    }
    out.push_str(
        "}\n\n/** The name of an entity set. */\nexport type EntitySetName = keyof EntitySets;\n",
    );
}

fn push_set(out: &mut String, schema: &dyn Schema, names: &Names, set: &EntitySet) {
    let shapes = names.of_type(set.entity_type);
    let entity_type = schema.model().entity_type(set.entity_type);
    push_doc(out, "  ", set.description.as_deref().into_iter().map(str::to_owned));
    let create = if set.capabilities.insertable { &shapes.create } else { "never" };
    let update = if set.capabilities.updatable { &shapes.update } else { "never" };
    let _ = write!(
        out,
        "  {}: {{\n    entity: {};\n    key: {};\n    create: {create};\n    update: {update};\n    \
         property: {};\n    navigation: {};\n  }};\n",
        names::member(&set.name),
        shapes.entity,
        entity::key_type(schema, names, entity_type),
        shapes.property,
        shapes.navigation,
    );
}
