//! Sets of which all records are told to an endpoint.

use sea_orm::{DeriveActiveEnum, EnumIter};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

/// Whether all records of a set are being told, under the number that is stored.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, Deserialize, ToSchema,
)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookBackfillState)]
pub(crate) enum BackfillState {
    /// More records are told.
    UnderWay = 0,
    /// All were told.
    Finished = 1,
    /// No more are, because somebody said so.
    Cancelled = 2,
    /// No more can be.
    Failed = 3,
}

/// All records of a set, told to an endpoint.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookBackfill)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Backfill {
    /// Its id.
    pub(crate) id: Uuid,
    /// The endpoint.
    #[serde(skip)]
    pub(crate) endpoint: Uuid,
    /// The name of the set.
    pub(crate) set: String,
    /// Whether it is under way, or how it ended.
    pub(crate) state: BackfillState,
    /// The key of the last record that was looked at, as JSON text; none at the beginning.
    #[serde(skip)]
    pub(crate) after: Option<String>,
    /// Records that were looked at.
    pub(crate) records: i64,
    /// Deliveries that were made of them: as many, unless the endpoint has a filter.
    pub(crate) queued: i64,
    /// Records that there were at the beginning, as far as the endpoint's owner sees them; none until they
    /// are counted.
    pub(crate) total: Option<i64>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// When it was begun.
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) started_at: OffsetDateTime,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    pub(crate) ended_at: Option<OffsetDateTime>,
}
