//! Which endpoints want an event, and who they are for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use sea_orm::{DbErr, QueryResult, Value};
use svc_core::{OrganisationId, Result, UserId, micros};
use svc_data::UnitOfWork;
use svc_database::database_error;
use svc_events::Message;
use time::OffsetDateTime;
use uuid::Uuid;

use super::insert::AT_ONCE;
use crate::filter::Filter;
use crate::model::Detail;
use crate::owner::Owner;
use crate::subscription::EventType;

/// An endpoint that listed a pattern.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own of the endpoint")]
pub(crate) struct Subscriber {
    pub(crate) endpoint: Uuid,
    pub(crate) owner: Owner,
    pub(crate) is_active: bool,
    /// Whether it is noted that its owner is gone.
    pub(crate) is_known_gone: bool,
    /// When it was registered: what was committed before is none of its business.
    pub(crate) created_us: i64,
    pub(crate) detail: Detail,
    /// Which events it wants of those that it lists.
    pub(crate) filter: Option<Arc<Filter>>,
    pub(crate) is_ordered: bool,
    /// Whether nothing of it is handed over: it has a pace, or its receiver fetches.
    pub(crate) has_pace: bool,
    pub(crate) version: i64,
}

/// Who gets a view of an event: endpoints with one owner and the same wishes get the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Audience {
    pub(crate) owner: Owner,
    pub(crate) detail: Detail,
}

/// The endpoints that want an event, by who they are for.
pub(crate) type Audiences = BTreeMap<Audience, Vec<Subscriber>>;

/// How many endpoints these are.
pub(crate) fn count(audiences: &Audiences) -> usize {
    audiences.values().map(Vec::len).sum()
}

/// Where a walk along the endpoints of all organisations is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) organisation: Uuid,
    pub(crate) endpoint: Uuid,
}

impl Place {
    /// Before the first.
    pub(crate) const START: Self = Self { organisation: Uuid::nil(), endpoint: Uuid::nil() };
}

const SELECT: &str = "SELECT s.pattern, e.id, e.organisation_id, e.owner_id, e.owner_key_id, \
    e.is_active, e.owner_gone_at, e.created_at, e.includes_changes, e.is_ordered, \
    e.max_per_second, e.version, e.is_thin, e.format, e.filter, e.is_polled \
    FROM webhooks_subscriptions s JOIN webhooks_endpoints e \
    ON e.id = s.endpoint_id";

