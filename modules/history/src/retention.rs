//! Deletes what was kept long enough, in small steps.
//!
//! Each organisation says how long: `History.RetentionDays`, and for some sets otherwise with
//! `History.SetRetentionDays`; of what belongs to all of them the configuration does, `SharedRetentionDays`.
//! One walk over what is older than the shortest of these finds all of it;
//! what is deleted is sealed, so that a check knows it from what somebody removed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use svc_core::{Error, OrganisationId, Registry, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{Job, JobContext, JobError};
use svc_settings::{ApplicationSetting, ApplicationSettings, SettingsRegistry as _};
use uuid::Uuid;

use crate::seal::Line;
use crate::sealing::seal_lines;
use crate::set::EVERYWHERE;
use crate::settings::HistorySettings;
use crate::store;

/// The setting for all sets.
const DAYS: &str = "History.RetentionDays";

/// The setting for some.
const SET_DAYS: &str = "History.SetRetentionDays";

/// Entries that one transaction looks at.
const AT_ONCE: u64 = 1_000;

/// A day, in microseconds.
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// The settings of organisations.
pub(crate) fn register(registry: &mut Registry) {
    let doc = "How many days the history of records and the audit log are kept.";
    registry.application_setting(ApplicationSetting::integer(DAYS, doc, 1..=36_500, 3_650));
    let doc = "Sets whose history is kept for another number of days: `Products=90, Orders=7300`.";
    let of_sets = ApplicationSetting::text(SET_DAYS, doc, 10_000, "");
    registry.application_setting(of_sets.checked(|text| days_of_sets(text).map(drop)));
}

/// Reads what is said of sets: names with numbers of days, between commas or white space.
fn days_of_sets(text: &str) -> Result<BTreeMap<String, i64>, String> {
    let text = text.split('=').map(str::trim).collect::<Vec<_>>().join("=");
    let mut days_of = BTreeMap::new();
    for one in text.split([',', ' ', '\t', '\r', '\n']).filter(|one| !one.is_empty()) {
        let (set, days) = one.split_once('=').unwrap_or((one, ""));
        let days = days.parse().ok().filter(|days| (1..=36_500).contains(days));
        let Some(days) = days.filter(|_| !set.is_empty()) else {
            return Err(format!(
                "`{one}` is not understood; name sets and days from 1 to 36500 such as \
                 `Products=90, Orders=7300`"
            ));
        };
        if days_of.insert(set.to_owned(), days).is_some() {
            return Err(format!("`{set}` comes twice; say once how long it is kept"));
        }
    }
    Ok(days_of)
}

/// Deletes what was kept long enough.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DeleteOldEntries {}

impl Job for DeleteOldEntries {
    const NAME: &'static str = "history.delete_old";
}

/// Up to where entries are deleted.
struct Horizons {
    others: Uuid,
    sets: BTreeMap<String, Uuid>,
}

impl Horizons {
    async fn of(ctx: &Context, organisation: Uuid) -> Result<Self> {
        let at = |days: i64| micros::first_id(ctx.clock().now_us() - days * DAY_US);
        if organisation == EVERYWHERE {
            let days = ctx.app().settings::<HistorySettings>().shared_retention_days;
            return Ok(Self { sets: BTreeMap::new(), others: at(days.into()) });
        }
        let settings = ctx.app().service::<ApplicationSettings>()?;
        let by_set: String = settings.get(ctx, SET_DAYS).await?;
        let by_set = days_of_sets(&by_set).map_err(Error::internal)?;
        let sets = by_set.into_iter().map(|(set, days)| (set, at(days)));
        Ok(Self { sets: sets.collect(), others: at(settings.get(ctx, DAYS).await?) })
    }

    fn of_set(&self, set: &str) -> Uuid {
        self.sets.get(set).copied().unwrap_or(self.others)
    }

    fn last(&self) -> Uuid {
        self.sets.values().copied().max().unwrap_or_default().max(self.others)
    }
}

/// Runs the job. One that was interrupted begins anew, and finds what is left.
pub(crate) async fn delete_old_entries(
    job: JobContext,
    _: DeleteOldEntries,
) -> Result<(), JobError> {
    let mut organisation = Uuid::nil();
    let mut deleted = 0;
    while let Some(next) = store::next_organisation(job.context(), organisation).await? {
        organisation = next;
        let ctx = job.in_organisation(OrganisationId(organisation))?;
        let horizons = Horizons::of(&ctx, organisation).await?;
        let mut place = Uuid::nil();
        loop {
            job.check_interruption()?;
            let step = ctx.transact(async |uow| delete_some(&uow, &horizons, place).await).await?;
            deleted += step.0;
            let Some(next) = step.1 else { break };
            place = next;
            job.progress_message(format!("{deleted} entries deleted"));
        }
    }
    Ok(())
}

/// Deletes what is old among the next entries; answers with how many, and where to go on.
async fn delete_some(
    uow: &UnitOfWork,
    horizons: &Horizons,
    behind: Uuid,
) -> Result<(usize, Option<Uuid>)> {
    let rows = store::places(uow.context(), behind, horizons.last(), AT_ONCE).await?;
    let old: Vec<Uuid> =
        rows.iter().filter(|(id, set)| *id < horizons.of_set(set)).map(|(id, _)| *id).collect();
    let sets: BTreeSet<&String> =
        rows.iter().filter(|(id, set)| *id < horizons.of_set(set)).map(|(_, set)| set).collect();
    if !old.is_empty() {
        store::delete(uow, &old).await?;
        let line = |set: &String| Line::Deleted { before: horizons.of_set(set), set: set.clone() };
        seal_lines(uow, sets.into_iter().map(line).collect()).await?;
    }
    let is_last = u64::try_from(rows.len()).unwrap_or(u64::MAX) < AT_ONCE;
    Ok((old.len(), rows.last().map(|(id, _)| *id).filter(|_| !is_last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_days_are_understood_with_spaces_and_lines_between_them() {
        for text in [
            "Products=90,Orders=7300",
            "Products=90, Orders=7300",
            " Products = 90 ,\tOrders =7300 , ",
            "Products= 90\r\nOrders = 7300\n",
            "Products=90 Orders = 7300",
        ] {
            let expected = [("Products".to_owned(), 90), ("Orders".to_owned(), 7300)];
            assert_eq!(days_of_sets(text), Ok(expected.into()), "{text:?}");
        }
        assert_eq!(days_of_sets(" \n,"), Ok(BTreeMap::new()));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in [
            "Products",
            "Products=",
            "=90",
            "Products:90",
            "Products=0",
            "Products=36501",
            "Products=-1",
            "Products=ninety",
            "Products=90=90",
        ] {
            assert!(days_of_sets(text).unwrap_err().contains(text), "{text}");
        }
        for text in ["Products=9 0", "My Products=90", "Products 90"] {
            assert!(days_of_sets(text).is_err(), "{text}");
        }
        assert!(days_of_sets("A=1,B=2,A=1").unwrap_err().contains("`A` comes twice"));
    }
}
