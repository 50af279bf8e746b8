//! What the fan-out hands over in memory, as long as its deliveries have no rows of their own.
//!
//! One row for the deliveries of one unit of work, instead of a row for each that is changed a
//! moment later. Whoever stores something in the place of it holds it meanwhile, so a delivery is
//! either told of by the row of its hand-over or has one of its own, and never both.

use std::collections::{HashMap, HashSet};

use sea_orm::Value;
use serde::{Deserialize, Serialize};
use svc_core::{Error, OrganisationId, Result};
use svc_data::UnitOfWork;
use svc_database::{Backend, Database, column};
use uuid::Uuid;

use super::claim::{Claim, Claimed};
use super::insert::{self, NewDelivery};
use super::{ids, is_one_of, read_all};
use crate::model::{Lane, Status};

/// The deliveries of a hand-over, as its row tells of them. All are queued, and have no order.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    endpoints: Vec<Uuid>,
    messages: Vec<Handed>,
}

/// A message with its deliveries.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Handed {
    id: Uuid,
    organisation: Uuid,
    /// The place of the endpoint in [`Content::endpoints`], and the delivery.
    to: Vec<(usize, Uuid)>,
}

impl Content {
    fn new<'a>(deliveries: impl IntoIterator<Item = &'a NewDelivery>) -> Self {
        let mut content = Self::default();
        let mut places = HashMap::new();
        for delivery in deliveries {
            let place = *places.entry(delivery.endpoint).or_insert_with(|| {
                content.endpoints.push(delivery.endpoint);
                content.endpoints.len() - 1
            });
            // Those of one message follow each other.
            let is_next = content.messages.last().is_none_or(|last| last.id != delivery.message);
            if is_next {
                let (id, organisation) = (delivery.message, delivery.organisation.0);
                content.messages.push(Handed { id, organisation, to: Vec::new() });
            }
            content
                .messages
                .last_mut()
                .into_iter()
                .for_each(|last| last.to.push((place, delivery.id)));
        }
        content
    }

    fn deliveries(&self) -> impl Iterator<Item = NewDelivery> {
        self.messages.iter().flat_map(|message| {
            message.to.iter().filter_map(|(place, id)| {
                Some(NewDelivery {
                    id: *id,
                    organisation: OrganisationId(message.organisation),
                    endpoint: *self.endpoints.get(*place)?,
                    message: message.id,
                    status: Status::Queued,
                    lane: Lane::Ordinary,
                    redelivery_of: None,
                    order: None,
                })
            })
        })
    }
}

