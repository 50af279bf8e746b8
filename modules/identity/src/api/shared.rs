//! What the routes share.

use serde::Serialize;
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

/// The header that says where a new record is.
pub(crate) fn location(kind: &str, id: Uuid) -> [(http::HeaderName, String); 1] {
    [(http::header::LOCATION, format!("/api/v1/identity/{kind}/{id}"))]
}
