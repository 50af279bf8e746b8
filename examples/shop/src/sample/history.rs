//! Makes a year and a half of orders: fewer in summer and none on weekends, salt in winter and
//! parasols before it gets hot, and a business that grows.

use svc::prelude::*;
use svc::workflows::{TakenOver, WorkflowEngine};
use time::{Date, Duration, Month, Weekday};

use super::customers::Buyer;
use super::goods::Good;
use super::random::Random;
use crate::{fulfilment, order, order_line, order_number};

/// How many orders there are.
const ORDERS: usize = 840;

/// How busy each month is, in percent of the busiest.
const MONTHS: [i32; 12] = [62, 66, 80, 94, 98, 90, 72, 58, 86, 94, 100, 68];

struct Line {
    position: i32,
    good: usize,
    quantity: i32,
}

/// Stores orders of the last `days`, and their lines.
pub(super) async fn load(
    uow: &UnitOfWork,
    random: &mut Random,
    days: i32,
    goods: &[Good],
    buyers: &[Buyer],
) -> Result<()> {
    let now = uow.context().clock().now();
    let times = times(random, now, days);
    let mut number = order_number::reserve(uow, i64::try_from(times.len()).unwrap_or(0)).await?;
    let mut orders = Vec::with_capacity(times.len());
    let mut lines = Vec::with_capacity(times.len());
    for ordered_at in times {
        let own = pick_lines(random, goods, u8::from(ordered_at.month()));
        let total = own.iter().map(|line| line.quantity * goods[line.good].cents).sum::<i32>();
        orders.push(order::ActiveModel {
            number: Set(order_number::text(number)),
            customer_id: Set(pick_buyer(random, buyers, ordered_at).id),
            reference: Set(random
                .chance(30)
                .then(|| format!("PO {}", random.between(1_000, 9_999)))),
            total: Set(Decimal::new(total.into(), 2)),
            currency: Set(order::CURRENCY.to_owned()),
            ..progress(random, ordered_at, now)
        });
        lines.push(own);
        number += 1;
    }
    let orders = uow.insert_many(orders).await?;
    let lines = orders.iter().zip(&lines).flat_map(|(order, lines)| {
        lines.iter().map(|line| line_record(order, line, &goods[line.good]))
    });
    uow.insert_many(lines.collect::<Vec<_>>()).await?;
    go_their_way(uow, &orders).await
}

/// Brings orders to where they stand: of those that wait each a step further than the one before, and what has left or was cancelled to its end.
async fn go_their_way(uow: &UnitOfWork, orders: &[order::Model]) -> Result<()> {
    let now = uow.context().clock().now();
    let engine = uow.context().app().service::<WorkflowEngine>()?;
    let past = orders.iter().filter_map(|order| {
        let since = order.shipped_at.unwrap_or(order.updated_at);
        let is_closed = now - since > Duration::days(fulfilment::CLOSED_AFTER.into());
        let state = match order.status {
            order::Status::Placed => return None,
            order::Status::Cancelled => "cancelled",
            order::Status::Shipped if is_closed => "closed",
            order::Status::Shipped => "shipped",
        };
        Some(TakenOver { id: order.id, state: state.to_owned(), since })
    });
    engine.take_over(uow, fulfilment::SET, &past.collect::<Vec<_>>()).await?;
    let placed = orders.iter().filter(|order| order.status == order::Status::Placed);
    for (order, steps) in placed.zip((0..4).cycle()) {
        let way = ["submit", fulfilment::approving(order), "pick"];
        for step in way.into_iter().take(steps) {
            engine.take(uow.context(), fulfilment::SET, order.id, step, None).await?;
        }
    }
    Ok(())
}

/// The moments at which orders came in, in their order.
fn times(random: &mut Random, now: OffsetDateTime, days: i32) -> Vec<OffsetDateTime> {
    let mut times = Vec::with_capacity(ORDERS);
    while times.len() < ORDERS {
        let age = random.between(0, days);
        let date = (now - Duration::days(age.into())).date();
        let time = at_work(random, date);
        let busy = MONTHS[usize::from(u8::from(date.month())) - 1];
        let grown = 100 - 40 * age / days;
        if time < now && is_workday(date) && random.chance(busy * grown / 100) {
            times.push(time);
        }
    }
    times.sort();
    times
}

/// A moment of a day between seven and five o'clock.
fn at_work(random: &mut Random, date: Date) -> OffsetDateTime {
    let second = random.between(7 * 3_600, 17 * 3_600);
    date.midnight().assume_utc() + Duration::seconds(second.into())
}

fn is_workday(date: Date) -> bool {
    let weekend = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
    let holidays =
        matches!((date.month(), date.day()), (Month::December, 24..) | (Month::January, 1));
    !weekend && !holidays
}

/// Two to six different products, rather those of the season.
fn pick_lines(random: &mut Random, goods: &[Good], month: u8) -> Vec<Line> {
    let mut weights: Vec<i32> =
        goods.iter().map(|good| good.popularity * good.season.demand(month)).collect();
    let lines = (1..=random.between(2, 6)).map(|position| {
        let good = random.weighted(&weights);
        weights[good] = 0;
        let quantity = match goods[good].cents {
            ..500 => random.between(2, 12) * 10,
            500..2_000 => random.between(1, 8) * 5,
            2_000..10_000 => random.between(1, 12),
            _ => random.between(1, 4),
        };
        Line { position, good, quantity }
    });
    lines.collect()
}

/// One who was a customer at that time.
fn pick_buyer<'a>(random: &mut Random, buyers: &'a [Buyer], at: OffsetDateTime) -> &'a Buyer {
    let weight = |buyer: &Buyer| if buyer.since < at { buyer.loyalty } else { 0 };
    let weights: Vec<i32> = buyers.iter().map(weight).collect();
    &buyers[random.weighted(&weights)]
}

/// How far an order has come: goods leave within a few working days, and now and then somebody
/// thinks better of it.
fn progress(
    random: &mut Random,
    ordered_at: OffsetDateTime,
    now: OffsetDateTime,
) -> order::ActiveModel {
    let mut date = ordered_at.date() + Duration::days(random.between(1, 4).into());
    while !is_workday(date) {
        date += Duration::DAY;
    }
    let done_at = at_work(random, date);
    let cancelled = random.chance(3);
    let (status, shipped_at, updated_at) = match (done_at < now, cancelled) {
        (false, _) => (order::Status::Placed, None, ordered_at),
        (true, true) => (order::Status::Cancelled, None, done_at),
        (true, false) => (order::Status::Shipped, Some(done_at), done_at),
    };
    order::ActiveModel {
        status: Set(status),
        ordered_at: Set(ordered_at),
        shipped_at: Set(shipped_at),
        created_at: Set(ordered_at),
        updated_at: Set(updated_at),
        ..Default::default()
    }
}

fn line_record(order: &order::Model, line: &Line, good: &Good) -> order_line::ActiveModel {
    order_line::ActiveModel {
        order_id: Set(order.id),
        position: Set(line.position),
        product_id: Set(good.id),
        quantity: Set(line.quantity),
        unit_price: Set(Decimal::new(good.cents.into(), 2)),
        amount: Set(Decimal::new((good.cents * line.quantity).into(), 2)),
        ..Default::default()
    }
}
