//! Makes records of the clientele.

use svc::prelude::*;
use time::Duration;

use super::clientele::{COUNTRIES, Country, email};
use super::random::Random;
use crate::customer;

/// What the history of orders must know of a customer.
pub(super) struct Buyer {
    pub(super) id: Uuid,
    pub(super) since: OffsetDateTime,
    /// How often it orders, compared with others.
    pub(super) loyalty: i32,
}

/// Stores the customers: three of four for longer than the `days` of the history, the others have
/// come since. Their numbers are in the order in which they came.
pub(super) async fn load(uow: &UnitOfWork, random: &mut Random, days: i32) -> Result<Vec<Buyer>> {
    let now = uow.context().clock().now();
    let mut came = Vec::new();
    for country in &COUNTRIES {
        for (name, city) in country.customers {
            let age = if random.chance(75) {
                random.between(days + 1, days + 1_500)
            } else {
                random.between(20, days)
            };
            came.push((now - Duration::days(age.into()), country, *name, *city));
        }
    }
    came.sort_by_key(|(since, ..)| *since);
    let records: Vec<_> = came
        .iter()
        .zip(10_001..)
        .map(|((since, country, name, city), number)| customer::ActiveModel {
            number: Set(format!("C-{number}")),
            name: Set((*name).to_owned()),
            city: Set((*city).to_owned()),
            created_at: Set(*since),
            updated_at: Set(*since),
            ..contact(random, country, name)
        })
        .collect();
    let customers = uow.insert_many(records).await?;
    let buyers = customers.into_iter().map(|customer| Buyer {
        id: customer.id,
        since: customer.created_at,
        loyalty: random.between(1, 6).pow(2),
    });
    Ok(buyers.collect())
}

fn contact(random: &mut Random, country: &Country, name: &str) -> customer::ActiveModel {
    let mailbox = if random.chance(60) { "office" } else { "purchasing" };
    let area = random.between(11, 89);
    let line = random.between(0, 99);
    let credit = [7_500, 10_000, 25_000, 50_000].get(random.weighted(&[4, 5, 3, 1, 3]));
    customer::ActiveModel {
        email: Set(Some(email(mailbox, name))),
        phone: Set(Some(format!("{} {area} 555 01{line:02}", country.dial))),
        country: Set(country.code.to_owned()),
        credit_limit: Set(credit.map(|euros| Decimal::from(*euros))),
        ..Default::default()
    }
}
