//! Makes records of the assortment.

use svc::prelude::*;
use time::Duration;

use super::assortment::{Article, DISCONTINUED, RANGES, REGIONAL, SUPPLIERS, Season, Supplier};
use super::clientele::email;
use super::random::Random;
use crate::{category, product, supplier};

/// What the history of orders must know of a product.
pub(super) struct Good {
    pub(super) id: Uuid,
    pub(super) cents: i32,
    pub(super) season: Season,
    /// How often it is bought, compared with others.
    pub(super) popularity: i32,
}

/// Stores categories, suppliers and products, all of which were there before `opened`.
pub(super) async fn load(
    uow: &UnitOfWork,
    random: &mut Random,
    opened: OffsetDateTime,
) -> Result<Vec<Good>> {
    let categories = uow.insert_many(RANGES.iter().map(|range| category::ActiveModel {
        name: Set(range.category.to_owned()),
        description: Set(Some(range.description.to_owned())),
        created_at: Set(opened),
        updated_at: Set(opened),
        ..Default::default()
    }));
    let categories = categories.await?;
    let suppliers = SUPPLIERS.iter().map(|supplier| supplier_record(supplier, opened));
    let suppliers = uow.insert_many(suppliers).await?;

    let mut products = Vec::new();
    let mut facts = Vec::new();
    for (range, category) in RANGES.iter().zip(&categories) {
        for (article, place) in range.articles.iter().zip(range.suppliers.iter().cycle()) {
            let listed_at = opened + Duration::days(random.between(0, 700).into());
            products.push(product::ActiveModel {
                category_id: Set(category.id),
                supplier_id: Set(suppliers.get(*place).map(|supplier| supplier.id)),
                created_at: Set(listed_at),
                updated_at: Set(listed_at),
                ..product_record(random, article)
            });
            facts.push((article.3, range.season));
        }
    }
    let products = uow.insert_many(products).await?;
    let goods = products.into_iter().zip(facts).map(|(product, (cents, season))| Good {
        id: product.id,
        cents,
        season,
        popularity: random.between(1, 5),
    });
    Ok(goods.collect())
}

fn supplier_record(supplier: &Supplier, opened: OffsetDateTime) -> supplier::ActiveModel {
    supplier::ActiveModel {
        name: Set(supplier.name.to_owned()),
        contact_name: Set(Some(supplier.contact.to_owned())),
        email: Set(Some(email("sales", supplier.name))),
        city: Set(supplier.city.to_owned()),
        country: Set(supplier.country.to_owned()),
        lead_time_days: Set(supplier.lead_time_days),
        created_at: Set(opened),
        updated_at: Set(opened),
        ..Default::default()
    }
}

fn product_record(random: &mut Random, article: &Article) -> product::ActiveModel {
    let (sku, name, unit, cents, description) = *article;
    let margin = random.between(55, 72);
    let reorder_level = match cents {
        ..500 => 200,
        500..2_000 => 80,
        2_000..10_000 => 25,
        _ => 8,
    };
    // Here and there somebody should have bought more in time.
    let filled = if random.chance(10) { random.between(10, 95) } else { random.between(110, 400) };
    let region = REGIONAL.iter().find(|(regional, _)| *regional == sku).map(|(_, region)| *region);
    product::ActiveModel {
        sku: Set(sku.to_owned()),
        name: Set(name.to_owned()),
        description: Set(Some(description.to_owned())),
        unit: Set(unit.to_owned()),
        price: Set(Decimal::new(cents.into(), 2)),
        cost_price: Set(Some(Decimal::new((cents * margin / 100).into(), 2))),
        stock: Set(reorder_level * filled / 100),
        reorder_level: Set(reorder_level),
        region: Set(region.map(str::to_owned)),
        discontinued: Set(DISCONTINUED.contains(&sku)),
        ..Default::default()
    }
}
