//! An endpoint as it is stored. It is no entity set: nothing but this module serves it.
#![expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]

use std::collections::BTreeMap;

use sea_orm::entity::prelude::*;
use time::OffsetDateTime;

use super::{Detail, Format};
use crate::schedule::{self, Schedule};

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
    pub(crate) receiver_id: Option<Uuid>,
    pub(crate) receiver_key_id: Option<Uuid>,
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
    pub(crate) cancelled_to: Option<Uuid>,
    pub(crate) cancelled_us: Option<i64>,
    pub(crate) cancelled_by: Option<String>,
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
