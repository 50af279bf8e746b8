//! The query options and headers that requests take, and the headers of answers.

use serde_json::{Map, Value, json};
use svc_odata::model::EntitySet;

fn option(name: &str, schema: &Value, description: &str) -> Value {
    json!({
        "name": name, "in": "query", "required": false,
        "description": description, "schema": schema,
    })
}

fn header(name: &str, description: &str) -> Value {
    json!({
        "name": name, "in": "header", "required": false,
        "description": description, "schema": {"type": "string"},
    })
}

/// `$format`, one of these.
pub(super) fn format(names: &[&str]) -> Value {
    option("$format", &json!({"type": "string", "enum": names}), "The form of the answer.")
}

/// The options that a list takes, as far as the set can do them.
pub(super) fn of_list(set: &EntitySet) -> Vec<Value> {
    let can = &set.capabilities;
    let text = json!({"type": "string"});
    let whole = json!({"type": "integer", "minimum": 0});
    let options = [
        (can.filterable, filter()),
        (can.sortable, option("$orderby", &text, "How they are sorted, such as `name desc`.")),
        (can.selectable, select()),
        (can.expandable, expand()),
        (can.computable, compute()),
        (
            can.aggregatable,
            option(
                "$apply",
                &text,
                "What to make of them, such as `groupby((region),aggregate($count as n))`.",
            ),
        ),
        (can.top, option("$top", &whole, "How many to return at most.")),
        (can.skip, option("$skip", &whole, "How many to leave out first.")),
        (
            can.countable,
            option(
                "$count",
                &json!({"type": "boolean"}),
                "Whether to say how many there are in all.",
            ),
        ),
        (
            true,
            option(
                "$skiptoken",
                &text,
                "Where the page before ended; `@odata.nextLink` carries it.",
            ),
        ),
        (can.searchable, search()),
        (true, header("Prefer", "`odata.maxpagesize=50` for smaller pages.")),
    ];
    options.into_iter().filter(|(can, _)| *can).map(|(_, option)| option).collect()
}

/// The options that a count takes.
pub(super) fn of_count(set: &EntitySet) -> Vec<Value> {
    let options =
        [(set.capabilities.filterable, filter()), (set.capabilities.searchable, search())];
    options.into_iter().filter(|(can, _)| *can).map(|(_, option)| option).collect()
}

/// The options and headers that reading one entity takes.
pub(super) fn of_entity(set: &EntitySet) -> Vec<Value> {
    let can = &set.capabilities;
    let options = [
        (can.selectable, select()),
        (can.expandable, expand()),
        (can.computable, compute()),
        (true, header("If-None-Match", "The `@odata.etag` of the version that is known already.")),
    ];
    options.into_iter().filter(|(can, _)| *can).map(|(_, option)| option).collect()
}

fn filter() -> Value {
    let description = "What the entities must hold, such as `price gt 5 and sku ne 'A'`.";
    option("$filter", &json!({"type": "string"}), description)
}

fn search() -> Value {
    let description = "Words that must stand in them, with `AND`, `OR` and `NOT`.";
    option("$search", &json!({"type": "string"}), description)
}

fn select() -> Value {
    option("$select", &json!({"type": "string"}), "The properties to return.")
}

fn expand() -> Value {
    let description = "The related entities to return with each, with options in parentheses.";
    option("$expand", &json!({"type": "string"}), description)
}

fn compute() -> Value {
    let description = "Values to compute for each, such as `price mul 2 as double`.";
    option("$compute", &json!({"type": "string"}), description)
}

/// The header that names the version to change.
pub(super) fn if_match() -> Value {
    header("If-Match", "The `@odata.etag` of the version that the change is meant for.")
}

/// The header that says whether a change answers with the entity.
pub(super) fn prefer_return() -> Value {
    header("Prefer", "`return=minimal` for an answer without the entity.")
}

/// The answer without the entity.
pub(super) fn minimal(done: &str) -> Value {
    let text =
        format!("{done}; with `Prefer: return=minimal`, or when the caller may not read it.");
    json!({"description": text})
}

/// The headers of an answer with an entity.
pub(super) fn answered(created: bool) -> Value {
    let text =
        |description: &str| json!({"description": description, "schema": {"type": "string"}});
    let mut headers = Map::new();
    headers.insert("ETag".into(), text("The version, for `If-Match`."));
    if created {
        headers.insert("Location".into(), text("Where it is."));
    }
    Value::Object(headers)
}