/// Reads rows of [`SELECT`].
async fn rows(
    uow: &UnitOfWork,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<(String, Subscriber)>> {
    let rows = uow.rows(uow.context().database().statement(sql, values)).await?;
    let mut filters = Filters::default();
    let mut read = |row: &QueryResult| {
        let gone_at: Option<OffsetDateTime> = row.try_get_by_index(6)?;
        let max_per_second: Option<i32> = row.try_get_by_index(10)?;
        let subscriber = Subscriber {
            endpoint: row.try_get_by_index(1)?,
            owner: Owner {
                organisation: OrganisationId(row.try_get_by_index(2)?),
                user: UserId(row.try_get_by_index(3)?),
                key: row.try_get_by_index(4)?,
            },
            is_active: row.try_get_by_index(5)?,
            is_known_gone: gone_at.is_some(),
            created_us: micros::of_time(row.try_get_by_index(7)?),
            detail: Detail {
                includes_changes: row.try_get_by_index(8)?,
                is_thin: row.try_get_by_index(12)?,
                format: row.try_get_by_index(13)?,
            },
            filter: filters.read(row.try_get_by_index(14)?),
            is_ordered: row.try_get_by_index(9)?,
            has_pace: max_per_second.is_some() || row.try_get_by_index(15)?,
            version: row.try_get_by_index(11)?,
        };
        Ok((row.try_get_by_index::<String>(0)?, subscriber))
    };
    rows.iter().map(&mut read).collect::<Result<_, DbErr>>().map_err(database_error)
}

/// Filters that were read, each once.
#[derive(Default)]
struct Filters(HashMap<String, Arc<Filter>>);

impl Filters {
    fn read(&mut self, text: Option<String>) -> Option<Arc<Filter>> {
        let text = text?;
        if let Some(known) = self.0.get(&text) {
            return Some(Arc::clone(known));
        }
        let filter = Arc::new(Filter::read(&text));
        self.0.insert(text, Arc::clone(&filter));
        Some(filter)
    }
}

/// The endpoints by the patterns that they listed.
pub(crate) struct Subscribers(HashMap<String, Vec<Subscriber>>);

impl Subscribers {
    /// Finds the endpoints for all events of a batch with one statement; none when there are more
    /// than one unit of work tells.
    pub(crate) async fn find(
        uow: &UnitOfWork,
        events: &[(EventType, &Message)],
    ) -> Result<Option<Self>> {
        let patterns: HashSet<String> =
            events.iter().flat_map(|(event_type, _)| event_type.patterns()).collect();
        if patterns.is_empty() {
            return Ok(Some(Self(HashMap::new())));
        }
        let marks = vec!["?"; patterns.len().next_power_of_two()].join(", ");
        let padding = patterns.len().next_power_of_two() - patterns.len();
        let mut values: Vec<Value> = patterns.into_iter().map(Value::from).collect();
        values.extend(std::iter::repeat_n(Value::from(""), padding));
        let mut sql = format!("{SELECT} WHERE s.pattern IN ({marks})");
        // A record that belongs to all organisations is told to all of them.
        if let Some(organisation) = uow.context().principal().organisation() {
            sql.push_str(" AND s.organisation_id = ?");
            values.push(organisation.0.into());
        }
        let _ = write!(sql, " LIMIT {}", AT_ONCE + 1);
        let found = rows(uow, &sql, values).await?;
        Ok((found.len() <= AT_ONCE).then(|| Self::of_rows(found)))
    }

    /// Finds the next endpoints for one event behind a place, in the order of places; and where to go
    /// on: none at the end.
    pub(crate) async fn behind(
        uow: &UnitOfWork,
        event_type: &EventType,
        place: Place,
        limit: usize,
    ) -> Result<(Self, Option<Place>)> {
        let Place { organisation, endpoint } = place;
        let (condition, own) = match uow.context().principal().organisation() {
            Some(own) => ("s.organisation_id = ? AND s.endpoint_id > ?", own.0),
            None => ("(s.organisation_id, s.endpoint_id) > (?, ?)", organisation),
        };
        let mut parts = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        // Each pattern by itself walks along the index from the place on.
        for (index, pattern) in event_type.patterns().into_iter().enumerate() {
            parts.push(format!(
                "SELECT * FROM ({SELECT} WHERE s.pattern = ? AND {condition} \
                 ORDER BY s.organisation_id, s.endpoint_id LIMIT {limit}) AS part_{index}"
            ));
            values.extend([pattern.into(), own.into(), endpoint.into()]);
        }
        let mut found = rows(uow, &parts.join(" UNION ALL "), values).await?;
        let place = |(_, one): &(String, Subscriber)| Place {
            organisation: one.owner.organisation.0,
            endpoint: one.endpoint,
        };
        let mut places: Vec<Place> = found.iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        let last = places.get(limit.saturating_sub(1)).copied();
        if let Some(last) = last {
            found.retain(|one| place(one) <= last);
        }
        Ok((Self::of_rows(found), last))
    }

    fn of_rows(found: Vec<(String, Subscriber)>) -> Self {
        let mut by_pattern: HashMap<String, Vec<Subscriber>> = HashMap::new();
        for (pattern, subscriber) in found {
            by_pattern.entry(pattern).or_default().push(subscriber);
        }
        Self(by_pattern)
    }

    /// Whether one of them wants the events of an entity in their order.
    pub(crate) fn has_ordered(&self) -> bool {
        self.0.values().flatten().any(|subscriber| subscriber.is_ordered)
    }

    /// The endpoints that want the events of a batch, by the event's type.
    pub(crate) fn by_type(
        &self,
        events: &[(EventType, &Message)],
    ) -> HashMap<EventType, Audiences> {
        let types: HashSet<&EventType> = events.iter().map(|(event_type, _)| event_type).collect();
        types.into_iter().map(|event_type| (event_type.clone(), self.of(event_type))).collect()
    }

    /// The endpoints that want an event, each once, by who they are for.
    fn of(&self, event_type: &EventType) -> Audiences {
        let mut seen = HashSet::new();
        let mut audiences = Audiences::new();
        for pattern in event_type.patterns() {
            for subscriber in self.0.get(&pattern).into_iter().flatten() {
                if seen.insert(subscriber.endpoint) {
                    let audience = Audience { owner: subscriber.owner, detail: subscriber.detail };
                    audiences.entry(audience).or_default().push(subscriber.clone());
                }
            }
        }
        audiences
    }
}
