//! Names that TypeScript takes, each only once.

use std::collections::{BTreeSet, HashMap};

use crate::csdl::visible;
use crate::model::{EnumType, Schema, TypeIndex};

use super::aliases::ALIASES;

/// The names of what is written for an entity type.
pub(super) struct Shapes {
    pub(super) entity: String,
    pub(super) create: String,
    pub(super) update: String,
    pub(super) property: String,
    pub(super) navigation: String,
}

/// The names of all that is written.
pub(super) struct Names {
    types: HashMap<TypeIndex, Shapes>,
    enums: HashMap<String, String>,
}

impl Names {
    /// Chooses the names. Those of entities and enumerations come first, so that a longer one
    /// that is made of another gives way to it.
    pub(super) fn of(schema: &dyn Schema, taken: &[&str]) -> Self {
        let aliases = ALIASES.iter().map(|(_, name, _, _)| *name);
        let mut used: BTreeSet<String> =
            taken.iter().copied().chain(aliases).map(str::to_owned).collect();
        let mut choose = |name: String| {
            let mut name = identifier(&name);
            while !used.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let all = visible::types(schema);
        let entities: Vec<String> =
            all.iter().map(|(_, entity_type)| choose(entity_type.name.clone())).collect();
        let enums = visible::enums(schema)
            .into_iter()
            .map(|found| (found.name.clone(), choose(found.name.clone())))
            .collect();
        let types = all.iter().zip(entities).map(|((index, _), entity)| {
            let shapes = Shapes {
                create: choose(format!("{entity}Create")),
                update: choose(format!("{entity}Update")),
                property: choose(format!("{entity}Property")),
                navigation: choose(format!("{entity}Navigation")),
                entity,
            };
            (*index, shapes)
        });
        Self { types: types.collect(), enums }
    }

    /// The names of an entity type.
    ///
    /// # Panics
    /// When the caller doesn't see the type, which [`visible`] has left out before.
    pub(super) fn of_type(&self, index: TypeIndex) -> &Shapes {
        &self.types[&index]
    }

    /// The name of an enumeration.
    pub(super) fn of_enum<'a>(&'a self, enum_type: &'a EnumType) -> &'a str {
        self.enums.get(&enum_type.name).unwrap_or(&enum_type.name)
    }
}

/// A type's name. OData allows every letter that TypeScript does, but also the names of
/// TypeScript's own types.
fn identifier(name: &str) -> String {
    const OWN: [&str; 14] = [
        "any",
        "bigint",
        "boolean",
        "never",
        "null",
        "number",
        "object",
        "string",
        "symbol",
        "undefined",
        "unknown",
        "void",
        "type",
        "interface",
    ];
    if OWN.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// A member's name, in quotes where it needs them.
pub(super) fn member(name: &str) -> String {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        name.to_owned()
    } else {
        text(name)
    }
}

/// A literal text.
pub(super) fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// A union of literal texts, `never` of none.
pub(super) fn union_of<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(text).collect();
    if names.is_empty() { "never".to_owned() } else { names.join(" | ") }
}
