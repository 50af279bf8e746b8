//! The JSON of the bare handlers.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use time::OffsetDateTime;
use uuid::Uuid;

/// One product; its texts stay in the row.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Product<'r> {
    #[serde(rename = "@odata.context", skip_serializing_if = "Option::is_none")]
    pub(super) context: Option<String>,
    #[serde(rename = "@odata.etag")]
    pub(super) version: Tag,
    pub(super) id: Uuid,
    pub(super) sku: &'r str,
    pub(super) name: &'r str,
    pub(super) category_id: Uuid,
    #[serde(serialize_with = "number")]
    pub(super) price: f64,
    #[serde(serialize_with = "optional_number")]
    pub(super) cost_price: Option<f64>,
    pub(super) stock: i32,
    pub(super) region: Option<&'r str>,
    pub(super) discontinued: bool,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) created_at: OffsetDateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) category: Option<Category<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lines: Option<Vec<Line>>,
}

#[derive(Serialize)]
pub(super) struct Category<'r> {
    #[serde(rename = "@odata.etag")]
    pub(super) version: Tag,
    pub(super) id: Uuid,
    pub(super) name: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    #[serde(rename = "@odata.etag")]
    pub(super) version: Tag,
    pub(super) id: Uuid,
    pub(super) product_id: Uuid,
    pub(super) quantity: i32,
    #[serde(serialize_with = "number")]
    pub(super) price: f64,
}

/// A page.
pub(super) struct Page<'a, 'r> {
    pub(super) context: String,
    pub(super) value: &'a [Product<'r>],
}

impl Serialize for Page<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut page = serializer.serialize_struct("Page", 2)?;
        page.serialize_field("@odata.context", &self.context)?;
        page.serialize_field("value", self.value)?;
        page.end()
    }
}

/// A version as an entity tag.
#[derive(Clone, Copy)]
pub(super) struct Tag(pub(super) i64);

impl Serialize for Tag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("W/\"{}\"", self.0))
    }
}

/// A product to create.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewProduct {
    pub(super) sku: String,
    pub(super) name: String,
    pub(super) category_id: Uuid,
    pub(super) price: f64,
    pub(super) cost_price: Option<f64>,
    pub(super) stock: i32,
    pub(super) region: Option<String>,
    pub(super) discontinued: bool,
}

/// What the outbox is told of a new product, as ours tells it.
#[derive(Serialize)]
pub(super) struct Told<'a> {
    pub(super) actor: serde_json::Value,
    pub(super) body: ToldBody<'a>,
}

#[derive(Serialize)]
pub(super) struct ToldBody<'a> {
    pub(super) kind: &'a str,
    pub(super) set: &'a str,
    pub(super) key: Uuid,
    pub(super) after: &'a Product<'a>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
#[expect(clippy::cast_possible_truncation, reason = "prices are far below")]
fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn optional_number<S: Serializer>(
    optional: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match optional {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}
