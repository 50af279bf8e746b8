//! The metadata document as CSDL XML and CSDL JSON 4.01, and the service document.
//!
//! Both are written from what a caller sees of a model ([`Schema`]): sets, the types that these
//! sets and their navigation lead to, operations; nothing that is hidden is named anywhere. What
//! sets can do is said by annotations of `Org.OData.Core.V1`, `Org.OData.Capabilities.V1`,
//! `Org.OData.Validation.V1` and `Org.OData.Aggregation.V1`, which both formats share. In which currency or unit numbers are is
//! said by those of `Org.OData.Measures.V1`, which a document names only where it says so. Where the schema has
//! [`Labels`](crate::model::Labels), what people call sets, properties and the like is said by the term `Label` of
//! `com.sap.vocabularies.Common.v1` (there is none in the standard's own), and descriptions are in the same language.

mod annotations;
mod json;
mod service;
pub(crate) mod visible;
mod xml;

pub use json::write_json;
pub use service::write_service_document;
pub use xml::write_xml;

use crate::model::{OperationType, PrimitiveType, PropertyType, Schema};
use crate::value::type_name;

/// A vocabulary: its address, namespace and alias.
const VOCABULARIES: [(&str, &str, &str); 4] = [
    (
        "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1",
        "Org.OData.Core.V1",
        "Core",
    ),
    (
        "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1",
        "Org.OData.Capabilities.V1",
        "Capabilities",
    ),
    (
        "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Validation.V1",
        "Org.OData.Validation.V1",
        "Validation",
    ),
    (
        "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Aggregation.V1",
        "Org.OData.Aggregation.V1",
        "Aggregation",
    ),
];

/// The vocabulary of currencies and units.
const MEASURES: (&str, &str, &str) = (
    "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Measures.V1",
    "Org.OData.Measures.V1",
    "Measures",
);

/// The vocabulary of labels.
const LABELS: (&str, &str, &str) = (
    "https://sap.github.io/odata-vocabularies/vocabularies/Common",
    "com.sap.vocabularies.Common.v1",
    "Common",
);

/// The vocabularies that a document uses.
fn vocabularies(
    schema: &dyn Schema,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let measures = annotations::has_measures(schema).then_some(&MEASURES);
    VOCABULARIES.iter().chain(measures).chain(schema.labels().map(|_| &LABELS))
}

/// A type with the facets of a use of it.
struct TypeUse {
    name: String,
    collection: bool,
    nullable: bool,
    /// Facets by their names in CSDL.
    facets: Vec<(&'static str, String)>,
}

fn property_type(schema: &dyn Schema, ty: PropertyType) -> String {
    type_name(schema.model(), ty)
}

fn operation_type(schema: &dyn Schema, ty: OperationType) -> TypeUse {
    match ty {
        OperationType::Value { ty, collection, nullable } => {
            let facets = facets(ty, None, None, None);
            TypeUse { name: property_type(schema, ty), collection, nullable, facets }
        }
        OperationType::Entity { entity_type, collection, nullable } => {
            let name = schema.model().qualified(&schema.model().entity_type(entity_type).name);
            TypeUse { name, collection, nullable, facets: Vec::new() }
        }
    }
}

/// The facets of a use of a type by their names in CSDL. Those that CSDL XML would read as whole
/// seconds or whole numbers if they were left out are always there.
fn facets(
    ty: PropertyType,
    max_length: Option<u32>,
    precision: Option<u32>,
    scale: Option<u32>,
) -> Vec<(&'static str, String)> {
    use PrimitiveType as Ty;
    const MICROSECONDS: u32 = 6;
    let mut facets = Vec::new();
    facets.extend(max_length.map(|length| ("MaxLength", length.to_string())));
    match ty {
        PropertyType::Primitive(Ty::DateTimeOffset | Ty::TimeOfDay | Ty::Duration) => {
            facets.push(("Precision", precision.unwrap_or(MICROSECONDS).to_string()));
        }
        PropertyType::Primitive(Ty::Decimal) => {
            facets.extend(precision.map(|precision| ("Precision", precision.to_string())));
            let scale = scale.map_or_else(|| "variable".to_owned(), |scale| scale.to_string());
            facets.push(("Scale", scale));
        }
        _ => {}
    }
    facets
}
