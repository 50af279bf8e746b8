//! An invented wholesale business: a year and a half of trade in tools, building and garden
//! supplies, the same on every machine, with dates that end today.

mod assortment;
mod clientele;
mod customers;
mod goods;
mod history;
mod purchases;
mod random;

use svc::prelude::*;
use time::Duration;

use self::random::Random;
/// The same number, the same business.
const SEED: u64 = 5_080;

/// How far back orders go: 18 months.
const DAYS: i32 = 548;

/// Stores the sample business in the organisation that `ctx` acts in, which should be empty.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] where the organisation has products,
/// categories, suppliers or customers of the same names and numbers.
pub async fn load(ctx: &Context) -> Result<()> {
    // Whoever loads it needn't be somebody who submits and approves.
    let system = ctx.acting_as(Arc::new(Principal::system_in(ctx.organisation()?)));
    system
        .transact(async |uow| {
            let mut random = Random::new(SEED);
            let opened = ctx.clock().now() - Duration::days((DAYS + 1_600).into());
            let goods = goods::load(&uow, &mut random, opened).await?;
            let buyers = customers::load(&uow, &mut random, DAYS).await?;
            history::load(&uow, &mut random, DAYS, &goods, &buyers).await?;
            purchases::load(&uow, &mut random).await
        })
        .await
}
