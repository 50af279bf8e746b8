//! The enumerations of all sets and operations, which share the names of the service's types.

use super::Catalogue;
use crate::entity::EntityModel;
use crate::names::singular;
use crate::value::{Enumeration, ValueKind};

impl EntityModel {
    /// The enumerations that its properties are of.
    fn enumerations(&self) -> impl Iterator<Item = &'static Enumeration> {
        let columns = self.columns.iter().map(|column| column.kind);
        let virtuals = self.set.iter().flat_map(|set| &set.virtual_properties);
        columns.chain(virtuals.map(|property| property.kind)).filter_map(ValueKind::enumeration)
    }
}

impl Catalogue {
    /// The enumerations that the properties of sets, and the parameters and results of operations
    /// are of, each once.
    #[must_use]
    pub fn enumerations(&self) -> Vec<&'static Enumeration> {
        let mut found = Vec::new();
        for (_, _, enumeration) in self.uses_of_enumerations() {
            if !found.contains(&enumeration) {
                found.push(enumeration);
            }
        }
        found
    }

    /// The enumerations, with the modules and names of the sets and operations that use them.
    fn uses_of_enumerations(&self) -> impl Iterator<Item = (&str, &str, &'static Enumeration)> {
        let sets = self.sets().flat_map(|model| {
            model.enumerations().map(|found| (model.module.as_str(), model.name(), found))
        });
        let operations = self.operations().iter().flat_map(|operation| {
            let (module, name) = (operation.module.as_str(), operation.name.as_str());
            operation.enumerations().map(move |found| (module, name, found))
        });
        sets.chain(operations)
    }

    /// What is wrong with the names of enumerations, each with the module that registered the set
    /// or operation.
    pub(crate) fn problems_with_type_names(&self) -> Vec<(String, String)> {
        let mut seen: Vec<&'static Enumeration> = Vec::new();
        let mut problems = Vec::new();
        for (module, user, enumeration) in self.uses_of_enumerations() {
            if seen.contains(&enumeration) {
                continue;
            }
            let name = enumeration.name();
            let taken = seen.iter().any(|known| known.name() == name)
                || self.sets().any(|set| singular(set.name()) == name)
                || self.operations().iter().any(|operation| operation.name == name)
                || name == svc_odata::model::CONTAINER;
            problems.extend(taken.then(|| {
                let problem = format!(
                    "the enumeration `{name}` of `{user}` has the name of another type or \
                     operation; set another with `#[sea_orm(enum_name = \"…\")]`"
                );
                (module.to_owned(), problem)
            }));
            seen.push(enumeration);
        }
        problems
    }
}