/// Stores a hand-over in the unit of work that makes its deliveries.
pub(crate) async fn store<'a>(
    uow: &UnitOfWork,
    claim: Claim,
    deliveries: impl ExactSizeIterator<Item = &'a NewDelivery>,
) -> Result<()> {
    let count = i32::try_from(deliveries.len()).unwrap_or(i32::MAX);
    let content = serde_json::to_string(&Content::new(deliveries)).map_err(|error| {
        Error::internal("a hand-over can't be written as JSON").caused_by(error)
    })?;
    let sql =
        "INSERT INTO webhooks_hand_overs (id, until_us, count, deliveries) VALUES (?, ?, ?, ?)";
    let values: [Value; 4] =
        [claim.token.into(), claim.until_us.into(), count.into(), content.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// What is there, and stays so until the unit of work ends.
pub(crate) struct Held {
    /// Hand-overs.
    pub(crate) hand_overs: HashSet<Uuid>,
    /// Endpoints, with the failures that are counted of each.
    pub(crate) endpoints: HashMap<Uuid, i32>,
}

impl Held {
    /// Whether a delivery may get its row: its hand-over is still this node's, and its endpoint there.
    pub(crate) fn has(&self, claimed: &Claimed) -> bool {
        self.hand_overs.contains(&claimed.claim.token)
            && self.endpoints.contains_key(&claimed.endpoint)
    }
}

/// Holds hand-overs and endpoints, as far as they are there.
pub(crate) async fn hold(
    uow: &UnitOfWork,
    hand_overs: impl IntoIterator<Item = Uuid>,
    endpoints: impl IntoIterator<Item = Uuid>,
) -> Result<Held> {
    let database = uow.context().database();
    let (materialized, lock) = match database.backend() {
        Backend::Postgres => ("MATERIALIZED ", " FOR KEY SHARE"),
        Backend::Sqlite => ("", ""),
    };
    let is_listed = is_one_of(database.backend(), "id");
    // Endpoints first, as whoever deletes one does.
    let sql = format!(
        "WITH e AS {materialized}(SELECT id, consecutive_failures FROM webhooks_endpoints \
         WHERE {is_listed} ORDER BY id{lock}), \
         h AS {materialized}(SELECT id FROM webhooks_hand_overs WHERE {is_listed}{lock}) \
         SELECT id, consecutive_failures FROM e UNION ALL SELECT id, -1 FROM h"
    );
    let values = [ids(endpoints), ids(hand_overs)];
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let mut held = Held { hand_overs: HashSet::new(), endpoints: HashMap::new() };
    for (id, failures) in
        read_all(&rows, |row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))?
    {
        if failures < 0 {
            held.hand_overs.insert(id);
        } else {
            held.endpoints.insert(id, failures);
        }
    }
    Ok(held)
}

/// Removes hand-overs of which every delivery has a row.
pub(crate) async fn remove(uow: &UnitOfWork, closed: impl IntoIterator<Item = Uuid>) -> Result<()> {
    let database = uow.context().database();
    let is_listed = is_one_of(database.backend(), "id");
    let sql = format!("DELETE FROM webhooks_hand_overs WHERE {is_listed}");
    uow.execute(database.statement(&sql, [ids(closed)])).await.map(drop)
}

/// Hand-overs whose end has come by `now_us`: whoever held them is gone.
pub(crate) async fn abandoned(database: &Database, now_us: i64) -> Result<Vec<Uuid>> {
    let sql = "SELECT id FROM webhooks_hand_overs WHERE until_us <= ? AND until_us < ? \
               ORDER BY until_us";
    let rows = database.rows(database.statement(sql, [now_us.into(), i64::MAX.into()])).await?;
    read_all(&rows, |row| row.try_get_by_index(0))
}

/// Queues what an abandoned hand-over tells of and has no row, in its place.
pub(crate) async fn queue(uow: &UnitOfWork, hand_over: Uuid) -> Result<()> {
    let database = uow.context().database();
    // One that can't be read is set aside, or it would stop whoever finds it again and again.
    let sql = "UPDATE webhooks_hand_overs SET until_us = ? WHERE id = ? RETURNING deliveries";
    let rows = uow.rows(database.statement(sql, [i64::MAX.into(), hand_over.into()])).await?;
    // Another node may have been faster.
    let Some(row) = rows.first() else { return Ok(()) };
    let content: String = column(row, 0)?;
    let content: Content = match serde_json::from_str(&content) {
        Ok(content) => content,
        Err(error) => {
            tracing::error!(%hand_over, %error, "a hand-over can't be read, and is set aside");
            return Ok(());
        }
    };
    remove(uow, [hand_over]).await?;
    let held = hold(uow, [], content.endpoints.iter().copied()).await?;
    let mut left: Vec<NewDelivery> = content
        .deliveries()
        .filter(|delivery| held.endpoints.contains_key(&delivery.endpoint))
        .collect();
    let sql =
        format!("SELECT id FROM webhooks_deliveries WHERE {}", is_one_of(database.backend(), "id"));
    let wanted = ids(left.iter().map(|delivery| delivery.id));
    let rows = uow.rows(database.statement(&sql, [wanted])).await?;
    let stored: Vec<Uuid> = read_all(&rows, |row| row.try_get_by_index(0))?;
    let stored: HashSet<Uuid> = stored.into_iter().collect();
    left.retain(|delivery| !stored.contains(&delivery.id));
    insert::deliveries(uow, &left).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_over_tells_of_all_its_deliveries() {
        let delivery = |id: u128, message: u128, endpoint: u128| NewDelivery {
            id: Uuid::from_u128(id),
            organisation: OrganisationId(Uuid::from_u128(message / 10)),
            endpoint: Uuid::from_u128(endpoint),
            message: Uuid::from_u128(message),
            status: Status::Queued,
            lane: Lane::Ordinary,
            redelivery_of: None,
            order: None,
        };
        let all = [delivery(1, 11, 7), delivery(2, 11, 8), delivery(3, 12, 8), delivery(4, 21, 7)];
        let text = serde_json::to_string(&Content::new(&all)).unwrap();
        let read: Content = serde_json::from_str(&text).unwrap();
        assert_eq!((read.endpoints.len(), read.messages.len()), (2, 3), "nothing is told twice");
        let shape = |one: &NewDelivery| (one.id, one.organisation, one.message, one.endpoint);
        let read: Vec<_> = read.deliveries().map(|one| shape(&one)).collect();
        assert_eq!(read, all.iter().map(shape).collect::<Vec<_>>());
    }
}
