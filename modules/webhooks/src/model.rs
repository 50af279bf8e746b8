//! The stored records.

pub(crate) mod backfill;
pub(crate) mod delivery;
pub(crate) mod endpoint;

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

/// How much of a record an endpoint is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Detail {
    /// What an update changed, beside the record.
    pub(crate) includes_changes: bool,
    /// The record's key and address alone.
    pub(crate) is_thin: bool,
    /// How its bodies are written.
    pub(crate) format: Format,
}

impl Detail {
    /// Whether values from before an update are told.
    pub(crate) fn tells_what_was(self) -> bool {
        self.includes_changes && !self.is_thin
    }

    /// Whatever serves both.
    pub(crate) fn join(&mut self, other: Self) {
        let tells = self.tells_what_was() || other.tells_what_was();
        *self = Self { includes_changes: tells, is_thin: false, ..*self };
    }
}

/// Where a delivery stands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, Deserialize, ToSchema,
)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDeliveryStatus)]
pub(crate) enum Status {
    /// Waits for its first attempt, or is being sent.
    Queued = 0,
    /// Waits for another attempt.
    Retrying = 1,
    /// Was answered with a 2xx status.
    Delivered = 2,
    /// Failed for good.
    Failed = 3,
    /// Was never queued: the endpoint was switched off, or its owner was gone. Nobody is shown it, and only a
    /// recovery queues it.
    #[serde(skip)]
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
