//! The stored records.

use sea_orm::{DeriveActiveEnum, EnumIter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the body of an event is written.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookFormat)]
pub(crate) enum Format {
    /// The envelope of Standard Webhooks: `id`, `type`, `time`, `tenant`, `data`.
    #[default]
    Standard = 0,
    /// A `CloudEvent` 1.0 in structured mode, `application/cloudevents+json`.
    CloudEvents = 1,
}

/// The status of a delivery, under the number that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
#[serde(rename_all = "camelCase")]
pub(crate) enum Status {
    /// Waits for its first attempt, or is being sent.
    Queued = 0,
    /// Waits for another attempt.
    Retrying = 1,
    /// Was answered with a 2xx status.
    Delivered = 2,
    /// Failed for good.
    Failed = 3,
    /// Was never queued: the endpoint was switched off, or its owner was gone. Only a recovery shows and queues it.
    Missed = 4,
    /// Waited, and is not sent any more because somebody said so.
    Cancelled = 5,
}

impl Status {
    /// The number, for texts of statements and for cells of rows.
    pub(crate) const fn code(self) -> i16 {
        self as i16
    }

    /// The name, as in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Retrying => "retrying",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Missed => "missed",
            Self::Cancelled => "cancelled",
        }
    }
}

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

/// Which queue of an endpoint a delivery waits in, under the number that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub(crate) enum Lane {
    /// Events: held while the endpoint is switched off.
    Ordinary = 0,
    /// Test events: sent in any case, and past the others.
    Test = 1,
    /// Events of which those of one entity follow each other.
    Ordered = 2,
    /// Many events that are sent again: after the others.
    Replay = 3,
}

impl Lane {
    /// The number, for texts of statements and for cells of rows.
    pub(crate) const fn code(self) -> i16 {
        self as i16
    }

    /// The queue of a delivery that repeats one of this lane, by itself.
    pub(crate) const fn of_redelivery(self) -> Self {
        match self {
            Self::Test => Self::Test,
            Self::Ordinary | Self::Ordered | Self::Replay => Self::Ordinary,
        }
    }

    /// The queue of a delivery that repeats one of this lane, as one of many.
    pub(crate) const fn of_replay(self) -> Self {
        match self {
            Self::Test => Self::Test,
            Self::Ordinary | Self::Ordered | Self::Replay => Self::Replay,
        }
    }
}

/// An endpoint as it is stored. It is no entity set: nothing but this module serves it.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) mod endpoint {
    use std::collections::BTreeMap;

    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    use super::Format;
    use crate::schedule::{self, Schedule};
    use crate::view::Detail;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "webhooks_endpoints")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        pub(crate) url: String,
        pub(crate) description: String,
        pub(crate) events: String,
        pub(crate) filter: Option<String>,
        pub(crate) format: Format,
        pub(crate) metadata: Option<String>,
        pub(crate) is_active: bool,
        pub(crate) includes_changes: bool,
        pub(crate) is_thin: bool,
        pub(crate) is_ordered: bool,
        pub(crate) is_polled: bool,
        pub(crate) max_per_second: Option<i32>,
        pub(crate) timeout_s: Option<i32>,
        pub(crate) expires_after_s: Option<i32>,
        pub(crate) retry_delays_s: Option<String>,
        pub(crate) headers: Option<String>,
        pub(crate) credentials: Option<String>,
        pub(crate) owner_id: Uuid,
        pub(crate) owner_name: String,
        pub(crate) owner_key_id: Option<Uuid>,
        pub(crate) owner_gone_at: Option<OffsetDateTime>,
        pub(crate) secret: String,
        pub(crate) key_pair: Option<String>,
        pub(crate) public_key: Option<String>,
        pub(crate) retired_keys: Option<String>,
        pub(crate) consecutive_failures: i32,
        pub(crate) last_error: Option<String>,
        pub(crate) disabled_at: Option<OffsetDateTime>,
        pub(crate) disabled_reason: Option<String>,
        pub(crate) version: i64,
        pub(crate) created_at: OffsetDateTime,
        pub(crate) updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        /// How much it is told.
        pub(crate) fn detail(&self) -> Detail {
            Detail {
                includes_changes: self.includes_changes,
                is_thin: self.is_thin,
                format: self.format,
            }
        }

        /// When its deliveries are tried, and for how long.
        pub(crate) fn schedule(&self) -> Schedule {
            Schedule {
                timeout_s: self.timeout_s,
                expires_after_s: self.expires_after_s,
                delays_s: self.retry_delays_s.as_deref().map(schedule::read),
            }
        }

        /// The values that people keep with it.
        pub(crate) fn metadata(&self) -> BTreeMap<String, String> {
            let read = self.metadata.as_deref().and_then(|json| serde_json::from_str(json).ok());
            read.unwrap_or_default()
        }

        /// The patterns that the endpoint listed.
        pub(crate) fn patterns(&self) -> Vec<String> {
            serde_json::from_str(&self.events).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::{ActiveEnum as _, Iterable as _};

    use super::*;

    #[test]
    fn the_stored_numbers_never_change() {
        let stored: Vec<(i16, &str)> =
            Status::iter().map(|status| (status.to_value(), status.as_str())).collect();
        let statuses = ["queued", "retrying", "delivered", "failed", "missed", "cancelled"];
        assert_eq!(stored, (0..).zip(statuses).collect::<Vec<_>>());
        assert!(Status::iter().all(|status| status.code() == status.to_value()));
        assert!(Status::try_from_value(&6).is_err());
        let lanes = [Lane::Ordinary, Lane::Test, Lane::Ordered, Lane::Replay];
        assert_eq!(lanes.map(Lane::code), [0, 1, 2, 3]);
        assert_eq!(Lane::iter().map(|lane| lane.to_value()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
