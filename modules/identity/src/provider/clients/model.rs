//! The stored record of a client.

use sea_orm::entity::prelude::*;
use time::OffsetDateTime;

#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "identity_clients")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organisation_id: Uuid,
    pub name: String,
    pub secret_hash: Option<Vec<u8>>,
    pub redirect_uris: String,
    pub signed_out_uris: String,
    pub origins: String,
    pub logout_uri: Option<String>,
    pub user_id: Option<Uuid>,
    pub version: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
}

impl ActiveModelBehavior for ActiveModel {}
