//! The enumerations of all sets, which share the names of the service's types.

use super::{Catalogue, EntityModel, singular};
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
    /// The enumerations that the properties of sets are of, each once.
    pub(crate) fn enumerations(&self) -> Vec<&'static Enumeration> {
        let mut found = Vec::new();
        for enumeration in self.sets().flat_map(|model| model.enumerations()) {
            if !found.contains(&enumeration) {
                found.push(enumeration);
            }
        }
        found
    }

    /// What is wrong with the names of enumerations, each with the module that registered the set.
    pub(crate) fn problems_with_type_names(&self) -> Vec<(String, String)> {
        let mut seen: Vec<&'static Enumeration> = Vec::new();
        let mut problems = Vec::new();
        for model in self.sets() {
            for enumeration in model.enumerations() {
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
                        "the enumeration `{name}` of `{}` has the name of another type or \
                         operation; set another with `#[sea_orm(enum_name = \"…\")]`",
                        model.name()
                    );
                    (model.module.clone(), problem)
                }));
                seen.push(enumeration);
            }
        }
        problems
    }
}
