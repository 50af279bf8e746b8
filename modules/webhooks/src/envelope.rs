//! The body of every POST: the event's envelope, serialised once and kept as bytes.
//!
//! Retries and redeliveries send the very same bytes, so nothing is read back and written anew.

use bytes::Bytes;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};
use uuid::Uuid;

use crate::subscription::EventType;

/// ISO 8601 in UTC with exactly six digits after the second, so that texts sort as times do.
const TIME_FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]+00:00");

/// What a receiver gets; the properties are written in this order.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<'a, T> {
    /// The event's id, the same for every retry and redelivery.
    pub id: Uuid,
    /// The event's type.
    #[serde(rename = "type")]
    pub event_type: &'a EventType,
    /// When the change was committed; digits below a microsecond are cut.
    #[serde(serialize_with = "serialize_time")]
    pub time: OffsetDateTime,
    /// The organisation that the event belongs to.
    pub tenant: Uuid,
    /// The event's data; raw JSON passes through unchanged.
    pub data: &'a T,
    /// What an update changed, for endpoints that ask for it; otherwise it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<&'a Changes>,
}

/// What an update changed, as far as the endpoint's owner may see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// The names of the properties.
    pub properties: Vec<String>,
    /// Their values before; absent when the owner could not see the record then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Map<String, Value>>,
}

impl<T: Serialize> Envelope<'_, T> {
    /// Builds the body.
    ///
    /// # Errors
    ///
    /// When the data's own serialisation fails.
    pub fn to_bytes(&self) -> Result<Bytes, serde_json::Error> {
        serde_json::to_vec(self).map(Bytes::from)
    }
}

fn serialize_time<S: Serializer>(time: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    let text = time.to_offset(UtcOffset::UTC).format(TIME_FORMAT).map_err(S::Error::custom)?;
    serializer.serialize_str(&text)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use time::macros::datetime;

    use super::*;

    fn body(time: OffsetDateTime, data: &impl Serialize) -> String {
        let event_type = EventType::parse("products.created").unwrap();
        let envelope = Envelope {
            id: Uuid::from_u128(0x0193_4a1c_7a3e_7def_8123_4567_89ab_cdef),
            event_type: &event_type,
            time,
            tenant: Uuid::from_u128(7),
            data,
            changes: None,
        };
        String::from_utf8(envelope.to_bytes().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn properties_stand_in_the_order_of_the_specification() {
        let time = datetime!(2026-11-20 18:21:03.123456789 +02:00);
        assert_eq!(
            body(time, &serde_json::json!({"name": "Bolt", "id": 1})),
            r#"{"id":"01934a1c-7a3e-7def-8123-456789abcdef","type":"products.created","time":"2026-11-20T16:21:03.123456+00:00","tenant":"00000000-0000-0000-0000-000000000007","data":{"name":"Bolt","id":1}}"#
        );
    }

    #[test]
    fn whole_seconds_keep_their_six_digits() {
        assert!(
            body(datetime!(2026-01-02 03:04:05 UTC), &())
                .contains("\"2026-01-02T03:04:05.000000+00:00\"")
        );
    }

    #[test]
    fn raw_json_passes_through_byte_for_byte() {
        let raw: Box<RawValue> = serde_json::from_str(r#"{"b": 1.10,  "a":"\u00e4"}"#).unwrap();
        assert!(
            body(datetime!(2026-01-02 03:04:05 UTC), &raw)
                .ends_with(r#""data":{"b": 1.10,  "a":"\u00e4"}}"#)
        );
    }
}
