//! The JSON Schema of a type, for those who know nothing of the OpenAPI document around it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::ToSchema;

/// The start of a reference to a schema that stands in an OpenAPI document.
const COMPONENT: &str = "#/components/schemas/";

/// The JSON Schema of a type, whole in itself: other types that it is made of stand where they are
/// used. A type that contains itself says so with `#[schema(no_recursion)]`, and is left open the
/// second time.
///
/// ```
/// #[derive(utoipa::ToSchema)]
/// struct StockLow {
///     /// The product's number.
///     sku: String,
/// }
///
/// let schema = svc_http::schema_of::<StockLow>();
/// assert_eq!(schema["required"], serde_json::json!(["sku"]));
/// ```
#[must_use]
pub fn schema_of<T: ToSchema>() -> Value {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let json = |schema| serde_json::to_value(schema).unwrap_or_else(|_| json!({}));
    let parts = parts.into_iter().map(|(name, schema)| (name, json(schema))).collect();
    whole(json(T::schema()), &parts, &mut vec![T::name().into_owned()])
}

/// Puts schemas in the place of references to them; `open` names those around this place.
fn whole(schema: Value, parts: &BTreeMap<String, Value>, open: &mut Vec<String>) -> Value {
    let reference = schema["$ref"].as_str().and_then(|text| text.strip_prefix(COMPONENT));
    if let Some(name) = reference {
        let name = name.to_owned();
        let Some(part) = parts.get(&name).filter(|_| !open.contains(&name)) else {
            return json!({"title": name});
        };
        open.push(name);
        let part = whole(part.clone(), parts, open);
        open.pop();
        return part;
    }
    match schema {
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, whole(value, parts, open))).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| whole(item, parts, open)).collect(),
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Branch {
        leaf: Leaf,
        #[schema(no_recursion)]
        branches: Vec<Branch>,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Leaf {
        colour: String,
    }

    #[test]
    fn a_schema_is_whole_in_itself() {
        let schema = schema_of::<Branch>();
        assert_eq!(schema["properties"]["leaf"]["properties"]["colour"]["type"], "string");
        assert_eq!(schema["properties"]["branches"]["items"], json!({"title": "Branch"}));
        assert!(!schema.to_string().contains("$ref"), "{schema}");
    }
}
