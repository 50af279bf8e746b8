//! What the routes share.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A role, an organisation or a person in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityReference)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reference {
    /// Its id.
    pub(crate) id: Uuid,
    /// Its name.
    pub(crate) name: String,
}

/// Reads a field that may be left out but not be null.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// The header that says where a new record is.
pub(crate) fn location(kind: &str, id: Uuid) -> [(http::HeaderName, String); 1] {
    [(http::header::LOCATION, format!("/api/v1/identity/{kind}/{id}"))]
}
