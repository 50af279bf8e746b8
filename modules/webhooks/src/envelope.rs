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

/// An event as a `CloudEvent` 1.0 in structured mode (<https://cloudevents.io>); the properties are written
/// in this order.
#[derive(Debug, Clone, Serialize)]
pub struct CloudEvent<'a, T> {
    specversion: &'static str,
    id: Uuid,
    source: &'a str,
    #[serde(rename = "type")]
    event_type: &'a EventType,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(serialize_with = "serialize_time")]
    time: OffsetDateTime,
    datacontenttype: &'static str,
    /// An extension: the organisation that the event belongs to.
    tenant: Uuid,
    data: &'a T,
}

/// How the body of a `CloudEvent` begins, and no other.
const CLOUD_EVENT: &[u8] = b"{\"specversion\":";

/// What `content-type` says of a body, whenever it was made.
#[must_use]
pub fn content_type(body: &[u8]) -> &'static str {
    if body.starts_with(CLOUD_EVENT) {
        "application/cloudevents+json; charset=utf-8"
    } else {
        "application/json; charset=utf-8"
    }
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

impl<'a, T> Envelope<'a, T> {
    /// The same as a `CloudEvent`, of what application it is and which entity it tells of. It has no place
    /// for `changes`.
    #[must_use]
    pub fn to_cloud_event(&self, source: &'a str, subject: Option<String>) -> CloudEvent<'a, T> {
        CloudEvent {
            specversion: "1.0",
            id: self.id,
            source,
            event_type: self.event_type,
            subject,
            time: self.time,
            datacontenttype: "application/json",
            tenant: self.tenant,
            data: self.data,
        }
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
    fn a_cloud_event_tells_the_same_and_says_what_it_is() {
        let event_type = EventType::parse("products.created").unwrap();
        let envelope = Envelope {
            id: Uuid::from_u128(7),
            event_type: &event_type,
            time: datetime!(2026-01-02 03:04:05 UTC),
            tenant: Uuid::from_u128(8),
            data: &serde_json::json!({"name": "Bolt"}),
            changes: None,
        };
        let subject = Some("Products/1".to_owned());
        let cloud = envelope.to_cloud_event("https://shop.example/", subject);
        let body = serde_json::to_vec(&cloud).unwrap();
        assert_eq!(
            String::from_utf8(body.clone()).unwrap(),
            r#"{"specversion":"1.0","id":"00000000-0000-0000-0000-000000000007","source":"https://shop.example/","type":"products.created","subject":"Products/1","time":"2026-01-02T03:04:05.000000+00:00","datacontenttype":"application/json","tenant":"00000000-0000-0000-0000-000000000008","data":{"name":"Bolt"}}"#
        );
        assert_eq!(content_type(&body), "application/cloudevents+json; charset=utf-8");
        let standard = envelope.to_bytes().unwrap();
        assert_eq!(content_type(&standard), "application/json; charset=utf-8");
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
